using System;
using System.Collections.Generic;
using System.Linq;

namespace AceMq.Core.Native
{
    /// <summary>Many keys as one batch takes them: end to end, with the places where they begin and end.</summary>
    internal struct PackedKeys
    {
        internal unsafe PackedKeys(IReadOnlyList<string> keys, string parameter)
        {
            var all = Engine.Given(keys, parameter) as string[] ?? keys.ToArray();
            Count = all.Length;
            long characters = 0;
            for (var index = 0; index < all.Length; index++)
            {
                characters += (all[index] ?? throw new ArgumentException("key " + index + " is null", parameter)).Length;
            }
            if (characters > int.MaxValue / Interop.MostBytes)
            {
                throw new ArgumentException("the keys have " + characters + " characters; give them in several batches", parameter);
            }
            // As much as ASCII needs; the first longer character asks for what the longest would.
            var bytes = new byte[characters];
            Offsets = new uint[Count + 1];
            Length = 0;
            for (var index = 0; index < all.Length; index++)
            {
                if (bytes.Length < Interop.MostBytes * characters && !IsAscii(all[index]))
                {
                    Array.Resize(ref bytes, Interop.MostBytes * (int)characters);
                }
                fixed (byte* start = bytes)
                {
                    Length += Interop.Encode(all[index], start + Length, parameter);
                }
                Offsets[index + 1] = (uint)Length;
            }
            Bytes = bytes;
        }

        private static bool IsAscii(string key)
        {
            foreach (var character in key)
            {
                if (character >= 0x80)
                {
                    return false;
                }
            }
            return true;
        }

        internal int Count { get; }

        internal byte[] Bytes { get; }

        /// <summary>How many of <see cref="Bytes"/> are used.</summary>
        internal int Length { get; private set; }

        /// <summary>One more than keys.</summary>
        internal uint[] Offsets { get; }
    }
}
