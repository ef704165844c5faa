# frozen_string_literal: true

require "base64"
require "bigdecimal"

module AceMQ
  module Core
    # AMQP field values: Ruby's own on this side, the engine's tagged JSON on the other.
    #
    #   true, false, String, Symbol   the same
    #   Integer, Float                number
    #   Array, Hash                   array, object
    #   Time                          {"@T" => seconds}
    #   binary String                 {"@x" => base64}
    #   BigDecimal                    {"@D" => [places, digits]}
    #   nil                           {"@V" => nil}
    #
    # A Hash that is tagged already passes as it is, so every AMQP type can be asked for: {"@f" => 1.5}.
    #
    # @api private
    module Values
      module_function

      def table_to_json(table)
        (table || {}).to_h { |name, value| [name.to_s, to_json(value)] }
      end

      def to_json(value)
        case value
        when true, false, Integer, Float then value
        when Symbol then value.to_s
        when String then value.encoding == Encoding::BINARY && !value.ascii_only? ? { "@x" => Base64.strict_encode64(value) } : value
        when nil then { "@V" => nil }
        when Time then { "@T" => value.to_i }
        when BigDecimal then decimal(value)
        when Hash then tag(value) ? value : table_to_json(value)
        when Array then value.map { |item| to_json(item) }
        else raise TypeError, "AMQP has no value for #{value.class}: #{value.inspect}"
        end
      end

      def table_from_json(table)
        table.transform_values { |value| from_json(value) }
      end

      def from_json(value)
        case value
        when Array then value.map { |item| from_json(item) }
        when Hash then tag(value) ? untagged(value) : table_from_json(value)
        else value
        end
      end

      def tag(value)
        key = value.keys.first
        key[1] if value.size == 1 && key.is_a?(String) && key.size == 2 && key.start_with?("@")
      end

      def untagged(value)
        content = value.values.first
        case tag(value)
        when "T" then Time.at(content).utc
        when "x", "S" then Base64.strict_decode64(content)
        when "D" then BigDecimal(content[1]) / (10**content[0])
        when "F" then table_from_json(content)
        else content
        end
      end

      def decimal(value)
        sign, digits, _base, exponent = value.split
        places = digits.size - exponent
        raise ArgumentError, "AMQP has decimals of digits and decimal places only, and #{value} is none" if sign != 1 || places.negative?

        { "@D" => [places, digits.to_i] }
      end
    end
  end
end
