//! Routing against a plain recursive walk, and against what RabbitMQ did.

use super::*;
use crate::rabbitmq::{BindingDeclaration, DestinationType, ExchangeDeclaration, Version};
use crate::value::{Table, Value};
use proptest::prelude::*;
use std::collections::BTreeSet;

const V3_12: Version = Version::new(3, 12, 14);
const V4_0: Version = Version::new(4, 0, 5);

fn router(exchanges: &[(&str, &str)], queues: &[&str], bindings: &[BindingDeclaration]) -> Router {
    let mut router = Router::new(V4_0);
    for (name, kind) in exchanges {
        router.add_exchange(ExchangeDeclaration::durable(*name, *kind));
    }
    for queue in queues {
        router.add_queue(*queue);
    }
    for binding in bindings {
        assert!(router.bind(binding.clone()));
    }
    router
}

fn queue(source: &str, queue: &str, key: &str) -> BindingDeclaration {
    BindingDeclaration::queue(source, queue, key)
}

fn headers_binding(queue: &str, arguments: Table) -> BindingDeclaration {
    BindingDeclaration { arguments, ..BindingDeclaration::queue("h", queue, "") }
}

fn reached(router: &Router, exchange: &str, key: &str) -> Vec<String> {
    router.route(&Envelope::new(exchange, key)).queues
}

#[test]
fn the_default_exchange_leads_to_the_queues_that_the_keys_name() {
    let mut router = router(&[("e", "fanout")], &["a", "b", "c"], &[queue("e", "b", "")]);
    let headers = Table::from([
        ("CC", Value::Array(vec!["b".into(), Value::I64(5), "gone".into()])),
        ("BCC", Value::Array(vec!["c".into()])),
    ]);
    let envelope = Envelope::new("", "a").with_headers(&headers);
    assert_eq!(router.route(&envelope).queues, ["a", "b", "c"]);
    router.remove_queue("a");
    assert_eq!(router.route(&envelope).queues, ["b", "c"]);
    assert!(reached(&router, "", "e").is_empty());
}

#[test]
fn copies_of_the_key_count_at_every_exchange_type() {
    let router = router(
        &[("d", "direct"), ("t", "topic")],
        &["one", "two"],
        &[queue("d", "one", "x"), queue("d", "two", "y"), queue("t", "one", "*.x"), queue("t", "two", "y.#")],
    );
    let headers = Table::from([("CC", Value::Array(vec!["y".into()]))]);
    for (exchange, key) in [("d", "x"), ("t", "a.x")] {
        assert_eq!(router.route(&Envelope::new(exchange, key)).queues, ["one"]);
        assert_eq!(router.route(&Envelope::new(exchange, key).with_headers(&headers)).queues, ["one", "two"]);
    }
}

#[test]
fn an_alternate_exchange_is_for_what_the_own_bindings_do_not_take() {
    let mut router =
        router(&[("x2", "direct"), ("unrouted", "fanout")], &["q", "lost"], &[queue("unrouted", "lost", "")]);
    router.add_exchange(ExchangeDeclaration::durable("x", "direct").with("alternate-exchange", "unrouted"));
    router.bind(queue("x", "q", "taken"));
    assert_eq!(reached(&router, "x", "taken"), ["q"]);
    assert_eq!(reached(&router, "x", "other"), ["lost"]);
    // A binding to an exchange that leads nowhere still counts.
    router.bind(BindingDeclaration::exchange("x", "x2", "nowhere"));
    assert!(reached(&router, "x", "nowhere").is_empty());
    let explanation = router.explain(&Envelope::new("x", "nowhere"));
    assert_eq!(
        explanation.dead_ends,
        [DeadEnd { exchange: "x2".into(), alternate: None }],
        "the alternate of x is not asked"
    );
}

#[test]
fn alternates_chain_and_end_in_cycles_at_missing_ones_and_at_the_default_exchange() {
    let mut router = Router::new(V4_0);
    router.add_queue("k");
    for (name, alternate) in [("a", "b"), ("b", "a"), ("missing", "nobody"), ("default", "")] {
        router.add_exchange(ExchangeDeclaration::durable(name, "direct").with("alternate-exchange", alternate));
    }
    let ends = |exchange: &str| {
        let explanation = router.explain(&Envelope::new(exchange.to_owned(), "k"));
        assert!(explanation.copies.is_empty());
        explanation.dead_ends.into_iter().map(|end| (end.exchange, end.alternate.unwrap().1)).collect::<Vec<_>>()
    };
    assert_eq!(ends("a"), [("a".into(), AlternateUse::Used), ("b".into(), AlternateUse::Visited)]);
    assert_eq!(ends("missing"), [("missing".into(), AlternateUse::Missing)]);
    assert_eq!(ends("default"), [("default".into(), AlternateUse::Default)]);
}

#[test]
fn an_argument_beats_the_policy_that_names_another_alternate() {
    let mut router = router(&[("one", "fanout"), ("two", "fanout"), ("plain", "direct")], &["q1", "q2"], &[]);
    router.bind(queue("one", "q1", ""));
    router.bind(queue("two", "q2", ""));
    router.add_exchange(ExchangeDeclaration::durable("argued", "direct").with("alternate-exchange", "one"));
    for exchange in ["plain", "argued"] {
        router.set_policy_alternate(exchange, Some("two".into()));
    }
    assert_eq!(reached(&router, "plain", "k"), ["q2"]);
    assert_eq!(reached(&router, "argued", "k"), ["q1"]);
}

#[test]
fn each_queue_gets_one_copy_and_cycles_end() {
    let router = router(
        &[("a", "fanout"), ("b", "fanout")],
        &["q"],
        &[
            BindingDeclaration::exchange("a", "b", ""),
            BindingDeclaration::exchange("b", "a", ""),
            BindingDeclaration::exchange("a", "a", ""),
            queue("a", "q", "1"),
            queue("b", "q", "2"),
        ],
    );
    assert_eq!(reached(&router, "a", ""), ["q"]);
    let explanation = router.explain(&Envelope::new("a", ""));
    assert_eq!(explanation.copies.len(), 1);
    assert_eq!((explanation.copies[0].path.len(), explanation.copies[0].also.len()), (1, 1));
}

#[test]
fn one_of_two_bindings_that_differ_in_arguments_leaves_the_other_in_force() {
    for kind in ["direct", "fanout", "topic", "x-consistent-hash"] {
        let mut router = router(&[("e", kind)], &["q"], &[queue("e", "q", "k")]);
        let second = BindingDeclaration { arguments: Table::from([("n", 1)]), ..queue("e", "q", "k") };
        assert!(router.bind(second.clone()) && !router.bind(second.clone()));
        router.unbind(&queue("e", "q", "k"));
        let routed = router.route(&Envelope::new("e", "k"));
        let leads = |routed: &Routed| routed.queues == ["q"] || routed.opaque.iter().any(|o| !o.candidates.is_empty());
        assert!(leads(&routed), "{kind}");
        router.unbind(&second);
        assert!(!leads(&router.route(&Envelope::new("e", "k"))), "{kind}");
    }
}

#[test]
fn a_plugin_type_is_said_to_be_opaque() {
    let mut router = router(&[("front", "fanout"), ("hash", "x-consistent-hash")], &["q1", "q2"], &[]);
    router.bind(BindingDeclaration::exchange("front", "hash", ""));
    router.bind(queue("hash", "q2", "1"));
    router.bind(queue("hash", "q1", "1"));
    let routed = router.route(&Envelope::new("front", ""));
    assert!(routed.queues.is_empty());
    assert_eq!(
        routed.opaque,
        [Opaque {
            exchange: "hash".into(),
            kind: "x-consistent-hash".into(),
            candidates: vec![(DestinationType::Queue, "q1".into()), (DestinationType::Queue, "q2".into())]
        }]
    );
    assert_eq!(router.explain(&Envelope::new("front", "")).opaque, routed.opaque);
}

/// Measured on 3.10.8, 4.0.5 and 4.3.6 unless a version is named.
#[test]
fn headers_match_as_the_brokers_matched() {
    let x = |how: &str, more: Table| {
        let mut table = Table::from([("x-match", how)]);
        for (name, value) in more {
            table.insert(name, value);
        }
        table
    };
    let table = |entries: &[(&str, Value)]| entries.iter().cloned().collect::<Table>();
    let all = [V3_12, V4_0];
    for version in all {
        let check = |arguments: &Table, headers: &Table| headers_match(version, arguments, headers);
        let none = Table::new();
        let a1 = table(&[("a", 1.into())]);
        let a1b2 = table(&[("a", 1.into()), ("b", 2.into())]);
        // Without criteria.
        assert!(check(&none, &none) && check(&none, &a1) && check(&x("all", none.clone()), &a1));
        assert!(!check(&x("any", none.clone()), &a1));
        // All and any.
        assert!(check(&x("all", a1.clone()), &a1b2) && !check(&x("all", a1b2.clone()), &a1));
        assert!(check(&x("any", a1b2.clone()), &a1) && !check(&x("any", a1b2.clone()), &none));
        assert!(check(&a1, &a1b2), "all is meant when nothing is said");
        // Names that start with x-.
        let hidden = table(&[("x-a", 1.into())]);
        assert!(check(&x("all", hidden.clone()), &none) && !check(&x("any", hidden.clone()), &hidden));
        assert!(!check(&x("all-with-x", hidden.clone()), &none) && check(&x("all-with-x", hidden.clone()), &hidden));
        assert!(check(&x("any-with-x", hidden.clone()), &hidden));
        assert!(check(&x("all", table(&[("x-", 1.into())])), &none), "a lone x- is skipped");
        assert!(!check(&x("all", table(&[("X-a", 1.into())])), &none), "X- is not x-");
        // Void asks for presence only.
        let present = table(&[("a", Value::Void)]);
        assert!(check(&present, &table(&[("a", "anything".into())])) && check(&present, &present));
        assert!(!check(&present, &none));
        // Types do not matter, values do.
        let is = |wanted: Value, given: Value| check(&table(&[("a", wanted)]), &table(&[("a", given)]));
        assert!(is(Value::I8(5), Value::U32(5)) && is("a".into(), Value::Binary(b"a".to_vec())));
        assert!(!is("5".into(), 5.into()) && !is(true.into(), "true".into()) && !is("undefined".into(), Value::Void));
        assert!(is(Value::F32(1.5), Value::F64(1.5)) && !is(Value::F32(0.1), Value::F64(0.1)));
        assert!(!is(Value::from("A"), "a".into()));
        let (ab, ba) = (table(&[("a", 1.into()), ("b", 2.into())]), table(&[("b", 2.into()), ("a", 1.into())]));
        assert!(is(Value::Table(ab.clone()), Value::Table(ab.clone())) && !is(Value::Table(ab), Value::Table(ba)));
        assert!(!is(Value::Array(vec![1.into(), 2.into()]), Value::Array(vec![2.into(), 1.into()])));
        assert!(is(Value::Timestamp(5), 5.into()));
        // What 3.13 changed.
        let old = version == V3_12;
        assert_eq!(is(5.into(), Value::F64(5.0)), old);
        assert_eq!(is(Value::F64(5.0), 5.into()), old);
        assert_eq!(is(Value::Timestamp(5), Value::Timestamp(5)), old);
        assert_eq!(is(5.into(), Value::Timestamp(5)), old);
        assert_eq!(is(5000.into(), Value::Timestamp(5)), !old);
        assert_eq!(is(Value::Timestamp(5000), Value::Timestamp(5)), !old);
    }
}

#[test]
fn a_message_that_reaches_nothing_is_told_what_came_near() {
    let near = |router: &Router, envelope: &Envelope<'_>| -> Vec<String> {
        router.explain(envelope).misses.iter().flat_map(|miss| &miss.why).map(ToString::to_string).collect()
    };
    let topic = router(
        &[("t", "topic")],
        &["q"],
        &[queue("t", "q", "orders.*.eu"), queue("t", "q", "z.z.z.z"), queue("t", "q", "orders.new.EU*")],
    );
    let explanation = topic.explain(&Envelope::new("t", "orders.new.us"));
    assert_eq!(explanation.misses.len(), 3);
    assert!(matches!(&explanation.misses[0].target, Target::Binding(b) if b.routing_key == "orders.*.eu"));
    assert_eq!(explanation.misses[0].why[0].to_string(), "word 3 is \"us\" and must be \"eu\"");
    assert_eq!(
        explanation.misses[1].why[0].to_string(),
        "word 3 is \"us\" and must be \"EU*\" (literally: a wildcard is a whole word)"
    );
    assert_eq!(near(&topic, &Envelope::new("t", "orders.new"))[0], "the key has no word for \"eu\"");
    assert_eq!(
        near(&topic, &Envelope::new("t", "Orders.new.eu"))[0],
        "word 1 is \"Orders\" and must be \"orders\" (case counts)"
    );
    assert_eq!(near(&topic, &Envelope::new("t", "orders.a.eu.b"))[0], "word 4, \"b\", has no place");
    let star = router(&[("t", "topic")], &["q"], &[queue("t", "q", "*")]);
    assert_eq!(near(&star, &Envelope::new("t", "")), ["the empty key has no words, and \"*\" needs one"]);

    let default = router(&[], &["orders", "invoices"], &[]);
    assert_eq!(
        near(&default, &Envelope::new("", "Orders")),
        ["the key is \"Orders\" and must be \"orders\" (case counts)"]
    );
    assert!(near(&default, &Envelope::new("", "something else")).is_empty());

    let headers = router(
        &[("h", "headers")],
        &["q"],
        &[
            headers_binding("q", Table::from([("region", "eu"), ("kind", "new")])),
            headers_binding("q", Table::from([("x-match", "any")])),
        ],
    );
    let given = Table::from([("Region", "eu"), ("kind", "old")]);
    assert_eq!(
        near(&headers, &Envelope::new("h", "").with_headers(&given)),
        [
            "\"any\" without criteria fits no message",
            "header \"region\" is missing (\"Region\" is there: case counts)",
            "header \"kind\" is \"old\" and must be \"new\"",
        ]
    );
}

#[test]
fn the_explanation_as_text_and_as_a_document() {
    let mut router = router(
        &[("orders", "topic"), ("archive", "fanout"), ("unrouted", "fanout")],
        &["shipping", "all", "lost"],
        &[
            queue("orders", "shipping", "*.paid.#"),
            queue("orders", "shipping", "eu.#"),
            BindingDeclaration::exchange("orders", "archive", "#"),
            queue("archive", "all", ""),
            queue("unrouted", "lost", ""),
        ],
    );
    router.add_exchange(ExchangeDeclaration::durable("in", "direct").with("alternate-exchange", "unrouted"));
    let paid = router.explain(&Envelope::new("orders", "eu.paid"));
    assert_eq!(
        paid.to_text(),
        "published to exchange orders with key \"eu.paid\"\n  \
           queue all\n    \
             exchange orders (topic) to exchange archive: [#] fits: # = \"eu.paid\"\n    \
             exchange archive (fanout) to queue all: takes every message\n  \
           queue shipping\n    \
             exchange orders (topic) to queue shipping: [*.paid.#] fits: * = \"eu\", paid = \"paid\", # = \"\"\n    \
             no second copy: exchange orders (topic) to queue shipping: [eu.#] fits: eu = \"eu\", # = \"paid\"\n"
    );
    let lost = router.explain(&Envelope::new("in", "k"));
    assert_eq!(
        lost.to_text(),
        "published to exchange in with key \"k\"\n  \
           queue lost\n    \
             exchange in (direct): no binding fits, so its alternate, exchange unrouted\n    \
             exchange unrouted (fanout) to queue lost: takes every message\n  \
           exchange in: no binding fits; its alternate is \"unrouted\", which takes the message\n"
    );
    let document: serde_json::Value = serde_json::to_value(lost.to_document()).unwrap();
    assert_eq!(
        document,
        serde_json::json!({
            "format": "acemq.route/1", "exchange": "in", "keys": ["k"], "exchange_exists": true, "internal": false,
            "queues": ["lost"],
            "copies": [{"queue": "lost", "also": [], "path": [
                {"exchange": "in", "type": "direct", "to": {"exchange": "unrouted"}, "via": "alternate_exchange",
                 "binding": null, "matched": {"by_policy": false}},
                {"exchange": "unrouted", "type": "fanout", "to": {"queue": "lost"}, "via": "binding", "matched": null,
                 "binding": {"source": "unrouted", "destination": "lost", "destination_type": "queue",
                             "routing_key": "", "arguments": {}}},
            ]}],
            "dead_ends": [{"exchange": "in", "alternate_exchange": "unrouted", "alternate": "used"}],
            "opaque": [], "misses": [],
        })
    );
}

/// The same graph as a list, walked by plain recursion.
struct Oracle {
    exchanges: Vec<(String, String, Option<String>)>,
    bindings: Vec<BindingDeclaration>,
}

impl Oracle {
    fn visit(
        &self,
        name: &str,
        key: &str,
        headers: &Table,
        seen: &mut BTreeSet<String>,
        queues: &mut BTreeSet<String>,
    ) {
        let Some((_, kind, alternate)) = self.exchanges.iter().find(|(exchange, ..)| exchange == name) else { return };
        if !seen.insert(name.to_owned()) {
            return;
        }
        let fitting: Vec<_> = self
            .bindings
            .iter()
            .filter(|binding| binding.source == name)
            .filter(|binding| match kind.as_str() {
                "fanout" => true,
                "direct" => binding.routing_key == key,
                "topic" => words_match(&words(&binding.routing_key), &words(key)),
                _ => binding
                    .arguments
                    .iter()
                    .filter(|(name, _)| *name != "x-match")
                    .map(|(name, value)| headers.get(name) == Some(value))
                    .fold((binding.arguments.get("x-match") != Some(&"any".into()), false), |(all, any), is| {
                        (all && is, any || is)
                    })
                    .pick(binding.arguments.get("x-match") == Some(&"any".into())),
            })
            .collect();
        if fitting.is_empty() {
            if let Some(alternate) = alternate {
                self.visit(alternate, key, headers, seen, queues);
            }
            return;
        }
        for binding in fitting {
            match binding.destination_type {
                DestinationType::Queue => {
                    queues.insert(binding.destination.clone());
                }
                DestinationType::Exchange => self.visit(&binding.destination, key, headers, seen, queues),
            }
        }
    }
}

trait Pick {
    fn pick(self, any: bool) -> bool;
}

impl Pick for (bool, bool) {
    fn pick(self, any: bool) -> bool {
        if any { self.1 } else { self.0 }
    }
}

fn words(text: &str) -> Vec<&str> {
    if text.is_empty() { Vec::new() } else { text.split('.').collect() }
}

fn words_match(pattern: &[&str], key: &[&str]) -> bool {
    match pattern {
        [] => key.is_empty(),
        ["#", rest @ ..] => (0..=key.len()).any(|taken| words_match(rest, &key[taken..])),
        [word, rest @ ..] => key.first().is_some_and(|k| *word == "*" || word == k) && words_match(rest, &key[1..]),
    }
}

const NAMES: [&str; 6] = ["x0", "x1", "x2", "x3", "x4", "gone"];
const KEYS: [&str; 8] = ["", "a", "a.b", "*", "#", "a.#", "b.*", "."];

fn binding() -> impl Strategy<Value = BindingDeclaration> {
    let headers = proptest::collection::btree_map(proptest::sample::select(vec!["h", "i"]), 0i64..2, 0..3);
    (0..5usize, 0..9usize, proptest::sample::select(KEYS.to_vec()), headers, any::<bool>()).prop_map(
        |(source, to, key, headers, any)| {
            let mut arguments: Table = headers.into_iter().collect();
            if any {
                arguments.insert("x-match", "any");
            }
            let binding = match to {
                0..5 => BindingDeclaration::exchange(NAMES[source], NAMES[to], key),
                _ => BindingDeclaration::queue(NAMES[source], format!("q{to}"), key),
            };
            BindingDeclaration { arguments, ..binding }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn any_graph_is_walked_as_plain_recursion_walks_it(
        kinds in proptest::collection::vec(proptest::sample::select(vec!["direct", "fanout", "topic", "headers"]), 5),
        alternates in proptest::collection::vec(proptest::option::of(0..6usize), 5),
        bindings in proptest::collection::vec(binding(), 0..14),
        removed in proptest::collection::vec(0..14usize, 0..5),
        messages in proptest::collection::vec((0..5usize, 0..KEYS.len(), proptest::option::of(0i64..2)), 4),
    ) {
        let mut router = Router::new(V4_0);
        let mut oracle = Oracle { exchanges: Vec::new(), bindings: Vec::new() };
        for at in 0..5 {
            let alternate = alternates[at].map(|to| NAMES[to].to_owned());
            let mut exchange = ExchangeDeclaration::durable(NAMES[at], kinds[at]);
            if let Some(alternate) = &alternate {
                exchange = exchange.with("alternate-exchange", alternate.clone());
            }
            router.add_exchange(exchange);
            oracle.exchanges.push((NAMES[at].to_owned(), kinds[at].to_owned(), alternate));
        }
        for binding in &bindings {
            let known = oracle.bindings.iter().any(|b| {
                (&b.source, &b.destination, b.destination_type, &b.routing_key, b.arguments.sorted())
                    == (&binding.source, &binding.destination, binding.destination_type, &binding.routing_key, binding.arguments.sorted())
            });
            prop_assert_eq!(router.bind(binding.clone()), !known);
            if !known {
                oracle.bindings.push(binding.clone());
            }
        }
        for at in removed {
            if at < oracle.bindings.len() {
                let binding = oracle.bindings.remove(at);
                prop_assert!(router.unbind(&binding));
            }
        }
        for (exchange, key, header) in messages {
            let headers: Table = header.map(|value| ("h", value)).into_iter().collect();
            let mut expected = BTreeSet::new();
            oracle.visit(NAMES[exchange], KEYS[key], &headers, &mut BTreeSet::new(), &mut expected);
            let envelope = Envelope::new(NAMES[exchange], KEYS[key]).with_headers(&headers);
            let routed = router.route(&envelope);
            prop_assert_eq!(&routed.queues, &expected.into_iter().collect::<Vec<_>>());
            let explanation = router.explain(&envelope);
            prop_assert_eq!(explanation.copies.iter().map(|copy| copy.queue.clone()).collect::<Vec<_>>(), routed.queues);
            for copy in &explanation.copies {
                prop_assert_eq!(&copy.path[0].exchange, NAMES[exchange]);
                for pair in copy.path.windows(2) {
                    prop_assert_eq!(&pair[0].to, &(DestinationType::Exchange, pair[1].exchange.clone()));
                }
            }
        }
        let mut emptied = router.clone();
        for name in NAMES {
            emptied.remove_exchange(name);
        }
        prop_assert!(emptied.bindings().is_empty());
    }
}

#[test]
fn the_graph_of_a_state_holds_what_only_bindings_name() {
    let mut state = crate::state::State::empty(crate::rabbitmq::Broker::rabbitmq(V4_0), "/");
    state.internal_exchanges_visible = false;
    state.insert_queue(crate::rabbitmq::QueueDeclaration::durable("q"));
    state.bindings.insert(BindingDeclaration::exchange("amq.topic", "hidden", "#"));
    state.bindings.insert(queue("hidden", "q", ""));
    state.insert_queue(crate::rabbitmq::QueueDeclaration::durable("unrouted"));
    state.bindings.insert(queue("amq.fanout", "unrouted", ""));
    state.insert_policy(crate::rabbitmq::PolicyDeclaration {
        name: "catch".into(),
        pattern: "^amq\\.direct$".into(),
        apply_to: "exchanges".into(),
        priority: 0,
        definition: Table::from([("alternate-exchange", "amq.fanout")]),
    });
    let router = Router::of(&state);
    assert_eq!(reached(&router, "amq.direct", "nobody"), ["unrouted"]);
    let routed = router.route(&Envelope::new("amq.topic", "k"));
    assert_eq!(routed.queues, Vec::<String>::new());
    assert_eq!((routed.opaque[0].exchange.as_str(), routed.opaque[0].kind.as_str()), ("hidden", ""));
    assert_eq!(reached(&router, "", "q"), ["q"]);
}
