using System;
using System.Collections.Generic;
using System.Linq;

namespace AceMq.Core.Tests
{
    internal static class RetryTests
    {
        private static TimeSpan Seconds(int seconds)
        {
            return TimeSpan.FromSeconds(seconds);
        }

        public static void APolicyIsBuiltAsItsTextSays()
        {
            using (var built = RetryPolicy.Exponential(
                6, Seconds(10), Seconds(300), 1.5m, jitter: 0.1, giveUpAfter: TimeSpan.FromHours(2), waitInBrokerFrom: Seconds(60)))
            using (var parsed = RetryPolicy.Parse("exponential(6, 10s, 5m).multiplier(1.5).jitter(0.1).give_up_after(2h).wait_in_broker_from(1m)"))
            {
                Check.Equal(parsed.Text, built.Text);
                Check.True(built.Equals(parsed) && built.GetHashCode() == parsed.GetHashCode(), "equal policies are equal");
                Check.Equal("exponential", built.Kind);
                Check.Equal(6, built.MaxAttempts);
                Check.Equal(Seconds(10), built.First);
                Check.Equal(Seconds(300), built.Cap);
                Check.Equal(1.5m, built.Multiplier);
                Check.Equal(0.1, built.Jitter);
                Check.Equal(TimeSpan.FromHours(2), built.GiveUpAfter);
                Check.Equal(Seconds(60), built.WaitInBrokerFrom);
            }
            using (var none = RetryPolicy.None())
            using (var plain = RetryPolicy.Fixed(3, Seconds(30)))
            {
                Check.Equal("none()", none.Text);
                Check.Equal(null, none.First);
                Check.Equal("fixed(3, 30s)", plain.Text);
                Check.Equal(0.0, plain.Jitter);
                Check.Equal(Seconds(30), plain.WaitInBrokerFrom);
            }
        }

        public static void AllProblemsOfAPolicyComeAtOnce()
        {
            var error = Check.Throws<AceMqException>(() => RetryPolicy.Exponential(0, Seconds(10), cap: Seconds(5), jitter: 1.5));
            Check.Equal(3, error.Problems.Count);
            Check.Equal("attempts_too_few", error.Code);
            Check.Throws<AceMqException>(() => RetryPolicy.Fixed(-1, Seconds(1)));
            Check.Refuses("duration_not_whole", () => RetryPolicy.Fixed(3, TimeSpan.FromTicks(12345)));
            Check.Throws<ArgumentException>(() => RetryPolicy.Fixed(3, Seconds(1), jitter: double.NaN));
        }

        public static void TheScheduleDoublesUpToTheCap()
        {
            using (var policy = RetryPolicy.Exponential(6, Seconds(10), Seconds(60)))
            {
                Check.True(policy.Schedule.SequenceEqual(new[] { Seconds(10), Seconds(20), Seconds(40), Seconds(60), Seconds(60) }), "schedule");
                Check.True(policy.BrokerDelays.SequenceEqual(new[] { Seconds(40), Seconds(60) }), "broker delays");
                Check.Equal(Seconds(20), policy.Delay(1));
                Check.Throws<ArgumentOutOfRangeException>(() => policy.Delay(5));
                Check.Throws<ArgumentOutOfRangeException>(() => policy.Delay(-1));
            }
        }

        public static void TheLongestScheduleCostsALookUp()
        {
            using (var policy = RetryPolicy.Parse("exponential(4294967295, 1s)"))
            {
                Check.Equal(uint.MaxValue, policy.MaxAttempts);
                // 315 360 000 000 ms is RabbitMQ's limit, ten years.
                Check.Equal(TimeSpan.FromDays(3650), policy.Delay(4294967293));
                Check.True(policy.Schedule.Take(3).SequenceEqual(new[] { Seconds(1), Seconds(2), Seconds(4) }), "the first waits");
            }
        }

        public static void ADecisionSaysWhereTheMessageWaits()
        {
            using (var policy = RetryPolicy.Parse("exponential(6, 10s).give_up_after(1h)"))
            {
                var decision = policy.Decide(1, u: 0.75);
                // 10 s and half of a fifth more.
                Check.Equal(TimeSpan.FromSeconds(11), decision.Wait);
                Check.True(decision.Retry && !decision.InBroker && decision.RungIndex == -1, "in the consumer");

                decision = policy.Decide(3, age: TimeSpan.FromMinutes(59));
                Check.Equal(Seconds(40), decision.Wait);
                Check.True(decision.Retry && decision.InBroker && decision.RungIndex == 0, "on the first rung");

                decision = policy.Decide(6);
                Check.True(!decision.Retry && decision.Reason == GiveUpReason.AttemptsExhausted, "the last attempt");
                Check.Equal("exhausted 6 attempts", decision.GiveUpText);

                decision = policy.Decide(2, age: TimeSpan.FromHours(1));
                Check.Equal(GiveUpReason.TooOld, decision.Reason);
                Check.Equal("older than 1h", decision.GiveUpText);
                Check.Equal("older than 1h", policy.GiveUpText(GiveUpReason.TooOld));

                Check.Refuses("random_out_of_range", () => policy.Decide(1, u: 1.0));
                Check.Refuses("random_out_of_range", () => policy.Decide(1, u: double.NaN));
                Check.Throws<ArgumentOutOfRangeException>(() => policy.Decide(-1));
                Check.Refuses("duration_negative", () => policy.Decide(1, TimeSpan.FromSeconds(-1)));
            }
        }

        public static void ALadderHasARungForEachWaitInTheBroker()
        {
            using (var policy = RetryPolicy.Exponential(6, Seconds(10)))
            using (var ladder = new Ladder("orders", policy))
            {
                Check.Equal("orders.retry.40s,orders.retry.80s,orders.retry.160s", string.Join(",", ladder.Rungs));
                var rung = ladder.Rungs[0];
                Check.Equal(Seconds(40), rung.Delay);
                Check.Equal("queue", rung.Declaration.Kind);
                Check.True(rung.Declaration.Durable, "rungs are durable");
                var arguments = new Dictionary<string, object>
                {
                    { "x-message-ttl", 40000 }, { "x-dead-letter-exchange", "acemq.retry" }, { "x-dead-letter-routing-key", "orders" },
                };
                Check.Equal(arguments, rung.Declaration.Arguments);
                Check.Equal("acemq.retry", ladder.Exchange.Name);
                Check.Equal("direct", ladder.Exchange.Type);
                Check.Equal("acemq.retry", ladder.Binding.Source);
                Check.Equal("orders", ladder.Binding.Destination);
                Check.Equal("orders", ladder.Binding.RoutingKey);

                Check.Equal(null, ladder.RungFor(Seconds(29)));
                Check.Equal("orders.retry.40s", ladder.RungFor(Seconds(30)).Name);
                Check.Equal("orders.retry.80s", ladder.RungFor(Seconds(41)).Name);
                Check.Equal("orders.retry.160s", ladder.RungFor(TimeSpan.FromHours(9)).Name);
                Check.Equal("orders.retry.80s", ladder.RungOf(policy.Decide(4)).Name);
                Check.Equal(null, ladder.RungOf(policy.Decide(1)));
                Check.Equal(Seconds(80), policy.RungFor(Seconds(41)));
                Check.Equal(null, policy.RungFor(Seconds(1)));
            }
        }

        public static void ALadderOutlivesItsPolicy()
        {
            Ladder ladder;
            using (var policy = RetryPolicy.Exponential(6, Seconds(10)))
            {
                ladder = new Ladder("orders", policy);
            }
            using (ladder)
            {
                Check.Equal("orders.retry.40s", ladder.RungFor(Seconds(40)).Name);
            }
        }

        public static void WithoutWaitsInTheBrokerThereIsNoLadder()
        {
            using (var policy = RetryPolicy.Fixed(3, Seconds(1)))
            using (var ladder = new Ladder("orders", policy))
            {
                Check.Equal(0, ladder.Rungs.Count);
                Check.Equal(null, ladder.Exchange);
                Check.Equal(null, ladder.Binding);
                Check.Equal(null, ladder.RungFor(TimeSpan.FromHours(1)));
            }
        }
    }
}
