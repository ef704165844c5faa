using System;
using System.Collections.Generic;
using System.Linq;

namespace AceMq.Core.Tests
{
    /// <summary>What is called for every message says the same as the table of operations.</summary>
    internal static class HotCallTests
    {
        private static readonly string[] Policies =
        {
            "none()", "fixed(1, 0)", "fixed(4, 30s)", "exponential(6, 10s)", "exponential(9, 100ms, 40s).jitter(0.5)",
            "exponential(5, 45s).give_up_after(10m).multiplier(1.25)", "fixed(3, 2s).wait_in_broker_from(1s)", "exponential(70, 1s).wait_in_broker_from(0)",
        };

        private static Dictionary<string, object> Input(params object[] namesAndValues)
        {
            var input = new Dictionary<string, object>();
            for (var index = 0; index < namesAndValues.Length; index += 2)
            {
                if (namesAndValues[index + 1] != null)
                {
                    input.Add((string)namesAndValues[index], namesAndValues[index + 1]);
                }
            }
            return input;
        }

        public static void Decisions()
        {
            var random = new Random(3);
            foreach (var text in Policies)
            {
                using (var policy = RetryPolicy.Parse(text))
                using (var ladder = new Ladder("orders", policy))
                {
                    for (var round = 0; round < 100; round++)
                    {
                        var attempt = random.Next(0, 12);
                        var age = round % 3 == 0 ? (TimeSpan?)null : TimeSpan.FromMilliseconds(random.Next(1200000));
                        var u = random.NextDouble();
                        var decision = policy.Decide(attempt, age, u);
                        var table = Engine.Call("retry.decide", Input(
                            "policy", text, "attempt", attempt, "age_ms", age.HasValue ? (object)(long)age.Value.TotalMilliseconds : null, "u", u, "queue", "orders"));
                        Check.Equal(table["retry"], decision.Retry);
                        Check.Equal(table["reason"], new[] { null, "attempts_exhausted", "too_old" }[(int)decision.Reason]);
                        Check.Equal(table["wait_ms"], decision.WaitMilliseconds);
                        Check.Equal(table["in_broker"], decision.InBroker);
                        Check.Equal(table["rung"], ladder.RungOf(decision)?.Name);
                        Check.Equal(table["give_up_text"], decision.GiveUpText);
                    }
                }
            }
        }

        public static void Rungs()
        {
            var random = new Random(4);
            foreach (var text in Policies)
            {
                using (var policy = RetryPolicy.Parse(text))
                using (var ladder = new Ladder("orders", policy))
                {
                    for (var round = 0; round < 100; round++)
                    {
                        var delay = TimeSpan.FromMilliseconds(random.Next(1 << random.Next(1, 31)));
                        var table = Engine.Call("retry.rung_for", Input("policy", text, "delay_ms", (long)delay.TotalMilliseconds, "queue", "orders"));
                        Check.Equal(table["rung"], ladder.RungFor(delay)?.Name);
                        var rung = policy.RungFor(delay);
                        Check.Equal(table["delay_ms"], rung.HasValue ? (object)(long)rung.Value.TotalMilliseconds : null);
                    }
                }
            }
        }

        public static void SchedulesAndLadders()
        {
            foreach (var text in Policies)
            {
                using (var policy = RetryPolicy.Parse(text))
                using (var ladder = new Ladder("orders", policy))
                {
                    var table = Engine.Call("retry.schedule", Input("policy", text, "count", 1000));
                    Check.Equal(table["delays_ms"], policy.Schedule.Select(delay => (long)delay.TotalMilliseconds).ToList());
                    Check.Equal(Engine.Call("retry.policy", Input("policy", text)), policy.Document);
                    Check.Equal(Engine.Call("retry.ladder", Input("policy", text, "queue", "orders")), ladder.Document);
                    Check.Equal(policy.Document["broker_rungs_ms"], policy.BrokerDelays.Select(delay => (long)delay.TotalMilliseconds).ToList());
                }
            }
        }

        public static void NamesAndDurations()
        {
            foreach (var queue in new[] { "orders", "größe", "a b", new string('q', 200) })
            {
                var table = Engine.Call("name.implied", Input("queue", queue));
                Check.Equal(table["dead_letter_queue"], Engine.DeadLetterQueue(queue));
                Check.Equal(table["parked_queue"], Engine.ParkedQueue(queue));
                foreach (var milliseconds in new ulong[] { 1, 999, 1000, 90000, 3600000, 86400001, ulong.MaxValue })
                {
                    var rung = Engine.Call("name.retry_queue", Input("queue", queue, "delay_ms", milliseconds));
                    Check.Equal(rung["name"], Engine.RetryQueue(queue, milliseconds));
                    var text = (string)Engine.Call("name.delay", Input("delay_ms", milliseconds))["text"];
                    Check.Equal(text, Engine.DelayText(milliseconds));
                    Check.Equal(Engine.Call("duration.parse", Input("text", text))["ms"], Engine.ParseMilliseconds(text));
                }
            }
        }

        public static void Topics()
        {
            var patterns = new[] { "#", "*", "a.*", "a.#.b", "#.b", "", "a..b", "é.#" };
            var keys = new[] { "", "a", "a.b", "a.x.b", "a..b", "é", "é.b", "." };
            var table = (IReadOnlyList<object>)Engine.Call("topic.match_all", Input("patterns", patterns, "keys", keys))["matches"];
            using (var matcher = new TopicMatcher())
            {
                for (var index = 0; index < patterns.Length; index++)
                {
                    matcher.Insert(patterns[index], index);
                    foreach (var key in keys)
                    {
                        Check.Equal(
                            Engine.Call("topic.match", Input("pattern", patterns[index], "key", key))["matches"],
                            Engine.TopicMatches(patterns[index], key));
                    }
                }
                Check.Equal(table, matcher.MatchesAll(keys));
                Check.Equal(table, keys.Select(matcher.Matches).ToList());
            }
        }
    }
}
