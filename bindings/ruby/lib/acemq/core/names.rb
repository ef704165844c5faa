# frozen_string_literal: true

module AceMQ
  module Core
    # The names that a queue implies.
    ImpliedNames = Struct.new(:dead_letter_queue, :parked_queue, :dead_letter_exchange, :retry_exchange, keyword_init: true)

    class << self
      # @param queue [String]
      # @return [String] the queue that takes its messages that are given up
      # @raise [Error]
      def dead_letter_queue(queue)
        Native.text(:acemq_dead_letter_queue, queue, queue.bytesize)
      end

      # @param queue [String]
      # @return [String] the queue in which its messages are set aside for a person
      # @raise [Error]
      def parked_queue(queue)
        Native.text(:acemq_parked_queue, queue, queue.bytesize)
      end

      # @param queue [String]
      # @param delay [Integer, Float, Rational] seconds
      # @return [String] the queue in which its messages wait for that long
      # @raise [Error]
      def retry_queue(queue, delay)
        Native.text(:acemq_retry_queue, queue, queue.bytesize, Seconds.to_ms(delay))
      end

      # @param delay [Integer, Float, Rational] seconds
      # @return [String] how it is written in such a name: "2h", "5m", "90s", "30500ms"
      # @raise [Error]
      def delay_text(delay)
        Native.text(:acemq_delay_text, Seconds.to_ms(delay))
      end

      # All names that a queue implies.
      # @param queue [String]
      # @return [ImpliedNames]
      # @raise [Error]
      def implied_names(queue)
        ImpliedNames.new(**call("name.implied", { queue: queue }).transform_keys(&:to_sym)).freeze
      end

      # Whether RabbitMQ takes a name.
      # @param kind [String] "queue", "exchange", "routing_key" and so on
      # @param name [String]
      # @return [Integer] its length in bytes
      # @raise [Error] when it does not
      def check_name(kind, name)
        call("name.check", { kind: kind, name: name }).fetch("bytes")
      end
    end
  end
end
