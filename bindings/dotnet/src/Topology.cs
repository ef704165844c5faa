using System.Collections.Generic;
using System.Linq;
using AceMq.Core.Json;

namespace AceMq.Core
{
    /// <summary>
    /// The exchanges, queues, bindings and policies that a service needs: a document, or what a
    /// <see cref="TopologyBuilder"/> collected.
    /// </summary>
    /// <remarks>It never changes, holds nothing of the engine's and may be shared between threads.</remarks>
    public sealed class Topology
    {
        private readonly JsonObject source;

        private Topology(IReadOnlyDictionary<string, object> source)
        {
            // Written and read once, so that nobody's later changes reach it.
            this.source = (JsonObject)JsonReader.Read(JsonWriter.Write(source));
        }

        /// <summary>The topology of a document's text, YAML or JSON. What is wrong with it is told by <see cref="Problems"/>.</summary>
        public static Topology Parse(string text)
        {
            return new Topology(new Dictionary<string, object> { { "text", Engine.Given(text, nameof(text)) } });
        }

        /// <summary>The topology of a document that is at hand as dictionaries and lists.</summary>
        public static Topology FromDocument(IReadOnlyDictionary<string, object> document)
        {
            return new Topology(new Dictionary<string, object> { { "document", Engine.Given(document, nameof(document)) } });
        }

        /// <summary>A builder without anything.</summary>
        public static TopologyBuilder Builder()
        {
            return new TopologyBuilder();
        }

        internal static Topology Built(IReadOnlyDictionary<string, object> built)
        {
            return new Topology(new Dictionary<string, object> { { "built", built } });
        }

        /// <summary>The topology as operations take it, under <c>topology</c>.</summary>
        public IReadOnlyDictionary<string, object> Source
        {
            get { return source; }
        }

        private Dictionary<string, object> Input
        {
            get { return new Dictionary<string, object> { { "topology", source } }; }
        }

        /// <summary>Every problem and warning, in the order of the document; none when all is well.</summary>
        public IReadOnlyList<TopologyProblem> Problems()
        {
            var document = Engine.Ask("topology.check", Input);
            return document.Objects("problems").Select(problem => new TopologyProblem(problem)).ToList().AsReadOnly();
        }

        /// <summary>The canonical argument tables: what is declared, in order.</summary>
        /// <exception cref="AceMqException">Every problem of the topology; warnings are none.</exception>
        public TopologyTables Tables()
        {
            return new TopologyTables(Engine.Ask("topology.tables", Input));
        }

        /// <summary>What it intends, for people: one line for each declaration.</summary>
        /// <exception cref="AceMqException">Every problem of the topology; warnings are none.</exception>
        public string Intent()
        {
            return Engine.Ask("topology.show", Input).Text("text");
        }

        /// <summary>What a consumer declares when it starts: never the queue that it consumes.</summary>
        /// <param name="queue">The queue that is consumed.</param>
        /// <param name="policy">Its retry policy; without one there are no rungs.</param>
        /// <exception cref="AceMqException">A name is empty, reserved or too long.</exception>
        public static TopologyTables ConsumerDeclarations(string queue, RetryPolicy policy = null)
        {
            var input = new Dictionary<string, object> { { "queue", Engine.Given(queue, nameof(queue)) } };
            Engine.Add(input, "policy", policy?.Text);
            return new TopologyTables(Engine.Ask("topology.consumer", input));
        }

        /// <summary>The source as JSON.</summary>
        public override string ToString()
        {
            return source.ToString();
        }
    }

    /// <summary>What a topology declares, <c>acemq.tables/1</c>.</summary>
    public sealed class TopologyTables
    {
        internal TopologyTables(JsonObject document)
        {
            Document = document;
            Exchanges = Declarations("exchange", "exchanges");
            Policies = document.ContainsKey("policies") ? Declarations("policy", "policies") : new Declaration[0];
            Queues = Declarations("queue", "queues");
            Bindings = Declarations("binding", "bindings");
            Fingerprint = document.Text("fingerprint");
        }

        private IReadOnlyList<Declaration> Declarations(string kind, string name)
        {
            var bodies = ((JsonObject)Document).Objects(name);
            return bodies.Select(body => Declaration.Of(kind, body)).ToList().AsReadOnly();
        }

        /// <summary>Exchanges, in the order in which they are declared.</summary>
        public IReadOnlyList<Declaration> Exchanges { get; }

        /// <summary>Policies, which only the management API can set.</summary>
        public IReadOnlyList<Declaration> Policies { get; }

        /// <summary>Queues, in the order in which they are declared.</summary>
        public IReadOnlyList<Declaration> Queues { get; }

        /// <summary>Bindings, in the order in which they are made.</summary>
        public IReadOnlyList<Declaration> Bindings { get; }

        /// <summary>The same for topologies that ask for the same exchanges, queues and bindings, whatever their order.</summary>
        public string Fingerprint { get; }

        /// <summary>The document <c>acemq.tables/1</c>.</summary>
        public IReadOnlyDictionary<string, object> Document { get; }
    }

    /// <summary>Something about a topology that stops it, or that its author should know.</summary>
    public sealed class TopologyProblem
    {
        internal TopologyProblem(JsonObject problem)
        {
            Code = problem.Text("code");
            IsError = problem.Text("severity") == "error";
            Object = problem.Object("object");
            Fields = problem.Object("fields");
            Message = problem.Text("message");
            Help = problem.Text("help");
            var at = problem.OptionalObject("at");
            if (at != null)
            {
                Line = (long?)at.OptionalNumber("line");
                Column = (long?)at.OptionalNumber("column");
            }
        }

        /// <summary>The stable code.</summary>
        public string Code { get; }

        /// <summary>Whether it stops the topology; else it is a warning.</summary>
        public bool IsError { get; }

        /// <summary>What it is about.</summary>
        public IReadOnlyDictionary<string, object> Object { get; }

        /// <summary>The particulars by name.</summary>
        public IReadOnlyDictionary<string, object> Fields { get; }

        /// <summary>What is wrong, one sentence.</summary>
        public string Message { get; }

        /// <summary>The way out.</summary>
        public string Help { get; }

        /// <summary>Where in a document's text, from 1; <c>null</c> for what was built.</summary>
        public long? Line { get; }

        /// <summary>Where in that line, from 1.</summary>
        public long? Column { get; }

        /// <summary>Message and help.</summary>
        public override string ToString()
        {
            return Message + " " + Help;
        }
    }
}
