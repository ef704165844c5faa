# frozen_string_literal: true

module AceMQ
  module Core
    # What to do with a message whose handling failed.
    #
    # @!attribute [r] reason
    #   @return [Symbol, nil] why it is set aside: :attempts_exhausted or :too_old
    # @!attribute [r] wait_ms
    #   @return [Integer] how long it waits, in milliseconds
    # @!attribute [r] give_up_text
    #   @return [String, nil] what it is set aside with, as in "exhausted 6 attempts"
    Decision = Struct.new(:retry, :reason, :wait_ms, :in_broker, :give_up_text, :rung_index) do
      alias_method :retry?, :retry
      alias_method :in_broker?, :in_broker

      # @return [Integer, Float] seconds
      def wait
        Seconds.from_ms(wait_ms)
      end
    end

    # When a message whose handling failed is tried again, and where it waits. It never changes and may be shared.
    class RetryPolicy
      include Closeable

      REASONS = [nil, :attempts_exhausted, :too_old].freeze
      private_constant :REASONS

      # @return [String] the canonical text, which is also the policy's name
      attr_reader :text
      # @return [String] none, fixed or exponential
      attr_reader :kind
      # @return [Integer] deliveries, the first one included
      attr_reader :max_attempts
      # @return [Integer, nil] by what an exponential policy's waits grow, in thousandths
      attr_reader :multiplier_thousandths
      # @return [Float] the random part of a wait in the consumer
      attr_reader :jitter
      # @return [Array<Integer, Float>] the waits that are spent in the broker, in seconds, shortest first
      attr_reader :broker_delays

      class << self
        # From its text, as in "exponential(6, 10s, 5m).jitter(0.1)".
        # @return [RetryPolicy]
        # @raise [Error] with every problem
        def parse(text)
          new(text)
        end

        # No message is tried again.
        # @return [RetryPolicy]
        def none(**settings)
          new({ none: {}, **written(settings) })
        end

        # Up to `attempts` deliveries, the first one included, with `delay` seconds between two.
        # @return [RetryPolicy]
        def fixed(attempts:, delay:, **settings)
          new({ fixed: { attempts: attempts, delay: Seconds.text(delay) }, **written(settings) })
        end

        # Up to `attempts` deliveries with waits that grow from `first` seconds by `multiplier` up to `cap` seconds.
        # @return [RetryPolicy]
        def exponential(attempts:, first:, cap: nil, multiplier: nil, **settings)
          body = { attempts: attempts, first: Seconds.text(first), cap: cap && Seconds.text(cap), multiplier: multiplier }
          new({ exponential: body.compact, **written(settings) })
        end

        private

        def written(settings)
          settings.to_h do |key, value|
            duration = %i[give_up_after wait_in_broker_from].include?(key) && value.is_a?(Numeric)
            [key, duration ? Seconds.text(value) : value]
          end.compact
        end
      end

      # @param form [String, Hash] its text, or a Hash with the keys that documents have
      # @raise [Error] with every problem
      def initialize(form)
        json = JSON.generate(form)
        @handle = Native.handle(:acemq_retry_policy_free, :acemq_retry_policy_from_json, json, json.bytesize)
        document = JSON.parse(Native.text(:acemq_retry_policy_document, @handle))
        @text, @kind, @max_attempts, @multiplier_thousandths, @jitter =
          document.values_at("text", "kind", "max_attempts", "multiplier_thousandths", "jitter")
        @milliseconds = document.values_at("first_ms", "cap_ms", "max_age_ms", "threshold_ms")
        @broker_delays = document["broker_rungs_ms"].map { |ms| Seconds.from_ms(ms) }.freeze
      end

      # @return [Integer, Float, nil] the first wait in seconds, which of a fixed policy is every wait
      def first
        Seconds.from_ms(@milliseconds[0])
      end

      # @return [Integer, Float, nil] the longest wait of an exponential policy, in seconds
      def cap
        Seconds.from_ms(@milliseconds[1])
      end

      # @return [Integer, Float, nil] the age limit in seconds
      def give_up_after
        Seconds.from_ms(@milliseconds[2])
      end

      # @return [Integer, Float] from how many seconds on a wait is spent in the broker; 0 means never
      def wait_in_broker_from
        Seconds.from_ms(@milliseconds[3])
      end

      # @return [Float, nil] by what an exponential policy's waits grow
      def multiplier
        multiplier_thousandths && (multiplier_thousandths / 1000.0)
      end

      # The wait before attempt `index + 2` in milliseconds, without jitter; nil behind the last one.
      # @param index [Integer] from 0
      # @return [Integer, nil]
      def delay_ms(index)
        return if index.negative? || index > 0xFFFF_FFFF

        Native.number(:acemq_retry_policy_delay, handle, index, optional: true)
      end

      # The same in seconds.
      # @return [Integer, Float, nil]
      def delay(index)
        Seconds.from_ms(delay_ms(index))
      end

      # All waits in seconds, without jitter, one after another. Nothing is computed before it is asked for: take what you
      # need of a long one.
      # @return [Enumerator]
      def schedule
        Enumerator.new(max_attempts - 1) do |waits|
          index = 0
          while (wait = delay(index))
            waits << wait
            index += 1
          end
        end
      end

      # Decides about a message whose delivery number `attempt` failed.
      #
      # @param attempt [Integer] from 1
      # @param age [Integer, Float, Rational, nil] seconds since the message was first seen; an unknown one is young enough
      # @param u [Float] a random number of at least 0 and below 1 for the jitter of a wait in the consumer, as Kernel#rand
      #   gives it; 0.5 means no jitter
      # @return [Decision] the same for the same arguments
      # @raise [Error]
      def decide(attempt:, age: nil, u: 0.5)
        # One place for each fiber: nothing else runs there between the call and the reading.
        out = (Thread.current[:acemq_core_decision] ||= Native::Decision.new.pointer)
        age_ms = age.nil? ? Native::AGE_UNKNOWN : Seconds.to_ms(age)
        status = Native.acemq_retry_policy_decide(handle, attempt, age_ms, u, out, nil)
        Native.checked(:acemq_retry_policy_decide, handle, attempt, age_ms, u, out) if status.negative?
        wait_ms, again, in_broker, reason, rung = out.read_bytes(Native::Decision.size).unpack("Ql4")
        text = Native.text(:acemq_retry_policy_give_up_text, handle, reason) unless reason.zero?
        Decision.new(again == 1, REASONS[reason], wait_ms, in_broker == 1, text, rung.negative? ? nil : rung).freeze
      end

      # What it means, acemq.retry/1: with the ladder of a queue, and the decision for an attempt, on request. A schedule of
      # more than 100 waits is cut unless `all`.
      # @return [Hash]
      def describe(queue: nil, attempt: nil, age: nil, u: 0.5, all: false)
        Core.call("retry.describe", { policy: text, queue: queue, attempt: attempt, age_ms: age && Seconds.to_ms(age), u: u,
                                      all: all })
      end

      # The delay of the rung for any delay, in seconds; nil when the wait is not the broker's.
      # @return [Integer, Float, nil]
      def rung_for(delay)
        Seconds.from_ms(Native.number(:acemq_retry_policy_rung_for, handle, Seconds.to_ms(delay), optional: true))
      end

      # @return [String]
      def to_s
        text
      end

      # @return [String]
      def inspect
        "#<AceMQ::Core::RetryPolicy #{text}>"
      end

      # @return [Boolean]
      def ==(other)
        other.is_a?(RetryPolicy) && text == other.text
      end
      alias eql? ==

      # @return [Integer]
      def hash
        text.hash
      end
    end

    # A queue that holds a message for its delay and then dead-letters it back to its source queue.
    #
    # @!attribute [r] declaration
    #   @return [QueueDeclaration]
    Rung = Struct.new(:name, :delay_ms, :declaration, :fingerprint, keyword_init: true) do
      # @return [Integer, Float] seconds
      def delay
        Seconds.from_ms(delay_ms)
      end
    end

    # The rungs of one queue under one policy, shortest first, with what leads back from them. It never changes.
    class Ladder
      # @return [String] the queue whose messages wait here
      attr_reader :queue
      # @return [RetryPolicy]
      attr_reader :policy
      # @return [Array<Rung>] shortest first
      attr_reader :rungs
      # @return [ExchangeDeclaration, nil] through which messages come back; nil without rungs
      attr_reader :exchange
      # @return [BindingDeclaration, nil] of the source queue on its own name; nil without rungs
      attr_reader :binding

      # @param queue [String]
      # @param policy [RetryPolicy]
      # @raise [Error] when RabbitMQ would not take the name of a rung
      def initialize(queue, policy)
        @queue = queue
        @policy = policy
        document = Core.call("retry.ladder", { queue: queue, policy: policy.text })
        @rungs = document["rungs"].map do |rung|
          Rung.new(name: rung["name"], delay_ms: rung["delay_ms"], declaration: QueueDeclaration.of_table(rung),
                   fingerprint: rung["fingerprint"]).freeze
        end.freeze
        @by_delay = @rungs.to_h { |rung| [rung.delay_ms, rung] }
        @exchange = document["exchange"]&.then { |table| ExchangeDeclaration.of_table(table) }
        @binding = document["binding"]&.then { |table| BindingDeclaration.of_table(table) }
      end

      # The rung for any delay: none when it is too short for the broker or there are no rungs, else the shortest that is
      # long enough, else the longest.
      # @param delay [Integer, Float, Rational] seconds
      # @return [Rung, nil]
      def rung_for(delay)
        wait = policy.rung_for(delay)
        wait && @by_delay[Seconds.to_ms(wait)]
      end

      # The rung on which a decision lets the message wait; nil when it does not wait in the broker.
      # @param decision [Decision]
      # @return [Rung, nil]
      def rung_of(decision)
        decision.in_broker ? @by_delay[decision.wait_ms] : nil
      end
    end
  end
end
