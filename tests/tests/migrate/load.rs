//! Publishers with confirms and consumers that note every message, while something is done to the queues.

use acemq_tests::amqp::{Channel, Consume, Event, Publish};
use acemq_tests::broker::Vhost;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Keys of the old queue, the neighbour's first.
const KEYS: [&str; 3] = ["a.b", "a.c", "c.b"];

/// How often each message came, by queue.
type Received = BTreeMap<u64, u32>;

#[derive(Default)]
struct Shared {
    publish: AtomicBool,
    consume: AtomicBool,
    next: AtomicU64,
    confirmed: Mutex<Vec<u64>>,
    returned: AtomicU64,
    received: Mutex<BTreeMap<&'static str, Received>>,
}

/// Traffic under way.
pub struct Load {
    shared: Arc<Shared>,
    publishers: Vec<JoinHandle<()>>,
    consumers: Vec<JoinHandle<()>>,
}

/// What came of it.
#[derive(Debug)]
pub struct Report {
    pub confirmed: usize,
    pub lost: usize,
    pub doubled: usize,
    pub returned: u64,
    pub by_new: usize,
    pub neighbour_lost: usize,
    pub neighbour_doubled: usize,
}

impl Load {
    /// Two publishers, and a consumer for each of the three queues; that of `new` waits until the queue is there.
    pub fn start(vhost: &Vhost<'_>) -> Self {
        let shared = Arc::new(Shared::default());
        shared.publish.store(true, Ordering::SeqCst);
        shared.consume.store(true, Ordering::SeqCst);
        let publishers = (0..2)
            .map(|_| {
                let (shared, connection) = (Arc::clone(&shared), vhost.connect());
                thread::spawn(move || publish(&shared, &connection.channel().unwrap()))
            })
            .collect();
        let consumers = ["old", "new", "neighbour"]
            .into_iter()
            .map(|queue| {
                let (shared, connection) = (Arc::clone(&shared), vhost.connect());
                thread::spawn(move || {
                    while shared.consume.load(Ordering::SeqCst) {
                        // The queue may not be there yet, or no more; its channel is closed over that.
                        let channel = connection.channel().unwrap();
                        if channel.prefetch(50).and_then(|()| channel.consume(&Consume::from(queue))).is_ok() {
                            consume(&shared, &channel, queue);
                        }
                        thread::sleep(Duration::from_millis(20));
                    }
                })
            })
            .collect();
        Self { shared, publishers, consumers }
    }

    /// Stops the publishers, waits until what they published has come, and counts.
    pub fn stop(self) -> Report {
        self.shared.publish.store(false, Ordering::SeqCst);
        for publisher in self.publishers {
            publisher.join().unwrap();
        }
        let confirmed = self.shared.confirmed.lock().unwrap().clone();
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline {
            let received = self.shared.received.lock().unwrap();
            let arrived = |id: &u64| ["old", "new"].iter().any(|queue| count(&received, queue, *id) > 0);
            let neighbour = |id: &u64| !is_for_neighbour(*id) || count(&received, "neighbour", *id) > 0;
            if confirmed.iter().all(|id| arrived(id) && neighbour(id)) {
                break;
            }
            drop(received);
            thread::sleep(Duration::from_millis(50));
        }
        self.shared.consume.store(false, Ordering::SeqCst);
        for consumer in self.consumers {
            consumer.join().unwrap();
        }
        let received = self.shared.received.lock().unwrap();
        let mine = |id: &u64| count(&received, "old", *id) + count(&received, "new", *id);
        let theirs = |id: &u64| count(&received, "neighbour", *id);
        let for_neighbour: Vec<u64> = confirmed.iter().copied().filter(|id| is_for_neighbour(*id)).collect();
        Report {
            confirmed: confirmed.len(),
            lost: confirmed.iter().filter(|id| mine(id) == 0).count(),
            doubled: confirmed.iter().filter(|id| mine(id) > 1).count(),
            returned: self.shared.returned.load(Ordering::SeqCst),
            by_new: received.get("new").map_or(0, BTreeMap::len),
            neighbour_lost: for_neighbour.iter().filter(|id| theirs(id) == 0).count(),
            neighbour_doubled: confirmed.iter().filter(|id| theirs(id) > 1).count(),
        }
    }
}

fn is_for_neighbour(id: u64) -> bool {
    key(id).starts_with("a.")
}

fn key(id: u64) -> &'static str {
    KEYS[usize::try_from(id % 3).unwrap()]
}

fn count(received: &BTreeMap<&'static str, Received>, queue: &str, id: u64) -> u32 {
    received.get(queue).and_then(|ids| ids.get(&id)).copied().unwrap_or_default()
}

fn publish(shared: &Shared, channel: &Channel) {
    channel.confirm_select().unwrap();
    while shared.publish.load(Ordering::SeqCst) {
        let id = shared.next.fetch_add(1, Ordering::SeqCst);
        let message = Publish { mandatory: true, ..Publish::to("x", key(id)).body(id.to_be_bytes()) };
        let confirmed = channel.publish_confirmed(&message).unwrap();
        if confirmed.returned.is_some() {
            shared.returned.fetch_add(1, Ordering::SeqCst);
        }
        if confirmed.acknowledged {
            shared.confirmed.lock().unwrap().push(id);
        }
    }
}

/// Consumes until the queue goes or nothing more is wanted.
fn consume(shared: &Shared, channel: &Channel, queue: &'static str) {
    while shared.consume.load(Ordering::SeqCst) {
        match channel.next_event(Duration::from_millis(50)) {
            Ok(Some(Event::Delivery(delivery))) => {
                let id = u64::from_be_bytes(delivery.body.as_slice().try_into().unwrap());
                *shared.received.lock().unwrap().entry(queue).or_default().entry(id).or_default() += 1;
                channel.ack(delivery.delivery_tag, false).unwrap();
            }
            Ok(Some(Event::Cancelled { .. })) | Err(_) => return,
            Ok(_) => {}
        }
    }
}
