//! What is refused, and what is said.

use super::*;
use crate::migration::{Action, Fault, MAX_CLASSES, Proof, Subject, Weight, prove};
use crate::policy::Policies;
use crate::rabbitmq::PolicyDeclaration;
use crate::value::Table;

fn codes(plan: &MigrationPlan, weight: Weight) -> Vec<&'static str> {
    plan.findings.iter().filter(|finding| finding.weight == weight).map(|finding| finding.code).collect()
}

fn direct() -> State {
    let mut state = vhost();
    state.insert_exchange(ExchangeDeclaration::durable("x", "direct"));
    state.bindings.insert(BindingDeclaration::queue("x", "old", "k"));
    state
}

fn policy(pattern: &str, apply_to: &str, key: &str, value: impl Into<Value>) -> PolicyDeclaration {
    PolicyDeclaration {
        name: "p".into(),
        pattern: pattern.into(),
        apply_to: apply_to.into(),
        priority: 0,
        definition: Table::from([(key, value.into())]),
    }
}

#[test]
fn dead_letters_into_a_source_are_refused() {
    let plan = plan("{ name: new, dead_letter_to: x }", "{}", &direct());
    assert_eq!(codes(&plan, Weight::Refused), ["dead_letters_to_source"]);
    assert!(plan.refusal().unwrap().contains("dead_letter: true"));
}

#[test]
fn a_queue_that_may_vanish_is_refused() {
    for (change, code) in [
        (QueueDeclaration { auto_delete: true, ..QueueDeclaration::durable("old") }, "old_auto_delete"),
        (QueueDeclaration::durable("old").with("x-expires", 60_000), "old_expires"),
        (QueueDeclaration::durable("old").with("x-queue-type", "stream"), "old_stream"),
    ] {
        let mut state = direct();
        state.insert_queue(change);
        assert_eq!(codes(&plan("{ name: new }", "{}", &state), Weight::Refused), [code]);
    }
    // Nothing but its own connection could even bind it.
    let mut state = direct();
    state.insert_queue(QueueDeclaration { exclusive: true, ..QueueDeclaration::durable("old") });
    let error = MigrationPlan::new(&file("{ name: new }", "{}"), &state).unwrap_err();
    assert_eq!(error.fields["reason"], "old_exclusive");
}

#[test]
fn a_source_of_a_plugin_is_refused_and_not_proven() {
    let mut state = direct();
    state.insert_exchange(ExchangeDeclaration::durable("x", "x-delayed-message"));
    let plan = plan("{ name: new }", "{}", &state);
    assert_eq!(codes(&plan, Weight::Refused), ["source_delayed"]);
    assert!(
        matches!(&plan.proof, Some(Proof::NotProven { why }) if why.contains("x-delayed-message")),
        "{:?}",
        plan.proof
    );
}

#[test]
fn a_federated_source_is_refused() {
    let mut state = direct();
    state.insert_policy(policy("^x$", "exchanges", "federation-upstream-set", "all"));
    assert_eq!(codes(&plan("{ name: new }", "{}", &state), Weight::Refused), ["source_federated"]);
}

#[test]
fn a_new_queue_that_is_there_with_other_arguments_or_other_bindings_is_refused() {
    let mut state = direct();
    state.insert_queue(QueueDeclaration::durable("new").with("x-queue-type", "quorum"));
    state.bindings.insert(BindingDeclaration::queue("x", "new", "other"));
    assert_eq!(codes(&plan("{ name: new }", "{}", &state), Weight::Refused), ["new_bound"]);
    state.insert_queue(QueueDeclaration::durable("new").with("x-queue-type", "classic"));
    let error = MigrationPlan::new(&file("{ name: new }", "{}"), &state).unwrap_err();
    assert_eq!(error.fields["reason"], "new_bound");
    state.bindings.remove(&BindingDeclaration::queue("x", "new", "other"));
    let error = MigrationPlan::new(&file("{ name: new }", "{}"), &state).unwrap_err();
    assert_eq!(error.fields["reason"], "new_differs");
    assert!(error.message.contains("x-queue-type: classic instead of quorum"), "{error}");
}

#[test]
fn what_a_policy_could_do_is_offered() {
    let plan = plan("{ name: new, type: classic, arguments: { x-message-ttl: 60000 } }", "{}", &direct());
    let finding = plan.findings.iter().find(|finding| finding.code == "policy_is_enough").unwrap();
    assert!(finding.help.contains("rabbitmqctl set_policy") && finding.help.contains("message-ttl"), "{finding}");
    assert_eq!(plan.refusal(), None);
}

#[test]
fn changed_failure_behaviour_and_lost_policies_are_warned_about() {
    let mut state = direct();
    state.insert_policy(policy("^old$", "classic_queues", "max-length", 5));
    let plan = plan("{ name: new, type: quorum, dead_letter: true }", "{}", &state);
    assert_eq!(codes(&plan, Weight::Warning), ["rejects_kept", "policy_lost"]);
}

#[test]
fn a_rung_that_returns_by_name_is_drained_too() {
    let mut state = direct();
    let rung = QueueDeclaration::durable("wait")
        .with("x-message-ttl", 1_000)
        .with("x-dead-letter-exchange", "")
        .with("x-dead-letter-routing-key", "old");
    state.insert_queue(rung);
    let plan = plan("{ name: new, type: quorum }", "{}", &state);
    assert!(codes(&plan, Weight::Warning).contains(&"returns_by_name"));
    assert!(plan.steps.iter().any(|step| step.action.to_string() == "wait until queue old is empty, and wait"));
}

#[test]
fn another_policy_on_the_exchange_in_between_does_not_win() {
    let mut state = topic();
    state.insert_policy(PolicyDeclaration { priority: 7, ..policy(".*", "exchanges", "alternate-exchange", "rest") });
    let plan = plan("{ name: new }", "{ method: policy }", &state);
    // It would give the catching exchange an alternate exchange of its own.
    assert_eq!(codes(&plan, Weight::Refused), ["scaffold_policy"]);
    let set = plan.steps.iter().find_map(|step| match &step.action {
        Action::SetPolicy(policy) => Some(policy.clone()),
        _ => None,
    });
    let set = set.unwrap();
    state.insert_policy(set.clone());
    assert_eq!(Policies::new(&state).for_exchange("old.migration").winner, crate::policy::Winner::One(&set));
}

#[test]
fn a_queue_that_is_not_there_or_has_no_source_is_refused_with_the_way_out() {
    let mut state = vhost();
    let error = MigrationPlan::new(&file("{ name: new }", "{}"), &state).unwrap_err();
    assert_eq!(error.fields["reason"], "no_source", "{error}");
    state.queues.clear();
    let error = MigrationPlan::new(&file("{ name: new }", "{}"), &state).unwrap_err();
    assert_eq!(error.code, "migration_queue", "{error}");
    state.known.bindings = false;
    let error = MigrationPlan::new(&file("{ name: new }", "{}"), &state).unwrap_err();
    assert_eq!(error.fields["reason"], "state_unknown", "{error}");
}

#[test]
fn sources_of_different_types_need_the_default_method() {
    let error = MigrationPlan::new(&file("{ name: new }", "{ method: policy }"), &several()).unwrap_err();
    assert_eq!(error.fields["reason"], "source_types");
    assert!(error.help.contains("fanout"));
}

#[test]
fn more_classes_than_can_be_looked_at_are_not_proven() {
    let state = topic();
    let plan = plan("{ name: new, type: quorum }", "{}", &state);
    let subject =
        |limit| Subject { initial: &state, old: "old", new: "new", wiring: &[], duplicates_allowed: false, limit };
    let steps = plan.steps.iter().map(|step| &step.action);
    // a.b, a.x, c.b and x.b: what `a.*`, `*.b`, `a.#` and `c.b` make of the keys of `old`.
    assert!(prove(&subject(4), steps.clone()).holds());
    let proof = prove(&subject(3), steps);
    assert!(proof.to_string().starts_with("not proven: the bindings distinguish more than 3 classes"), "{proof}");
}

#[test]
fn the_failures_that_were_measured_on_brokers_are_found() {
    let state = several();
    let plan = plan("{ name: new, type: quorum }", "{}", &state);
    let subject =
        Subject { initial: &state, old: "old", new: "new", wiring: &[], duplicates_allowed: false, limit: MAX_CLASSES };
    let fault = |actions: Vec<Action>| match prove(&subject, &actions) {
        Proof::Broken(shown) => Some(shown.fault),
        other => panic!("{other}"),
    };
    // A binding that is left behind: its messages come twice once the switch is made.
    let left = |action: &Action| matches!(action, Action::Unbind(binding) if binding.source == "y" && binding.destination == "old");
    let actions: Vec<Action> =
        plan.steps.iter().map(|step| step.action.clone()).filter(|action| !left(action)).collect();
    assert_eq!(fault(actions), Some(Fault::Doubled));
    // A new binding before the last way to the old queue is gone.
    let mut actions: Vec<Action> = plan.steps.iter().map(|step| step.action.clone()).collect();
    let switch = actions
        .iter()
        .position(|action| matches!(action, Action::Unbind(binding) if binding.source == "old.migration"));
    actions.insert(switch.unwrap(), Action::Bind(BindingDeclaration::queue("x", "new", "a.b")));
    assert_eq!(fault(actions), Some(Fault::Doubled));
}
