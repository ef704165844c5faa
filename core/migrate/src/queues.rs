//! What a queue holds, from sources that must agree.
//!
//! A passive declaration counts ready messages and consumers at once, but a quorum queue whose leader does not answer says 0
//! and 0 after a quarter of a second, with declare-ok. So a slow zero is no answer, and the totals of the management API, which
//! alone tell what is unacknowledged, have to say the same. When both have said so for long enough, the leader is asked
//! itself: `basic.get-empty` nobody else can say.

use crate::{RunError, Runner, patiently};
use acemq_core::migration::{Action, MigrationPlan, QueueSight};
use acemq_core::policy::Policies;
use acemq_core::rabbitmq::{QueueType, Version};
use acemq_core::state::State;
use acemq_core::value::Value;
use acemq_live::{Answer, Cause, Done, Head, Holder, Operation, OperationError, QueueTotals};
use std::time::Duration;
use tokio::time::Instant;

/// A passive declaration that takes longer was not answered by the queue's leader.
const PROMPT: Duration = Duration::from_millis(200);

/// What the leader of a queue says.
pub(crate) enum Word {
    /// No message is ready.
    Empty,
    /// Some are.
    Messages,
    /// Nothing, and why.
    None(String),
}

/// So many channels are named.
const SHOWN: usize = 10;

/// Two rounds of statistics.
const QUORUM_LAG_MS: u64 = 11_000;

impl Runner<'_> {
    pub(crate) async fn look_at(&self, live: &State, names: &[String]) -> Result<Vec<QueueSight>, RunError> {
        let totals = patiently(async || self.management.queue_totals(self.vhost).await).await?;
        let mut sights = Vec::with_capacity(names.len());
        for name in names {
            let totals = totals.iter().find(|totals| totals.name == *name);
            let is_classic = totals.is_some_and(|totals| totals.kind.as_deref() == Some("classic"));
            let counted = self.counted(name, is_classic).await;
            let consumers = counted.map_or(0, |(_, consumers)| consumers);
            let listed = totals.and_then(|totals| totals.ready);
            let aside = totals.map_or(0, QueueTotals::aside);
            sights.push(QueueSight {
                queue: name.clone(),
                // Both must be known; the larger one counts.
                ready: counted.zip(listed).map(|((counted, _), listed)| counted.max(listed).saturating_add(aside)),
                unacknowledged: totals.and_then(|totals| totals.unacknowledged),
                consumers,
                lag_ms: if is_classic { 0 } else { QUORUM_LAG_MS },
                unconfirmed: has_leader(live, name),
            });
        }
        Ok(sights)
    }

    /// Ready messages and consumers by a passive declaration, when somebody answered it who knows.
    async fn counted(&self, queue: &str, is_classic: bool) -> Option<(u64, u64)> {
        let asked = Instant::now();
        let answer = self.client.ask(&Operation::LookUpQueue(queue.to_owned())).await;
        let believed = is_classic || asked.elapsed() < PROMPT;
        match answer {
            Answer::Done(Done::Queue(status)) if believed || status.messages > 0 => {
                Some((u64::from(status.messages), u64::from(status.consumers)))
            }
            _ => None,
        }
    }

    /// Asks the leader of a queue whether it is empty, when everything else says so already: then no message is got.
    ///
    /// # Errors
    /// When the broker refuses the question.
    pub(crate) async fn word_of_leader(&self, queue: &str) -> Result<Word, RunError> {
        if let Some(why) = self.nodes_unfit().await? {
            return Ok(Word::None(why));
        }
        match self.counted(queue, false).await {
            None => return Ok(Word::None("its counts are not its leader's".to_owned())),
            Some((0, _)) => {}
            Some(_) => return Ok(Word::Messages),
        }
        let limits = *self.client.limits();
        match Head::ask(self.client.transport(), queue, limits, limits.question).await {
            None => Ok(Word::None(format!("nothing within {} s", limits.question.as_secs()))),
            Some(Head::Empty) => Ok(Word::Empty),
            Some(Head::Message) => Ok(Word::Messages),
            // It answers, so its count of a moment later is its own.
            Some(Head::Reserved) => Ok(match self.counted(queue, false).await {
                None => Word::None("its counts are not its leader's".to_owned()),
                Some((0, _)) => Word::Empty,
                Some(_) => Word::Messages,
            }),
            Some(Head::Lost(why)) => Ok(Word::None(why)),
            Some(Head::Refused(refused)) => {
                let operation = format!("get from queue \"{}\"", queue.escape_debug());
                Err(RunError::Operation(Box::new(OperationError { operation, cause: Cause::Refused(refused) })))
            }
        }
    }

    /// Who holds the unacknowledged messages of queues, and what else they wait for, as the end of a sentence; empty where
    /// nobody does or nobody tells.
    pub(crate) async fn held_by(&self, sights: &[QueueSight]) -> String {
        let mut holders: Vec<Holder> = Vec::new();
        for sight in sights.iter().filter(|sight| sight.unacknowledged.is_some_and(|count| count > 0)) {
            holders.extend(self.management.holders(self.vhost, &sight.queue).await.unwrap_or_default());
        }
        let totals = self.management.queue_totals(self.vhost).await.unwrap_or_default();
        let is_seen = |totals: &&QueueTotals| sights.iter().any(|sight| sight.queue == totals.name);
        let aside: u64 = totals.iter().filter(is_seen).map(QueueTotals::aside).sum();
        let of_consumers = holders.iter().any(|holder| holder.consumes);
        let mut names: Vec<String> = (holders.iter())
            // Without a consumer that holds some, they were got one by one, and only the channel tells.
            .filter(|holder| holder.consumes || !of_consumers)
            .map(|holder| format!("channel {} of user {} holds {}", holder.channel, holder.user, holder.unacknowledged))
            .collect();
        names.dedup();
        if names.len() > SHOWN {
            let more = names.len() - SHOWN;
            names.truncate(SHOWN);
            names.push(format!("and {more} more"));
        }
        if aside > 0 {
            names.push(format!("{aside} wait for a delayed retry, or for a queue that takes them as dead letters"));
        }
        if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
    }

    /// Watches a queue for as long as the broker's statistics need to tell of a message, and then as long again: how many came
    /// in the second half. `since` is when the last way to it was known to be gone.
    ///
    /// Whoever publishes to a queue by its name is in no table, and while its consumers take each message at once it looks
    /// empty; only this figure tells.
    pub(crate) async fn arrivals(&self, queue: &str, since: Instant) -> Result<u64, RunError> {
        if self.statistics_lag.is_zero() {
            return Ok(0);
        }
        let count = async || patiently(async || self.management.messages_published_to(self.vhost, queue).await).await;
        tokio::time::sleep_until(since + self.statistics_lag).await;
        let before = count().await?.unwrap_or_default();
        tokio::time::sleep(self.statistics_lag).await;
        Ok(count().await?.unwrap_or_default().saturating_sub(before))
    }
}

/// Whether a queue has a leader that can be asked for a message without harm.
///
/// Before 4.3 a message that is put back counts as delivered: where the first delivery is the last one, even a new message
/// would be dead-lettered by the question, and the other figures have to do.
pub(crate) fn has_leader(live: &State, queue: &str) -> bool {
    let Some(queue) = live.queue(queue).there().filter(|queue| queue.queue_type() == Some(QueueType::Quorum)) else {
        return false;
    };
    let limit = Policies::new(live).effective(queue).value("delivery-limit").and_then(Value::as_integer);
    let before_4 = live.broker.version.is_none_or(|version| version < Version::new(4, 0, 0));
    // A negative limit is none from 4.0 on, and 0 before.
    let is_last = limit.is_some_and(|limit| limit == 0 || (limit < 0 && before_4));
    live.broker.puts_back_uncounted() || !is_last
}

/// The queues that have to be empty before the migration goes on.
pub(crate) fn waited_for(plan: &MigrationPlan) -> impl Iterator<Item = &str> {
    plan.steps.iter().flat_map(|step| match &step.action {
        Action::Drain { queue, returning } => std::iter::once(queue).chain(returning).map(String::as_str).collect(),
        Action::CheckEmpty { queue } => vec![queue.as_str()],
        _ => Vec::new(),
    })
}
