# frozen_string_literal: true

require "json"

module AceMQ
  module Core
    # One thing that is wrong.
    #
    # @!attribute [r] code
    #   @return [String] the stable code, as in "cap_below_first"
    # @!attribute [r] message
    #   @return [String] what is wrong
    # @!attribute [r] help
    #   @return [String] the way out
    # @!attribute [r] fields
    #   @return [Hash{String => Object}] the particulars
    Problem = Struct.new(:code, :message, :help, :fields, keyword_init: true) do
      # @return [String]
      def to_s
        help.empty? ? message : "#{message}; #{help}"
      end
    end

    # Everything that the engine refuses. It carries all problems at once; its own attributes are those of the first. A
    # mistake of the engine itself has the code "internal".
    class Error < StandardError
      # @return [Array<Problem>] all problems, at least one
      attr_reader :problems

      # @param problems [Array<Problem>]
      def initialize(problems)
        @problems = problems.freeze
        super(problems.join("\n"))
      end

      # @param document [String] the engine's own document of a failure
      # @return [Error]
      # @api private
      def self.from_json(document)
        problems = JSON.parse(document).fetch("problems").map do |problem|
          Problem.new(code: problem["code"], message: problem["message"], help: problem["help"] || "",
                      fields: (problem["fields"] || {}).freeze).freeze
        end
        new(problems)
      end

      # @return [String] the stable code of the first problem
      def code
        problems.first.code
      end

      # @return [String] the way out, of the first problem
      def help
        problems.first.help
      end

      # @return [Hash{String => Object}] the particulars of the first problem
      def fields
        problems.first.fields
      end
    end
  end
end
