using System;
using System.Collections.Generic;
using System.Linq;
using AceMq.Core.Json;

namespace AceMq.Core
{
    /// <summary>Which way a migration goes.</summary>
    public enum MigrationDirection
    {
        /// <summary>To the new queue.</summary>
        Forward,

        /// <summary>To the definitions of the start.</summary>
        Back,
    }

    /// <summary>A migration of a queue in use, planned and proven.</summary>
    public sealed class MigrationPlan
    {
        private MigrationPlan(JsonObject answer)
        {
            Document = answer.Object("plan");
            Text = answer.Text("text");
            Checksum = answer.Text("checksum");
            Refused = answer.Optional("refused") as string;
        }

        /// <summary>Plans the migration of a file, YAML or JSON, against a vhost as it is; or the way back.</summary>
        /// <param name="file">Its text.</param>
        /// <param name="vhost">The vhost.</param>
        /// <param name="direction">Which way.</param>
        /// <param name="beginning">For the way back: what <see cref="Beginning"/> said before the first step.</param>
        /// <exception cref="AceMqException">It cannot be planned.</exception>
        public static MigrationPlan Of(string file, Vhost vhost, MigrationDirection direction = MigrationDirection.Forward, IReadOnlyDictionary<string, object> beginning = null)
        {
            return new MigrationPlan(Engine.Ask("migration.plan", Migration.Question(file, vhost, direction, beginning)));
        }

        /// <summary>The document <c>acemq.migration_plan/1</c>.</summary>
        public IReadOnlyDictionary<string, object> Document { get; }

        /// <summary>The plan for people.</summary>
        public string Text { get; }

        /// <summary>SHA-256 of the file's lines, whatever ends them.</summary>
        public string Checksum { get; }

        /// <summary>Why the migration must not run; <c>null</c> when it may.</summary>
        public string Refused { get; }

        /// <summary>What of the new queue was there, or what plain changes find. Record it before the first step, for the way back.</summary>
        public IReadOnlyDictionary<string, object> Beginning
        {
            get { return ((JsonObject)Document).Object("beginning"); }
        }

        /// <inheritdoc/>
        public override string ToString()
        {
            return Text;
        }
    }

    /// <summary>A queue as the broker describes it at a moment.</summary>
    public sealed class QueueSight
    {
        /// <summary>Its name.</summary>
        public string Queue { get; set; }

        /// <summary>Messages that are ready; <c>null</c> where nobody answers for it.</summary>
        public long? Ready { get; set; }

        /// <summary>Messages that consumers hold; <c>null</c> where nobody tells.</summary>
        public long? Unacknowledged { get; set; }

        /// <summary>Its consumers.</summary>
        public long Consumers { get; set; }

        /// <summary>How old its zeros may be, in milliseconds: 0 for a classic queue, two rounds of statistics for a quorum queue.</summary>
        public long LagMilliseconds { get; set; }
    }

    /// <summary>The one thing to do next.</summary>
    public sealed class MigrationOrder
    {
        internal MigrationOrder(JsonObject answer)
        {
            var order = answer.Object("order");
            Document = answer;
            Kind = order.Text("order");
            Action = order.OptionalObject("action");
            Queues = order.ContainsKey("queues") ? order.Texts("queues") : new string[0];
            Pause = TimeSpan.FromMilliseconds(order.ContainsKey("ms") ? order.Number("ms") : 0);
            Why = order.Optional("why") as string;
            Step = (int?)answer.OptionalNumber("step");
            Text = answer.Optional("text") as string;
            Done = (int)answer.Number("done");
            Of = (int)answer.Number("of");
            MessagesLeft = (long)answer.Number("messages_left");
        }

        /// <summary><c>do</c>, <c>look_at</c>, <c>ask_nodes</c>, <c>pause</c>, <c>finished</c>, <c>waiting</c> or <c>stopped</c>.</summary>
        public string Kind { get; }

        /// <summary>For <c>do</c> and <c>ask_nodes</c>: what, as a step of <c>acemq.migration_plan/1</c> has it.</summary>
        public IReadOnlyDictionary<string, object> Action { get; }

        /// <summary>For <c>look_at</c>: the queues.</summary>
        public IReadOnlyList<string> Queues { get; }

        /// <summary>For <c>pause</c>: how long.</summary>
        public TimeSpan Pause { get; }

        /// <summary>For <c>waiting</c> and <c>stopped</c>: why, with the way out.</summary>
        public string Why { get; }

        /// <summary>The number of the step that it belongs to, from 1; <c>null</c> when it is over.</summary>
        public int? Step { get; }

        /// <summary>The step in words.</summary>
        public string Text { get; }

        /// <summary>How many steps are done.</summary>
        public int Done { get; }

        /// <summary>How many steps there are.</summary>
        public int Of { get; }

        /// <summary>Messages that the queues which are waited for held at the last look.</summary>
        public long MessagesLeft { get; }

        /// <summary>The whole answer.</summary>
        public IReadOnlyDictionary<string, object> Document { get; }
    }

    /// <summary>
    /// A migration, or its way back, as one order after the other. Read the vhost, ask, do the one thing, and ask again. Where the
    /// migration is stands in the vhost itself, so a new object goes on where an old one was killed.
    /// </summary>
    public sealed class Migration
    {
        private readonly string file;
        private readonly MigrationDirection direction;
        private readonly IReadOnlyDictionary<string, object> beginning;

        /// <summary>A migration.</summary>
        /// <param name="file">The text of the file, YAML or JSON.</param>
        /// <param name="direction">Which way.</param>
        /// <param name="beginning">For the way back: what <see cref="MigrationPlan.Beginning"/> said before the first step.</param>
        /// <param name="run">What <see cref="Run"/> of another object said.</param>
        public Migration(string file, MigrationDirection direction = MigrationDirection.Forward, IReadOnlyDictionary<string, object> beginning = null, IReadOnlyDictionary<string, object> run = null)
        {
            this.file = Engine.Given(file, nameof(file));
            this.direction = direction;
            this.beginning = beginning;
            Run = run ?? new Dictionary<string, object>();
        }

        /// <summary>What was seen while waiting. It may be kept and given to a new object; nothing is lost with it but time.</summary>
        public IReadOnlyDictionary<string, object> Run { get; private set; }

        /// <summary>What to do now.</summary>
        /// <param name="vhost">The vhost, read just now.</param>
        /// <param name="nowMilliseconds">The time, of a clock that does not go back.</param>
        /// <param name="queues">After <c>look_at</c>: the queues.</param>
        /// <param name="nodesKnow">After <c>ask_nodes</c>: every running node knows.</param>
        /// <exception cref="AceMqException">It cannot be planned.</exception>
        public MigrationOrder Next(Vhost vhost, ulong nowMilliseconds, IEnumerable<QueueSight> queues = null, bool nodesKnow = false)
        {
            var question = Question(file, vhost, direction, beginning);
            question.Add("run", Run);
            question.Add("now_ms", nowMilliseconds);
            if (queues != null)
            {
                question.Add("saw", new Dictionary<string, object> { { "queues", queues.Select(Shown).ToList() } });
            }
            else if (nodesKnow)
            {
                question.Add("saw", "nodes_know");
            }

            var answer = Engine.Ask("migration.step", question);
            Run = answer.Object("run");
            return new MigrationOrder(answer);
        }

        internal static Dictionary<string, object> Question(string file, Vhost vhost, MigrationDirection direction, IReadOnlyDictionary<string, object> beginning)
        {
            var question = new Dictionary<string, object>
            {
                { "file", Engine.Given(file, nameof(file)) },
                { "state", Engine.Given(vhost, nameof(vhost)).Source },
                { "direction", direction == MigrationDirection.Back ? "back" : "forward" },
            };
            Engine.Add(question, "beginning", beginning);
            return question;
        }

        private static Dictionary<string, object> Shown(QueueSight sight)
        {
            return new Dictionary<string, object>
            {
                { "queue", sight.Queue },
                { "ready", sight.Ready },
                { "unacknowledged", sight.Unacknowledged },
                { "consumers", sight.Consumers },
                { "lag_ms", sight.LagMilliseconds },
            };
        }
    }
}
