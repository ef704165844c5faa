//! What goes wrong in migrations by hand, one test for each: what is refused, and what is said beforehand.

use super::*;
use crate::migration::{ArrivalsFact, ConsumerFact, Facts, NodeFact, PermissionFact, RoomFact, ShovelFact, Weight};
use crate::rabbitmq::PolicyDeclaration;
use crate::value::Table;

fn direct() -> State {
    let mut state = vhost();
    state.insert_exchange(ExchangeDeclaration::durable("x", "direct"));
    state.bindings.insert(BindingDeclaration::queue("x", "old", "k"));
    state
}

/// The codes of a weight, with facts beside the table.
fn codes(plan: &MigrationPlan, weight: Weight) -> Vec<&'static str> {
    plan.findings.iter().filter(|finding| finding.weight == weight).map(|finding| finding.code).collect()
}

fn with(facts: Facts) -> MigrationPlan {
    plan("{ name: new, type: quorum }", "{}", &direct()).considering(&facts)
}

fn policy(pattern: &str, key: &str, value: impl Into<Value>) -> PolicyDeclaration {
    PolicyDeclaration {
        name: "p".into(),
        pattern: pattern.into(),
        apply_to: "queues".into(),
        priority: 0,
        definition: Table::from([(key, value.into())]),
    }
}

#[test]
fn a_node_that_is_down_or_has_an_alarm_stops_both_ways() {
    let node = |running, alarms: &[&str]| Facts {
        nodes: vec![NodeFact {
            name: "rabbit@b".into(),
            running,
            alarms: alarms.iter().map(|alarm| (*alarm).to_owned()).collect(),
        }],
        ..Facts::default()
    };
    assert_eq!(codes(&with(node(true, &[])), Weight::Refused), [""; 0]);
    assert_eq!(codes(&with(node(false, &[])), Weight::Refused), ["node_down"]);
    let plan = with(node(true, &["memory"]));
    assert_eq!(codes(&plan, Weight::Refused), ["node_alarm"]);
    assert!(plan.refusal().unwrap().contains("memory"));
    let back = MigrationPlan::undo(&file("{ name: new }", "{}"), &direct(), &crate::migration::Beginning::unrecorded());
    assert_eq!(codes(&back.unwrap().considering(&node(false, &[])), Weight::Refused), ["node_down"]);
}

#[test]
fn publishers_by_name_are_found_by_what_the_exchanges_cannot_have_passed_on() {
    let arrivals = |queue, sources| Facts { arrivals: Some(ArrivalsFact { queue, sources }), ..Facts::default() };
    assert_eq!(codes(&with(arrivals(10, 25)), Weight::Refused), [""; 0]);
    let plan = with(arrivals(10, 4));
    assert_eq!(codes(&plan, Weight::Refused), ["published_by_name"]);
    assert!(plan.refusal().unwrap().contains("10 messages"));
}

#[test]
fn shovels_to_the_old_queue_are_refused_and_those_from_it_named() {
    let shovel = |from: Option<&str>, to: Option<&str>| Facts {
        shovels: vec![ShovelFact {
            name: "s".into(),
            source_queue: from.map(str::to_owned),
            destination_queue: to.map(str::to_owned),
        }],
        ..Facts::default()
    };
    assert_eq!(codes(&with(shovel(None, Some("old"))), Weight::Refused), ["shovel_to_old"]);
    assert!(codes(&with(shovel(Some("old"), None)), Weight::Warning).contains(&"shovel_from_old"));
    assert_eq!(codes(&with(shovel(Some("other"), Some("another"))), Weight::Refused), [""; 0]);
}

#[test]
fn rights_that_the_runner_lacks_are_refused_and_those_that_others_lose_named() {
    let rights = |user: &str, configure: &str, read: &str| Facts {
        user: Some("deploy".into()),
        permissions: vec![
            PermissionFact {
                user: "deploy".into(),
                configure: configure.into(),
                write: ".*".into(),
                read: ".*".into(),
            },
            PermissionFact { user: user.into(), configure: "".into(), write: "^$".into(), read: read.into() },
        ],
        ..Facts::default()
    };
    let plan = with(rights("app", "^(old|new)$", "^(old|new)$"));
    assert_eq!(codes(&plan, Weight::Refused), ["permission_missing"]);
    assert!(plan.refusal().unwrap().contains("configure exchange \"old.migration\""), "{:?}", plan.refusal());
    let plan = with(rights("app", "^(old|new)", "^old$"));
    assert_eq!(codes(&plan, Weight::Refused), [""; 0]);
    let lost = plan.findings.iter().find(|finding| finding.code == "permission_lost").unwrap();
    assert!(lost.message.contains("user \"app\"") && lost.message.ends_with(": read"), "{lost}");
    let nobody = Facts { user: Some("ghost".into()), ..rights("app", ".*", ".*") };
    assert_eq!(codes(&with(nobody), Weight::Refused), ["permission_missing"]);
}

#[test]
fn two_consumers_at_once_are_announced_where_only_one_may_be() {
    let exclusive =
        Facts { consumers: vec![ConsumerFact { tag: "c".into(), exclusive: true, user: None }], ..Facts::default() };
    assert!(codes(&with(exclusive), Weight::Warning).contains(&"exclusive_consumer"));
    let mut state = direct();
    state.insert_queue(
        QueueDeclaration::durable("old").with("x-queue-type", "classic").with("x-single-active-consumer", true),
    );
    let warned = codes(&plan("{ name: new, type: quorum }", "{}", &state), Weight::Warning);
    assert!(warned.contains(&"two_active") && warned.contains(&"behaviour_lost"), "{warned:?}");
}

#[test]
fn priorities_are_judged_by_the_version() {
    for (version, part) in [((3, 13, 7), "none in this version"), ((4, 0, 5), "two levels"), ((4, 3, 0), "its own way")]
    {
        let mut state = direct();
        state.broker = Broker::rabbitmq(Version::new(version.0, version.1, version.2));
        state.insert_queue(QueueDeclaration::durable("old").with("x-queue-type", "classic").with("x-max-priority", 5));
        let plan = plan("{ name: new, type: quorum }", "{}", &state);
        let warned = plan.findings.iter().find(|finding| finding.code == "priorities_change").unwrap();
        assert!(warned.message.contains(part), "{version:?}: {warned}");
    }
}

#[test]
fn policies_on_either_queue_alone_are_named() {
    let mut state = direct();
    state.insert_policy(policy("^new$", "max-length", 5));
    assert!(codes(&plan("{ name: new, type: quorum }", "{}", &state), Weight::Warning).contains(&"policy_gained"));
    let mut state = direct();
    state.insert_policy(policy("^old$", "federation-upstream-set", "all"));
    assert_eq!(codes(&plan("{ name: new, type: quorum }", "{}", &state), Weight::Refused), ["old_federated"]);
    let mut state = direct();
    state.insert_policy(policy("^(old|new)$", "message-ttl", 60_000));
    let plan = plan("{ name: new, type: quorum }", "{}", &state);
    assert!(codes(&plan, Weight::Note).contains(&"expires_while_draining"));
    assert!(!codes(&plan, Weight::Warning).contains(&"policy_gained"));
}

#[test]
fn a_queue_limit_that_the_new_queue_would_exceed_is_refused_before_anything_changes() {
    let mut state = direct();
    state.queue_limit = Some(1);
    let error = MigrationPlan::new(&file("{ name: new }", "{}"), &state).unwrap_err();
    assert_eq!((error.code, &error.fields["reason"]), ("migration_refused", &"broker".into()));
    assert!(error.message.contains("limit"), "{error}");
}

#[test]
fn an_exchange_of_somebody_else_under_the_name_of_the_one_in_between_is_refused() {
    for (method, there) in [
        ("policy", ExchangeDeclaration::durable("old.migration", "direct").with("alternate-exchange", "elsewhere")),
        ("policy", ExchangeDeclaration::durable("old.migration", "topic")),
        ("fanout", ExchangeDeclaration::durable("old.migration", "fanout")),
        ("fanout", ExchangeDeclaration::durable("old.migration.catch", "topic")),
    ] {
        let mut state = direct();
        let name = there.name.clone();
        state.insert_exchange(there);
        let refusal =
            plan("{ name: new, type: quorum }", &format!("{{ method: {method} }}"), &state).refusal().unwrap();
        assert!(refusal.contains(&format!("there should be no exchange {name}")), "{refusal}");
    }
    // A binding that another queue has there would get the messages as well.
    let whole = plan("{ name: new, type: quorum }", "{ method: policy }", &direct());
    let states = crate::migration::rehearsal::rehearse(&direct(), whole.steps.iter().map(|step| &step.action)).unwrap();
    let mut state = states[5].as_ref().clone();
    state.insert_queue(QueueDeclaration::durable("third"));
    state.bindings.insert(BindingDeclaration::queue("old.migration", "third", "k"));
    let refusal = plan("{ name: new, type: quorum }", "{ method: policy }", &state).refusal().unwrap();
    assert!(refusal.contains("no binding old.migration -> third"), "{refusal}");
}

#[test]
fn an_export_that_leaves_internal_exchanges_out_is_not_believed() {
    let whole = plan("{ name: new, type: quorum }", "{}", &direct());
    let states = crate::migration::rehearsal::rehearse(&direct(), whole.steps.iter().map(|step| &step.action)).unwrap();
    let mut state = states[6].as_ref().clone();
    state.internal_exchanges_visible = false;
    state.exchanges.retain(|_, exchange| !exchange.internal);
    let error = MigrationPlan::new(&file("{ name: new, type: quorum }", "{}"), &state).unwrap_err();
    assert_eq!(error.fields["reason"], "state_unknown", "{error}");
}

#[test]
fn a_new_queue_that_would_lose_what_is_led_to_it_is_refused() {
    for (with, code) in [
        ("{ name: new, type: quorum, arguments: { x-expires: 1000 } }", "new_expires"),
        ("{ name: new, type: classic, transient: true }", "new_transient"),
        ("{ name: new, type: stream }", "new_stream"),
        ("{ name: new, type: classic, auto_delete: true }", "new_vanishes"),
    ] {
        assert_eq!(codes(&plan(with, "{}", &direct()), Weight::Refused), [code], "{with}");
    }
    let mut state = direct();
    state.policies.push(policy("^new$", "expires", 60_000));
    assert_eq!(codes(&plan("{ name: new, type: quorum }", "{}", &state), Weight::Refused), ["new_expires"]);
}

#[test]
fn a_transient_queue_may_replace_a_transient_one() {
    let mut state = direct();
    state.insert_queue(QueueDeclaration { durable: false, ..QueueDeclaration::durable("old") });
    let plan = plan("{ name: new, type: classic, transient: true, arguments: { x-max-length: 5 } }", "{}", &state);
    assert!(!codes(&plan, Weight::Refused).contains(&"new_transient"));
}

#[test]
fn dead_letters_to_an_exchange_that_is_not_there_are_warned_of() {
    let with =
        |target: &str| format!("{{ name: new, type: quorum, arguments: {{ x-dead-letter-exchange: {target} }} }}");
    assert!(codes(&plan(&with("nope"), "{}", &direct()), Weight::Warning).contains(&"dead_letters_nowhere"));
    assert!(!codes(&plan(&with("amq.fanout"), "{}", &direct()), Weight::Warning).contains(&"dead_letters_nowhere"));
    let own = plan("{ name: new, type: quorum, dead_letter: true }", "{}", &direct());
    assert!(!codes(&own, Weight::Warning).contains(&"dead_letters_nowhere"));
}

#[test]
fn the_right_to_ask_a_leader_is_looked_at() {
    let rights = |read: &str| Facts {
        user: Some("deploy".into()),
        permissions: vec![PermissionFact {
            user: "deploy".into(),
            configure: ".*".into(),
            write: ".*".into(),
            read: read.into(),
        }],
        asks_leaders: vec!["old".into()],
        ..Facts::default()
    };
    assert_eq!(codes(&with(rights("^(x|old.*)$")), Weight::Refused), [""; 0]);
    let why = with(rights("^(x|old\\..*)$")).refusal().unwrap();
    assert!(why.contains("user \"deploy\" may not read queue \"old\""), "{why}");
}

#[test]
fn a_limit_of_queues_that_leaves_no_room_is_refused() {
    let room = |limit, own: &[&str]| Facts {
        room: Some(RoomFact { limit, declared: 10, own: own.iter().map(|name| (*name).to_owned()).collect() }),
        ..Facts::default()
    };
    // The new queue, and the two of the runner.
    assert_eq!(codes(&with(room(11, &[])), Weight::Refused), [""; 0]);
    assert_eq!(codes(&with(room(13, &["lock", "history"])), Weight::Refused), [""; 0]);
    for (limit, own) in [(10, &[][..]), (12, &["lock", "history"])] {
        let plan = with(room(limit, own));
        assert_eq!(codes(&plan, Weight::Refused), ["queue_limit"]);
        let needed = 11 + own.len();
        assert!(plan.refusal().unwrap().contains(&format!("raise its limit max-queues to {needed}")));
    }
    let why = with(room(12, &["lock", "history"])).refusal().unwrap();
    assert!(
        why.contains("may have 12 queues and has 10, so there is no room for \"lock\", \"history\", \"new\""),
        "{why}"
    );
}
