//! The proof held against messages: every step left out, every two steps exchanged.
//!
//! The oracle knows nothing of classes or routing tables. It publishes every key of a small world to every exchange after
//! every step, on the embedded broker, and counts what arrives.

mod migration_worlds;

use acemq_core::embedded::EmbeddedBroker;
use acemq_core::migration::{Action, Counterexample, Fault, Proof, prove};
use acemq_core::value::{Table, Value};
use migration_worlds::{Copies, World, copies, plan, play, several, topic, unequal, world};
use std::collections::BTreeMap;

/// What arrived in tables that were there before in the same form.
type Seen = BTreeMap<String, Vec<Copies>>;

fn arrivals(world: &World, broker: &mut EmbeddedBroker, seen: &mut Seen) -> Vec<Copies> {
    let messages = world.messages();
    let publish = |broker: &mut EmbeddedBroker| {
        messages.iter().map(|(exchange, key, headers)| copies(broker, exchange, key, headers)).collect()
    };
    seen.entry(broker.state().canonical()).or_insert_with(|| publish(broker)).clone()
}

/// Whether a message is lost, doubled or led astray at some moment; `None` where the broker refuses a step.
fn breaks(world: &World, actions: &[&Action], seen: &mut Seen) -> Option<bool> {
    let mut broker = EmbeddedBroker::holding(&world.state);
    let before = arrivals(world, &mut broker, seen);
    // A message on its way through a node that is late, and messages that wait in the old queue.
    let (mut late, mut waiting, mut broken) = (true, true, false);
    for action in actions {
        match action {
            Action::AwaitNodes { .. } if late => (late, waiting) = (false, true),
            Action::Drain { .. } => waiting = false,
            Action::DeleteQueue(queue) if queue == "old" => broken |= late || waiting,
            _ => {}
        }
        if !play(&mut broker, action) {
            return None;
        }
        for (before, now) in before.iter().zip(arrivals(world, &mut broker, seen)) {
            broken |= unequal(before, &now);
            if now.contains_key("old") {
                (late, waiting) = (true, true);
            }
        }
    }
    Some(broken)
}

/// Publishes the message that a proof names at the moment that it names.
fn really_breaks(world: &World, actions: &[&Action], shown: &Counterexample) -> bool {
    if matches!(shown.fault, Fault::Deleted { .. }) {
        return matches!(actions[shown.after - 1], Action::DeleteQueue(_));
    }
    let mut broker = EmbeddedBroker::holding(&world.state);
    let mut headers = shown.headers.clone();
    if let Some(second) = shown.keys.get(1) {
        headers.insert("CC", Value::Array(vec![Value::text(second.clone())]));
    }
    let before = copies(&mut broker, &shown.exchange, &shown.keys[0], &headers);
    for action in &actions[..shown.after] {
        assert!(play(&mut broker, action));
    }
    let now = copies(&mut broker, &shown.exchange, &shown.keys[0], &headers);
    now != before
}

fn holds_against_every_mutation(name: &str, world: &World, options: &str) -> (usize, usize) {
    let plan = plan(options, &world.state);
    let steps: Vec<&Action> = plan.steps.iter().map(|step| &step.action).collect();
    let mut variants: Vec<(String, Vec<&Action>)> = vec![("as planned".into(), steps.clone())];
    for left_out in 0..steps.len() {
        let mut actions = steps.clone();
        actions.remove(left_out);
        variants.push((format!("without {}", steps[left_out]), actions));
    }
    for one in 0..steps.len() {
        for other in one + 1..steps.len() {
            let mut actions = steps.clone();
            actions.swap(one, other);
            variants.push((format!("{} exchanged with {}", steps[one], steps[other]), actions));
        }
    }
    let (mut safe, mut unsafe_ones, mut seen) = (0, 0, Seen::new());
    for (variant, actions) in &variants {
        let proof = prove(&world.subject(), actions.iter().copied());
        let expected = breaks(world, actions, &mut seen);
        match (&proof, expected) {
            (Proof::Holds(_), Some(false)) => safe += 1,
            (Proof::Broken(shown), Some(true)) => {
                assert!(really_breaks(world, actions, shown), "{name}, {variant}: {shown}");
                unsafe_ones += 1;
            }
            (Proof::Refused { .. }, None) => unsafe_ones += 1,
            _ => panic!("{name}, {variant}: the messages say {expected:?}, the proof: {proof}"),
        }
    }
    (safe, unsafe_ones)
}

#[test]
fn the_proof_agrees_with_messages_for_overlapping_patterns() {
    let world = world(topic(), &["a.b", "a.c", "c.b", "d.b", "a", "a.b.c", "z", ""], vec![Table::new()]);
    let (safe, broken) = holds_against_every_mutation("topic", &world, "{}");
    assert!(safe > 20 && broken > 100, "{safe} safe, {broken} unsafe");
}

#[test]
fn the_proof_agrees_with_messages_for_the_sequence_with_a_policy() {
    let world = world(topic(), &["a.b", "a.c", "d.b", "c.b", "a", "z"], vec![Table::new()]);
    let (safe, broken) = holds_against_every_mutation("policy", &world, "{ method: policy }");
    assert!(safe > 20 && broken > 100, "{safe} safe, {broken} unsafe");
}

#[test]
fn the_proof_agrees_with_messages_for_several_sources_and_headers() {
    let headers = vec![Table::new(), Table::from([("kind", Value::text("a"))]), Table::from([("size", Value::I64(5))])];
    let world = world(several(), &["a.b", "a.c", "a", "z"], headers);
    let (safe, broken) = holds_against_every_mutation("several", &world, "{}");
    assert!(safe > 20 && broken > 100, "{safe} safe, {broken} unsafe");
}
