# frozen_string_literal: true

module AceMQ
  module Core
    # One thing that is wrong with a vhost.
    #
    # @!attribute [r] code
    #   @return [String] the stable code, see {Core.explain_finding}
    # @!attribute [r] object
    #   @return [Hash] what it is about: kind, name and vhost
    # @!attribute [r] example
    #   @return [Hash, nil] the message that shows it
    # @!attribute [r] fix
    #   @return [Hash, String, nil] the way out
    Finding = Struct.new(:code, :severity, :object, :message, :example, :fix, :versions, :document, keyword_init: true)

    # Everything that is wrong with a vhost: findings, how many of each severity, and the document acemq.audit/1.
    Audit = Struct.new(:findings, :summary, :document, keyword_init: true)

    class << self
      # Looks for messages that will be lost and for what an upgrade would break. Of a topology only its own objects are known:
      # somebody else may declare the rest.
      #
      # @param state [State]
      # @param target [String, nil] the version to upgrade to
      # @param baseline [Hash, nil] findings that are known, from {audit_baseline}
      # @return [Audit]
      # @raise [Error]
      def audit(state, target: nil, baseline: nil)
        document = call("audit.check", { state: state.to_json_form, target: target, baseline: baseline })
        findings = document["findings"].map do |finding|
          known = Finding.members - [:document]
          Finding.new(**known.to_h { |key| [key, finding[key.to_s]] }, document: finding).freeze
        end
        Audit.new(findings: findings.freeze, summary: document["summary"], document: document).freeze
      end

      # What {audit} finds, as SARIF 2.1.0 for code scanning and editors.
      # @param file [String, nil] the path that it shows
      # @return [Hash]
      # @raise [Error]
      def audit_sarif(state, target: nil, baseline: nil, file: nil)
        call("audit.sarif", { state: state.to_json_form, target: target, baseline: baseline, file: file })
      end

      # The text of a baseline that holds every finding of now; what the old one says of other vhosts stays.
      # @return [String]
      # @raise [Error]
      def audit_baseline(state, target: nil, baseline: nil)
        call("audit.baseline", { state: state.to_json_form, target: target, baseline: baseline })["text"]
      end

      # What a code of a finding means: condition, versions, why, fix, example.
      # @return [Hash]
      # @raise [Error]
      def explain_finding(code)
        call("audit.explain", { code: code })
      end

      # A picture of a vhost, with dead letters and retries apart and findings on the nodes.
      #
      # @param state [State]
      # @param form [Symbol] :dot, :mermaid, :svg or :html
      # @param all [Boolean] every node, however many there are
      # @return [String]
      # @raise [Error]
      def draw(state, form = :svg, target: nil, all: false)
        call("audit.graph", { state: state.to_json_form, form: form, target: target, all: all }).fetch("text")
      end
    end
  end
end
