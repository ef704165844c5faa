using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using AceMq.Core.Json;

namespace AceMq.Core.Tests
{
    /// <summary>The operations of the table, each through the typed functions of AceMq.Core where its input has a type there.</summary>
    internal static class TypedCalls
    {
        /// <summary>How many calls went through typed functions.</summary>
        internal static int Direct { get; private set; }

        internal static IReadOnlyDictionary<string, object> Call(string operation, JsonObject input)
        {
            var typed = Typed(operation, input);
            if (typed == null)
            {
                return Engine.Call(operation, input);
            }
            Direct++;
            return typed();
        }

        /// <summary>The typed call; null for an input that no caller of typed functions can give.</summary>
        private static Func<IReadOnlyDictionary<string, object>> Typed(string operation, JsonObject input)
        {
            switch (operation)
            {
                case "duration.parse":
                    return () => Output("ms", Engine.ParseMilliseconds(input.Text("text")));
                case "duration.from_nanoseconds":
                    return () => Output("ms", Nanoseconds(input.Number("nanoseconds")));
                case "duration.from_seconds":
                    return () => Output("ms", Engine.MillisecondsFromSeconds(Number(input["seconds"])));
                case "name.check":
                    return () => CheckName(input);
                case "name.delay":
                    return () => Output("text", Engine.DelayText(input.Number("delay_ms")));
                case "name.implied":
                    return () => Implied(input.Text("queue"));
                case "name.retry_queue":
                    return () => Output("name", Engine.RetryQueue(input.Text("queue"), input.Number("delay_ms")));
                case "retry.policy":
                    return () => Using(input, policy => policy.Document);
                case "retry.schedule":
                    return () => Using(input, policy => Schedule(policy, input));
                case "retry.decide":
                    return Fits(input.OptionalNumber("age_ms")) ? () => Using(input, policy => Decide(policy, input)) : (Func<IReadOnlyDictionary<string, object>>)null;
                case "retry.rung_for":
                    return Fits(input.Number("delay_ms")) ? () => Using(input, policy => RungFor(policy, input)) : (Func<IReadOnlyDictionary<string, object>>)null;
                case "retry.ladder":
                    return () => Using(input, policy => OfLadder(input.Text("queue"), policy, ladder => ladder.Document));
                case "declaration.fingerprint":
                    return () => Fingerprint(input.Object("declaration"));
                case "broker.equivalence":
                    return () => Compare(input);
                case "broker.predict":
                    return () => Predict(input);
                case "broker.explain":
                    return () => Explain(input);
                case "topic.match":
                    return () => Match(input.Text("pattern"), input.Text("key"));
                case "topic.match_all":
                    return () => MatchAll(input.Texts("patterns"), input.Texts("keys"));
                case "embedded.run":
                    return () => RunBroker(input);
                case "plan.session":
                    return () => RunSession(input);
                case "routing.route":
                    return HasVhost(input) && IsPlain(input.Object("message")) ? () => RouteMessage(input) : (Func<IReadOnlyDictionary<string, object>>)null;
                case "definitions.read":
                    return () => ReadDefinitions(input);
                case "definitions.preview":
                    return () => Preview(input);
                case "definitions.state":
                    return HasVhost(input) ? () => VhostOf(input.Object("state")).State() : (Func<IReadOnlyDictionary<string, object>>)null;
                case "migration.plan":
                    return HasVhost(input) ? () => PlanMigration(input) : (Func<IReadOnlyDictionary<string, object>>)null;
                case "migration.step":
                    return HasVhost(input) ? () => StepMigration(input) : (Func<IReadOnlyDictionary<string, object>>)null;
                case "definitions.to_topology":
                    return HasVhost(input) ? () => ToTopology(input) : (Func<IReadOnlyDictionary<string, object>>)null;
                case "topology.to_definitions":
                    return HasVhost(input) ? () => Output("definitions", VhostOf(input.Object("state")).Definitions()) : (Func<IReadOnlyDictionary<string, object>>)null;
                case "policy.effective":
                    return HasVhost(input) ? () => Effective(input) : (Func<IReadOnlyDictionary<string, object>>)null;
                case "retry.describe":
                    return Fits(input.OptionalNumber("age_ms")) ? () => Describe(input) : (Func<IReadOnlyDictionary<string, object>>)null;
                case "topology.check":
                case "topology.tables":
                case "topology.show":
                    return () => OfTopology(operation, Source(input.Object("topology")));
                case "topology.consumer":
                    return () => Consumer(input);
                default:
                    return null;
            }
        }

        private static bool Fits(ulong? milliseconds)
        {
            return (milliseconds ?? 0) <= (ulong)(TimeSpan.MaxValue.Ticks / TimeSpan.TicksPerMillisecond);
        }

        private static Dictionary<string, object> Output(params object[] namesAndValues)
        {
            var output = new Dictionary<string, object>();
            for (var index = 0; index < namesAndValues.Length; index += 2)
            {
                output.Add((string)namesAndValues[index], namesAndValues[index + 1]);
            }
            return output;
        }

        private static double Number(object value)
        {
            return Convert.ToDouble(value, CultureInfo.InvariantCulture);
        }

        private static ulong Nanoseconds(ulong nanoseconds)
        {
            var direct = Engine.MillisecondsFromNanoseconds(nanoseconds);
            Check.Equal(direct, Engine.Milliseconds(TimeSpan.FromTicks((long)(nanoseconds / 100))));
            return direct;
        }

        private static Dictionary<string, object> CheckName(JsonObject input)
        {
            var kind = input.Text("kind") == "exchange" ? NameKind.Exchange : NameKind.Queue;
            var name = Engine.CheckName(kind, input.Text("name"));
            return Output("bytes", name.Bytes, "shown", name.Shown);
        }

        private static Dictionary<string, object> Implied(string queue)
        {
            var names = Engine.ImpliedNames(queue);
            Check.Equal(names.DeadLetterQueue, Engine.DeadLetterQueue(queue));
            Check.Equal(names.ParkedQueue, Engine.ParkedQueue(queue));
            return Output(
                "dead_letter_queue", names.DeadLetterQueue,
                "parked_queue", names.ParkedQueue,
                "dead_letter_exchange", names.DeadLetterExchange,
                "retry_exchange", names.RetryExchange);
        }

        private static IReadOnlyDictionary<string, object> Using(
            JsonObject input, Func<RetryPolicy, IReadOnlyDictionary<string, object>> ask)
        {
            var form = input["policy"];
            using (var policy = form is string text ? RetryPolicy.Parse(text) : RetryPolicy.FromDocument(form))
            {
                return ask(policy);
            }
        }

        private static Dictionary<string, object> Schedule(RetryPolicy policy, JsonObject input)
        {
            var from = (long)(input.OptionalNumber("from") ?? 0);
            var last = Math.Min(policy.Waits, from + (long)(input.OptionalNumber("count") ?? 100));
            var delays = new List<ulong>();
            for (var index = from; index < last; index++)
            {
                delays.Add(policy.DelayMilliseconds(index));
            }
            return Output("entries", policy.Waits, "delays_ms", delays);
        }

        private static IReadOnlyDictionary<string, object> Decide(RetryPolicy policy, JsonObject input)
        {
            var age = input.OptionalMilliseconds("age_ms");
            var u = input.ContainsKey("u") ? Number(input["u"]) : 0.5;
            var decision = policy.Decide((long)input.Number("attempt"), age, u);
            var rung = input.ContainsKey("queue")
                ? OfLadder(input.Text("queue"), policy, ladder => ladder.RungOf(decision)?.Name)
                : null;
            var reasons = new[] { null, "attempts_exhausted", "too_old" };
            return Output(
                "retry", decision.Retry,
                "reason", reasons[(int)decision.Reason],
                "wait_ms", decision.WaitMilliseconds,
                "in_broker", decision.InBroker,
                "give_up_text", decision.GiveUpText,
                "rung", rung);
        }

        private static IReadOnlyDictionary<string, object> RungFor(RetryPolicy policy, JsonObject input)
        {
            var delay = input.OptionalMilliseconds("delay_ms").Value;
            var rung = policy.RungFor(delay);
            var output = Output("delay_ms", rung.HasValue ? Engine.Milliseconds(rung.Value) : (object)null, "rung", null);
            if (input.ContainsKey("queue"))
            {
                var named = OfLadder(input.Text("queue"), policy, ladder => ladder.RungFor(delay));
                Check.Equal(rung, named?.Delay);
                output["rung"] = named?.Name;
            }
            return output;
        }

        private static T OfLadder<T>(string queue, RetryPolicy policy, Func<Ladder, T> ask)
        {
            using (var ladder = new Ladder(queue, policy))
            {
                return ask(ladder);
            }
        }

        private static Declaration Declared(string kind, JsonObject body)
        {
            switch (kind)
            {
                case "queue":
                    return Declaration.Queue(
                        body.Text("name"), Flag(body, "durable", true), Flag(body, "exclusive", false), Flag(body, "auto_delete", false),
                        body.OptionalObject("arguments"));
                case "exchange":
                    return Declaration.Exchange(
                        body.Text("name"), body.Text("type"), Flag(body, "durable", true), Flag(body, "auto_delete", false),
                        Flag(body, "internal", false), body.OptionalObject("arguments"));
                default:
                    return Declaration.Binding(
                        body.Text("source"), body.Text("destination"), body.Optional("routing_key") as string ?? "",
                        body.OptionalObject("arguments"), body.Optional("destination_type") as string == "exchange");
            }
        }

        private static bool Flag(JsonObject body, string name, bool unlessSaid)
        {
            return body.Optional(name) as bool? ?? unlessSaid;
        }

        private static Dictionary<string, object> Fingerprint(JsonObject declared)
        {
            var entry = declared.Single();
            var fingerprint = Engine.Fingerprint(Declared(entry.Key, (JsonObject)entry.Value));
            return Output("canonical", fingerprint.Canonical, "fingerprint", fingerprint.Hash);
        }

        private static Dictionary<string, object> Compare(JsonObject input)
        {
            var answer = Engine.CompareQueues(
                Declared("queue", input.Object("stored")),
                Declared("queue", input.Object("wanted")),
                input.Optional("rabbitmq") as string,
                input.Optional("default_queue_type") as string);
            var differences = answer.Differences.Select(difference => Output(
                "argument", difference.Argument,
                "wanted", difference.Wanted,
                "current", difference.Current,
                "compared", difference.Compared));
            return Output("equivalent", answer.Equivalent, "differences", differences.ToList());
        }

        private static Dictionary<string, object> Predict(JsonObject input)
        {
            var declare = input.Object("declare").Single();
            var bodies = (JsonObject)declare.Value;
            var existing = bodies.OptionalObject("existing");
            var refused = Engine.Predict(
                Declared(declare.Key, bodies.Object("wanted")),
                existing == null ? null : Declared(declare.Key, existing),
                input.Optional("rabbitmq") as string,
                input.Optional("vhost") as string,
                input.Optional("default_queue_type") as string);
            return Output("accepted", refused == null, "refused", refused == null ? null : Refused(refused));
        }

        private static Dictionary<string, object> Refused(BrokerRefusal refused)
        {
            return Output("code", refused.Code, "text", refused.Text, "scope", refused.Scope.ToString().ToLowerInvariant());
        }

        private static Dictionary<string, object> Explain(JsonObject input)
        {
            var refusal = Engine.ReadRefusal(
                input.Text("text"),
                (int?)input.OptionalNumber("code"),
                input.Optional("name") as string,
                input.Optional("vhost") as string);
            return Output(
                "class", refusal.Class,
                "kind", refusal.Kind,
                "name", refusal.Name,
                "vhost", refusal.Vhost,
                "argument", refusal.Argument,
                "received", Side(refusal.Received),
                "current", Side(refusal.Current),
                "absent", refusal.Absent,
                "truncated", refusal.Truncated,
                "says", refusal.Says);
        }

        private static Dictionary<string, object> Side(RefusalValue value)
        {
            return value == null ? null : Output("value", value.Value, "type", value.Type);
        }

        private static Dictionary<string, object> Match(string pattern, string key)
        {
            var matches = Engine.TopicMatches(pattern, key);
            using (var compiled = new TopicPattern(pattern))
            using (var matcher = new TopicMatcher())
            {
                matcher.Insert(pattern, 7);
                Check.Equal(matches, compiled.Matches(key));
                Check.Equal(new[] { matches }, compiled.MatchesAll(new[] { key }));
                Check.Equal(matches ? new long[] { 7 } : new long[0], matcher.Matches(key));
            }
            return Output("matches", matches);
        }

        private static Dictionary<string, object> MatchAll(IReadOnlyList<string> patterns, IReadOnlyList<string> keys)
        {
            using (var matcher = new TopicMatcher())
            {
                for (var index = 0; index < patterns.Count; index++)
                {
                    matcher.Insert(patterns[index], index);
                }
                var matches = matcher.MatchesAll(keys);
                Check.Equal(keys.Select(matcher.Matches).ToList(), matches);
                return Output("matches", matches);
            }
        }

        private static Dictionary<string, object> RunBroker(JsonObject input)
        {
            using (var broker = new EmbeddedBroker(input.OptionalObject("broker") ?? JsonObject.Empty))
            {
                return Output("replies", input.Objects("commands").Select(command => broker.Call(command)).ToList());
            }
        }

        private static Dictionary<string, object> RunSession(JsonObject input)
        {
            using (var session = new PlanSession(input))
            {
                var plan = session.Plan();
                Check.Equal(plan.Finished, session.Finished);
                return Output(
                    "finished", plan.Finished,
                    "questions", session.Questions().Select(question => question.Document).ToList(),
                    "plan", plan.Document,
                    "text", plan.Render(PlanStyle.Plan, (int)(input.OptionalNumber("width") ?? 0)),
                    "lines", plan.Render(PlanStyle.Lines),
                    "block", plan.RenderWithoutNotes(),
                    "lines_block", plan.RenderWithoutNotes(PlanStyle.Lines),
                    "drift", plan.DriftText,
                    "error", plan.Error);
            }
        }

        /// <summary>Whether the message has nothing that a caller of the router could not say.</summary>
        private static bool IsPlain(JsonObject message)
        {
            return message.Keys.All(new[] { "exchange", "key", "headers", "explain" }.Contains);
        }

        private static Vhost VhostOf(JsonObject state)
        {
            var name = state.Optional("vhost") as string;
            var rabbitmq = state.Optional("rabbitmq") as string;
            var type = state.Optional("default_queue_type") as string;
            return state.ContainsKey("topology")
                ? Vhost.OfTopology(Source(state.Object("topology")), name, rabbitmq, type)
                : Vhost.OfDefinitions(DefinitionsOf(state), name, rabbitmq, type);
        }

        private static string DefinitionsOf(JsonObject input)
        {
            var definitions = input.Object("definitions");
            return definitions.Optional("text") as string ?? definitions["document"].ToString();
        }

        private static bool HasVhost(JsonObject input)
        {
            return input.Object("state").ContainsKey("topology") != input.Object("state").ContainsKey("definitions");
        }

        private static Dictionary<string, object> ToTopology(JsonObject input)
        {
            var text = VhostOf(input.Object("state")).TopologyText(out var leftOut);
            return Output("text", text, "left_out", leftOut);
        }

        private static Dictionary<string, object> Effective(JsonObject input)
        {
            var kind = input.Text("kind") == "exchange" ? NameKind.Exchange : NameKind.Queue;
            var effective = VhostOf(input.Object("state")).EffectiveSettings(kind, input.Text("name"));
            var settings = effective.Settings.ToDictionary(
                entry => entry.Key,
                entry => (object)Output("value", entry.Value.Value, "source", entry.Value.Source, "policy", entry.Value.Policy, "why", entry.Value.Why));
            return Output("settings", settings, "open", effective.Open);
        }

        private static Dictionary<string, object> ReadDefinitions(JsonObject input)
        {
            var read = Definitions.Read(DefinitionsOf(input));
            return Output("layout", read.Layout, "product", read.Product, "rabbitmq", read.RabbitMq, "vhosts", read.Vhosts, "faults", read.Faults);
        }

        private static MigrationDirection Direction(JsonObject input)
        {
            return input.Optional("direction") as string == "back" ? MigrationDirection.Back : MigrationDirection.Forward;
        }

        private static Dictionary<string, object> PlanMigration(JsonObject input)
        {
            var plan = MigrationPlan.Of(input.Text("file"), VhostOf(input.Object("state")), Direction(input), input.OptionalObject("beginning"));
            return Output("plan", plan.Document, "text", plan.Text, "checksum", plan.Checksum, "refused", plan.Refused);
        }

        private static IReadOnlyDictionary<string, object> StepMigration(JsonObject input)
        {
            var migration = new Migration(input.Text("file"), Direction(input), input.OptionalObject("beginning"), input.OptionalObject("run"));
            var saw = input.Optional("saw");
            var queues = (saw as JsonObject)?.Objects("queues").Select(SightOf);
            return migration.Next(VhostOf(input.Object("state")), input.Number("now_ms"), queues, saw is string).Document;
        }

        private static QueueSight SightOf(JsonObject sight)
        {
            return new QueueSight
            {
                Queue = sight.Text("queue"),
                Ready = (long?)sight.OptionalNumber("ready"),
                Unacknowledged = (long?)sight.OptionalNumber("unacknowledged"),
                Consumers = (long)(sight.OptionalNumber("consumers") ?? 0),
                LagMilliseconds = (long)(sight.OptionalNumber("lag_ms") ?? 0),
            };
        }

        private static Dictionary<string, object> Preview(JsonObject input)
        {
            var there = input.ContainsKey("there") ? input.Objects("there").Select(VhostOf) : null;
            return Output("effects", Definitions.Read(DefinitionsOf(input)).Preview(there, input.Optional("rabbitmq") as string));
        }

        private static IReadOnlyDictionary<string, object> Describe(JsonObject input)
        {
            return Using(input, policy => policy.Describe(
                input.Optional("queue") as string,
                (long?)input.OptionalNumber("attempt"),
                input.OptionalMilliseconds("age_ms"),
                input.ContainsKey("u") ? Number(input["u"]) : 0.5,
                Flag(input, "all", false)));
        }

        private static IReadOnlyDictionary<string, object> RouteMessage(JsonObject input)
        {
            var state = input.Object("state");
            var message = input.Object("message");
            var exchange = message.Optional("exchange") as string ?? "";
            var key = message.Optional("key") as string ?? "";
            using (var router = new Router(VhostOf(state)))
            {
                var headers = message.OptionalObject("headers");
                return Flag(message, "explain", true)
                    ? router.Explain(exchange, key, headers).Document
                    : router.Route(exchange, key, headers).Document;
            }
        }

        private static Topology Source(JsonObject source)
        {
            var form = source.Single();
            switch (form.Key)
            {
                case "text":
                    return Topology.Parse((string)form.Value);
                case "document":
                    return Topology.FromDocument((JsonObject)form.Value);
                default:
                    return Topology.Built((JsonObject)form.Value);
            }
        }

        private static IReadOnlyDictionary<string, object> OfTopology(string operation, Topology topology)
        {
            switch (operation)
            {
                case "topology.tables":
                    return topology.Tables().Document;
                case "topology.show":
                    return Output("text", topology.Intent());
                default:
                    var problems = topology.Problems().Select(problem => Output(
                        "code", problem.Code,
                        "severity", problem.IsError ? "error" : "warning",
                        "object", problem.Object,
                        "fields", problem.Fields,
                        "message", problem.Message,
                        "help", problem.Help,
                        "at", problem.Line.HasValue ? Output("line", problem.Line, "column", problem.Column) : null));
                    return Output("format", "acemq.check/1", "problems", problems.ToList());
            }
        }

        private static IReadOnlyDictionary<string, object> Consumer(JsonObject input)
        {
            if (input.Optional("policy") == null)
            {
                return Topology.ConsumerDeclarations(input.Text("queue")).Document;
            }
            return Using(input, policy => Topology.ConsumerDeclarations(input.Text("queue"), policy).Document);
        }
    }
}
