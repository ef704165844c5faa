package acemq_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	acemq "github.com/acemq/acemq-core/bindings/go"
)

// The engine against the same work in plain Go: go test -bench . -run '^$'
//
// Each benchmark runs both and reports, beside its own ns/op, what the plain code needs (go-ns/op) and how many times faster
// the engine is (x-faster; below 1 it is slower).

// goTopicMatches is a careful matcher in plain Go: no allocation, word by word.
func goTopicMatches(pattern, key string) bool {
	return matchWords(pattern, pattern != "", key, key != "")
}

// matchWords takes the words that are left, and whether there are any: "" may be one empty word.
func matchWords(pattern string, some bool, key string, left bool) bool {
	for some {
		word, rest, more := strings.Cut(pattern, ".")
		if word == "#" {
			for !matchWords(rest, more, key, left) {
				if !left {
					return false
				}
				_, key, left = strings.Cut(key, ".")
			}
			return true
		}
		if !left {
			return false
		}
		first, tail, further := strings.Cut(key, ".")
		if word != "*" && word != first {
			return false
		}
		pattern, some, key, left = rest, more, tail, further
	}
	return !left
}

// goDecide is the decision of an exponential policy in plain Go.
func goDecide(attempt, attempts int, first, cap, threshold time.Duration, jitter, u float64) (time.Duration, bool, bool) {
	if attempt >= attempts {
		return 0, false, false
	}
	wait := min(cap, time.Duration(float64(first)*math.Pow(2, float64(attempt-1))))
	if wait >= threshold {
		return wait, true, true
	}
	return time.Duration(float64(wait) * (1 + (2*u-1)*jitter)), false, true
}

// compare measures the plain code for a moment and the engine's for b.N rounds, each by the fastest of many short spans, for
// a machine is rarely idle. A call of them counts as plainEach and each operations.
func compare(b *testing.B, plainEach, each int, plain, engine func()) {
	b.Helper()
	const moment = 200 * time.Millisecond
	plainRounds := 1000
	if span(1, 1, plain) > 10_000 {
		plainRounds = 1
	}
	measured, start := math.Inf(1), time.Now()
	for time.Since(start) < moment {
		measured = min(measured, span(plainRounds, plainEach, plain))
	}
	own, rounds := math.Inf(1), max(b.N/each, 1)
	b.ResetTimer()
	for rounds > 0 {
		length := min(rounds, max(1, 1000/each))
		own = min(own, span(length, each, engine))
		rounds -= length
	}
	b.StopTimer()
	b.ReportMetric(own, "ns/op")
	b.ReportMetric(measured, "go-ns/op")
	b.ReportMetric(measured/own, "x-faster")
}

// span is the time for one operation in that many rounds of each operations.
func span(rounds, each int, work func()) float64 {
	start := time.Now()
	for range rounds {
		work()
	}
	return float64(time.Since(start).Nanoseconds()) / float64(rounds*each)
}

var sink int

func count(matches bool) {
	if matches {
		sink++
	}
}

func BenchmarkSingleMatch(b *testing.B) {
	pattern, key := "stock.*.nyse.#", "stock.us.nyse.ibm.trades"
	compare(b, 1, 1,
		func() { count(goTopicMatches(pattern, key)) },
		func() { count(acemq.TopicMatches(pattern, key)) })
}

func BenchmarkSingleMatchOfACompiledPattern(b *testing.B) {
	pattern, key := must(acemq.NewTopicPattern("stock.*.nyse.#")), "stock.us.nyse.ibm.trades"
	compare(b, 1, 1,
		func() { count(goTopicMatches("stock.*.nyse.#", key)) },
		func() { count(pattern.Matches(key)) })
}

func BenchmarkDecide(b *testing.B) {
	policy := acemq.MustRetryPolicy("exponential(6, 10s, 5m)")
	compare(b, 1, 1,
		func() {
			wait, _, _ := goDecide(3, 6, 10*time.Second, 5*time.Minute, 30*time.Second, 0.2, 0.5)
			sink += int(wait)
		},
		func() {
			decision, _ := policy.Decide(3, 0, 0.5)
			sink += int(decision.Wait)
		})
}

func bindings(number int) []string {
	patterns := make([]string, number)
	for i := range patterns {
		patterns[i] = fmt.Sprintf([]string{"orders.%d.created", "orders.*.%d", "orders.%d.#", "*.%d.eu"}[i%4], i)
	}
	return patterns
}

func BenchmarkMatcherWith10000Bindings(b *testing.B) {
	patterns := bindings(10_000)
	matcher := must(acemq.NewTopicMatcher())
	for value, pattern := range patterns {
		must(matcher.Insert(pattern, uint64(value)))
	}
	key := "orders.4998.created"
	var found []uint64
	compare(b, 1, 1,
		func() {
			for _, pattern := range patterns {
				count(goTopicMatches(pattern, key))
			}
		},
		func() {
			found, _ = matcher.AppendMatches(found[:0], key)
			sink += len(found)
		})
	if len(found) != 1 {
		b.Fatalf("one pattern matches, not %v", found)
	}
}

func batch() ([]string, *acemq.Keys) {
	list := make([]string, 1000)
	for i := range list {
		list[i] = fmt.Sprintf("stock.us.nyse.%d.trades", i)
	}
	return list, acemq.NewKeys(list...)
}

func BenchmarkBatchOf1000KeysPerKey(b *testing.B) {
	list, keys := batch()
	pattern := must(acemq.NewTopicPattern("stock.*.nyse.#"))
	compare(b, len(list), len(list),
		func() {
			for _, key := range list {
				count(goTopicMatches("stock.*.nyse.#", key))
			}
		},
		func() { sink += len(must(pattern.MatchesAll(keys))) })
}

func BenchmarkBatchOf1000KeysAgainst10000BindingsPerKey(b *testing.B) {
	list, keys := batch()
	patterns := bindings(10_000)
	matcher := must(acemq.NewTopicMatcher())
	for value, pattern := range patterns {
		must(matcher.Insert(pattern, uint64(value)))
	}
	var matched acemq.Matched
	compare(b, 1, len(list),
		func() {
			// One key stands for all: a thousand would take minutes.
			for _, pattern := range patterns {
				count(goTopicMatches(pattern, list[0]))
			}
		},
		func() {
			if err := matcher.MatchesAllInto(&matched, keys); err != nil {
				b.Fatal(err)
			}
		})
}

// The plain matcher is only a fair rival when it is right.
func TestThePlainMatcherAgrees(t *testing.T) {
	words := []string{"", "a", "*", "#", "a.b", "a.*", "a.#", "#.b", "*.#", "a..b", ".", "#.#", "a.#.b", "*.*", "a.b.c"}
	for _, pattern := range words {
		for _, key := range words {
			if plain := goTopicMatches(pattern, key); plain != acemq.TopicMatches(pattern, key) {
				t.Errorf("%q and %q: plain Go says %v", pattern, key, plain)
			}
		}
	}
}
