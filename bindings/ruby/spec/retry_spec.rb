# frozen_string_literal: true

require "spec_helper"

RSpec.describe AceMQ::Core::RetryPolicy do
  subject(:policy) { described_class.exponential(attempts: 6, first: 10, cap: 300) }

  it "waits 10 s, 20 s, 40 s, 80 s and 160 s between six attempts" do
    expect(policy.schedule.to_a).to eq([10, 20, 40, 80, 160])
    expect(policy.schedule.size).to eq(5)
    expect([policy.delay(4), policy.delay(5), policy.delay(-1)]).to eq([160, nil, nil])
  end

  it "spends waits of 30 s and more in the broker" do
    expect(policy.broker_delays).to eq([40, 80, 160])
    expect(policy.decide(attempt: 2).in_broker?).to be(false)
    decision = policy.decide(attempt: 3)
    expect([decision.retry?, decision.in_broker?, decision.wait, decision.wait_ms]).to eq([true, true, 40, 40_000])
  end

  it "gives up after the last attempt and says so" do
    decision = policy.decide(attempt: 6)
    expect([decision.retry?, decision.reason, decision.give_up_text]).to eq([false, :attempts_exhausted, "exhausted 6 attempts"])
  end

  it "gives up on what is too old" do
    aged = described_class.parse("exponential(6, 10s).give_up_after(2h)")
    expect(aged.decide(attempt: 1, age: 7199.999).retry?).to be(true)
    expect(aged.decide(attempt: 1, age: 7200).reason).to eq(:too_old)
  end

  it "answers hot calls as the table of operations does" do
    policies = ["none()", "fixed(4, 1500ms).jitter(0.5)", "exponential(9, 700ms, 1m)", "exponential(30, 1s).give_up_after(1h)"]
    policies.product([1, 2, 5, 9, 30, 4_000_000_000], [nil, 0, 3600], [0.0, 0.25, 0.999]).each do |text, attempt, age, u|
      decision = described_class.parse(text).decide(attempt: attempt, age: age, u: u)
      input = { policy: text, attempt: attempt, u: u, age_ms: age && (age * 1000) }
      table = AceMQ::Core.call("retry.decide", input)
      expect([decision.retry?, decision.reason&.to_s, decision.wait_ms, decision.in_broker?, decision.give_up_text])
        .to eq(table.values_at("retry", "reason", "wait_ms", "in_broker", "give_up_text"))
    end
  end

  it "refuses a policy with every problem at once" do
    expect { described_class.exponential(attempts: 0, first: 0) }.to raise_error(AceMQ::Core::Error) { |error|
      expect(error.problems.map(&:code)).to eq(%w[attempts_too_few first_zero])
      expect(error.code).to eq("attempts_too_few")
      expect(error.message.lines.size).to eq(2)
      expect(error.help).not_to be_empty
    }
  end

  it "is equal to a policy of the same text" do
    expect(policy).to eq(described_class.parse("exponential(6, 10s, 5m)"))
    expect({ policy => 1 }[described_class.parse("exponential(6, 10s, 5m)")]).to eq(1)
  end

  it "can be closed twice, and says so when it is used after that" do
    policy.close
    policy.close
    expect(policy).to be_closed
    expect { policy.decide(attempt: 1) }.to raise_error(IOError, "this RetryPolicy is closed")
  end
end

RSpec.describe AceMQ::Core::Ladder do
  subject(:ladder) { described_class.new("orders", policy) }

  let(:policy) { AceMQ::Core::RetryPolicy.parse("exponential(6, 10s)") }

  it "has one rung for each wait in the broker" do
    expect(ladder.rungs.map(&:name)).to eq(%w[orders.retry.40s orders.retry.80s orders.retry.160s])
    expect(ladder.rungs.first.declaration.arguments)
      .to eq("x-dead-letter-exchange" => "acemq.retry", "x-dead-letter-routing-key" => "orders", "x-message-ttl" => 40_000)
    expect([ladder.exchange.name, ladder.binding.routing_key]).to eq(%w[acemq.retry orders])
  end

  it "rounds a delay up to a rung" do
    names = [29.999, 30, 40, 41, 500].map { |delay| ladder.rung_for(delay)&.name }
    expect(names).to eq([nil, "orders.retry.40s", "orders.retry.40s", "orders.retry.80s", "orders.retry.160s"])
    expect(ladder.rung_of(policy.decide(attempt: 4)).name).to eq("orders.retry.80s")
    expect(ladder.rung_of(policy.decide(attempt: 1))).to be_nil
  end
end
