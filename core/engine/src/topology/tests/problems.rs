//! Every sentence: one golden for each code, with every way in which the code is reached.

use super::*;
use crate::rabbitmq::QueueType;
use std::fmt::Write as _;

/// What is wrong with each of these, and nothing else is.
const DOCUMENTS: &[(ProblemCode, &str)] = &[
    (ProblemCode::DocumentEmpty, "\u{feff} \n"),
    (ProblemCode::DocumentEmpty, "# nothing but a comment\n"),
    (ProblemCode::DocumentEmpty, "---\n"),
    (ProblemCode::DocumentSyntax, "acemq: 1\nqueues: { orders: *orders }\n"),
    (ProblemCode::DocumentSyntax, "acemq: 1\nqueues: { orders: {}\n"),
    (ProblemCode::DocumentSyntax, "acemq: 1\nqueues:\n\torders: {}\n"),
    (ProblemCode::DocumentSyntax, "acemq: 1\nbase: &base { durable: true }\nqueues: { orders: { <<: *base } }\n"),
    (ProblemCode::DocumentSyntax, "acemq: 1\nqueues: !include queues.yaml\n"),
    (ProblemCode::DocumentSyntax, "acemq: 1\n---\nacemq: 1\n"),
    (ProblemCode::DocumentSyntax, "{\"acemq\": 1, \"queues\": {\"é\": {}} \"bindings\": []}"),
    (ProblemCode::DocumentSyntax, "{\"acemq\": 1}\n}"),
    (ProblemCode::DocumentSyntax, "{\"acemq\": 1, \"queues\": {"),
    (ProblemCode::DocumentNotATopology, "- acemq: 1\n"),
    (ProblemCode::DocumentNotATopology, "just a text\n"),
    (ProblemCode::DocumentNotATopology, "{}"),
    (ProblemCode::DocumentNotATopology, "services: { rabbitmq: { image: \"rabbitmq:4\" } }\n"),
    (
        ProblemCode::DocumentNotATopology,
        "{\"rabbit_version\": \"3.13.7\", \"users\": [], \"vhosts\": [{\"name\": \"/\"}], \"queues\": []}",
    ),
    (
        ProblemCode::DocumentNotATopology,
        "{\"queues\": [{\"name\": \"q\", \"durable\": true, \"auto_delete\": false, \"arguments\": {}}], \"bindings\": [{\"source\": \"e\", \"destination\": \"q\", \"destination_type\": \"queue\", \"routing_key\": \"\", \"arguments\": {}}]}",
    ),
    (ProblemCode::DocumentNotATopology, "acemq_migration: 1\nreplace: { queue: a, with: { name: b } }\n"),
    (ProblemCode::DocumentNotATopology, "{\"format\": \"acemq.tables/1\", \"queues\": []}"),
    (ProblemCode::DocumentNotATopology, "rabbitmq: 4.0.5\ntopology: orders.yaml\nsteps: []\n"),
    (ProblemCode::DocumentVersion, "acemq: 2\nqueues: { orders: { anything: new } }\n"),
    (ProblemCode::UnknownKey, "acemq: 1\nqueues:\n  orders: { dead_leter: true }\n"),
    (ProblemCode::UnknownKey, "acemq: 1\nqeues: {}\n"),
    (ProblemCode::UnknownKey, "acemq: 1\nqueues: { orders: { name: orders } }\n"),
    (ProblemCode::UnknownKey, "acemq: 1\nbindings: [ { que: a } ]\n"),
    (
        ProblemCode::UnknownKey,
        "acemq: 1\npolicies: [ { name: p, pattern: x, apply-to: all, definition: { expires: 1 } } ]\n",
    ),
    (ProblemCode::DuplicateKey, "acemq: 1\nqueues:\n  orders: {}\n  orders: {}\n"),
    (
        ProblemCode::DuplicateKey,
        "{\"acemq\": 1, \"queues\": {\"orders\": {\"type\": \"classic\", \"type\": \"classic\"}}}",
    ),
    (ProblemCode::DuplicateKey, "{\"acemq\": 1, \"acemq\": 1}"),
    (ProblemCode::DuplicateKey, "acemq: 1\nqueues: { orders: { arguments: { x-max-length: 1, x-max-length: 1 } } }\n"),
    (ProblemCode::WrongValue, "acemq: 1\nqueues:\n  orders: { durable: yes }\n"),
    (ProblemCode::WrongValue, "acemq: one\nqueues: {}\n"),
    (ProblemCode::WrongValue, "acemq: 1\nqueues: orders\n"),
    (ProblemCode::WrongValue, "acemq: 1\nsuppress: { queue_unreachable: jobs }\n"),
    (ProblemCode::WrongValue, "acemq: 1\nsuppress: [ { code: queue_unreachable, queue: [ jobs ], reason: meant } ]\n"),
    (ProblemCode::UnknownKey, "acemq: 1\nsuppress: [ { code: queue_unreachable, que: jobs, reason: meant } ]\n"),
    (ProblemCode::SuppressionIncomplete, "acemq: 1\nsuppress: [ { queue: jobs, reason: meant } ]\n"),
    (ProblemCode::SuppressionIncomplete, "acemq: 1\nsuppress: [ { code: queue_unreachable, reason: meant } ]\n"),
    (
        ProblemCode::SuppressionIncomplete,
        "acemq: 1\nsuppress: [ { code: queue_unreachable, queue: a, exchange: b, reason: meant } ]\n",
    ),
    (
        ProblemCode::SuppressionIncomplete,
        "acemq: 1\nsuppress:\n  - { code: queue_unreachable, queue: jobs, reason: ' ' }\n",
    ),
    (ProblemCode::WrongValue, "acemq: 1\nqueues: [ orders ]\n"),
    (ProblemCode::WrongValue, "acemq: 1\nbindings: { orders: new }\n"),
    (ProblemCode::WrongValue, "{\"acemq\": 1, \"exchanges\": {\"orders\": {\"type\": 5}}}"),
    (ProblemCode::WrongValue, "acemq: 1\nqueues: { orders: { arguments: [ x-max-length ] } }\n"),
    (ProblemCode::WrongValue, "acemq: 1\nqueues: { orders: { arguments: { x-max-length: } } }\n"),
    (ProblemCode::WrongValue, "acemq: 1\nqueues: { orders: { arguments: { x-max-length: 9223372036854775808 } } }\n"),
    (ProblemCode::WrongValue, "acemq: 1\nqueues: { orders: { arguments: { \"@Q\": 1 } } }\n"),
    (
        ProblemCode::WrongValue,
        "acemq: 1\npolicies: [ { name: p, pattern: x, priority: \"5\", definition: { expires: 1 } } ]\n",
    ),
    (ProblemCode::NameEmpty, "acemq: 1\nqueues: { \"\": {} }\n"),
    (ProblemCode::NameEmpty, "acemq: 1\nexchanges: [ { type: topic } ]\n"),
    (ProblemCode::NameEmpty, "acemq: 1\npolicies: [ { pattern: x, definition: { expires: 1 } } ]\n"),
    (ProblemCode::NameReserved, "acemq: 1\nqueues: { amq.orders: {} }\n"),
    (ProblemCode::NameLineBreak, "acemq: 1\nqueues: { \"orders\\r\\n\": {} }\n"),
    (ProblemCode::NameLineBreak, "acemq: 1\nexchanges: { \"a\\nb\": { type: topic } }\n"),
    (ProblemCode::ExchangeTypeUnknown, "acemq: 1\nexchanges: { orders: { type: Topic } }\n"),
    (ProblemCode::ExchangeTypeUnknown, "acemq: 1\nexchanges: { orders: { type: queue } }\n"),
    (ProblemCode::ExchangeTypeMissing, "acemq: 1\nexchanges: { orders: }\n"),
    (
        ProblemCode::DuplicateExchange,
        "acemq: 1\nexchanges: [ { name: orders, type: topic }, { name: orders, type: fanout, internal: true } ]\n",
    ),
    (
        ProblemCode::DuplicateExchange,
        "acemq: 1\nexchanges: [ { name: orders, type: topic }, { name: orders, external: true } ]\n",
    ),
    (
        ProblemCode::DuplicateExchange,
        "acemq: 1\nexchanges: [ { name: orders, external: true }, { name: orders, type: topic } ]\n",
    ),
    (
        ProblemCode::DuplicateExchange,
        "acemq: 1\nexchanges: [ { name: orders, external: true, type: topic }, { name: orders, external: true, type: fanout } ]\n",
    ),
    (ProblemCode::SharedExchangeDiffers, "acemq: 1\nexchanges: { acemq.retry: { type: topic } }\n"),
    (
        ProblemCode::SharedExchangeDiffers,
        "acemq: 1\nexchanges: { acemq.dlx: { external: true } }\nqueues: { orders: { dead_letter: true } }\n",
    ),
    (
        ProblemCode::ExternalDescribed,
        "acemq: 1\nexchanges: { orders: { external: true, type: topic, durable: false, internal: true, auto_delete: true } }\n",
    ),
    (
        ProblemCode::ExternalDescribed,
        "acemq: 1\nexchanges: { amq.topic: { arguments: { a: 1 }, alternate_exchange: x, transient: true } }\n",
    ),
    (
        ProblemCode::AlternateExchangeConflict,
        "acemq: 1\nexchanges: { orders: { type: topic, alternate_exchange: amq.fanout, arguments: { alternate-exchange: amq.fanout } } }\n",
    ),
    (ProblemCode::DurableConflict, "acemq: 1\nqueues: { orders: { durable: true, transient: true } }\n"),
    (
        ProblemCode::DurableConflict,
        "acemq: 1\nexchanges: { orders: { type: topic, durable: false, transient: false } }\n",
    ),
    (
        ProblemCode::DuplicateQueue,
        "acemq: 1\nqueues: [ { name: orders }, { name: orders, type: classic, dead_letter: true } ]\n",
    ),
    (ProblemCode::DuplicateQueue, "acemq: 1\nqueues: { orders: { dead_letter: true }, orders.dlq: {} }\n"),
    (ProblemCode::DuplicateQueue, "acemq: 1\nqueues: { orders.dlq: {}, orders: { dead_letter: true } }\n"),
    (
        ProblemCode::DuplicatePolicy,
        "acemq: 1\npolicies: [ { name: p, pattern: x, definition: { expires: 1 } }, { name: p, pattern: y, definition: { expires: 1 } } ]\n",
    ),
    (ProblemCode::QueueTypeUnknown, "acemq: 1\nqueues: { orders: { type: quorom } }\n"),
    (ProblemCode::QueueTypeUnknown, "acemq: 1\nqueues: { orders: { arguments: { x-queue-type: Classic } } }\n"),
    (
        ProblemCode::QueueTypeConflict,
        "acemq: 1\nqueues: { orders: { type: classic, arguments: { x-queue-type: quorum } } }\n",
    ),
    (
        ProblemCode::QueueTypeNeedsDurable,
        "acemq: 1\nqueues: { orders: { type: quorum, transient: true, exclusive: true, auto_delete: true } }\n",
    ),
    (
        ProblemCode::QueueTypeNeedsDurable,
        "acemq: 1\nqueues: { orders: { exclusive: true, arguments: { x-queue-type: stream } } }\n",
    ),
    (
        ProblemCode::BindingQueueUndeclared,
        "acemq: 1\nexchanges: { orders-events: { type: topic } }\nbindings:\n  - queue: a-queue-nobody-declared\n    exchange: orders-events\n    routing_key: order.placed\n",
    ),
    (
        ProblemCode::BindingQueueUndeclared,
        "acemq: 1\nexchanges: { events: { type: topic } }\nqueues: { orders.new: {} }\nbindings: [ { queue: order.new, exchange: events } ]\n",
    ),
    (ProblemCode::BindingQueueUndeclared, "acemq: 1\nbindings: [ { queue: amq.gen-x, exchange: amq.topic } ]\n"),
    (
        ProblemCode::BindingExchangeUndeclared,
        "acemq: 1\nexchanges: { events: { type: topic } }\nqueues: { orders: {} }\nbindings: [ { queue: orders, exchange: event } ]\n",
    ),
    (
        ProblemCode::BindingExchangeUndeclared,
        "acemq: 1\nexchanges: { events: { type: topic } }\nbindings: [ { to_exchange: archive, exchange: events, routing_key: \"#\" } ]\n",
    ),
    (
        ProblemCode::BindingDefaultExchange,
        "acemq: 1\nqueues: { orders: {} }\nbindings: [ { queue: orders, exchange: \"\", routing_key: orders } ]\n",
    ),
    (ProblemCode::BindingDefaultExchange, "acemq: 1\nbindings: [ { to_exchange: \"\", exchange: amq.topic } ]\n"),
    (ProblemCode::BindingEndMissing, "acemq: 1\nbindings: [ { exchange: amq.topic, routing_key: a } ]\n"),
    (ProblemCode::BindingEndMissing, "acemq: 1\nqueues: { orders: {} }\nbindings: [ { queue: orders } ]\n"),
    (
        ProblemCode::BindingEndMissing,
        "acemq: 1\nqueues: { orders: {} }\nbindings: [ { queue: orders, to_exchange: amq.fanout, exchange: amq.topic } ]\n",
    ),
    (
        ProblemCode::BindingArgument,
        "acemq: 1\nqueues: { orders: {} }\nbindings: [ { queue: orders, exchange: amq.headers, arguments: { x-match: some } } ]\n",
    ),
    (ProblemCode::DeadLetterOnStream, "acemq: 1\nqueues: { orders: { type: stream, dead_letter: true } }\n"),
    (ProblemCode::DeadLetterOnStream, "acemq: 1\nqueues: { orders: { type: stream, dead_letter_to: amq.fanout } }\n"),
    (
        ProblemCode::DeadLetterConflict,
        "acemq: 1\nqueues: { orders: { dead_letter: true, arguments: { x-dead-letter-exchange: amq.fanout, x-dead-letter-routing-key: k } } }\n",
    ),
    (
        ProblemCode::DeadLetterConflict,
        "acemq: 1\nqueues: { orders: { dead_letter: true, dead_letter_to: amq.fanout } }\n",
    ),
    (
        ProblemCode::DeadLetterKeyAlone,
        "acemq: 1\nqueues: { orders: { arguments: { x-dead-letter-routing-key: k } } }\n",
    ),
    (ProblemCode::RetriesOnStream, "acemq: 1\nqueues: { orders: { type: stream, retry: \"fixed(3, 1m)\" } }\n"),
    (ProblemCode::RetryPolicyInvalid, "acemq: 1\nqueues: { orders: { retry: \"exponential(6, 10)\" } }\n"),
    (
        ProblemCode::RetryPolicyInvalid,
        "acemq: 1\nqueues:\n  orders:\n    retry:\n      exponential: { attempts: 6, first: 0, cap: 5m }\n",
    ),
    (ProblemCode::ArgumentType, "acemq: 1\nqueues: { orders: { arguments: { x-message-ttl: \"60s\" } } }\n"),
    (ProblemCode::ArgumentType, "acemq: 1\nqueues: { orders: { arguments: { x-message-ttl: \"60000\" } } }\n"),
    (ProblemCode::ArgumentType, "acemq: 1\nqueues: { orders: { arguments: { x-max-length: 1e3 } } }\n"),
    (
        ProblemCode::ArgumentType,
        "acemq: 1\nqueues: { orders: { arguments: { x-single-active-consumer: \"true\" } } }\n",
    ),
    (ProblemCode::ArgumentType, "acemq: 1\nqueues: { orders: { arguments: { x-queue-type: 5 } } }\n"),
    (
        ProblemCode::ArgumentType,
        "acemq: 1\nexchanges: { orders: { type: topic, arguments: { alternate-exchange: 5 } } }\n",
    ),
    (ProblemCode::ArgumentRange, "acemq: 1\nqueues: { orders: { arguments: { x-message-ttl: -1 } } }\n"),
    (
        ProblemCode::ArgumentRange,
        "acemq: 1\nqueues: { orders: { type: classic, arguments: { x-max-priority: 256 } } }\n",
    ),
    (ProblemCode::ArgumentRange, "acemq: 1\nqueues: { orders: { arguments: { x-overflow: drop } } }\n"),
    (ProblemCode::PolicyInvalid, "acemq: 1\npolicies: [ { name: p, definition: { expires: 1 } } ]\n"),
    (ProblemCode::PolicyInvalid, "acemq: 1\npolicies: { p: { pattern: x } }\n"),
    (
        ProblemCode::PolicyInvalid,
        "acemq: 1\npolicies: { p: { pattern: x, apply_to: queue, definition: { expires: 1 } } }\n",
    ),
    (ProblemCode::PolicyInvalid, "acemq: 1\npolicies: { p: { pattern: x, definition: { x-expires: 1 } } }\n"),
    (ProblemCode::TransientQueue, "acemq: 1\nqueues: { orders: { transient: true } }\n"),
    (
        ProblemCode::ManyHashes,
        "acemq: 1\nqueues: { orders: {} }\nbindings: [ { queue: orders, exchange: amq.topic, routing_key: \"#.a.#.b.#\" } ]\n",
    ),
    (ProblemCode::ArgumentForeign, "acemq: 1\nqueues: { orders: { arguments: { x-max-priority: 5 } } }\n"),
    (
        ProblemCode::ArgumentVersion,
        "acemq: 1\nqueues: { orders: { type: classic, arguments: { x-queue-version: 1 } } }\n",
    ),
    (
        ProblemCode::ArgumentVersion,
        "acemq: 1\nqueues: { orders: { type: classic, arguments: { x-queue-mode: other } } }\n",
    ),
    (ProblemCode::ArgumentIgnored, "acemq: 1\nqueues: { orders: { arguments: { x-max-in-memory-length: 5 } } }\n"),
    (ProblemCode::ArgumentUnknown, "acemq: 1\nqueues: { orders: { arguments: { x-mesage-ttl: 5 } } }\n"),
    (ProblemCode::ArgumentWithoutPrefix, "acemq: 1\nqueues: { orders: { arguments: { message-ttl: 5 } } }\n"),
    (
        ProblemCode::OverflowOnQuorum,
        "acemq: 1\nqueues: { orders: { arguments: { x-overflow: reject-publish-dlx } } }\n",
    ),
    (ProblemCode::DeadLetterExchangeUndeclared, "acemq: 1\nqueues: { orders: { dead_letter_to: shipping-dead } }\n"),
    (
        ProblemCode::DeadLetterExchangeUndeclared,
        "acemq: 1\nqueues: { orders: { arguments: { x-dead-letter-exchange: dead } }, dead: {} }\n",
    ),
    (
        ProblemCode::DeadLetterExchangeUndeclared,
        "acemq: 1\npolicies: { p: { pattern: x, definition: { dead-letter-exchange: dead } } }\n",
    ),
    (
        ProblemCode::AlternateExchangeUndeclared,
        "acemq: 1\npolicies: { p: { pattern: x, definition: { alternate-exchange: unrouted } } }\n",
    ),
    (
        ProblemCode::AlternateExchangeUndeclared,
        "acemq: 1\nexchanges: { orders: { type: topic, alternate_exchange: unrouted } }\n",
    ),
];

/// What is too long to be written out, or no text.
fn generated() -> Vec<(ProblemCode, &'static str, Vec<u8>)> {
    let queue = |name: &str, body: &str| format!("acemq: 1\nqueues: {{ {name}: {body} }}\n").into_bytes();
    vec![
        (ProblemCode::DocumentTooLarge, "64 MiB and one byte", vec![b' '; MAX_DOCUMENT_BYTES + 1]),
        (ProblemCode::DocumentNotUtf8, "Latin-1", b"acemq: 1\nqueues: { \xe9: {} }\n".to_vec()),
        (ProblemCode::DocumentNotUtf8, "UTF-16", b"\xff\xfea\0c\0e\0".to_vec()),
        (ProblemCode::DocumentTooComplex, "200 brackets of YAML", format!("acemq: {}{}", "[".repeat(200), "]".repeat(200)).into_bytes()),
        (
            ProblemCode::DocumentTooComplex,
            "200 brackets of JSON",
            format!("{{\"acemq\": {}{}}}", "[".repeat(200), "]".repeat(200)).into_bytes(),
        ),
        (ProblemCode::DocumentTooComplex, "a thousand million laughs", laughs().into_bytes()),
        (ProblemCode::DocumentTooComplex, "an alias of itself", b"acemq: 1\nqueues: &q { orders: { arguments: { x: *q } } }\n".to_vec()),
        (ProblemCode::NameTooLong, "a queue of 300 bytes", queue(&"q".repeat(300), "{}")),
        (ProblemCode::NameTooLong, "dead letters of a queue of 252 bytes", queue(&"q".repeat(252), "{ dead_letter: true }")),
        (ProblemCode::NameTooLong, "retries of a queue of 250 bytes", queue(&"q".repeat(250), "{ retry: \"fixed(2, 1m)\" }")),
        (
            ProblemCode::TableTooLarge,
            "a queue with 1001 arguments",
            queue("orders", &format!("{{ arguments: {{ {} }} }}", (0..1001).map(|n| format!("x-{n}: 1")).collect::<Vec<_>>().join(", "))),
        ),
        (
            ProblemCode::RoutingKeyTooLong,
            "a routing key of 256 bytes",
            format!(
                "acemq: 1\nqueues: {{ orders: {{}} }}\nbindings: [ {{ queue: orders, exchange: amq.topic, routing_key: {} }} ]\n",
                "é".repeat(128)
            )
            .into_bytes(),
        ),
    ]
}

/// Ten lists, each of them ten times the one before.
fn laughs() -> String {
    let mut out = String::from("acemq: 1\nl0: &l0 [lol]\n");
    for n in 1..10 {
        let _ = writeln!(out, "l{n}: &l{n} [{}]", vec![format!("*l{}", n - 1); 10].join(", "));
    }
    out
}

/// What only a builder can ask for.
fn built() -> Vec<(ProblemCode, &'static str, Topology)> {
    let (one, other) = ("fixed(2, 1m)".parse().unwrap(), "fixed(3, 1m)".parse().unwrap());
    let builder = || Topology::builder().queue("orders");
    vec![
        (ProblemCode::DeadLetterUndeclared, "dead_letters", builder().dead_letters("order").build()),
        (ProblemCode::DeadLetterUndeclared, "dead_letter_to", builder().dead_letter_to("order", "amq.fanout").build()),
        (ProblemCode::RetriesUndeclared, "retries", builder().retries("order", &one).build()),
        (ProblemCode::QueueUndeclared, "of_type", builder().of_type("order", QueueType::Stream).build()),
        (ProblemCode::QueueUndeclared, "queue_arg", builder().queue_arg("order", "x-max-length", 1).build()),
        (ProblemCode::QueueUndeclared, "exclusive", builder().exclusive("order").build()),
        (
            ProblemCode::ArgumentConflict,
            "queue_arg twice",
            builder().queue_arg("orders", "x-max-length", 1).queue_arg("orders", "x-max-length", 2).build(),
        ),
        (
            ProblemCode::RetryPolicyConflict,
            "retries twice",
            builder().retries("orders", &one).retries("orders", &other).build(),
        ),
        (
            ProblemCode::QueueTypeConflict,
            "of_type twice",
            builder().of_type("orders", QueueType::Classic).of_type("orders", QueueType::Stream).build(),
        ),
        (
            ProblemCode::DeadLetterConflict,
            "dead_letter_to twice",
            builder().dead_letter_to("orders", "amq.fanout").dead_letter_to("orders", "amq.topic").build(),
        ),
    ]
}

fn problems_of(bytes: &[u8]) -> Vec<Problem> {
    Topology::parse(bytes, Format::Auto).map_or_else(|problems| problems, |topology| topology.check())
}

/// Every case: its code, its heading, and what was found.
fn cases() -> Vec<(ProblemCode, String, Vec<Problem>)> {
    let written = DOCUMENTS.iter().map(|(code, text)| (*code, (*text).to_owned(), problems_of(text.as_bytes())));
    let generated =
        generated().into_iter().map(|(code, what, bytes)| (code, format!("({what})\n"), problems_of(&bytes)));
    let built =
        built().into_iter().map(|(code, what, topology)| (code, format!("(builder: {what})\n"), topology.check()));
    written.chain(generated).chain(built).collect()
}

fn rendered(problem: &Problem) -> String {
    let mut out = String::new();
    let at = problem.at.map_or_else(|| "no place".to_owned(), |at| at.to_string());
    let _ = writeln!(out, "{} {}, {at}", problem.severity, problem.code);
    let _ = writeln!(out, "object: {}", serde_json::to_string(&problem.object).unwrap());
    let _ = writeln!(out, "fields: {}", serde_json::to_string(&problem.fields).unwrap());
    let _ = writeln!(out, "{}\n{}", problem.message, problem.help);
    out
}

#[test]
fn every_code_has_a_golden_with_its_sentences() {
    let cases = cases();
    for code in ProblemCode::ALL {
        let mut golden = format!("{code}: {}\n", code.meaning());
        let mut count = 0;
        for (_, heading, problems) in cases.iter().filter(|case| case.0 == *code) {
            let _ = write!(golden, "\n{}\n", heading.trim_end());
            for problem in problems {
                let _ = write!(golden, "\n{}", rendered(problem));
            }
            let _ = writeln!(golden, "\n----");
            count += 1;
        }
        assert!(count > 0, "{code} has no golden");
        insta::assert_snapshot!(code.as_str(), golden);
    }
}

#[test]
fn every_case_shows_its_code_and_nothing_else() {
    for (code, heading, problems) in cases() {
        let codes: Vec<_> = problems.iter().map(|problem| problem.code).collect();
        assert!(!codes.is_empty() && codes.iter().all(|found| *found == code), "{heading}{codes:?} instead of {code}");
        for problem in problems {
            assert_eq!(problem.severity, code.severity());
        }
    }
}

#[test]
fn every_sentence_names_its_place_and_a_way_out() {
    for (code, heading, problems) in cases() {
        for problem in problems {
            let message = problem.message.strip_prefix("acemq: ").unwrap_or_else(|| panic!("{code}"));
            assert!(
                !message.contains(char::is_control) && !problem.help.contains(char::is_control),
                "{heading}{message}"
            );
            assert!(
                !message.ends_with('.') && problem.help.ends_with(['.', ':']),
                "{heading}{message}\n{}",
                problem.help
            );
            let whole_file = matches!(code, ProblemCode::DocumentEmpty | ProblemCode::DocumentTooLarge);
            let built = heading.starts_with("(builder");
            assert_eq!(problem.at.is_some(), !whole_file && !built, "{heading}{message}");
        }
    }
}

#[test]
fn codes_are_unique_and_in_snake_case() {
    let mut seen = std::collections::BTreeSet::new();
    for code in ProblemCode::ALL {
        let text = code.as_str();
        assert!(seen.insert(text), "{text}");
        assert!(text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'), "{text}");
        assert!(code.meaning().ends_with('.'), "{text}");
    }
}
