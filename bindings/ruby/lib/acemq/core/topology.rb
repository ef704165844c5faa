# frozen_string_literal: true

module AceMQ
  module Core
    # Something that is wrong with a topology, or a warning, which does not stop it.
    #
    # @!attribute [r] severity
    #   @return [String] error or warning
    # @!attribute [r] object
    #   @return [Hash, nil] what it is about, as in {"kind" => "queue", "name" => "orders"}
    # @!attribute [r] line
    #   @return [Integer, nil] where it stands in the document, from 1
    TopologyProblem = Struct.new(:code, :message, :help, :fields, :severity, :object, :line, :column, keyword_init: true) do
      # @return [Boolean]
      def warning?
        severity == "warning"
      end

      # @return [String]
      def to_s
        help.to_s.empty? ? message : "#{message}; #{help}"
      end
    end

    # A declared object with its canonical table: the declaration, the queue's type, and the fingerprint.
    TableEntry = Struct.new(:declaration, :type, :fingerprint, keyword_init: true) do
      # @return [String]
      def name
        declaration.name
      end
    end

    # Everything that is declared, each kind in the order in which it is declared: exchanges, policies, queues, bindings.
    Tables = Struct.new(:exchanges, :policies, :queues, :bindings, :fingerprint, :document, keyword_init: true) do
      # @api private
      def self.of(document)
        entries = lambda do |key, kind|
          document[key].map do |table|
            TableEntry.new(declaration: kind.of_table(table), type: table["type"], fingerprint: table["fingerprint"]).freeze
          end.freeze
        end
        policies = document.fetch("policies", []).map { |table| PolicyDeclaration.of_table(table) }.freeze
        new(exchanges: entries.("exchanges", ExchangeDeclaration), queues: entries.("queues", QueueDeclaration),
            bindings: entries.("bindings", BindingDeclaration), policies: policies,
            fingerprint: document["fingerprint"], document: document).freeze
      end

      # @param name [String]
      # @return [TableEntry, nil]
      def queue(name)
        queues.find { |entry| entry.name == name }
      end
    end

    # A set of exchanges, queues, bindings and policies that was asked for. It never changes.
    #
    # Nothing is judged before it is asked: {#problems} gives everything that is wrong, {#tables} raises it.
    class Topology
      # @return [Hash] what operations take as "topology"
      # @api private
      attr_reader :source

      # @api private
      def initialize(source)
        @source = source.freeze
      end

      # @yieldparam builder [TopologyBuilder]
      # @return [Topology]
      def self.build
        builder = TopologyBuilder.new
        yield builder
        builder.build
      end

      # @return [TopologyBuilder]
      def self.builder
        TopologyBuilder.new
      end

      # @param text [String] a document in YAML or JSON
      # @return [Topology]
      def self.parse(text)
        new({ text: text.dup.freeze })
      end

      # @param document [Hash] a document
      # @return [Topology]
      def self.from_document(document)
        new({ document: JSON.parse(JSON.generate(document)).freeze })
      end

      # Every problem and every warning, in the order of the document.
      # @return [Array<TopologyProblem>]
      def problems
        Core.call("topology.check", { topology: source }).fetch("problems").map do |problem|
          at = problem["at"] || {}
          TopologyProblem.new(**%w[code message help fields severity object].to_h { |key| [key.to_sym, problem[key]] },
                              line: at["line"], column: at["column"]).freeze
        end
      end

      # Everything that is declared, as it goes over the wire.
      # @return [Tables]
      # @raise [Error] with every problem that stops it
      def tables
        Tables.of(Core.call("topology.tables", { topology: source }))
      end

      # What it intends, one line for each declaration.
      # @return [String]
      # @raise [Error] with every problem that stops it
      def intent
        Core.call("topology.show", { topology: source }).fetch("text")
      end

      # @return [String]
      def inspect
        "#<AceMQ::Core::Topology from a #{source.keys.first}>"
      end
    end

    # Collects what a service needs. No call fails and their order does not matter: {Topology#problems} of what {#build} gives
    # judges everything at once.
    class TopologyBuilder
      def initialize
        @exchanges = []
        @queues = []
        @bindings = []
        @policies = []
        @settings = []
      end

      # An exchange: direct, fanout, topic, headers, or a plugin's type.
      # @return [self]
      def exchange(name, type, durable: true, auto_delete: false, internal: false, arguments: {}, alternate_exchange: nil)
        @exchanges << { name: name, type: type.to_s, durable: durable, auto_delete: auto_delete, internal: internal,
                        arguments: Values.table_to_json(arguments), alternate_exchange: alternate_exchange }
        self
      end

      # An exchange that somebody else declares: bindings may use it, and it is never declared.
      # @return [self]
      def external_exchange(name)
        @exchanges << { name: name, external: true }
        self
      end

      # A queue; durable and nothing else said, it is a quorum queue.
      #
      # @param type [Symbol, String, nil] :classic, :quorum or :stream
      # @param dead_letter [Boolean] with its dead-letter queue, its parked queue and their wiring
      # @param dead_letter_to [String, nil] an exchange of your own for its dead letters
      # @param retry_policy [RetryPolicy, nil] whose rungs it gets
      # @return [self]
      def queue(name, type: nil, durable: true, exclusive: false, auto_delete: false, arguments: {}, dead_letter: false,
                dead_letter_to: nil, retry_policy: nil)
        @queues << { name: name, type: type&.to_s, durable: durable, exclusive: exclusive, auto_delete: auto_delete,
                     arguments: Values.table_to_json(arguments), dead_letter: dead_letter, dead_letter_to: dead_letter_to,
                     retry: retry_policy&.to_s }
        self
      end

      # A durable quorum queue with its dead letters.
      # @return [self]
      def queue_with_dead_letter(name)
        queue(name, dead_letter: true)
      end

      # A durable classic queue with arguments of its own, and with its dead letters.
      # @return [self]
      def classic_queue_with_dead_letter(name, arguments = {})
        queue(name, type: :classic, arguments: arguments, dead_letter: true)
      end

      # Dead letters for a queue that is declared before or after this call.
      # @return [self]
      def dead_letters(queue)
        setting(queue, :dead_letter, true)
      end

      # Sends the dead letters of a queue to an exchange of your own.
      # @return [self]
      def dead_letter_to(queue, exchange)
        setting(queue, :dead_letter_to, exchange)
      end

      # Chooses the type of a queue.
      # @return [self]
      def of_type(queue, type)
        setting(queue, :type, type.to_s)
      end

      # Adds one argument to a queue.
      # @return [self]
      def queue_arg(queue, argument, value)
        setting(queue, :arguments, Values.table_to_json({ argument => value }))
      end

      # Makes a queue transient: it is gone when the broker restarts.
      # @return [self]
      def transient(queue)
        setting(queue, :transient, true)
      end

      # Makes a queue exclusive to the connection that declares it.
      # @return [self]
      def exclusive(queue)
        setting(queue, :exclusive, true)
      end

      # Lets a queue go with its last consumer.
      # @return [self]
      def auto_delete(queue)
        setting(queue, :auto_delete, true)
      end

      # Gives a queue the rungs of a policy, so that long waits between attempts are spent in the broker.
      # @return [self]
      def retries(queue, policy)
        setting(queue, :retry, policy.to_s)
      end

      # Binds a queue to an exchange.
      # @return [self]
      def bind(queue, exchange, routing_key = "", arguments: {})
        binding_of(:queue, queue, exchange, routing_key, arguments)
      end

      # Binds an exchange to an exchange.
      # @return [self]
      def bind_exchange(to_exchange, exchange, routing_key = "", arguments: {})
        binding_of(:to_exchange, to_exchange, exchange, routing_key, arguments)
      end

      # A policy. Only the management API can set it.
      # @return [self]
      def policy(name, pattern, definition, apply_to: nil, priority: 0)
        @policies << { name: name, pattern: pattern, definition: Values.table_to_json(definition), apply_to: apply_to,
                       priority: priority }
        self
      end

      # The topology of everything so far. Calls after this one do not change it.
      # @return [Topology]
      def build
        document = { acemq: 1, exchanges: @exchanges.dup, queues: @queues.dup, bindings: @bindings.dup,
                     policies: @policies.dup }
        Topology.new({ built: { document: document, settings: @settings.dup } })
      end

      private

      def binding_of(end_of, name, exchange, routing_key, arguments)
        @bindings << { end_of => name, exchange: exchange, routing_key: routing_key,
                       arguments: Values.table_to_json(arguments) }
        self
      end

      def setting(queue, key, value)
        @settings << { name: queue, key => value }
        self
      end
    end

    class << self
      # What a consumer of a queue declares when it starts: the dead-letter half, the rungs of its policy, and never the
      # queue itself.
      #
      # @param queue [String]
      # @param policy [RetryPolicy, nil]
      # @return [Tables]
      # @raise [Error]
      def consumer_declarations(queue, policy = nil)
        Tables.of(call("topology.consumer", { queue: queue, policy: policy&.to_s }))
      end
    end
  end
end
