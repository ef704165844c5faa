using System;
using AceMq.Core;

namespace PlanAndApply
{
    /// <summary>A real broker, asked over AMQP 0-9-1: every question on a channel of its own, because a refusal closes it.</summary>
    internal sealed class AmqpBroker : IBroker
    {
        private readonly AmqpConnection connection;

        internal AmqpBroker(Uri url)
        {
            connection = new AmqpConnection(url);
        }

        public string Product
        {
            get { return (string)connection.ServerProperties["product"]; }
        }

        public string Version
        {
            get { return (string)connection.ServerProperties["version"]; }
        }

        public string Vhost
        {
            get { return connection.Vhost; }
        }

        public void Ask(PlanQuestion question, PlanSession session)
        {
            var declaration = question.Declaration;
            try
            {
                using (var channel = connection.OpenChannel())
                {
                    switch (question.Ask)
                    {
                        case "queue_passive":
                            Counted(channel.QueueDeclare(Declaration.Queue(question.Name), passive: true));
                            break;
                        case "exchange_passive":
                            channel.ExchangeDeclare(Declaration.Exchange(question.Name, "direct"), passive: true);
                            break;
                        case "bind":
                            channel.Bind(declaration);
                            break;
                        case "set_policy":
                            session.AnswerCannot(question.Id, "policies need the management API");
                            return;
                        default:
                            if (declaration.Kind == "queue")
                            {
                                Counted(channel.QueueDeclare(declaration, passive: false));
                            }
                            else
                            {
                                channel.ExchangeDeclare(declaration, passive: false);
                            }
                            break;
                    }
                }
                session.AnswerOk(question.Id, messages, consumers);
            }
            catch (AmqpRefusedException refused)
            {
                session.AnswerRefused(question.Id, refused.Refusal);
            }
            catch (System.IO.IOException lost)
            {
                session.AnswerFailed(question.Id, lost.Message);
            }
            finally
            {
                messages = consumers = 0;
            }
        }

        private long messages;
        private long consumers;

        private void Counted(QueueCounts counts)
        {
            messages = counts.Messages;
            consumers = counts.Consumers;
        }

        public void Dispose()
        {
            connection.Dispose();
        }
    }
}
