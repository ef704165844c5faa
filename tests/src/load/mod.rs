//! Traffic on real brokers that is counted: publishers with confirms, consumers that note every message.
//!
//! Each message has a number. A [`Kind`] says where messages are published and which queues get them; the queues between which
//! a migration moves are one group ([`Traffic::moved`]) that gets each of its messages exactly once. "Lost" means: the publisher
//! got a confirm and nobody got the message.

mod count;
mod publisher;
mod shapes;

pub use count::Report;
pub use shapes::{SHAPES, Shape};

use crate::amqp::{Channel, Connection, Consume, Delivery, Event, Login};
use acemq_core::value::Table;
use count::Received;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// When no message came for so long, none is on its way any more.
const LAST: Duration = Duration::from_secs(20);

/// Messages of one kind.
#[derive(Debug, Clone)]
pub struct Kind {
    /// Where they are published.
    pub exchange: &'static str,
    /// With which key.
    pub key: &'static str,
    /// With which headers.
    pub headers: Table,
    /// Whether they come back when no queue gets them.
    pub mandatory: bool,
    /// Whether the queues that the migration is about get them.
    pub for_moved: bool,
    /// Which other queues get them.
    pub others: &'static [&'static str],
}

impl Kind {
    /// Mandatory messages for the queues that the migration is about.
    pub fn moved(exchange: &'static str, key: &'static str) -> Self {
        Self { exchange, key, headers: Table::new(), mandatory: true, for_moved: true, others: &[] }
    }

    /// Messages that no queue gets.
    pub fn unroutable(exchange: &'static str, key: &'static str) -> Self {
        Self { for_moved: false, ..Self::moved(exchange, key) }
    }

    /// These queues get them too.
    #[must_use]
    pub fn and(self, others: &'static [&'static str]) -> Self {
        Self { others, ..self }
    }

    /// Nobody is told when no queue gets them.
    #[must_use]
    pub fn not_mandatory(self) -> Self {
        Self { mandatory: false, ..self }
    }

    /// With headers.
    #[must_use]
    pub fn with(self, headers: Table) -> Self {
        Self { headers, ..self }
    }
}

/// What is published and consumed.
#[derive(Debug, Clone, Default)]
pub struct Traffic {
    /// The kinds of messages, each as often as the others.
    pub kinds: Vec<Kind>,
    /// The queues that share the messages of the migration: the old one, the new one, and where either sets messages aside.
    pub moved: &'static [&'static str],
    /// Queues whose consumer rejects every twentieth message that it gets for the first time.
    pub rejecting: &'static [&'static str],
    /// How many publishers.
    pub publishers: usize,
    /// Messages in a second of each publisher; 0 as many as the broker takes.
    pub rate: u32,
    /// How many messages in all; 0 until it is stopped.
    pub total: u64,
}

/// Where the broker is: the AMQP ports of its nodes, and the vhost.
#[derive(Debug, Clone)]
pub struct Place {
    /// Publishers and consumers are spread over them.
    pub ports: Vec<u16>,
    /// The vhost.
    pub vhost: String,
}

impl Place {
    /// A connection to one of the nodes; `None` when `stop` said so before it was there.
    fn connect(&self, which: usize, wanted: &AtomicBool) -> Option<Connection> {
        let login = Login { vhost: self.vhost.clone(), ..Login::default() };
        let mut turn = which;
        while wanted.load(Ordering::SeqCst) {
            if let Ok(connection) = Connection::open(self.ports[turn % self.ports.len()], &login) {
                return Some(connection);
            }
            // Its node may be down; the next one takes the client then.
            turn += 1;
            thread::sleep(Duration::from_millis(50));
        }
        None
    }
}

#[derive(Default)]
struct Shared {
    publishes: AtomicBool,
    consumes: AtomicBool,
    next: AtomicU64,
    confirmed: Mutex<Vec<u64>>,
    returned: Mutex<Vec<u64>>,
    received: Received,
}

/// Traffic under way.
pub struct Load {
    traffic: Traffic,
    shared: Arc<Shared>,
    publishers: Vec<JoinHandle<()>>,
    consumers: Vec<JoinHandle<()>>,
    started: Instant,
}

impl Load {
    /// Starts publishers, and on every node a consumer of each queue; one whose queue is not there tries again and again.
    pub fn start(place: &Place, traffic: Traffic) -> Self {
        let shared = Arc::new(Shared::default());
        shared.publishes.store(true, Ordering::SeqCst);
        shared.consumes.store(true, Ordering::SeqCst);
        let publishers = (0..traffic.publishers)
            .map(|number| {
                let (shared, place, traffic) = (Arc::clone(&shared), place.clone(), traffic.clone());
                thread::spawn(move || publisher::publish(&shared, &place, &traffic, number))
            })
            .collect();
        let mut queues: Vec<&'static str> = traffic.moved.to_vec();
        queues.extend(traffic.kinds.iter().flat_map(|kind| kind.others));
        queues.sort_unstable();
        queues.dedup();
        let nodes = 0..place.ports.len();
        let consumers = (queues.into_iter())
            .flat_map(|queue| nodes.clone().map(move |node| (queue, node)))
            .map(|(queue, node)| {
                let (shared, place) = (Arc::clone(&shared), place.clone());
                let rejects = traffic.rejecting.contains(&queue);
                thread::spawn(move || keep_consuming(&shared, &place, queue, node, rejects))
            })
            .collect();
        Self { traffic, shared, publishers, consumers, started: Instant::now() }
    }

    /// How many messages were given to publishers so far.
    pub fn published(&self) -> u64 {
        self.shared.next.load(Ordering::SeqCst)
    }

    /// Waits until so many messages were published.
    ///
    /// # Panics
    /// When that takes longer than `limit`.
    pub fn until_published(&self, count: u64, limit: Duration) {
        let deadline = Instant::now() + limit;
        while self.published() < count {
            assert!(Instant::now() < deadline, "{} of {count} messages were published in {limit:?}", self.published());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Stops the publishers, waits until what they published has come, and counts.
    ///
    /// # Panics
    /// When a publisher or consumer panicked.
    pub fn stop(self) -> Report {
        if self.traffic.total == 0 {
            self.shared.publishes.store(false, Ordering::SeqCst);
        }
        for publisher in self.publishers {
            publisher.join().unwrap();
        }
        let seconds = self.started.elapsed().as_secs_f64();
        let (confirmed, returned) = (lock(&self.shared.confirmed).clone(), lock(&self.shared.returned).clone());
        let count = || self.shared.received.count(&self.traffic, &confirmed, &returned);
        let (mut came, mut since) = (0, Instant::now());
        while since.elapsed() < LAST && count().is_short() {
            thread::sleep(Duration::from_millis(200));
            let now = self.shared.received.total();
            if now != came {
                (came, since) = (now, Instant::now());
            }
        }
        self.shared.consumes.store(false, Ordering::SeqCst);
        for consumer in self.consumers {
            consumer.join().unwrap();
        }
        Report { seconds, ..count() }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn keep_consuming(shared: &Shared, place: &Place, queue: &'static str, node: usize, rejects: bool) {
    while let Some(connection) = place.connect(node, &shared.consumes) {
        while shared.consumes.load(Ordering::SeqCst) && connection.is_open() {
            // The queue may not be there yet, or no more; its channel is closed over that.
            let Ok(channel) = connection.channel() else { break };
            if channel.prefetch(100).and_then(|()| channel.consume(&Consume::from(queue))).is_ok() {
                consume(shared, &channel, queue, rejects);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Consumes until the queue goes or nothing more is wanted.
fn consume(shared: &Shared, channel: &Channel, queue: &'static str, rejects: bool) {
    while shared.consumes.load(Ordering::SeqCst) {
        match channel.next_event(Duration::from_millis(50)) {
            Ok(Some(Event::Delivery(delivery))) => {
                let id = number(&delivery.body);
                let settled = if rejects && id % 20 == 7 && !has_died(&delivery) {
                    channel.reject(delivery.delivery_tag, false)
                } else {
                    shared.received.note(queue, id, delivery.redelivered);
                    channel.ack(delivery.delivery_tag, false)
                };
                if settled.is_err() {
                    return;
                }
            }
            Ok(Some(Event::Cancelled { .. })) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

fn has_died(delivery: &Delivery) -> bool {
    delivery.properties.headers.as_ref().is_some_and(|headers| headers.get("x-death").is_some())
}

fn number(body: &[u8]) -> u64 {
    u64::from_be_bytes(body.try_into().unwrap())
}
