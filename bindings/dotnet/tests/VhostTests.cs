using System.Collections.Generic;
using System.Linq;

namespace AceMq.Core.Tests
{
    internal static class VhostTests
    {
        private static readonly Topology Orders = Topology.Builder()
            .Exchange("e", "topic")
            .Queue("q").OfType("q", "classic").QueueArg("q", "x-max-length", 7)
            .Bind("q", "e", "a.*")
            .Policy("limits", "^q$", new Dictionary<string, object> { { "max-length", 5 }, { "message-ttl", 1000 } })
            .Build();

        public static void WhatATopologyDeclaresIsExportedAndReadAgain()
        {
            var vhost = Vhost.OfTopology(Orders, rabbitmq: "4.0.5");
            var text = Json.JsonWriter.Write(vhost.Definitions());
            var read = Definitions.Read(text);
            Check.Equal(0, read.Faults.Count);
            Check.Equal(new[] { "/" }, read.Vhosts);
            var again = Vhost.OfDefinitions(text, rabbitmq: "4.0.5");
            Check.Equal(vhost.State()["fingerprint"], again.State()["fingerprint"]);
            Check.Equal(0, read.Preview(rabbitmq: "4.0.5").Count);
            var written = Topology.Parse(again.TopologyText(out var leftOut));
            Check.Equal(0, leftOut.Count);
            Check.Equal(Orders.Tables().Fingerprint, written.Tables().Fingerprint);
        }

        public static void ArgumentsAndPoliciesAreMergedWithReasons()
        {
            var effective = Vhost.OfTopology(Orders, rabbitmq: "4.0.5").EffectiveSettings(NameKind.Queue, "q");
            // Of a limit in both places RabbitMQ takes the smaller one.
            Check.Equal(5, effective.Settings["max-length"].Value);
            Check.Equal("policy", effective.Settings["message-ttl"].Source);
            Check.Equal("limits", effective.Settings["message-ttl"].Policy);
            Check.True(effective.Settings["message-ttl"].Why.Length > 0 && effective.Open.Count == 0, "all of it, with a reason");
            Check.Refuses("no_such_object", () => Vhost.OfTopology(Orders).EffectiveSettings(NameKind.Exchange, "nobody"));
        }

        public static void WhatIsNoExportIsRefused()
        {
            Check.Refuses("definitions_not_json", () => Definitions.Read("{"));
            Check.Throws<AceMqException>(() => Vhost.OfDefinitions("[]").State());
        }

        public static void AScenarioIsPlayed()
        {
            const string scenario = @"
rabbitmq: 4.0.5
topology: { queues: { q: {} } }
steps:
  - publish: { key: q, body: hello }
  - expect: { q: [hello] }
";
            Check.Equal("acemq.simulation/1", EmbeddedBroker.Simulate(scenario)["format"]);
            Check.Refuses("scenario_invalid", () => EmbeddedBroker.Simulate("steps: 1"));
        }

        public static void APolicyIsLaidOpen()
        {
            using (var policy = RetryPolicy.Parse("exponential(6, 10s)"))
            {
                var document = policy.Describe("orders", attempt: 3);
                Check.Equal("acemq.retry/1", document["format"]);
                Check.Equal("orders.retry.40s", document["rung"]);
                Check.Equal(5, ((IReadOnlyList<object>)document["schedule_ms"]).Count());
            }
        }
    }
}
