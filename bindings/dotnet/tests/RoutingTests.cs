using System.Collections.Generic;
using System.Linq;

namespace AceMq.Core.Tests
{
    internal static class RoutingTests
    {
        public static void AMessageGoesWhereItsKeyFits()
        {
            var topology = Topology.Builder()
                .Exchange("events", "topic").Exchange("archive", "fanout")
                .Queue("orders").Queue("all").Queue("cold")
                .Bind("orders", "events", "order.*").Bind("all", "events", "#")
                .BindExchange("archive", "events", "order.#").Bind("cold", "archive")
                .Build();
            using (var router = new Router(Vhost.OfTopology(topology, rabbitmq: "4.0.5")))
            {
                Check.Equal(new[] { "all", "cold", "orders" }, router.Route("events", "order.new").Queues);
                Check.Equal(new[] { "all" }, router.Route("events", "").Queues);
                Check.Equal(new[] { "orders" }, router.Route("", "orders").Queues);
                Check.True(!router.Route("nothing", "k").ExchangeExists, "there is no such exchange");
                var explained = router.Explain("events", "order.new");
                Check.Equal(new[] { "all", "cold", "orders" }, explained.Queues);
                Check.Equal(3, ((IReadOnlyList<object>)explained.Document["copies"]).Count);
            }
        }

        public static void HeadersKeepTheirTypes()
        {
            var topology = Topology.Builder()
                .Exchange("h", "headers").Queue("q")
                .Bind("q", "h", "", new Dictionary<string, object> { { "x-match", "all" }, { "size", 3 } })
                .Build();
            using (var router = new Router(topology))
            {
                Check.Equal(1, router.Route("h", "", new Dictionary<string, object> { { "size", 3 } }).Queues.Count);
                Check.Equal(0, router.Route("h", "", new Dictionary<string, object> { { "size", "3" } }).Queues.Count);
            }
        }

        public static void ADefinitionsExportRoutesAsWell()
        {
            const string export = @"{""rabbit_version"": ""3.10.8"", ""vhosts"": [{""name"": ""/""}],
                ""queues"": [{""name"": ""q"", ""vhost"": ""/"", ""durable"": true, ""auto_delete"": false, ""arguments"": {}}],
                ""exchanges"": [{""name"": ""e"", ""vhost"": ""/"", ""type"": ""direct"", ""durable"": true, ""auto_delete"": false, ""internal"": false, ""arguments"": {}}],
                ""bindings"": [{""source"": ""e"", ""vhost"": ""/"", ""destination"": ""q"", ""destination_type"": ""queue"", ""routing_key"": ""k"", ""arguments"": {}}]}";
            using (var router = new Router(Vhost.OfDefinitions(export, "/")))
            {
                Check.Equal(new[] { "q" }, router.Route("e", "k").Queues);
                Check.Equal(0, router.Route("e", "K").Queues.Count());
            }
            Check.Refuses("no_such_vhost", () => new Router(Vhost.OfDefinitions(export, "other")));
        }
    }
}
