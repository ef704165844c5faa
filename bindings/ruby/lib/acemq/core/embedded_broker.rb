# frozen_string_literal: true

module AceMQ
  module Core
    # What the embedded broker refused, in RabbitMQ's words. Its code is "refused".
    class BrokerRefusal < Error
      # @return [Integer] reply code, such as 406
      attr_reader :reply_code
      # @return [String] reply text, such as "PRECONDITION_FAILED - …"
      attr_reader :reply_text
      # @return [Symbol] what it closed: :channel or :connection
      attr_reader :scope

      # @api private
      def initialize(refused)
        @reply_code, @reply_text = refused.values_at("code", "text")
        @scope = refused["scope"].to_sym
        fields = { "code" => reply_code, "scope" => refused["scope"] }.freeze
        super([Problem.new(code: "refused", message: reply_text, help: "", fields: fields).freeze])
      end
    end

    # A message as a client gets it, or as a queue holds it. What does not apply is nil.
    #
    # @!attribute [r] body
    #   @return [String]
    # @!attribute [r] properties
    #   @return [Hash{Symbol => Object}] those that are set; :headers always
    # @!attribute [r] delivery_tag
    #   @return [Integer, nil] what to acknowledge it by
    # @!attribute [r] message
    #   @return [Integer] the number of the publication that it goes back to
    Message = Struct.new(:body, :properties, :delivery_tag, :redelivered, :exchange, :routing_key, :queue, :message,
                         :consumer_tag, :remaining, :expires_at, keyword_init: true) do
      # @api private
      def self.of(document)
        body = document["body"]
        body = Base64.strict_decode64(body["base64"]) if body.is_a?(Hash)
        properties = document["properties"].transform_keys(&:to_sym)
        properties[:headers] = Values.table_from_json(properties.fetch(:headers, {}))
        known = members - %i[body properties expires_at]
        new(body: body, properties: properties.freeze, expires_at: Seconds.from_ms(document["expires_at_ms"]),
            **known.to_h { |key| [key, document[key.to_s]] }).freeze
      end
    end

    # A consumer is gone because its queue is.
    Cancelled = Struct.new(:consumer_tag, keyword_init: true)

    # What became of a publication.
    #
    # @!attribute [r] queues
    #   @return [Array<String>] the queues that it was routed to, sorted
    # @!attribute [r] confirmed
    #   @return [Boolean] whether its confirm is positive
    # @!attribute [r] returned
    #   @return [Boolean] it was mandatory and no queue got it
    Published = Struct.new(:message, :queues, :confirmed, :returned, :opaque, keyword_init: true)

    # A queue as queue.declare-ok tells it.
    QueueStatus = Struct.new(:name, :messages, :consumers, keyword_init: true)

    # What a queue holds: `ready` in the order in which they would leave, the number that consumers hold, and dead letters
    # that wait until their targets take them.
    QueueContents = Struct.new(:ready, :unacknowledged, :waiting, :consumers, keyword_init: true)

    # A RabbitMQ vhost in memory: declarations, routing, consumers, dead letters and expiry as a given version does them. Time
    # stands still until {#advance}, so that a test of retries takes no time.
    #
    # @example
    #   broker = AceMQ::Core::EmbeddedBroker.new(rabbitmq: "4.0.5", topology: topology)
    #   channel = broker.connect.channel
    #   channel.publish("orders", "order.created", "1")
    #   broker.advance(30)
    #   channel.get("orders.new").body
    class EmbeddedBroker
      # @param rabbitmq [String, nil] the version to answer by; the newest known one unless said
      # @param topology [Topology, nil] declared at the start
      # @param definitions [Definitions, nil] held from the start, whatever the rules say about them
      # @param permissions [Array<Hash>] what users may do: {user:, configure:, write:, read:}
      # @param settings [Hash] further settings of the operation embedded.run
      # @raise [Error]
      def initialize(rabbitmq: nil, vhost: nil, default_queue_type: nil, topology: nil, definitions: nil, permissions: [],
                     **settings)
        form = { rabbitmq: rabbitmq, vhost: vhost, default_queue_type: default_queue_type, topology: topology&.source,
                 definitions: definitions&.source, permissions: permissions, **settings }
        @broker = Core.translated { Acemq::EmbeddedBroker.new(JSON.generate(form)) }
      end

      # Carries out a command, as in {"channel" => 2, "get" => {"queue" => "orders"}}, and gives the broker's reply.
      # @return [Hash] {"refused" => {…}} when the broker refuses
      # @raise [Error] when it is no command
      def command(command)
        JSON.parse(Core.translated { @broker.command(JSON.generate(command)) })
      end

      # @param user [String, nil] the broker's own user unless said
      # @return [Connection]
      # @raise [BrokerRefusal]
      def connect(user: nil)
        Connection.new(self, perform({ connect: { user: user } })["connection"])
      end

      # Lets time pass.
      # @param seconds [Integer, Float, Rational]
      # @return [Integer, Float] the time on the broker's clock, in seconds
      def advance(seconds)
        Seconds.from_ms(perform({ advance: { ms: Seconds.to_ms(seconds) } })["now_ms"])
      end

      # @return [void]
      def set_policy(name, pattern, definition, apply_to: "all", priority: 0, operator: false)
        form = { name: name, pattern: pattern, apply_to: apply_to, priority: priority,
                 definition: Values.table_to_json(definition) }
        perform({ (operator ? :set_operator_policy : :set_policy) => form })
        nil
      end

      # @return [Boolean] whether there was one
      def clear_policy(name, operator: false)
        perform({ (operator ? :clear_operator_policy : :clear_policy) => { name: name } })["cleared"]
      end

      # @param queue [String]
      # @return [QueueContents, nil] nil when there is no such queue
      def contents(queue)
        held = perform({ contents: { queue: queue } })["contents"]
        held && QueueContents.new(ready: held["ready"].map { |one| Message.of(one) }.freeze,
                                  unacknowledged: held["unacknowledged"],
                                  waiting: held["waiting"].map { |one| Message.of(one) }.freeze,
                                  consumers: held["consumers"]).freeze
      end

      # Everything that the vhost holds, as a broker would export it.
      # @return [Hash]
      def definitions
        perform({ definitions: {} })["definitions"]
      end

      # The answer to a question of a plan session.
      # @param question [Question]
      # @return [Answer]
      def answer(question, connection:)
        reply = perform({ connection: connection.number, answer_question: question.document })
        Answer.new(reply["answer"].reject { |key, _| key == "id" }.transform_keys(&:to_sym))
      end

      # A command whose refusal is an exception.
      # @return [Hash]
      # @raise [BrokerRefusal]
      # @api private
      def perform(command)
        reply = command(command)
        raise BrokerRefusal.new(reply["refused"]) if reply["refused"]

        reply
      end

      # A connection to an embedded broker.
      class Connection
        # @return [Integer]
        attr_reader :number

        # @api private
        def initialize(broker, number)
          @broker = broker
          @number = number
        end

        # Opens a channel.
        # @return [Channel]
        # @raise [BrokerRefusal]
        def channel
          Channel.new(@broker, @broker.perform({ connection: number, open_channel: {} })["channel"])
        end

        # Closes the connection, its channels and its exclusive queues.
        # @return [void]
        def close
          @broker.perform({ connection: number, disconnect: {} })
          nil
        end

        # @return [Boolean]
        def open?
          @broker.perform({ connection: number, is_open: {} })["open"]
        end
      end

      # A channel of an embedded broker. Every method raises {BrokerRefusal} when the broker refuses, which closes it.
      class Channel
        # @api private
        def initialize(broker, number)
          @broker = broker
          @number = number
        end

        # @return [QueueStatus]
        def declare_queue(name, durable: true, exclusive: false, auto_delete: false, arguments: {})
          status(perform(:declare_queue, { name: name, durable: durable, exclusive: exclusive, auto_delete: auto_delete,
                                           arguments: Values.table_to_json(arguments) }))
        end

        # @return [QueueStatus]
        def declare_queue_passively(name)
          status(perform(:declare_queue_passively, { name: name }))
        end

        # @return [void]
        def declare_exchange(name, type, durable: true, auto_delete: false, internal: false, arguments: {})
          perform(:declare_exchange, { name: name, type: type.to_s, durable: durable, auto_delete: auto_delete,
                                       internal: internal, arguments: Values.table_to_json(arguments) })
          nil
        end

        # @return [void]
        def declare_exchange_passively(name)
          perform(:declare_exchange_passively, { name: name })
          nil
        end

        # @return [void]
        def bind(destination, source, routing_key = "", arguments: {}, destination_type: "queue")
          perform(:bind, BindingDeclaration.new(source: source, destination: destination, destination_type: destination_type,
                                                routing_key: routing_key, arguments: arguments).to_json_table)
          nil
        end

        # @return [void]
        def unbind(destination, source, routing_key = "", arguments: {}, destination_type: "queue")
          perform(:unbind, BindingDeclaration.new(source: source, destination: destination, routing_key: routing_key,
                                                  destination_type: destination_type, arguments: arguments).to_json_table)
          nil
        end

        # @return [Integer] messages that are gone with it
        def delete_queue(name, if_unused: false, if_empty: false)
          perform(:delete_queue, { name: name, if_unused: if_unused, if_empty: if_empty })["messages"]
        end

        # @return [void]
        def delete_exchange(name, if_unused: false)
          perform(:delete_exchange, { name: name, if_unused: if_unused })
          nil
        end

        # @return [Integer] messages that are gone
        def purge(queue)
          perform(:purge, { queue: queue })["messages"]
        end

        # @param properties [Hash] content_type, headers, delivery_mode, priority, expiration and so on
        # @return [Published]
        def publish(exchange, routing_key, body = "", mandatory: false, headers: {}, **properties)
          text = body.dup.force_encoding(Encoding::UTF_8)
          form = { exchange: exchange, routing_key: routing_key, mandatory: mandatory,
                   body: text.valid_encoding? ? text : { base64: Base64.strict_encode64(body) },
                   properties: { **properties, headers: Values.table_to_json(headers) } }
          reply = perform(:publish, form)
          Published.new(**Published.members.to_h { |key| [key, reply[key.to_s]] }).freeze
        end

        # @return [Message, nil] nil when there is none
        def get(queue, no_ack: false)
          perform(:get, { queue: queue, no_ack: no_ack })["delivery"]&.then { |delivery| Message.of(delivery) }
        end

        # @return [String] the consumer's tag
        def consume(queue, consumer_tag: "", no_ack: false, exclusive: false, arguments: {})
          perform(:consume, { queue: queue, consumer_tag: consumer_tag, no_ack: no_ack, exclusive: exclusive,
                              arguments: Values.table_to_json(arguments) })["consumer_tag"]
        end

        # @return [void]
        def cancel(consumer_tag)
          perform(:cancel, { consumer_tag: consumer_tag })
          nil
        end

        # @return [void]
        def prefetch(count, global: false)
          perform(:qos, { prefetch: count, global: global })
          nil
        end

        # @return [void]
        def ack(delivery_tag, multiple: false)
          perform(:ack, { delivery_tag: delivery_tag, multiple: multiple })
          nil
        end

        # @return [void]
        def nack(delivery_tag, multiple: false, requeue: true)
          perform(:nack, { delivery_tag: delivery_tag, multiple: multiple, requeue: requeue })
          nil
        end

        # @return [void]
        def reject(delivery_tag, requeue: true)
          perform(:reject, { delivery_tag: delivery_tag, requeue: requeue })
          nil
        end

        # Everything that the channel holds goes back to the queues.
        # @return [void]
        def recover
          perform(:recover, {})
          nil
        end

        # What the broker has told the channel since it was last asked.
        # @return [Array<Message, Cancelled>]
        def take_events
          perform(:take_events, {})["events"].map do |event|
            next Message.of(event["delivered"]) if event["delivered"]

            Cancelled.new(consumer_tag: event["cancelled"]["consumer_tag"]).freeze
          end
        end

        # @return [Boolean]
        def open?
          perform(:is_open, {})["open"]
        end

        # @return [void]
        def close
          perform(:close_channel, {})
          nil
        end

        private

        def perform(action, form)
          @broker.perform({ channel: @number, action => form })
        end

        def status(reply)
          QueueStatus.new(**QueueStatus.members.to_h { |key| [key, reply[key.to_s]] }).freeze
        end
      end
    end

    class << self
      # Plays a scenario, a timeline of messages, failures and clock steps, and gives acemq.simulation/1.
      #
      # @param scenario [String, Hash] its text or the document
      # @param rabbitmq [String, nil] the version whose rules hold whatever the scenario says
      # @param state [State, nil] what is there at the start, where the scenario only names a file
      # @return [Hash]
      # @raise [Error]
      def simulate(scenario, rabbitmq: nil, state: nil)
        source = scenario.is_a?(String) ? { text: scenario } : { document: scenario }
        call("embedded.simulate", { scenario: source, rabbitmq: rabbitmq, state: state&.to_json_form })
      end
    end
  end
end
