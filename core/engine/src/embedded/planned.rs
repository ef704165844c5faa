//! The embedded broker as the one that answers a plan's questions.

use super::{ConnectionId, EmbeddedBroker};
use crate::plan::{Answer, Ask, PlanSession};
use crate::rabbitmq::Refused;

impl EmbeddedBroker {
    /// Answers one question of a plan session, each on a channel of its own as a host has to.
    ///
    /// Policies cannot be set over AMQP, so that question is answered with [`Answer::Cannot`].
    pub fn answer_question(&mut self, connection: ConnectionId, ask: &Ask) -> Answer {
        let channel = match self.open_channel(connection) {
            Ok(channel) => channel,
            Err(refused) => return refusal(refused),
        };
        let answer = match ask {
            Ask::QueuePassive(name) => counted(self.declare_queue_passively(channel, name)),
            Ask::QueueOffer(queue) | Ask::DeclareQueue(queue) => counted(self.declare_queue(channel, queue)),
            Ask::ExchangePassive(name) => uncounted(self.declare_exchange_passively(channel, name)),
            Ask::ExchangeOffer(exchange) | Ask::DeclareExchange(exchange) => {
                uncounted(self.declare_exchange(channel, exchange))
            }
            Ask::Bind(binding) => uncounted(self.bind(channel, binding)),
            Ask::SetPolicy(_) => Answer::Cannot { why: "AMQP cannot set policies".to_owned() },
        };
        self.close_channel(channel);
        answer
    }

    /// Answers every question of a session until it is finished. A refusal that closes the connection is followed by a new
    /// one, as a host would open it.
    pub fn drive(&mut self, session: &mut PlanSession) {
        let mut connection = self.connect();
        while !session.finished() {
            let questions = session.next_questions(usize::MAX);
            if questions.is_empty() {
                break;
            }
            for question in questions {
                if !self.is_open(connection) {
                    connection = self.connect();
                }
                let answer = self.answer_question(connection, &question.ask);
                // The session gave this number out just now.
                let _ = session.answer(question.id, answer);
            }
        }
        self.disconnect(connection);
    }
}

fn counted(result: Result<super::QueueStatus, Refused>) -> Answer {
    match result {
        Ok(status) => Answer::Ok { messages: status.messages, consumers: status.consumers },
        Err(refused) => refusal(refused),
    }
}

fn uncounted(result: Result<(), Refused>) -> Answer {
    match result {
        Ok(()) => Answer::OK,
        Err(refused) => refusal(refused),
    }
}

fn refusal(refused: Refused) -> Answer {
    Answer::Refused { code: refused.code, text: refused.text, scope: refused.scope }
}
