package acemq

// #include <acemq.h>
import "C"

import (
	"context"
	"encoding/json"
	"fmt"
)

// Mode is what a plan is for.
type Mode string

const (
	// DryRun reports; nothing counts as a failure.
	DryRun Mode = "dry_run"
	// CreateOnly creates what is missing. It is what "" means.
	CreateOnly Mode = "create_only"
	// Validate changes nothing.
	Validate Mode = "validate"
)

// SessionOptions say how a plan session goes. The zero value asks a RabbitMQ of unknown version what a plan needs and changes
// nothing.
type SessionOptions struct {
	Mode Mode
	// Product and Version are those of the connection's server properties.
	Product, Version string
	// VHost is the connection's.
	VHost string
	// Exchanges asks about exchanges too.
	Exchanges bool
	// Apply goes on to declare what is missing.
	Apply bool
	// SkipExclusive leaves exclusive queues to the service that owns them.
	SkipExclusive bool
	// CanSetPolicies: the host answers questions to set a policy.
	CanSetPolicies bool
	// UpdatePolicies sets policies that are there with another definition.
	UpdatePolicies bool
	// Strict declares nothing while an answer is missing.
	Strict bool
}

// PlanSession asks numbered questions about a broker, takes the answers in any order, and says what an apply would do, or
// did. It talks to nobody: the program asks with the AMQP client that it has. [PlanSession.Run] is the loop.
type PlanSession struct {
	handle *handle[*C.AcemqPlanSession]
}

// NewPlanSession starts a session.
func NewPlanSession(topology *Topology, options SessionOptions) (*PlanSession, error) {
	input := map[string]any{
		"topology": topology.source, "exchanges": options.Exchanges, "apply": options.Apply,
		"skip_exclusive": options.SkipExclusive, "can_set_policies": options.CanSetPolicies,
		"update_policies": options.UpdatePolicies, "strict": options.Strict,
	}
	setIf(input, "mode", string(options.Mode))
	setIf(input, "product", options.Product)
	setIf(input, "version", options.Version)
	setIf(input, "vhost", options.VHost)
	encoded, err := encode(input)
	if err != nil {
		return nil, err
	}
	var native *C.AcemqPlanSession
	var failure *C.AcemqError
	ptr, length := text(string(encoded))
	if C.acemq_plan_session_new(ptr, length, &native, &failure) < 0 {
		return nil, taken(failure)
	}
	free := func(native *C.AcemqPlanSession) { C.acemq_plan_session_free(native) }
	return &PlanSession{newHandle(native, free)}, nil
}

// Close frees the session early.
func (s *PlanSession) Close() { s.handle.close() }

// Ask is what a question asks for.
type Ask string

const (
	// AskQueuePassive: queue.declare with passive.
	AskQueuePassive Ask = "queue_passive"
	// AskQueueOffer: queue.declare exactly as given. It cannot create, or the queue is there.
	AskQueueOffer Ask = "queue_offer"
	// AskExchangePassive: exchange.declare with passive.
	AskExchangePassive Ask = "exchange_passive"
	// AskExchangeOffer: exchange.declare exactly as given. It cannot create, or the exchange is there.
	AskExchangeOffer Ask = "exchange_offer"
	// AskDeclare: exchange.declare or queue.declare, which creates.
	AskDeclare Ask = "declare"
	// AskBind: queue.bind or exchange.bind.
	AskBind Ask = "bind"
	// AskSetPolicy: set a policy through the management API.
	AskSetPolicy Ask = "set_policy"
)

// Question is one thing to ask of a broker, on a channel of its own: a refusal closes the channel. Exactly one of the
// declarations is there, none for a passive question.
type Question struct {
	ID   uint64
	Ask  Ask
	Name string

	Queue    *QueueDeclaration
	Exchange *ExchangeDeclaration
	Binding  *BindingDeclaration
	Policy   *PolicyDeclaration

	document json.RawMessage
}

// MarshalJSON writes the question as the engine wrote it.
func (q Question) MarshalJSON() ([]byte, error) { return q.document, nil }

// UnmarshalJSON reads what the engine writes.
func (q *Question) UnmarshalJSON(data []byte) error {
	var plain struct {
		ID          uint64          `json:"id"`
		Ask         Ask             `json:"ask"`
		Name        string          `json:"name"`
		Declaration json.RawMessage `json:"declaration"`
	}
	if err := decode(data, &plain); err != nil {
		return err
	}
	*q = Question{ID: plain.ID, Ask: plain.Ask, Name: plain.Name, document: append(json.RawMessage(nil), data...)}
	var kind struct {
		Kind string `json:"kind"`
	}
	if string(plain.Declaration) == "null" || len(plain.Declaration) == 0 {
		return nil
	}
	if err := decode(plain.Declaration, &kind); err != nil {
		return err
	}
	switch kind.Kind {
	case "queue":
		return decode(plain.Declaration, &q.Queue)
	case "exchange":
		return decode(plain.Declaration, &q.Exchange)
	case "binding":
		return decode(plain.Declaration, &q.Binding)
	case "policy":
		// The management API writes a dash here.
		var policy struct {
			PolicyDeclaration
			ApplyTo string `json:"apply-to"`
		}
		err := decode(plain.Declaration, &policy)
		policy.PolicyDeclaration.ApplyTo = policy.ApplyTo
		q.Policy = &policy.PolicyDeclaration
		return err
	}
	return fmt.Errorf("acemq: a declaration of the unknown kind %q", kind.Kind)
}

// Answer is what the broker, or the way to it, answered: make one with [Accepted], [RefusedBy], [Failed] or [Cannot].
type Answer struct{ body map[string]any }

// Accepted: the method was answered with its -ok. The counts are those of queue.declare-ok, 0 elsewhere.
func Accepted(messages, consumers int) Answer {
	return Answer{map[string]any{"ok": map[string]any{"messages": messages, "consumers": consumers}}}
}

// RefusedBy: the broker closed the channel, or the connection.
func RefusedBy(refused Refused) Answer {
	body := map[string]any{"code": refused.Code, "text": refused.Text}
	setIf(body, "scope", refused.Scope)
	return Answer{map[string]any{"refused": body}}
}

// Failed: there is no answer, because of a time-out or a lost connection.
func Failed(why string) Answer { return Answer{map[string]any{"failed": why}} }

// Cannot: this way to the broker cannot ask that.
func Cannot(why string) Answer { return Answer{map[string]any{"cannot": why}} }

// Questions are all that are open.
func (s *PlanSession) Questions() ([]Question, error) {
	return s.questions(func(native *C.AcemqPlanSession, out *C.AcemqBuffer, failure **C.AcemqError) C.int32_t {
		return C.acemq_plan_session_questions(native, out, failure)
	})
}

// NextQuestions are open ones that were not given out yet, at most limit: what a host with that many free channels asks next.
func (s *PlanSession) NextQuestions(limit int) ([]Question, error) {
	return s.questions(func(native *C.AcemqPlanSession, out *C.AcemqBuffer, failure **C.AcemqError) C.int32_t {
		return C.acemq_plan_session_next_questions(native, C.size_t(max(limit, 0)), out, failure)
	})
}

func (s *PlanSession) questions(
	ask func(*C.AcemqPlanSession, *C.AcemqBuffer, **C.AcemqError) C.int32_t,
) ([]Question, error) {
	native, err := s.handle.acquire()
	if err != nil {
		return nil, err
	}
	defer s.handle.release()
	var out C.AcemqBuffer
	var failure *C.AcemqError
	if ask(native, &out, &failure) < 0 {
		return nil, taken(failure)
	}
	var questions []Question
	return questions, decode(takenBytes(&out), &questions)
}

// Answer takes the answer to a question. A refused one leaves the session as it was.
func (s *PlanSession) Answer(id uint64, answer Answer) error {
	body := map[string]any{"id": id}
	for key, value := range answer.body {
		body[key] = value
	}
	encoded, err := encode(body)
	if err != nil {
		return err
	}
	native, err := s.handle.acquire()
	if err != nil {
		return err
	}
	defer s.handle.release()
	var failure *C.AcemqError
	ptr, length := text(string(encoded))
	if C.acemq_plan_session_answer(native, ptr, length, &failure) < 0 {
		return taken(failure)
	}
	return nil
}

// Finished says whether nothing is left to ask or to declare.
func (s *PlanSession) Finished() bool {
	native, err := s.handle.acquire()
	if err != nil {
		return false
	}
	defer s.handle.release()
	return C.acemq_plan_session_finished(native, nil) == C.ACEMQ_YES
}

// Interrupt ends the session before its end: what was not asked stays unknown, what was not sent is not sent.
func (s *PlanSession) Interrupt() error {
	native, err := s.handle.acquire()
	if err != nil {
		return err
	}
	defer s.handle.release()
	var failure *C.AcemqError
	if C.acemq_plan_session_interrupt(native, &failure) < 0 {
		return taken(failure)
	}
	return nil
}

// Run asks every question, one after the other, until the session is finished, and gives its plan. When the context ends it
// asks no further, and gives the plan so far with the context's error. An apply that could not do everything says so in
// [Plan.Err].
func (s *PlanSession) Run(ctx context.Context, ask func(context.Context, Question) Answer) (*Plan, error) {
	for !s.Finished() {
		questions, err := s.NextQuestions(1)
		if err != nil {
			return nil, err
		}
		if len(questions) == 0 {
			break
		}
		if ctx.Err() != nil {
			if err := s.Interrupt(); err != nil {
				return nil, err
			}
			break
		}
		if err := s.Answer(questions[0].ID, ask(ctx, questions[0])); err != nil {
			return nil, err
		}
	}
	plan, err := s.Plan()
	if err == nil {
		err = ctx.Err()
	}
	return plan, err
}

// Style is how a plan is shown.
type Style int

const (
	// PlanStyle has one line for each action.
	PlanStyle Style = C.ACEMQ_STYLE_PLAN
	// LinesStyle has one line for each object, with its details.
	LinesStyle Style = C.ACEMQ_STYLE_LINES
	// DriftStyle has one line for everything that drifted.
	DriftStyle Style = C.ACEMQ_STYLE_DRIFT
)

// Render shows the plan so far. Lines of the plan style are wrapped at that many columns, or not for 0.
func (s *PlanSession) Render(style Style, width int) (string, error) {
	native, err := s.handle.acquire()
	if err != nil {
		return "", err
	}
	defer s.handle.release()
	var out C.AcemqBuffer
	var failure *C.AcemqError
	if C.acemq_plan_session_render(native, C.int32_t(style), C.size_t(max(width, 0)), &out, &failure) < 0 {
		return "", taken(failure)
	}
	return takenText(&out), nil
}

// Plan is where the session stands, at any time.
func (s *PlanSession) Plan() (*Plan, error) {
	native, err := s.handle.acquire()
	if err != nil {
		return nil, err
	}
	defer s.handle.release()
	var out C.AcemqBuffer
	var failure *C.AcemqError
	if C.acemq_plan_session_state(native, &out, &failure) < 0 {
		return nil, taken(failure)
	}
	var state struct {
		Finished bool            `json:"finished"`
		Plan     json.RawMessage `json:"plan"`
		Text     string          `json:"text"`
		Lines    string          `json:"lines"`
		Block    string          `json:"block"`
		LinesBlk string          `json:"lines_block"`
		Drift    string          `json:"drift"`
		Error    *string         `json:"error"`
	}
	if err := decode(takenBytes(&out), &state); err != nil {
		return nil, err
	}
	plan := &Plan{Document: state.Plan, session: s, text: state.Text, lines: state.Lines, drift: state.Drift}
	plan.block, plan.linesBlock = state.Block, state.LinesBlk
	plan.Finished = state.Finished
	if state.Error != nil {
		plan.Err = &ApplyError{*state.Error}
	}
	return plan, decode(state.Plan, plan)
}

// ApplyError is why an apply could not do everything.
type ApplyError struct{ text string }

// Error is one sentence, with one line for each difference where there are some.
func (e *ApplyError) Error() string { return e.text }

// Plan is what is known about a broker, and what an apply sends.
type Plan struct {
	Mode    Mode     `json:"mode"`
	Actions []Action `json:"actions"`
	Summary Summary  `json:"summary"`
	// Notes are sentences that hold for the whole plan.
	Notes []string `json:"notes"`
	// Document is acemq.plan/1.
	Document json.RawMessage `json:"-"`
	// Finished: nothing was left to ask or to declare.
	Finished bool `json:"-"`
	// Err is an [*ApplyError] when a finished apply could not do everything.
	Err error `json:"-"`

	session            *PlanSession
	text, lines, drift string
	block, linesBlock  string
}

// Summary counts actions by verdict.
type Summary struct {
	Create  int `json:"create"`
	Present int `json:"present"`
	Drift   int `json:"drift"`
	Invalid int `json:"invalid"`
	Unknown int `json:"unknown"`
	Extra   int `json:"extra"`
	Foreign int `json:"foreign"`
}

// Action is one object of a plan.
type Action struct {
	// Verdict is create, present, drift, invalid, unknown or extra.
	Verdict string `json:"verdict"`
	// Kind is exchange, policy, queue or binding.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Binding is there for bindings.
	Binding *BindingDeclaration `json:"binding"`
	// Sends is what an apply sends: declare, bind, set or nothing.
	Sends  string `json:"sends"`
	Detail string `json:"detail"`
	// Reason is why nothing is known, as in "not_askable".
	Reason string `json:"reason"`
	// Refusal is the broker's; nil without one. Its scope is not kept.
	Refusal     *Refused           `json:"refusal"`
	Differences []ActionDifference `json:"differences"`
	// AtLeast: there may be more differences than the broker told.
	AtLeast bool `json:"at_least"`
	// Policy would make the change on the live queue; nil where none can.
	Policy json.RawMessage `json:"policy"`
	Notes  []string        `json:"notes"`
}

// ActionDifference is a difference with the way to mend it.
type ActionDifference struct {
	QueueDifference
	// Remedy is policy, migrate, declare_as_is or none.
	Remedy string
}

// UnmarshalJSON reads what the engine writes.
func (d *ActionDifference) UnmarshalJSON(data []byte) error {
	var remedy struct {
		Remedy string `json:"remedy"`
	}
	if err := decode(data, &d.QueueDifference); err != nil {
		return err
	}
	err := decode(data, &remedy)
	d.Remedy = remedy.Remedy
	return err
}

// Render shows the plan. Lines of the plan style are wrapped at that many columns, or not for 0; for that the session must not
// be closed yet, and has to be where it was.
func (p *Plan) Render(style Style, width int) (string, error) {
	switch {
	case style == PlanStyle && width <= 0:
		return p.text, nil
	case style == LinesStyle:
		return p.lines, nil
	case style == DriftStyle:
		return p.drift, nil
	}
	return p.session.Render(style, width)
}

// Block shows the plan without its notes, in the plan or the lines style.
func (p *Plan) Block(style Style) string {
	if style == LinesStyle {
		return p.linesBlock
	}
	return p.block
}

// Drift has one line for everything that drifted.
func (p *Plan) Drift() string { return p.drift }

// String is the plan in the plan style.
func (p *Plan) String() string { return p.text }
