using System.Collections.Generic;
using AceMq.Core.Json;

namespace AceMq.Core
{
    /// <summary>
    /// Collects what a service needs. No call fails and their order does not matter: the engine judges all of it at once, see
    /// <see cref="Topology.Problems"/>.
    /// </summary>
    /// <remarks>
    /// <code>
    /// var topology = Topology.Builder()
    ///     .Exchange("orders", "topic")
    ///     .QueueWithDeadLetter("orders.new")
    ///     .Retries("orders.new", "exponential(6, 10s, 5m)")
    ///     .Bind("orders.new", "orders", "order.*")
    ///     .Build();
    /// </code>
    /// </remarks>
    public sealed class TopologyBuilder
    {
        private readonly List<object> exchanges = new List<object>();
        private readonly List<object> queues = new List<object>();
        private readonly List<object> bindings = new List<object>();
        private readonly List<object> policies = new List<object>();
        private readonly List<object> settings = new List<object>();

        /// <summary>A durable exchange.</summary>
        public TopologyBuilder Exchange(string name, string type)
        {
            return Add(exchanges, Body(name, "type", type));
        }

        /// <summary>An exchange as it is given.</summary>
        public TopologyBuilder Exchange(Declaration exchange)
        {
            return Add(exchanges, Engine.Given(exchange, nameof(exchange)).ToBody());
        }

        /// <summary>An exchange that somebody else declares: bindings may use it, and it is never declared.</summary>
        public TopologyBuilder ExternalExchange(string name)
        {
            return Add(exchanges, Body(name, "external", true));
        }

        /// <summary>A durable queue: quorum, unless something else is asked for.</summary>
        public TopologyBuilder Queue(string name)
        {
            return Add(queues, Body(name));
        }

        /// <summary>A queue as it is given. Without an <c>x-queue-type</c> the defaults of <see cref="Queue(string)"/> hold.</summary>
        public TopologyBuilder Queue(Declaration queue)
        {
            return Add(queues, Engine.Given(queue, nameof(queue)).ToBody());
        }

        /// <summary>A durable quorum queue with its dead-letter queue, its parked queue and their wiring.</summary>
        public TopologyBuilder QueueWithDeadLetter(string name)
        {
            return Add(queues, Body(name, "dead_letter", true));
        }

        /// <summary>A durable classic queue with arguments of its own, and with its dead letters.</summary>
        public TopologyBuilder ClassicQueueWithDeadLetter(string name, IReadOnlyDictionary<string, object> arguments = null)
        {
            var body = Body(name, "type", "classic");
            body.Add("arguments", arguments ?? JsonObject.Empty);
            body.Add("dead_letter", true);
            return Add(queues, body);
        }

        /// <summary>Dead letters for a queue that is declared in this topology, before or after this call.</summary>
        public TopologyBuilder DeadLetters(string queue)
        {
            return Add(settings, Body(queue, "dead_letter", true));
        }

        /// <summary>Sends the dead letters of a queue to an exchange of the caller's own.</summary>
        public TopologyBuilder DeadLetterTo(string queue, string exchange)
        {
            return Add(settings, Body(queue, "dead_letter_to", exchange));
        }

        /// <summary>Chooses the type of a queue: <c>classic</c>, <c>quorum</c> or <c>stream</c>.</summary>
        public TopologyBuilder OfType(string queue, string type)
        {
            return Add(settings, Body(queue, "type", type));
        }

        /// <summary>Adds one argument to a queue. <see cref="Declaration"/> says which values there are.</summary>
        public TopologyBuilder QueueArg(string queue, string argument, object value)
        {
            var arguments = new Dictionary<string, object> { { Engine.Given(argument, nameof(argument)), value } };
            return Add(settings, Body(queue, "arguments", arguments));
        }

        /// <summary>Makes a queue transient: it is gone when the broker restarts.</summary>
        public TopologyBuilder Transient(string queue)
        {
            return Add(settings, Body(queue, "transient", true));
        }

        /// <summary>Makes a queue exclusive to the connection that declares it.</summary>
        public TopologyBuilder Exclusive(string queue)
        {
            return Add(settings, Body(queue, "exclusive", true));
        }

        /// <summary>Lets a queue go with its last consumer.</summary>
        public TopologyBuilder AutoDelete(string queue)
        {
            return Add(settings, Body(queue, "auto_delete", true));
        }

        /// <summary>Gives a queue the rungs of a policy, so that long waits between attempts are spent in the broker.</summary>
        public TopologyBuilder Retries(string queue, RetryPolicy policy)
        {
            return Retries(queue, Engine.Given(policy, nameof(policy)).Text);
        }

        /// <summary>The same for a policy's text, as in <c>exponential(6, 10s, 5m)</c>.</summary>
        public TopologyBuilder Retries(string queue, string policy)
        {
            return Add(settings, Body(queue, "retry", policy));
        }

        /// <summary>Binds a queue to an exchange.</summary>
        public TopologyBuilder Bind(
            string queue, string exchange, string routingKey = "", IReadOnlyDictionary<string, object> arguments = null)
        {
            return AddBinding("queue", Engine.Given(queue, nameof(queue)), exchange, routingKey, arguments);
        }

        /// <summary>Binds an exchange to another one, from which it gets messages.</summary>
        public TopologyBuilder BindExchange(
            string toExchange, string exchange, string routingKey = "", IReadOnlyDictionary<string, object> arguments = null)
        {
            return AddBinding("to_exchange", Engine.Given(toExchange, nameof(toExchange)), exchange, routingKey, arguments);
        }

        /// <summary>A policy. Only the management API can set one.</summary>
        /// <param name="name">Its name, unique in the vhost.</param>
        /// <param name="pattern">A regular expression on names.</param>
        /// <param name="definition">What it sets, by keys without <c>x-</c>.</param>
        /// <param name="applyTo"><c>all</c>, <c>queues</c>, <c>exchanges</c>, <c>classic_queues</c>, <c>quorum_queues</c> or <c>streams</c>.</param>
        /// <param name="priority">The highest wins.</param>
        public TopologyBuilder Policy(
            string name, string pattern, IReadOnlyDictionary<string, object> definition, string applyTo = "all", int priority = 0)
        {
            var body = Body(name, "pattern", pattern);
            body.Add("apply_to", applyTo);
            body.Add("priority", priority);
            body.Add("definition", Engine.Given(definition, nameof(definition)));
            return Add(policies, body);
        }

        /// <summary>What was collected so far; later calls do not reach it.</summary>
        public Topology Build()
        {
            var document = new Dictionary<string, object>
            {
                { "acemq", 1 },
                { "exchanges", exchanges },
                { "queues", queues },
                { "bindings", bindings },
                { "policies", policies },
            };
            return Topology.Built(new Dictionary<string, object> { { "document", document }, { "settings", settings } });
        }

        private TopologyBuilder AddBinding(
            string kind, string destination, string exchange, string routingKey, IReadOnlyDictionary<string, object> arguments)
        {
            return Add(bindings, new Dictionary<string, object>
            {
                { kind, destination },
                { "exchange", Engine.Given(exchange, nameof(exchange)) },
                { "routing_key", Engine.Given(routingKey, nameof(routingKey)) },
                { "arguments", arguments ?? JsonObject.Empty },
            });
        }

        private TopologyBuilder Add(List<object> section, IReadOnlyDictionary<string, object> body)
        {
            // Read back, so that the caller's dictionaries may change afterwards.
            section.Add(JsonReader.Read(JsonWriter.Write(body)));
            return this;
        }

        private static Dictionary<string, object> Body(string name)
        {
            return new Dictionary<string, object> { { "name", Engine.Given(name, nameof(name)) } };
        }

        private static Dictionary<string, object> Body(string name, string key, object value)
        {
            var body = Body(name);
            body.Add(key, Engine.Given(value, key));
            return body;
        }
    }
}
