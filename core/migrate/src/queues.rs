//! What a queue holds, from two sources that must agree.
//!
//! A passive declaration counts ready messages and consumers at once, but a quorum queue whose leader does not answer says 0
//! and 0 after a quarter of a second, with declare-ok. So a slow zero is no answer, and the totals of the management API, which
//! alone tell what is unacknowledged, have to say the same.

use crate::{RunError, Runner, patiently};
use acemq_core::migration::QueueSight;
use acemq_live::{Answer, Done, Holder, Operation};
use std::time::Duration;
use tokio::time::Instant;

/// A passive declaration that takes longer was not answered by the queue's leader.
const PROMPT: Duration = Duration::from_millis(200);

/// So many channels are named.
const SHOWN: usize = 10;

/// Two rounds of statistics.
const QUORUM_LAG_MS: u64 = 11_000;

impl Runner<'_> {
    pub(crate) async fn look_at(&self, names: &[String]) -> Result<Vec<QueueSight>, RunError> {
        let totals = patiently(async || self.management.queue_totals(self.vhost).await).await?;
        let mut sights = Vec::with_capacity(names.len());
        for name in names {
            let asked = Instant::now();
            let answer = self.client.ask(&Operation::LookUpQueue(name.clone())).await;
            let totals = totals.iter().find(|totals| totals.name == *name);
            let is_classic = totals.is_some_and(|totals| totals.kind.as_deref() == Some("classic"));
            let believed = is_classic || asked.elapsed() < PROMPT;
            let (counted, consumers) = match answer {
                Answer::Done(Done::Queue(status)) if believed || status.messages > 0 => {
                    (Some(u64::from(status.messages)), u64::from(status.consumers))
                }
                _ => (None, 0),
            };
            let listed = totals.and_then(|totals| totals.ready);
            sights.push(QueueSight {
                queue: name.clone(),
                // Both must be known; the larger one counts.
                ready: counted.zip(listed).map(|(counted, listed)| counted.max(listed)),
                unacknowledged: totals.and_then(|totals| totals.unacknowledged),
                consumers,
                lag_ms: if is_classic { 0 } else { QUORUM_LAG_MS },
            });
        }
        Ok(sights)
    }

    /// Who holds the unacknowledged messages of queues, as the end of a sentence; empty where nobody does or nobody tells.
    pub(crate) async fn held_by(&self, queues: &[String]) -> String {
        let mut holders: Vec<Holder> = Vec::new();
        for queue in queues {
            holders.extend(self.management.holders(self.vhost, queue).await.unwrap_or_default());
        }
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
