using System.Collections.Generic;
using System.Linq;
using AceMq.Core.Json;

namespace AceMq.Core
{
    /// <summary>What a vhost holds: everything that a topology declares, or what a broker exported.</summary>
    public sealed class Vhost
    {
        private readonly JsonObject source;

        private Vhost(string kind, object from, string name, string rabbitmq, string defaultQueueType)
        {
            var state = new Dictionary<string, object> { { kind, from } };
            Engine.Add(state, "vhost", name);
            Engine.Add(state, "rabbitmq", rabbitmq);
            Engine.Add(state, "default_queue_type", defaultQueueType);
            source = (JsonObject)JsonReader.Read(JsonWriter.Write(state));
        }

        /// <summary>The vhost in which all of a topology was declared.</summary>
        /// <param name="topology">The topology.</param>
        /// <param name="name">The vhost's name; <c>/</c> unless said.</param>
        /// <param name="rabbitmq">The RabbitMQ version to judge by, as in <c>4.0.5</c>; the newest known one unless said.</param>
        /// <param name="defaultQueueType">Its default queue type.</param>
        public static Vhost OfTopology(Topology topology, string name = null, string rabbitmq = null, string defaultQueueType = null)
        {
            return new Vhost("topology", Engine.Given(topology, nameof(topology)).Source, name, rabbitmq, defaultQueueType);
        }

        /// <summary>A vhost of a definitions export.</summary>
        /// <param name="definitions">The text of the file.</param>
        /// <param name="name">Which of its vhosts, where it holds several.</param>
        /// <param name="rabbitmq">The RabbitMQ version to judge by; the export's unless said.</param>
        /// <param name="defaultQueueType">Its default queue type, where the export does not say it.</param>
        public static Vhost OfDefinitions(string definitions, string name = null, string rabbitmq = null, string defaultQueueType = null)
        {
            return new Vhost("definitions", AceMq.Core.Definitions.TextOf(definitions), name, rabbitmq, defaultQueueType);
        }

        /// <summary>As operations take it, under <c>state</c>.</summary>
        public IReadOnlyDictionary<string, object> Source
        {
            get { return source; }
        }

        private Dictionary<string, object> Input
        {
            get { return new Dictionary<string, object> { { "state", source } }; }
        }

        /// <summary>Everything that it holds, <c>acemq.state/1</c>.</summary>
        /// <exception cref="AceMqException">The topology has problems, or the export cannot be used.</exception>
        public IReadOnlyDictionary<string, object> State()
        {
            return Engine.Ask("definitions.state", Input);
        }

        /// <summary>The definitions that a broker imports to hold the same.</summary>
        /// <exception cref="AceMqException">The topology has problems, or the export cannot be used.</exception>
        public IReadOnlyDictionary<string, object> Definitions()
        {
            return Engine.Ask("topology.to_definitions", Input).Object("definitions");
        }

        /// <summary>The topology document, YAML, that stands for everything in it.</summary>
        /// <param name="leftOut">What has no place in one, as sentences.</param>
        /// <exception cref="AceMqException">The topology has problems, or the export cannot be used.</exception>
        public string TopologyText(out IReadOnlyList<string> leftOut)
        {
            var written = Engine.Ask("definitions.to_topology", Input);
            leftOut = written.Texts("left_out");
            return written.Text("text");
        }

        /// <summary>What a queue or exchange really has: arguments and policies merged, with the reasons.</summary>
        /// <exception cref="AceMqException">There is no such object, or the vhost cannot be used.</exception>
        public EffectiveSettings EffectiveSettings(NameKind kind, string name)
        {
            var input = Input;
            input.Add("kind", kind == NameKind.Exchange ? "exchange" : "queue");
            input.Add("name", Engine.Given(name, nameof(name)));
            return new EffectiveSettings(Engine.Ask("policy.effective", input));
        }
    }

    /// <summary>What a queue or exchange really has.</summary>
    public sealed class EffectiveSettings
    {
        internal EffectiveSettings(JsonObject answer)
        {
            Settings = answer.Object("settings").ToDictionary(entry => entry.Key, entry => new EffectiveSetting((JsonObject)entry.Value));
            Open = answer.Texts("open");
        }

        /// <summary>By policy key, without <c>x-</c>.</summary>
        public IReadOnlyDictionary<string, EffectiveSetting> Settings { get; }

        /// <summary>Why some of it cannot be told, as sentences.</summary>
        public IReadOnlyList<string> Open { get; }
    }

    /// <summary>One setting of a queue or exchange.</summary>
    public sealed class EffectiveSetting
    {
        internal EffectiveSetting(JsonObject setting)
        {
            Value = setting["value"];
            Source = setting.Text("source");
            Policy = setting.Optional("policy") as string;
            Why = setting.Text("why");
        }

        /// <summary>The value; <c>null</c> when it cannot be told.</summary>
        public object Value { get; }

        /// <summary><c>argument</c>, <c>policy</c>, <c>operator_policy</c>, <c>default</c> or <c>undecided</c>.</summary>
        public string Source { get; }

        /// <summary>The policy that decides, where one does; else <c>null</c>.</summary>
        public string Policy { get; }

        /// <summary>Why that value.</summary>
        public string Why { get; }
    }

    /// <summary>A broker's exported definitions.</summary>
    public sealed class Definitions
    {
        private readonly string text;

        private Definitions(string text, JsonObject answer)
        {
            this.text = text;
            Layout = answer.Text("layout");
            Product = answer.Text("product");
            RabbitMq = answer.Optional("rabbitmq") as string;
            Vhosts = answer.Texts("vhosts");
            Faults = answer.Objects("faults").ToList().AsReadOnly();
        }

        internal static Dictionary<string, object> TextOf(string definitions)
        {
            return new Dictionary<string, object> { { "text", Engine.Given(definitions, nameof(definitions)) } };
        }

        /// <summary>Reads an export.</summary>
        /// <param name="text">The text of the file.</param>
        /// <exception cref="AceMqException">It is none.</exception>
        public static Definitions Read(string text)
        {
            var input = new Dictionary<string, object> { { "definitions", TextOf(text) } };
            return new Definitions(text, Engine.Ask("definitions.read", input));
        }

        /// <summary><c>cluster</c>, where entries name their vhosts, or <c>vhost</c>.</summary>
        public string Layout { get; }

        /// <summary>The product that wrote it.</summary>
        public string Product { get; }

        /// <summary>The version that wrote it; <c>null</c> where the file does not say so.</summary>
        public string RabbitMq { get; }

        /// <summary>Its vhosts, sorted.</summary>
        public IReadOnlyList<string> Vhosts { get; }

        /// <summary>Entries that cannot be read, each with <c>code</c>, <c>section</c>, <c>message</c> and <c>at</c>.</summary>
        public IReadOnlyList<IReadOnlyDictionary<string, object>> Faults { get; }

        /// <summary>What importing it would skip, refuse or change, in the order of the file.</summary>
        /// <param name="there">The vhosts that the broker has; none is a fresh broker, which has <c>/</c>.</param>
        /// <param name="rabbitmq">The broker's RabbitMQ version; the newest known one unless said.</param>
        /// <returns>For each such entry <c>outcome</c>, <c>vhost</c>, <c>message</c> and <c>at</c>.</returns>
        public IReadOnlyList<IReadOnlyDictionary<string, object>> Preview(IEnumerable<Vhost> there = null, string rabbitmq = null)
        {
            var input = new Dictionary<string, object> { { "definitions", TextOf(text) } };
            Engine.Add(input, "there", there?.Select(vhost => vhost.Source).ToList());
            Engine.Add(input, "rabbitmq", rabbitmq);
            return Engine.Ask("definitions.preview", input).Objects("effects").ToList().AsReadOnly();
        }
    }
}
