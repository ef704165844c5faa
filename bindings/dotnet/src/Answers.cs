using System.Collections.Generic;
using System.Linq;
using AceMq.Core.Json;

namespace AceMq.Core
{
    /// <summary>A name that RabbitMQ takes.</summary>
    public sealed class CheckedName
    {
        internal CheckedName(int bytes, string shown)
        {
            Bytes = bytes;
            Shown = shown;
        }

        /// <summary>Its length in UTF-8.</summary>
        public int Bytes { get; }

        /// <summary>As people see it: control characters escaped.</summary>
        public string Shown { get; }
    }

    /// <summary>The names that a queue implies, whatever its retries.</summary>
    public sealed class ImpliedNames
    {
        internal ImpliedNames(JsonObject names)
        {
            DeadLetterQueue = names.Text("dead_letter_queue");
            ParkedQueue = names.Text("parked_queue");
            DeadLetterExchange = names.Text("dead_letter_exchange");
            RetryExchange = names.Text("retry_exchange");
        }

        /// <summary>Where its rejected messages go.</summary>
        public string DeadLetterQueue { get; }

        /// <summary>Where its messages are set aside for a person.</summary>
        public string ParkedQueue { get; }

        /// <summary>The exchange that leads to both.</summary>
        public string DeadLetterExchange { get; }

        /// <summary>The exchange that leads back from its retry rungs.</summary>
        public string RetryExchange { get; }
    }

    /// <summary>What two declarations share exactly when every broker takes them as the same.</summary>
    public sealed class Fingerprint
    {
        internal Fingerprint(string canonical, string hash)
        {
            Canonical = canonical;
            Hash = hash;
        }

        /// <summary>The declaration in one line of JSON.</summary>
        public string Canonical { get; }

        /// <summary>The SHA-256 of that line in lower-case hexadecimal.</summary>
        public string Hash { get; }

        /// <summary>The hash.</summary>
        public override string ToString()
        {
            return Hash;
        }
    }

    /// <summary>A difference between a queue and a declaration of it.</summary>
    public sealed class Difference
    {
        internal Difference(JsonObject difference)
        {
            Argument = difference.Text("argument");
            Wanted = difference["wanted"];
            Current = difference["current"];
            Compared = difference.Flag("compared");
            Remedy = difference.Optional("remedy") as string;
        }

        /// <summary>The argument or property.</summary>
        public string Argument { get; }

        /// <summary>What the declaration has; <c>null</c> when it has none.</summary>
        public object Wanted { get; }

        /// <summary>What the queue has; <c>null</c> when it has none.</summary>
        public object Current { get; }

        /// <summary>Whether the broker compares it, so that it refuses the declaration.</summary>
        public bool Compared { get; }

        /// <summary>In a plan, the way out: <c>policy</c>, <c>migrate</c>, <c>declare_as_is</c> or <c>none</c>; else <c>null</c>.</summary>
        public string Remedy { get; }
    }

    /// <summary>How a declaration compares with a queue that is there.</summary>
    public sealed class Equivalence
    {
        internal Equivalence(JsonObject answer)
        {
            Equivalent = answer.Flag("equivalent");
            Differences = answer.Objects("differences").Select(difference => new Difference(difference)).ToList().AsReadOnly();
        }

        /// <summary>Whether the broker accepts the declaration.</summary>
        public bool Equivalent { get; }

        /// <summary>Every difference, also those that the broker does not compare.</summary>
        public IReadOnlyList<Difference> Differences { get; }
    }

    /// <summary>What a refusal closes.</summary>
    public enum RefusalScope
    {
        /// <summary>The channel.</summary>
        Channel,

        /// <summary>The connection, with all of its channels.</summary>
        Connection,
    }

    /// <summary>A refusal in the broker's own words.</summary>
    public sealed class BrokerRefusal
    {
        /// <summary>A refusal as a client got it.</summary>
        public BrokerRefusal(int code, string text, RefusalScope scope = RefusalScope.Channel)
        {
            Code = code;
            Text = Engine.Given(text, nameof(text));
            Scope = scope;
        }

        internal static BrokerRefusal Of(JsonObject refused)
        {
            var scope = refused.Optional("scope") as string == "connection" ? RefusalScope.Connection : RefusalScope.Channel;
            return new BrokerRefusal(checked((int)refused.Number("code")), refused.Text("text"), scope);
        }

        internal IReadOnlyDictionary<string, object> ToInput()
        {
            return new Dictionary<string, object>
            {
                { "code", Code },
                { "text", Text },
                { "scope", Scope == RefusalScope.Connection ? "connection" : "channel" },
            };
        }

        /// <summary>AMQP's reply code, as in 406.</summary>
        public int Code { get; }

        /// <summary>The reply text.</summary>
        public string Text { get; }

        /// <summary>What the broker closes with it.</summary>
        public RefusalScope Scope { get; }

        /// <summary>Code and text.</summary>
        public override string ToString()
        {
            return Code + " " + Text;
        }
    }
}
