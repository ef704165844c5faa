using System.Collections.Generic;
using AceMq.Core.Json;

namespace AceMq.Core
{
    /// <summary>A value as a refusal printed it.</summary>
    public sealed class RefusalValue
    {
        internal RefusalValue(JsonObject value)
        {
            Value = value["value"] == null ? null : value["value"].ToString();
            Type = value.Optional("type") as string;
        }

        /// <summary>The printed text.</summary>
        public string Value { get; }

        /// <summary>The AMQP type that the broker named, or <c>null</c>.</summary>
        public string Type { get; }
    }

    /// <summary>A broker's refusal, read: what it proves about the object that was asked for.</summary>
    public sealed class Refusal
    {
        internal Refusal(JsonObject document)
        {
            Document = document;
            Class = document.Text("class");
            Kind = document.Optional("kind") as string;
            Name = document.Optional("name") as string;
            Vhost = document.Optional("vhost") as string;
            Argument = document.Optional("argument") as string;
            Received = Side(document, "received");
            Current = Side(document, "current");
            Absent = document.Optional("absent") as string;
            Truncated = document.Flag("truncated");
            Says = document.Text("says");
        }

        private static RefusalValue Side(JsonObject document, string name)
        {
            var value = document.OptionalObject(name);
            return value == null ? null : new RefusalValue(value);
        }

        /// <summary>
        /// <c>inequivalent</c>, <c>invalid</c>, <c>not_found</c>, <c>unavailable</c>, <c>locked</c>, <c>access_refused</c>,
        /// <c>in_use</c>, <c>not_empty</c>, <c>not_implemented</c> or <c>other</c>.
        /// </summary>
        public string Class { get; }

        /// <summary><c>queue</c>, <c>exchange</c>, <c>binding</c>, <c>vhost</c>, <c>connection</c>, or <c>null</c>.</summary>
        public string Kind { get; }

        /// <summary>The object's name, or <c>null</c>.</summary>
        public string Name { get; }

        /// <summary>Its vhost, or <c>null</c>.</summary>
        public string Vhost { get; }

        /// <summary>The argument or property in question, or <c>null</c>.</summary>
        public string Argument { get; }

        /// <summary>What the declaration had, or <c>null</c>.</summary>
        public RefusalValue Received { get; }

        /// <summary>What the object has, or <c>null</c>.</summary>
        public RefusalValue Current { get; }

        /// <summary>The side that has no such argument: <c>received</c>, <c>current</c> or <c>null</c>.</summary>
        public string Absent { get; }

        /// <summary>Whether the broker cut the text off.</summary>
        public bool Truncated { get; }

        /// <summary>All of it in one sentence.</summary>
        public string Says { get; }

        /// <summary>The document <c>acemq.refusal/1</c>.</summary>
        public IReadOnlyDictionary<string, object> Document { get; }

        /// <summary><see cref="Says"/>.</summary>
        public override string ToString()
        {
            return Says;
        }
    }
}
