//! Plays examples on the embedded broker, for versions that no real one is here for too.

use crate::cases;
use acemq_core::audit::{Example, Outcome, audit};
use acemq_core::embedded::{ChannelId, DeathReason, EmbeddedBroker, Publication};
use acemq_core::policy::Policies;
use acemq_core::rabbitmq::{Broker, Version};
use acemq_core::state::State;
use acemq_core::value::Value;
use std::collections::BTreeSet;

pub const BODY: &str = "the example";

#[test]
fn every_example_comes_true_for_every_version() {
    let mut played = 0;
    for case in cases::all() {
        for version in ["3.10.8", "3.12.14", "3.13.7", "4.0.5", "4.3.6"] {
            let version: Version = version.parse().unwrap();
            let state = State { broker: Broker::rabbitmq(version), ..case.state.clone() };
            for finding in audit(&state, &case.options).findings {
                if let Some(example) = &finding.example {
                    let held = play(&state, example);
                    assert_eq!(
                        held,
                        Ok(expected(example)),
                        "{} on {version}: {}\n{example:#?}",
                        case.name,
                        finding.message
                    );
                    played += 1;
                }
            }
        }
    }
    assert!(played > 150, "only {played} examples");
}

/// The queues that must have the example in the end.
pub fn expected(example: &Example) -> BTreeSet<String> {
    match &example.outcome {
        Outcome::Lost => BTreeSet::new(),
        Outcome::Kept => BTreeSet::from([example.deaths.last().unwrap().queue.clone()]),
        Outcome::Reaches { queues } => queues.iter().cloned().collect(),
    }
}

/// An effective setting of a queue.
pub fn setting(state: &State, queue: &str, key: &str) -> i64 {
    let effective = Policies::new(state).effective(&state.queues[queue]);
    effective.value(key).and_then(Value::as_integer).unwrap()
}

/// The queues that the publication itself brings copies to, besides the one that the example is about.
pub fn besides(state: &State, example: &Example) -> BTreeSet<String> {
    let Some(first) = example.deaths.first() else { return BTreeSet::new() };
    let mut broker = EmbeddedBroker::holding(state);
    let connection = broker.connect();
    broker.publish(connection, publication(example)).unwrap();
    holders(&broker, state).into_iter().filter(|queue| *queue != first.queue).collect()
}

fn publication(example: &Example) -> Publication {
    let mut publication = Publication::new(example.exchange.clone(), example.key.clone(), BODY);
    publication.properties.headers = example.headers.clone();
    publication
}

/// Does what the example says; the queues that have the message in the end, or what cannot be done.
pub fn play(state: &State, example: &Example) -> Result<BTreeSet<String>, String> {
    let mut broker = EmbeddedBroker::holding(state);
    let connection = broker.connect();
    let channel = broker.open_channel(connection).unwrap();
    broker.publish(channel, publication(example)).map_err(|refused| refused.text)?;
    for queue in besides(state, example) {
        broker.purge(connection, &queue).unwrap();
    }
    for death in &example.deaths {
        if !holders(&broker, state).contains(&death.queue) {
            return Err(format!("it is not in {}, where it is to die", death.queue));
        }
        die(&mut broker, state, channel, &death.queue, death.reason)?;
    }
    Ok(holders(&broker, state))
}

/// Lets the example die in a queue that has it.
pub fn die(
    broker: &mut EmbeddedBroker,
    state: &State,
    channel: ChannelId,
    queue: &str,
    reason: DeathReason,
) -> Result<(), String> {
    match reason {
        DeathReason::Rejected => {
            let delivery = broker.get(channel, queue, false).unwrap().ok_or("it is not ready")?;
            if *delivery.body != *BODY.as_bytes() {
                return Err("another message came first".to_owned());
            }
            broker.reject(channel, delivery.delivery_tag, false).unwrap();
        }
        DeathReason::Expired => broker.advance(setting(state, queue, "message-ttl").try_into().unwrap()),
        DeathReason::MaxLen => {
            for _ in 0..setting(state, queue, "max-length") {
                broker.publish(channel, Publication::new("", queue, "filler")).unwrap();
            }
        }
        DeathReason::DeliveryLimit => {
            // Fewer times where a rejection counted before (4.3).
            for _ in 0..=setting(state, queue, "delivery-limit") {
                let Some(delivery) = broker.get(channel, queue, false).unwrap() else { break };
                broker.reject(channel, delivery.delivery_tag, true).unwrap();
            }
        }
    }
    Ok(())
}

/// The queues that have the example.
pub fn holders(broker: &EmbeddedBroker, state: &State) -> BTreeSet<String> {
    let holds = |queue: &&String| {
        let contents = broker.contents(queue).unwrap();
        contents.ready.iter().chain(&contents.waiting).any(|message| &*message.body == BODY.as_bytes())
    };
    state.queues.keys().filter(holds).cloned().collect()
}
