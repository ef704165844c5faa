# frozen_string_literal: true

module AceMQ
  module Core
    # A broker's exported definitions: their text, or the document itself.
    class Definitions
      # @api private
      attr_reader :source

      # @param export [String, Hash]
      def initialize(export)
        @source = (export.is_a?(String) ? { text: export } : { document: export }).freeze
        freeze
      end
    end

    # Where a message goes, and why.
    #
    # @!attribute [r] queues
    #   @return [Array<String>] the queues that get it, sorted
    # @!attribute [r] copies
    #   @return [Array<Hash>] the way of every copy
    # @!attribute [r] dead_ends
    #   @return [Array<Hash>] exchanges from which a copy went nowhere
    # @!attribute [r] misses
    #   @return [Array<Hash>] bindings that came near
    # @!attribute [r] opaque
    #   @return [Array<Hash>] exchanges whose choice is not known
    Route = Struct.new(:queues, :copies, :dead_ends, :misses, :opaque, :exchange_exists, :document, keyword_init: true) do
      # @api private
      def self.of(document)
        new(**%w[queues copies dead_ends misses opaque exchange_exists].to_h { |key| [key.to_sym, document[key]] },
            document: document).freeze
      end
    end

    # The exchanges, queues and bindings of a vhost, ready to route messages. It never changes.
    class Router
      # @param source [Topology, Definitions] a topology as if all of it was declared, or definitions
      # @param vhost [String, nil] which vhost of the definitions
      # @param rabbitmq [String, nil] the version to judge by, else the export's, else the newest known one
      # @raise [Error] when they cannot be used
      def initialize(source, vhost: nil, rabbitmq: nil, default_queue_type: nil)
        state = Core.state_of(source, vhost: vhost, rabbitmq: rabbitmq, default_queue_type: default_queue_type)
        @router = Core.translated { Acemq::Router.new(JSON.generate(state)) }
      end

      # The queues that a message goes to, sorted.
      # @return [Array<String>]
      def route(exchange, key, headers: {}, cc: [], bcc: [])
        ask(exchange, key, headers, cc, bcc, explain: false).fetch("queues")
      end

      # The way of every copy of a message, its dead ends, and bindings that came near.
      # @return [Route]
      def explain(exchange, key, headers: {}, cc: [], bcc: [])
        Route.of(ask(exchange, key, headers, cc, bcc, explain: true))
      end

      private

      def ask(exchange, key, headers, cc, bcc, explain:)
        message = { exchange: exchange, key: key, headers: Values.table_to_json(headers), cc: cc, bcc: bcc, explain: explain }
        JSON.parse(Core.translated { @router.route(JSON.generate(message)) })
      end
    end

    class << self
      # What a vhost holds, as operations take it.
      # @api private
      def state_of(source, **settings)
        kind = source.is_a?(Topology) ? :topology : :definitions
        { kind => source.source, **settings }
      end
    end
  end
end
