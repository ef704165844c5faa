//! A publisher with confirms: at most a hundred messages are under way at a time.

use super::{Place, Shared, Traffic, lock, number};
use crate::amqp::{Channel, Event, Failure, Publish};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const WINDOW: usize = 100;

/// Numbers of the messages that are not confirmed yet, by delivery tag.
type Open = BTreeMap<u64, u64>;

/// Publishes until it is told to stop or everything is published. What is unconfirmed when its connection ends counts for
/// nothing: it may have arrived or not.
pub(super) fn publish(shared: &Shared, place: &Place, traffic: &Traffic, which: usize) {
    let started = Instant::now();
    let mut sent: u32 = 0;
    while let Some(connection) = place.connect(which, &shared.publishes) {
        let Ok(channel) = connection.channel() else { continue };
        if channel.confirm_select().is_err() {
            continue;
        }
        let (mut open, mut tag) = (Open::new(), 0);
        let outcome = loop {
            if !shared.publishes.load(Ordering::SeqCst) {
                break settle(shared, &channel, &mut open, 0);
            }
            if traffic.rate > 0 && started.elapsed() < Duration::from_secs(1) * sent / traffic.rate {
                // The time until the next one is due is spent on listening.
                match settle_some(shared, &channel, &mut open, Duration::from_millis(1)) {
                    Ok(_) => continue,
                    Err(failure) => break Err(failure),
                }
            }
            let id = shared.next.fetch_add(1, Ordering::SeqCst);
            if traffic.total > 0 && id >= traffic.total {
                break settle(shared, &channel, &mut open, 0);
            }
            let kind = &traffic.kinds[usize::try_from(id).unwrap() % traffic.kinds.len()];
            let mut message = Publish::to(kind.exchange, kind.key).body(id.to_be_bytes()).persistent();
            message.mandatory = kind.mandatory;
            if !kind.headers.is_empty() {
                message = message.headers(kind.headers.clone());
            }
            if let Err(failure) = channel.publish(&message) {
                break Err(failure);
            }
            sent += 1;
            tag += 1;
            open.insert(tag, id);
            if let Err(failure) = settle(shared, &channel, &mut open, WINDOW) {
                break Err(failure);
            }
        };
        if outcome.is_ok() {
            return;
        }
    }
}

/// Listens until at most `most` messages are unconfirmed.
fn settle(shared: &Shared, channel: &Channel, open: &mut Open, most: usize) -> Result<(), Failure> {
    let mut deadline = Instant::now() + Duration::from_secs(60);
    while open.len() > most {
        if settle_some(shared, channel, open, Duration::from_millis(50))? {
            deadline = Instant::now() + Duration::from_secs(60);
        } else if Instant::now() >= deadline {
            return Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into());
        }
    }
    Ok(())
}

/// Takes one word of the broker's; whether there was one.
fn settle_some(shared: &Shared, channel: &Channel, open: &mut Open, limit: Duration) -> Result<bool, Failure> {
    match channel.next_event(limit)? {
        None => return Ok(false),
        Some(Event::Returned(returned)) => lock(&shared.returned).push(number(&returned.body)),
        Some(Event::Ack { delivery_tag, multiple }) => {
            let rest = if multiple { open.split_off(&(delivery_tag + 1)) } else { Open::new() };
            let done = if multiple {
                std::mem::replace(open, rest)
            } else {
                open.remove_entry(&delivery_tag).into_iter().collect()
            };
            lock(&shared.confirmed).extend(done.into_values());
        }
        Some(Event::Nack { delivery_tag, multiple }) => {
            if multiple {
                *open = open.split_off(&(delivery_tag + 1));
            } else {
                open.remove(&delivery_tag);
            }
        }
        Some(_) => {}
    }
    Ok(true)
}
