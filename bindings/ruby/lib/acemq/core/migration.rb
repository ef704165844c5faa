# frozen_string_literal: true

module AceMQ
  module Core
    # A migration of a queue in use, planned and proven: the document acemq.migration_plan/1, the same as text, the checksum of
    # the file, and why it must not run, if so.
    MigrationPlan = Struct.new(:document, :text, :checksum, :refused, keyword_init: true) do
      # @return [String]
      def to_s
        text
      end

      # What of the new queue was there. Record it before the first step: the way back leaves these things alone.
      # @return [Hash]
      def beginning
        document["beginning"]
      end
    end

    # A queue as the broker describes it at a moment.
    #
    # @!attribute [r] ready
    #   @return [Integer, nil] messages that are ready; nil where nobody answers for it
    # @!attribute [r] unacknowledged
    #   @return [Integer, nil] messages that consumers hold; nil where nobody tells
    # @!attribute [r] lag_ms
    #   @return [Integer, nil] how old its zeros may be: 0 for a classic queue, two rounds of statistics for a quorum queue
    QueueSight = Struct.new(:queue, :ready, :unacknowledged, :consumers, :lag_ms, keyword_init: true)

    # The one thing to do next.
    #
    # @!attribute [r] order
    #   @return [String] do, look_at, ask_nodes, pause, finished, waiting or stopped
    # @!attribute [r] action
    #   @return [Hash, nil] for do and ask_nodes: what, as a step of acemq.migration_plan/1 has it
    # @!attribute [r] queues
    #   @return [Array<String>] for look_at
    # @!attribute [r] pause_ms
    #   @return [Integer] for pause
    # @!attribute [r] why
    #   @return [String, nil] for waiting and stopped, with the way out
    # @!attribute [r] step
    #   @return [Integer, nil] the number of the step that it belongs to, from 1
    # @!attribute [r] document
    #   @return [Hash] the whole answer
    MigrationOrder = Struct.new(:order, :action, :queues, :pause_ms, :why, :step, :text, :done, :of, :messages_left, :document,
                                keyword_init: true)

    # A migration, or its way back, as one order after the other. Read the vhost, ask {#next}, do the one thing, and ask again.
    # Where the migration is stands in the vhost itself, so a new object goes on where an old one was killed.
    class Migration
      # @return [Hash] what was seen while waiting; it may be kept and given to a new object
      attr_reader :run

      # @param file [String] the text of the migration file, YAML or JSON
      # @param direction [Symbol] :forward, or :back to the definitions of the start
      # @param beginning [Hash, nil] for the way back: what {MigrationPlan#beginning} said before the first step
      def initialize(file, direction: :forward, beginning: nil, run: {})
        @question = { file: file, direction: direction, beginning: beginning }
        @run = run
      end

      # What to do now.
      #
      # @param state [State] the vhost, read just now
      # @param now_ms [Integer] the time, of a clock that does not go back
      # @param saw [Array<QueueSight>, :nodes_know, nil] after look_at the queues, after ask_nodes that every node knows
      # @return [MigrationOrder]
      # @raise [Error]
      def next(state, now_ms:, saw: nil)
        # What is not given is 0; what is not known is null.
        seen = saw.respond_to?(:map) ? { queues: saw.map { |one| sight(one) } } : saw
        answer = Core.call("migration.step", @question.merge(state: state.to_json_form, run: run, now_ms: now_ms, saw: seen))
        @run = answer["run"]
        order = answer["order"]
        known = %w[step text done of messages_left].to_h { |key| [key.to_sym, answer[key]] }
        MigrationOrder.new(order: order["order"], action: order["action"], queues: order.fetch("queues", []),
                           pause_ms: order.fetch("ms", 0), why: order["why"], document: answer, **known).freeze
      end

      private

      def sight(seen)
        { queue: seen.queue, ready: seen.ready, unacknowledged: seen.unacknowledged,
          consumers: seen.consumers || 0, lag_ms: seen.lag_ms || 0 }
      end
    end

    class << self
      # Plans the migration of a file, YAML or JSON, against a vhost as it is; or the way back.
      #
      # @param file [String] its text
      # @param state [State]
      # @param direction [Symbol] :forward or :back
      # @param beginning [Hash, nil] for the way back
      # @return [MigrationPlan]
      # @raise [Error]
      def plan_migration(file, state, direction: :forward, beginning: nil)
        question = { file: file, state: state.to_json_form, direction: direction, beginning: beginning }
        answer = call("migration.plan", question)
        MigrationPlan.new(document: answer["plan"], **%w[text checksum refused].to_h { |key| [key.to_sym, answer[key]] }).freeze
      end
    end
  end
end
