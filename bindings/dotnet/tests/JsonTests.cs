using System;
using System.Collections.Generic;
using System.Linq;
using AceMq.Core.Json;

namespace AceMq.Core.Tests
{
    /// <summary>JSON by RFC 8259.</summary>
    internal static class JsonTests
    {
        private static object Read(string text)
        {
            return JsonReader.Read(text);
        }

        public static void ValuesOfEveryKindAreRead()
        {
            Check.Equal(null, Read("null"));
            Check.Equal(true, Read(" true "));
            Check.Equal(false, Read("\tfalse\r\n"));
            Check.Equal("", Read("\"\""));
            Check.Equal(new object[0], Read("[ ]"));
            Check.Equal(new Dictionary<string, object>(), Read("{ }"));
            Check.Equal(new object[] { 1L, "a", null, new object[] { true } }, Read("[1, \"a\", null,[true]]"));
            Check.Equal(new Dictionary<string, object> { { "a", 1L }, { "b", new object[0] } }, Read("{\"a\" : 1 , \"b\":[]}"));
        }

        public static void WholeNumbersStayWholeAndExact()
        {
            Check.True(Read("0") is long, "0 is a long");
            Check.Equal(long.MinValue, Read("-9223372036854775808"));
            Check.Equal(long.MaxValue, Read("9223372036854775807"));
            Check.Equal(9223372036854775808UL, (ulong)Read("9223372036854775808"));
            Check.Equal(ulong.MaxValue, (ulong)Read("18446744073709551615"));
            Check.True(Read("18446744073709551616") is double, "beyond 64 bits it is a double");
            Check.True(Read("1.0") is double && Read("1e2") is double, "a fraction or an exponent makes a double");
            Check.Equal(-0.5, Read("-0.5"));
            Check.Equal(1.25e-3, Read("1.25E-3"));
        }

        public static void EveryEscapeIsRead()
        {
            Check.Equal("\"\\/\b\f\n\r\t", Read("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""));
            Check.Equal("é\0€😀", Read("\"\\u00e9\\u0000\\u20AC\\ud83d\\ude00\""));
            Check.Equal("é€😀", Read("\"é€😀\""));
        }

        public static void WhatIsNoJsonIsRefused()
        {
            var wrong = new[]
            {
                "", " ", "nul", "nulll", "tru", "True", "'a'", "\"a", "\"\\x\"", "\"\\u12g4\"", "\"\\u12\"", "\"a\nb\"", "01", "-", "+1", "1.", ".5",
                "1e", "1e+", "NaN", "Infinity", "1e999", "[1,]", "[1", "[,1]", "[1 2]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
                "{\"a\":1 \"b\":2}", "1 2", "[]]", "\0", "\"\\",
            };
            foreach (var text in wrong)
            {
                try
                {
                    Read(text);
                }
                catch (FormatException)
                {
                    continue;
                }
                throw new Exception("was read: " + text);
            }
        }

        public static void DeepNestingIsRefusedInsteadOfOverflowingTheStack()
        {
            var deepest = new string('[', JsonReader.MostNesting) + new string(']', JsonReader.MostNesting);
            Read(deepest);
            Check.Throws<FormatException>(() => Read("[" + deepest + "]"));
            Check.Throws<FormatException>(() => Read(new string('[', 1000000)));
            var itself = new List<object>();
            itself.Add(itself);
            Check.Throws<ArgumentException>(() => JsonWriter.Write(itself));
        }

        public static void TheOrderOfNamesIsKeptAndTheLastOfTwoWins()
        {
            var read = (JsonObject)Read("{\"z\":1,\"a\":2,\"m\":3,\"a\":4}");
            Check.Equal("z,a,m", string.Join(",", read.Keys));
            Check.Equal(4L, read["a"]);
            Check.Equal(3, read.Count);
        }

        public static void EveryKindOfValueIsWritten()
        {
            Check.Equal("null", JsonWriter.Write(null));
            Check.Equal("[true,false]", JsonWriter.Write(new[] { true, false }));
            var numbers = new object[] { (byte)1, (sbyte)-1, (short)-2, (ushort)2, -3, 3U, -4L, 4UL, 1.5m };
            Check.Equal("[1,-1,-2,2,-3,3,-4,4,1.5]", JsonWriter.Write(numbers));
            Check.Equal("[1.0,0.1,1E+20,-0.5]", JsonWriter.Write(new[] { 1.0, 0.1, 1e20, -0.5 }));
            Check.Equal("\"\\\"\\\\\\n\\u0000\\u001fé😀\"", JsonWriter.Write("\"\\\n\0\u001fé😀"));
            Check.Equal("{\"@x\":\"AQID\"}", JsonWriter.Write(new byte[] { 1, 2, 3 }));
            Check.Equal("{\"a\":{\"b\":[]}}", JsonWriter.Write(
                new Dictionary<string, object> { { "a", new Dictionary<string, string[]> { { "b", new string[0] } } } }));
        }

        public static void WhatHasNoPlaceInJsonIsRefused()
        {
            foreach (var value in new object[] { double.NaN, float.PositiveInfinity, new object(), DateTime.UtcNow, 'a', new Dictionary<int, int> { { 1, 2 } } })
            {
                Check.Throws<ArgumentException>(() => JsonWriter.Write(value));
            }
        }

        public static void WhatIsWrittenReadsAsItWas()
        {
            var random = new Random(4711);
            for (var round = 0; round < 2000; round++)
            {
                var value = Any(random, 4);
                var text = JsonWriter.Write(value);
                Check.Equal(value, JsonReader.Read(text));
                Check.Equal(text, JsonWriter.Write(JsonReader.Read(text)));
            }
        }

        private static object Any(Random random, int depth)
        {
            switch (random.Next(depth > 0 ? 8 : 6))
            {
                case 0:
                    return null;
                case 1:
                    return random.Next(2) == 0;
                case 2:
                    return (long)random.Next() * random.Next() * (random.Next(2) * 2 - 1);
                case 3:
                    return BitConverter.Int64BitsToDouble((long)random.Next() << 32 | (uint)random.Next()) * 0.5;
                case 4:
                    return new string(Enumerable.Range(0, random.Next(6)).Select(_ => (char)random.Next(0xd800)).ToArray());
                case 5:
                    return "plain";
                case 6:
                    return Enumerable.Range(0, random.Next(4)).Select(_ => Any(random, depth - 1)).ToList();
                default:
                    return Enumerable.Range(0, random.Next(4)).ToDictionary(index => "k" + index, _ => Any(random, depth - 1));
            }
        }
    }
}
