using System;
using System.Collections.Generic;
using System.Globalization;
using AceMq.Core;

namespace PlanAndApply
{
    /// <summary>
    /// <c>PlanAndApply</c>: what a service does when it starts: plan its topology on the broker, apply it, and find that a second
    /// plan has nothing left to do. <c>PlanAndApply amqp://guest:guest@localhost:5672/</c> does it on a real broker, without a
    /// URL the broker is an embedded one.
    /// </summary>
    /// <remarks>
    /// The session does no I/O: it gives out questions and takes answers. What is left to write for a client library is what
    /// <see cref="AmqpBroker"/> does here; with RabbitMQ.Client the calls are QueueDeclare, QueueDeclarePassive,
    /// ExchangeDeclare and QueueBind, and the refusal is OperationInterruptedException.ShutdownReason.
    /// </remarks>
    internal static class Program
    {
        private static readonly Topology Orders = Topology.Builder()
            .Exchange("orders", "topic")
            .QueueWithDeadLetter("orders.new")
            .Retries("orders.new", "exponential(6, 10s, 5m)")
            .Bind("orders.new", "orders", "order.*")
            .Build();

        private static int Main(string[] arguments)
        {
            try
            {
                if (arguments.Length > 0)
                {
                    using (var broker = new AmqpBroker(new Uri(arguments[0])))
                    {
                        return PlanAndApply(broker);
                    }
                }
                using (var broker = new EmbeddedAnswers("4.0.5"))
                {
                    return PlanAndApply(broker);
                }
            }
            catch (AceMqException error)
            {
                Console.Error.WriteLine(error.Code + ": " + error.Message);
                return 1;
            }
        }

        private static int PlanAndApply(IBroker broker)
        {
            Console.WriteLine("{0} {1}", broker.Product, broker.Version);
            var plan = Run(broker, apply: false);
            Console.WriteLine(plan.Render());
            plan = Run(broker, apply: true);
            if (plan.Error != null)
            {
                Console.Error.WriteLine(plan.Error);
                return 1;
            }
            plan = Run(broker, apply: false);
            Console.WriteLine(plan.Render());
            foreach (var action in plan.Actions)
            {
                if (action.Kind == "queue" && action.Verdict != "present")
                {
                    Console.Error.WriteLine("after the apply: " + action);
                    return 1;
                }
            }
            Console.WriteLine(plan.Count("present").ToString(CultureInfo.InvariantCulture) + " present");
            return 0;
        }

        private static Plan Run(IBroker broker, bool apply)
        {
            var settings = new PlanSettings
            {
                Product = broker.Product,
                Version = broker.Version,
                Vhost = broker.Vhost,
                Exchanges = true,
                Apply = apply,
            };
            using (var session = new PlanSession(Orders, settings))
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
                        broker.Ask(question, session);
                    }
                }
            }
        }
    }

    /// <summary>Who answers a session's questions.</summary>
    internal interface IBroker : IDisposable
    {
        string Product { get; }

        string Version { get; }

        string Vhost { get; }

        /// <summary>Asks the broker and gives its answer to the session.</summary>
        void Ask(PlanQuestion question, PlanSession session);
    }

    /// <summary>The engine's own broker.</summary>
    internal sealed class EmbeddedAnswers : IBroker
    {
        private readonly EmbeddedBroker broker;
        private readonly EmbeddedConnection connection;

        internal EmbeddedAnswers(string version)
        {
            Version = version;
            broker = new EmbeddedBroker(new EmbeddedBrokerSettings { RabbitMq = version });
            connection = broker.Connect();
        }

        public string Product
        {
            get { return "RabbitMQ"; }
        }

        public string Version { get; }

        public string Vhost
        {
            get { return "/"; }
        }

        public void Ask(PlanQuestion question, PlanSession session)
        {
            session.Answer(connection.Answer(question));
        }

        public void Dispose()
        {
            broker.Dispose();
        }
    }
}
