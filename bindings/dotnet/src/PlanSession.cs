using System;
using System.Collections.Generic;
using System.Linq;
using AceMq.Core.Json;
using AceMq.Core.Native;

namespace AceMq.Core
{
    /// <summary>What a plan is for.</summary>
    public enum PlanMode
    {
        /// <summary>Report; nothing counts as a failure.</summary>
        DryRun,

        /// <summary>Create what is missing.</summary>
        CreateOnly,

        /// <summary>Change nothing.</summary>
        Validate,
    }

    /// <summary>What a session knows about the broker and may do to it.</summary>
    public sealed class PlanSettings
    {
        /// <summary>What the plan is for.</summary>
        public PlanMode Mode { get; set; } = PlanMode.CreateOnly;

        /// <summary>The <c>product</c> of the connection's server properties; RabbitMQ unless said.</summary>
        public string Product { get; set; }

        /// <summary>The <c>version</c> of the connection's server properties.</summary>
        public string Version { get; set; }

        /// <summary>The vhost of the connection.</summary>
        public string Vhost { get; set; }

        /// <summary>Ask about exchanges too.</summary>
        public bool Exchanges { get; set; }

        /// <summary>Go on to declare.</summary>
        public bool Apply { get; set; }

        /// <summary>Leave exclusive queues to the service that owns them.</summary>
        public bool SkipExclusive { get; set; }

        /// <summary>Policies can be set, through the management API.</summary>
        public bool CanSetPolicies { get; set; }

        /// <summary>Set policies that are there with another definition.</summary>
        public bool UpdatePolicies { get; set; }

        /// <summary>Declare nothing while an answer is missing.</summary>
        public bool Strict { get; set; }

        internal Dictionary<string, object> ToInput(Topology topology)
        {
            var modes = new[] { "dry_run", "create_only", "validate" };
            var input = new Dictionary<string, object>
            {
                { "topology", topology.Source },
                { "mode", modes[(int)Mode] },
                { "exchanges", Exchanges },
                { "apply", Apply },
                { "skip_exclusive", SkipExclusive },
                { "can_set_policies", CanSetPolicies },
                { "update_policies", UpdatePolicies },
                { "strict", Strict },
            };
            Engine.Add(input, "product", Product);
            Engine.Add(input, "version", Version);
            Engine.Add(input, "vhost", Vhost);
            return input;
        }
    }

    /// <summary>A question to the broker.</summary>
    public sealed class PlanQuestion
    {
        internal PlanQuestion(JsonObject question)
        {
            Document = question;
            Id = checked((long)question.Number("id"));
            Ask = question.Text("ask");
            Name = question.Text("name");
            var declaration = question.OptionalObject("declaration");
            Declaration = declaration == null ? null : Declaration.Of(declaration.Text("kind"), declaration);
        }

        /// <summary>Its number, for the answer.</summary>
        public long Id { get; }

        /// <summary>
        /// <c>queue_passive</c>, <c>queue_offer</c>, <c>exchange_passive</c>, <c>exchange_offer</c>; when applying also
        /// <c>declare</c>, <c>bind</c> and <c>set_policy</c>.
        /// </summary>
        public string Ask { get; }

        /// <summary>What it is about.</summary>
        public string Name { get; }

        /// <summary>What to send; <c>null</c> for a passive question.</summary>
        public Declaration Declaration { get; }

        /// <summary>The question as the engine wrote it.</summary>
        public IReadOnlyDictionary<string, object> Document { get; }

        /// <summary>What is asked, of what.</summary>
        public override string ToString()
        {
            return Id + " " + Ask + " " + Name;
        }
    }

    /// <summary>
    /// A plan while it is made: it asks numbered questions about a broker, takes the answers in any order, and says what an
    /// apply would do or did. It talks to no broker itself: the host asks its own AMQP client.
    /// </summary>
    /// <remarks>It changes, and may be used from any thread. Ask each question on a channel of its own: a refusal closes it.</remarks>
    public sealed unsafe class PlanSession : IDisposable
    {
        private readonly PlanSessionHandle handle;

        /// <summary>Starts a session.</summary>
        /// <exception cref="AceMqException">Every problem of the topology, or a version that is none.</exception>
        public PlanSession(Topology topology, PlanSettings settings = null)
            : this((settings ?? new PlanSettings()).ToInput(Engine.Given(topology, nameof(topology))))
        {
        }

        /// <summary>Starts a session from the input of the operation <c>plan.session</c>, whose answers are taken at once.</summary>
        /// <exception cref="AceMqException">It is no such input, or an answer is refused.</exception>
        public PlanSession(IReadOnlyDictionary<string, object> input)
        {
            NativeLoader.Require();
            var bytes = Interop.Bytes(JsonWriter.Write(Engine.Given(input, nameof(input))), nameof(input));
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_plan_session_new(pointer, Interop.Size(bytes.Length), out handle, out var error);
                Interop.Check(status, error);
            }
        }

        /// <summary>Every open question.</summary>
        public IReadOnlyList<PlanQuestion> Questions()
        {
            var status = NativeMethods.acemq_plan_session_questions(handle, out var text, out var error);
            return Listed(Interop.Take(status, ref text, error));
        }

        /// <summary>Open questions that were not given out yet: what a host with that many free channels asks next.</summary>
        public IReadOnlyList<PlanQuestion> NextQuestions(int limit = int.MaxValue)
        {
            if (limit < 0)
            {
                throw new ArgumentOutOfRangeException(nameof(limit), limit, "a number of questions is not negative");
            }
            var status = NativeMethods.acemq_plan_session_next_questions(handle, Interop.Size(limit), out var text, out var error);
            return Listed(Interop.Take(status, ref text, error));
        }

        private static IReadOnlyList<PlanQuestion> Listed(string text)
        {
            var questions = (IReadOnlyList<object>)JsonReader.Read(text);
            return questions.Select(question => new PlanQuestion((JsonObject)question)).ToList().AsReadOnly();
        }

        /// <summary>The broker did it; a queue has these many messages and consumers.</summary>
        /// <exception cref="AceMqException">No question of that number is open.</exception>
        public void AnswerOk(long id, long messages = 0, long consumers = 0)
        {
            var ok = new Dictionary<string, object> { { "messages", messages }, { "consumers", consumers } };
            Answer(new Dictionary<string, object> { { "id", id }, { "ok", ok } });
        }

        /// <summary>The broker refused.</summary>
        /// <exception cref="AceMqException">No question of that number is open.</exception>
        public void AnswerRefused(long id, BrokerRefusal refusal)
        {
            Answer(new Dictionary<string, object> { { "id", id }, { "refused", Engine.Given(refusal, nameof(refusal)).ToInput() } });
        }

        /// <summary>There is no answer: the connection was lost, or nothing came in time.</summary>
        /// <exception cref="AceMqException">No question of that number is open.</exception>
        public void AnswerFailed(long id, string why)
        {
            Answer(new Dictionary<string, object> { { "id", id }, { "failed", Engine.Given(why, nameof(why)) } });
        }

        /// <summary>This host cannot ask that.</summary>
        /// <exception cref="AceMqException">No question of that number is open.</exception>
        public void AnswerCannot(long id, string why)
        {
            Answer(new Dictionary<string, object> { { "id", id }, { "cannot", Engine.Given(why, nameof(why)) } });
        }

        /// <summary>An answer as it was recorded: <c>id</c> with one of <c>ok</c>, <c>refused</c>, <c>failed</c> and <c>cannot</c>.</summary>
        /// <exception cref="AceMqException">It is no answer, or no question of that number is open; the session stays as it was.</exception>
        public void Answer(IReadOnlyDictionary<string, object> answer)
        {
            var bytes = Interop.Bytes(JsonWriter.Write(Engine.Given(answer, nameof(answer))), nameof(answer));
            fixed (byte* pointer = bytes)
            {
                var status = NativeMethods.acemq_plan_session_answer(handle, pointer, Interop.Size(bytes.Length), out var error);
                Interop.Check(status, error);
            }
        }

        /// <summary>Ends it before its end: what was not asked stays unknown, what was not sent is not sent.</summary>
        public void Interrupt()
        {
            var status = NativeMethods.acemq_plan_session_interrupt(handle, out var error);
            Interop.Check(status, error);
        }

        /// <summary>Whether nothing is left to ask or to declare.</summary>
        public bool Finished
        {
            get
            {
                var status = NativeMethods.acemq_plan_session_finished(handle, out var error);
                Interop.Check(status, error);
                return status != 0;
            }
        }

        /// <summary>The plan as it stands, at any time.</summary>
        public Plan Plan()
        {
            return new Plan(this, State());
        }

        /// <summary>The plan as text, as it stands.</summary>
        /// <param name="style">The style.</param>
        /// <param name="width">Wrap lines of the plan style at this many columns; 0 for not at all.</param>
        public string Render(PlanStyle style = PlanStyle.Plan, int width = 0)
        {
            if (width < 0)
            {
                throw new ArgumentOutOfRangeException(nameof(width), width, "a number of columns is not negative");
            }
            var status = NativeMethods.acemq_plan_session_render(handle, (int)style, Interop.Size(width), out var text, out var error);
            return Interop.Take(status, ref text, error);
        }

        internal JsonObject State()
        {
            var status = NativeMethods.acemq_plan_session_state(handle, out var text, out var error);
            return (JsonObject)JsonReader.Read(Interop.Take(status, ref text, error));
        }

        /// <summary>Frees it.</summary>
        public void Dispose()
        {
            handle.Dispose();
        }
    }
}
