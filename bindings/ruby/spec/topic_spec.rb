# frozen_string_literal: true

require "spec_helper"

RSpec.describe "topics" do
  it "are matched word by word" do
    { %w[a.#.b a.b] => true, %w[a.#.b a.x.y.b] => true, %w[a.*.b a..b] => true, ["#", ""] => true, ["*", ""] => false,
      %w[a* ab] => false, %w[## a] => false }.each do |(pattern, key), wanted|
      expect(AceMQ::Core.topic_matches?(pattern, key)).to be(wanted), "#{pattern} and #{key}"
      expect(AceMQ::Core::TopicPattern.new(pattern).matches?(key)).to be(wanted)
      expect(AceMQ::Core.call("topic.match", { pattern: pattern, key: key })["matches"]).to be(wanted)
    end
  end

  it "are matched in batches" do
    keys = ["a", "a.b", "b", "", "ä.b"]
    expect(AceMQ::Core::TopicPattern.new("#.b").matches_all(keys)).to eq([false, true, true, false, true])
    expect(AceMQ::Core::TopicPattern.new("#").matches_all([])).to eq([])
  end
end

RSpec.describe AceMQ::Core::TopicMatcher do
  subject(:matcher) { described_class.new }

  it "finds the values whose patterns match, each once" do
    matcher.insert("orders.*", :one)
    matcher.insert("orders.#", :one)
    matcher.insert("#", "two")
    expect(matcher.insert("#", "two")).to be(false)
    expect(matcher.matches("orders.new")).to eq([:one, "two"])
    expect(matcher.matches_all(%w[orders.new other])).to eq([[:one, "two"], ["two"]])
    expect(matcher.remove("orders.#", :one)).to be(true)
    expect(matcher.remove("orders.#", :one)).to be(false)
    expect([matcher.matches("orders.a.b"), matcher.size]).to eq([["two"], 2])
  end

  it "lets go of a value when its last binding is taken out" do
    matcher.insert("a", value = Object.new)
    matcher.insert("b", value)
    matcher.remove("a", value)
    expect(matcher.matches("b")).to eq([value])
    matcher.remove("b", value)
    held = matcher.instance_variables.map { |name| matcher.instance_variable_get(name) }
    expect(held.grep(Array).flatten.compact + held.grep(Hash).flat_map(&:keys)).to eq([])
    matcher.insert("a", value)
    expect(matcher.matches("a")).to eq([value])
  end

  it "finds more values than it has room for" do
    1000.times { |number| matcher.insert("#", number) }
    expect(matcher.matches("any")).to eq((0...1000).to_a)
    expect(matcher.matches_all(%w[any other])).to eq([(0...1000).to_a] * 2)
  end

  it "may be used by many threads, and closed meanwhile" do
    matcher.insert("#", 1)
    threads = Array.new(8) do
      Thread.new do
        10_000.times { matcher.matches("a.b") }
      rescue IOError => e
        e.message
      end
    end
    matcher.close
    expect(threads.map(&:value)).to all(eq(10_000).or(eq("this TopicMatcher is closed")))
  end
end
