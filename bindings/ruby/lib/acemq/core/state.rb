# frozen_string_literal: true

module AceMQ
  module Core
    # What an export holds.
    #
    # @!attribute [r] layout
    #   @return [String] "cluster", where entries name their vhosts, or "vhost"
    # @!attribute [r] faults
    #   @return [Array<Hash>] entries that cannot be read
    DefinitionsSummary = Struct.new(:layout, :product, :rabbitmq, :vhosts, :faults, keyword_init: true)

    # What an import would not simply create: outcome is refused, skipped or changed.
    ImportEffect = Struct.new(:outcome, :vhost, :message, :at, keyword_init: true)

    # A broker's exported definitions: their text, or the document itself.
    class Definitions
      # @return [String, Hash]
      attr_reader :export
      # @api private
      attr_reader :source

      # @param export [String, Hash]
      def initialize(export)
        @export = export
        @source = (export.is_a?(String) ? { text: export } : { document: export }).freeze
        freeze
      end

      # What it holds, and every entry that cannot be read.
      # @return [DefinitionsSummary]
      # @raise [Error] when it is no export
      def summary
        answer = Core.call("definitions.read", { definitions: source })
        DefinitionsSummary.new(**answer.transform_keys(&:to_sym)).freeze
      end

      # What importing it into a broker of a version would refuse, skip or change, in the order of the file.
      #
      # @param there [Array<State>] the vhosts that the broker has; none is a fresh broker, which has "/"
      # @return [Array<ImportEffect>]
      def preview_import(there = [], rabbitmq: nil)
        question = { definitions: source, rabbitmq: rabbitmq, there: there.map(&:to_json_form) }
        Core.call("definitions.preview", question)["effects"].map do |effect|
          ImportEffect.new(**ImportEffect.members.to_h { |key| [key, effect[key.to_s]] }).freeze
        end
      end
    end

    # A topology document that was written: YAML, and what has no place in it, as sentences.
    WrittenTopology = Struct.new(:text, :left_out, keyword_init: true) do
      # @return [Topology]
      def topology
        Topology.parse(text)
      end
    end

    # One setting that an object really has.
    #
    # @!attribute [r] value
    #   @return [Object, nil] nil when it cannot be told
    # @!attribute [r] source
    #   @return [String] argument, policy, operator_policy, default or undecided
    # @!attribute [r] policy
    #   @return [String, nil] the policy's name, where one decides
    EffectiveSetting = Struct.new(:value, :source, :policy, :why, keyword_init: true)

    # What a queue or an exchange really has, arguments and policies merged: settings by policy key, without "x-", and why
    # some of it cannot be told.
    EffectiveSettings = Struct.new(:settings, :open, keyword_init: true)

    # One vhost: an export's, or a topology as if all of it was declared. It is read when it is used: what is wrong with it is
    # an {Error} then.
    class State
      # @param source [Topology, Definitions]
      # @param vhost [String, nil] which one of an export that holds several
      # @param rabbitmq [String, nil] the version to judge by; else the export's, else the newest known one
      # @param default_queue_type [String, nil] the vhost's, where the export does not say it
      def initialize(source, vhost: nil, rabbitmq: nil, default_queue_type: nil)
        kind = source.is_a?(Topology) ? :topology : :definitions
        @form = { kind => source.source, vhost: vhost, rabbitmq: rabbitmq, default_queue_type: default_queue_type }.freeze
        freeze
      end

      # As operations take it.
      # @return [Hash]
      # @api private
      def to_json_form
        @form
      end

      # Everything that it holds, acemq.state/1.
      # @return [Hash]
      def document
        Core.call("definitions.state", { state: @form })
      end

      # The topology document that stands for everything in it.
      # @return [WrittenTopology]
      def to_topology
        WrittenTopology.new(**Core.call("definitions.to_topology", { state: @form }).slice("text", "left_out")
                                  .transform_keys(&:to_sym)).freeze
      end

      # The definitions that a broker imports to hold the same.
      # @return [Definitions]
      def to_definitions
        Definitions.new(Core.call("topology.to_definitions", { state: @form })["definitions"])
      end

      # What a queue or an exchange really has, with the reasons.
      # @param kind [String] "queue" or "exchange"
      # @return [EffectiveSettings]
      def effective(kind, name)
        answer = Core.call("policy.effective", { state: @form, kind: kind, name: name })
        settings = answer["settings"].transform_values do |setting|
          EffectiveSetting.new(**EffectiveSetting.members.to_h { |key| [key, setting[key.to_s]] },
                               value: Values.from_json(setting["value"])).freeze
        end
        EffectiveSettings.new(settings: settings.freeze, open: answer["open"]).freeze
      end
    end
  end
end
