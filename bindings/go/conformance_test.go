package acemq_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	acemq "github.com/acemq/acemq-core/bindings/go"
)

// The conformance suites, through the typed functions of this package. Run by itself it is
//
//	go test -run TestConformance -v
//
// ACEMQ_CONFORMANCE names another folder than the repository's; ACEMQ_RESULTS a folder for one line of results.

type suite struct {
	Suite     string
	Operation string
	Cases     []testCase
}

type testCase struct {
	ID          string
	Description string
	Input       json.RawMessage
	Expect      any
	Error       map[string]any
}

func read(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func TestConformance(t *testing.T) {
	folder := os.Getenv("ACEMQ_CONFORMANCE")
	if folder == "" {
		folder = "../../conformance"
	}
	var index struct {
		SpecVersion int `json:"spec_version"`
		Cases       int
		Suites      []struct{ File string }
	}
	if err := read(filepath.Join(folder, "index.json"), &index); err != nil {
		t.Fatal(err)
	}
	if index.SpecVersion != acemq.SpecVersion() {
		t.Errorf("the suites are of version %d, the engine passes version %d", index.SpecVersion, acemq.SpecVersion())
	}
	passed, failed := 0, 0
	for _, listed := range index.Suites {
		var s suite
		if err := read(filepath.Join(folder, listed.File), &s); err != nil {
			t.Error(err)
			continue
		}
		for _, c := range s.Cases {
			if err := run(s.Operation, c); err != nil {
				failed++
				t.Errorf("%s (%s): %v", c.ID, c.Description, err)
			} else {
				passed++
			}
		}
	}
	t.Logf("%d of the cases hold what Go's types do not, and went through CallJSON", raw)
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if passed+failed != index.Cases {
		t.Errorf("%d cases ran, the index has %d", passed+failed, index.Cases)
	}
	if results := os.Getenv("ACEMQ_RESULTS"); results != "" {
		line := fmt.Sprintf("go\t%d\t%d\t%d\n", passed+failed, index.Cases, failed)
		if err := os.WriteFile(filepath.Join(results, "go.tsv"), []byte(line), 0o644); err != nil {
			t.Error(err)
		}
	}
}

func run(operation string, c testCase) error {
	typed, found := operations[operation]
	if !found {
		return fmt.Errorf("this runner does not know %s", operation)
	}
	output, err := held(operation, c.Input, typed)
	if c.Error != nil {
		var refused *acemq.Error
		if !errors.As(err, &refused) {
			return fmt.Errorf("wanted the error %v, got %v and %v", c.Error, output, err)
		}
		// With `problems`, all of them in any order.
		return matchesError(c.Error, plain(refused).(map[string]any))
	}
	if err != nil {
		return err
	}
	return matches("", c.Expect, plain(output))
}

// held runs the typed call. What Go's types do not hold, a number where a text belongs or more milliseconds than a
// time.Duration counts, goes through the table of operations, like any other caller with such an input.
func held(operation string, input json.RawMessage, typed func(json.RawMessage) (any, error)) (output any, err error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case unheld:
			raw++
			var answer []byte
			answer, err = acemq.CallJSON(operation, input)
			output = json.RawMessage(answer)
		default:
			panic(reason)
		}
	}()
	return typed(input)
}

// raw counts the cases that went through the table of operations.
var raw int

// plain is a value as JSON shows it.
func plain(value any) any {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	var read any
	if err := decoder.Decode(&read); err != nil {
		panic(err)
	}
	return read
}

func matchesError(wanted, got map[string]any) error {
	for _, key := range []string{"code", "fields"} {
		if expected, found := wanted[key]; found {
			if err := matches(key, expected, got[key]); err != nil {
				return err
			}
		}
	}
	expected, found := wanted["problems"].([]any)
	if !found {
		return nil
	}
	open := append([]any{}, got["problems"].([]any)...)
	if len(expected) != len(open) {
		return fmt.Errorf("%d problems instead of %d: %v", len(open), len(expected), open)
	}
next:
	for _, problem := range expected {
		for i, candidate := range open {
			if matches("", problem, candidate) == nil {
				open = append(open[:i], open[i+1:]...)
				continue next
			}
		}
		return fmt.Errorf("there is no problem %v among %v", problem, open)
	}
	return nil
}

// matches compares as conformance/README.md says: further keys are fine, numbers are compared by value.
func matches(at string, wanted, got any) error {
	differs := fmt.Errorf("%s is %v instead of %v", strings.TrimPrefix(at, "."), got, wanted)
	switch w := wanted.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return differs
		}
		for key, value := range w {
			inner, found := g[key]
			if !found && value != nil {
				return fmt.Errorf("%s.%s is missing in %v", at, key, got)
			}
			if err := matches(at+"."+key, value, inner); err != nil {
				return err
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return differs
		}
		for i := range w {
			if err := matches(fmt.Sprintf("%s[%d]", at, i), w[i], g[i]); err != nil {
				return err
			}
		}
	case json.Number:
		g, ok := got.(json.Number)
		if !ok || number(w).Cmp(number(g)) != 0 {
			return differs
		}
	default:
		if wanted != got {
			return differs
		}
	}
	return nil
}

func number(n json.Number) *big.Rat {
	value, ok := new(big.Rat).SetString(n.String())
	if !ok {
		panic(n)
	}
	return value
}

type object = map[string]any

// operations are the typed calls that stand for each operation.
var operations = map[string]func(json.RawMessage) (any, error){
	"name.check": typed(func(in struct {
		Kind acemq.NameKind
		Name string
	}) (any, error) {
		return acemq.CheckName(in.Kind, in.Name)
	}),
	"name.implied": typed(func(in struct{ Queue string }) (any, error) {
		// Both by themselves as well: they agree with the whole.
		names, err := acemq.ImpliedNames(in.Queue)
		dead, deadErr := acemq.DeadLetterQueue(in.Queue)
		parked, parkedErr := acemq.ParkedQueue(in.Queue)
		if err == nil && (deadErr != nil || parkedErr != nil || dead != names.DeadLetterQueue || parked != names.ParkedQueue) {
			return nil, fmt.Errorf("%v, but by themselves %q (%v) and %q (%v)", names, dead, deadErr, parked, parkedErr)
		}
		return names, err
	}),
	"name.delay": byDuration(func(in withDelay, delay time.Duration) (any, error) {
		text, err := acemq.DelayText(delay)
		return object{"text": text}, err
	}),
	"name.retry_queue": byDuration(func(in withDelay, delay time.Duration) (any, error) {
		name, err := acemq.RetryQueue(in.Queue, delay)
		return object{"name": name}, err
	}),
	"duration.parse": func(input json.RawMessage) (any, error) {
		var in struct{ Text string }
		decodeInput(input, &in)
		duration, err := acemq.ParseDuration(in.Text)
		if err == nil && duration == math.MaxInt64 {
			panic(tooLong)
		}
		return object{"ms": duration.Milliseconds()}, err
	},
	"duration.from_nanoseconds": func(input json.RawMessage) (any, error) {
		var in struct{ Nanoseconds uint64 }
		decodeInput(input, &in)
		if in.Nanoseconds > math.MaxInt64 {
			panic(tooLong)
		}
		ms, err := acemq.Milliseconds(time.Duration(in.Nanoseconds))
		return object{"ms": ms}, err
	},
	"duration.from_seconds": typed(func(in struct{ Seconds float64 }) (any, error) {
		ms, err := acemq.MillisecondsFromSeconds(in.Seconds)
		return object{"ms": ms}, err
	}),
	"retry.policy": typed(func(in struct{ Policy json.RawMessage }) (any, error) {
		policy, err := policyOf(in.Policy)
		if err != nil {
			return nil, err
		}
		defer policy.Close()
		rungs := []int64{}
		for _, delay := range policy.BrokerDelays() {
			rungs = append(rungs, delay.Milliseconds())
		}
		described := object{
			"text": policy.String(), "kind": policy.Kind(), "max_attempts": policy.MaxAttempts(), "jitter": policy.Jitter(),
			"first_ms": nil, "cap_ms": nil, "multiplier_thousandths": nil, "max_age_ms": nil,
			"threshold_ms": policy.WaitInBrokerFrom().Milliseconds(), "broker_rungs_ms": rungs,
		}
		if m := policy.MultiplierThousandths(); m != 0 {
			described["multiplier_thousandths"] = m
		}
		for key, get := range map[string]func() (time.Duration, bool){
			"first_ms": policy.First, "cap_ms": policy.Cap, "max_age_ms": policy.GiveUpAfter,
		} {
			if value, found := get(); found {
				described[key] = value.Milliseconds()
				if value == math.MaxInt64 {
					panic(tooLong)
				}
			}
		}
		if policy.WaitInBrokerFrom() == math.MaxInt64 {
			panic(tooLong)
		}
		return described, nil
	}),
	"retry.schedule": typed(func(in struct {
		Policy      json.RawMessage
		From, Count *int
	}) (any, error) {
		policy, err := policyOf(in.Policy)
		if err != nil {
			return nil, err
		}
		defer policy.Close()
		from, count := 0, 100
		if in.From != nil {
			from = *in.From
		}
		if in.Count != nil {
			count = *in.Count
		}
		delays := []int64{}
		for index := from; index < from+count; index++ {
			delay, found := policy.Delay(index)
			if !found {
				break
			}
			if delay == math.MaxInt64 {
				panic(tooLong)
			}
			delays = append(delays, delay.Milliseconds())
		}
		return object{"entries": policy.MaxAttempts() - 1, "delays_ms": delays}, nil
	}),
	"retry.decide": func(input json.RawMessage) (any, error) {
		var in struct {
			Policy  json.RawMessage
			Attempt int
			AgeMS   *uint64 `json:"age_ms"`
			U       *float64
			Queue   *string
		}
		decodeInput(input, &in)
		policy, err := policyOf(in.Policy)
		if err != nil {
			return nil, err
		}
		defer policy.Close()
		age, u := acemq.AgeUnknown, 0.5
		if in.AgeMS != nil {
			if *in.AgeMS > math.MaxInt64/uint64(time.Millisecond) {
				panic(tooLong)
			}
			age = time.Duration(*in.AgeMS) * time.Millisecond
		}
		if in.U != nil {
			u = *in.U
		}
		decide := policy.Decide
		if in.Queue != nil {
			ladder, err := acemq.NewLadder(*in.Queue, policy)
			if err != nil {
				return nil, err
			}
			defer ladder.Close()
			decide = ladder.Decide
		}
		decision, err := decide(in.Attempt, age, u)
		if decision.Wait == math.MaxInt64 {
			panic(tooLong)
		}
		return object{
			"retry": decision.Retry, "wait_ms": decision.Wait.Milliseconds(), "in_broker": decision.InBroker,
			"reason": orNil(string(decision.Reason)), "rung": orNil(decision.Rung), "give_up_text": orNil(decision.GiveUpText),
		}, err
	},
	"retry.rung_for": byDuration(func(in withDelay, delay time.Duration) (any, error) {
		policy, err := policyOf(in.Policy)
		if err != nil {
			return nil, err
		}
		defer policy.Close()
		answer := object{"delay_ms": nil, "rung": nil}
		if rung, found := policy.RungFor(delay); found {
			answer["delay_ms"] = rung.Milliseconds()
		}
		if in.Queue != "" {
			ladder, err := acemq.NewLadder(in.Queue, policy)
			if err != nil {
				return nil, err
			}
			defer ladder.Close()
			if rung := ladder.RungFor(delay); rung != nil {
				answer["rung"] = rung.Name
			}
		}
		return answer, nil
	}),
	"retry.ladder": typed(func(in struct {
		Queue  string
		Policy json.RawMessage
	}) (any, error) {
		policy, err := policyOf(in.Policy)
		if err != nil {
			return nil, err
		}
		defer policy.Close()
		ladder, err := acemq.NewLadder(in.Queue, policy)
		if err != nil {
			return nil, err
		}
		defer ladder.Close()
		rungs := []any{}
		for _, rung := range ladder.Rungs() {
			shown := plain(rung.QueueTable).(object)
			shown["delay_ms"] = rung.Delay.Milliseconds()
			rungs = append(rungs, shown)
		}
		return object{"queue": ladder.Queue(), "rungs": rungs, "exchange": ladder.Exchange(), "binding": ladder.Binding()}, nil
	}),
	"topic.match": typed(func(in struct{ Pattern, Key string }) (any, error) {
		compiled, err := acemq.NewTopicPattern(in.Pattern)
		if err != nil {
			return nil, err
		}
		defer compiled.Close()
		matches := acemq.TopicMatches(in.Pattern, in.Key)
		if compiled.Matches(in.Key) != matches {
			return nil, errors.New("the compiled pattern says otherwise")
		}
		return object{"matches": matches}, nil
	}),
	"topic.match_all": typed(func(in struct{ Patterns, Keys []string }) (any, error) {
		matcher, err := acemq.NewTopicMatcher()
		if err != nil {
			return nil, err
		}
		defer matcher.Close()
		for value, pattern := range in.Patterns {
			if _, err := matcher.Insert(pattern, uint64(value)); err != nil {
				return nil, err
			}
		}
		matched, err := matcher.MatchesAll(acemq.NewKeys(in.Keys...))
		if err != nil {
			return nil, err
		}
		all := [][]uint64{}
		for key, values := range matched.All() {
			single, err := matcher.Matches(in.Keys[key])
			if err != nil || fmt.Sprint(single) != fmt.Sprint(values) {
				return nil, fmt.Errorf("%q by itself matches %v (%v), in a batch %v", in.Keys[key], single, err, values)
			}
			all = append(all, append([]uint64{}, values...))
		}
		return object{"matches": all}, nil
	}),
	"topology.check": typed(func(in withTopology) (any, error) {
		problems, err := in.topology().Problems()
		return object{"format": "acemq.check/1", "problems": append([]acemq.TopologyProblem{}, problems...)}, err
	}),
	"topology.tables": typed(func(in withTopology) (any, error) {
		tables, err := in.topology().Tables()
		return tablesDocument(tables), err
	}),
	"topology.show": typed(func(in withTopology) (any, error) {
		intent, err := in.topology().Intent()
		return object{"text": intent}, err
	}),
	"topology.consumer": typed(func(in struct {
		Queue  string
		Policy json.RawMessage
	}) (any, error) {
		var policy *acemq.RetryPolicy
		if len(in.Policy) > 0 && string(in.Policy) != "null" {
			var err error
			if policy, err = policyOf(in.Policy); err != nil {
				return nil, err
			}
			defer policy.Close()
		}
		tables, err := acemq.ConsumerDeclarations(in.Queue, policy)
		return tablesDocument(tables), err
	}),
	"declaration.fingerprint": typed(func(in struct {
		Declaration struct {
			Queue    *queueInput
			Exchange *exchangeInput
			Binding  *acemq.BindingDeclaration
		}
	}) (any, error) {
		switch declared := in.Declaration; {
		case declared.Queue != nil:
			return acemq.Fingerprint(declared.Queue.QueueDeclaration)
		case declared.Exchange != nil:
			return acemq.Fingerprint(declared.Exchange.ExchangeDeclaration)
		default:
			return acemq.Fingerprint(*declared.Binding)
		}
	}),
	"broker.equivalence": typed(func(in struct {
		acemq.BrokerVersion
		Stored, Wanted queueInput
	}) (any, error) {
		compared, err := acemq.CompareQueues(in.Stored.QueueDeclaration, in.Wanted.QueueDeclaration, in.BrokerVersion)
		differences := []any{}
		for _, d := range compared.Differences {
			shown := object{"argument": d.Argument, "wanted": nil, "current": nil, "compared": d.Compared}
			// A table writes a value with its type.
			if d.HasWanted {
				shown["wanted"] = plain(acemq.Table{"v": d.Wanted}).(object)["v"]
			}
			if d.HasCurrent {
				shown["current"] = plain(acemq.Table{"v": d.Current}).(object)["v"]
			}
			differences = append(differences, shown)
		}
		return object{"equivalent": compared.Equivalent, "differences": differences}, err
	}),
	"broker.predict": typed(func(in struct {
		acemq.BrokerVersion
		Declare struct {
			Queue    *struct{ Wanted, Existing *queueInput }
			Exchange *struct{ Wanted, Existing *exchangeInput }
		}
	}) (any, error) {
		if queue := in.Declare.Queue; queue != nil {
			var existing *acemq.QueueDeclaration
			if queue.Existing != nil {
				existing = &queue.Existing.QueueDeclaration
			}
			return acemq.PredictQueue(queue.Wanted.QueueDeclaration, existing, in.BrokerVersion)
		}
		exchange := in.Declare.Exchange
		var existing *acemq.ExchangeDeclaration
		if exchange.Existing != nil {
			existing = &exchange.Existing.ExchangeDeclaration
		}
		return acemq.PredictExchange(exchange.Wanted.ExchangeDeclaration, existing, in.BrokerVersion)
	}),
	"broker.explain": typed(func(in struct {
		Code              int
		Text, Name, Vhost string
	}) (any, error) {
		refusal, err := acemq.ReadRefusal(in.Text, acemq.RefusalContext{Code: in.Code, Name: in.Name, VHost: in.Vhost})
		if err != nil {
			return nil, err
		}
		shown := plain(refusal).(object)
		shown["format"] = "acemq.refusal/1"
		for _, key := range []string{"kind", "name", "vhost", "argument", "absent"} {
			shown[key] = orNil(shown[key].(string))
		}
		for _, side := range []string{"received", "current"} {
			if printed, ok := shown[side].(object); ok {
				printed["type"] = orNil(printed["type"].(string))
			}
		}
		return shown, nil
	}),
	"embedded.run": runEmbedded,
	"embedded.simulate": typed(func(in struct {
		Scenario struct{ Text *string }
		RabbitMQ string
		State    json.RawMessage
	}) (any, error) {
		if in.Scenario.Text == nil || in.State != nil {
			panic(unheld{errors.New("a scenario is a text")})
		}
		simulation, err := acemq.Simulate(*in.Scenario.Text, in.RabbitMQ)
		if err != nil {
			return nil, err
		}
		return simulation.Document, nil
	}),
	"routing.route": typed(func(in struct {
		State   stateInput
		Message struct {
			acemq.RoutedMessage
			Explain *bool
		}
	}) (any, error) {
		router, err := acemq.NewRouter(in.State.source())
		if err != nil {
			return nil, err
		}
		defer router.Close()
		route := router.Explain
		if in.Message.Explain != nil && !*in.Message.Explain {
			route = router.Route
		}
		routed, err := route(in.Message.RoutedMessage)
		if err != nil {
			return nil, err
		}
		return routed.Document, nil
	}),
	"definitions.state": typed(func(in struct{ State stateInput }) (any, error) {
		return acemq.ReadState(in.State.source())
	}),
	"definitions.preview": func(input json.RawMessage) (any, error) {
		panic(unheld{errors.New("an operator's task, without a typed call")})
	},
	"policy.effective": typed(func(in struct {
		State stateInput
		Kind  acemq.NameKind
		Name  string
	}) (any, error) {
		settings, err := acemq.EffectiveSettings(in.State.source(), in.Kind, in.Name)
		return object{"settings": settings}, err
	}),
	"plan.session": runSession,
}

// runSession gives the answers to a session, one after the other.
func runSession(input json.RawMessage) (any, error) {
	var in struct {
		withTopology
		acemq.SessionOptions
		SkipExclusive  bool `json:"skip_exclusive"`
		CanSetPolicies bool `json:"can_set_policies"`
		UpdatePolicies bool `json:"update_policies"`
		Width          int
		Answers        []struct {
			ID             uint64
			OK             *struct{ Messages, Consumers int }
			Refused        *acemq.Refused
			Failed, Cannot *string
		}
	}
	decodeInput(input, &in)
	options := in.SessionOptions
	options.SkipExclusive, options.CanSetPolicies, options.UpdatePolicies = in.SkipExclusive, in.CanSetPolicies, in.UpdatePolicies
	session, err := acemq.NewPlanSession(in.topology(), options)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	for _, given := range in.Answers {
		if _, err := session.Questions(); err != nil {
			return nil, err
		}
		var answer acemq.Answer
		switch {
		case given.Failed != nil && given.Cannot != nil:
			panic(unheld{errors.New("two answers in one")})
		case given.OK != nil:
			answer = acemq.Accepted(given.OK.Messages, given.OK.Consumers)
		case given.Refused != nil:
			answer = acemq.RefusedBy(*given.Refused)
		case given.Failed != nil:
			answer = acemq.Failed(*given.Failed)
		case given.Cannot != nil:
			answer = acemq.Cannot(*given.Cannot)
		}
		if err := session.Answer(given.ID, answer); err != nil {
			return nil, err
		}
	}
	questions, err := session.Questions()
	if err != nil {
		return nil, err
	}
	plan, err := session.Plan()
	if err != nil {
		return nil, err
	}
	text, err := plan.Render(acemq.PlanStyle, in.Width)
	if err != nil {
		return nil, err
	}
	lines, err := plan.Render(acemq.LinesStyle, 0)
	output := object{
		"finished": session.Finished(), "questions": append([]acemq.Question{}, questions...), "plan": plan.Document,
		"text": text, "lines": lines, "drift": plan.Drift(), "lines_block": plan.Block(acemq.LinesStyle), "error": nil,
		// Wrapped, the notes stand behind an empty line.
		"block": plan.Block(acemq.PlanStyle),
	}
	if in.Width > 0 {
		block, _, _ := strings.Cut(text, "\n\n")
		output["block"] = strings.TrimSuffix(block, "\n") + "\n"
	}
	if plan.Err != nil {
		output["error"] = plan.Err.Error()
	}
	return output, err
}

// stateInput is what a vhost holds.
type stateInput struct {
	acemq.BrokerVersion
	Topology    json.RawMessage
	Definitions *struct {
		Text     *string
		Document json.RawMessage
	}
}

func (in stateInput) source() acemq.Source {
	switch {
	case (in.Topology == nil) == (in.Definitions == nil):
		panic(unheld{errors.New("a source is one of the two")})
	case in.Definitions == nil:
		var topology withTopology
		decodeInput(in.Topology, &topology.Topology)
		return acemq.FromTopology(topology.topology(), in.BrokerVersion)
	case in.Definitions.Text != nil:
		return acemq.FromDefinitions(*in.Definitions.Text, in.BrokerVersion)
	}
	return acemq.FromDefinitions(string(in.Definitions.Document), in.BrokerVersion)
}

// runEmbedded plays a list of commands through the typed methods.
func runEmbedded(input json.RawMessage) (any, error) {
	var in struct {
		Broker struct {
			acemq.BrokerVersion
			Permissions []acemq.Permissions
		}
		Commands []map[string]json.RawMessage
	}
	decodeInput(input, &in)
	broker, err := acemq.NewEmbeddedBroker(acemq.EmbeddedOptions{
		BrokerVersion: in.Broker.BrokerVersion, Permissions: in.Broker.Permissions,
	})
	if err != nil {
		return nil, err
	}
	defer broker.Close()
	play := player{broker, map[string]*acemq.EmbeddedConnection{}, map[string]*acemq.EmbeddedChannel{}}
	replies := []any{}
	for _, command := range in.Commands {
		reply, err := play.command(command)
		var refused *acemq.Refused
		if errors.As(err, &refused) {
			reply = object{"refused": refused}
		} else if err != nil {
			return nil, err
		}
		if reply == nil {
			reply = object{}
		}
		replies = append(replies, reply)
	}
	return object{"replies": replies}, nil
}

type player struct {
	broker      *acemq.EmbeddedBroker
	connections map[string]*acemq.EmbeddedConnection
	channels    map[string]*acemq.EmbeddedChannel
}

// requester is what connections and channels have in common.
type requester interface {
	IsOpen() (bool, error)
	DeclareQueue(acemq.QueueDeclaration) (acemq.QueueStatus, error)
	DeclareQueuePassively(string) (acemq.QueueStatus, error)
	DeclareExchange(acemq.ExchangeDeclaration) error
	DeclareExchangePassively(string) error
	Bind(acemq.BindingDeclaration) error
	Unbind(acemq.BindingDeclaration) error
	DeleteQueue(string, bool, bool) (int, error)
	DeleteExchange(string, bool) error
	Purge(string) (int, error)
	Publish(acemq.Publication) (acemq.Published, error)
}

func (p player) command(command map[string]json.RawMessage) (any, error) {
	connection := p.connections[string(command["connection"])]
	channel := p.channels[string(command["channel"])]
	var who requester = connection
	if channel != nil {
		who = channel
	}
	for action, body := range command {
		if action == "connection" || action == "channel" {
			continue
		}
		var form struct {
			Name, Queue, User         string
			ConsumerTag               string `json:"consumer_tag"`
			DeliveryTag               uint64 `json:"delivery_tag"`
			IfUnused                  bool   `json:"if_unused"`
			IfEmpty                   bool   `json:"if_empty"`
			NoAck                     bool   `json:"no_ack"`
			Multiple, Requeue, Global bool
			Prefetch                  uint16
			MS                        int64
		}
		_ = json.Unmarshal(body, &form)
		switch action {
		case "connect":
			connect := p.broker.Connect
			if form.User != "" {
				connect = func() (*acemq.EmbeddedConnection, error) { return p.broker.ConnectAs(form.User) }
			}
			connected, err := connect()
			if err != nil {
				return nil, err
			}
			p.connections[fmt.Sprint(connected.Number())] = connected
			return object{"connection": connected.Number()}, nil
		case "disconnect":
			return nil, connection.Close()
		case "open_channel":
			opened, err := connection.OpenChannel()
			if err != nil {
				return nil, err
			}
			p.channels[fmt.Sprint(opened.Number())] = opened
			return object{"channel": opened.Number()}, nil
		case "close_channel":
			return nil, channel.Close()
		case "is_open":
			open, err := who.IsOpen()
			return object{"open": open}, err
		case "declare_queue":
			var queue queueInput
			decodeInput(body, &queue)
			return who.DeclareQueue(queue.QueueDeclaration)
		case "declare_queue_passively":
			return who.DeclareQueuePassively(form.Name)
		case "declare_exchange":
			var exchange exchangeInput
			decodeInput(body, &exchange)
			return nil, who.DeclareExchange(exchange.ExchangeDeclaration)
		case "declare_exchange_passively":
			return nil, who.DeclareExchangePassively(form.Name)
		case "bind", "unbind":
			var binding acemq.BindingDeclaration
			decodeInput(body, &binding)
			if action == "bind" {
				return nil, who.Bind(binding)
			}
			return nil, who.Unbind(binding)
		case "delete_queue":
			return gone(who.DeleteQueue(form.Name, form.IfUnused, form.IfEmpty))
		case "purge":
			return gone(who.Purge(form.Queue))
		case "delete_exchange":
			return nil, who.DeleteExchange(form.Name, form.IfUnused)
		case "publish":
			var publication acemq.Publication
			decodeInput(body, &publication)
			return who.Publish(publication)
		case "get":
			delivery, err := channel.Get(form.Queue, form.NoAck)
			return object{"delivery": shownDelivery(delivery)}, err
		case "consume":
			var subscription acemq.Subscription
			decodeInput(body, &subscription)
			tag, err := channel.Consume(subscription)
			return object{"consumer_tag": tag}, err
		case "cancel":
			return nil, channel.Cancel(form.ConsumerTag)
		case "qos":
			return nil, channel.Qos(form.Prefetch, form.Global)
		case "ack":
			return nil, channel.Ack(form.DeliveryTag, form.Multiple)
		case "nack":
			return nil, channel.Nack(form.DeliveryTag, form.Multiple, form.Requeue)
		case "reject":
			return nil, channel.Reject(form.DeliveryTag, form.Requeue)
		case "recover":
			return nil, channel.Recover()
		case "take_events":
			events, err := channel.Events()
			shown := []any{}
			for _, event := range events {
				if event.Delivered != nil {
					shown = append(shown, object{"delivered": shownDelivery(event.Delivered)})
				} else {
					shown = append(shown, object{"cancelled": event.Cancelled})
				}
			}
			return object{"events": shown}, err
		case "advance":
			now, err := p.broker.Advance(time.Duration(form.MS) * time.Millisecond)
			return object{"now_ms": now.UnixMilli()}, err
		case "contents":
			contents, err := p.broker.Contents(form.Queue)
			return object{"contents": contents}, err
		case "set_policy", "set_operator_policy":
			var policy struct {
				acemq.PolicyDeclaration
				ApplyTo string `json:"apply_to"`
			}
			decodeInput(body, &policy)
			policy.PolicyDeclaration.ApplyTo = policy.ApplyTo
			if action == "set_policy" {
				return nil, p.broker.SetPolicy(policy.PolicyDeclaration)
			}
			return nil, p.broker.SetOperatorPolicy(policy.PolicyDeclaration)
		case "clear_policy":
			cleared, err := p.broker.ClearPolicy(form.Name)
			return object{"cleared": cleared}, err
		case "clear_operator_policy":
			cleared, err := p.broker.ClearOperatorPolicy(form.Name)
			return object{"cleared": cleared}, err
		}
		return nil, fmt.Errorf("this runner does not know the command %s", action)
	}
	return nil, errors.New("a command without an action")
}

func gone(messages int, err error) (any, error) { return object{"messages": messages}, err }

func shownDelivery(delivery *acemq.Delivery) any {
	if delivery == nil {
		return nil
	}
	shown := plain(delivery).(object)
	shown["consumer_tag"] = orNil(delivery.ConsumerTag)
	return shown
}

func decodeInput(input json.RawMessage, into any) {
	if err := json.Unmarshal(input, into); err != nil {
		panic(unheld{err})
	}
}

// unheld: a Go program could not even write such an input down.
type unheld struct{ error }

func typed[T any](call func(T) (any, error)) func(json.RawMessage) (any, error) {
	return func(input json.RawMessage) (any, error) {
		var in T
		decodeInput(input, &in)
		return call(in)
	}
}

var tooLong = unheld{errors.New("no time.Duration is that long")}

type withDelay struct {
	DelayMS uint64 `json:"delay_ms"`
	Queue   string
	Policy  json.RawMessage
}

func byDuration(
	call func(withDelay, time.Duration) (any, error),
) func(json.RawMessage) (any, error) {
	return func(input json.RawMessage) (any, error) {
		var in withDelay
		decodeInput(input, &in)
		if in.DelayMS > math.MaxInt64/uint64(time.Millisecond) {
			panic(tooLong)
		}
		return call(in, time.Duration(in.DelayMS)*time.Millisecond)
	}
}

func policyOf(policy json.RawMessage) (*acemq.RetryPolicy, error) {
	var text string
	if bytes.HasPrefix(policy, []byte(`"`)) && json.Unmarshal(policy, &text) == nil {
		return acemq.ParseRetryPolicy(text)
	}
	return acemq.RetryPolicyFromJSON(policy)
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func tablesDocument(tables *acemq.Tables) any {
	if tables == nil {
		return nil
	}
	shown := plain(tables).(object)
	shown["format"] = "acemq.tables/1"
	return shown
}

type withTopology struct {
	Topology struct {
		Text     *string
		Document json.RawMessage
		Built    *struct {
			Document struct{ Queues []queueWish }
			Settings []queueWish
		}
	}
}

// queueWish is what the suites ask of a builder.
type queueWish struct {
	Name         string
	Type, Retry  string
	DeadLetter   bool   `json:"dead_letter"`
	DeadLetterTo string `json:"dead_letter_to"`
	Arguments    acemq.Table
}

func (wish queueWish) ask(builder *acemq.TopologyBuilder) {
	if wish.Type != "" {
		builder.OfType(wish.Name, wish.Type)
	}
	if wish.Retry != "" {
		builder.Retries(wish.Name, acemq.MustRetryPolicy(wish.Retry))
	}
	if wish.DeadLetter {
		builder.DeadLetters(wish.Name)
	}
	if wish.DeadLetterTo != "" {
		builder.DeadLetterTo(wish.Name, wish.DeadLetterTo)
	}
	for name, value := range wish.Arguments {
		builder.QueueArg(wish.Name, name, value)
	}
}

func (in withTopology) topology() *acemq.Topology {
	if in.Topology.Text != nil {
		return acemq.ParseTopology(*in.Topology.Text)
	}
	if built := in.Topology.Built; built != nil {
		builder := acemq.NewTopology()
		for _, wish := range built.Settings {
			wish.ask(builder)
		}
		for _, wish := range built.Document.Queues {
			wish.ask(builder.Queue(wish.Name))
		}
		return builder.Build()
	}
	return acemq.TopologyFromJSON(in.Topology.Document)
}

// Durable unless said, as documents have it.
type queueInput struct{ acemq.QueueDeclaration }

func (q *queueInput) UnmarshalJSON(data []byte) error {
	q.Durable = true
	return json.Unmarshal(data, &q.QueueDeclaration)
}

type exchangeInput struct{ acemq.ExchangeDeclaration }

func (e *exchangeInput) UnmarshalJSON(data []byte) error {
	e.Durable = true
	return json.Unmarshal(data, &e.ExchangeDeclaration)
}
