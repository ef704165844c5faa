using System;
using System.Collections.Generic;
using AceMq.Core.Native;

namespace AceMq.Core
{
    /// <summary>
    /// Many bindings, compiled: finds those that a routing key fits, whatever their number. A binding is a pattern and a number
    /// of the caller's, often an index into a list of queues.
    /// </summary>
    /// <remarks>It changes, and may be used from any thread.</remarks>
    public sealed unsafe class TopicMatcher : IDisposable
    {
        private const int StackValues = 64;

        private readonly MatcherHandle handle;

        /// <summary>A matcher without bindings.</summary>
        public TopicMatcher()
        {
            NativeLoader.Require();
            var status = NativeMethods.acemq_matcher_new(out handle, out var error);
            Interop.Check(status, error);
        }

        /// <summary>The number of bindings.</summary>
        public long Count
        {
            get
            {
                var status = NativeMethods.acemq_matcher_count(handle, out var count, out var error);
                Interop.Check(status, error);
                return checked((long)count);
            }
        }

        /// <summary>Binds a value under a pattern; <c>false</c> when it already was.</summary>
        /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
        public bool Insert(string pattern, long value)
        {
            var bytes = Interop.Bytes(pattern, nameof(pattern));
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_matcher_insert(
                    handle, pointer, Interop.Size(bytes.Length), NotNegative(value), out var error);
                Interop.Check(status, error);
                return status != 0;
            }
        }

        /// <summary>Takes a binding out; <c>false</c> when there was none.</summary>
        /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
        public bool Remove(string pattern, long value)
        {
            var bytes = Interop.Bytes(pattern, nameof(pattern));
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_matcher_remove(
                    handle, pointer, Interop.Size(bytes.Length), NotNegative(value), out var error);
                Interop.Check(status, error);
                return status != 0;
            }
        }

        private static ulong NotNegative(long value)
        {
            return value >= 0 ? (ulong)value : throw new ArgumentOutOfRangeException(nameof(value), value, "values are not negative");
        }

        /// <summary>The values whose patterns match a routing key: ascending, each once.</summary>
        public long[] Matches(string key)
        {
            var room = stackalloc long[StackValues];
            var found = Matches(key, room, StackValues);
            if (found == 0)
            {
                return None;
            }
            var values = new long[found];
            if (found <= StackValues)
            {
                for (var index = 0; index < values.Length; index++)
                {
                    values[index] = room[index];
                }
                return values;
            }
            while (true)
            {
                fixed (long* pointer = values)
                {
                    found = Matches(key, pointer, values.Length);
                }
                if (found <= values.Length)
                {
                    // Somebody else may have taken bindings out meanwhile.
                    Array.Resize(ref values, (int)found);
                    return values;
                }
                values = new long[found];
            }
        }

        private static readonly long[] None = new long[0];

        /// <summary>The same without an allocation: writes as many values as <paramref name="values"/> holds.</summary>
        /// <returns>How many match; when that is more, the rest was not written.</returns>
        public int Matches(string key, long[] values)
        {
            fixed (long* pointer = Engine.Given(values, nameof(values)))
            {
                return checked((int)Matches(key, pointer, values.Length));
            }
        }

        private long Matches(string key, long* values, int capacity)
        {
            if (Engine.Given(key, nameof(key)).Length > Interop.StackCharacters)
            {
                var bytes = Interop.Bytes(key, nameof(key));
                fixed (byte* pointer = bytes)
                {
                    return Matches(pointer, bytes.Length, values, capacity);
                }
            }
            var buffer = stackalloc byte[Interop.MostBytes * key.Length + 1];
            var length = Interop.Encode(key, buffer, nameof(key));
            return Matches(buffer, length, values, capacity);
        }

        private long Matches(byte* key, int length, long* values, int capacity)
        {
            var status = NativeMethods.acemq_matcher_matches(
                handle, key, Interop.Size(length), values, Interop.Size(capacity), out var found, out var error);
            Interop.Check(status, error);
            return checked((long)found);
        }

        /// <summary>For each key the values whose patterns match it; one call for all of them.</summary>
        public long[][] MatchesAll(IReadOnlyList<string> keys)
        {
            var packed = new PackedKeys(keys, nameof(keys));
            var ends = new ulong[packed.Count];
            var values = new long[Math.Max(16, 4 * packed.Count)];
            while (true)
            {
                long found;
                fixed (byte* bytes = packed.Bytes)
                fixed (uint* offsets = packed.Offsets)
                fixed (ulong* endPointer = ends)
                fixed (long* pointer = values)
                {
                    var status = NativeMethods.acemq_matcher_matches_batch(
                        handle,
                        bytes,
                        Interop.Size(packed.Length),
                        offsets,
                        Interop.Size(packed.Count),
                        pointer,
                        Interop.Size(values.Length),
                        endPointer,
                        out var whole,
                        out var error);
                    Interop.Check(status, error);
                    found = checked((long)whole);
                }
                if (found <= values.Length)
                {
                    return Split(values, ends);
                }
                values = new long[found];
            }
        }

        private static long[][] Split(long[] values, ulong[] ends)
        {
            var matches = new long[ends.Length][];
            var start = 0;
            for (var index = 0; index < ends.Length; index++)
            {
                var end = (int)ends[index];
                matches[index] = start == end ? None : new long[end - start];
                Array.Copy(values, start, matches[index], 0, end - start);
                start = end;
            }
            return matches;
        }

        /// <summary>Frees it.</summary>
        public void Dispose()
        {
            handle.Dispose();
        }
    }
}
