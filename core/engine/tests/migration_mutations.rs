//! The proof held against messages: every step left out, every two steps exchanged.
//!
//! The oracle knows nothing of classes or routing tables. It publishes every key of a small world to every exchange after
//! every step, on the embedded broker, and counts what arrives.

use acemq_core::embedded::{EmbeddedBroker, Publication};
use acemq_core::migration::{
    Action, Counterexample, Fault, MAX_CLASSES, MigrationFile, MigrationPlan, Phase, Proof, Subject, prove,
};
use acemq_core::rabbitmq::{BindingDeclaration, Broker, DeleteQueue, ExchangeDeclaration, QueueDeclaration, Version};
use acemq_core::state::State;
use acemq_core::topology::Format;
use acemq_core::value::{Table, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What a message reaches: how many copies in each queue.
type Copies = BTreeMap<String, usize>;

struct World {
    state: State,
    wiring: Vec<Action>,
    keys: Vec<&'static str>,
    headers: Vec<Table>,
}

impl World {
    fn subject(&self) -> Subject<'_> {
        Subject {
            initial: &self.state,
            old: "old",
            new: "new",
            wiring: &self.wiring,
            duplicates_allowed: false,
            limit: MAX_CLASSES,
        }
    }

    fn messages(&self) -> Vec<(String, &'static str, &Table)> {
        let mut messages = Vec::new();
        for exchange in self.state.exchanges.keys() {
            for key in &self.keys {
                messages.extend(self.headers.iter().map(|headers| (exchange.clone(), *key, headers)));
            }
        }
        messages
    }
}

fn copies(broker: &mut EmbeddedBroker, exchange: &str, key: &str, headers: &Table) -> Copies {
    let connection = broker.connect();
    let names: Vec<String> = broker.queue_names().map(str::to_owned).collect();
    for name in &names {
        broker.purge(connection, name).unwrap();
    }
    let mut publication = Publication::new(exchange, key, "body");
    publication.properties.headers = headers.clone();
    broker.publish(connection, publication).unwrap();
    let counts = names.into_iter().map(|name| {
        let count = broker.contents(&name).map_or(0, |contents| contents.ready.len());
        (name, count)
    });
    let copies = counts.filter(|(_, count)| *count > 0).collect();
    broker.disconnect(connection);
    copies
}

fn play(broker: &mut EmbeddedBroker, action: &Action) -> bool {
    let connection = broker.connect();
    let done = match action {
        Action::DeclareQueue(queue) => broker.declare_queue(connection, queue).is_ok(),
        Action::DeclareExchange(exchange) => broker.declare_exchange(connection, exchange).is_ok(),
        Action::Bind(binding) => broker.bind(connection, binding).is_ok(),
        Action::Unbind(binding) => broker.unbind(connection, binding).is_ok(),
        Action::SetPolicy(policy) => {
            broker.set_policy(policy.clone());
            true
        }
        Action::DeletePolicy(policy) => {
            broker.clear_policy(&policy.name);
            true
        }
        Action::DeleteExchange(exchange) => broker.delete_exchange(connection, &exchange.name, false).is_ok(),
        Action::DeleteQueue(queue) => broker.delete_queue(connection, queue, DeleteQueue::default()).is_ok(),
        _ => true,
    };
    broker.disconnect(connection);
    done
}

fn unequal(before: &Copies, now: &Copies) -> bool {
    let kept: BTreeSet<&str> = ["all", "some", "unrouted", "neighbour"].into();
    let others = |copies: &Copies| -> Copies {
        copies.iter().filter(|(name, _)| kept.contains(name.as_str())).map(|(name, n)| (name.clone(), *n)).collect()
    };
    let mine = |copies: &Copies| copies.get("old").unwrap_or(&0) + copies.get("new").unwrap_or(&0);
    mine(before) != mine(now) || others(before) != others(now)
}

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

fn plan(options: &str, state: &State) -> MigrationPlan {
    let text = format!("acemq_migration: 1\nreplace: {{ queue: old, with: {{ name: new }} }}\noptions: {options}\n");
    MigrationPlan::new(&MigrationFile::parse(&text, Format::Yaml).unwrap(), state).unwrap()
}

fn world(state: State, keys: &[&'static str], headers: Vec<Table>) -> World {
    let steps = plan("{}", &state).steps;
    let wiring = steps.into_iter().filter(|step| step.phase == Phase::Prepare).map(|step| step.action).collect();
    World { state, wiring, keys: keys.to_vec(), headers }
}

/// A vhost of RabbitMQ 4.0 with a queue `old`.
fn vhost() -> State {
    let mut state = State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
    state.insert_queue(QueueDeclaration::durable("old").with("x-queue-type", "classic"));
    state
}

/// A topic exchange with overlapping patterns for `old`, neighbours on the same keys, and an alternate exchange.
fn topic() -> State {
    let mut state = vhost();
    state.insert_exchange(ExchangeDeclaration::durable("x", "topic").with("alternate-exchange", "rest"));
    state.insert_exchange(ExchangeDeclaration::durable("rest", "fanout"));
    for queue in ["all", "some", "unrouted"] {
        state.insert_queue(QueueDeclaration::durable(queue));
    }
    for (queue, key) in [("old", "a.*"), ("old", "*.b"), ("all", "a.#"), ("some", "c.b")] {
        state.bindings.insert(BindingDeclaration::queue("x", queue, key));
    }
    state.bindings.insert(BindingDeclaration::queue("rest", "unrouted", ""));
    state
}

/// Three sources of three types, one of them behind another.
fn several() -> State {
    let mut state = vhost();
    state.insert_exchange(ExchangeDeclaration::durable("x", "topic"));
    state.insert_exchange(ExchangeDeclaration::durable("y", "direct"));
    state.insert_exchange(ExchangeDeclaration::durable("z", "headers"));
    state.insert_queue(QueueDeclaration::durable("neighbour"));
    state.bindings.insert(BindingDeclaration::exchange("x", "y", "a.#"));
    state.bindings.insert(BindingDeclaration::exchange("x", "z", "#"));
    state.bindings.insert(BindingDeclaration::queue("x", "old", "a.b"));
    state.bindings.insert(BindingDeclaration::queue("y", "old", "a.b"));
    state.bindings.insert(BindingDeclaration::queue("y", "neighbour", "a.c"));
    let mut headers = BindingDeclaration::queue("z", "old", "");
    headers.arguments.insert("x-match", Value::text("any"));
    headers.arguments.insert("kind", Value::text("a"));
    headers.arguments.insert("size", 5);
    state.bindings.insert(headers);
    state
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
