//! Publishing, and what dies being published again.

use super::channel::Delivery;
use super::connections::{Caller, ChannelId, ConnectionId};
use super::death::{self, DeathReason, Deaths};
use super::history::{Loss, What};
use super::message::{Message, Publication};
use super::queue::Pending;
use super::store::Entry;
use super::{EmbeddedBroker, MessageId};
use crate::rabbitmq::changes::{V4_3_QUEUES, V4_QUORUM};
use crate::rabbitmq::{self, Refused, parse_expiration};
use crate::routing::{Envelope, Opaque, Routed};
use crate::value::Table;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// How often messages may die at one instant before a circle is taken for endless.
const MOST_DEATHS_AT_ONCE: usize = 100_000;

/// What became of a publication.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// The number that the broker gave it.
    pub message: MessageId,
    /// The queues that it was routed to, sorted.
    pub queues: Vec<String>,
    /// Whether the publisher's confirm is positive. It is negative when a queue refused the message because it is full.
    pub confirmed: bool,
    /// A mandatory message that no queue got: it is given back, with 312 `NO_ROUTE`.
    pub returned: bool,
    /// Exchanges that it reached and whose choice is not known: what they do with it is not modelled.
    pub opaque: Vec<Opaque>,
}

/// A message that left its queue and is on its way to the dead-letter exchange.
#[derive(Debug, Clone)]
pub(super) struct DeadLetter {
    message: Message,
    queue: String,
    reason: DeathReason,
}

impl EmbeddedBroker {
    /// `basic.publish`, with a confirm.
    ///
    /// # Errors
    /// What the broker refuses, as [`rabbitmq::publish`] says; 504 when the caller is closed.
    pub fn publish(&mut self, caller: impl Into<Caller>, publication: Publication) -> Result<Published, Refused> {
        let caller = caller.into();
        self.answer(caller, |broker, connection| {
            let conditions = broker.conditions_of(connection);
            let exchange = broker.router.declaration(&publication.exchange);
            rabbitmq::publish(&conditions, exchange, &publication.exchange, &publication.properties)?;
            let channel = match caller {
                Caller::Channel(channel) => channel,
                Caller::Connection(_) => ChannelId::NONE,
            };
            Ok(broker.accept(publication, channel))
        })
    }

    fn accept(&mut self, publication: Publication, channel: ChannelId) -> Published {
        let version = self.conditions.version;
        let id = self.next_message();
        let expiration = publication.properties.expiration.as_deref();
        let ttl = expiration.and_then(|text| parse_expiration(text, false).ok());
        let deaths = Deaths::of_publication(version, &publication.properties.headers);
        let mandatory = publication.mandatory;
        let message = Message::new(id, publication, ttl, deaths);
        let Routed { queues, opaque } = self.router.route(&envelope(&message, &message.properties.headers));
        self.note(
            Some(id),
            What::Published {
                exchange: message.exchange.clone(),
                routing_key: message.routing_key(),
                queues: queues.clone(),
                opaque: names(&opaque),
            },
        );
        let returned = mandatory && queues.is_empty();
        if returned {
            self.note(Some(id), What::Returned);
        }
        let mut confirmed = true;
        for queue in &queues {
            confirmed &= self.enqueue(queue, message.clone(), Some(channel));
        }
        Published { message: id, queues, confirmed, returned, opaque }
    }

    /// An entry that dies: its counts go with the message.
    pub(super) fn bury(&mut self, queue: &str, entry: Entry, reason: DeathReason) {
        let mut message = entry.message;
        let version = self.conditions.version;
        let counts = if self.queues.get(queue).is_some_and(super::queue::Queue::is_quorum) {
            V4_QUORUM.holds(version)
        } else {
            V4_3_QUEUES.holds(version)
        };
        if counts {
            message.failed = entry.failed;
        }
        self.die(queue, message, reason);
    }

    /// A message dies in a queue: to the dead-letter exchange if the queue has one, else it is gone.
    pub(super) fn die(&mut self, name: &str, message: Message, reason: DeathReason) {
        let Some(queue) = self.queues.get_mut(name) else { return };
        let id = message.id;
        let Some(exchange) = queue.settings.dead_letter_exchange.clone() else {
            let why = Loss::NoDeadLetterExchange(reason);
            return self.note(Some(id), What::Lost { queue: name.to_owned(), why });
        };
        if queue.settings.at_least_once {
            let message = self.dead(name, message, reason, &exchange);
            if let Some(queue) = self.queues.get_mut(name) {
                queue.pending.push(Pending { message, reason, settled: BTreeSet::new() });
                self.waiting.insert(name.to_owned());
            }
            self.note(Some(id), What::Waits { queue: name.to_owned(), reason });
        } else if self.router.has_exchange(&exchange) {
            self.dying.push_back(DeadLetter { message, queue: name.to_owned(), reason });
        } else {
            let why = Loss::MissingDeadLetterExchange(reason);
            self.note(Some(id), What::Lost { queue: name.to_owned(), why });
        }
    }

    /// The message with its death written down.
    fn dead(&self, name: &str, message: Message, reason: DeathReason, exchange: &str) -> Message {
        let key = self.queues.get(name).and_then(|queue| queue.settings.dead_letter_key.as_deref());
        death::die(self.conditions.version, message, name, reason, exchange, key, self.now / 1000)
    }

    /// Lets everything happen that follows from what has happened: dead letters arrive, and may die again.
    pub(super) fn settle_down(&mut self) {
        let mut deaths = 0usize;
        loop {
            while let Some(DeadLetter { message, queue, reason }) = self.dying.pop_front() {
                deaths = deaths.saturating_add(1);
                if deaths > MOST_DEATHS_AT_ONCE {
                    self.note(Some(message.id), What::Lost { queue, why: Loss::EndlessCircle });
                    continue;
                }
                self.forward(&queue, message, reason);
            }
            if !self.retry_pending() && self.dying.is_empty() {
                return;
            }
        }
    }

    /// At most once: to all targets at the same time, whatever becomes of it.
    fn forward(&mut self, name: &str, message: Message, reason: DeathReason) {
        let exchange = self.queues.get(name).and_then(|queue| queue.settings.dead_letter_exchange.clone());
        let Some(exchange) = exchange else { return };
        let message = self.dead(name, message, reason, &exchange);
        let (queues, cycles, opaque) = self.targets(&message, reason);
        self.note_death(name, &message, reason, &queues, cycles, opaque);
        for queue in &queues {
            self.enqueue(queue, message.clone(), None);
        }
    }

    fn targets(&self, message: &Message, reason: DeathReason) -> (Vec<String>, Vec<String>, Vec<String>) {
        let headers = message.routing_headers();
        let Routed { queues, opaque } = self.router.route(&envelope(message, &headers));
        let version = self.conditions.version;
        let (cycles, queues) = queues.into_iter().partition(|queue| death::is_cycle(version, message, reason, queue));
        (queues, cycles, names(&opaque))
    }

    fn note_death(
        &mut self,
        name: &str,
        message: &Message,
        reason: DeathReason,
        queues: &[String],
        cycles: Vec<String>,
        opaque: Vec<String>,
    ) {
        self.note(
            Some(message.id),
            What::DeadLettered {
                queue: name.to_owned(),
                reason,
                exchange: message.exchange.clone(),
                routing_key: message.routing_key(),
                queues: queues.to_vec(),
                cycles,
                opaque,
            },
        );
    }

    /// At least once: each waiting dead letter goes to every target that has not got it, and leaves when all have. Whether
    /// one left.
    fn retry_pending(&mut self) -> bool {
        let mut left = false;
        for name in std::mem::take(&mut self.waiting) {
            let Some(pending) = self.queues.get_mut(&name).map(|queue| std::mem::take(&mut queue.pending)) else {
                continue;
            };
            let mut stay = Vec::new();
            for mut letter in pending {
                let (queues, cycles, opaque) = self.targets(&letter.message, letter.reason);
                let open: Vec<String> =
                    queues.iter().filter(|queue| !letter.settled.contains(*queue)).cloned().collect();
                for queue in open {
                    if self.enqueue(&queue, letter.message.clone(), Some(ChannelId::NONE)) {
                        letter.settled.insert(queue);
                    }
                }
                let all = queues.iter().all(|queue| letter.settled.contains(queue));
                if all && !letter.settled.is_empty() {
                    self.note_death(&name, &letter.message, letter.reason, &queues, cycles, opaque);
                    left = true;
                } else {
                    stay.push(letter);
                }
            }
            if let Some(queue) = self.queues.get_mut(&name) {
                // What died meanwhile stands behind what waited before.
                stay.append(&mut queue.pending);
                queue.pending = stay;
                if !queue.pending.is_empty() {
                    self.waiting.insert(name.clone());
                }
            }
            self.unblock(&name);
        }
        left
    }

    /// `basic.get`: the next message, or `None` when none is ready.
    ///
    /// # Errors
    /// What the broker refuses, as [`rabbitmq::get`] says; 504 when the channel is closed.
    pub fn get(&mut self, channel: ChannelId, queue: &str, no_ack: bool) -> Result<Option<Delivery>, Refused> {
        self.answer(channel.into(), |broker, connection| {
            let name = broker.named(channel, connection, queue)?;
            let existing = broker.existing(&name, connection);
            let single_active = broker.queues.get(&name).is_some_and(|queue| queue.settings.single_active);
            rabbitmq::get(&broker.conditions_of(connection), existing, &name, single_active)?;
            Ok(broker.take_one(channel, &name, no_ack))
        })
    }

    fn take_one(&mut self, channel: ChannelId, name: &str, no_ack: bool) -> Option<Delivery> {
        let now = self.now;
        self.queues.get_mut(name)?.last_used = now;
        self.expire(name);
        let entry = self.queues.get_mut(name)?.store.take()?;
        let next_tag = self.connections.channel(channel)?.delivered.saturating_add(1);
        let holder = super::channel::Holder::Named(next_tag.to_string());
        let mut delivery = self.give(name, channel, None, holder, entry, no_ack)?;
        // A classic queue lets the next head expire before it counts, a quorum queue counts first.
        let before = count(self.queues.get(name)?.ready());
        self.expire(name);
        let queue = self.queues.get(name)?;
        delivery.remaining = Some(if queue.is_quorum() { before } else { count(queue.ready()) });
        Some(delivery)
    }

    /// `queue.purge`: how many ready messages were thrown away. They are not dead-lettered.
    ///
    /// # Errors
    /// What the broker refuses, as [`rabbitmq::purge`] says; 504 when the caller is closed.
    pub fn purge(&mut self, caller: impl Into<Caller>, queue: &str) -> Result<u32, Refused> {
        let caller = caller.into();
        self.answer(caller, |broker, connection| {
            let name = match caller {
                Caller::Channel(channel) => broker.named(channel, connection, queue)?,
                Caller::Connection(_) => queue.to_owned(),
            };
            rabbitmq::purge(&broker.conditions_of(connection), broker.existing(&name, connection), &name)?;
            let purged = broker.queues.get_mut(&name).map(|queue| queue.store.drain()).unwrap_or_default();
            for entry in &purged {
                broker.note(Some(entry.message.id), What::Lost { queue: name.clone(), why: Loss::Purged });
            }
            broker.unblock(&name);
            broker.reckon(&name);
            Ok(count(purged.len()))
        })
    }

    /// The queue that a request names: the one that the channel declared last when it names none.
    pub(super) fn named(&self, channel: ChannelId, connection: ConnectionId, queue: &str) -> Result<String, Refused> {
        if !queue.is_empty() {
            return Ok(queue.to_owned());
        }
        let last = self.connections.channel(channel).and_then(|channel| channel.last_queue.clone());
        last.ok_or_else(|| rabbitmq::no_last_queue(&self.conditions_of(connection)))
    }
}

fn envelope<'a>(message: &'a Message, headers: &'a Table) -> Envelope<'a> {
    Envelope {
        exchange: Cow::Borrowed(&message.exchange),
        keys: message.keys.iter().map(|key| Cow::Borrowed(key.as_slice())).collect(),
        headers: Cow::Borrowed(headers),
    }
}

fn names(opaque: &[Opaque]) -> Vec<String> {
    opaque.iter().map(|opaque| opaque.exchange.clone()).collect()
}

/// A count as AMQP sends it.
pub(super) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
