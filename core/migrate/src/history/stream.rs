//! A history in a stream of the vhost: replicated, never consumed away, and no part of a definitions export's contents.
//!
//! A stream has no end that a reader meets. Its count, which a passive declaration gives, lags behind by up to 5 seconds
//! (measured on 3.10.8 and 4.0.5). So a reader asks for the last chunk, which is one record because each is confirmed
//! before the next is published, reads up to there, and waits a moment for more. That is nearly always the end; what makes it
//! certain is the first write: the writer follows the stream and sees at which offset his record lies. If it is not the
//! one behind the last that he read, he takes it back and does nothing.

use super::not_the_next;
use crate::JournalError;
use acemq_core::migration::history::{Event, Stored, What};
use acemq_core::rabbitmq::{Broker, Product, QueueDeclaration, Version};
use acemq_live::{Answer, Client, Done, Operation, Stream, StreamError, StreamRecord};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The stream, in the vhost that is migrated.
pub const HISTORY_STREAM: &str = "acemq.history";

/// The first RabbitMQ with streams.
const FIRST: Version = Version::new(3, 9, 0);

/// The way out where the broker cannot keep a history.
const ELSEWHERE: &str = "keep the history in a file with --history sqlite:PATH";

const NOT_FOUND: u16 = 404;

const ACCESS_REFUSED: u16 = 403;

const CONNECTION_FORCED: u16 = 320;

/// How long a stream that counts nothing is given to show a record.
const DOUBT: Duration = Duration::from_secs(1);

/// How long more records are waited for behind the last one.
const QUIET: Duration = Duration::from_millis(200);

/// How long a record is tried to be written while connections are cut; a node may be restarted in the meantime.
const PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a record that was confirmed may take to come back.
const ECHO: Duration = Duration::from_secs(30);

/// The stream, over the client that asks and a connection of its own.
pub struct BrokerStream<'a> {
    client: &'a Client,
    stream: Option<Stream>,
    declared: bool,
}

impl<'a> BrokerStream<'a> {
    pub(super) fn new(client: &'a Client) -> Self {
        Self { client, stream: None, declared: false }
    }

    pub(super) async fn read(&mut self) -> Result<Vec<Stored>, JournalError> {
        if !has_streams(self.client.broker()) {
            return Ok(Vec::new());
        }
        let Some(count) = self.count().await? else { return Ok(Vec::new()) };
        self.declared = true;
        let records = self.read_to_end(count).await.map_err(|error| failed("read", &error))?;
        Ok(records.into_iter().map(|record| Stored { place: record.offset + 1, bytes: record.bytes }).collect())
    }

    /// All records, over a connection that follows the stream from then on.
    async fn read_to_end(&mut self, count: u64) -> Result<Vec<StreamRecord>, StreamError> {
        if let Some(stream) = self.stream.take() {
            stream.close().await;
        }
        let limits = *self.client.limits();
        let mut stream = Stream::open(self.client.transport(), HISTORY_STREAM, limits).await?;
        let last = stream.last(if count == 0 { DOUBT } else { limits.question }).await?;
        let end = count.max(last.map_or(0, |last| last + 1));
        let records = stream.read(end, QUIET).await?;
        self.stream = Some(stream);
        Ok(records)
    }

    pub(super) async fn append(&mut self, event: &Event) -> Result<(), JournalError> {
        self.declare().await?;
        let bytes = event.to_line().into_bytes();
        let until = Instant::now() + PATIENCE;
        let mut written = self.write(&bytes).await;
        // Whether it was written is not known then; what is there tells.
        while let Err(error) = &written
            && !is_final(error)
            && Instant::now() < until
        {
            sleep(PAUSE).await;
            written = self.write_unless_there(&bytes).await;
        }
        let place = written.map_err(|error| failed("write", &error))?;
        if place == event.rank {
            return Ok(());
        }
        let withdrawal = Event::new(place.saturating_add(1), What::Withdrawn { place }, event.origin.clone());
        let withdrawn = self.write(withdrawal.to_line().as_bytes()).await;
        withdrawn.map_err(|error| failed("write", &error))?;
        Err(not_the_next(event.rank, place))
    }

    /// Adds a record; gives its place, from 1.
    async fn write(&mut self, bytes: &[u8]) -> Result<u64, StreamError> {
        if self.stream.is_none() {
            self.read_to_end(0).await?;
        }
        let Some(stream) = &mut self.stream else { return Err(StreamError::Lost("it was not opened".to_owned())) };
        stream.append(bytes.to_vec()).await?;
        while let Some(record) = stream.next(ECHO).await? {
            if record.bytes == bytes {
                return Ok(record.offset.saturating_add(1));
            }
        }
        Err(StreamError::Silence { after: ECHO })
    }

    async fn write_unless_there(&mut self, bytes: &[u8]) -> Result<u64, StreamError> {
        let there = self.read_to_end(0).await?;
        match there.iter().rev().find(|record| record.bytes == bytes) {
            Some(own) => Ok(own.offset.saturating_add(1)),
            None => self.write(bytes).await,
        }
    }

    pub(super) async fn close(mut self) {
        if let Some(stream) = self.stream.take() {
            stream.close().await;
        }
    }

    async fn declare(&mut self) -> Result<(), JournalError> {
        if self.declared {
            return Ok(());
        }
        let broker = self.client.broker();
        if !has_streams(broker) {
            return Err(JournalError::new(format!(
                "{broker} has no streams, in which the history is kept; {ELSEWHERE}"
            )));
        }
        let queue = QueueDeclaration::durable(HISTORY_STREAM).with("x-queue-type", "stream");
        match self.client.ask(&Operation::DeclareQueue(queue)).await {
            Answer::Done(_) => self.declared = true,
            Answer::Refused(refused) if refused.code == ACCESS_REFUSED => return Err(denied("declare", &refused.text)),
            Answer::Refused(refused) => {
                return Err(JournalError::new(format!(
                    "stream {HISTORY_STREAM}, in which the history is kept, cannot be declared: {} {}; {ELSEWHERE}",
                    refused.code, refused.text
                )));
            }
            Answer::Failed(failure) => return Err(cannot("declare", &failure.to_string())),
        }
        Ok(())
    }

    /// How many records there are; `None` without a stream.
    async fn count(&self) -> Result<Option<u64>, JournalError> {
        match self.client.ask(&Operation::LookUpQueue(HISTORY_STREAM.to_owned())).await {
            Answer::Done(Done::Queue(status)) => Ok(Some(u64::from(status.messages))),
            Answer::Done(_) => Ok(Some(0)),
            // The same code tells of a queue whose node is down.
            Answer::Refused(refused) if refused.code == NOT_FOUND && refused.text.contains("no queue") => Ok(None),
            Answer::Refused(refused) if refused.code == ACCESS_REFUSED => Err(denied("look at", &refused.text)),
            Answer::Refused(refused) => Err(cannot("look at", &format!("{} {}", refused.code, refused.text))),
            Answer::Failed(failure) => Err(cannot("look at", &failure.to_string())),
        }
    }
}

fn has_streams(broker: &Broker) -> bool {
    match (&broker.product, broker.version) {
        (Product::RabbitMq, Some(version)) => version >= FIRST,
        _ => true,
    }
}

/// Whether trying again is of no use: a refusal stays one, but an operator or a node that goes down closes connections too.
fn is_final(error: &StreamError) -> bool {
    matches!(error, StreamError::Refused(refused) if refused.code != CONNECTION_FORCED)
}

/// A refusal for want of permissions says which; anything else may pass.
fn failed(what: &str, error: &StreamError) -> JournalError {
    match error {
        StreamError::Refused(refused) if refused.code == ACCESS_REFUSED => denied(what, &refused.text),
        other => cannot(what, &other.to_string()),
    }
}

fn denied(what: &str, text: &str) -> JournalError {
    JournalError::denied(format!(
        "cannot {what} the history, stream {HISTORY_STREAM}: {ACCESS_REFUSED} {text}; the user needs configure, write and read on {HISTORY_STREAM}, and write on amq.default, or {ELSEWHERE}"
    ))
}

fn cannot(what: &str, why: &str) -> JournalError {
    JournalError::new(format!(
        "cannot {what} the history, stream {HISTORY_STREAM}: {why}; run again when the broker can"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_came_with_3_9() {
        assert!(!has_streams(&Broker::rabbitmq(Version::new(3, 8, 34))));
        assert!(has_streams(&Broker::rabbitmq(Version::new(3, 9, 0))));
    }
}
