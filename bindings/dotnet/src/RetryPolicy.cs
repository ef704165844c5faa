using System;
using System.Collections.Generic;
using System.Linq;
using AceMq.Core.Json;
using AceMq.Core.Native;

namespace AceMq.Core
{
    /// <summary>When a message whose handling failed is tried again, and where it waits.</summary>
    /// <remarks>
    /// It never changes and may be shared between threads. Dispose it when it is no longer used; the finalizer does it else.
    /// <code>
    /// using (var policy = RetryPolicy.Exponential(6, TimeSpan.FromSeconds(10), cap: TimeSpan.FromMinutes(5)))
    /// {
    ///     var decision = policy.Decide(3, u: random.NextDouble());
    /// }
    /// </code>
    /// </remarks>
    public sealed unsafe class RetryPolicy : IDisposable, IEquatable<RetryPolicy>
    {
        private readonly RetryPolicyHandle handle;

        private RetryPolicy(RetryPolicyHandle handle)
        {
            this.handle = handle;
            var status = NativeMethods.acemq_retry_policy_document(handle, out var text, out var error);
            var document = (JsonObject)JsonReader.Read(Interop.Take(status, ref text, error));
            Document = document;
            Text = document.Text("text");
            MaxAttempts = (uint)document.Number("max_attempts");
        }

        internal RetryPolicyHandle Handle
        {
            get { return handle; }
        }

        /// <summary>A policy from its text, as in <c>exponential(6, 10s, 5m).jitter(0.1)</c>.</summary>
        /// <exception cref="AceMqException">Everything that is wrong with it.</exception>
        public static RetryPolicy Parse(string text)
        {
            NativeLoader.Require();
            var bytes = Interop.Bytes(text, nameof(text));
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_retry_policy_parse(pointer, Interop.Size(bytes.Length), out var handle, out var error);
                return Made(status, handle, error);
            }
        }

        /// <summary>A policy as a topology document writes it: a text, or a mapping with the same keys.</summary>
        /// <exception cref="AceMqException">Everything that is wrong with it.</exception>
        public static RetryPolicy FromDocument(object document)
        {
            NativeLoader.Require();
            var bytes = Interop.Bytes(JsonWriter.Write(document), nameof(document));
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_retry_policy_from_json(pointer, Interop.Size(bytes.Length), out var handle, out var error);
                return Made(status, handle, error);
            }
        }

        private static RetryPolicy Made(int status, RetryPolicyHandle handle, IntPtr error)
        {
            Interop.Check(status, error);
            try
            {
                return new RetryPolicy(handle);
            }
            catch
            {
                handle.Dispose();
                throw;
            }
        }

        /// <summary>No retries: the first failure is the last.</summary>
        public static RetryPolicy None()
        {
            return FromDocument(new Dictionary<string, object> { { "none", JsonObject.Empty } });
        }

        /// <summary>The same wait before every retry.</summary>
        /// <param name="attempts">Deliveries, the first one included.</param>
        /// <param name="delay">The wait.</param>
        /// <param name="jitter">The random part of a wait in the consumer, from 0 to 1; none unless said.</param>
        /// <param name="giveUpAfter">The age from which on a message is not tried again.</param>
        /// <param name="waitInBrokerFrom">From which wait on it is spent in the broker; zero for never, 30 seconds unless said.</param>
        /// <exception cref="AceMqException">Everything that is wrong with it.</exception>
        public static RetryPolicy Fixed(
            long attempts, TimeSpan delay, double? jitter = null, TimeSpan? giveUpAfter = null, TimeSpan? waitInBrokerFrom = null)
        {
            var body = new Dictionary<string, object> { { "attempts", attempts }, { "delay", Durations.ToText(delay) } };
            return FromDocument(WithOptions("fixed", body, jitter, giveUpAfter, waitInBrokerFrom));
        }

        /// <summary>Each wait a multiple of the one before.</summary>
        /// <param name="attempts">Deliveries, the first one included.</param>
        /// <param name="first">The first wait.</param>
        /// <param name="cap">The longest wait.</param>
        /// <param name="multiplier">From 1 to 1000 with at most three decimals; 2 unless said.</param>
        /// <param name="jitter">The random part of a wait in the consumer, from 0 to 1; 0.2 unless said.</param>
        /// <param name="giveUpAfter">The age from which on a message is not tried again.</param>
        /// <param name="waitInBrokerFrom">From which wait on it is spent in the broker; zero for never, 30 seconds unless said.</param>
        /// <exception cref="AceMqException">Everything that is wrong with it.</exception>
        public static RetryPolicy Exponential(
            long attempts,
            TimeSpan first,
            TimeSpan? cap = null,
            decimal? multiplier = null,
            double? jitter = null,
            TimeSpan? giveUpAfter = null,
            TimeSpan? waitInBrokerFrom = null)
        {
            var body = new Dictionary<string, object> { { "attempts", attempts }, { "first", Durations.ToText(first) } };
            AddDuration(body, "cap", cap);
            Engine.Add(body, "multiplier", multiplier);
            return FromDocument(WithOptions("exponential", body, jitter, giveUpAfter, waitInBrokerFrom));
        }

        private static Dictionary<string, object> WithOptions(
            string kind, Dictionary<string, object> body, double? jitter, TimeSpan? giveUpAfter, TimeSpan? waitInBrokerFrom)
        {
            var document = new Dictionary<string, object> { { kind, body } };
            Engine.Add(document, "jitter", jitter);
            AddDuration(document, "give_up_after", giveUpAfter);
            AddDuration(document, "wait_in_broker_from", waitInBrokerFrom);
            return document;
        }

        private static void AddDuration(Dictionary<string, object> document, string name, TimeSpan? duration)
        {
            if (duration.HasValue)
            {
                document.Add(name, Durations.ToText(duration.Value));
            }
        }

        /// <summary>The canonical text, which <see cref="Parse"/> reads.</summary>
        public string Text { get; }

        /// <summary>The policy with every default said: the output of the operation <c>retry.policy</c>.</summary>
        public IReadOnlyDictionary<string, object> Document { get; }

        private JsonObject Said
        {
            get { return (JsonObject)Document; }
        }

        /// <summary><c>none</c>, <c>fixed</c> or <c>exponential</c>.</summary>
        public string Kind
        {
            get { return Said.Text("kind"); }
        }

        /// <summary>Deliveries, the first one included.</summary>
        public long MaxAttempts { get; }

        /// <summary>The first wait; <c>null</c> without retries.</summary>
        public TimeSpan? First
        {
            get { return Said.OptionalMilliseconds("first_ms"); }
        }

        /// <summary>The longest wait of an exponential policy, where it has one.</summary>
        public TimeSpan? Cap
        {
            get { return Said.OptionalMilliseconds("cap_ms"); }
        }

        /// <summary>The multiplier of an exponential policy.</summary>
        public decimal? Multiplier
        {
            get
            {
                var thousandths = Said.OptionalNumber("multiplier_thousandths");
                return thousandths.HasValue ? thousandths.Value / 1000m : (decimal?)null;
            }
        }

        /// <summary>The random part of a wait in the consumer.</summary>
        public double Jitter
        {
            get { return Convert.ToDouble(Said["jitter"], System.Globalization.CultureInfo.InvariantCulture); }
        }

        /// <summary>The age from which on a message is not tried again; <c>null</c> without one.</summary>
        public TimeSpan? GiveUpAfter
        {
            get { return Said.OptionalMilliseconds("max_age_ms"); }
        }

        /// <summary>From which wait on it is spent in the broker; zero for never.</summary>
        public TimeSpan WaitInBrokerFrom
        {
            get { return Durations.FromMilliseconds(Said.Number("threshold_ms")); }
        }

        /// <summary>The waits that are spent in the broker, shortest first: at most 64.</summary>
        public IReadOnlyList<TimeSpan> BrokerDelays
        {
            get { return Said.List("broker_rungs_ms").Select(delay => Durations.FromMilliseconds(Convert.ToUInt64(delay))).ToList().AsReadOnly(); }
        }

        /// <summary>How many waits there are: one fewer than attempts.</summary>
        public long Waits
        {
            get { return MaxAttempts - 1; }
        }

        /// <summary>The waits in order, unjittered. They are computed one by one, however many there are.</summary>
        public IEnumerable<TimeSpan> Schedule
        {
            get
            {
                for (long index = 0; index < Waits; index++)
                {
                    yield return Delay(index);
                }
            }
        }

        /// <summary>The wait after attempt <paramref name="index"/> + 1, unjittered.</summary>
        /// <exception cref="ArgumentOutOfRangeException">There is no such wait.</exception>
        public TimeSpan Delay(long index)
        {
            return Durations.FromMilliseconds(DelayMilliseconds(index));
        }

        /// <summary>The same in milliseconds.</summary>
        /// <exception cref="ArgumentOutOfRangeException">There is no such wait.</exception>
        public ulong DelayMilliseconds(long index)
        {
            if (index >= 0 && index <= uint.MaxValue)
            {
                var status = NativeMethods.acemq_retry_policy_delay(handle, (uint)index, out var delay, out var error);
                Interop.Check(status, error);
                if (status != 0)
                {
                    return delay;
                }
            }
            throw new ArgumentOutOfRangeException(nameof(index), index, "there are " + Waits + " waits, counted from 0");
        }

        /// <summary>Decides about a message whose handling failed.</summary>
        /// <param name="attempt">The number of the failed delivery, from 1.</param>
        /// <param name="age">The time since the message was first seen, where that is known; whole milliseconds.</param>
        /// <param name="u">A random number of at least 0 and below 1, for the jitter; 0.5 is none.</param>
        /// <exception cref="AceMqException">A duration or the random number is none.</exception>
        public Decision Decide(long attempt, TimeSpan? age = null, double u = 0.5)
        {
            return Decide(attempt, age.HasValue ? Durations.ToMilliseconds(age.Value) : NativeMethods.AgeUnknown, u);
        }

        internal Decision Decide(long attempt, ulong ageMilliseconds, double u)
        {
            if (attempt < 0 || attempt > uint.MaxValue)
            {
                throw new ArgumentOutOfRangeException(nameof(attempt), attempt, "attempts are counted from 1 up to " + uint.MaxValue);
            }
            var status = NativeMethods.acemq_retry_policy_decide(handle, (uint)attempt, ageMilliseconds, u, out var decision, out var error);
            Interop.Check(status, error);
            return new Decision(decision, decision.Retry != 0 ? null : GiveUpText((GiveUpReason)decision.Reason));
        }

        /// <summary>The text that a message is set aside with, as in <c>exhausted 6 attempts</c>.</summary>
        /// <exception cref="AceMqException">The reason is none of a policy like this.</exception>
        public string GiveUpText(GiveUpReason reason)
        {
            var status = NativeMethods.acemq_retry_policy_give_up_text(handle, (int)reason, out var text, out var error);
            return Interop.Take(status, ref text, error);
        }

        /// <summary>The delay of the rung for any delay: the shortest that is long enough, else the longest; <c>null</c> when it is too short for the broker.</summary>
        /// <exception cref="AceMqException">The delay is negative or no whole number of milliseconds.</exception>
        public TimeSpan? RungFor(TimeSpan delay)
        {
            var status = NativeMethods.acemq_retry_policy_rung_for(handle, Durations.ToMilliseconds(delay), out var rung, out var error);
            Interop.Check(status, error);
            return status == 0 ? (TimeSpan?)null : Durations.FromMilliseconds(rung);
        }

        /// <summary>What the policy means, <c>acemq.retry/1</c>: its schedule, and on request a queue's ladder and a decision.</summary>
        /// <param name="queue">The queue, for its ladder.</param>
        /// <param name="attempt">The number of a failed delivery, for a decision.</param>
        /// <param name="age">The time since the message was first seen, where that is known.</param>
        /// <param name="u">A random number of at least 0 and below 1, for the jitter.</param>
        /// <param name="all">Whether a schedule of more than 100 waits is wanted whole.</param>
        /// <exception cref="AceMqException">A name is empty, reserved or too long, or a duration or the random number is none.</exception>
        public IReadOnlyDictionary<string, object> Describe(
            string queue = null, long? attempt = null, TimeSpan? age = null, double u = 0.5, bool all = false)
        {
            var input = new Dictionary<string, object> { { "policy", Text }, { "u", u }, { "all", all } };
            Engine.Add(input, "queue", queue);
            Engine.Add(input, "attempt", attempt);
            Engine.Add(input, "age_ms", age.HasValue ? Durations.ToMilliseconds(age.Value) : (object)null);
            return Engine.Ask("retry.describe", input);
        }

        /// <summary>Frees it. Ladders that were made with it stay.</summary>
        public void Dispose()
        {
            handle.Dispose();
        }

        /// <summary>Whether the other one decides alike.</summary>
        public bool Equals(RetryPolicy other)
        {
            return other != null && Text == other.Text;
        }

        /// <summary>Whether the other one is a policy that decides alike.</summary>
        public override bool Equals(object other)
        {
            return Equals(other as RetryPolicy);
        }

        /// <summary>Equal policies have the same one.</summary>
        public override int GetHashCode()
        {
            return Text.GetHashCode();
        }

        /// <summary>The canonical text.</summary>
        public override string ToString()
        {
            return Text;
        }
    }
}
