# frozen_string_literal: true

require "spec_helper"

RSpec.describe "a vhost" do
  let(:state) do
    AceMQ::Core::State.new(AceMQ::Core::Topology.parse(<<~YAML), rabbitmq: "3.13.7")
      exchanges: { orders: { type: topic }, orders.dead: { type: direct } }
      queues:
        orders.new: { type: classic, arguments: { x-dead-letter-exchange: orders.dead } }
        orders.failed: { type: classic }
      bindings:
        - { queue: orders.new, exchange: orders, routing_key: "order.*" }
        - { queue: orders.failed, exchange: orders.dead, routing_key: failed }
    YAML
  end

  it "is searched for messages that will be lost" do
    # An export is all that there is; of a topology somebody else may declare the rest.
    exported = AceMQ::Core::State.new(state.to_definitions, rabbitmq: "3.13.7")
    audit = AceMQ::Core.audit(exported, target: "4.3")
    # A rejected message keeps its key, order.*, and nothing is bound to orders.dead with that.
    lost = audit.findings.find { |finding| finding.severity == "error" }
    expect(lost.object).to include("kind" => "queue", "name" => "orders.new")
    expect(lost.example).not_to be_nil
    expect(AceMQ::Core.explain_finding(lost.code)).to include("code" => lost.code)
    expect { AceMQ::Core.explain_finding("no_such") }.to raise_error(AceMQ::Core::Error) { |e| expect(e.code).to eq("unknown_finding") }
  end

  it "has findings that are known" do
    known = JSON.parse(AceMQ::Core.audit_baseline(state))
    audit = AceMQ::Core.audit(state, baseline: known)
    expect(audit.findings.map { |finding| finding.document["known"] }).to all(be true)
    run = AceMQ::Core.audit_sarif(state, baseline: known, file: "orders.yaml")["runs"].first
    expect(run["results"].map { |result| result["baselineState"] }.uniq).to eq(["unchanged"])
  end

  it "is drawn" do
    expect(AceMQ::Core.draw(state, :dot)).to include("orders.new")
    expect(AceMQ::Core.draw(state)).to start_with("<svg").or start_with("<?xml")
  end

  it "is migrated by a plan" do
    plan = AceMQ::Core.plan_migration(<<~YAML, state)
      acemq_migration: 1
      replace:
        queue: orders.new
        with: { name: orders.new.v2, type: quorum }
    YAML
    expect(plan.document["format"]).to eq("acemq.migration_plan/1")
    expect([plan.checksum.size, plan.to_s.empty?]).to eq([64, false])
    expect { AceMQ::Core.plan_migration("replace: 5", state) }.to raise_error(AceMQ::Core::Error)
  end

  it "drives a migration order by order" do
    file = <<~YAML
      acemq_migration: 1
      replace: { queue: orders.new, with: { name: orders.new.v2, type: quorum } }
    YAML
    vhost = AceMQ::Core::State.new(AceMQ::Core::Topology.parse(<<~YAML), rabbitmq: "4.0.5")
      queues: { orders.new: { type: classic } }
      bindings: [{ queue: orders.new, exchange: amq.topic, routing_key: k }]
    YAML
    migration = AceMQ::Core::Migration.new(file)
    order = migration.next(vhost, now_ms: 0)
    expect([order.order, order.step, order.done, order.action["action"]]).to eq(["do", 1, 0, "declare_queue"])
    again = AceMQ::Core::Migration.new(file, run: migration.run).next(vhost, now_ms: 0)
    expect(again.action).to eq(order.action)
    back = AceMQ::Core::Migration.new(file, direction: :back).next(vhost, now_ms: 0)
    expect([back.order, back.done == back.of]).to eq(["finished", true])
  end
end
