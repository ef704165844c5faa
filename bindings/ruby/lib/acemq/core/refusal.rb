# frozen_string_literal: true

module AceMQ
  module Core
    # A value as the broker printed it, and its type as the broker names it, where it does.
    RefusalValue = Struct.new(:value, :type, keyword_init: true)

    # A broker's refusal, turned into the difference that it proves. An attribute is nil where the text does not say.
    #
    # @!attribute [r] refusal_class
    #   @return [String] inequivalent, invalid, not_found, unavailable, locked, access_refused, in_use, not_empty,
    #     not_implemented or other
    # @!attribute [r] kind
    #   @return [String, nil] queue, exchange, binding, vhost or connection
    # @!attribute [r] received
    #   @return [RefusalValue, nil] what the declaration had
    # @!attribute [r] current
    #   @return [RefusalValue, nil] what the broker has
    # @!attribute [r] absent
    #   @return [String, nil] which of the two has nothing: "received" or "current"
    # @!attribute [r] truncated
    #   @return [Boolean] whether the broker cut its text
    # @!attribute [r] says
    #   @return [String] the same in one sentence
    # @!attribute [r] document
    #   @return [Hash] acemq.refusal/1
    Refusal = Struct.new(:refusal_class, :kind, :name, :vhost, :argument, :received, :current, :absent, :truncated, :says,
                         :document, keyword_init: true) do
      # @return [String]
      def to_s
        says
      end
    end

    class << self
      # Reads a refusal as clients, logs and the management API show it. The other arguments help where they are known.
      #
      # @param text [String]
      # @param code [Integer, nil] the reply code
      # @param name [String, nil] the name that was asked for
      # @param vhost [String, nil] the vhost that was asked
      # @return [Refusal]
      def read_refusal(text, code: nil, name: nil, vhost: nil)
        document = call("broker.explain", { text: text, code: code, name: name, vhost: vhost })
        value = ->(one) { one && RefusalValue.new(value: one["value"], type: one["type"]).freeze }
        Refusal.new(refusal_class: document["class"], received: value.(document["received"]),
                    current: value.(document["current"]), document: document,
                    **%w[kind name vhost argument absent truncated says].to_h { |key| [key.to_sym, document[key]] }).freeze
      end
    end
  end
end
