# frozen_string_literal: true

# Runs the conformance suites through the public classes of this gem.
#
#     ruby spec/conformance.rb [FOLDER]     the folder that holds index.json; ../../conformance unless said
#
# Prints each failed case and "N passed, N failed"; fails as well when fewer or more cases ran than the index says.

require "json"
require "acemq/core"

# How a user of the gem calls each operation, and what is compared.
module Conformance
  C = AceMQ::Core
  DEFAULT_FOLDER = File.expand_path("../../../conformance", __dir__)

  module_function

  def ms(seconds)
    seconds && C.milliseconds(seconds)
  end

  # Exact seconds of milliseconds.
  def seconds(milliseconds)
    milliseconds && Rational(milliseconds, 1000)
  end

  def topology(source)
    return C::Topology.parse(source["text"]) if source["text"]
    return C::Topology.from_document(source["document"]) if source["document"]

    return C::Topology.new({ built: source["built"] }) if source["built"]

    raise "this runner has no topology from #{source.keys.join(", ")}"
  end

  def definitions(source)
    C::Definitions.new(source.values.first)
  end

  def state(form)
    settings = form.reject { |key, _| %w[topology definitions].include?(key) }.transform_keys(&:to_sym)
    C::State.new(form["topology"] ? topology(form["topology"]) : definitions(form["definitions"]), **settings)
  end

  def queue(table)
    C::QueueDeclaration.new(**table.transform_keys(&:to_sym))
  end

  def exchange(table)
    C::ExchangeDeclaration.new(**table.transform_keys(&:to_sym))
  end

  def binding_of(table)
    C::BindingDeclaration.new(**table.transform_keys(&:to_sym))
  end

  def declaration(kinds)
    kind, table = kinds.first
    { "queue" => method(:queue), "exchange" => method(:exchange), "binding" => method(:binding_of) }.fetch(kind).call(table)
  end

  def with_fingerprint(declaration, **more)
    declaration.to_json_table.merge(fingerprint: declaration.fingerprint, **more)
  end

  # An object as JSON has it: keys are strings.
  def plain(value)
    JSON.parse(JSON.generate(value))
  end

  CALLS = {
    "duration.parse" => ->(i) { { ms: ms(C.parse_duration(i["text"])) } },
    "duration.from_seconds" => ->(i) { { ms: C.milliseconds(Float(i["seconds"])) } },
    "duration.from_nanoseconds" => ->(i) { { ms: C.milliseconds(Rational(i["nanoseconds"], 1_000_000_000)) } },
    "name.check" => ->(i) { { bytes: C.check_name(i["kind"], i["name"]) } },
    "name.delay" => ->(i) { { text: C.delay_text(seconds(i["delay_ms"])) } },
    "name.implied" => ->(i) { C.implied_names(i["queue"]).to_h },
    "name.retry_queue" => ->(i) { { name: C.retry_queue(i["queue"], seconds(i["delay_ms"])) } },
    "retry.policy" => lambda do |i|
      policy = C::RetryPolicy.new(i["policy"])
      { text: policy.text, kind: policy.kind, max_attempts: policy.max_attempts, first_ms: ms(policy.first),
        cap_ms: ms(policy.cap), multiplier_thousandths: policy.multiplier_thousandths, jitter: policy.jitter,
        max_age_ms: ms(policy.give_up_after), threshold_ms: ms(policy.wait_in_broker_from),
        broker_rungs_ms: policy.broker_delays.map { |delay| ms(delay) } }
    end,
    "retry.schedule" => lambda do |i|
      policy = C::RetryPolicy.new(i["policy"])
      from = i["from"] || 0
      count = i["count"] || 100
      { entries: policy.schedule.size,
        delays_ms: (from...(from + count)).lazy.map { |index| policy.delay_ms(index) }.take_while(&:itself).to_a }
    end,
    "retry.decide" => lambda do |i|
      policy = C::RetryPolicy.new(i["policy"])
      decision = policy.decide(attempt: i["attempt"], age: seconds(i["age_ms"]), u: i["u"] || 0.5)
      rung = C::Ladder.new(i["queue"], policy).rung_of(decision) if i["queue"]
      { retry: decision.retry?, reason: decision.reason, wait_ms: decision.wait_ms, in_broker: decision.in_broker?,
        give_up_text: decision.give_up_text, rung: rung&.name }
    end,
    "retry.rung_for" => lambda do |i|
      policy = C::RetryPolicy.new(i["policy"])
      rung = C::Ladder.new(i["queue"], policy).rung_for(seconds(i["delay_ms"])) if i["queue"]
      { delay_ms: ms(policy.rung_for(seconds(i["delay_ms"]))), rung: rung&.name }
    end,
    "retry.ladder" => lambda do |i|
      ladder = C::Ladder.new(i["queue"], C::RetryPolicy.new(i["policy"]))
      rungs = ladder.rungs.map { |rung| with_fingerprint(rung.declaration, delay_ms: rung.delay_ms, type: "classic") }
      back = ladder.binding
      { queue: ladder.queue, rungs: rungs, exchange: ladder.exchange&.then { |one| with_fingerprint(one) },
        binding: back && { exchange: back.source, queue: back.destination, routing_key: back.routing_key,
                           arguments: back.arguments, fingerprint: back.fingerprint } }
    end,
    "topic.match" => ->(i) { { matches: C.topic_matches?(i["pattern"], i["key"]) } },
    "topic.match_all" => lambda do |i|
      matcher = C::TopicMatcher.new
      i["patterns"].each_with_index { |pattern, index| matcher.insert(pattern, index) }
      { matches: matcher.matches_all(i["keys"]) }
    end,
    "topology.check" => lambda do |i|
      problems = topology(i["topology"]).problems.map do |problem|
        at = problem.line && { line: problem.line, column: problem.column }
        problem.to_h.reject { |key, _| %i[line column].include?(key) }.merge(at: at)
      end
      { format: "acemq.check/1", problems: problems }
    end,
    "topology.tables" => ->(i) { topology(i["topology"]).tables.document },
    "topology.show" => ->(i) { { text: topology(i["topology"]).intent } },
    "topology.consumer" => lambda do |i|
      C.consumer_declarations(i["queue"], i["policy"] && C::RetryPolicy.new(i["policy"])).document
    end,
    "declaration.fingerprint" => lambda do |i|
      # A bare null is a mistake in JSON; Ruby's nil is AMQP's void.
      next C.call("declaration.fingerprint", i) if JSON.generate(i).match?(/(?<!"@V"):null/)

      one = declaration(i["declaration"])
      { canonical: one.canonical, fingerprint: one.fingerprint }
    end,
    "broker.equivalence" => lambda do |i|
      answer = C.compare_queues(queue(i["stored"]), queue(i["wanted"]), rabbitmq: i["rabbitmq"],
                                                                         default_queue_type: i["default_queue_type"])
      { equivalent: answer.equivalent?, differences: answer.differences.map(&:to_h) }
    end,
    "broker.predict" => lambda do |i|
      kind, tables = i["declare"].first
      made = kind == "queue" ? method(:queue) : method(:exchange)
      answer = C.predict(made.call(tables["wanted"]), existing: tables["existing"]&.then(&made), rabbitmq: i["rabbitmq"],
                                                      vhost: i["vhost"], default_queue_type: i["default_queue_type"])
      { accepted: answer.accepted?, refused: answer.refused&.to_h }
    end,
    "broker.explain" => lambda do |i|
      C.read_refusal(i["text"], code: i["code"], name: i["name"], vhost: i["vhost"]).document
    end,
    "plan.session" => lambda do |i|
      given = i.reject { |key, _| %w[topology answers].include?(key) }.transform_keys(&:to_sym)
      session = C::PlanSession.new(topology(i["topology"]), **given)
      (i["answers"] || []).each do |answer|
        session.questions
        session.answer(answer["id"], C::Answer.new(answer.reject { |key, _| key == "id" }.transform_keys(&:to_sym)))
      end
      plan = session.plan
      { finished: session.finished?, questions: session.questions.map(&:document), plan: plan.document,
        text: plan.render, lines: plan.render(:lines), block: plan.render(notes: false),
        lines_block: plan.render(:lines, notes: false), drift: plan.drift, error: plan.error }
    end,
    "routing.route" => lambda do |i|
      message = { "exchange" => "", "key" => "", "explain" => true }.merge(i["message"])
      exchange, key, explain = message.values_at("exchange", "key", "explain")
      asked = message.reject { |name, _| %w[exchange key explain].include?(name) }.transform_keys(&:to_sym)
      router = C::Router.new(state(i["state"]))
      next router.explain(exchange, key, **asked).document if explain

      { format: "acemq.route/1", queues: router.route(exchange, key, **asked) }
    end,
    "definitions.read" => ->(i) { definitions(i["definitions"]).summary.to_h },
    "definitions.state" => ->(i) { state(i["state"]).document },
    "definitions.to_topology" => ->(i) { state(i["state"]).to_topology.to_h },
    "topology.to_definitions" => ->(i) { { definitions: state(i["state"]).to_definitions.export } },
    "definitions.preview" => lambda do |i|
      there = (i["there"] || []).map { |one| state(one) }
      { effects: definitions(i["definitions"]).preview_import(there, rabbitmq: i["rabbitmq"]).map(&:to_h) }
    end,
    "policy.effective" => lambda do |i|
      effective = state(i["state"]).effective(i["kind"], i["name"])
      { settings: effective.settings.transform_values(&:to_h), open: effective.open }
    end,
    "migration.plan" => lambda do |i|
      plan = C.plan_migration(i["file"], state(i["state"]), **i.slice("direction", "beginning").transform_keys(&:to_sym))
      plan.to_h.except(:document).merge(plan: plan.document)
    end,
    "migration.step" => lambda do |i|
      migration = C::Migration.new(i["file"], **i.slice("direction", "beginning", "run").transform_keys(&:to_sym))
      saw = i["saw"]
      saw = saw["queues"].map { |one| C::QueueSight.new(**one.transform_keys(&:to_sym)) } if saw.is_a?(Hash)
      migration.next(state(i["state"]), now_ms: i["now_ms"], saw: saw).document
    end,
    "retry.describe" => lambda do |i|
      asked = i.reject { |name, _| %w[policy age_ms].include?(name) }.transform_keys(&:to_sym)
      C::RetryPolicy.new(i["policy"]).describe(age: seconds(i["age_ms"]), **asked)
    end,
    "embedded.simulate" => lambda do |i|
      C.simulate(i["scenario"].values.first, rabbitmq: i["rabbitmq"], state: i["state"]&.then { |one| state(one) })
    end,
    "embedded.run" => lambda do |i|
      settings = (i["broker"] || {}).transform_keys(&:to_sym)
      settings[:topology] &&= topology(settings[:topology])
      settings[:definitions] &&= definitions(settings[:definitions])
      broker = C::EmbeddedBroker.new(**settings)
      { replies: i["commands"].map { |command| broker.command(command) } }
    end
  }.freeze

  # Whether every key of `expected` is in `found` and equal; lists in length and order, numbers by value.
  def holds?(expected, found)
    case expected
    when Hash then found.is_a?(Hash) && expected.all? { |key, value| found.key?(key) && holds?(value, found[key]) }
    when Array
      found.is_a?(Array) && expected.size == found.size && expected.zip(found).all? { |one, other| holds?(one, other) }
    else expected == found
    end
  end

  # Whether an error is the expected one.
  def refused?(expected, error)
    return false if expected["code"] && error.code != expected["code"]
    return false unless holds?(expected["fields"] || {}, plain(error.fields))

    left = error.problems.dup
    (expected["problems"] || (return true)).each do |wanted|
      match = left.index { |one| one.code == wanted["code"] && holds?(wanted["fields"] || {}, plain(one.fields)) }
      return false unless match

      left.delete_at(match)
    end
    left.empty?
  end

  # Mistakes of documents that no call of a class can make: a vhost that is no one thing.
  def only_json_says?(input)
    state = input["state"]
    state && (state.keys & %w[topology definitions]).size != 1
  end

  # @return [String, nil] why the case fails
  def failure(operation, test)
    call = CALLS[operation] or return "this runner has no call for #{operation}"
    call = ->(input) { C.call(operation, input) } if only_json_says?(test["input"])
    found = plain(instance_exec(test["input"], &call))
    return "gave #{found}, and an error is expected: #{test["error"]}" if test.key?("error")

    "gave #{found}, expected #{test["expect"]}" unless holds?(test["expect"], found)
  rescue C::Error => e
    return if test.key?("error") && refused?(test["error"], e)

    "refused with #{e.problems.map(&:code)}: #{e.message}, fields #{e.fields}"
  end

  # @return [Array(Integer, Integer, Integer)] cases that passed, that failed, and that there should be
  def run(folder)
    index = JSON.parse(File.read(File.join(folder, "index.json")))
    unless index["spec_version"] == C.spec_version
      abort "the suites have version #{index["spec_version"]}, the engine #{C.spec_version}"
    end
    passed = failed = 0
    index["suites"].each do |entry|
      suite = JSON.parse(File.read(File.join(folder, entry["file"])))
      suite["cases"].each do |test|
        why = failure(suite["operation"], test)
        why ? failed += 1 : passed += 1
        puts "#{test["id"]}: #{test["description"]}: #{why}" if why
      end
    end
    [passed, failed, index["cases"]]
  end

  def main(folder)
    passed, failed, wanted = run(folder)
    puts "#{passed} passed, #{failed} failed"
    puts "the index has #{wanted} cases" if passed + failed != wanted
    # The test command collects one line for each language.
    results = ENV.fetch("ACEMQ_RESULTS", nil)
    File.write(File.join(results, "ruby.tsv"), "Ruby\t#{passed + failed}\t#{wanted}\t#{failed}\n") if results
    failed.zero? && passed == wanted
  end
end

exit(Conformance.main(ARGV.fetch(0, Conformance::DEFAULT_FOLDER))) if $PROGRAM_NAME == __FILE__
