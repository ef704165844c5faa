using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;

namespace AceMq.Core.Json
{
    /// <summary>A JSON object that was read: its entries in their order, and the shapes that documents of the engine have.</summary>
    internal sealed class JsonObject : IReadOnlyDictionary<string, object>
    {
        internal static readonly JsonObject Empty = new JsonObject(new List<KeyValuePair<string, object>>());

        private readonly List<KeyValuePair<string, object>> entries;
        private readonly Dictionary<string, object> byName;

        internal JsonObject(List<KeyValuePair<string, object>> entries)
        {
            byName = new Dictionary<string, object>(entries.Count, StringComparer.Ordinal);
            foreach (var entry in entries)
            {
                byName[entry.Key] = entry.Value;
            }
            this.entries = entries.Count == byName.Count
                ? entries
                : entries.Select(entry => entry.Key).Distinct().Select(key => new KeyValuePair<string, object>(key, byName[key])).ToList();
        }

        internal string Text(string name)
        {
            return this[name] as string;
        }

        internal bool Flag(string name)
        {
            return this[name] is bool flag && flag;
        }

        internal ulong Number(string name)
        {
            return OptionalNumber(name) ?? throw Unexpected(name, "a number");
        }

        internal ulong? OptionalNumber(string name)
        {
            var value = Optional(name);
            if (value is long small && small >= 0)
            {
                return (ulong)small;
            }
            return value as ulong?;
        }

        internal TimeSpan? OptionalMilliseconds(string name)
        {
            var number = OptionalNumber(name);
            return number.HasValue ? Durations.FromMilliseconds(number.Value) : (TimeSpan?)null;
        }

        internal JsonObject Object(string name)
        {
            return this[name] as JsonObject ?? throw Unexpected(name, "an object");
        }

        internal JsonObject OptionalObject(string name)
        {
            return Optional(name) as JsonObject;
        }

        internal IReadOnlyList<object> List(string name)
        {
            return this[name] as IReadOnlyList<object> ?? throw Unexpected(name, "a list");
        }

        internal IEnumerable<JsonObject> Objects(string name)
        {
            return List(name).Cast<JsonObject>();
        }

        internal IReadOnlyList<string> Texts(string name)
        {
            return Array.AsReadOnly(List(name).Cast<string>().ToArray());
        }

        internal object Optional(string name)
        {
            return byName.TryGetValue(name, out var value) ? value : null;
        }

        private static AceMqException Unexpected(string name, string wanted)
        {
            return AceMqException.Internal("the engine's document has no " + name + " that is " + wanted);
        }

        public object this[string key]
        {
            get { return byName[key]; }
        }

        public int Count
        {
            get { return entries.Count; }
        }

        public IEnumerable<string> Keys
        {
            get { return entries.Select(entry => entry.Key); }
        }

        public IEnumerable<object> Values
        {
            get { return entries.Select(entry => entry.Value); }
        }

        public bool ContainsKey(string key)
        {
            return byName.ContainsKey(key);
        }

        public bool TryGetValue(string key, out object value)
        {
            return byName.TryGetValue(key, out value);
        }

        public IEnumerator<KeyValuePair<string, object>> GetEnumerator()
        {
            return entries.GetEnumerator();
        }

        IEnumerator IEnumerable.GetEnumerator()
        {
            return GetEnumerator();
        }

        public override string ToString()
        {
            return JsonWriter.Write(this);
        }
    }
}
