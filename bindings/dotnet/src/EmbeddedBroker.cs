using System;
using System.Collections.Generic;
using System.Linq;
using AceMq.Core.Json;
using AceMq.Core.Native;

namespace AceMq.Core
{
    /// <summary>What an embedded broker is made of.</summary>
    public sealed class EmbeddedBrokerSettings
    {
        /// <summary>The RabbitMQ version to answer by; the newest known one unless said.</summary>
        public string RabbitMq { get; set; }

        /// <summary>The vhost's name; <c>/</c> unless said.</summary>
        public string Vhost { get; set; }

        /// <summary>The vhost's default queue type.</summary>
        public string DefaultQueueType { get; set; }

        /// <summary>What is declared at the start.</summary>
        public Topology Topology { get; set; }

        /// <summary>The text of a definitions export that is held from the start, whatever the rules say about it.</summary>
        public string Definitions { get; set; }

        /// <summary>Where the virtual clock starts.</summary>
        public DateTimeOffset? Start { get; set; }

        internal Dictionary<string, object> ToInput()
        {
            var input = new Dictionary<string, object>();
            Engine.Add(input, "rabbitmq", RabbitMq);
            Engine.Add(input, "vhost", Vhost);
            Engine.Add(input, "default_queue_type", DefaultQueueType);
            Engine.Add(input, "topology", Topology?.Source);
            Engine.Add(input, "definitions", Definitions == null ? null : new Dictionary<string, object> { { "text", Definitions } });
            Engine.Add(input, "start_ms", Start?.ToUnixTimeMilliseconds());
            return input;
        }
    }

    /// <summary>The embedded broker refused, in RabbitMQ's words. What it closed is closed.</summary>
    public sealed class BrokerRefusedException : Exception
    {
        internal BrokerRefusedException(BrokerRefusal refusal)
            : base(refusal.ToString())
        {
            Refusal = refusal;
        }

        /// <summary>The refusal.</summary>
        public BrokerRefusal Refusal { get; }
    }

    /// <summary>
    /// A broker in memory that declares, routes, dead-letters and expires as RabbitMQ of a version does, with a clock that moves
    /// when it is told to.
    /// </summary>
    /// <remarks>It changes, and may be used from any thread.</remarks>
    public sealed unsafe class EmbeddedBroker : IDisposable
    {
        private readonly BrokerHandle handle;

        /// <summary>A broker.</summary>
        /// <exception cref="AceMqException">The settings cannot be used, or the broker refuses what the topology declares.</exception>
        public EmbeddedBroker(EmbeddedBrokerSettings settings = null)
            : this((settings ?? new EmbeddedBrokerSettings()).ToInput())
        {
        }

        /// <summary>A broker from the <c>broker</c> of the operation <c>embedded.run</c>.</summary>
        /// <exception cref="AceMqException">The settings cannot be used, or the broker refuses what the topology declares.</exception>
        public EmbeddedBroker(IReadOnlyDictionary<string, object> settings)
        {
            NativeLoader.Require();
            var bytes = Interop.Bytes(JsonWriter.Write(Engine.Given(settings, nameof(settings))), nameof(settings));
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_broker_new(pointer, Interop.Size(bytes.Length), out handle, out var error);
                Interop.Check(status, error);
            }
        }

        private EmbeddedBroker(BrokerHandle handle)
        {
            this.handle = handle;
        }

        /// <summary>Plays a scenario, a timeline of messages, failures and clock steps, on a broker of its own.</summary>
        /// <param name="scenario">The text of the scenario, YAML or JSON.</param>
        /// <param name="rabbitmq">The RabbitMQ version to play by, whatever the scenario says.</param>
        /// <param name="vhost">What is there at the start, where the scenario only names a file.</param>
        /// <returns>The document <c>acemq.simulation/1</c>.</returns>
        /// <exception cref="AceMqException">The scenario cannot be read or played.</exception>
        public static IReadOnlyDictionary<string, object> Simulate(string scenario, string rabbitmq = null, Vhost vhost = null)
        {
            var text = new Dictionary<string, object> { { "text", Engine.Given(scenario, nameof(scenario)) } };
            var input = new Dictionary<string, object> { { "scenario", text } };
            Engine.Add(input, "rabbitmq", rabbitmq);
            Engine.Add(input, "state", vhost?.Source);
            return Engine.Ask("embedded.simulate", input);
        }

        /// <summary>A broker of its own with everything that this one holds.</summary>
        public EmbeddedBroker Clone()
        {
            var status = NativeMethods.acemq_broker_clone(handle, out var clone, out var error);
            Interop.Check(status, error);
            return new EmbeddedBroker(clone);
        }

        /// <summary>
        /// Carries out a command of the operation <c>embedded.run</c>. A refusal is a reply too: <c>refused</c> with <c>code</c>,
        /// <c>text</c> and <c>scope</c>.
        /// </summary>
        /// <exception cref="AceMqException">It is a command that no client could send.</exception>
        public IReadOnlyDictionary<string, object> Call(IReadOnlyDictionary<string, object> command)
        {
            return Run(Engine.Given(command, nameof(command)));
        }

        private JsonObject Run(object command)
        {
            var bytes = Interop.Bytes(JsonWriter.Write(command), nameof(command));
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_broker_call(handle, pointer, Interop.Size(bytes.Length), out var text, out var error);
                return (JsonObject)JsonReader.Read(Interop.Take(status, ref text, error));
            }
        }

        /// <summary>One action, by whom it is asked; <c>null</c> for what happens to the broker itself.</summary>
        internal JsonObject Do(string asker, long number, string action, object input = null)
        {
            var command = new Dictionary<string, object> { { action, input ?? JsonObject.Empty } };
            if (asker != null)
            {
                command.Add(asker, number);
            }
            var reply = Run(command);
            var refused = reply.OptionalObject("refused");
            if (refused != null)
            {
                throw new BrokerRefusedException(BrokerRefusal.Of(refused));
            }
            return reply;
        }

        /// <summary>Opens a connection.</summary>
        /// <param name="user">A user that was given permissions; the broker's own one unless said.</param>
        /// <exception cref="BrokerRefusedException">The user may not connect.</exception>
        public EmbeddedConnection Connect(string user = null)
        {
            var input = new Dictionary<string, object>();
            Engine.Add(input, "user", user);
            return new EmbeddedConnection(this, checked((long)Do(null, 0, "connect", input).Number("connection")));
        }

        /// <summary>Lets time pass: messages expire, delayed retries return.</summary>
        /// <returns>The time of the virtual clock.</returns>
        /// <exception cref="AceMqException">The duration is negative or no whole number of milliseconds.</exception>
        public DateTimeOffset Advance(TimeSpan duration)
        {
            var input = new Dictionary<string, object> { { "ms", Durations.ToMilliseconds(duration) } };
            return DateTimeOffset.FromUnixTimeMilliseconds(checked((long)Do(null, 0, "advance", input).Number("now_ms")));
        }

        /// <summary>What a queue holds: <c>ready</c>, <c>unacknowledged</c>, <c>waiting</c> and <c>consumers</c>; <c>null</c> where there is none.</summary>
        public IReadOnlyDictionary<string, object> Contents(string queue)
        {
            var input = new Dictionary<string, object> { { "queue", Engine.Given(queue, nameof(queue)) } };
            return Do(null, 0, "contents", input).OptionalObject("contents");
        }

        /// <summary>Everything that the vhost holds, <c>acemq.state/1</c>.</summary>
        public IReadOnlyDictionary<string, object> State()
        {
            return Do(null, 0, "state").Object("state");
        }

        /// <summary>Everything that the vhost holds, as a broker exports it.</summary>
        public IReadOnlyDictionary<string, object> Definitions()
        {
            return Do(null, 0, "definitions").Object("definitions");
        }

        /// <summary>Frees it. Its connections and channels go with it.</summary>
        public void Dispose()
        {
            handle.Dispose();
        }
    }

    /// <summary>A connection to an embedded broker.</summary>
    public sealed class EmbeddedConnection
    {
        private const string Asker = "connection";
        private readonly EmbeddedBroker broker;
        private readonly long number;

        internal EmbeddedConnection(EmbeddedBroker broker, long number)
        {
            this.broker = broker;
            this.number = number;
        }

        /// <summary>Whether it is open.</summary>
        public bool IsOpen
        {
            get { return broker.Do(Asker, number, "is_open").Flag("open"); }
        }

        /// <summary>Opens a channel.</summary>
        /// <exception cref="BrokerRefusedException">The connection is closed.</exception>
        public EmbeddedChannel OpenChannel()
        {
            return new EmbeddedChannel(broker, checked((long)broker.Do(Asker, number, "open_channel").Number("channel")));
        }

        /// <summary>Answers a question of a plan session, on a channel of its own, as <see cref="PlanSession.Answer"/> takes it.</summary>
        public IReadOnlyDictionary<string, object> Answer(PlanQuestion question)
        {
            return broker.Do(Asker, number, "answer_question", Engine.Given(question, nameof(question)).Document).Object("answer");
        }

        /// <summary>Closes it, its channels and its exclusive queues.</summary>
        public void Close()
        {
            broker.Do(Asker, number, "disconnect");
        }
    }

    /// <summary>A queue as <c>queue.declare-ok</c> tells it.</summary>
    public sealed class DeclaredQueue
    {
        internal DeclaredQueue(JsonObject queue)
        {
            Name = queue.Text("name");
            Messages = checked((long)queue.Number("messages"));
            Consumers = checked((long)queue.Number("consumers"));
        }

        /// <summary>Its name: the one that the broker gave where the request named none.</summary>
        public string Name { get; }

        /// <summary>Messages that are ready.</summary>
        public long Messages { get; }

        /// <summary>Consumers.</summary>
        public long Consumers { get; }
    }

    /// <summary>What became of a publication.</summary>
    public sealed class Published
    {
        internal Published(JsonObject published)
        {
            Queues = published.Texts("queues");
            Confirmed = published.Flag("confirmed");
            Returned = published.Flag("returned");
        }

        /// <summary>The queues that it was routed to, sorted.</summary>
        public IReadOnlyList<string> Queues { get; }

        /// <summary>Whether its confirm is positive.</summary>
        public bool Confirmed { get; }

        /// <summary>Whether it was mandatory and no queue got it.</summary>
        public bool Returned { get; }
    }

    /// <summary>A message as a client gets it.</summary>
    public sealed class Delivery
    {
        internal Delivery(JsonObject delivery)
        {
            ConsumerTag = delivery.Optional("consumer_tag") as string;
            DeliveryTag = checked((long)delivery.Number("delivery_tag"));
            Redelivered = delivery.Flag("redelivered");
            Exchange = delivery.Text("exchange");
            RoutingKey = delivery.Text("routing_key");
            Queue = delivery.Text("queue");
            Properties = delivery.Object("properties");
            Headers = delivery.Object("properties").OptionalObject("headers") ?? JsonObject.Empty;
            body = delivery["body"];
        }

        private readonly object body;

        /// <summary>The consumer; <c>null</c> for one that was got.</summary>
        public string ConsumerTag { get; }

        /// <summary>What to acknowledge it by.</summary>
        public long DeliveryTag { get; }

        /// <summary>Whether it was given out before.</summary>
        public bool Redelivered { get; }

        /// <summary>The exchange that it was last published to.</summary>
        public string Exchange { get; }

        /// <summary>The routing key that it was last published with.</summary>
        public string RoutingKey { get; }

        /// <summary>The queue that it comes from.</summary>
        public string Queue { get; }

        /// <summary>Its properties, by AMQP's names.</summary>
        public IReadOnlyDictionary<string, object> Properties { get; }

        /// <summary>Its headers, with those that the broker adds.</summary>
        public IReadOnlyDictionary<string, object> Headers { get; }

        /// <summary>The body.</summary>
        public byte[] Body
        {
            get
            {
                return body is string text
                    ? System.Text.Encoding.UTF8.GetBytes(text)
                    : Convert.FromBase64String(((JsonObject)body).Text("base64"));
            }
        }
    }

    /// <summary>A channel of an embedded broker. A refusal is a <see cref="BrokerRefusedException"/>, and closes it.</summary>
    public sealed class EmbeddedChannel
    {
        private const string Asker = "channel";
        private readonly EmbeddedBroker broker;
        private readonly long number;

        internal EmbeddedChannel(EmbeddedBroker broker, long number)
        {
            this.broker = broker;
            this.number = number;
        }

        private JsonObject Do(string action, object input = null)
        {
            return broker.Do(Asker, number, action, input);
        }

        /// <summary>Whether it is open.</summary>
        public bool IsOpen
        {
            get { return Do("is_open").Flag("open"); }
        }

        /// <summary>Declares a queue.</summary>
        public DeclaredQueue DeclareQueue(Declaration queue)
        {
            return new DeclaredQueue(Do("declare_queue", Engine.Given(queue, nameof(queue)).ToBody()));
        }

        /// <summary>Asks for a queue without declaring it.</summary>
        public DeclaredQueue DeclareQueuePassively(string name)
        {
            return new DeclaredQueue(Do("declare_queue_passively", Named("name", name)));
        }

        /// <summary>Declares an exchange.</summary>
        public void DeclareExchange(Declaration exchange)
        {
            Do("declare_exchange", Engine.Given(exchange, nameof(exchange)).ToBody());
        }

        /// <summary>Asks for an exchange without declaring it.</summary>
        public void DeclareExchangePassively(string name)
        {
            Do("declare_exchange_passively", Named("name", name));
        }

        /// <summary>Makes a binding.</summary>
        public void Bind(Declaration binding)
        {
            Do("bind", Engine.Given(binding, nameof(binding)).ToBody());
        }

        /// <summary>Takes a binding away.</summary>
        public void Unbind(Declaration binding)
        {
            Do("unbind", Engine.Given(binding, nameof(binding)).ToBody());
        }

        /// <summary>Deletes a queue.</summary>
        /// <returns>How many messages are gone with it.</returns>
        public long DeleteQueue(string name, bool ifUnused = false, bool ifEmpty = false)
        {
            var input = Named("name", name);
            input.Add("if_unused", ifUnused);
            input.Add("if_empty", ifEmpty);
            return checked((long)Do("delete_queue", input).Number("messages"));
        }

        /// <summary>Deletes an exchange.</summary>
        public void DeleteExchange(string name, bool ifUnused = false)
        {
            var input = Named("name", name);
            input.Add("if_unused", ifUnused);
            Do("delete_exchange", input);
        }

        /// <summary>Empties a queue.</summary>
        /// <returns>How many messages are gone.</returns>
        public long Purge(string queue)
        {
            return checked((long)Do("purge", Named("queue", queue)).Number("messages"));
        }

        /// <summary>Publishes a message.</summary>
        /// <param name="exchange">The exchange; empty for the default one.</param>
        /// <param name="routingKey">The routing key.</param>
        /// <param name="body">The body.</param>
        /// <param name="properties">Its properties by AMQP's names, as in <c>headers</c>, <c>expiration</c>, <c>priority</c>.</param>
        /// <param name="mandatory">Give it back when no queue gets it.</param>
        public Published Publish(
            string exchange,
            string routingKey,
            byte[] body,
            IReadOnlyDictionary<string, object> properties = null,
            bool mandatory = false)
        {
            var input = Named("exchange", exchange);
            input.Add("routing_key", Engine.Given(routingKey, nameof(routingKey)));
            input.Add("body", Named("base64", Convert.ToBase64String(Engine.Given(body, nameof(body)))));
            input.Add("properties", properties ?? JsonObject.Empty);
            input.Add("mandatory", mandatory);
            return new Published(Do("publish", input));
        }

        /// <summary>Gets a message; <c>null</c> where there is none.</summary>
        public Delivery Get(string queue, bool noAck = false)
        {
            var input = Named("queue", queue);
            input.Add("no_ack", noAck);
            var delivery = Do("get", input).OptionalObject("delivery");
            return delivery == null ? null : new Delivery(delivery);
        }

        /// <summary>Consumes from a queue; <see cref="TakeDeliveries"/> gives what came.</summary>
        /// <returns>The consumer's tag.</returns>
        public string Consume(string queue, bool noAck = false, bool exclusive = false, IReadOnlyDictionary<string, object> arguments = null)
        {
            var input = Named("queue", queue);
            input.Add("no_ack", noAck);
            input.Add("exclusive", exclusive);
            input.Add("arguments", arguments ?? JsonObject.Empty);
            return Do("consume", input).Text("consumer_tag");
        }

        /// <summary>Ends a consumer.</summary>
        public void Cancel(string consumerTag)
        {
            Do("cancel", Named("consumer_tag", consumerTag));
        }

        /// <summary>How many messages each consumer that comes later may hold; 0 is any number.</summary>
        public void Qos(int prefetch, bool global = false)
        {
            Do("qos", new Dictionary<string, object> { { "prefetch", prefetch }, { "global", global } });
        }

        /// <summary>What consumers of this channel got since it was last asked.</summary>
        public IReadOnlyList<Delivery> TakeDeliveries()
        {
            var events = Do("take_events").Objects("events");
            return events.Select(happened => happened.OptionalObject("delivered")).Where(delivery => delivery != null)
                .Select(delivery => new Delivery(delivery)).ToList().AsReadOnly();
        }

        /// <summary>A delivery is done; with <paramref name="multiple"/> everything up to it as well.</summary>
        public void Ack(long deliveryTag, bool multiple = false)
        {
            Do("ack", new Dictionary<string, object> { { "delivery_tag", deliveryTag }, { "multiple", multiple } });
        }

        /// <summary>A delivery failed: back to the queue, or else it dies.</summary>
        public void Nack(long deliveryTag, bool requeue, bool multiple = false)
        {
            Do("nack", new Dictionary<string, object> { { "delivery_tag", deliveryTag }, { "requeue", requeue }, { "multiple", multiple } });
        }

        /// <summary>A delivery failed: back to the queue, or else it dies.</summary>
        public void Reject(long deliveryTag, bool requeue)
        {
            Do("reject", new Dictionary<string, object> { { "delivery_tag", deliveryTag }, { "requeue", requeue } });
        }

        /// <summary>Closes it; what it did not acknowledge goes back.</summary>
        public void Close()
        {
            Do("close_channel");
        }

        private static Dictionary<string, object> Named(string key, string value)
        {
            return new Dictionary<string, object> { { key, Engine.Given(value, key) } };
        }
    }
}
