//! A channel as a task of its own.
//!
//! amqprs wants every call on a channel to run to its end, one after the other: a dropped call panics the connection's task,
//! two at once swap their answers. So one task owns the channel and does one request at a time; whoever asks waits for the
//! task's reply and may stop waiting whenever he likes. The code and text of a refusal reach only the channel's callback,
//! which has finished before the failed call returns.

use super::connection::{CloseSlot, ended_connection};
use super::table::{short, table};
use crate::operation::{Done, Operation, QueueStatus};
use crate::transport::Ended;
use acemq_core::rabbitmq::{BindingDeclaration, DestinationType, Refused, Scope};
use amqprs::channel::{
    Channel, ExchangeBindArguments, ExchangeDeclareArguments, ExchangeDeleteArguments, ExchangeUnbindArguments,
    QueueBindArguments, QueueDeclareArguments, QueueDeleteArguments, QueueUnbindArguments,
};
use amqprs::{Ack, BasicProperties, Cancel, CloseChannel, Nack, Return};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// A request to the task: an operation in amqprs's terms, checked so that no call of it can panic.
pub(super) enum Request {
    DeclareQueue(QueueDeclareArguments),
    DeleteQueue(QueueDeleteArguments),
    BindQueue(QueueBindArguments),
    UnbindQueue(QueueUnbindArguments),
    DeclareExchange(ExchangeDeclareArguments),
    DeleteExchange(ExchangeDeleteArguments),
    BindExchange(ExchangeBindArguments),
    UnbindExchange(ExchangeUnbindArguments),
}

impl Request {
    pub(super) fn new(operation: &Operation) -> Result<Self, String> {
        Ok(match operation {
            Operation::DeclareQueue(queue) => {
                let mut arguments = QueueDeclareArguments::new(short("queue name", &queue.name)?);
                arguments
                    .durable(queue.durable)
                    .exclusive(queue.exclusive)
                    .auto_delete(queue.auto_delete)
                    .arguments(table(&queue.arguments)?);
                Self::DeclareQueue(arguments)
            }
            Operation::LookUpQueue(name) => {
                let mut arguments = QueueDeclareArguments::new(short("queue name", name)?);
                arguments.passive(true);
                Self::DeclareQueue(arguments)
            }
            Operation::DeleteQueue(name) => Self::DeleteQueue(QueueDeleteArguments::new(short("queue name", name)?)),
            Operation::DeleteUnusedQueue(name) => {
                let mut arguments = QueueDeleteArguments::new(short("queue name", name)?);
                arguments.if_unused(true).if_empty(true);
                Self::DeleteQueue(arguments)
            }
            Operation::DeclareExchange(exchange) => {
                let mut arguments = ExchangeDeclareArguments::new(
                    short("exchange name", &exchange.name)?,
                    short("exchange type", &exchange.kind)?,
                );
                arguments
                    .durable(exchange.durable)
                    .auto_delete(exchange.auto_delete)
                    .internal(exchange.internal)
                    .arguments(table(&exchange.arguments)?);
                Self::DeclareExchange(arguments)
            }
            Operation::LookUpExchange(name) => {
                // A passive declaration's type is not looked at.
                let mut arguments = ExchangeDeclareArguments::new(short("exchange name", name)?, "direct");
                arguments.passive(true);
                Self::DeclareExchange(arguments)
            }
            Operation::DeleteExchange(name) => {
                Self::DeleteExchange(ExchangeDeleteArguments::new(short("exchange name", name)?))
            }
            Operation::DeleteUnusedExchange(name) => {
                let mut arguments = ExchangeDeleteArguments::new(short("exchange name", name)?);
                arguments.if_unused(true);
                Self::DeleteExchange(arguments)
            }
            Operation::Bind(binding) => {
                let (source, destination, key) = ends(binding)?;
                match binding.destination_type {
                    DestinationType::Queue => {
                        let mut arguments = QueueBindArguments::new(destination, source, key);
                        arguments.arguments(table(&binding.arguments)?);
                        Self::BindQueue(arguments)
                    }
                    DestinationType::Exchange => {
                        let mut arguments = ExchangeBindArguments::new(destination, source, key);
                        arguments.arguments(table(&binding.arguments)?);
                        Self::BindExchange(arguments)
                    }
                }
            }
            Operation::Unbind(binding) => {
                let (source, destination, key) = ends(binding)?;
                match binding.destination_type {
                    DestinationType::Queue => {
                        let mut arguments = QueueUnbindArguments::new(destination, source, key);
                        arguments.arguments(table(&binding.arguments)?);
                        Self::UnbindQueue(arguments)
                    }
                    DestinationType::Exchange => {
                        let mut arguments = ExchangeUnbindArguments::new(destination, source, key);
                        arguments.arguments(table(&binding.arguments)?);
                        Self::UnbindExchange(arguments)
                    }
                }
            }
        })
    }

    async fn send(self, channel: &Channel) -> Result<Done, amqprs::error::Error> {
        match self {
            Self::DeclareQueue(arguments) => {
                let counts = channel.queue_declare(arguments).await?;
                Ok(counts.map_or(Done::Ok, |(name, messages, consumers)| {
                    Done::Queue(QueueStatus { name, messages, consumers })
                }))
            }
            Self::DeleteQueue(arguments) => {
                let messages = channel.queue_delete(arguments).await?;
                Ok(Done::Deleted { messages: messages.unwrap_or_default() })
            }
            Self::BindQueue(arguments) => channel.queue_bind(arguments).await.map(|()| Done::Ok),
            Self::UnbindQueue(arguments) => channel.queue_unbind(arguments).await.map(|()| Done::Ok),
            Self::DeclareExchange(arguments) => channel.exchange_declare(arguments).await.map(|()| Done::Ok),
            Self::DeleteExchange(arguments) => channel.exchange_delete(arguments).await.map(|()| Done::Ok),
            Self::BindExchange(arguments) => channel.exchange_bind(arguments).await.map(|()| Done::Ok),
            Self::UnbindExchange(arguments) => channel.exchange_unbind(arguments).await.map(|()| Done::Ok),
        }
    }
}

fn ends(binding: &BindingDeclaration) -> Result<(&str, &str, &str), String> {
    let destination = match binding.destination_type {
        DestinationType::Queue => "queue name",
        DestinationType::Exchange => "exchange name",
    };
    Ok((
        short("exchange name", &binding.source)?,
        short(destination, &binding.destination)?,
        short("routing key", &binding.routing_key)?,
    ))
}

struct Job {
    request: Request,
    reply: oneshot::Sender<Result<Done, Ended>>,
}

/// A channel that amqprs serves. Dropping it closes the channel, after the request that is under way.
pub struct AmqpChannel {
    jobs: mpsc::Sender<Job>,
}

impl AmqpChannel {
    /// Starts the task of a channel that was just opened. Must run inside the runtime.
    pub(super) async fn start(channel: Channel, connection_closed: CloseSlot) -> Result<Self, amqprs::error::Error> {
        let channel_closed = CloseSlot::default();
        channel.register_callback(OnClose(channel_closed.clone())).await?;
        let (jobs, incoming) = mpsc::channel(1);
        tokio::spawn(serve(channel, incoming, channel_closed, connection_closed));
        Ok(Self { jobs })
    }
}

async fn serve(channel: Channel, mut incoming: mpsc::Receiver<Job>, closed: CloseSlot, connection_closed: CloseSlot) {
    while let Some(Job { request, reply }) = incoming.recv().await {
        let outcome = request.send(&channel).await.map_err(|error| match closed.get() {
            Some(refused) => Ended::ChannelClosed(refused),
            None => ended_connection(&connection_closed, &error),
        });
        let over = outcome.is_err();
        // Whoever asked may have stopped waiting.
        let _ = reply.send(outcome);
        if over {
            return;
        }
    }
    if channel.is_open() && channel.is_connection_open() {
        let _ = channel.close().await;
    }
}

impl crate::transport::Channel for AmqpChannel {
    async fn perform(&mut self, operation: &Operation, limit: Duration) -> Result<Done, Ended> {
        let request = Request::new(operation).map_err(Ended::Unsendable)?;
        let (reply, answer) = oneshot::channel();
        let gone = || Ended::ConnectionLost("the channel is not served any more".to_owned());
        self.jobs.send(Job { request, reply }).await.map_err(|_| gone())?;
        match tokio::time::timeout(limit, answer).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(gone()),
            Err(_) => Err(Ended::Silence { after: limit }),
        }
    }
}

/// Keeps the broker's reason for closing the channel.
pub(super) struct OnClose(pub(super) CloseSlot);

#[async_trait::async_trait]
impl amqprs::callbacks::ChannelCallback for OnClose {
    async fn close(&mut self, _: &Channel, close: CloseChannel) -> Result<(), amqprs::error::Error> {
        self.0.set(Refused { code: close.reply_code(), text: close.reply_text().clone(), scope: Scope::Channel });
        Ok(())
    }

    async fn cancel(&mut self, _: &Channel, _: Cancel) -> Result<(), amqprs::error::Error> {
        Ok(())
    }

    async fn flow(&mut self, _: &Channel, active: bool) -> Result<bool, amqprs::error::Error> {
        Ok(active)
    }

    async fn publish_ack(&mut self, _: &Channel, _: Ack) {}

    async fn publish_nack(&mut self, _: &Channel, _: Nack) {}

    async fn publish_return(&mut self, _: &Channel, _: Return, _: BasicProperties, _: Vec<u8>) {}
}
