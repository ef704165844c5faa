using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;

namespace AceMq.Core.Tests
{
    internal static class TopicTests
    {
        /// <summary>AMQP's rule word by word, by another way than the engine's.</summary>
        internal static bool Expected(string pattern, string key)
        {
            return Expected(Words(pattern), 0, Words(key), 0);
        }

        private static string[] Words(string text)
        {
            return text.Length == 0 ? new string[0] : text.Split('.');
        }

        private static bool Expected(string[] pattern, int at, string[] key, int word)
        {
            if (at == pattern.Length)
            {
                return word == key.Length;
            }
            if (pattern[at] == "#")
            {
                return Expected(pattern, at + 1, key, word) || (word < key.Length && Expected(pattern, at, key, word + 1));
            }
            return word < key.Length && (pattern[at] == "*" || pattern[at] == key[word]) && Expected(pattern, at + 1, key, word + 1);
        }

        public static void WordsMatchWordByWord()
        {
            Check.True(Engine.TopicMatches("orders.*", "orders.created"), "a star is one word");
            Check.True(!Engine.TopicMatches("orders.*", "orders.created.eu"), "a star is not two words");
            Check.True(Engine.TopicMatches("orders.#", "orders"), "a hash is no word");
            Check.True(Engine.TopicMatches("#", ""), "a hash matches the empty key");
            Check.True(!Engine.TopicMatches("*", ""), "the empty key has no word");
            Check.True(Engine.TopicMatches("größe.#", "größe.😀"), "any Unicode");
            Check.True(Engine.TopicMatches(new byte[] { 0xff, (byte)'.', (byte)'*' }, new byte[] { 0xff, (byte)'.', 0x80 }), "any bytes");
        }

        public static void KeysOfAnyLengthGoThrough()
        {
            foreach (var length in new[] { 0, 1, 127, 150, 255, 299, 300, 301, 5000 })
            {
                var key = new string('k', length);
                Check.True(Engine.TopicMatches(key, key), "pattern of " + length);
                Check.True(Engine.TopicMatches("*." + key, "é." + key), "after a word that is not ASCII, " + length);
                using (var pattern = new TopicPattern("x." + key))
                using (var matcher = new TopicMatcher())
                {
                    matcher.Insert("x." + key, 3);
                    Check.True(pattern.Matches("x." + key), "compiled, " + length);
                    Check.Equal(new[] { 3 }, matcher.Matches("x." + key));
                }
            }
        }

        public static void EveryWayOfMatchingAgreesWithTheRule()
        {
            var random = new Random(12);
            var words = new[] { "a", "b", "é", "", "*", "#" };
            Func<int, string> text = most => string.Join(".", Enumerable.Range(0, random.Next(1, 6)).Select(_ => words[random.Next(most)]));
            for (var round = 0; round < 300; round++)
            {
                var patterns = Enumerable.Range(0, 20).Select(_ => text(6)).Distinct().ToList();
                var keys = Enumerable.Range(0, 20).Select(_ => text(4)).ToList();
                using (var matcher = new TopicMatcher())
                {
                    for (var index = 0; index < patterns.Count; index++)
                    {
                        Check.True(matcher.Insert(patterns[index], index), "a new binding");
                    }
                    Check.Equal(patterns.Count, matcher.Count);
                    var expected = keys.Select(key => Enumerable.Range(0, patterns.Count).Where(index => Expected(patterns[index], key))).ToList();
                    Check.Equal(expected, keys.Select(matcher.Matches).ToList());
                    Check.Equal(expected, matcher.MatchesAll(keys));
                }
                using (var pattern = new TopicPattern(patterns[0]))
                {
                    var expected = keys.Select(key => Expected(patterns[0], key)).ToArray();
                    Check.Equal(expected, keys.Select(key => Engine.TopicMatches(patterns[0], key)).ToArray());
                    Check.Equal(expected, keys.Select(pattern.Matches).ToArray());
                    Check.Equal(expected, keys.Select(key => pattern.Matches(Encoding.UTF8.GetBytes(key))).ToArray());
                    Check.Equal(expected, pattern.MatchesAll(keys));
                    Check.Equal(patterns[0], pattern.ToString());
                }
            }
        }

        public static void AMatcherTakesBindingsInAndOut()
        {
            using (var matcher = new TopicMatcher())
            {
                Check.True(matcher.Insert("a.*", 5) && matcher.Insert("a.#", 5) && matcher.Insert("#", 2), "three bindings");
                Check.True(!matcher.Insert("#", 2), "it already was");
                Check.Equal(new[] { 2, 5 }, matcher.Matches("a.b"));
                Check.True(matcher.Remove("a.*", 5) && !matcher.Remove("a.*", 5), "out once");
                Check.Equal(new[] { 2, 5 }, matcher.Matches("a.b"));
                Check.True(matcher.Remove("a.#", 5), "out");
                Check.Equal(new[] { 2 }, matcher.Matches("a.b"));
                Check.Equal(long.MaxValue, matcher.Insert("x", long.MaxValue) ? matcher.Matches("x").Last() : 0);
                Check.Throws<ArgumentOutOfRangeException>(() => matcher.Insert("a", -1));
                Check.Throws<ArgumentNullException>(() => matcher.Matches(null));
                Check.Throws<ArgumentException>(() => matcher.MatchesAll(new[] { "a", null }));
            }
        }

        public static void ThousandsOfMatchesComeWhole()
        {
            using (var matcher = new TopicMatcher())
            {
                for (var value = 0; value < 5000; value++)
                {
                    matcher.Insert("#", value);
                }
                Check.True(matcher.Matches("a.b").SequenceEqual(Enumerable.Range(0, 5000).Select(value => (long)value)), "all of them");
                var room = new long[10];
                Check.Equal(5000, matcher.Matches("a.b", room));
                Check.True(room.SequenceEqual(Enumerable.Range(0, 10).Select(value => (long)value)), "as many as there is room for");
                var batch = matcher.MatchesAll(new[] { "a", "b", "c" });
                Check.True(batch.All(values => values.Length == 5000), "in a batch too");
            }
            using (var empty = new TopicMatcher())
            using (var pattern = new TopicPattern("#"))
            {
                Check.Equal(0, empty.Matches("a").Length);
                Check.Equal(new object[0], empty.MatchesAll(new string[0]));
                Check.Equal(new object[0], pattern.MatchesAll(new List<string>()));
                Check.Equal(new[] { true }, pattern.MatchesAll(new[] { "" }));
            }
        }
    }
}
