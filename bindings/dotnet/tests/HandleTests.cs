using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;

namespace AceMq.Core.Tests
{
    /// <summary>Handles that are shared, disposed twice, disposed while others call, or forgotten.</summary>
    internal static class HandleTests
    {
        private static readonly Topology Small = Topology.Builder().Exchange("e", "topic").Queue("q").Bind("q", "e", "a.*").Build();

        /// <summary>One of each class with a call that it answers.</summary>
        private static IEnumerable<KeyValuePair<IDisposable, Action>> Each()
        {
            var policy = RetryPolicy.Parse("exponential(6, 10s)");
            yield return Pair(policy, () => policy.Decide(3));
            var ladder = MakeLadder();
            yield return Pair(ladder, () => ladder.RungFor(TimeSpan.FromSeconds(40)));
            var pattern = new TopicPattern("a.*");
            yield return Pair(pattern, () => pattern.Matches("a.b"));
            var matcher = new TopicMatcher();
            matcher.Insert("a.*", 1);
            yield return Pair(matcher, () => matcher.Matches("a.b"));
            var session = new PlanSession(Small);
            yield return Pair(session, () => session.Questions());
            var router = new Router(Small);
            yield return Pair(router, () => router.Route("e", "a.b"));
            var broker = new EmbeddedBroker(new EmbeddedBrokerSettings { Topology = Small });
            yield return Pair(broker, () => broker.Contents("q"));
        }

        private static Ladder MakeLadder()
        {
            using (var policy = RetryPolicy.Parse("exponential(6, 10s)"))
            {
                return new Ladder("orders", policy);
            }
        }

        private static KeyValuePair<IDisposable, Action> Pair(IDisposable handle, Action call)
        {
            return new KeyValuePair<IDisposable, Action>(handle, call);
        }

        public static void DisposingTwiceIsAllowedAndCallingAfterwardsIsNot()
        {
            foreach (var each in Each())
            {
                each.Value();
                each.Key.Dispose();
                each.Key.Dispose();
                Check.Throws<ObjectDisposedException>(each.Value);
            }
        }

        public static void ManyThreadsShareAHandle()
        {
            foreach (var each in Each())
            {
                InThreads(8, _ =>
                {
                    for (var round = 0; round < 300; round++)
                    {
                        each.Value();
                    }
                });
                each.Key.Dispose();
            }
        }

        public static void AHandleIsDisposedWhileOthersCall()
        {
            for (var round = 0; round < 20; round++)
            {
                foreach (var each in Each())
                {
                    var calling = 0;
                    InThreads(4, thread =>
                    {
                        if (thread == 0)
                        {
                            SpinWait.SpinUntil(() => Volatile.Read(ref calling) == 3);
                            each.Key.Dispose();
                            return;
                        }
                        Check.Throws<ObjectDisposedException>(() =>
                        {
                            each.Value();
                            Interlocked.Increment(ref calling);
                            while (true)
                            {
                                each.Value();
                            }
                        });
                    });
                }
            }
        }

        public static void AMatcherChangesWhileOthersMatch()
        {
            using (var matcher = new TopicMatcher())
            {
                matcher.Insert("#", 0);
                InThreads(4, thread =>
                {
                    for (var round = 0; round < 200; round++)
                    {
                        if (thread == 0)
                        {
                            for (var value = 1; value < 100; value++)
                            {
                                Check.True(round % 2 == 0 ? matcher.Insert("a.#", value) : matcher.Remove("a.#", value), "in and out");
                            }
                            continue;
                        }
                        var values = matcher.Matches("a.b");
                        Check.True(values[0] == 0 && values.Length <= 100, "what is there");
                    }
                });
            }
        }

        public static void WhatIsForgottenIsFreed()
        {
            var forgotten = Forget();
            for (var round = 0; round < 10 && forgotten.Any(reference => reference.IsAlive); round++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            Check.True(forgotten.All(reference => !reference.IsAlive), "all were collected, and the process lives");
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static List<WeakReference> Forget()
        {
            var forgotten = new List<WeakReference>();
            for (var round = 0; round < 100; round++)
            {
                foreach (var each in Each())
                {
                    each.Value();
                    forgotten.Add(new WeakReference(each.Key));
                }
            }
            return forgotten;
        }

        /// <summary>Runs in so many threads at once; the first exception of any comes out here.</summary>
        internal static void InThreads(int count, Action<int> run)
        {
            Exception failure = null;
            using (var start = new ManualResetEventSlim())
            {
                var threads = Enumerable.Range(0, count).Select(number => new Thread(() =>
                {
                    start.Wait();
                    try
                    {
                        run(number);
                    }
                    catch (Exception error)
                    {
                        Interlocked.CompareExchange(ref failure, error, null);
                    }
                })).ToList();
                threads.ForEach(thread => thread.Start());
                start.Set();
                threads.ForEach(thread => thread.Join());
            }
            if (failure != null)
            {
                throw new Exception("in a thread", failure);
            }
        }
    }
}
