# frozen_string_literal: true

require "ffi"
require "rbconfig"

module AceMQ
  module Core
    # The native library: where it is, and what is called there for every message.
    #
    # The first of these that loads is taken: the file or folder that ACEMQ_LIBRARY_PATH names, the library that the gem
    # carries, and the system's own. Ruby's lock is held during a call, so that no handle is freed while another thread uses
    # it.
    #
    # @api private
    module Native
      extend FFI::Library

      # The ABI that this gem was built for: the major version has to be the same, the minor one at least this.
      ABI = [1, 0].freeze

      NAME = FFI.map_library_name("acemq_uniffi").freeze

      REFUSED = -1
      AGE_UNKNOWN = 0xFFFF_FFFF_FFFF_FFFF

      # Bytes that the library has written, to be given back.
      class Buffer < FFI::Struct
        layout :ptr, :pointer, :len, :size_t, :capacity, :size_t
      end

      # Bytes that belong to a handle.
      class Bytes < FFI::Struct
        layout :ptr, :pointer, :len, :size_t

        # @return [String]
        def text
          self[:ptr].read_bytes(self[:len]).force_encoding(Encoding::UTF_8)
        end
      end

      # What to do with a message whose handling failed.
      class Decision < FFI::Struct
        layout :wait_ms, :uint64, :retry, :int32, :in_broker, :int32, :reason, :int32, :rung, :int32
      end

      class << self
        # The library that was loaded.
        # @return [String]
        attr_reader :path

        # Where the library may be, in the order in which it is tried.
        # @return [Array<Array(String, String)>] what the place is, and the path or name
        def candidates
          named = ENV.fetch("ACEMQ_LIBRARY_PATH", nil)
          places = []
          unless named.nil? || named.empty?
            places << ["ACEMQ_LIBRARY_PATH", File.directory?(named) ? File.join(named, NAME) : named]
          end
          places << ["this gem", File.join(__dir__, "native", NAME)]
          places << ["the system", NAME]
        end

        # @raise [LoadError] with every attempt
        def find
          attempts = candidates.map do |place, candidate|
            return check_abi(candidate) if usable?(candidate)
          rescue LoadError => e
            "#{place}: #{e.message.lines.first.chomp}"
          end
          raise LoadError, "acemq-core found no native library on #{RbConfig::CONFIG["arch"]}; " \
                           "set ACEMQ_LIBRARY_PATH to #{NAME}. Tried #{attempts.join("; ")}"
        end

        private

        def usable?(candidate)
          raise LoadError, "#{candidate} does not exist" if candidate.include?("/") && !File.exist?(candidate)

          FFI::DynamicLibrary.open(candidate, FFI::DynamicLibrary::RTLD_LAZY | FFI::DynamicLibrary::RTLD_LOCAL)
        end

        def check_abi(candidate)
          library = FFI::DynamicLibrary.open(candidate, FFI::DynamicLibrary::RTLD_LAZY | FFI::DynamicLibrary::RTLD_LOCAL)
          symbol = library.find_function("acemq_abi_version")
          raise LoadError, "#{candidate} is another library: it has no acemq_abi_version" unless symbol

          version = FFI::Function.new(:uint32, [], symbol).call
          major, minor = version >> 16, version & 0xFFFF
          return candidate if major == ABI[0] && minor >= ABI[1]

          raise LoadError, "#{candidate} has ABI #{major}.#{minor}, and acemq-core #{VERSION} needs #{ABI.join(".")} or a " \
                           "later one of #{ABI[0]}: install the library that belongs to this gem"
        end
      end

      @path = find
      ffi_lib @path

      attach_function :acemq_abi_version, [], :uint32
      attach_function :acemq_engine_version, [], :string
      attach_function :acemq_spec_version, [], :uint32
      attach_function :acemq_buffer_free, [:pointer], :void
      attach_function :acemq_error_detail, [:pointer], Bytes.by_value
      attach_function :acemq_error_free, [:pointer], :void
      attach_function :acemq_fail_inside, [:pointer], :int32

      %i[acemq_dead_letter_queue acemq_parked_queue].each do |name|
        attach_function name, %i[buffer_in size_t pointer pointer], :int32
      end
      attach_function :acemq_retry_queue, %i[buffer_in size_t uint64 pointer pointer], :int32
      attach_function :acemq_delay_text, %i[uint64 pointer pointer], :int32
      attach_function :acemq_parse_duration, %i[buffer_in size_t pointer pointer], :int32
      attach_function :acemq_milliseconds_from_nanoseconds, %i[uint64 pointer pointer], :int32
      attach_function :acemq_milliseconds_from_seconds, %i[double pointer pointer], :int32

      attach_function :acemq_retry_policy_from_json, %i[buffer_in size_t pointer pointer], :int32
      attach_function :acemq_retry_policy_document, %i[pointer pointer pointer], :int32
      attach_function :acemq_retry_policy_decide, %i[pointer uint32 uint64 double pointer pointer], :int32
      attach_function :acemq_retry_policy_give_up_text, %i[pointer int32 pointer pointer], :int32
      attach_function :acemq_retry_policy_delay, %i[pointer uint32 pointer pointer], :int32
      attach_function :acemq_retry_policy_rung_for, %i[pointer uint64 pointer pointer], :int32
      attach_function :acemq_retry_policy_free, [:pointer], :void

      attach_function :acemq_topic_matches, %i[buffer_in size_t buffer_in size_t pointer], :int32
      attach_function :acemq_pattern_new, %i[buffer_in size_t pointer pointer], :int32
      attach_function :acemq_pattern_matches, %i[pointer buffer_in size_t pointer], :int32
      attach_function :acemq_pattern_matches_batch, %i[pointer buffer_in size_t buffer_in size_t pointer pointer], :int32
      attach_function :acemq_pattern_free, [:pointer], :void

      attach_function :acemq_matcher_new, %i[pointer pointer], :int32
      attach_function :acemq_matcher_insert, %i[pointer buffer_in size_t uint64 pointer], :int32
      attach_function :acemq_matcher_remove, %i[pointer buffer_in size_t uint64 pointer], :int32
      attach_function :acemq_matcher_count, %i[pointer pointer pointer], :int32
      attach_function :acemq_matcher_matches, %i[pointer buffer_in size_t pointer size_t pointer pointer], :int32
      attach_function :acemq_matcher_matches_batch,
                      %i[pointer buffer_in size_t buffer_in size_t pointer size_t pointer pointer pointer], :int32
      attach_function :acemq_matcher_free, [:pointer], :void

      class << self
        # Calls a function that may fail: its last argument is where the error goes.
        # @return [Integer] the status, 0 or more
        # @raise [Error]
        def checked(function, *arguments)
          status = public_send(function, *arguments, nil)
          return status unless status.negative?

          # Nothing was done: the second call is refused alike, and says why.
          place = FFI::MemoryPointer.new(:pointer)
          public_send(function, *arguments, place)
          raise failure(place.read_pointer)
        end

        # The text that a function writes into a buffer, which is its last argument but one.
        def text(function, *arguments)
          buffer = Buffer.new
          checked(function, *arguments, buffer.pointer)
          return "" if buffer[:ptr].null?

          buffer[:ptr].read_bytes(buffer[:len]).force_encoding(Encoding::UTF_8)
        ensure
          acemq_buffer_free(buffer.pointer) if buffer
        end

        # The handle that a function makes, freed by `free` when nobody holds it any more.
        def handle(free, function, *arguments)
          place = FFI::MemoryPointer.new(:pointer)
          checked(function, *arguments, place)
          FFI::AutoPointer.new(place.read_pointer, method(free))
        end

        # A number that a function writes; nil when it answers no and `optional` is set.
        def number(function, *arguments, optional: false)
          place = FFI::MemoryPointer.new(:uint64)
          status = checked(function, *arguments, place)
          place.read_uint64 unless optional && status.zero?
        end

        # Keys end to end, with the offsets at which they begin and end.
        def keys_end_to_end(keys)
          offsets = [0]
          keys.each { |key| offsets << (offsets.last + key.bytesize) }
          [keys.map(&:b).join, offsets.pack("L*")]
        end

        private

        def failure(error)
          detail = acemq_error_detail(error).text
          Error.from_json(detail)
        ensure
          acemq_error_free(error)
        end
      end
    end

    # What owns memory of the native library.
    #
    # @api private
    module Closeable
      # Frees the native memory now; the garbage collector does it otherwise. Calling it again does nothing.
      # @return [void]
      def close
        return if @handle.nil?

        @handle.free
        @handle = nil
      end

      # @return [Boolean]
      def closed?
        @handle.nil?
      end

      private

      def handle
        @handle || raise(IOError, "this #{self.class.name.split("::").last} is closed")
      end
    end
  end
end
