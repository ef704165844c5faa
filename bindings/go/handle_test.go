package acemq_test

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	acemq "github.com/acemq/acemq-core/bindings/go"
)

func TestAClosedHandleSaysSoAndMayBeClosedAgain(t *testing.T) {
	policy := acemq.MustRetryPolicy("fixed(3, 40s)")
	ladder := must(acemq.NewLadder("q", policy))
	matcher := must(acemq.NewTopicMatcher())
	pattern := must(acemq.NewTopicPattern("#"))
	broker := must(acemq.NewEmbeddedBroker(acemq.EmbeddedOptions{}))
	topology := acemq.ParseTopology("queues: { q: {} }")
	router := must(acemq.NewRouter(acemq.FromTopology(topology, acemq.BrokerVersion{})))
	session := must(acemq.NewPlanSession(topology, acemq.SessionOptions{}))
	for range 2 {
		for _, closer := range []interface{ Close() }{policy, ladder, matcher, pattern, broker, router, session} {
			closer.Close()
		}
	}
	errs := []error{}
	add := func(_ any, err error) { errs = append(errs, err) }
	add(policy.Decide(1, 0, 0))
	add(acemq.NewLadder("q", policy))
	add(matcher.Insert("a", 1))
	add(matcher.Remove("a", 1))
	add(matcher.Matches("a"))
	add(matcher.MatchesAll(acemq.NewKeys("a")))
	add(pattern.MatchesAll(acemq.NewKeys("a")))
	add(broker.Connect())
	add(broker.Clone())
	add(router.Route(acemq.RoutedMessage{}))
	add(session.Questions())
	add(session.Plan())
	add(session.Render(acemq.LinesStyle, 0))
	add(nil, session.Answer(1, acemq.Failed("x")))
	add(nil, session.Interrupt())
	for i, err := range errs {
		if !errors.Is(err, acemq.ErrClosed) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if pattern.Matches("a") || session.Finished() || ladder.RungFor(time.Hour) != nil || matcher.Len() != 0 {
		t.Error("a closed handle has an answer")
	}
	if policy.String() != "fixed(3, 40s)" || len(ladder.Rungs()) != 1 {
		t.Error("what was read before stays")
	}
}

// Every goroutine either gets a right answer or ErrClosed, whatever the others do.
func TestHandlesAreClosedWhileOthersUseThem(t *testing.T) {
	for range 200 {
		policy := acemq.MustRetryPolicy("exponential(6, 10s)")
		matcher := must(acemq.NewTopicMatcher())
		broker := must(acemq.NewEmbeddedBroker(acemq.EmbeddedOptions{}))
		must(matcher.Insert("a.*", 7))
		var start, group sync.WaitGroup
		start.Add(1)
		for worker := range 4 {
			group.Add(1)
			go func() {
				defer group.Done()
				start.Wait()
				for round := range 50 {
					decision, err := policy.Decide(3, 0, 0.5)
					if !errors.Is(err, acemq.ErrClosed) && (err != nil || decision.Wait != 40*time.Second) {
						t.Error(decision, err)
					}
					values, err := matcher.Matches("a.b")
					if !errors.Is(err, acemq.ErrClosed) && (err != nil || len(values) == 0) {
						t.Error(values, err)
					}
					own := uint64(100*worker + round + 10)
					if _, err := matcher.Insert("a.*", own); err != nil && !errors.Is(err, acemq.ErrClosed) {
						t.Error(err)
					}
					if _, err := broker.Advance(time.Millisecond); err != nil && !errors.Is(err, acemq.ErrClosed) {
						t.Error(err)
					}
					if worker == 0 && round == 25 {
						policy.Close()
						matcher.Close()
						broker.Close()
					}
				}
			}()
		}
		start.Done()
		group.Wait()
	}
}

// resident is the memory of the whole process in KiB.
func resident(t *testing.T) int {
	t.Helper()
	runtime.GC()
	runtime.GC()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("only Linux tells how much memory a process has")
	}
	for _, line := range strings.Split(string(status), "\n") {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			return must(strconv.Atoi(strings.Fields(rest)[0]))
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

// staysWithin runs rounds of work, the first tenth to warm up, and fails when memory grows by more than 4 MiB: far less than
// one leaked allocation of 16 bytes in each of 500,000 rounds.
func staysWithin(t *testing.T, rounds int, work func(round int)) {
	t.Helper()
	if testing.Short() {
		rounds /= 100
	}
	const allowed = 4096
	for round := range rounds / 10 {
		work(round)
	}
	before := resident(t)
	for round := range rounds {
		work(round)
	}
	time.Sleep(10 * time.Millisecond)
	if grown := resident(t) - before; grown > allowed {
		t.Fatalf("%d KiB more after %d rounds", grown, rounds)
	}
}

func TestAMillionHotCallsLeaveMemoryAsItWas(t *testing.T) {
	policy := acemq.MustRetryPolicy("exponential(6, 10s)")
	ladder := must(acemq.NewLadder("orders", policy))
	matcher := must(acemq.NewTopicMatcher())
	must(matcher.Insert("a.#", 1))
	keys := acemq.NewKeys("a.b", "b")
	var matched acemq.Matched
	staysWithin(t, 1_000_000, func(round int) {
		must(ladder.Decide(round%8, 0, 0.5))
		ladder.RungFor(time.Duration(round) * time.Millisecond)
		must(acemq.RetryQueue("orders", time.Duration(1+round)*time.Millisecond))
		acemq.TopicMatches("a.#", "a.b")
		must(matcher.Matches("a.b"))
		if err := matcher.MatchesAllInto(&matched, keys); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAHundredThousandHandlesLeaveMemoryAsItWas(t *testing.T) {
	topology := acemq.ParseTopology("queues: { q: {} }")
	work := func(closed bool) func(int) {
		return func(int) {
			policy := acemq.MustRetryPolicy("fixed(3, 40s)")
			ladder := must(acemq.NewLadder("q", policy))
			matcher := must(acemq.NewTopicMatcher())
			must(matcher.Insert("a.*", 1))
			session := must(acemq.NewPlanSession(topology, acemq.SessionOptions{}))
			if _, err := acemq.ParseDuration("1"); err == nil {
				t.Fatal("1 is no duration")
			}
			if closed {
				policy.Close()
				ladder.Close()
				matcher.Close()
				session.Close()
			}
		}
	}
	t.Run("closed", func(t *testing.T) { staysWithin(t, 100_000, work(true)) })
	t.Run("left to the garbage collector", func(t *testing.T) { staysWithin(t, 20_000, work(false)) })
}
