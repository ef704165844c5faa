//! Which policy wins, what it gives, and when it is a remedy. Expectations are RabbitMQ's documented and measured rules.

use super::*;
use crate::rabbitmq::{
    Broker, Difference, ExchangeDeclaration, PolicyDeclaration, Product, QueueDeclaration, Version, queue_differences,
};
use crate::state::State;
use crate::value::{Table, Value};

const V3_10: Version = Version::new(3, 10, 8);
const V3_13: Version = Version::new(3, 13, 7);
const V4_0: Version = Version::new(4, 0, 5);
const V4_3: Version = Version::new(4, 3, 6);

fn policy<const N: usize>(name: &str, pattern: &str, priority: i64, keys: [(&str, Value); N]) -> PolicyDeclaration {
    PolicyDeclaration {
        name: name.into(),
        pattern: pattern.into(),
        apply_to: "all".into(),
        priority,
        definition: Table::from(keys),
    }
}

fn state(version: Version, policies: Vec<PolicyDeclaration>) -> State {
    let mut state = State::empty(Broker::rabbitmq(version), "/");
    state.policies = policies;
    state
}

fn int(number: i64) -> Value {
    Value::I64(number)
}

fn quorum(name: &str) -> QueueDeclaration {
    QueueDeclaration::durable(name).with("x-queue-type", "quorum")
}

fn winner(state: &State, queue: &QueueDeclaration) -> String {
    match Policies::new(state).for_queue(queue).winner {
        Winner::Nobody => "nobody".into(),
        Winner::One(policy) => policy.name.clone(),
        Winner::Tie(policies) => policies.iter().map(|policy| policy.name.as_str()).collect::<Vec<_>>().join(" or "),
        Winner::Undecidable { why } => format!("undecidable: {why}"),
    }
}

#[test]
fn the_highest_priority_applies_and_nothing_is_merged() {
    let state = state(
        V4_0,
        vec![
            policy("low", "", -5, [("max-length", int(1))]),
            policy("high", "^ord", 7, [("message-ttl", int(2))]),
            policy("other", "^inv", 9, [("message-ttl", int(3))]),
        ],
    );
    let queue = QueueDeclaration::durable("orders");
    assert_eq!(winner(&state, &queue), "high");
    let effective = Policies::new(&state).effective(&queue);
    assert_eq!(effective.value("message-ttl"), Some(&int(2)));
    assert_eq!(effective.value("max-length"), None);
    assert_eq!(winner(&state, &QueueDeclaration::durable("x")), "low");
}

#[test]
fn equal_priorities_are_a_tie_only_where_both_match() {
    let state = state(
        V3_10,
        vec![
            policy("a", "^nd-s-", 1, [("expires", int(5))]),
            policy("b", "^nd-", 1, [("expires", int(6)), ("max-length", int(1))]),
        ],
    );
    assert_eq!(winner(&state, &QueueDeclaration::durable("nd-x")), "b");
    let both = QueueDeclaration::durable("nd-s-x").with("x-dead-letter-exchange", "d");
    assert_eq!(winner(&state, &both), "a or b");
    let effective = Policies::new(&state).effective(&both);
    assert_eq!(effective.settings["expires"].source, Source::Undecided);
    assert_eq!(effective.settings["max-length"].source, Source::Undecided);
    // The argument holds whatever a policy says.
    assert_eq!(effective.value("dead-letter-exchange"), Some(&Value::text("d")));
    insta::assert_snapshot!(effective.open.join("\n"), @r#"policies "a", "b" have the same priority (1), so which of them applies is undefined"#);
}

#[test]
fn what_all_of_a_tie_say_alike_is_certain() {
    let state = state(
        V4_0,
        vec![
            policy("a", "", 0, [("max-length", int(9)), ("message-ttl", int(1))]),
            policy("b", "", 0, [("message-ttl", int(1)), ("max-length", int(8))]),
        ],
    );
    let effective = Policies::new(&state).effective(&QueueDeclaration::durable("q"));
    assert_eq!(effective.value("message-ttl"), Some(&int(1)));
    assert_eq!(effective.settings["max-length"].source, Source::Undecided);
}

/// rabbitmq-server #7350: one key of another queue type keeps the whole policy off, and the next lower one applies.
#[test]
fn one_unsupported_key_keeps_the_whole_policy_off() {
    let state = state(
        V3_10,
        vec![
            policy(
                "mixed",
                ".*",
                1,
                [("delivery-limit", int(5)), ("ha-mode", Value::text("all")), ("max-length", int(3))],
            ),
            policy("plain", ".*", 0, [("max-length", int(9))]),
        ],
    );
    let policies = Policies::new(&state);
    for (queue, keys) in [(QueueDeclaration::durable("q"), vec!["delivery-limit"]), (quorum("q"), vec!["ha-mode"])] {
        let choice = policies.for_queue(&queue);
        assert_eq!(choice.winner, Winner::One(&state.policies[1]));
        assert_eq!(choice.skipped, [Skipped { policy: &state.policies[0], keys }]);
    }
    // Exchanges have no such list.
    assert_eq!(policies.for_exchange("e").winner, Winner::One(&state.policies[0]));
}

#[test]
fn a_policy_without_exchange_keys_still_outranks_one_with_an_alternate_exchange() {
    let state = state(
        V4_0,
        vec![
            policy("ae", "", 0, [("alternate-exchange", Value::text("other"))]),
            policy("ttl", "^orders$", 1, [("message-ttl", int(1))]),
        ],
    );
    let policies = Policies::new(&state);
    let ae = |name: &str| {
        policies.effective_exchange(&ExchangeDeclaration::durable(name, "topic")).value("alternate-exchange").cloned()
    };
    assert_eq!(ae("orders"), None);
    assert_eq!(ae("invoices"), Some(Value::text("other")));
    assert_eq!(ae(""), None);
    let with_argument = ExchangeDeclaration::durable("invoices", "topic").with("alternate-exchange", "own");
    assert_eq!(policies.effective_exchange(&with_argument).value("alternate-exchange"), Some(&Value::text("own")));
}

#[test]
fn operator_policies_are_merged_key_by_key() {
    let mut state =
        state(V4_0, vec![policy("p", "", 0, [("max-length", int(100)), ("overflow", Value::text("reject-publish"))])]);
    state.operator_policies = vec![
        policy("weak", "", 0, [("max-length", int(1))]),
        policy("cap", "", 5, [("max-length", int(50)), ("expires", int(1000))]),
    ];
    let effective = Policies::new(&state).effective(&QueueDeclaration::durable("q").with("x-max-length", 70));
    assert_eq!(effective.value("max-length"), Some(&int(50)));
    assert_eq!(effective.settings["max-length"].source, Source::OperatorPolicy("cap".into()));
    assert_eq!(effective.settings["expires"].source, Source::OperatorPolicy("cap".into()));
    assert_eq!(effective.settings["overflow"].source, Source::Policy("p".into()));
    insta::assert_snapshot!(effective.settings["max-length"].why, @r#"argument x-max-length is 70 and policy "p" (100) under operator policy "cap" (50) says 50; the smaller one holds"#);
}

#[test]
fn defaults_that_lose_messages_are_named() {
    let none = |version| state(version, Vec::new());
    let limit = |version| Policies::new(&none(version)).effective(&quorum("q")).value("delivery-limit").cloned();
    assert_eq!(limit(V3_13), None);
    assert_eq!(limit(V4_0), Some(int(20)));
    let overflow = Policies::new(&none(V4_0)).effective(&QueueDeclaration::durable("q")).settings["overflow"].clone();
    assert_eq!((overflow.value, overflow.source), (Some(Value::text("drop-head")), Source::Default));
}

#[test]
fn overflow_and_dead_letters_follow_the_queue_type() {
    let state = state(
        V4_0,
        vec![policy(
            "p",
            "",
            0,
            [("overflow", Value::text("reject-publish")), ("dead-letter-exchange", Value::text("policy"))],
        )],
    );
    let policies = Policies::new(&state);
    let with =
        |queue: QueueDeclaration| queue.with("x-overflow", "drop-head").with("x-dead-letter-exchange", "argument");
    let classic = policies.effective(&with(QueueDeclaration::durable("q")));
    assert_eq!(classic.value("overflow"), Some(&Value::text("drop-head")));
    assert_eq!(classic.value("dead-letter-exchange"), Some(&Value::text("argument")));
    let quorum = policies.effective(&with(quorum("q")));
    assert_eq!(quorum.value("overflow"), Some(&Value::text("reject-publish")));
    assert_eq!(quorum.value("dead-letter-exchange"), Some(&Value::text("argument")));
}

#[test]
fn an_argument_that_the_type_does_not_know_is_no_setting() {
    let state = state(V4_0, Vec::new());
    let effective = Policies::new(&state).effective(&quorum("q").with("x-max-priority", 5).with("x-foo", 1));
    assert_eq!(effective.value("max-priority"), None);
    assert_eq!(effective.value("foo"), None);
}

#[test]
fn what_cannot_be_told_is_said() {
    let queue = QueueDeclaration::durable("q");
    let fancy = state(V4_0, vec![policy("p", r"\p{L}", 0, [("max-length", int(1))]), policy("low", "", -1, [])]);
    assert_eq!(
        winner(&fancy, &queue),
        r#"undecidable: whether the pattern \p{L} of policy "p" matches "q" cannot be told without the broker"#
    );
    let blind = State::unknown(Broker::rabbitmq(V4_0), "/");
    assert_eq!(winner(&blind, &queue), "undecidable: the policies of this vhost are not known");
    let limited = queue.clone().with("x-max-length", 5).with("x-max-priority", 3);
    let effective = Policies::new(&blind).effective(&limited);
    assert_eq!(effective.settings["max-length"].source, Source::Undecided);
    assert_eq!(effective.value("max-priority"), Some(&int(3)));
    let mut lavin = state(V4_0, vec![policy("p", "", 0, [])]);
    lavin.broker.product = Product::LavinMq;
    assert_eq!(winner(&lavin, &queue), "undecidable: LavinMQ has rules of its own for policies");
    let qos0 = queue.with("x-queue-type", "rabbit_mqtt_qos0_queue");
    assert!(
        winner(&state(V4_0, vec![policy("p", "", 0, [])]), &qos0).starts_with("undecidable: the type of queue \"q\"")
    );
    // A pattern that nobody can read and that is outranked changes nothing.
    let outranked = state(V4_0, vec![policy("p", r"\p{L}", 0, []), policy("high", "^q$", 3, [])]);
    assert_eq!(winner(&outranked, &QueueDeclaration::durable("q")), "high");
}

/// What a single changed argument is judged, and the value that the policy gets.
fn judged(
    version: Version,
    queue: &QueueDeclaration,
    argument: &str,
    current: Option<Value>,
    wanted: Option<Value>,
) -> (Remedy, Option<Value>) {
    let state = state(version, Vec::new());
    let with = |value: Option<Value>| match value {
        Some(value) => queue.clone().with(argument, value),
        None => queue.clone(),
    };
    let (stored, request) = (with(current), with(wanted));
    let differences = queue_differences(version, &stored, &request);
    let remedies = Policies::new(&state).remedies(&stored, &differences);
    let value = remedies.policy.map(|policy| policy.definition.iter().next().unwrap().1.clone());
    (remedies.differences[0].remedy, value)
}

#[test]
fn a_policy_is_a_remedy_only_where_its_value_holds() {
    let classic = QueueDeclaration::durable("q");
    let quorum = quorum("q");
    let stream = QueueDeclaration::durable("q").with("x-queue-type", "stream");
    let text = |text: &str| Some(Value::text(text));
    let cases = [
        // The smaller of argument and policy: down or first, never up or away.
        (V4_0, &classic, "x-message-ttl", Some(int(60000)), Some(int(30000)), Remedy::Policy, Some(int(30000))),
        (V4_0, &classic, "x-message-ttl", Some(int(30000)), Some(int(60000)), Remedy::Migrate, None),
        (V4_0, &classic, "x-message-ttl", None, Some(int(60000)), Remedy::Policy, Some(int(60000))),
        (V4_0, &classic, "x-message-ttl", Some(int(60000)), None, Remedy::Migrate, None),
        // The argument of a dead-letter exchange holds.
        (V4_0, &quorum, "x-dead-letter-exchange", None, text("dlx"), Remedy::Policy, text("dlx")),
        (V4_0, &quorum, "x-dead-letter-exchange", text("old"), text("dlx"), Remedy::Migrate, None),
        (V4_0, &quorum, "x-dead-letter-exchange", text("old"), None, Remedy::Migrate, None),
        // overflow: the argument on classic, the policy on quorum, which takes reject-publish-dlx for drop-head.
        (V4_0, &classic, "x-overflow", text("drop-head"), text("reject-publish"), Remedy::Migrate, None),
        (
            V4_0,
            &quorum,
            "x-overflow",
            text("drop-head"),
            text("reject-publish"),
            Remedy::Policy,
            text("reject-publish"),
        ),
        (V4_0, &quorum, "x-overflow", text("reject-publish"), None, Remedy::Policy, text("drop-head")),
        (V4_0, &quorum, "x-overflow", text("drop-head"), text("reject-publish-dlx"), Remedy::DeclareAsIs, None),
        (V4_0, &classic, "x-overflow", text("drop-head"), None, Remedy::DeclareAsIs, None),
        // Delivery limits: 20 without one from 4.0 on, negative is none.
        (V4_0, &quorum, "x-delivery-limit", Some(int(50)), None, Remedy::Policy, Some(int(20))),
        (V4_0, &quorum, "x-delivery-limit", Some(int(5)), None, Remedy::Migrate, None),
        (V4_0, &quorum, "x-delivery-limit", Some(int(20)), None, Remedy::DeclareAsIs, None),
        (V4_0, &quorum, "x-delivery-limit", None, Some(int(-1)), Remedy::Policy, Some(int(-1))),
        (V4_0, &quorum, "x-delivery-limit", Some(int(5)), Some(int(-1)), Remedy::Migrate, None),
        (V3_13, &quorum, "x-delivery-limit", None, Some(int(-1)), Remedy::Migrate, None),
        (V3_13, &quorum, "x-delivery-limit", Some(int(50)), None, Remedy::Migrate, None),
        // expires of quorum queues: the policy's before 4.0.
        (V3_13, &quorum, "x-expires", Some(int(1000)), Some(int(9000)), Remedy::Policy, Some(int(9000))),
        (V4_0, &quorum, "x-expires", Some(int(1000)), Some(int(9000)), Remedy::Migrate, None),
        (V4_0, &stream, "x-max-age", text("1D"), text("7D"), Remedy::Policy, text("7D")),
        (V4_0, &stream, "x-max-length-bytes", Some(int(1)), Some(int(9)), Remedy::Policy, Some(int(9))),
        // Structural: never by policy.
        (V4_0, &classic, "x-max-priority", None, Some(int(5)), Remedy::Migrate, None),
        (V4_0, &classic, "x-single-active-consumer", None, Some(Value::Bool(true)), Remedy::Migrate, None),
        (V4_0, &classic, "x-queue-type", None, text("quorum"), Remedy::Migrate, None),
        // Without effect on a queue that is there.
        (V4_0, &classic, "x-queue-mode", None, text("lazy"), Remedy::DeclareAsIs, None),
        (V3_10, &classic, "x-queue-mode", None, text("lazy"), Remedy::Policy, text("lazy")),
        (V4_0, &quorum, "x-quorum-initial-group-size", Some(int(3)), Some(int(5)), Remedy::DeclareAsIs, None),
        (V4_3, &classic, "x-unknown", None, Some(int(1)), Remedy::None, None),
    ];
    for (version, queue, argument, current, wanted, remedy, value) in cases {
        let shown = format!("{version} {argument} {current:?} -> {wanted:?}");
        assert_eq!(judged(version, queue, argument, current, wanted), (remedy, value), "{shown}");
    }
}

#[test]
fn properties_need_a_migration() {
    let state = state(V4_0, Vec::new());
    let stored = QueueDeclaration::durable("q");
    let request = QueueDeclaration { durable: false, auto_delete: true, ..stored.clone() };
    let differences = queue_differences(V4_0, &stored, &request);
    let remedies = Policies::new(&state).remedies(&stored, &differences);
    assert_eq!(remedies.differences.iter().map(|judged| judged.remedy).collect::<Vec<_>>(), [Remedy::Migrate; 2]);
    assert_eq!(remedies.policy, None);
}

fn dead_lettered(stored: &QueueDeclaration) -> Vec<Difference> {
    let request =
        stored.clone().with("x-dead-letter-exchange", "acemq.dlx").with("x-dead-letter-routing-key", "orders.new.dlq");
    queue_differences(V4_0, stored, &request)
}

#[test]
fn one_policy_carries_all_differences_and_what_the_present_one_sets() {
    let state = state(V4_0, vec![policy("limits", r"^orders\.", 3, [("max-length", int(100))])]);
    let stored = quorum("orders.new");
    let remedies = Policies::new(&state).remedies(&stored, &dead_lettered(&stored));
    let expected = PolicyDeclaration {
        name: "acemq.orders.new".into(),
        pattern: r"^orders\.new$".into(),
        apply_to: "quorum_queues".into(),
        priority: 4,
        definition: Table::from([("max-length", int(100))])
            .with("dead-letter-exchange", "acemq.dlx")
            .with("dead-letter-routing-key", "orders.new.dlq"),
    };
    assert_eq!(remedies.policy, Some(expected.clone()));
    insta::assert_snapshot!(remedies.notes.join("\n"), @r#"policy "limits" applies now; only one policy ever does, so this one repeats what it sets, and a later change of it does not reach this object any more"#);
    // Once it is set, it is changed and not outranked.
    let mut later = state.clone();
    later.policies.push(PolicyDeclaration { definition: Table::from([("max-length", int(100))]), ..expected.clone() });
    let again = Policies::new(&later).remedies(&stored, &dead_lettered(&stored));
    assert_eq!(again.policy, Some(expected));
    insta::assert_snapshot!(again.notes.join("\n"), @r#"it replaces policy "acemq.orders.new", which is for this object alone"#);
}

#[test]
fn a_policy_that_already_does_it_leaves_nothing_to_do() {
    let state = state(V4_0, vec![policy("ttl", "", 0, [("message-ttl", int(10))])]);
    let stored = QueueDeclaration::durable("q").with("x-message-ttl", 60000);
    let request = QueueDeclaration::durable("q").with("x-message-ttl", 30000);
    let remedies = Policies::new(&state).remedies(&stored, &queue_differences(V4_0, &stored, &request));
    assert_eq!(remedies.differences[0].remedy, Remedy::DeclareAsIs);
    insta::assert_snapshot!(remedies.differences[0].why, @"a policy sets 10 on either, so the queue behaves as asked");
}

#[test]
fn an_operators_cap_is_respected() {
    let mut state = state(V4_0, Vec::new());
    state.operator_policies = vec![policy("cap", "", 0, [("delivery-limit", int(3))])];
    let stored = quorum("q").with("x-delivery-limit", 50);
    let request = quorum("q").with("x-delivery-limit", 10);
    let remedies = Policies::new(&state).remedies(&stored, &queue_differences(V4_0, &stored, &request));
    // Both are cut to 3.
    assert_eq!(remedies.differences[0].remedy, Remedy::DeclareAsIs);
}

#[test]
fn unknown_policies_are_a_warning_and_not_a_guess() {
    let blind = State::unknown(Broker::rabbitmq(V3_10), "/");
    let stored = QueueDeclaration::durable("orders new");
    let remedies = Policies::new(&blind).remedies(&stored, &dead_lettered(&stored));
    let policy = remedies.policy.unwrap();
    assert_eq!((policy.name.as_str(), policy.priority, policy.apply_to.as_str()), ("acemq.orders_new", 100, "queues"));
    insta::assert_snapshot!(remedies.notes.join("\n"), @"the policies of this vhost are not known; if one applies now, it stops applying once this one is set: take over what it sets");
}

#[test]
fn a_tie_is_named_before_it_is_outranked() {
    let state = state(V4_0, vec![policy("a", "", 2, [("expires", int(5))]), policy("b", "", 2, [("expires", int(6))])]);
    let stored = QueueDeclaration::durable("q");
    let remedies = Policies::new(&state).remedies(&stored, &dead_lettered(&stored));
    assert_eq!(remedies.policy.unwrap().priority, 3);
    insta::assert_snapshot!(remedies.notes.join("\n"), @r#"policies "a", "b" have the same priority (2), so which of them applies is undefined; whichever it is stops applying once this one is set"#);
}

#[test]
fn names_of_policies_do_not_collide() {
    let state = state(V4_0, vec![policy("acemq.q", "^other", 0, [])]);
    let stored = QueueDeclaration::durable("q");
    let remedies = Policies::new(&state).remedies(&stored, &dead_lettered(&stored));
    assert_eq!(remedies.policy.unwrap().name, "acemq.q.2");
}

#[test]
fn an_exchange_gets_its_first_alternate_exchange_by_policy() {
    let state = state(V4_0, Vec::new());
    let policies = Policies::new(&state);
    let stored = ExchangeDeclaration::durable("orders", "topic");
    let difference = |argument: &str, wanted: Option<&str>, current: Option<&str>| Difference {
        argument: argument.into(),
        wanted: wanted.map(Value::text),
        current: current.map(Value::text),
        compared: true,
    };
    let first = policies.exchange_remedies(&stored, &[difference("alternate-exchange", Some("ae"), None)]);
    assert_eq!(first.differences[0].remedy, Remedy::Policy);
    let policy = first.policy.unwrap();
    assert_eq!((policy.apply_to.as_str(), policy.pattern.as_str()), ("exchanges", "^orders$"));
    for other in [
        difference("alternate-exchange", Some("ae"), Some("old")),
        difference("alternate-exchange", None, Some("old")),
        difference("type", Some("topic"), Some("direct")),
    ] {
        assert_eq!(policies.exchange_remedies(&stored, &[other]).differences[0].remedy, Remedy::Migrate);
    }
}

#[test]
fn the_lines_for_both_shells_are_quoted() {
    let plain = PolicyDeclaration {
        apply_to: "queues".into(),
        ..policy(
            "acemq.orders.new",
            r"^orders\.new$",
            4,
            [("message-ttl", Value::I32(30000)), ("dead-letter-exchange", Value::text("acemq.dlx"))],
        )
    };
    let lines = shell(&plain, "/");
    assert_eq!(
        lines.sh.as_deref(),
        Some(
            r#"rabbitmqctl set_policy -p / --priority 4 --apply-to queues acemq.orders.new '^orders\.new$' '{"dead-letter-exchange":"acemq.dlx","message-ttl":30000}'"#
        )
    );
    assert_eq!(
        lines.cmd.as_deref(),
        Some(
            r#"rabbitmqctl set_policy -p / --priority 4 --apply-to queues acemq.orders.new "^orders\.new$" "{""dead-letter-exchange"":""acemq.dlx"",""message-ttl"":30000}""#
        )
    );
    let odd = PolicyDeclaration {
        apply_to: "queues".into(),
        ..policy("it's", r"^it's 5% \!$", -1, [("dead-letter-exchange", Value::text("a\"b\\c%d!"))])
    };
    let lines = shell(&odd, "my vhost");
    assert_eq!(
        lines.sh.as_deref(),
        Some(
            r#"rabbitmqctl set_policy -p 'my vhost' --priority -1 --apply-to queues 'it'\''s' '^it'\''s 5% \!$' '{"dead-letter-exchange":"a\"b\\c%d!"}'"#
        )
    );
    assert_eq!(
        lines.cmd.as_deref(),
        Some(
            r#"rabbitmqctl set_policy -p "my vhost" --priority -1 --apply-to queues "it's" "^it's 5\x25 \x21$" "{""dead-letter-exchange"":""a\u0022b\u005cc\u0025d\u0021""}""#
        )
    );
    // cmd.exe would expand these, and no escape helps in a name or an assertion.
    assert_eq!(shell(&plain, "%PATH%").cmd, None);
    assert_eq!(shell(&PolicyDeclaration { pattern: "^(?!amq)".into(), ..plain.clone() }, "/").cmd, None);
    assert_eq!(shell(&plain, "a\u{1b}[2J"), ShellLines { sh: None, cmd: None });
    assert!(shell(&PolicyDeclaration { name: "-n".into(), ..plain }, "/").sh.unwrap().contains(" -- -n "));
}
