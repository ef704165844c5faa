using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Linq;
using AceMq.Core;

namespace Benchmark
{
    /// <summary>Nanoseconds per call of the engine against the same work in C#: the best of several rounds of each.</summary>
    internal static class Program
    {
        private const string Pattern = "stock.*.nyse.#";
        private const string Key = "stock.us.nyse.ibm.trades";
        private const int Bindings = 10000;
        private const int Batch = 1000;

        private static int sink;

        private static int Main()
        {
            Console.WriteLine("libacemq " + Engine.Version + ", .NET " + Environment.Version);
            Console.WriteLine("{0,-46} {1,10} {2,10} {3,14}", "", "engine ns", "C# ns", "engine / C#");
            using (var pattern = new TopicPattern(Pattern))
            using (var policy = RetryPolicy.Parse("exponential(6, 10s)"))
            {
                Row("match, pattern and key", () => Count(Engine.TopicMatches(Pattern, Key)), () => Count(PureMatcher.Matches(Pattern, Key)));
                Row("match, compiled pattern", () => Count(pattern.Matches(Key)), () => Count(PureMatcher.Matches(Pattern, Key)));

                var keys = Enumerable.Range(0, Batch).Select(index => "stock.us.nyse.s" + index + ".trades").ToArray();
                Row(
                    "match, batch of " + Batch + ", per key",
                    () => sink += pattern.MatchesAll(keys).Length,
                    () =>
                    {
                        foreach (var key in keys)
                        {
                            Count(PureMatcher.Matches(Pattern, key));
                        }
                    },
                    Batch);

                var pure = new PureRetry(6, 10000, 0.2);
                Row("decide", () => Count(policy.Decide(2, u: 0.3).Retry), () => Count(pure.Decide(2, 0.3).HasValue));
                Row("name of a dead-letter queue", () => sink += Engine.DeadLetterQueue("orders.new").Length, () => sink += Plus("orders.new", ".dlq").Length);
            }
            Matcher();
            return 0;
        }

        private static string Plus(string queue, string suffix)
        {
            return queue + suffix;
        }

        /// <summary>10,000 bindings as services have them: a region, an order state, and every hundredth with a hash.</summary>
        private static void Matcher()
        {
            var patterns = Enumerable.Range(0, Bindings)
                .Select(index => index % 100 == 0 ? "region" + index + ".#" : index % 2 == 0 ? "region" + index + ".*.paid" : "*.order" + index + ".paid")
                .ToArray();
            var keys = Enumerable.Range(0, 100).Select(index => "region" + index * 98 + ".order" + (index * 98 + 1) + ".paid").ToArray();
            using (var matcher = new TopicMatcher())
            {
                for (var index = 0; index < patterns.Length; index++)
                {
                    matcher.Insert(patterns[index], index);
                }
                foreach (var key in keys)
                {
                    if (!matcher.Matches(key).SequenceEqual(Scan(patterns, key)))
                    {
                        throw new InvalidOperationException("matcher and scan disagree about " + key);
                    }
                }
                var room = new long[64];
                var ratio = Row(
                    "matcher, " + Bindings + " bindings, against a scan",
                    () =>
                    {
                        foreach (var key in keys)
                        {
                            sink += matcher.Matches(key, room);
                        }
                    },
                    () =>
                    {
                        foreach (var key in keys)
                        {
                            sink += Scan(patterns, key).Count;
                        }
                    },
                    keys.Length);
                Row(
                    "the same, batch of " + keys.Length + ", per key",
                    () => sink += matcher.MatchesAll(keys).Length,
                    () =>
                    {
                        foreach (var key in keys)
                        {
                            sink += Scan(patterns, key).Count;
                        }
                    },
                    keys.Length);
                Console.WriteLine("matcher: " + (1 / ratio).ToString("0", CultureInfo.InvariantCulture) + " times faster than a linear scan");
            }
        }

        private static List<long> Scan(string[] patterns, string key)
        {
            var found = new List<long>();
            for (var index = 0; index < patterns.Length; index++)
            {
                if (PureMatcher.Matches(patterns[index], key))
                {
                    found.Add(index);
                }
            }
            return found;
        }

        private static void Count(bool yes)
        {
            if (yes)
            {
                sink++;
            }
        }

        /// <summary>Prints a row; gives how long the engine takes, of what C# takes.</summary>
        private static double Row(string what, Action engine, Action pure, int per = 1)
        {
            var engineNs = double.MaxValue;
            var pureNs = double.MaxValue;
            var engineRounds = Rounds(engine);
            var pureRounds = Rounds(pure);
            // In turns and in slices short enough to run undisturbed, so that the best of them are right on a busy machine too.
            var limit = Stopwatch.StartNew();
            for (var round = 0; round < 3 || (round < 300 && limit.ElapsedMilliseconds < 2000); round++)
            {
                engineNs = Math.Min(engineNs, Time(engine, engineRounds) / per);
                pureNs = Math.Min(pureNs, Time(pure, pureRounds) / per);
            }
            Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{0,-46} {1,10:0.0} {2,10:0.0} {3,14:0.0000}", what, engineNs, pureNs, engineNs / pureNs));
            return engineNs / pureNs;
        }

        /// <summary>How often to call for a millisecond or two, found after enough calls to have it compiled well.</summary>
        private static int Rounds(Action call)
        {
            // What was called often enough is compiled again in the background; a second is plenty.
            for (var warm = Stopwatch.StartNew(); warm.ElapsedMilliseconds < 700;)
            {
                call();
            }
            var watch = Stopwatch.StartNew();
            var rounds = 0;
            while (watch.ElapsedMilliseconds < 300)
            {
                call();
                rounds++;
            }
            return Math.Max(1, rounds / 200);
        }

        private static double Time(Action call, int rounds)
        {
            var watch = Stopwatch.StartNew();
            for (var round = 0; round < rounds; round++)
            {
                call();
            }
            return watch.Elapsed.TotalMilliseconds * 1e6 / rounds;
        }
    }
}
