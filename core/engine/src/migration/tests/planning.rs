//! Which steps a plan has, where it is, and what it leaves.

use super::*;
use crate::migration::rehearsal::rehearse;
use crate::migration::{Action, Method, Phase, Position, Proof};

fn texts(plan: &MigrationPlan) -> Vec<String> {
    plan.steps.iter().map(|step| step.action.to_string()).collect()
}

#[test]
fn one_exchange_in_between_serves_every_source_and_one_unbind_switches() {
    let mut state = vhost();
    state.insert_exchange(ExchangeDeclaration::durable("x", "direct"));
    state.bindings.insert(BindingDeclaration::queue("x", "old", "k"));
    let plan = plan("{ name: new, type: quorum }", "{}", &state);
    // The order of the method as it was measured: both exchanges, to old before from the sources, one unbind.
    assert_eq!(
        texts(&plan),
        [
            "declare queue new (durable, quorum)",
            "declare exchange old.migration.catch (fanout, internal)",
            "bind old.migration.catch -> new []",
            "declare exchange old.migration (fanout, internal, alternate-exchange=old.migration.catch)",
            "bind old.migration -> old []",
            "bind x -> old.migration [k]",
            "unbind x -> old [k]",
            "wait until queue new has 1 consumer",
            "unbind old.migration -> old []",
            "wait until every node has dropped old.migration -> old []",
            "wait until queue old is empty",
            "bind x -> new [k]",
            "unbind x -> old.migration [k]",
            "delete exchange old.migration",
            "unbind old.migration.catch -> new []",
            "delete exchange old.migration.catch",
            "wait until every node has dropped old.migration -> old []",
            "wait until queue old is empty",
            "delete queue old",
        ]
    );
    let last = plan.steps.iter().position(|step| step.point_of_no_return).unwrap();
    assert_eq!(last, plan.steps.len() - 1);
    assert!(plan.steps.iter().all(|step| step.inverse.is_some() || step.point_of_no_return || !step.action.changes()));
    assert_eq!(plan.refusal(), None);
}

#[test]
fn a_retry_exchange_that_both_queues_use_is_one_more_source() {
    let mut state = vhost();
    state.insert_exchange(ExchangeDeclaration::durable("x", "direct"));
    state.insert_exchange(ExchangeDeclaration::durable("acemq.retry", "direct"));
    state.bindings.insert(BindingDeclaration::queue("x", "old", "k"));
    state.bindings.insert(BindingDeclaration::queue("acemq.retry", "old", "old"));
    let with = "{ name: new, dead_letter: true, retry: 'fixed(3, 1m)' }";
    // A message with the keys old and new, one of them in CC, gets a copy more by the new queue's own binding, which the file
    // asks for; no step gives it one.
    assert_eq!(plan(with, "{}", &state).refusal(), None);
    // A binding that leads the old queue's own messages to the new one is another matter.
    state.bindings.insert(BindingDeclaration::queue("acemq.retry", "old", "new"));
    let refusal = plan(with, "{}", &state).refusal().unwrap();
    assert!(refusal.contains("comes twice"), "{refusal}");
}

#[test]
fn every_method_is_proven_for_overlapping_patterns_and_several_sources() {
    for (options, states) in [
        ("{}", vec![topic(), several()]),
        ("{ method: overlap }", vec![topic(), several()]),
        ("{ method: policy }", vec![topic()]),
    ] {
        for state in states {
            let plan = plan("{ name: new, dead_letter: true, retry: 'fixed(3, 1m)' }", options, &state);
            let Some(Proof::Holds(scope)) = plan.proof else { panic!("{options}: {:?}", plan.proof) };
            assert!(scope.classes > 2, "{scope:?}");
            assert_eq!(scope.doubled > 0, options.contains("overlap"));
            assert_eq!(plan.refusal(), None, "{options}");
        }
    }
}

#[test]
fn the_end_is_the_shape_of_a_queue_that_was_never_replaced() {
    for options in ["{}", "{ method: policy }", "{ method: overlap }"] {
        let state = topic();
        let plan = plan("{ name: new, type: quorum }", options, &state);
        let states = rehearse(&state, plan.steps.iter().map(|step| &step.action)).unwrap();
        let mut expected = state.clone();
        expected.queues.remove("old");
        expected.insert_queue(QueueDeclaration::durable("new").with("x-queue-type", "quorum"));
        for binding in state.bindings.iter().filter(|binding| binding.destination == "old") {
            expected.bindings.remove(binding);
            expected.bindings.insert(BindingDeclaration { destination: "new".into(), ..binding.clone() });
        }
        assert_eq!(states.last().unwrap().canonical(), expected.canonical(), "{options}");
    }
}

#[test]
fn a_plan_finds_out_from_the_table_alone_how_far_it_is() {
    for (options, start) in [
        ("{}", topic()),
        ("{}", several()),
        ("{ method: policy }", topic()),
        ("{ method: overlap }", several()),
        ("{ teardown: later }", several()),
    ] {
        let with = "{ name: new, dead_letter: true }";
        let first = plan(with, options, &start);
        let states = rehearse(&start, first.steps.iter().map(|step| &step.action)).unwrap();
        for (at, state) in states.iter().enumerate() {
            let again = plan(with, options, state);
            assert_eq!(texts(&again), texts(&first), "{options} after step {at}");
            let Position::At(done) = again.position else { panic!("{options} after {at}: {}", again.position) };
            assert!(done <= at, "{options} after step {at}: {done}");
            // The rest of the steps, from there on, leads to the same end.
            let rest = rehearse(state, again.steps[done..].iter().map(|step| &step.action)).unwrap();
            assert_eq!(rest.last().unwrap().canonical(), states.last().unwrap().canonical(), "{options} after {at}");
        }
    }
}

#[test]
fn a_binding_that_a_client_brought_back_is_named() {
    let start = topic();
    let first = plan("{ name: new }", "{}", &start);
    let states = rehearse(&start, first.steps.iter().map(|step| &step.action)).unwrap();
    let switched = first.steps.iter().position(|step| step.phase == Phase::Drain).unwrap();
    let mut live = states[switched].as_ref().clone();
    live.bindings.insert(BindingDeclaration::queue("x", "old", "a.*"));
    let again = plan("{ name: new }", "{}", &live);
    let refusal = again.refusal().unwrap();
    assert!(refusal.contains("there should be no binding x -> old [a.*]"), "{refusal}");
}

#[test]
fn teardown_later_leaves_a_file_that_does_the_rest() {
    let state = several();
    let first = plan("{ name: new }", "{ teardown: later }", &state);
    let whole = plan("{ name: new }", "{}", &state);
    let states = rehearse(&state, first.steps.iter().map(|step| &step.action)).unwrap();
    let rest = MigrationFile::parse(first.follow_up.as_deref().unwrap(), Format::Yaml).unwrap();
    let then = states.last().unwrap();
    let rest = MigrationPlan::new(&rest, then).unwrap();
    let rest_states = rehearse(then, rest.steps.iter().map(|step| &step.action)).unwrap();
    let whole_states = rehearse(&state, whole.steps.iter().map(|step| &step.action)).unwrap();
    assert_eq!(rest_states.last().unwrap().canonical(), whole_states.last().unwrap().canonical());
    assert!(matches!(rest.steps.last().map(|step| &step.action), Some(Action::DeleteQueue(queue)) if queue == "old"));
}

#[test]
fn keep_name_leaves_a_file_that_brings_the_old_name_back() {
    let state = topic();
    let first = plan(
        "{ name: new, type: quorum, arguments: { x-max-length: 5 } }",
        "{ keep_name: true, method: policy }",
        &state,
    );
    assert_eq!(first.refusal(), None);
    let states = rehearse(&state, first.steps.iter().map(|step| &step.action)).unwrap();
    let then = states.last().unwrap();
    let second = MigrationFile::parse(first.follow_up.as_deref().unwrap(), Format::Yaml).unwrap();
    let second = MigrationPlan::new(&second, then).unwrap();
    assert_eq!((second.refusal(), second.follow_up.as_deref()), (None, None));
    let subject = second.subject.as_ref().unwrap();
    assert_eq!((subject.old.as_str(), subject.new.as_str(), subject.method), ("new", "old", Method::Policy));
    let states = rehearse(then, second.steps.iter().map(|step| &step.action)).unwrap();
    let end = states.last().unwrap();
    // The vhost of the start, but for the arguments.
    assert!(end.queue("new").there().is_none());
    let wanted = QueueDeclaration::durable("old").with("x-max-length", 5).with("x-queue-type", "quorum");
    assert_eq!(end.queue("old").there(), Some(&wanted));
    assert_eq!(end.bindings.iter().collect::<Vec<_>>(), state.bindings.iter().collect::<Vec<_>>());
}

#[test]
fn neighbours_are_named_with_a_key_that_they_share() {
    let plan = plan("{ name: new }", "{}", &topic());
    let names: Vec<_> = plan.neighbours.iter().map(|neighbour| neighbour.queue.as_str()).collect();
    assert_eq!(names, ["all", "some"]);
    assert_eq!(plan.neighbours[1].routing_key, "c.b");
}
