using System;
using System.Collections.Generic;
using System.Linq;

namespace AceMq.Core.Tests
{
    internal static class PlanTests
    {
        private static readonly Topology Orders = Topology.Builder()
            .Exchange("orders", "topic")
            .QueueWithDeadLetter("orders.new")
            .Bind("orders.new", "orders", "order.*")
            .Build();

        /// <summary>Drives a session with an embedded broker's answers.</summary>
        internal static Plan Drive(PlanSession session, EmbeddedConnection connection)
        {
            while (true)
            {
                var questions = session.NextQuestions();
                if (questions.Count == 0)
                {
                    return session.Plan();
                }
                foreach (var question in questions)
                {
                    session.Answer(connection.Answer(question));
                }
            }
        }

        public static void ASessionAsksAndPlansFromRecordedAnswers()
        {
            var settings = new PlanSettings { Version = "3.10.8", Vhost = "/", Mode = PlanMode.DryRun };
            using (var session = new PlanSession(Orders, settings))
            {
                Check.True(!session.Finished, "there is something to ask");
                Check.Equal("unknown", session.Plan().Actions.First(action => action.Kind == "queue").Verdict);
                while (!session.Finished)
                {
                    foreach (var question in session.Questions())
                    {
                        if (question.Ask == "queue_passive")
                        {
                            session.AnswerRefused(
                                question.Id, new BrokerRefusal(404, "NOT_FOUND - no queue '" + question.Name + "' in vhost '/'"));
                            continue;
                        }
                        // The offer carries an argument that its queue type may not have; so RabbitMQ refuses it where there is
                        // no such queue, in these words.
                        Check.Equal("queue_offer", question.Ask);
                        var type = question.Declaration.Arguments.TryGetValue("x-queue-type", out var said) ? said : "classic";
                        var guard = question.Declaration.Arguments.Keys.Single(key => key == "x-stream-max-segment-size-bytes");
                        session.AnswerRefused(question.Id, new BrokerRefusal(
                            406,
                            "PRECONDITION_FAILED - invalid arg '" + guard + "' for queue '" + question.Name
                            + "' in vhost '/' of queue type rabbit_" + type + "_queue"));
                    }
                }
                var plan = session.Plan();
                Check.Equal(3, plan.Actions.Count(action => action.Kind == "queue" && action.Verdict == "create"));
                Check.Equal(3, plan.Count("create"));
                Check.Equal("create", plan.Actions.Single(action => action.Name == "orders.new" && action.Kind == "queue").Verdict);
                Check.Contains("orders.new", plan.Render());
                Check.Contains("orders.new", plan.Render(PlanStyle.Lines));
                Check.Equal(null, plan.Error);
                Check.Equal("acemq.plan/1", plan.Document["format"]);
            }
        }

        public static void ApplyingToAnEmptyBrokerMakesEverything()
        {
            using (var broker = new EmbeddedBroker(new EmbeddedBrokerSettings { RabbitMq = "4.0.5" }))
            using (var session = new PlanSession(Orders, new PlanSettings { Version = "4.0.5", Apply = true }))
            {
                var plan = Drive(session, broker.Connect());
                Check.True(session.Finished && plan.Finished && plan.Error == null, plan.Error ?? "finished");
                var queues = (IReadOnlyList<object>)broker.State()["queues"];
                Check.Equal(3, queues.Count);
            }
        }

        public static void DriftIsFoundWithBothValues()
        {
            var before = Topology.Builder().Queue("orders").OfType("orders", "classic").Build();
            var after = Topology.Builder().Queue("orders").OfType("orders", "classic").QueueArg("orders", "x-max-length", 10).Build();
            using (var broker = new EmbeddedBroker(new EmbeddedBrokerSettings { RabbitMq = "4.0.5", Topology = before }))
            using (var session = new PlanSession(after, new PlanSettings { Version = "4.0.5", Mode = PlanMode.Validate }))
            {
                var plan = Drive(session, broker.Connect());
                Check.Equal(1, plan.Count("drift"));
                var action = plan.Actions.Single(each => each.Verdict == "drift");
                Check.Equal("drift queue orders", action.ToString());
                var difference = action.Differences.Single();
                Check.Equal("x-max-length", difference.Argument);
                Check.Equal(10, difference.Wanted);
                Check.Equal(null, difference.Current);
                Check.Equal("policy", difference.Remedy);
                Check.Equal(406, action.Refusal.Code);
                Check.Equal(10, action.Policy.Arguments["max-length"]);
                Check.Contains("orders", plan.DriftText);
            }
        }

        public static void AnswersAreTakenOnceAndOnlyToOpenQuestions()
        {
            using (var session = new PlanSession(Orders, new PlanSettings { Version = "4.0.5" }))
            {
                Check.Refuses("answer_refused", () => session.AnswerOk(99));
                var question = session.NextQuestions(1).Single();
                session.AnswerFailed(question.Id, "the connection was lost");
                Check.Refuses("answer_refused", () => session.AnswerCannot(question.Id, "twice"));
                Check.Refuses("answer_refused", () => session.Answer(new Dictionary<string, object> { { "id", 1 } }));
                Check.Throws<ArgumentOutOfRangeException>(() => session.NextQuestions(-1));
                session.Interrupt();
                Check.True(session.Finished, "an interrupted session asks nothing more");
                Check.True(session.Plan().Count("unknown") > 0, "what was not asked stays unknown");
            }
        }

        public static void ATopologyWithProblemsHasNoSession()
        {
            var error = Check.Throws<AceMqException>(() => new PlanSession(Topology.Builder().Bind("nobody", "nothing").Build()));
            Check.True(error.Problems.Count >= 2, "all of them");
            Check.Refuses("version_unknown", () => new PlanSession(Orders, new PlanSettings { Version = "four" }));
        }

        public static void TheTextIsWrappedAtTheWidthThatIsAskedFor()
        {
            using (var session = new PlanSession(Orders))
            {
                var plan = session.Plan();
                var lines = new[] { 40, 60, 200 }.Select(width =>
                {
                    // Notes stand below the plan, as they are.
                    var text = plan.Render(PlanStyle.Plan, width).Split(new[] { "\n\n" }, StringSplitOptions.None)[0].Split('\n');
                    Check.True(text.All(line => line.Length <= width), "at " + width + ": " + string.Join("\n", text));
                    return text.Length;
                }).ToList();
                Check.True(lines[0] > lines[1] && lines[1] > lines[2], "the narrower, the more lines: " + string.Join(", ", lines));
                foreach (PlanStyle style in Enum.GetValues(typeof(PlanStyle)))
                {
                    Check.Equal(plan.Render(style), session.Render(style));
                }
                Check.Equal(plan.ToString(), plan.Render());
                Check.Throws<ArgumentOutOfRangeException>(() => session.Render(PlanStyle.Plan, -1));
            }
        }
    }
}
