# frozen_string_literal: true

module AceMQ
  module Core
    # Durations: seconds on Ruby's side, whole milliseconds on the engine's.
    #
    # Integers and rationals are converted exactly, and refused when they are no whole number of milliseconds. A Float is a
    # decimal that somebody wrote, so the nearest millisecond counts when it is within a microsecond. The engine decides both.
    #
    # @api private
    module Seconds
      module_function

      # @param duration [Integer, Float, Rational, BigDecimal]
      # @return [Integer] milliseconds
      # @raise [Error]
      def to_ms(duration)
        return duration * 1000 if duration.is_a?(Integer) && duration.between?(0, 0xFFFF_FFFF)
        return Native.number(:acemq_milliseconds_from_seconds, duration) if duration.is_a?(Float)

        milliseconds = Rational(duration) * 1000
        return milliseconds.numerator if milliseconds.denominator == 1 && milliseconds.between?(0, 0xFFFF_FFFF_FFFF_FFFF)

        # The engine has the words for what is no duration: it is asked about one of the same kind.
        return Native.number(:acemq_milliseconds_from_seconds, -1.0) if milliseconds.negative?
        return Native.number(:acemq_milliseconds_from_nanoseconds, 1) if milliseconds.denominator != 1

        Native.number(:acemq_milliseconds_from_seconds, Float::MAX)
      end

      # A Float of a few thousand years still stands for one millisecond; above, only a Rational does.
      FLOAT_BELOW = 2**50
      private_constant :FLOAT_BELOW

      # @param milliseconds [Integer, nil]
      # @return [Integer, Float, Rational, nil] seconds: an Integer when they are whole
      def from_ms(milliseconds)
        return if milliseconds.nil?

        whole, rest = milliseconds.divmod(1000)
        return whole if rest.zero?

        milliseconds < FLOAT_BELOW ? milliseconds / 1000.0 : Rational(milliseconds, 1000)
      end

      # A duration as documents have it.
      # @return [String]
      def text(duration)
        "#{to_ms(duration)}ms"
      end
    end

    class << self
      # @param text [String] digits and one of ms, s, m, h; or 0
      # @return [Integer, Float] seconds
      # @raise [Error]
      def parse_duration(text)
        Seconds.from_ms(Native.number(:acemq_parse_duration, text, text.bytesize))
      end

      # The whole milliseconds in a duration.
      # @param seconds [Integer, Float, Rational]
      # @return [Integer]
      # @raise [Error]
      def milliseconds(seconds)
        Seconds.to_ms(seconds)
      end

      # The whole milliseconds in a number of nanoseconds; a rest is refused.
      # @param nanoseconds [Integer]
      # @return [Integer]
      # @raise [Error]
      def milliseconds_from_nanoseconds(nanoseconds)
        Native.number(:acemq_milliseconds_from_nanoseconds, nanoseconds)
      end
    end
  end
end
