# frozen_string_literal: true

module AceMQ
  module Core
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
      # @param source [State, Topology, Definitions]
      # @param settings [Hash] those of {State}, where the source is none
      # @raise [Error] when it cannot be used
      def initialize(source, **settings)
        state = source.is_a?(State) ? source : State.new(source, **settings)
        @router = Core.translated { Acemq::Router.new(JSON.generate(state.to_json_form)) }
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
  end
end
