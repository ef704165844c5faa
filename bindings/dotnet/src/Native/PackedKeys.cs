using System;
using System.Collections.Generic;

namespace AceMq.Core.Native
{
    /// <summary>Many keys as one batch takes them: end to end, with the places where they begin and end.</summary>
    internal struct PackedKeys
    {
        internal unsafe PackedKeys(IReadOnlyList<string> keys, string parameter)
        {
            Count = Engine.Given(keys, parameter).Count;
            long characters = 0;
            for (var index = 0; index < Count; index++)
            {
                characters += (keys[index] ?? throw new ArgumentException("key " + index + " is null", parameter)).Length;
            }
            if (characters > int.MaxValue / Interop.MostBytes)
            {
                throw new ArgumentException("the keys have " + characters + " characters; give them in several batches", parameter);
            }
            Bytes = new byte[Interop.MostBytes * (int)characters];
            Offsets = new uint[Count + 1];
            Length = 0;
            fixed (byte* bytes = Bytes)
            {
                for (var index = 0; index < Count; index++)
                {
                    Length += Interop.Encode(keys[index], bytes + Length, parameter);
                    Offsets[index + 1] = (uint)Length;
                }
            }
        }

        internal int Count { get; }

        internal byte[] Bytes { get; }

        /// <summary>How many of <see cref="Bytes"/> are used.</summary>
        internal int Length { get; private set; }

        /// <summary>One more than keys.</summary>
        internal uint[] Offsets { get; }
    }
}
