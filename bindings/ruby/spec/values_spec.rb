# frozen_string_literal: true

require "spec_helper"

RSpec.describe AceMQ::Core do
  it "derives the names of a queue" do
    expect([described_class.dead_letter_queue("orders"), described_class.parked_queue("orders"),
            described_class.retry_queue("orders", 30.5)]).to eq(%w[orders.dlq orders.parked orders.retry.30500ms])
    expect(described_class.implied_names("orders").retry_exchange).to eq("acemq.retry")
    expect(described_class.check_name("queue", "grüße")).to eq(7)
  end

  it "refuses a name that is too long for RabbitMQ" do
    expect { described_class.dead_letter_queue("a" * 252) }.to raise_error(AceMQ::Core::Error) { |error|
      expect(error.code).to eq("name_too_long")
    }
  end

  it "keeps a NUL in a name as data" do
    expect(described_class.dead_letter_queue("a\0b")).to eq("a\0b.dlq")
  end

  it "converts seconds exactly" do
    # What a multiplication of floats and a cut would get wrong by one millisecond.
    { 32.3 => 32_300, 64.1 => 64_100, 1.001 => 1001, 0.3 => 300, 1 => 1000, Rational(1, 8) => 125 }.each do |seconds, wanted|
      expect(described_class.milliseconds(seconds)).to eq(wanted)
    end
    (1..100_000).step(7) { |ms| expect(described_class.milliseconds(ms / 1000.0)).to eq(ms) }
  end

  it "refuses seconds that are no whole milliseconds, in the engine's words" do
    { 1.0005 => "duration_not_whole", -1 => "duration_negative", Rational(1, 3) => "duration_not_whole",
      2**80 => "duration_too_large", Float::NAN => "duration_negative", 1e300 => "duration_too_large" }.each do |seconds, code|
      expect { described_class.milliseconds(seconds) }.to raise_error(AceMQ::Core::Error) { |error| expect(error.code).to eq(code) }
    end
  end

  it "reads the text of a duration" do
    expect(%w[90s 1500ms 2h 0].map { |text| described_class.parse_duration(text) }).to eq([90, 1.5, 7200, 0])
  end

  it "keeps argument values and their types through the engine" do
    arguments = { "x-a" => 30_000, "b" => "text", "c" => true, "d" => 1.5, "e" => [1, "two", nil], "f" => { "g" => "h" },
                  "t" => Time.at(1_700_000_000).utc, "n" => BigDecimal("1.25"), "x" => "\xFF\x00".b }
    queue = ->(table) { described_class::QueueDeclaration.new(name: "q", arguments: table) }
    # The differences from a queue without arguments are all of them, on the way back.
    differences = described_class.compare_queues(queue.({}), queue.(arguments)).differences
    expect(differences.to_h { |one| [one.argument, one.wanted] }).to eq(arguments)
  end

  it "takes absent and classic as equal, and a queue of another type as different" do
    queue = ->(arguments) { described_class::QueueDeclaration.new(name: "q", arguments: arguments) }
    expect(described_class.compare_queues(queue.({}), queue.({ "x-queue-type" => "classic" }))).to be_equivalent
    expect(queue.({}).fingerprint).to eq(queue.({ "x-queue-type" => "classic" }).fingerprint)
    difference = described_class.compare_queues(queue.({}), queue.({ "x-max-length" => 3 })).differences
    expect(difference.map { |one| [one.argument, one.wanted, one.current] }).to eq([["x-max-length", 3, nil]])
  end

  it "predicts a refusal in the broker's words" do
    wanted = described_class::QueueDeclaration.new(name: "q", arguments: { "x-message-ttl" => -1 })
    prediction = described_class.predict(wanted, rabbitmq: "4.0.5")
    expect(prediction).not_to be_accepted
    expect([prediction.refused.code, prediction.refused.scope]).to eq([406, "channel"])
    expect(prediction.refused.text).to start_with("PRECONDITION_FAILED - invalid arg 'x-message-ttl' for queue 'q'")
  end

  it "reads a refusal" do
    refusal = described_class.read_refusal(
      "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'orders' in vhost '/': " \
      "received none but current is the value '60000' of type 'long'"
    )
    expect([refusal.refusal_class, refusal.argument, refusal.absent, refusal.current.value])
      .to eq(%w[inequivalent x-message-ttl received 60000])
  end

  it "answers an unknown operation with the nearest one" do
    expect { described_class.call("retry.decid", {}) }.to raise_error(AceMQ::Core::Error) { |error|
      expect([error.code, error.help]).to eq(["unknown_operation", "did you mean retry.decide?"])
    }
  end
end
