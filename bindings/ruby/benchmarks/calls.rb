# frozen_string_literal: true

# Nanoseconds per call, against the same work in pure Ruby.
#
#     ruby benchmarks/calls.rb [SECONDS]     how long each measurement runs; 0.2 unless said
#
# Each figure is the best of five runs, the loop included. The pure matcher splits and walks words; the compiled regular
# expression is what a careful Ruby program would use for one pattern.

require "acemq/core"

PATTERN = "stock.*.nyse.#"
KEY = "stock.us.nyse.ibm.trades"
BUDGET = Float(ARGV.fetch(0, "0.2"))

def nanoseconds(calls = 1)
  now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) }
  rounds = 1
  loop do
    start = now.call
    rounds.times { yield }
    break if now.call - start > BUDGET * 1e8

    rounds *= 2
  end
  Array.new(5) do
    start = now.call
    rounds.times { yield }
    (now.call - start).fdiv(rounds * calls)
  end.min
end

def plain_match(words, key, at_word = 0, at_key = 0, keys = key.split(".", -1))
  while at_word < words.size
    word = words[at_word]
    if word == "#"
      return (at_key..keys.size).any? { |at| plain_match(words, key, at_word + 1, at, keys) }
    end
    return false if at_key == keys.size || !(word == "*" || word == keys[at_key])

    at_word += 1
    at_key += 1
  end
  at_key == keys.size
end

def plain_decide(schedule, attempt, age, limit, random, factor)
  return [false, 0, false] if attempt > schedule.size || (age && age >= limit)

  wait = schedule[attempt - 1]
  return [true, wait, true] if wait >= 30

  [true, [(wait * 1000 * (1 + (((2 * random) - 1) * factor))).floor, 1].max / 1000.0, false]
end

def row(what, native, pure)
  puts format("%-44s %12.0f %14.0f %9.1f", what, native, pure, pure / native)
end

puts format("%-44s %12s %14s %9s", "ns per call", "acemq-core", "pure Ruby", "ratio")
core = AceMQ::Core
words = PATTERN.split(".", -1)
regex = /\Astock\.[^.]*\.nyse(\..*)?\z/
pattern = core::TopicPattern.new(PATTERN)
abort "the three do not agree" unless pattern.matches?(KEY) && plain_match(words, KEY) && regex.match?(KEY)
plain = nanoseconds { plain_match(words, KEY) }
compiled = nanoseconds { regex.match?(KEY) }
row("topic_matches?(pattern, key)", nanoseconds { core.topic_matches?(PATTERN, KEY) }, plain)
row("TopicPattern#matches?(key)", nanoseconds { pattern.matches?(KEY) }, plain)
row("  against a compiled regular expression", nanoseconds { pattern.matches?(KEY) }, compiled)
keys = Array.new(1000) { |i| "stock.us.nyse.ibm#{i}.trades" }
row("TopicPattern#matches_all(1,000 keys)", nanoseconds(1000) { pattern.matches_all(keys) },
    nanoseconds(1000) { keys.map { |key| regex.match?(key) } })

policy = core::RetryPolicy.exponential(attempts: 6, first: 10, cap: 300, give_up_after: 7200)
schedule = policy.schedule.to_a
[[1, "in the consumer"], [3, "in the broker"]].each do |attempt, where|
  row("RetryPolicy#decide, a wait #{where}", nanoseconds { policy.decide(attempt: attempt, age: 60, u: 0.3).wait },
      nanoseconds { plain_decide(schedule, attempt, 60, 7200, 0.3, 0.2) })
end

matcher = core::TopicMatcher.new
bindings = Array.new(10_000) { |i| ["orders.#{i % 100}.#{(i % 3).zero? ? "#" : "*"}.item#{i}", "queue #{i}"] }
bindings.each { |binding| matcher.insert(*binding) }
scanned = bindings.map { |one, value| [one.split(".", -1), value] }
key = "orders.7.eu.item7"
scan = -> { scanned.filter_map { |one, value| value if plain_match(one, key) } }
abort "the two do not agree" unless matcher.matches(key) == ["queue 7"] && scan.call == ["queue 7"]
linear = nanoseconds(&scan)
row("TopicMatcher of 10,000 bindings, one key", nanoseconds { matcher.matches(key) }, linear)
keys = Array.new(1000) { |i| "orders.#{i % 100}.eu.item#{i}" }
row("  1,000 keys in a batch, each", nanoseconds(1000) { matcher.matches_all(keys) }, linear)
