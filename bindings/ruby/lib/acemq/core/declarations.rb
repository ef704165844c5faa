# frozen_string_literal: true

module AceMQ
  module Core
    # What is declared on a broker: {QueueDeclaration}, {ExchangeDeclaration} and {BindingDeclaration}. Two declarations of one
    # object are equal to every broker exactly when their fingerprints are.
    module Declaration
      # @return [String] the SHA-256 of the canonical line, in lower-case hexadecimal
      def fingerprint
        Core.call("declaration.fingerprint", { declaration: { kind => to_json_table } }).fetch("fingerprint")
      end

      # @return [String] the canonical line of JSON, which every language prints alike
      def canonical
        Core.call("declaration.fingerprint", { declaration: { kind => to_json_table } }).fetch("canonical")
      end
    end

    # A queue.
    class QueueDeclaration < Struct.new(:name, :durable, :exclusive, :auto_delete, :arguments)
      include Declaration

      # @param name [String]
      # @param arguments [Hash] the argument table
      def initialize(name:, durable: true, exclusive: false, auto_delete: false, arguments: {})
        super(name, durable, exclusive, auto_delete, arguments)
        freeze
      end

      # @api private
      def self.of_table(table)
        new(name: table["name"], durable: table["durable"], exclusive: table["exclusive"], auto_delete: table["auto_delete"],
            arguments: Values.table_from_json(table["arguments"]))
      end

      # @api private
      def to_json_table
        { name: name, durable: durable, exclusive: exclusive, auto_delete: auto_delete,
          arguments: Values.table_to_json(arguments) }
      end

      # @api private
      def kind
        "queue"
      end
    end

    # An exchange.
    class ExchangeDeclaration < Struct.new(:name, :type, :durable, :auto_delete, :internal, :arguments)
      include Declaration

      # @param name [String]
      # @param type [String] direct, fanout, topic, headers or a plugin's
      def initialize(name:, type:, durable: true, auto_delete: false, internal: false, arguments: {})
        super(name, type, durable, auto_delete, internal, arguments)
        freeze
      end

      # @api private
      def self.of_table(table)
        new(name: table["name"], type: table["type"], durable: table["durable"], auto_delete: table["auto_delete"],
            internal: table["internal"], arguments: Values.table_from_json(table["arguments"]))
      end

      # @api private
      def to_json_table
        { name: name, type: type, durable: durable, auto_delete: auto_delete, internal: internal,
          arguments: Values.table_to_json(arguments) }
      end

      # @api private
      def kind
        "exchange"
      end
    end

    # A binding from an exchange to a queue, or to another exchange.
    class BindingDeclaration < Struct.new(:source, :destination, :destination_type, :routing_key, :arguments)
      include Declaration

      # @param destination_type [String] "queue" or "exchange"
      def initialize(source:, destination:, destination_type: "queue", routing_key: "", arguments: {})
        super(source, destination, destination_type, routing_key, arguments)
        freeze
      end

      # From a table of a topology, {"exchange","queue"|"to_exchange",…}, or from a plan's {"source","destination",…}.
      # @api private
      def self.of_table(table)
        type = table["destination_type"] || (table.key?("to_exchange") ? "exchange" : "queue")
        new(source: table["source"] || table["exchange"],
            destination: table["destination"] || table["to_exchange"] || table["queue"], destination_type: type,
            routing_key: table["routing_key"], arguments: Values.table_from_json(table["arguments"]))
      end

      # @api private
      def to_json_table
        { source: source, destination: destination, destination_type: destination_type, routing_key: routing_key,
          arguments: Values.table_to_json(arguments) }
      end

      # @api private
      def kind
        "binding"
      end
    end

    # A policy. Only the management API can set one.
    class PolicyDeclaration < Struct.new(:name, :pattern, :apply_to, :priority, :definition)
      # @param definition [Hash]
      def initialize(name:, pattern:, apply_to: "all", priority: 0, definition: {})
        super(name, pattern, apply_to, priority, definition)
        freeze
      end

      # Topologies write apply_to, RabbitMQ and plans apply-to.
      # @api private
      def self.of_table(table)
        new(name: table["name"], pattern: table["pattern"], apply_to: table["apply_to"] || table["apply-to"],
            priority: table["priority"], definition: Values.table_from_json(table["definition"]))
      end
    end

    # One argument or property in which a declaration and a queue differ.
    #
    # @!attribute [r] argument
    #   @return [String]
    # @!attribute [r] wanted
    #   @return [Object, nil] what the declaration has
    # @!attribute [r] current
    #   @return [Object, nil] what the queue has
    # @!attribute [r] compared
    #   @return [Boolean] whether the broker compares it
    # @!attribute [r] remedy
    #   @return [String, nil] what a plan offers against it: "policy", "migrate", "declare_as_is" or "none"
    Difference = Struct.new(:argument, :wanted, :current, :compared, :remedy, keyword_init: true) do
      # @api private
      def self.of(document)
        new(argument: document["argument"], wanted: Values.from_json(document["wanted"]),
            current: Values.from_json(document["current"]), compared: document["compared"],
            remedy: document["remedy"]).freeze
      end
    end

    # Whether a broker takes a declaration as equal to a queue that it has.
    Equivalence = Struct.new(:equivalent, :differences, keyword_init: true) do
      # @return [Boolean]
      def equivalent?
        equivalent
      end
    end

    # A refusal in the broker's own words: reply code, reply text, and what it closes ("channel" or "connection").
    PredictedRefusal = Struct.new(:code, :text, :scope, keyword_init: true)

    # What a broker answers to a declaration.
    Prediction = Struct.new(:accepted, :refused, keyword_init: true) do
      # @return [Boolean]
      def accepted?
        accepted
      end
    end

    class << self
      # @param declaration [Declaration]
      # @return [String]
      def fingerprint(declaration)
        declaration.fingerprint
      end

      # Whether a broker takes `wanted` as equal to the queue `stored` that it has, and every difference.
      #
      # @param stored [QueueDeclaration]
      # @param wanted [QueueDeclaration]
      # @param rabbitmq [String, nil] its version; the newest known one unless said
      # @param default_queue_type [String, nil] the vhost's
      # @return [Equivalence]
      def compare_queues(stored, wanted, rabbitmq: nil, default_queue_type: nil)
        answer = call("broker.equivalence", { rabbitmq: rabbitmq, default_queue_type: default_queue_type,
                                              stored: stored.to_json_table, wanted: wanted.to_json_table })
        Equivalence.new(equivalent: answer["equivalent"],
                        differences: answer["differences"].map { |one| Difference.of(one) }.freeze).freeze
      end

      # What a broker of a version answers to a declaration, given the object of that name that exists. An exclusive queue
      # that exists belongs to another connection.
      #
      # @param wanted [QueueDeclaration, ExchangeDeclaration]
      # @param existing [QueueDeclaration, ExchangeDeclaration, nil]
      # @return [Prediction]
      def predict(wanted, existing: nil, rabbitmq: nil, vhost: nil, default_queue_type: nil)
        answer = call("broker.predict", { rabbitmq: rabbitmq, vhost: vhost, default_queue_type: default_queue_type,
                                          declare: { wanted.kind => { wanted: wanted.to_json_table,
                                                                      existing: existing&.to_json_table } } })
        refused = answer["refused"]&.then { |one| PredictedRefusal.new(**one.transform_keys(&:to_sym)).freeze }
        Prediction.new(accepted: answer["accepted"], refused: refused).freeze
      end
    end
  end
end
