using System;
using System.Diagnostics;

namespace AceMq.Core.Tests
{
    /// <summary>Loops after which the process is as large as before.</summary>
    internal static class Memory
    {
        /// <summary>What the collector and the allocator may keep; a leak of 100 bytes a round is more in every loop.</summary>
        private const long Allowed = 8 << 20;

        public static void AMillionHotCalls()
        {
            using (var policy = RetryPolicy.Parse("exponential(6, 10s)"))
            using (var ladder = new Ladder("orders", policy))
            using (var pattern = new TopicPattern("orders.*.eu.#"))
            using (var matcher = new TopicMatcher())
            {
                matcher.Insert("orders.#", 1);
                Loop("hot calls", 1000000, round =>
                {
                    Engine.TopicMatches("orders.*.eu.#", "orders.created.eu.paid");
                    pattern.Matches("orders.created.eu.paid");
                    matcher.Matches("orders.created.eu.paid");
                    ladder.RungOf(policy.Decide(round % 8));
                    Engine.DeadLetterQueue("orders");
                });
            }
        }

        public static void AHundredThousandErrors()
        {
            Loop("errors", 100000, round =>
            {
                try
                {
                    Engine.DelayText(0);
                }
                catch (AceMqException)
                {
                }
            });
        }

        public static void AHundredThousandPolicies()
        {
            Loop("policies and ladders", 100000, _ =>
            {
                using (var policy = RetryPolicy.Parse("exponential(6, 10s)"))
                using (new Ladder("orders", policy))
                {
                }
            });
        }

        public static void AHundredThousandMatchers()
        {
            Loop("patterns and matchers", 100000, _ =>
            {
                using (new TopicPattern("orders.*.eu.#"))
                using (var matcher = new TopicMatcher())
                {
                    matcher.Insert("orders.#", 1);
                }
            });
        }

        public static void AHundredThousandHandlesOfDocuments()
        {
            var topology = Topology.Builder().Exchange("e", "topic").Queue("q").Bind("q", "e", "a.*").Build();
            Loop("sessions, routers and brokers", 100000, _ =>
            {
                using (new PlanSession(topology))
                using (new Router(topology))
                using (new EmbeddedBroker())
                {
                }
            });
        }

        private static void Loop(string what, int rounds, Action<int> run)
        {
            for (var round = 0; round < rounds / 5; round++)
            {
                run(round);
            }
            var before = Resident();
            var watch = Stopwatch.StartNew();
            for (var round = 0; round < rounds; round++)
            {
                run(round);
            }
            watch.Stop();
            var grown = Resident() - before;
            Console.WriteLine(rounds + " rounds of " + what + ": " + grown / 1024 + " KiB more after " + watch.ElapsedMilliseconds + " ms");
            Check.True(grown <= Allowed, what + ": the process grew by " + grown + " bytes");
        }

        private static long Resident()
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            // Aggressive, from .NET 7 on: gives back what the collector keeps for later, up to a processor's cache of it.
            GC.Collect(GC.MaxGeneration, (GCCollectionMode)3, true, true);
            using (var process = Process.GetCurrentProcess())
            {
                return process.WorkingSet64;
            }
        }
    }
}
