using System.Collections.Generic;
using System.Linq;
using AceMq.Core.Json;

namespace AceMq.Core
{
    /// <summary>How a plan is shown.</summary>
    public enum PlanStyle
    {
        /// <summary>One line for each action.</summary>
        Plan = 0,

        /// <summary>One line for each object, with its details.</summary>
        Lines = 1,

        /// <summary>One line for everything that drifted.</summary>
        Drift = 2,
    }

    /// <summary>What declaring a topology would do, or did.</summary>
    public sealed class Plan
    {
        private readonly PlanSession session;
        private readonly string text;
        private readonly string lines;
        private readonly string block;
        private readonly string linesBlock;
        private readonly JsonObject document;
        private readonly JsonObject summary;

        internal Plan(PlanSession session, JsonObject state)
        {
            this.session = session;
            document = state.Object("plan");
            summary = document.Object("summary");
            Actions = document.Objects("actions").Select(action => new PlanAction(action)).ToList().AsReadOnly();
            Notes = document.Texts("notes");
            Finished = state.Flag("finished");
            text = state.Text("text");
            lines = state.Text("lines");
            block = state.Text("block");
            linesBlock = state.Text("lines_block");
            DriftText = state.Text("drift");
            Error = state.Optional("error") as string;
        }

        /// <summary>The document <c>acemq.plan/1</c>.</summary>
        public IReadOnlyDictionary<string, object> Document
        {
            get { return document; }
        }

        /// <summary>What would happen to each object, in the order in which they are declared.</summary>
        public IReadOnlyList<PlanAction> Actions { get; }

        /// <summary>How many actions have a verdict: <c>create</c>, <c>present</c>, <c>drift</c>, <c>invalid</c>, <c>unknown</c>, <c>extra</c> or <c>foreign</c>.</summary>
        public long Count(string verdict)
        {
            return checked((long)(summary.OptionalNumber(verdict) ?? 0));
        }

        /// <summary>What else is to be said.</summary>
        public IReadOnlyList<string> Notes { get; }

        /// <summary>Whether every question was answered when this plan was taken.</summary>
        public bool Finished { get; }

        /// <summary>The plan as text.</summary>
        /// <param name="style">The style.</param>
        /// <param name="width">
        /// Wrap lines of the plan style at this many columns; 0 for not at all. For that the session must not be disposed yet, and
        /// has to be where it was.
        /// </param>
        public string Render(PlanStyle style = PlanStyle.Plan, int width = 0)
        {
            switch (style)
            {
                case PlanStyle.Lines:
                    return lines;
                case PlanStyle.Drift:
                    return DriftText;
                default:
                    return width == 0 ? text : session.Render(style, width);
            }
        }

        /// <summary>One line for everything that drifted.</summary>
        public string DriftText { get; }

        /// <summary>What kept a finished apply from doing everything; <c>null</c> when nothing did.</summary>
        public string Error { get; }

        /// <summary>The same, not wrapped and without the <see cref="Notes"/>.</summary>
        public string RenderWithoutNotes(PlanStyle style = PlanStyle.Plan)
        {
            switch (style)
            {
                case PlanStyle.Lines:
                    return linesBlock;
                case PlanStyle.Drift:
                    return DriftText;
                default:
                    return block;
            }
        }

        /// <summary>The plan in the plan style.</summary>
        public override string ToString()
        {
            return text;
        }
    }

    /// <summary>What a plan says about one object.</summary>
    public sealed class PlanAction
    {
        internal PlanAction(JsonObject action)
        {
            Document = action;
            Verdict = action.Text("verdict");
            Kind = action.Text("kind");
            Name = action.Text("name");
            Sends = action.Text("sends");
            Detail = action.Text("detail");
            Reason = action.Optional("reason") as string;
            var refusal = action.OptionalObject("refusal");
            Refusal = refusal == null ? null : BrokerRefusal.Of(refusal);
            Differences = action.Objects("differences").Select(difference => new Difference(difference)).ToList().AsReadOnly();
            AtLeast = action.Flag("at_least");
            var binding = action.OptionalObject("binding");
            Binding = binding == null ? null : Declaration.Of("binding", binding);
            var policy = action.OptionalObject("policy");
            Policy = policy == null ? null : Declaration.Of("policy", policy);
            Notes = action.Texts("notes");
        }

        /// <summary><c>create</c>, <c>present</c>, <c>drift</c>, <c>invalid</c>, <c>unknown</c>, <c>extra</c> or <c>foreign</c>.</summary>
        public string Verdict { get; }

        /// <summary><c>exchange</c>, <c>policy</c>, <c>queue</c> or <c>binding</c>.</summary>
        public string Kind { get; }

        /// <summary>The object's name.</summary>
        public string Name { get; }

        /// <summary>What an apply sends: <c>declare</c>, <c>bind</c>, <c>set</c> or <c>nothing</c>.</summary>
        public string Sends { get; }

        /// <summary>The object in words.</summary>
        public string Detail { get; }

        /// <summary>Why something is unknown; else <c>null</c>.</summary>
        public string Reason { get; }

        /// <summary>The broker's refusal, or <c>null</c>.</summary>
        public BrokerRefusal Refusal { get; }

        /// <summary>What differs from the object that is there.</summary>
        public IReadOnlyList<Difference> Differences { get; }

        /// <summary>Whether there may be more differences than were told.</summary>
        public bool AtLeast { get; }

        /// <summary>The binding, where this is one; else <c>null</c>.</summary>
        public Declaration Binding { get; }

        /// <summary>A policy that makes the change on the live object, where one can; else <c>null</c>.</summary>
        public Declaration Policy { get; }

        /// <summary>What else is to be said.</summary>
        public IReadOnlyList<string> Notes { get; }

        /// <summary>The action as the document has it.</summary>
        public IReadOnlyDictionary<string, object> Document { get; }

        /// <summary>Verdict, kind and name.</summary>
        public override string ToString()
        {
            return Verdict + " " + Kind + " " + Name;
        }
    }
}
