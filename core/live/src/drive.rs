//! Drives a plan session: asks its questions on several channels at once and hands the answers back.
//!
//! Eight questions at a time is what a broker's own speed allows (measured: creating is 2–3 times faster than on one channel,
//! and sixteen gain nothing more). A question that has waited for a second does not count any more: queues whose node is down
//! answer never, and a hundred of them should cost one time limit, not a hundred eighths.

use crate::client::Client;
use crate::limits::Limits;
use crate::management::{ManagementError, ManagementFailure};
use crate::operation::{Answer, Done, Operation};
use crate::transport::Broker;
use acemq_core::plan::{self, Ask, PlanSession, Question};
use acemq_core::rabbitmq::Scope;
use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How many questions are under way at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Width {
    /// Those that were asked within the last second.
    pub lively: usize,
    /// All of them.
    pub total: usize,
}

impl Default for Width {
    fn default() -> Self {
        Self { lively: 8, total: 64 }
    }
}

/// When a question stops counting as lively.
const LIVELY: Duration = Duration::from_secs(1);

/// How long answers are waited for after a stop.
const GRACE: Duration = Duration::from_secs(5);

/// How far a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Questions answered so far.
    pub answered: u64,
    /// Questions that wait for an answer; answers may open more.
    pub open: usize,
}

/// How driving a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every question has its answer.
    Finished,
    /// It was stopped before. What was under way got its answer where it came in time.
    Interrupted,
}

/// Asks everything that `session` wants to know, until it is finished or `stop` completes.
///
/// Policies need a management API ([`Client::with_management`]); without one the answer is that it cannot be done.
pub async fn drive<B: Broker>(
    session: &mut PlanSession,
    client: &Arc<Client<B>>,
    width: Width,
    stop: impl Future<Output = ()>,
    mut progress: impl FnMut(Progress),
) -> Ending {
    let mut stop = std::pin::pin!(stop);
    let mut under_way = UnderWay::new(width);
    let mut answered = 0;
    loop {
        for question in session.next_questions(under_way.room()) {
            under_way.ask(client, question);
        }
        if under_way.is_empty() && session.open_questions() == 0 {
            return Ending::Finished;
        }
        tokio::select! {
            biased;
            () = &mut stop => break,
            answer = under_way.next() => {
                if let Some((id, answer)) = answer {
                    take(session, id, answer);
                    answered += 1;
                    progress(Progress { answered, open: session.open_questions() });
                }
            }
        }
    }
    let until = Instant::now() + GRACE;
    while let Ok(Some(joined)) = tokio::time::timeout_at(until, under_way.tasks.join_next()).await {
        if let Ok((id, answer)) = joined {
            take(session, id, answer);
        }
    }
    session.interrupt();
    Ending::Interrupted
}

fn take(session: &mut PlanSession, id: u64, answer: plan::Answer) {
    // Only a number that was never given out is refused, and these all were.
    let _ = session.answer(id, answer);
}

/// The questions that are under way.
struct UnderWay {
    tasks: JoinSet<(u64, plan::Answer)>,
    /// When each was asked, oldest first.
    asked: VecDeque<(u64, Instant)>,
    width: Width,
}

impl UnderWay {
    fn new(width: Width) -> Self {
        let width = Width { lively: width.lively.max(1), total: width.total.max(width.lively).max(1) };
        Self { tasks: JoinSet::new(), asked: VecDeque::new(), width }
    }

    fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    fn lively(&self) -> usize {
        let now = Instant::now();
        self.asked.iter().rev().take_while(|(_, asked)| now.duration_since(*asked) < LIVELY).count()
    }

    fn room(&self) -> usize {
        let lively = self.width.lively.saturating_sub(self.lively());
        lively.min(self.width.total.saturating_sub(self.asked.len()))
    }

    fn ask<B: Broker>(&mut self, client: &Arc<Client<B>>, question: Question) {
        self.asked.push_back((question.id, Instant::now()));
        let client = Arc::clone(client);
        self.tasks.spawn(async move { (question.id, answer(&client, question.ask).await) });
    }

    /// The next answer; `None` when there may be room for another question in the meantime.
    async fn next(&mut self) -> Option<(u64, plan::Answer)> {
        let oldest_lively = self.asked.len().checked_sub(self.lively().max(1)).and_then(|at| self.asked.get(at));
        let wake = oldest_lively.map_or_else(Instant::now, |(_, asked)| *asked) + LIVELY;
        let wake = wake.max(Instant::now() + Duration::from_millis(1));
        match tokio::time::timeout_at(wake, self.tasks.join_next()).await {
            Ok(Some(Ok((id, answer)))) => {
                self.asked.retain(|(asked, _)| *asked != id);
                Some((id, answer))
            }
            // Every task is gone: a question that is still here went with one that did not end well.
            Ok(None) => {
                let (id, _) = self.asked.pop_front()?;
                Some((id, plan::Answer::Failed { why: "the client gave up without an answer".to_owned() }))
            }
            Ok(Some(Err(_))) | Err(_) => None,
        }
    }
}

async fn answer<B: Broker>(client: &Client<B>, ask: Ask) -> plan::Answer {
    let limit = limit(&ask, client.limits());
    let operation = match ask {
        Ask::QueuePassive(name) => Operation::LookUpQueue(name),
        Ask::QueueOffer(queue) | Ask::DeclareQueue(queue) => Operation::DeclareQueue(queue),
        Ask::ExchangePassive(name) => Operation::LookUpExchange(name),
        Ask::ExchangeOffer(exchange) | Ask::DeclareExchange(exchange) => Operation::DeclareExchange(exchange),
        Ask::Bind(binding) => Operation::Bind(binding),
        Ask::SetPolicy(policy) => return policy_answer(client.set_policy(&policy).await),
    };
    match client.ask_within(&operation, limit).await {
        Answer::Done(Done::Queue(status)) => {
            plan::Answer::Ok { messages: status.messages, consumers: status.consumers }
        }
        Answer::Done(_) => plan::Answer::OK,
        Answer::Refused(refused) => {
            plan::Answer::Refused { code: refused.code, text: refused.text, scope: refused.scope }
        }
        Answer::Failed(failure) => plan::Answer::Failed { why: failure.to_string() },
    }
}

fn policy_answer(set: Option<Result<(), ManagementError>>) -> plan::Answer {
    match set {
        None => plan::Answer::Cannot { why: "AMQP cannot set policies; give the management URL".to_owned() },
        Some(Ok(())) => plan::Answer::OK,
        Some(Err(ManagementError { failure: ManagementFailure::Refused { status, reason }, .. })) => {
            plan::Answer::Refused { code: status, text: reason, scope: Scope::Channel }
        }
        Some(Err(error)) => plan::Answer::Failed { why: error.to_string() },
    }
}

/// An offer is answered at once: it is refused or finds the queue there. A declaration may have to create it.
fn limit(ask: &Ask, limits: &Limits) -> Duration {
    if ask.changes() { limits.change } else { limits.question }
}
