# frozen_string_literal: true

module AceMQ
  module Core
    # One question for the broker. Ask it on a channel of its own: a refusal closes the channel.
    #
    # @!attribute [r] ask
    #   @return [Symbol] :queue_passive and :exchange_passive declare `name` passively; :queue_offer, :exchange_offer and
    #     :declare declare exactly `declaration`; :bind makes a binding; :set_policy sets a policy through the management API
    # @!attribute [r] declaration
    #   @return [QueueDeclaration, ExchangeDeclaration, BindingDeclaration, PolicyDeclaration, nil]
    Question = Struct.new(:id, :ask, :name, :declaration, :document, keyword_init: true) do
      # @api private
      def self.of(document)
        kinds = { "queue" => QueueDeclaration, "exchange" => ExchangeDeclaration, "binding" => BindingDeclaration }
        declaration = document["declaration"]
        declaration &&= kinds.fetch(declaration["kind"], PolicyDeclaration).of_table(declaration)
        new(id: document["id"], ask: document["ask"].to_sym, name: document["name"], declaration: declaration,
            document: document).freeze
      end
    end

    # What the broker, or the way to it, answered.
    class Answer
      # @return [Hash] as the session takes it, without the question's number
      # @api private
      attr_reader :document

      # @api private
      def initialize(document)
        @document = document.freeze
        freeze
      end

      class << self
        # The method was answered with its -ok; the counts are those of queue.declare-ok.
        # @return [Answer]
        def ok(messages: 0, consumers: 0)
          new({ ok: { messages: messages, consumers: consumers } })
        end

        # The broker closed the channel or the connection, with this reply code and text.
        # @param scope [Symbol, String] :channel or :connection
        # @return [Answer]
        def refused(code, text, scope: :channel)
          new({ refused: { code: code, text: text, scope: scope.to_s } })
        end

        # There was no answer, and what happened instead, such as "timed out after 10 s".
        # @return [Answer]
        def failed(why)
          new({ failed: why })
        end

        # This program cannot ask such a question.
        # @return [Answer]
        def cannot(why)
          new({ cannot: why })
        end
      end
    end

    # One object of a plan: what is known about it, and what an apply would send.
    #
    # @!attribute [r] verdict
    #   @return [String] create, present, drift, invalid, unknown or extra
    # @!attribute [r] sends
    #   @return [String] declare, bind, set or nothing
    # @!attribute [r] differences
    #   @return [Array<Difference>]
    # @!attribute [r] at_least
    #   @return [Boolean] there may be further differences
    Action = Struct.new(:verdict, :kind, :name, :binding, :sends, :detail, :reason, :refusal, :differences, :at_least, :policy,
                        :notes, keyword_init: true) do
      # @api private
      def self.of(action)
        new(**%w[verdict kind name sends detail reason refusal at_least notes].to_h { |key| [key.to_sym, action[key]] },
            binding: action["binding"]&.then { |binding| BindingDeclaration.of_table(binding) },
            differences: action["differences"].map { |one| Difference.of(one) }.freeze,
            policy: action["policy"]&.then { |policy| PolicyDeclaration.of_table(policy) }).freeze
      end
    end

    # What is known, and what an apply would send. It never changes.
    class Plan
      # @return [Hash] acemq.plan/1
      attr_reader :document
      # @return [String, nil] what kept a finished apply from doing everything
      attr_reader :error
      # @return [String] one line for everything that differs, sorted by name
      attr_reader :drift

      # @api private
      def initialize(state)
        @document = state["plan"]
        @texts = { plan: state["text"], lines: state["lines"] }
        @blocks = { plan: state["block"], lines: state["lines_block"] }
        @drift = state["drift"]
        @error = state["error"]
      end

      # One action for each object: exchanges, policies, queues, bindings, each kind in its declared order.
      # @return [Array<Action>]
      def actions
        @actions ||= document["actions"].map { |action| Action.of(action) }.freeze
      end

      # How many objects have each verdict, and how many are foreign.
      # @return [Hash{String => Integer}]
      def summary
        document["summary"]
      end

      # The plan as text: as a block (:plan, wrapped at the session's width), or one line an object (:lines).
      # @param notes [Boolean] with what the lines have no place for, each line starting with "note: "
      # @return [String]
      def render(style = :plan, notes: true)
        (notes ? @texts : @blocks).fetch(style.to_sym) { raise ArgumentError, "a plan has the styles :plan and :lines, not #{style.inspect}" }
      end

      # @return [String]
      def to_s
        render
      end
    end

    # A plan in the making: open questions, answers, and the plan as far as it is known. The engine never talks to a broker;
    # the program puts each question to it through the AMQP client that it has.
    #
    # @example
    #   session = AceMQ::Core::PlanSession.new(topology, version: "4.0.5", vhost: "/")
    #   plan = session.run { |question| ask_the_broker(question) }   # an AceMQ::Core::Answer
    #   puts plan
    class PlanSession
      # @param topology [Topology]
      # @param mode [Symbol] :dry_run, :create_only or :validate
      # @param product [String, nil] the `product` of the connection's server properties
      # @param version [String, nil] their `version`
      # @param vhost [String, nil] the connection's
      # @param exchanges [Boolean] ask about exchanges too; an apply always does
      # @param apply [Boolean] go on to declare what is missing, and declare nothing while something stands against it
      # @param width [Integer, nil] wrap the text of the plan at this many columns
      # @param answers [Array<Hash>] of an earlier session, as it took them
      # @raise [Error] with every problem of the topology
      def initialize(topology, mode: :create_only, product: nil, version: nil, vhost: nil, exchanges: false, apply: false,
                     skip_exclusive: false, can_set_policies: false, update_policies: false, strict: false, width: nil,
                     answers: [])
        settings = { topology: topology.source, mode: mode, product: product, version: version, vhost: vhost,
                     exchanges: exchanges, apply: apply, skip_exclusive: skip_exclusive, can_set_policies: can_set_policies,
                     update_policies: update_policies, strict: strict, width: width, answers: answers }
        @session = Core.translated { Acemq::PlanSession.new(JSON.generate(settings)) }
      end

      # Every open question.
      # @return [Array<Question>]
      def questions
        listed(Core.translated { @session.questions })
      end

      # Open questions that were not given out yet, at most `limit`: what a program with so many free channels asks.
      # @return [Array<Question>]
      def next_questions(limit)
        listed(Core.translated { @session.next_questions(limit) })
      end

      # Takes one answer, in any order.
      # @param question [Question, Integer]
      # @param answer [Answer]
      # @return [void]
      # @raise [Error] when that question is not open; the session stays as it was
      def answer(question, answer)
        id = question.is_a?(Question) ? question.id : question
        Core.translated { @session.answer(JSON.generate({ id: id, **answer.document })) }
        nil
      end

      # Ends the session before its end: what was not asked stays unknown, what was not sent is not sent.
      # @return [void]
      def interrupt
        Core.translated { @session.interrupt }
      end

      # @return [Boolean] whether nothing is left to ask or to declare
      def finished?
        Core.translated { @session.finished }
      end

      # The plan as far as it is known, at any time.
      # @return [Plan]
      def plan
        Plan.new(JSON.parse(Core.translated { @session.state }))
      end

      # Puts question after question to the block until none is left, and gives the plan. When the block raises, the session
      # is interrupted and the exception goes on.
      #
      # @yieldparam question [Question]
      # @yieldreturn [Answer]
      # @return [Plan]
      def run
        done = false
        until finished?
          next_questions(1).each { |question| answer(question, yield(question)) }
        end
        done = true
        plan
      ensure
        interrupt unless done
      end

      private

      def listed(json)
        JSON.parse(json).map { |question| Question.of(question) }
      end
    end
  end
end
