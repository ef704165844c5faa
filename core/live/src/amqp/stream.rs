//! A stream as a list of records: read from the first one on, added to at its end, and followed.
//!
//! Queues are asked with [`Operation`](crate::Operation)s; this is the one place that carries messages. Every call of amqprs
//! runs in a task of its own, as everywhere below the seam. A record is in the stream when the broker has confirmed it and
//! has not returned it; a confirm alone is also given for a message that reached no queue.

use super::connection::{AmqpConnection, CloseSlot, ended_connection};
use super::table::short;
use super::{AmqpBroker, channel::OnClose};
use crate::limits::Limits;
use crate::transport::{Broker as _, Connection as _, Ended};
use acemq_core::rabbitmq::Refused;
use amqprs::channel::{BasicAckArguments, BasicConsumeArguments, BasicPublishArguments, BasicQosArguments, Channel};
use amqprs::channel::{ConfirmSelectArguments, ConsumerMessage};
use amqprs::{Ack, BasicProperties, Cancel, CloseChannel, FieldTable, FieldValue, Nack, Return};
use std::fmt;
use std::future::Future;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// So many records are on their way to a reader at most; half of them are acknowledged at a time.
const PREFETCH: u16 = 500;

/// How long sending an acknowledgement may take.
const ACKNOWLEDGE: Duration = Duration::from_secs(10);

/// Why a stream could not be read or added to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamError {
    /// No connection.
    Connect(String),
    /// The broker refused it.
    Refused(Refused),
    /// The broker did not take the record.
    NotTaken(String),
    /// The connection ended.
    Lost(String),
    /// No answer within the limit.
    Silence {
        /// The limit.
        after: Duration,
    },
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(why) => f.write_str(why),
            Self::Refused(refused) => write!(f, "the broker refused it: {} {}", refused.code, refused.text),
            Self::NotTaken(why) => write!(f, "the broker did not take it: {why}"),
            Self::Lost(why) => write!(f, "the connection was lost: {why}"),
            Self::Silence { after } => write!(f, "no answer within {} s", after.as_secs_f64()),
        }
    }
}

impl std::error::Error for StreamError {}

impl From<Ended> for StreamError {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::ChannelClosed(refused) | Ended::ConnectionClosed(refused) => Self::Refused(refused),
            Ended::ConnectionLost(why) | Ended::Unsendable(why) => Self::Lost(why),
            Ended::Silence { after } => Self::Silence { after },
        }
    }
}

/// A record and where it lies in the stream, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamRecord {
    /// The offset.
    pub offset: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A stream that somebody declared, over a connection of its own.
pub struct Stream {
    connection: AmqpConnection,
    name: String,
    limits: Limits,
    writer: Option<Writer>,
    reader: Option<Reader>,
}

/// A consumer that is told of each record.
struct Reader {
    channel: Channel,
    messages: mpsc::UnboundedReceiver<ConsumerMessage>,
    closed: CloseSlot,
    /// The offset behind the last record that came.
    next_offset: u64,
}

struct Writer {
    channel: Channel,
    answers: mpsc::UnboundedReceiver<Taken>,
    closed: CloseSlot,
}

/// What the broker says about a published record.
enum Taken {
    Yes,
    No,
    Returned(String),
}

impl Stream {
    /// Connects. The stream is looked at when it is read or added to.
    ///
    /// # Errors
    /// When no connection can be had.
    pub async fn open(broker: &AmqpBroker, name: &str, limits: Limits) -> Result<Self, StreamError> {
        short("queue name", name).map_err(StreamError::NotTaken)?;
        let connection = broker.connect(limits.connect).await;
        let connection = connection.map_err(|error| StreamError::Connect(error.to_string()))?;
        Ok(Self { connection, name: name.to_owned(), limits, writer: None, reader: None })
    }

    /// Where the last chunk of records begins, from 0; `None` when there is none within `patience`. Where each record was
    /// confirmed before the next one was published, a chunk is one record.
    ///
    /// # Errors
    /// When the broker refuses it.
    pub async fn last(&self, patience: Duration) -> Result<Option<u64>, StreamError> {
        let mut follower = self.consume("last").await?;
        let last = follower.next(patience).await;
        follower.close(self.limits.close).await;
        Ok(last?.map(|record| record.offset))
    }

    /// The records that have not been read over this connection yet: at least those before offset `end`, and whatever comes
    /// until nothing comes for `quiet`.
    ///
    /// # Errors
    /// When the broker refuses it, or falls silent before `end`.
    pub async fn read(&mut self, end: u64, quiet: Duration) -> Result<Vec<StreamRecord>, StreamError> {
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => self.consume("first").await?,
        };
        let mut records = Vec::new();
        loop {
            let complete = reader.next_offset >= end;
            let limit = if complete { quiet } else { self.limits.question };
            match reader.next(limit).await? {
                Some(record) => records.push(record),
                None if complete => break,
                None => return Err(StreamError::Silence { after: limit }),
            }
        }
        self.reader = Some(reader);
        Ok(records)
    }

    /// The next record that comes behind those that were read; `None` when none comes within `limit`.
    ///
    /// # Errors
    /// When the broker refuses it.
    pub async fn next(&mut self, limit: Duration) -> Result<Option<StreamRecord>, StreamError> {
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => self.consume("first").await?,
        };
        let next = reader.next(limit).await?;
        self.reader = Some(reader);
        Ok(next)
    }

    /// Adds a record and waits until the broker has it.
    ///
    /// # Errors
    /// When the broker does not confirm it; it may be in the stream nevertheless.
    pub async fn append(&mut self, bytes: Vec<u8>) -> Result<(), StreamError> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.write().await?,
        };
        let (limit, name) = (self.limits.change, self.name.clone());
        let appending = async move {
            let mut writer = writer;
            let properties = BasicProperties::default().with_persistence(true).finish();
            let mut arguments = BasicPublishArguments::new("", &name);
            arguments.mandatory(true);
            let published = writer.channel.basic_publish(properties, bytes, arguments).await;
            published.map_err(|error| why(&writer.closed, &error))?;
            match writer.answers.recv().await {
                Some(Taken::Yes) => Ok(writer),
                Some(Taken::No) => Err(match writer.closed.get() {
                    Some(refused) => StreamError::Refused(refused),
                    None => StreamError::NotTaken("it was not confirmed".to_owned()),
                }),
                Some(Taken::Returned(text)) => Err(StreamError::NotTaken(text)),
                None => Err(gone(&writer.closed)),
            }
        };
        self.writer = Some(within(limit, appending).await?);
        Ok(())
    }

    /// Closes the connection.
    pub async fn close(mut self) {
        drop((self.writer.take(), self.reader.take()));
        self.connection.close(self.limits.close).await;
    }

    async fn consume(&self, from: &'static str) -> Result<Reader, StreamError> {
        let closed = CloseSlot::default();
        let channel = self.channel(OnClose(closed.clone())).await?;
        let (owned, slot, name) = (channel.clone(), closed.clone(), self.name.clone());
        let consuming = async move {
            let lost = |error: amqprs::error::Error| why(&slot, &error);
            owned.basic_qos(BasicQosArguments::new(0, PREFETCH, false)).await.map_err(lost)?;
            let mut offset = FieldTable::new();
            if let (Ok(key), Ok(from)) = ("x-stream-offset".try_into(), from.to_owned().try_into()) {
                offset.insert(key, FieldValue::S(from));
            }
            let mut arguments = BasicConsumeArguments::new(&name, "acemq");
            arguments.arguments(offset);
            owned.basic_consume_rx(arguments).await.map(|(_, messages)| messages).map_err(lost)
        };
        let messages = within(self.limits.question, consuming).await?;
        Ok(Reader { channel, messages, closed, next_offset: 0 })
    }

    async fn write(&self) -> Result<Writer, StreamError> {
        let (taken, answers) = mpsc::unbounded_channel();
        let closed = CloseSlot::default();
        let channel = self.channel(Answers { closed: closed.clone(), taken }).await?;
        let (owned, slot) = (channel.clone(), closed.clone());
        within(self.limits.question, async move {
            let selected = owned.confirm_select(ConfirmSelectArguments::new(false)).await;
            selected.map_err(|error| why(&slot, &error))
        })
        .await?;
        Ok(Writer { channel, answers, closed })
    }

    async fn channel(
        &self,
        callback: impl amqprs::callbacks::ChannelCallback + Send + 'static,
    ) -> Result<Channel, StreamError> {
        let Some(connection) = self.connection.shared() else {
            return Err(StreamError::Lost("it is being closed".to_owned()));
        };
        let closed = self.connection.closed();
        within(self.limits.question, async move {
            let lost = |error: amqprs::error::Error| StreamError::from(ended_connection(&closed, &error));
            let channel = connection.open_channel(None).await.map_err(lost)?;
            channel.register_callback(callback).await.map_err(lost)?;
            Ok(channel)
        })
        .await
    }
}

impl Reader {
    /// The next record; `None` when none comes within `limit`.
    async fn next(&mut self, limit: Duration) -> Result<Option<StreamRecord>, StreamError> {
        let until = Instant::now() + limit;
        loop {
            let message = match tokio::time::timeout_at(until, self.messages.recv()).await {
                Ok(Some(message)) => message,
                Ok(None) => return Err(gone(&self.closed)),
                Err(_) => return Ok(None),
            };
            let Some((tag, record)) = record(message, self.next_offset) else { continue };
            self.next_offset = record.offset.saturating_add(1);
            if tag % u64::from(PREFETCH / 2) == 0 {
                let (channel, closed) = (self.channel.clone(), self.closed.clone());
                within(ACKNOWLEDGE, async move {
                    let acknowledged = channel.basic_ack(BasicAckArguments::new(tag, true)).await;
                    acknowledged.map_err(|error| why(&closed, &error))
                })
                .await?;
            }
            return Ok(Some(record));
        }
    }

    async fn close(self, limit: Duration) {
        let closing = tokio::spawn(self.channel.close());
        let _ = tokio::time::timeout(limit, closing).await;
    }
}

/// Runs calls of amqprs, which must not be dropped half-way, in a task of their own.
async fn within<T: Send + 'static>(
    limit: Duration,
    calls: impl Future<Output = Result<T, StreamError>> + Send + 'static,
) -> Result<T, StreamError> {
    match tokio::time::timeout(limit, tokio::spawn(calls)).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(StreamError::Lost("the client's own task ended".to_owned())),
        Err(_) => Err(StreamError::Silence { after: limit }),
    }
}

fn why(closed: &CloseSlot, error: &amqprs::error::Error) -> StreamError {
    ended_connection(closed, error).into()
}

fn gone(closed: &CloseSlot) -> StreamError {
    match closed.get() {
        Some(refused) => StreamError::Refused(refused),
        None => StreamError::Lost("it ended without a reason from the broker".to_owned()),
    }
}

/// A delivery with its tag. Where the broker says no offset, the records are counted.
fn record(message: ConsumerMessage, count: u64) -> Option<(u64, StreamRecord)> {
    let tag = message.deliver.as_ref()?.delivery_tag();
    let headers = message.basic_properties.as_ref().and_then(BasicProperties::headers);
    let key = "x-stream-offset".try_into().ok()?;
    let said = match headers.and_then(|headers| headers.get(&key)) {
        Some(FieldValue::l(offset)) => u64::try_from(*offset).ok(),
        _ => None,
    };
    Some((tag, StreamRecord { offset: said.unwrap_or(count), bytes: message.content.unwrap_or_default() }))
}

/// Passes on what the broker says about records.
struct Answers {
    closed: CloseSlot,
    taken: mpsc::UnboundedSender<Taken>,
}

#[async_trait::async_trait]
impl amqprs::callbacks::ChannelCallback for Answers {
    async fn close(&mut self, channel: &Channel, close: CloseChannel) -> Result<(), amqprs::error::Error> {
        OnClose(self.closed.clone()).close(channel, close).await?;
        let _ = self.taken.send(Taken::No);
        Ok(())
    }

    async fn cancel(&mut self, _: &Channel, _: Cancel) -> Result<(), amqprs::error::Error> {
        Ok(())
    }

    async fn flow(&mut self, _: &Channel, active: bool) -> Result<bool, amqprs::error::Error> {
        Ok(active)
    }

    async fn publish_ack(&mut self, _: &Channel, _: Ack) {
        let _ = self.taken.send(Taken::Yes);
    }

    async fn publish_nack(&mut self, _: &Channel, _: Nack) {
        let _ = self.taken.send(Taken::No);
    }

    async fn publish_return(&mut self, _: &Channel, returned: Return, _: BasicProperties, _: Vec<u8>) {
        let _ = self.taken.send(Taken::Returned(format!("{} {}", returned.reply_code(), returned.reply_text())));
    }
}
