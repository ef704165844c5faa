using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;

namespace AceMq.Core.Tests
{
    internal static class EmbeddedTests
    {
        private static readonly byte[] Body = Encoding.UTF8.GetBytes("größe");

        private static EmbeddedBroker Broker(Topology topology = null)
        {
            return new EmbeddedBroker(new EmbeddedBrokerSettings { RabbitMq = "4.0.5", Topology = topology });
        }

        private static Dictionary<string, object> Some(string name, object value)
        {
            return new Dictionary<string, object> { { name, value } };
        }

        public static void AMessageGoesInAndComesOut()
        {
            using (var broker = Broker())
            {
                var channel = broker.Connect().OpenChannel();
                channel.DeclareExchange(Declaration.Exchange("e", "topic"));
                Check.Equal("q", channel.DeclareQueue(Declaration.Queue("q")).Name);
                channel.Bind(Declaration.Binding("e", "q", "a.*"));
                var published = channel.Publish("e", "a.b", Body, Some("headers", Some("n", 1)));
                Check.Equal(new[] { "q" }, published.Queues);
                Check.True(published.Confirmed && !published.Returned, "confirmed");
                Check.True(channel.Publish("e", "b", Body, mandatory: true).Returned, "nobody wants it");
                Check.Equal(1, channel.DeclareQueuePassively("q").Messages);

                var delivery = channel.Get("q");
                Check.True(delivery.Body.SequenceEqual(Body), "the body");
                Check.Equal("e", delivery.Exchange);
                Check.Equal("a.b", delivery.RoutingKey);
                Check.Equal(1, delivery.Headers["n"]);
                Check.True(!delivery.Redelivered && delivery.ConsumerTag == null, "got for the first time");
                channel.Nack(delivery.DeliveryTag, requeue: true);
                delivery = channel.Get("q");
                Check.True(delivery.Redelivered, "again");
                channel.Ack(delivery.DeliveryTag);
                Check.Equal(null, channel.Get("q"));
                Check.Equal(0, channel.DeleteQueue("q"));
                channel.DeleteExchange("e");
            }
        }

        public static void BytesThatAreNoTextStayWhatTheyAre()
        {
            using (var broker = Broker())
            {
                var channel = broker.Connect().OpenChannel();
                channel.DeclareQueue(Declaration.Queue("q"));
                var bytes = Enumerable.Range(0, 256).Select(value => (byte)value).ToArray();
                channel.Publish("", "q", bytes);
                channel.Publish("", "q", new byte[0]);
                Check.True(channel.Get("q", noAck: true).Body.SequenceEqual(bytes), "all bytes");
                Check.Equal(0, channel.Get("q", noAck: true).Body.Length);
            }
        }

        public static void ARejectedMessageGoesToTheDeadLetterQueue()
        {
            using (var broker = Broker(Topology.Builder().QueueWithDeadLetter("orders").Build()))
            {
                var channel = broker.Connect().OpenChannel();
                channel.Qos(1);
                var tag = channel.Consume("orders");
                channel.Publish("", "orders", Body);
                channel.Publish("", "orders", Body);
                var delivery = channel.TakeDeliveries().Single();
                Check.Equal(tag, delivery.ConsumerTag);
                channel.Reject(delivery.DeliveryTag, requeue: false);
                Check.Equal(1, ((IReadOnlyList<object>)broker.Contents("orders.dlq")["ready"]).Count);
                Check.Equal(1, channel.TakeDeliveries().Count);
                channel.Cancel(tag);
                var dead = channel.Get("orders.dlq");
                Check.True(dead.Headers.ContainsKey("x-death"), "with its history");
                channel.Close();
                Check.True(!channel.IsOpen, "closed");
            }
        }

        public static void ARetryComesBackWhenItsTimeHasCome()
        {
            var topology = Topology.Builder().QueueWithDeadLetter("orders").Retries("orders", "exponential(6, 10s)").Build();
            using (var broker = Broker(topology))
            using (var policy = RetryPolicy.Parse("exponential(6, 10s)"))
            using (var ladder = new Ladder("orders", policy))
            {
                var channel = broker.Connect().OpenChannel();
                var rung = ladder.RungOf(policy.Decide(3));
                channel.Publish("", rung.Name, Body);
                broker.Advance(TimeSpan.FromMilliseconds(39999));
                Check.Equal(null, channel.Get("orders"));
                Check.Equal(DateTimeOffset.FromUnixTimeMilliseconds(40000), broker.Advance(TimeSpan.FromMilliseconds(1)));
                Check.True(channel.Get("orders").Body.SequenceEqual(Body), "it is back");
            }
        }

        public static void ARefusalIsAnExceptionInTheBrokersWordsAndClosesTheChannel()
        {
            using (var broker = Broker())
            {
                var connection = broker.Connect();
                var channel = connection.OpenChannel();
                var refused = Check.Throws<BrokerRefusedException>(() => channel.Get("nobody"));
                Check.Equal("404 NOT_FOUND - no queue 'nobody' in vhost '/'", refused.Message);
                Check.Equal(404, refused.Refusal.Code);
                Check.True(!channel.IsOpen && connection.IsOpen, "the channel is closed, the connection is not");
                var number = broker.Call(Some("connect", new Dictionary<string, object>()))["connection"];
                var command = Some("connection", number);
                command.Add("declare_queue_passively", Some("name", "nobody"));
                var reply = (IReadOnlyDictionary<string, object>)broker.Call(command)["refused"];
                Check.Equal(404, reply["code"]);
                Check.Refuses("command_not_one", () => broker.Call(new Dictionary<string, object>()));
                connection.Close();
                Check.True(!connection.IsOpen, "closed");
            }
        }

        public static void AllRequestsOfAChannelArrive()
        {
            using (var broker = Broker())
            {
                var channel = broker.Connect().OpenChannel();
                channel.DeclareExchange(Declaration.Exchange("a", "fanout"));
                channel.DeclareExchange(Declaration.Exchange("b", "fanout"));
                channel.DeclareExchangePassively("a");
                channel.DeclareQueue(Declaration.Queue("q"));
                channel.Bind(Declaration.Binding("a", "b", toExchange: true));
                channel.Bind(Declaration.Binding("b", "q"));
                Check.Equal(1, channel.Publish("a", "", Body).Queues.Count);
                Check.Equal(1, channel.Purge("q"));
                channel.Unbind(Declaration.Binding("a", "b", toExchange: true));
                Check.Equal(0, channel.Publish("a", "", Body).Queues.Count);
                Check.Throws<BrokerRefusedException>(() => channel.DeclareExchangePassively("c"));
            }
        }

        public static void ACloneGoesItsOwnWay()
        {
            using (var broker = Broker(Topology.Builder().Queue("q").Build()))
            using (var clone = broker.Clone())
            {
                broker.Connect().OpenChannel().Publish("", "q", Body);
                Check.Equal(1, ((IReadOnlyList<object>)broker.Contents("q")["ready"]).Count);
                Check.Equal(0, ((IReadOnlyList<object>)clone.Contents("q")["ready"]).Count);
                Check.Equal(null, clone.Contents("nobody"));
                Check.True(clone.Definitions().ContainsKey("queues"), "an export");
            }
        }

        public static void ABrokerStartsFromAnExport()
        {
            using (var first = Broker(Topology.Builder().Queue("q").Build()))
            {
                var text = Json.JsonWriter.Write(first.Definitions());
                using (var second = new EmbeddedBroker(new EmbeddedBrokerSettings { Definitions = text }))
                {
                    Check.True(second.Contents("q") != null, "the queue is there");
                }
            }
            Check.Refuses("version_unknown", () => new EmbeddedBroker(new EmbeddedBrokerSettings { RabbitMq = "x" }));
        }
    }
}
