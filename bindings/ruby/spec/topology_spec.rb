# frozen_string_literal: true

require "spec_helper"

RSpec.describe AceMQ::Core::Topology do
  subject(:topology) do
    described_class.build do |b|
      b.exchange("orders", "topic").queue_with_dead_letter("orders.new").bind("orders.new", "orders", "order.*")
    end
  end

  let(:document) do
    <<~YAML
      exchanges: { orders: { type: topic } }
      queues: { orders.new: { dead_letter: true } }
      bindings: [ { queue: orders.new, exchange: orders, routing_key: "order.*" } ]
    YAML
  end

  it "is the same from a builder and from a document" do
    expect(topology.tables.fingerprint).to eq(described_class.parse(document).tables.fingerprint)
    expect(topology.problems).to eq([])
    expect(topology.tables.queues.map(&:name)).to eq(%w[orders.new orders.new.dlq orders.new.parked])
    expect(topology.tables.queue("orders.new").declaration.arguments)
      .to eq("x-queue-type" => "quorum", "x-dead-letter-exchange" => "acemq.dlx", "x-dead-letter-routing-key" => "orders.new.dlq")
    expect(topology.intent).to start_with("Topology: 2 exchanges, 3 queues, 3 bindings\n  declare exchange orders (topic)\n")
  end

  it "takes settings before and after the queue that they are for" do
    policy = AceMQ::Core::RetryPolicy.parse("exponential(6, 10s)")
    built = described_class.builder.retries("q", policy).of_type("q", :classic).queue("q").queue_arg("q", "x-max-length", 5).build
    expect(built.tables.queues.map(&:name)).to eq(%w[q q.retry.40s q.retry.80s q.retry.160s])
    expect(built.tables.queue("q").declaration.arguments).to eq("x-max-length" => 5)
  end

  it "does not change when its builder goes on" do
    builder = described_class.builder.queue("a")
    built = builder.build
    builder.queue("b")
    expect(built.tables.queues.map(&:name)).to eq(["a"])
  end

  it "gives every problem at once, with its place" do
    problems = described_class.parse("queues:\n  a: { typ: quorum }\n").problems
    expect(problems.map { |one| [one.code, one.line, one.severity] }).to eq([["unknown_key", 2, "error"]])
    expect(problems.first.to_s).to include("typ")
    expect { described_class.build { |b| b.bind("nobody", "nowhere", "k") }.tables }.to raise_error(AceMQ::Core::Error) { |error|
      expect(error.problems.map(&:code)).to contain_exactly("binding_queue_undeclared", "binding_exchange_undeclared")
    }
  end

  it "says what a consumer declares" do
    tables = AceMQ::Core.consumer_declarations("orders", AceMQ::Core::RetryPolicy.parse("fixed(2, 1m)"))
    expect(tables.queues.map(&:name)).to eq(%w[orders.dlq orders.parked orders.retry.1m])
    expect(tables.exchanges.map(&:name)).to eq(%w[acemq.dlx acemq.retry])
  end

  it "is routed and explained" do
    router = AceMQ::Core::Router.new(topology)
    expect(router.route("orders", "order.created")).to eq(["orders.new"])
    expect(router.route("orders", "order.created.eu")).to eq([])
    expect(router.explain("orders", "order.created.eu").misses).not_to be_empty
    exported = AceMQ::Core::State.new(topology).to_definitions
    expect(AceMQ::Core::Router.new(exported).route("orders", "order.x")).to eq(["orders.new"])
  end

  it "is merged with policies, with the reasons" do
    text = <<~YAML
      queues: { q: { type: classic, arguments: { x-message-ttl: 10 } } }
      policies: [ { name: p, pattern: "^q$", definition: { message-ttl: 20, max-length: 5 } } ]
    YAML
    state = AceMQ::Core::State.new(described_class.parse(text), rabbitmq: "4.0.5")
    settings = state.effective("queue", "q").settings
    # Of two lifetimes the shorter one holds.
    expect(settings.slice("message-ttl", "max-length").transform_values { |one| [one.value, one.source] })
      .to eq("message-ttl" => [10, "argument"], "max-length" => [5, "policy"])
    expect(state.to_topology.topology.tables.fingerprint).to eq(described_class.parse(text).tables.fingerprint)
    expect(state.to_definitions.summary.vhosts).to eq(["/"])
    expect(state.to_definitions.preview_import([state], rabbitmq: "4.0.5").map(&:outcome)).not_to include("refused", "changed")
  end
end

RSpec.describe AceMQ::Core::PlanSession do
  let(:topology) { AceMQ::Core::Topology.parse("queues: { orders: { type: classic, arguments: { x-message-ttl: 30000 } } }") }
  let(:refusal) do
    "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'orders' in vhost '/': received '30000' but current is '60000'"
  end

  it "turns answers into verdicts, differences and text" do
    session = described_class.new(topology, version: "3.8.9", vhost: "/")
    plan = session.run do |question|
      next AceMQ::Core::Answer.ok if question.ask == :queue_passive

      expect(question.declaration.arguments).to include("x-message-ttl" => 30_000)
      AceMQ::Core::Answer.refused(406, refusal)
    end
    action = plan.actions.first
    expect([action.verdict, action.name, action.refusal]).to eq(["drift", "orders", { "code" => 406, "text" => refusal }])
    expect(action.differences.map { |one| [one.argument, one.wanted, one.current, one.remedy] })
      .to eq([["x-message-ttl", 30_000, 60_000, "policy"]]) # of the two the broker takes the shorter
    expect(plan.to_s).to start_with("topology plan:\n  DRIFT    queue orders (classic) — inequivalent arg 'x-message-ttl'")
    expect(plan.summary["drift"]).to eq(1)
    expect(plan.drift).to start_with("drift: queue orders: ")
  end

  it "refuses an answer to a question that is not open, and stays as it was" do
    session = described_class.new(topology)
    expect { session.answer(99, AceMQ::Core::Answer.ok) }.to raise_error(AceMQ::Core::Error) { |e| expect(e.code).to eq("answer_refused") }
    expect(session.questions.size).to eq(1)
  end

  it "is interrupted when the program's block raises" do
    session = described_class.new(topology)
    expect { session.run { raise "the connection was lost" } }.to raise_error("the connection was lost")
    expect(session).to be_finished
    expect(session.plan.actions.first.verdict).to eq("unknown")
  end

  it "drives the embedded broker through a whole apply" do
    broker = AceMQ::Core::EmbeddedBroker.new(rabbitmq: "4.0.5")
    connection = broker.connect
    apply = described_class.new(topology, version: "4.0.5", vhost: "/", apply: true)
    expect(apply.run { |question| broker.answer(question, connection: connection) }.error).to be_nil
    again = described_class.new(topology, version: "4.0.5", vhost: "/")
    expect(again.run { |question| broker.answer(question, connection: connection) }.summary["present"]).to eq(1)
  end
end

RSpec.describe AceMQ::Core::EmbeddedBroker do
  let(:topology) { AceMQ::Core::Topology.build { |b| b.queue_with_dead_letter("orders") } }
  let(:broker) { described_class.new(rabbitmq: "4.0.5", topology: topology) }
  let(:channel) { broker.connect.channel }

  it "sends rejected messages to the dead-letter queue, with x-death" do
    channel.publish("", "orders", "1", headers: { "n" => 1 })
    channel.reject(channel.get("orders").delivery_tag, requeue: false)
    dead = channel.get("orders.dlq")
    expect([dead.body, dead.properties[:headers]["n"]]).to eq(["1", 1])
    expect(dead.properties[:headers]["x-death"].first).to include("queue" => "orders", "reason" => "rejected", "count" => 1)
  end

  it "expires messages when time is told to pass" do
    channel.declare_queue("wait", arguments: { "x-message-ttl" => 30_000, "x-dead-letter-exchange" => "",
                                               "x-dead-letter-routing-key" => "orders" })
    channel.publish("", "wait", "\xFF".b)
    expect(broker.contents("wait").ready.first.expires_at).to eq(30)
    broker.advance(29.999)
    expect(channel.get("orders")).to be_nil
    broker.advance(0.001)
    expect(channel.get("orders").body).to eq("\xFF".b)
    expect(broker.contents("nobody")).to be_nil
  end

  it "refuses in RabbitMQ's words and closes the channel" do
    expect { channel.get("nobody") }.to raise_error(AceMQ::Core::BrokerRefusal) { |refusal|
      expect([refusal.code, refusal.reply_code, refusal.reply_text, refusal.scope])
        .to eq(["refused", 404, "NOT_FOUND - no queue 'nobody' in vhost '/'", :channel])
    }
    expect(channel).not_to be_open
  end

  it "gives consumers what they may hold" do
    3.times { |number| channel.publish("", "orders", number.to_s) }
    channel.prefetch(2)
    tag = channel.consume("orders")
    deliveries = channel.take_events
    expect(deliveries.map { |delivery| [delivery.body, delivery.consumer_tag] }).to eq([["0", tag], ["1", tag]])
    channel.ack(deliveries.last.delivery_tag, multiple: true)
    expect(channel.take_events.map(&:body)).to eq(["2"])
    expect(broker.contents("orders").unacknowledged).to eq(1)
  end
end
