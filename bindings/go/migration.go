package acemq

import (
	"encoding/json"
	"time"
)

// Direction is which way a migration goes.
type Direction string

const (
	// Forward leads to the new queue.
	Forward Direction = "forward"
	// Back leads to the definitions of the start.
	Back Direction = "back"
)

// Beginning is what of the new queue was there before the first step, and of plain changes what each of them finds. It is to be
// recorded then: the way back leaves alone what was there, and gives back what was changed.
type Beginning json.RawMessage

// MigrationPlan is the migration of a queue in use, planned and proven.
type MigrationPlan struct {
	// Document is acemq.migration_plan/1.
	Document json.RawMessage `json:"plan"`
	// Text is the plan for people.
	Text string `json:"text"`
	// Checksum is the SHA-256 of the file's lines, whatever ends them.
	Checksum string `json:"checksum"`
	// Refused says why the migration must not run; "" when it may.
	Refused string `json:"refused"`
	// Beginning is what the way back takes.
	Beginning Beginning `json:"-"`
}

// PlanMigration plans the migration of a file, YAML or JSON, against a vhost as it is.
func PlanMigration(file string, vhost Source) (*MigrationPlan, error) {
	return planned(file, vhost, Forward, nil)
}

// PlanUndo plans the way back; beginning is what a plan said before the first step, nil where nobody recorded it.
func PlanUndo(file string, vhost Source, beginning Beginning) (*MigrationPlan, error) {
	return planned(file, vhost, Back, beginning)
}

func planned(file string, vhost Source, direction Direction, beginning Beginning) (*MigrationPlan, error) {
	plan := &MigrationPlan{}
	if err := Call("migration.plan", migrationInput(file, vhost, direction, beginning), plan); err != nil {
		return nil, err
	}
	var document struct{ Beginning json.RawMessage }
	if err := decode(plan.Document, &document); err != nil {
		return nil, err
	}
	plan.Beginning = Beginning(document.Beginning)
	return plan, nil
}

func migrationInput(file string, vhost Source, direction Direction, beginning Beginning) map[string]any {
	input := map[string]any{"file": file, "state": vhost.input, "direction": direction}
	if len(beginning) > 0 {
		input["beginning"] = json.RawMessage(beginning)
	}
	return input
}

// QueueSight is a queue as the broker describes it at a moment.
type QueueSight struct {
	Queue string `json:"queue"`
	// Ready are messages that are ready; nil where nobody answers for it.
	Ready *uint64 `json:"ready"`
	// Unacknowledged are messages that consumers hold; nil where nobody tells.
	Unacknowledged *uint64 `json:"unacknowledged"`
	Consumers      uint64  `json:"consumers"`
	// LagMS is how many milliseconds its zeros may be old: 0 for a classic queue, two rounds of statistics for a quorum queue.
	LagMS uint64 `json:"lag_ms"`
}

// Saw is what was seen after an order to look or to ask.
type Saw struct{ seen any }

// SawQueues is what was seen at the queues that were to be looked at.
func SawQueues(sights ...QueueSight) Saw { return Saw{map[string]any{"queues": sights}} }

// NodesKnow says that every running node knows the change that was to be asked about.
func NodesKnow() Saw { return Saw{"nodes_know"} }

// OrderKind is what a [MigrationOrder] asks for.
type OrderKind string

const (
	// OrderDo asks for the change in Action; then read the vhost anew.
	OrderDo OrderKind = "do"
	// OrderLookAt asks for a look at Queues; tell what you see by [SawQueues].
	OrderLookAt OrderKind = "look_at"
	// OrderAskNodes asks to wait until every running node knows what Action says; tell that by [NodesKnow].
	OrderAskNodes OrderKind = "ask_nodes"
	// OrderPause asks to wait for Pause.
	OrderPause OrderKind = "pause"
	// OrderFinished: everything is done.
	OrderFinished OrderKind = "finished"
	// OrderWaiting: it cannot go on now, and nothing is wrong. Run it again later.
	OrderWaiting OrderKind = "waiting"
	// OrderStopped: somebody has to look at it first.
	OrderStopped OrderKind = "stopped"
)

// MigrationOrder is the one thing to do next.
type MigrationOrder struct {
	Kind OrderKind
	// Action is the change, as a step of acemq.migration_plan/1 has it.
	Action json.RawMessage
	Queues []string
	Pause  time.Duration
	// Why says why it ended, with the way out.
	Why string
	// Step is the number of the step that it belongs to, from 1, and Text that step in words; 0 and "" when it is over.
	Step int
	Text string
	// Done is how many steps are done, Of how many there are.
	Done, Of int
	// MessagesLeft are those that the queues which are waited for held at the last look.
	MessagesLeft uint64
	// Document is the whole answer.
	Document json.RawMessage
}

// Migration is a migration, or its way back, as one order after the other. Where it is stands in the vhost itself, so a new one
// goes on where an old one was killed.
type Migration struct {
	File      string
	Direction Direction
	// Beginning is for the way back.
	Beginning Beginning
	// Run is what was seen while waiting. It may be kept and given to a new Migration; nothing is lost with it but time.
	Run json.RawMessage
}

// Next is what to do now. vhost was read just now; now is the time that has passed on a clock that does not go back; saw answers
// an order to look or to ask, and is nil otherwise.
func (m *Migration) Next(vhost Source, now time.Duration, saw *Saw) (*MigrationOrder, error) {
	direction := m.Direction
	if direction == "" {
		direction = Forward
	}
	input := migrationInput(m.File, vhost, direction, m.Beginning)
	input["now_ms"] = now.Milliseconds()
	if len(m.Run) > 0 {
		input["run"] = m.Run
	}
	if saw != nil {
		input["saw"] = saw.seen
	}
	var document json.RawMessage
	if err := Call("migration.step", input, &document); err != nil {
		return nil, err
	}
	var answer struct {
		Order struct {
			Order  OrderKind
			Action json.RawMessage
			Queues []string
			MS     int64
			Why    string
		}
		Run          json.RawMessage
		Step         *int
		Text         string
		Done, Of     int
		MessagesLeft uint64 `json:"messages_left"`
	}
	if err := decode(document, &answer); err != nil {
		return nil, err
	}
	m.Run = answer.Run
	order := &MigrationOrder{
		Kind: answer.Order.Order, Action: answer.Order.Action, Queues: answer.Order.Queues, Why: answer.Order.Why,
		Pause: time.Duration(answer.Order.MS) * time.Millisecond, Text: answer.Text, Done: answer.Done, Of: answer.Of,
		MessagesLeft: answer.MessagesLeft, Document: document,
	}
	if answer.Step != nil {
		order.Step = *answer.Step
	}
	return order, nil
}
