using System;
using System.Collections.Generic;
using AceMq.Core.Native;

namespace AceMq.Core
{
    /// <summary>A compiled topic pattern: <c>*</c> stands for one word, <c>#</c> for any number of them.</summary>
    /// <remarks>It never changes and may be shared between threads. Every text is a pattern.</remarks>
    public sealed unsafe class TopicPattern : IDisposable
    {
        private readonly PatternHandle handle;
        private readonly string pattern;

        /// <summary>Compiles a pattern.</summary>
        public TopicPattern(string pattern)
        {
            NativeLoader.Require();
            var bytes = Interop.Bytes(pattern, nameof(pattern));
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_pattern_new(pointer, Interop.Size(bytes.Length), out handle, out var error);
                Interop.Check(status, error);
            }
            this.pattern = pattern;
        }

        /// <summary>Whether it matches a routing key.</summary>
        public bool Matches(string key)
        {
            if (Engine.Given(key, nameof(key)).Length > Interop.StackCharacters)
            {
                return Matches(Interop.Bytes(key, nameof(key)));
            }
            var buffer = stackalloc byte[Interop.MostBytes * key.Length + 1];
            var length = Interop.Encode(key, buffer, nameof(key));
            return Matches(buffer, length);
        }

        /// <summary>Whether it matches a routing key of any bytes.</summary>
        public bool Matches(byte[] key)
        {
            fixed (byte* pointer = Engine.Given(key, nameof(key)))
            {
                return Matches(pointer, key.Length);
            }
        }

        private bool Matches(byte* key, int length)
        {
            var status = NativeMethods.acemq_pattern_matches(handle, key, Interop.Size(length), out var error);
            Interop.Check(status, error);
            return status != 0;
        }

        /// <summary>For each key whether it matches; one call for all of them.</summary>
        public bool[] MatchesAll(IReadOnlyList<string> keys)
        {
            var packed = new PackedKeys(keys, nameof(keys));
            var matches = new bool[packed.Count];
            // A bool is one byte, 0 or 1.
            fixed (bool* results = matches)
            fixed (byte* bytes = packed.Bytes)
            fixed (uint* offsets = packed.Offsets)
            {
                var status = NativeMethods.acemq_pattern_matches_batch(
                    handle, bytes, Interop.Size(packed.Length), offsets, Interop.Size(packed.Count), (byte*)results, out var error);
                Interop.Check(status, error);
            }
            return matches;
        }

        /// <summary>Frees it.</summary>
        public void Dispose()
        {
            handle.Dispose();
        }

        /// <summary>The pattern.</summary>
        public override string ToString()
        {
            return pattern;
        }
    }
}
