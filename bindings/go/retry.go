package acemq

/*
#cgo nocallback acemq_retry_policy_decide
#cgo noescape acemq_retry_policy_decide
#cgo nocallback acemq_ladder_rung_for
#cgo noescape acemq_ladder_rung_for
#cgo nocallback acemq_retry_policy_delay
#cgo noescape acemq_retry_policy_delay
#include <acemq.h>
*/
import "C"

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"time"
)

// AgeUnknown is the age of a message whose age is not known: it is young enough.
const AgeUnknown = time.Duration(math.MinInt64)

// GiveUpReason is why a message is not tried again.
type GiveUpReason string

const (
	// AttemptsExhausted: this was the last attempt.
	AttemptsExhausted GiveUpReason = "attempts_exhausted"
	// TooOld: the message has reached the age limit.
	TooOld GiveUpReason = "too_old"
)

// RetryPolicy says when a message whose handling failed is tried again, and where it waits. It never changes.
type RetryPolicy struct {
	handle  *handle[*C.AcemqRetryPolicy]
	summary policySummary
	// By AcemqDecision.reason.
	reasons [3]string
}

// policySummary is the output of the operation retry.policy.
type policySummary struct {
	Text                  string   `json:"text"`
	Kind                  string   `json:"kind"`
	MaxAttempts           uint32   `json:"max_attempts"`
	FirstMS               *uint64  `json:"first_ms"`
	CapMS                 *uint64  `json:"cap_ms"`
	MultiplierThousandths *uint32  `json:"multiplier_thousandths"`
	Jitter                float64  `json:"jitter"`
	MaxAgeMS              *uint64  `json:"max_age_ms"`
	ThresholdMS           uint64   `json:"threshold_ms"`
	BrokerRungsMS         []uint64 `json:"broker_rungs_ms"`
}

// RetryOption changes a policy while it is made.
type RetryOption struct {
	key   string
	value any
	// Whether it stands in the mapping of exponential.
	inner bool
}

// WithCap bounds the waits of an exponential policy.
func WithCap(longest time.Duration) RetryOption {
	return RetryOption{key: "cap", value: longest, inner: true}
}

// WithMultiplier is by how much each wait of an exponential policy is longer than the one before, 2 unless said: 1, or 1.01 to
// 1000 with at most three decimals.
func WithMultiplier(factor float64) RetryOption {
	return RetryOption{key: "multiplier", value: factor, inner: true}
}

// WithJitter is the random part of a wait in the consumer, 0 to 1. Unless said it is 0.2 for exponential policies, else 0.
func WithJitter(factor float64) RetryOption { return RetryOption{key: "jitter", value: factor} }

// WithGiveUpAfter sets a message aside when it has reached this age.
func WithGiveUpAfter(age time.Duration) RetryOption {
	return RetryOption{key: "give_up_after", value: age}
}

// WithWaitInBrokerFrom is from how long on a wait is spent in the broker, 30 s unless said; 0 means never.
func WithWaitInBrokerFrom(threshold time.Duration) RetryOption {
	return RetryOption{key: "wait_in_broker_from", value: threshold}
}

// ParseRetryPolicy reads a policy's text, as in "exponential(6, 10s, 5m).jitter(0.1)".
func ParseRetryPolicy(policy string) (*RetryPolicy, error) {
	var native *C.AcemqRetryPolicy
	var failure *C.AcemqError
	ptr, length := text(policy)
	if C.acemq_retry_policy_parse(ptr, length, &native, &failure) < 0 {
		return nil, taken(failure)
	}
	return newPolicy(native)
}

// MustRetryPolicy is ParseRetryPolicy for policies in the source: it panics where that fails.
func MustRetryPolicy(policy string) *RetryPolicy {
	parsed, err := ParseRetryPolicy(policy)
	if err != nil {
		panic(err)
	}
	return parsed
}

// RetryPolicyFromJSON reads a policy as documents hold it: its text as a JSON string, or the mapping
// {"exponential": {"attempts": 6, "first": "10s"}, "jitter": 0.1}.
func RetryPolicyFromJSON(policy []byte) (*RetryPolicy, error) {
	var native *C.AcemqRetryPolicy
	var failure *C.AcemqError
	ptr, length := text(string(policy))
	if C.acemq_retry_policy_from_json(ptr, length, &native, &failure) < 0 {
		return nil, taken(failure)
	}
	return newPolicy(native)
}

// NoRetry makes the first failure the last.
func NoRetry(options ...RetryOption) (*RetryPolicy, error) {
	return build("none", map[string]any{}, options)
}

// FixedRetry makes attempts deliveries with the same wait between them.
func FixedRetry(attempts int, delay time.Duration, options ...RetryOption) (*RetryPolicy, error) {
	return build("fixed", map[string]any{"attempts": attempts, "delay": delay}, options)
}

// ExponentialRetry makes attempts deliveries, with waits that double from first on.
func ExponentialRetry(attempts int, first time.Duration, options ...RetryOption) (*RetryPolicy, error) {
	return build("exponential", map[string]any{"attempts": attempts, "first": first}, options)
}

func build(kind string, inner map[string]any, options []RetryOption) (*RetryPolicy, error) {
	outer := map[string]any{kind: inner}
	for _, option := range options {
		if option.inner {
			inner[option.key] = option.value
		} else {
			outer[option.key] = option.value
		}
	}
	for _, mapping := range []map[string]any{inner, outer} {
		for key, value := range mapping {
			duration, ok := value.(time.Duration)
			if !ok {
				continue
			}
			ms, err := milliseconds(duration)
			if err != nil {
				return nil, err
			}
			mapping[key] = fmt.Sprintf("%dms", uint64(ms))
		}
	}
	encoded, err := json.Marshal(outer)
	if err != nil {
		return nil, own("wrong_value", err.Error(), "give numbers")
	}
	return RetryPolicyFromJSON(encoded)
}

func newPolicy(native *C.AcemqRetryPolicy) (*RetryPolicy, error) {
	free := func(native *C.AcemqRetryPolicy) { C.acemq_retry_policy_free(native) }
	policy := &RetryPolicy{handle: newHandle(native, free)}
	var document C.AcemqBuffer
	var failure *C.AcemqError
	if C.acemq_retry_policy_document(native, &document, &failure) < 0 {
		return nil, taken(failure)
	}
	if err := decode(takenBytes(&document), &policy.summary); err != nil {
		return nil, err
	}
	for reason := C.ACEMQ_REASON_ATTEMPTS_EXHAUSTED; reason <= C.ACEMQ_REASON_TOO_OLD; reason++ {
		var printed C.AcemqBuffer
		if C.acemq_retry_policy_give_up_text(native, C.int32_t(reason), &printed, &failure) < 0 {
			return nil, taken(failure)
		}
		policy.reasons[reason] = takenText(&printed)
	}
	return policy, nil
}

// Close frees the policy early. Ladders that were made with it stay.
func (p *RetryPolicy) Close() { p.handle.close() }

// String is the policy's canonical text, which [ParseRetryPolicy] reads back.
func (p *RetryPolicy) String() string { return p.summary.Text }

// Kind is "none", "fixed" or "exponential".
func (p *RetryPolicy) Kind() string { return p.summary.Kind }

// MaxAttempts is the number of deliveries, the first one included.
func (p *RetryPolicy) MaxAttempts() int { return int(p.summary.MaxAttempts) }

// First is the first wait; false for a policy without retries.
func (p *RetryPolicy) First() (time.Duration, bool) { return optional(p.summary.FirstMS) }

// Cap is the longest wait of an exponential policy; false when it has none.
func (p *RetryPolicy) Cap() (time.Duration, bool) { return optional(p.summary.CapMS) }

// MultiplierThousandths is the multiplier of an exponential policy in thousandths, 0 for the others.
func (p *RetryPolicy) MultiplierThousandths() int {
	if p.summary.MultiplierThousandths == nil {
		return 0
	}
	return int(*p.summary.MultiplierThousandths)
}

// Jitter is the random part of a wait in the consumer, 0 to 1.
func (p *RetryPolicy) Jitter() float64 { return p.summary.Jitter }

// GiveUpAfter is the age limit; false without one.
func (p *RetryPolicy) GiveUpAfter() (time.Duration, bool) { return optional(p.summary.MaxAgeMS) }

// WaitInBrokerFrom is from how long on a wait is spent in the broker; 0 means never.
func (p *RetryPolicy) WaitInBrokerFrom() time.Duration { return toDuration(p.summary.ThresholdMS) }

// BrokerDelays are the waits that are spent in the broker, shortest first.
func (p *RetryPolicy) BrokerDelays() []time.Duration {
	delays := make([]time.Duration, len(p.summary.BrokerRungsMS))
	for i, ms := range p.summary.BrokerRungsMS {
		delays[i] = toDuration(ms)
	}
	return delays
}

func optional(ms *uint64) (time.Duration, bool) {
	if ms == nil {
		return 0, false
	}
	return toDuration(*ms), true
}

// Delay is the wait after attempt index+1, without jitter; false when there is none.
func (p *RetryPolicy) Delay(index int) (time.Duration, bool) {
	native, err := p.handle.acquire()
	if err != nil || index < 0 || index > math.MaxUint32 {
		return 0, false
	}
	defer p.handle.release()
	var ms C.uint64_t
	found := C.acemq_retry_policy_delay(native, C.uint32_t(index), &ms, nil)
	return toDuration(uint64(ms)), found == C.ACEMQ_YES
}

// Schedule gives the waits one after the other, without jitter; there are MaxAttempts-1.
func (p *RetryPolicy) Schedule() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for index := 0; ; index++ {
			delay, found := p.Delay(index)
			if !found || !yield(delay) {
				return
			}
		}
	}
}

// Decision says what to do with a message whose handling failed.
type Decision struct {
	// Retry: it is tried again; else it is set aside for Reason, with GiveUpText.
	Retry bool
	// Wait is how long it waits before that, on a rung when InBroker, else in the consumer.
	Wait     time.Duration
	InBroker bool
	// Rung is the name of the queue to publish it to; only [Ladder.Decide] knows it.
	Rung       string
	Reason     GiveUpReason
	GiveUpText string

	rung int
}

// Decide decides about a message whose delivery number attempt, from 1, failed. The age is the time since it was first seen,
// or [AgeUnknown]; u is a random number of at least 0 and below 1, for the jitter of a wait in the consumer. The same arguments
// give the same decision.
//
// An age is measured, so it may be any duration: it counts in whole milliseconds that have passed, and one from the future
// as none.
func (p *RetryPolicy) Decide(attempt int, age time.Duration, u float64) (Decision, error) {
	native, err := p.handle.acquire()
	if err != nil {
		return Decision{}, err
	}
	var decision C.AcemqDecision
	var failure *C.AcemqError
	status := C.acemq_retry_policy_decide(native, attemptNumber(attempt), ageNumber(age), C.double(u), &decision, &failure)
	p.handle.release()
	if status < 0 {
		return Decision{}, taken(failure)
	}
	made := Decision{
		Retry:    decision.retry != 0,
		Wait:     toDuration(uint64(decision.wait_ms)),
		InBroker: decision.in_broker != 0,
		rung:     int(decision.rung),
	}
	switch decision.reason {
	case C.ACEMQ_REASON_ATTEMPTS_EXHAUSTED:
		made.Reason = AttemptsExhausted
	case C.ACEMQ_REASON_TOO_OLD:
		made.Reason = TooOld
	}
	made.GiveUpText = p.reasons[decision.reason]
	return made, nil
}

func attemptNumber(attempt int) C.uint32_t {
	return C.uint32_t(min(max(attempt, 0), math.MaxUint32))
}

func ageNumber(age time.Duration) C.uint64_t {
	if age == AgeUnknown {
		return C.ACEMQ_AGE_UNKNOWN
	}
	return C.uint64_t(max(age, 0) / time.Millisecond)
}

// RungFor is the rung for any delay: none when it is too short for the broker or there are no rungs, else the shortest that is
// long enough, else the longest. A delay counts in whole milliseconds.
func (p *RetryPolicy) RungFor(delay time.Duration) (time.Duration, bool) {
	native, err := p.handle.acquire()
	if err != nil {
		return 0, false
	}
	defer p.handle.release()
	var ms C.uint64_t
	found := C.acemq_retry_policy_rung_for(native, delayNumber(delay), &ms, nil)
	return toDuration(uint64(ms)), found == C.ACEMQ_YES
}

func delayNumber(delay time.Duration) C.uint64_t { return C.uint64_t(max(delay, 0) / time.Millisecond) }

// Rung is a queue that holds a message for one delay and then gives it back to its source queue.
type Rung struct {
	Delay time.Duration
	QueueTable
}

// Ladder holds the queues in which the messages of one queue wait, shortest first, with what leads back from them. It never
// changes.
type Ladder struct {
	handle   *handle[*C.AcemqLadder]
	policy   *RetryPolicy
	queue    string
	rungs    []Rung
	exchange *ExchangeTable
	binding  *BindingTable
}

// NewLadder is the ladder of a queue under a policy.
func NewLadder(queue string, policy *RetryPolicy) (*Ladder, error) {
	nativePolicy, err := policy.handle.acquire()
	if err != nil {
		return nil, err
	}
	var native *C.AcemqLadder
	var failure *C.AcemqError
	ptr, length := text(queue)
	status := C.acemq_ladder_new(ptr, length, nativePolicy, &native, &failure)
	policy.handle.release()
	if status < 0 {
		return nil, taken(failure)
	}
	free := func(native *C.AcemqLadder) { C.acemq_ladder_free(native) }
	ladder := &Ladder{handle: newHandle(native, free), policy: policy, queue: queue}
	var document C.AcemqBuffer
	if C.acemq_ladder_document(native, &document, &failure) < 0 {
		return nil, taken(failure)
	}
	var tables struct {
		Rungs []struct {
			DelayMS uint64 `json:"delay_ms"`
			QueueTable
		} `json:"rungs"`
		Exchange *ExchangeTable `json:"exchange"`
		Binding  *BindingTable  `json:"binding"`
	}
	if err := decode(takenBytes(&document), &tables); err != nil {
		return nil, err
	}
	ladder.exchange, ladder.binding = tables.Exchange, tables.Binding
	for _, rung := range tables.Rungs {
		ladder.rungs = append(ladder.rungs, Rung{toDuration(rung.DelayMS), rung.QueueTable})
	}
	return ladder, nil
}

// Close frees the ladder early.
func (l *Ladder) Close() { l.handle.close() }

// Queue is the queue whose messages wait here.
func (l *Ladder) Queue() string { return l.queue }

// Rungs are the queues, shortest delay first. The slice is not to be changed.
func (l *Ladder) Rungs() []Rung { return l.rungs }

// Exchange is the exchange through which messages come back; nil without rungs.
func (l *Ladder) Exchange() *ExchangeTable { return l.exchange }

// Binding leads back to the source queue; nil without rungs.
func (l *Ladder) Binding() *BindingTable { return l.binding }

// RungFor is the rung for any delay: nil when it is too short for the broker or there are no rungs, else the shortest that is
// long enough, else the longest. A delay counts in whole milliseconds.
func (l *Ladder) RungFor(delay time.Duration) *Rung {
	native, err := l.handle.acquire()
	if err != nil {
		return nil
	}
	defer l.handle.release()
	var rung C.AcemqRung
	if C.acemq_ladder_rung_for(native, delayNumber(delay), &rung, nil) != C.ACEMQ_YES {
		return nil
	}
	return &l.rungs[rung.index]
}

// Decide is [RetryPolicy.Decide] with the name of the rung.
func (l *Ladder) Decide(attempt int, age time.Duration, u float64) (Decision, error) {
	decision, err := l.policy.Decide(attempt, age, u)
	if err == nil && decision.InBroker {
		decision.Rung = l.rungs[decision.rung].Name
	}
	return decision, err
}
