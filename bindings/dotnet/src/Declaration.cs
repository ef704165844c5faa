using System.Collections.Generic;
using System.Linq;
using AceMq.Core.Json;

namespace AceMq.Core
{
    /// <summary>A queue, exchange, binding or policy as it goes to the broker.</summary>
    /// <remarks>
    /// Arguments are text, booleans, whole numbers (64-bit integers in AMQP), doubles, dictionaries and lists of these. Other
    /// AMQP types are a dictionary with one name, <c>@</c> and the letter of the type: <c>{"@I": 5}</c> is a 32-bit integer.
    /// </remarks>
    public sealed class Declaration
    {
        private readonly JsonObject body;

        private Declaration(string kind, JsonObject body)
        {
            Kind = kind;
            this.body = body;
        }

        internal static Declaration Of(string kind, JsonObject body)
        {
            return new Declaration(kind, body);
        }

        /// <summary>A queue: durable, and with the broker's default type, unless said.</summary>
        public static Declaration Queue(
            string name,
            bool durable = true,
            bool exclusive = false,
            bool autoDelete = false,
            IReadOnlyDictionary<string, object> arguments = null)
        {
            return Made("queue", new Dictionary<string, object>
            {
                { "name", Engine.Given(name, nameof(name)) },
                { "durable", durable },
                { "exclusive", exclusive },
                { "auto_delete", autoDelete },
                { "arguments", arguments ?? JsonObject.Empty },
            });
        }

        /// <summary>An exchange: durable unless said.</summary>
        public static Declaration Exchange(
            string name,
            string type,
            bool durable = true,
            bool autoDelete = false,
            bool isInternal = false,
            IReadOnlyDictionary<string, object> arguments = null)
        {
            return Made("exchange", new Dictionary<string, object>
            {
                { "name", Engine.Given(name, nameof(name)) },
                { "type", Engine.Given(type, nameof(type)) },
                { "durable", durable },
                { "auto_delete", autoDelete },
                { "internal", isInternal },
                { "arguments", arguments ?? JsonObject.Empty },
            });
        }

        /// <summary>A binding from an exchange to a queue, or to another exchange.</summary>
        public static Declaration Binding(
            string source,
            string destination,
            string routingKey = "",
            IReadOnlyDictionary<string, object> arguments = null,
            bool toExchange = false)
        {
            return Made("binding", new Dictionary<string, object>
            {
                { "source", Engine.Given(source, nameof(source)) },
                { "destination", Engine.Given(destination, nameof(destination)) },
                { "destination_type", toExchange ? "exchange" : "queue" },
                { "routing_key", Engine.Given(routingKey, nameof(routingKey)) },
                { "arguments", arguments ?? JsonObject.Empty },
            });
        }

        /// <summary>Written and read once, so that later changes to the caller's dictionaries do not reach it.</summary>
        private static Declaration Made(string kind, Dictionary<string, object> body)
        {
            return new Declaration(kind, (JsonObject)JsonReader.Read(JsonWriter.Write(body)));
        }

        /// <summary><c>queue</c>, <c>exchange</c>, <c>binding</c> or <c>policy</c>.</summary>
        public string Kind { get; }

        /// <summary>The name; of a binding, what it leads to.</summary>
        public string Name
        {
            get { return Kind == "binding" ? Destination : body.Text("name"); }
        }

        /// <summary>The type of an exchange, or of a queue where its table names one; else <c>null</c>.</summary>
        public string Type
        {
            get { return body.Optional("type") as string; }
        }

        /// <summary>Whether it survives a restart of the broker.</summary>
        public bool Durable
        {
            get { return body.Optional("durable") as bool? ?? false; }
        }

        /// <summary>Whether a queue belongs to its connection.</summary>
        public bool Exclusive
        {
            get { return body.Optional("exclusive") as bool? ?? false; }
        }

        /// <summary>Whether it goes with its last consumer or binding.</summary>
        public bool AutoDelete
        {
            get { return body.Optional("auto_delete") as bool? ?? false; }
        }

        /// <summary>Whether only other exchanges may send to an exchange.</summary>
        public bool Internal
        {
            get { return body.Optional("internal") as bool? ?? false; }
        }

        /// <summary>The argument table; of a policy, its definition.</summary>
        public IReadOnlyDictionary<string, object> Arguments
        {
            get { return body.OptionalObject(Kind == "policy" ? "definition" : "arguments") ?? JsonObject.Empty; }
        }

        /// <summary>The exchange that a binding leads from; else <c>null</c>.</summary>
        public string Source
        {
            get { return (body.Optional("source") ?? body.Optional("exchange")) as string; }
        }

        /// <summary>The queue or exchange that a binding leads to; else <c>null</c>.</summary>
        public string Destination
        {
            get { return (body.Optional("destination") ?? body.Optional("queue") ?? body.Optional("to_exchange")) as string; }
        }

        /// <summary>Whether a binding leads to an exchange.</summary>
        public bool ToExchange
        {
            get { return body.Optional("destination_type") as string == "exchange" || body.Optional("to_exchange") != null; }
        }

        /// <summary>The routing key or pattern of a binding; else <c>null</c>.</summary>
        public string RoutingKey
        {
            get { return body.Optional("routing_key") as string; }
        }

        /// <summary>The whole of it as the engine wrote it, as in <c>acemq.tables/1</c>.</summary>
        public IReadOnlyDictionary<string, object> Document
        {
            get { return body; }
        }

        /// <summary>As operations take one declaration out of several kinds.</summary>
        internal IReadOnlyDictionary<string, object> ToInput()
        {
            return new Dictionary<string, object> { { Kind, ToBody() } };
        }

        /// <summary>As operations take a declaration of this kind: without what a document adds.</summary>
        internal IReadOnlyDictionary<string, object> ToBody()
        {
            switch (Kind)
            {
                case "queue":
                    return Parts("name", "durable", "exclusive", "auto_delete", "arguments");
                case "exchange":
                    return Parts("name", "type", "durable", "auto_delete", "internal", "arguments");
                case "binding":
                    return new Dictionary<string, object>
                    {
                        { "source", Source },
                        { "destination", Destination },
                        { "destination_type", ToExchange ? "exchange" : "queue" },
                        { "routing_key", RoutingKey ?? "" },
                        { "arguments", Arguments },
                    };
                default:
                    return body;
            }
        }

        private Dictionary<string, object> Parts(params string[] names)
        {
            return names.Where(body.ContainsKey).ToDictionary(name => name, name => body[name]);
        }

        /// <summary>The kind and the document.</summary>
        public override string ToString()
        {
            return Kind + " " + body;
        }
    }
}
