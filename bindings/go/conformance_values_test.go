package acemq_test

// The conformance cases for names, durations, retries and topics.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	acemq "github.com/acemq/acemq-core/bindings/go"
)

var valueOperations = map[string]operation{
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
