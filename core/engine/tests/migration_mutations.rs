//! The proof held against messages: every step left out, every two steps exchanged.
//!
//! The oracle knows nothing of classes or routing tables. It publishes every key of a small world to every exchange after
//! every step, on the embedded broker, and counts what arrives.

mod migration_worlds;

use acemq_core::embedded::EmbeddedBroker;
use acemq_core::migration::{Action, Beginning, Counterexample, Fault, MigrationPlan, Proof, prove};
use acemq_core::value::{Table, Value};
use migration_worlds::{Copies, World, copies, file, plan, play, several, topic, unequal, world};
use std::collections::{BTreeMap, BTreeSet};

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
    // Queues with a message on its way to them through a node that is late, and queues in which messages wait.
    let (mut late, mut waiting, mut broken) = (BTreeSet::from(["old"]), BTreeSet::from(["old"]), false);
    for action in actions {
        match action {
            Action::AwaitNodes { .. } => waiting.append(&mut late),
            Action::Drain { queue, .. } => drop(waiting.remove(queue.as_str())),
            Action::DeleteQueue(queue) => broken |= late.contains(queue.as_str()) || waiting.contains(queue.as_str()),
            _ => {}
        }
        if !play(&mut broker, action) {
            return None;
        }
        for (before, now) in before.iter().zip(arrivals(world, &mut broker, seen)) {
            broken |= unequal(before, &now);
            for queue in ["old", "new"].into_iter().filter(|queue| now.contains_key(*queue)) {
                late.insert(queue);
                waiting.insert(queue);
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
    mutate(name, world, &steps, 0)
}

/// The way back from the last step before the old queue goes, mutated; the way there stays as it is.
fn holds_against_every_mutation_of_the_way_back(name: &str, world: &World, options: &str) -> (usize, usize) {
    let file = file("{ name: new }", options);
    let there = MigrationPlan::new(&file, &world.state).unwrap();
    let there: Vec<&Action> =
        there.steps.iter().take_while(|step| !step.point_of_no_return).map(|step| &step.action).collect();
    let mut broker = EmbeddedBroker::holding(&world.state);
    for action in &there {
        assert!(play(&mut broker, action));
    }
    let back = MigrationPlan::undo(&file, &broker.state(), &Beginning::unrecorded()).unwrap();
    let steps: Vec<&Action> = there.iter().copied().chain(back.steps.iter().map(|step| &step.action)).collect();
    mutate(name, world, &steps, there.len())
}

/// Every variant of the steps behind the first `kept` ones: how many are safe, and how many are not.
fn mutate(name: &str, world: &World, steps: &[&Action], kept: usize) -> (usize, usize) {
    let steps = steps.to_vec();
    let mut variants: Vec<(String, Vec<&Action>)> = vec![("as planned".into(), steps.clone())];
    for left_out in kept..steps.len() {
        let mut actions = steps.clone();
        actions.remove(left_out);
        variants.push((format!("without {}", steps[left_out]), actions));
    }
    for one in kept..steps.len() {
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

#[test]
fn the_proof_of_the_way_back_agrees_with_messages() {
    let world = world(topic(), &["a.b", "a.c", "c.b", "d.b", "z"], vec![Table::new()]);
    for method in ["fanout", "policy"] {
        let options = format!("{{ method: {method} }}");
        let (safe, broken) = holds_against_every_mutation_of_the_way_back(method, &world, &options);
        assert!(safe > 10 && broken > 50, "{method}: {safe} safe, {broken} unsafe");
    }
}
