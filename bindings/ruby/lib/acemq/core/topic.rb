# frozen_string_literal: true

module AceMQ
  module Core
    class << self
      # Whether a topic pattern matches a routing key, word by word; bytes, not characters.
      # @param pattern [String]
      # @param key [String]
      # @return [Boolean]
      def topic_matches?(pattern, key)
        status = Native.acemq_topic_matches(pattern, pattern.bytesize, key, key.bytesize, nil)
        return status == 1 unless status.negative?

        Native.checked(:acemq_topic_matches, pattern, pattern.bytesize, key, key.bytesize) == 1
      end
    end

    # A topic pattern, read once. It never changes and may be used from any thread.
    class TopicPattern
      include Closeable

      # @return [String]
      attr_reader :pattern

      # @param pattern [String] every one is a pattern
      def initialize(pattern)
        @pattern = pattern.dup.freeze
        @handle = Native.handle(:acemq_pattern_free, :acemq_pattern_new, pattern, pattern.bytesize)
      end

      # @param key [String]
      # @return [Boolean]
      def matches?(key)
        status = Native.acemq_pattern_matches(handle, key, key.bytesize, nil)
        return status == 1 unless status.negative?

        Native.checked(:acemq_pattern_matches, handle, key, key.bytesize) == 1
      end
      alias === matches?

      # Whether it matches each of many routing keys.
      # @param keys [Array<String>]
      # @return [Array<Boolean>]
      def matches_all(keys)
        bytes, offsets = Native.keys_end_to_end(keys)
        results = FFI::MemoryPointer.new(:uint8, [keys.size, 1].max)
        Native.checked(:acemq_pattern_matches_batch, handle, bytes, bytes.bytesize, offsets, keys.size, results)
        results.read_array_of_uint8(keys.size).map { |one| one == 1 }
      end
    end

    # Many bindings of a topic exchange, compiled: finds those that a routing key fits, whatever their number.
    #
    # A binding is a pattern and any value of yours.
    class TopicMatcher
      include Closeable

      def initialize
        @handle = Native.handle(:acemq_matcher_free, :acemq_matcher_new)
        @numbers = {}
        @values = []
        @uses = Hash.new(0)
        @found = FFI::MemoryPointer.new(:size_t)
        @out = FFI::MemoryPointer.new(:uint64, @capacity = 64)
        @lock = Mutex.new
      end

      # Binds a value under a pattern.
      # @return [Boolean] false when it already was
      def insert(pattern, value)
        @lock.synchronize do
          number = (@numbers[value] ||= @values.push(value).size - 1)
          added = Native.checked(:acemq_matcher_insert, handle, pattern, pattern.bytesize, number) == 1
          @uses[number] += 1 if added
          added
        end
      end

      # Takes the binding of a value under a pattern out.
      # @return [Boolean] false when there was none
      def remove(pattern, value)
        @lock.synchronize do
          number = @numbers[value]
          removed = !number.nil? && Native.checked(:acemq_matcher_remove, handle, pattern, pattern.bytesize, number) == 1
          forget(value, number) if removed && (@uses[number] -= 1).zero?
          removed
        end
      end

      # @return [Integer] the number of bindings
      def size
        Native.number(:acemq_matcher_count, handle)
      end

      # The values whose patterns match a routing key, each once, in the order in which they were first inserted.
      # @param key [String]
      # @return [Array]
      def matches(key)
        @lock.synchronize do
          status = Native.acemq_matcher_matches(handle, key, key.bytesize, @out, @capacity, @found, nil)
          Native.checked(:acemq_matcher_matches, handle, key, key.bytesize, @out, @capacity, @found) if status.negative?
          found = @found.read_uint64
          return matches_many(key, found) if found > @capacity

          @out.read_array_of_uint64(found).map { |number| @values[number] }
        end
      end

      # The same for many routing keys.
      # @param keys [Array<String>]
      # @return [Array<Array>]
      def matches_all(keys)
        bytes, offsets = Native.keys_end_to_end(keys)
        @lock.synchronize do
          ends = FFI::MemoryPointer.new(:uint64, [keys.size, 1].max)
          room = [@capacity, keys.size * 4].max
          numbers = loop do
            out = FFI::MemoryPointer.new(:uint64, room)
            Native.checked(:acemq_matcher_matches_batch, handle, bytes, bytes.bytesize, offsets, keys.size, out, room, ends,
                           @found)
            found = @found.read_uint64
            break out.read_array_of_uint64(found) if found <= room

            room = found
          end
          from = 0
          ends.read_array_of_uint64(keys.size).map do |to|
            values = numbers[from...to].map { |number| @values[number] }
            from = to
            values
          end
        end
      end

      private

      # Nothing is bound to the value any more: it is the caller's again.
      def forget(value, number)
        @numbers.delete(value)
        @values[number] = nil
        @uses.delete(number)
      end

      def matches_many(key, found)
        out = FFI::MemoryPointer.new(:uint64, found)
        Native.checked(:acemq_matcher_matches, handle, key, key.bytesize, out, found, @found)
        out.read_array_of_uint64(found).map { |number| @values[number] }
      end
    end
  end
end
