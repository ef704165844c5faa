using System;
using System.Collections.Generic;
using System.Linq;

namespace AceMq.Core.Tests
{
    internal static class TopologyTests
    {
        private const string Document = @"
exchanges:
  orders: { type: topic }
queues:
  orders.new: { dead_letter: true, retry: ""exponential(6, 10s)"" }
bindings:
  - { queue: orders.new, exchange: orders, routing_key: ""order.*"" }
";

        private static TopologyBuilder Builder()
        {
            return Topology.Builder()
                .Bind("orders.new", "orders", "order.*")
                .Retries("orders.new", "exponential(6, 10s)")
                .QueueWithDeadLetter("orders.new")
                .Exchange("orders", "topic");
        }

        private static Declaration Queue(TopologyTables tables, string name)
        {
            return tables.Queues.Single(queue => queue.Name == name);
        }

        public static void WhatIsBuiltIsWhatTheDocumentSays()
        {
            var built = Builder().Build().Tables();
            var parsed = Topology.Parse(Document).Tables();
            Check.Equal(parsed.Document, built.Document);
            Check.Equal(
                new[] { "orders.new", "orders.new.dlq", "orders.new.parked", "orders.new.retry.40s", "orders.new.retry.80s", "orders.new.retry.160s" },
                built.Queues.Select(each => each.Name).ToArray());
            Check.Equal(new[] { "orders", "acemq.dlx", "acemq.retry" }, built.Exchanges.Select(exchange => exchange.Name).ToArray());
            var queue = Queue(built, "orders.new");
            Check.Equal("quorum", queue.Arguments["x-queue-type"]);
            Check.Equal("acemq.dlx", queue.Arguments["x-dead-letter-exchange"]);
            Check.Equal("orders.new.dlq", queue.Arguments["x-dead-letter-routing-key"]);
            Check.True(queue.Durable && !queue.Exclusive && !queue.AutoDelete, "durable and shared");
            var binding = built.Bindings.Last();
            Check.Equal("orders", binding.Source);
            Check.Equal("orders.new", binding.Destination);
            Check.Equal("order.*", binding.RoutingKey);
            Check.True(!binding.ToExchange, "to a queue");
        }

        public static void EveryCallOfTheBuilderArrives()
        {
            var tables = Topology.Builder()
                .Exchange("e", "direct")
                .Exchange(Declaration.Exchange("inner", "fanout", durable: false, autoDelete: true, isInternal: true))
                .ExternalExchange("theirs")
                .Queue("plain")
                .Queue(Declaration.Queue("own", durable: false, exclusive: true, arguments: new Dictionary<string, object> { { "x-max-length", 7 } }))
                .ClassicQueueWithDeadLetter("classic", new Dictionary<string, object> { { "x-max-priority", 5 } })
                .Queue("kind").OfType("kind", "stream").QueueArg("kind", "x-max-age", "7D")
                .Queue("dead").DeadLetterTo("dead", "e")
                .Queue("letters").DeadLetters("letters")
                .Queue("brief").Transient("brief").AutoDelete("brief")
                .Queue("mine").Exclusive("mine")
                .BindExchange("inner", "theirs", "k", new Dictionary<string, object> { { "a", true } })
                .Policy("limits", "^plain$", new Dictionary<string, object> { { "max-length", 100 } }, "queues", 3)
                .Build()
                .Tables();
            var inner = tables.Exchanges.Single(exchange => exchange.Name == "inner");
            Check.True(inner.Type == "fanout" && !inner.Durable && inner.AutoDelete && inner.Internal, "inner");
            Check.True(tables.Exchanges.All(exchange => exchange.Name != "theirs"), "an external exchange is not declared");
            Check.Equal("quorum", Queue(tables, "plain").Arguments["x-queue-type"]);
            var own = Queue(tables, "own");
            Check.True(!own.Durable && own.Exclusive, "own");
            Check.Equal(7, own.Arguments["x-max-length"]);
            var classic = Queue(tables, "classic");
            Check.Equal(5, classic.Arguments["x-max-priority"]);
            Check.Equal("classic.dlq", classic.Arguments["x-dead-letter-routing-key"]);
            Check.Equal("stream", Queue(tables, "kind").Arguments["x-queue-type"]);
            Check.Equal("7D", Queue(tables, "kind").Arguments["x-max-age"]);
            Check.Equal("e", Queue(tables, "dead").Arguments["x-dead-letter-exchange"]);
            Check.Equal("letters.dlq", Queue(tables, "letters").Arguments["x-dead-letter-routing-key"]);
            Check.True(!Queue(tables, "brief").Durable && Queue(tables, "brief").AutoDelete, "brief");
            Check.True(Queue(tables, "mine").Exclusive, "mine");
            var binding = tables.Bindings.Single(each => each.Source == "theirs");
            Check.True(binding.ToExchange && binding.Destination == "inner" && binding.RoutingKey == "k", "binding");
            Check.Equal(true, binding.Arguments["a"]);
            var policy = tables.Policies.Single();
            Check.Equal("limits", policy.Name);
            Check.Equal(100, policy.Arguments["max-length"]);
        }

        public static void LaterChangesOfTheCallersDictionariesDoNotArrive()
        {
            var arguments = new Dictionary<string, object> { { "x-max-length", 1 } };
            var queue = Declaration.Queue("q", arguments: arguments);
            var builder = Topology.Builder().ClassicQueueWithDeadLetter("c", arguments);
            var before = builder.Build();
            arguments["x-max-length"] = 2;
            builder.Queue("later");
            Check.Equal(1, queue.Arguments["x-max-length"]);
            Check.Equal(1, Queue(before.Tables(), "c").Arguments["x-max-length"]);
            Check.True(before.Tables().Queues.All(each => each.Name != "later"), "what was built stays");
        }

        public static void AllProblemsAreToldWithTheirPlaces()
        {
            var topology = Topology.Parse("queues:\n  amq.mine: {}\nbindings:\n  - { queue: nobody, exchange: nothing }\n");
            var problems = topology.Problems().Where(problem => problem.IsError).ToList();
            Check.True(problems.Count >= 3, "the name, the queue and the exchange: " + string.Join(", ", problems.Select(problem => problem.Code)));
            var reserved = problems.Single(problem => problem.Code == "name_reserved");
            Check.Equal(2, reserved.Line);
            Check.Equal("amq.mine", reserved.Object["name"]);
            Check.True(reserved.Message.Length > 0 && reserved.Help.Length > 0 && reserved.Fields != null, "a sentence and the way out");
            var error = Check.Throws<AceMqException>(() => topology.Tables());
            Check.Equal(problems.Select(problem => problem.Code).ToList(), error.Problems.Select(problem => problem.Code).ToList());
            Check.Throws<AceMqException>(() => topology.Intent());
        }

        public static void ABuiltTopologyWithProblemsIsBuiltAllTheSame()
        {
            var topology = Topology.Builder().Bind("nobody", "nothing").OfType("nowhere", "stream").Build();
            var problems = topology.Problems();
            Check.True(problems.Count(problem => problem.IsError) >= 3, "all of them");
            Check.Equal(null, problems[0].Line);
        }

        public static void TheIntentHasALineForEachDeclaration()
        {
            Check.Contains("orders.new.retry.40s", Builder().Build().Intent());
        }

        public static void AConsumerDeclaresWhatItNeedsAndNotItsQueue()
        {
            using (var policy = RetryPolicy.Exponential(6, TimeSpan.FromSeconds(10)))
            {
                var tables = Topology.ConsumerDeclarations("orders", policy);
                Check.True(tables.Queues.All(queue => queue.Name != "orders"), "never the queue itself");
                Check.True(tables.Queues.Any(queue => queue.Name == "orders.retry.40s"), "its rungs");
            }
            Check.True(Topology.ConsumerDeclarations("orders").Queues.All(queue => !queue.Name.Contains(".retry.")), "no rungs without a policy");
            Check.Refuses("name_too_long", () => Topology.ConsumerDeclarations(new string('q', 255)));
        }

        public static void FingerprintsTellDeclarationsApart()
        {
            var queue = Declaration.Queue("q", arguments: new Dictionary<string, object> { { "x-queue-type", "quorum" } });
            var same = Declaration.Queue("q", arguments: new Dictionary<string, object> { { "x-queue-type", "quorum" } });
            Check.Equal(Engine.Fingerprint(queue).Hash, Engine.Fingerprint(same).Hash);
            Check.True(Engine.Fingerprint(Declaration.Queue("q")).Hash != Engine.Fingerprint(queue).Hash, "another table");
            Check.Equal(64, Engine.Fingerprint(Declaration.Binding("e", "q", "k")).Hash.Length);
            var table = Topology.Builder().Queue("q").Build().Tables().Queues.Single();
            Check.Equal(table.Document["fingerprint"], Engine.Fingerprint(table).Hash);
        }

        public static void ARefusalIsPredictedAndRead()
        {
            var stored = Declaration.Queue("orders", arguments: new Dictionary<string, object> { { "x-queue-type", "classic" } });
            var wanted = Declaration.Queue("orders", arguments: new Dictionary<string, object> { { "x-queue-type", "quorum" } });
            var refused = Engine.Predict(wanted, stored, "4.0.5");
            // As RabbitMQ 4.0 answers.
            Check.Equal(
                "406 PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'orders' in vhost '/': received 'quorum' but current is 'classic'",
                refused.ToString());
            Check.Equal(RefusalScope.Channel, refused.Scope);
            Check.Equal(null, Engine.Predict(wanted, wanted, "4.0.5"));

            var read = Engine.ReadRefusal(refused.Text, refused.Code, "orders", "/");
            Check.Equal("inequivalent", read.Class);
            Check.Equal("x-queue-type", read.Argument);
            Check.Equal("quorum", read.Received.Value);
            Check.Equal("classic", read.Current.Value);
            Check.Equal("orders", read.Name);
            Check.True(!read.Truncated && read.Absent == null && read.Says == read.ToString(), "whole");
            Check.Equal("other", Engine.ReadRefusal("something else").Class);

            var compared = Engine.CompareQueues(stored, wanted, "4.0.5");
            Check.True(!compared.Equivalent, "another type");
            var difference = compared.Differences.Single();
            Check.Equal("x-queue-type", difference.Argument);
            Check.Equal("quorum", difference.Wanted);
            Check.Equal("classic", difference.Current);
            Check.True(difference.Compared, "the broker compares it");
            Check.Refuses("version_unknown", () => Engine.CompareQueues(stored, wanted, "four"));
        }

        public static void ValuesWithoutAPlaceInATableAreTheCallersMistake()
        {
            Check.Throws<ArgumentException>(() => Declaration.Queue("q", arguments: new Dictionary<string, object> { { "x", new object() } }));
            Check.Throws<ArgumentException>(() => Topology.Builder().Queue("q").QueueArg("q", "x", double.NaN));
            Check.Throws<ArgumentNullException>(() => Topology.Builder().Queue((string)null));
            Check.Throws<ArgumentNullException>(() => Topology.Parse(null));
        }
    }
}
