# frozen_string_literal: true

require "json"
require "acemq/core/objects"

module AceMQ
  # The engine's operations: JSON in, JSON out.
  module Core
    class << self
      # Runs an operation of the engine's table. What this gem has no method for can be had here.
      #
      # @param operation [String] as in "retry.decide"
      # @param input [Hash]
      # @return [Hash]
      # @raise [Error]
      def call(operation, input)
        JSON.parse(translated { Acemq.call(operation, JSON.generate(input)) })
      end

      # @return [String] the engine's version
      def version
        Native.acemq_engine_version
      end

      # @return [Array(Integer, Integer)] the major and minor version of the native library's ABI
      def abi_version
        version = Native.acemq_abi_version
        [version >> 16, version & 0xFFFF]
      end

      # @return [Integer] the version of the conformance suites that the engine passes
      def spec_version
        Native.acemq_spec_version
      end

      # @return [String] where the native library was found
      def library_path
        Native.path
      end

      # @api private
      def translated
        yield
      rescue Acemq::Fault::Refused => e
        raise Error.from_json(e.detail)
      end
    end
  end
end
