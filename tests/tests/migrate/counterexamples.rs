//! What the proof refuses really breaks: the message that it names is published on a real broker, at the moment that it names.
//!
//! Sequences are the planned one with a step left out or two steps exchanged, and the four ways to do it wrong that were
//! measured. `ACEMQ_TEST_THOROUGH=1` plays every refused variant, else a sample of them is played.

use acemq_core::migration::{
    Action, Counterexample, Fault, MAX_CLASSES, MigrationFile, MigrationPlan, Proof, Subject, prove,
};
use acemq_core::rabbitmq::{BindingDeclaration, Broker, ExchangeDeclaration, QueueDeclaration, Version};
use acemq_core::state::State;
use acemq_core::topology::Format;
use acemq_core::value::{Table, Value};
use acemq_tests::amqp::{Channel, Failure, Publish};
use acemq_tests::broker::{Node, Vhost};
use acemq_tests::on_every_broker;
use serde_json::json;

/// Does one action on the broker; waiting is passed over.
fn play(vhost: &Vhost<'_>, channel: &Channel, action: &Action) -> Result<(), Failure> {
    match action {
        Action::DeclareQueue(queue) => channel.declare_queue(queue).map(drop),
        Action::DeclareExchange(exchange) => channel.declare_exchange(exchange),
        Action::Bind(binding) => channel.bind(binding),
        Action::Unbind(binding) => channel.unbind(binding),
        Action::DeleteExchange(exchange) => channel.delete_exchange(&exchange.name, false),
        Action::DeleteQueue(queue) => channel.delete_queue(queue).map(drop),
        Action::SetPolicy(policy) => {
            let definition = serde_json::to_value(&policy.definition).unwrap();
            let body = json!({ "pattern": policy.pattern, "apply-to": policy.apply_to, "priority": policy.priority, "definition": definition });
            vhost.set_policy(&policy.name, &body);
            Ok(())
        }
        Action::DeletePolicy(policy) => {
            let path = format!("/api/policies/{}/{}", vhost.name(), policy.name);
            // One that is not there is no error.
            let _ = vhost.node().management().delete(&path);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A vhost of the test's own that holds what a state says.
fn build<'a>(node: &'a Node, state: &State) -> (Vhost<'a>, Channel) {
    let vhost = node.fresh_vhost();
    let channel = vhost.connect().channel().unwrap();
    state.exchanges.values().for_each(|exchange| channel.declare_exchange(exchange).unwrap());
    state.queues.values().for_each(|queue| drop(channel.declare_queue(queue).unwrap()));
    state.bindings.iter().for_each(|binding| channel.bind(binding).unwrap());
    (vhost, channel)
}

/// The queues that get a message, one name a copy.
fn reached(vhost: &Vhost<'_>, shown: &Counterexample) -> Vec<String> {
    let connection = vhost.connect();
    let channel = connection.channel().unwrap();
    channel.confirm_select().unwrap();
    let mut headers = shown.headers.clone();
    if let Some(second) = shown.keys.get(1) {
        headers.insert("CC", Value::Array(vec![Value::text(second.clone())]));
    }
    let message = Publish::to(&shown.exchange, &shown.keys[0]).headers(headers);
    assert!(channel.publish_confirmed(&message).unwrap().acknowledged);
    let mut reached = Vec::new();
    for queue in ["all", "neighbour", "new", "old", "some", "unrouted"] {
        let Ok(channel) = connection.channel() else { continue };
        // A queue that is not there has nothing.
        while let Ok(Some(_)) = channel.get(queue, true) {
            reached.push(queue.to_owned());
        }
    }
    reached
}

/// Whether a sequence is refused; a refusal is true on this broker too.
fn is_refused_for_a_reason(node: &Node, name: &str, initial: &State, actions: &[Action]) -> bool {
    let subject =
        Subject { initial, old: "old", new: "new", wiring: &[], duplicates_allowed: false, limit: MAX_CLASSES };
    // The new queue is declared by the first step, so no wiring explains it.
    let wiring: Vec<Action> =
        actions.iter().filter(|action| matches!(action, Action::DeclareQueue(_))).cloned().collect();
    match prove(&Subject { wiring: &wiring, ..subject }, actions) {
        Proof::Holds(_) => false,
        Proof::Refused { step, refused } => {
            let (vhost, channel) = build(node, initial);
            let (last, before) = actions[..step].split_last().unwrap();
            before.iter().for_each(|action| play(&vhost, &channel, action).unwrap());
            let answer = play(&vhost, &channel, last).expect_err(name).refusal();
            assert_eq!(answer.code, refused.code, "{name}: {}", answer.text());
            true
        }
        Proof::NotProven { why } => panic!("{name}: {why}"),
        Proof::Broken(shown) => {
            let (vhost, channel) = build(node, initial);
            let before = reached(&vhost, &shown);
            let play_all = |actions: &[Action]| {
                actions.iter().for_each(|action| play(&vhost, &channel, action).expect(name));
            };
            if let Fault::Deleted { queue } = &shown.fault {
                // A message waits there, and whoever deletes the queue does not look.
                let (last, before) = actions[..shown.after].split_last().unwrap();
                play_all(before);
                channel.publish(&Publish::to("", queue)).unwrap();
                assert_eq!(last, &Action::DeleteQueue(queue.clone()), "{name}");
                play(&vhost, &channel, last).unwrap();
                assert!(vhost.connect().channel().unwrap().get(queue, true).is_err(), "{name}");
                return true;
            }
            play_all(&actions[..shown.after]);
            let then = reached(&vhost, &shown);
            assert_eq!((&before, &then), (&shown.before, &shown.then), "{name}: {shown}");
            assert_ne!(before, then, "{name}");
            true
        }
    }
}

fn planned(options: &str, initial: &State) -> Vec<Action> {
    let text = format!(
        "acemq_migration: 1\nreplace: {{ queue: old, with: {{ name: new, type: classic }} }}\noptions: {options}\n"
    );
    let plan = MigrationPlan::new(&MigrationFile::parse(&text, Format::Yaml).unwrap(), initial).unwrap();
    plan.steps.into_iter().map(|step| step.action).collect()
}

/// Every step left out, every two exchanged.
fn variants(steps: &[Action]) -> Vec<(String, Vec<Action>)> {
    let mut variants = Vec::new();
    for left_out in 0..steps.len() {
        let mut actions = steps.to_vec();
        actions.remove(left_out);
        variants.push((format!("without {}", steps[left_out]), actions));
    }
    for one in 0..steps.len() {
        for other in one + 1..steps.len() {
            let mut actions = steps.to_vec();
            actions.swap(one, other);
            variants.push((format!("{} exchanged with {}", steps[one], steps[other]), actions));
        }
    }
    variants
}

fn holds_against_mutations(node: &Node, options: &str, initial: &State) {
    let every = if std::env::var_os("ACEMQ_TEST_THOROUGH").is_some() { 1 } else { 17 };
    let variants = variants(&planned(options, initial));
    let sample: Vec<_> = variants.iter().step_by(every).collect();
    let refused = sample.iter().filter(|(name, actions)| is_refused_for_a_reason(node, name, initial, actions)).count();
    assert!(refused * 3 > sample.len(), "{refused} of {} variants are refused", sample.len());
    #[allow(clippy::print_stderr, reason = "for the thorough run by hand")]
    if every == 1 {
        eprintln!(
            "{}: {refused} of {} variants of {options} are refused, each for a reason",
            node.version(),
            sample.len()
        );
    }
}

/// A vhost with a queue `old`.
fn vhost() -> State {
    let mut state = State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
    state.insert_queue(QueueDeclaration::durable("old").with("x-queue-type", "classic"));
    state
}

/// A topic exchange with overlapping patterns for `old`, neighbours on the same keys, and an alternate exchange.
fn topic() -> State {
    let mut state = vhost();
    state.insert_exchange(ExchangeDeclaration::durable("rest", "fanout"));
    state.insert_exchange(ExchangeDeclaration::durable("x", "topic").with("alternate-exchange", "rest"));
    for queue in ["all", "some", "unrouted"] {
        state.insert_queue(QueueDeclaration::durable(queue).with("x-queue-type", "classic"));
    }
    for (queue, key) in [("old", "a.*"), ("old", "*.b"), ("all", "a.#"), ("some", "c.b")] {
        state.bindings.insert(BindingDeclaration::queue("x", queue, key));
    }
    state.bindings.insert(BindingDeclaration::queue("rest", "unrouted", ""));
    state
}

/// Three sources of three types, two of them behind the first.
fn several() -> State {
    let mut state = vhost();
    state.insert_exchange(ExchangeDeclaration::durable("x", "topic"));
    state.insert_exchange(ExchangeDeclaration::durable("y", "direct"));
    state.insert_exchange(ExchangeDeclaration::durable("z", "headers"));
    state.insert_queue(QueueDeclaration::durable("neighbour").with("x-queue-type", "classic"));
    state.bindings.insert(BindingDeclaration::exchange("x", "y", "a.#"));
    state.bindings.insert(BindingDeclaration::exchange("x", "z", "#"));
    state.bindings.insert(BindingDeclaration::queue("x", "old", "a.b"));
    state.bindings.insert(BindingDeclaration::queue("y", "old", "a.b"));
    state.bindings.insert(BindingDeclaration::queue("y", "neighbour", "a.c"));
    let mut headers = BindingDeclaration::queue("z", "old", "");
    headers.arguments = Table::from([("x-match", Value::text("any")), ("kind", Value::text("a"))]);
    state.bindings.insert(headers);
    state
}

fn bind(source: &str, queue: &str, key: &str) -> Action {
    Action::Bind(BindingDeclaration::queue(source, queue, key))
}

fn unbind(source: &str, queue: &str, key: &str) -> Action {
    Action::Unbind(BindingDeclaration::queue(source, queue, key))
}

fn declare(name: &str) -> Action {
    Action::DeclareQueue(QueueDeclaration::durable(name).with("x-queue-type", "classic"))
}

on_every_broker! {
    fn what_the_proof_refuses_about_overlapping_patterns_breaks(node) { holds_against_mutations(node, "{}", &topic()); }
    fn what_the_proof_refuses_about_several_sources_breaks(node) { holds_against_mutations(node, "{}", &several()); }
    fn what_the_proof_refuses_about_the_policy_method_breaks(node) {
        holds_against_mutations(node, "{ method: policy }", &topic());
    }

    fn a_pattern_that_is_left_behind_is_refused_and_doubles(node) {
        let is_left = |action: &&Action| match action {
            Action::Bind(binding) | Action::Unbind(binding) => binding.source != "x" || binding.routing_key != "*.b",
            _ => true,
        };
        let actions: Vec<Action> = planned("{}", &topic()).iter().filter(is_left).cloned().collect();
        assert!(is_refused_for_a_reason(node, "a pattern left behind", &topic(), &actions));
    }

    fn an_exchange_in_between_for_each_source_is_refused_and_doubles(node) {
        let mut state = vhost();
        state.insert_exchange(ExchangeDeclaration::durable("x", "direct"));
        state.insert_exchange(ExchangeDeclaration::durable("y", "direct"));
        state.bindings.insert(BindingDeclaration::exchange("x", "y", "k"));
        state.bindings.insert(BindingDeclaration::queue("x", "old", "k"));
        state.bindings.insert(BindingDeclaration::queue("y", "old", "k"));
        let mut actions = vec![declare("new")];
        for source in ["x", "y"] {
            let (between, catch) = (format!("{source}.between"), format!("{source}.catch"));
            actions.extend([
                Action::DeclareExchange(ExchangeDeclaration::durable(&catch, "fanout")),
                bind(&catch, "new", ""),
                Action::DeclareExchange(
                    ExchangeDeclaration::durable(&between, "fanout").with("alternate-exchange", catch.as_str()),
                ),
                bind(&between, "old", ""),
                Action::Bind(BindingDeclaration::exchange(source, &between, "k")),
                unbind(source, "old", "k"),
            ]);
        }
        actions.extend([unbind("x.between", "old", ""), unbind("y.between", "old", "")]);
        assert!(is_refused_for_a_reason(node, "an exchange in between for each source", &state, &actions));
    }

    fn a_new_binding_before_the_last_old_one_is_gone_is_refused_and_doubles(node) {
        // Switched and caught; then one pattern after the other leaves the old queue and leads to the new one.
        let actions = planned("{ method: policy }", &topic());
        let is_of = |action: &Action, queue: &str| {
            matches!(action, Action::Unbind(binding) | Action::Bind(binding) if binding.source == "old.migration" && binding.destination == queue)
        };
        let last = actions.iter().rposition(|action| matches!(action, Action::Unbind(_)) && is_of(action, "old")).unwrap();
        let first = actions.iter().position(|action| matches!(action, Action::Bind(_)) && is_of(action, "new")).unwrap();
        let mut mixed = actions.clone();
        let early = mixed.remove(first);
        mixed.insert(last, early);
        assert!(is_refused_for_a_reason(node, "a new binding too early", &topic(), &mixed));
    }

    fn a_rung_that_is_led_over_naively_is_refused_and_doubles_or_loses(node) {
        let mut state = vhost();
        state.insert_exchange(ExchangeDeclaration::durable("acemq.retry", "direct"));
        state.bindings.insert(BindingDeclaration::queue("acemq.retry", "old", "old"));
        let (add, remove) = (bind("acemq.retry", "new", "old"), unbind("acemq.retry", "old", "old"));
        let doubled = [declare("new"), add.clone(), remove.clone()];
        assert!(is_refused_for_a_reason(node, "bind, then unbind", &state, &doubled));
        assert!(is_refused_for_a_reason(node, "unbind, then bind", &state, &[declare("new"), remove, add]));
    }
}
