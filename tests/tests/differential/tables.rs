//! Random queue declarations: mostly sensible ones with one thing wrong, because a table of noise is refused at its first
//! argument and says nothing about the others.

use acemq_core::rabbitmq::QueueDeclaration;
use acemq_core::value::{Table, Value};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A queue that may be there, and a request for the same name.
#[derive(Debug, Clone)]
pub struct Pair {
    pub existing: Option<QueueDeclaration>,
    pub request: QueueDeclaration,
    /// Whether the request carries an argument that no queue of its type may have.
    pub guarded: bool,
}

/// Pairs for a queue called `name`.
pub fn pair(name: String) -> impl Strategy<Value = Pair> {
    let fresh = declaration(name.clone());
    let other = (declaration(name), any::<bool>(), vec((any::<Index>(), change()), 0..3));
    (proptest::option::weighted(0.8, fresh), other, any::<bool>()).prop_map(
        |(existing, (mut request, unrelated, changes), guarded)| {
            if let (Some(existing), false) = (&existing, unrelated) {
                request = existing.clone();
                for (at, change) in changes {
                    apply(&mut request, at, change);
                }
            }
            if guarded {
                let (name, value) = guard(&request);
                request.arguments.insert(name, value);
            }
            Pair { existing, request, guarded }
        },
    )
}

fn guard(request: &QueueDeclaration) -> (&'static str, i64) {
    match request.arguments.get("x-queue-type").and_then(Value::as_text) {
        Some("stream") => ("x-delivery-limit", 1),
        _ => ("x-stream-max-segment-size-bytes", 1000),
    }
}

#[derive(Debug, Clone)]
enum Change {
    Set(&'static str, Value),
    Revalue(Value),
    Rewiden(u8),
    Remove,
    Durable,
    AutoDelete,
    Exclusive,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        5 => argument().prop_map(|(name, value)| Change::Set(name, value)),
        2 => any_value().prop_map(Change::Revalue),
        4 => any::<u8>().prop_map(Change::Rewiden),
        4 => Just(Change::Remove),
        1 => Just(Change::Durable),
        1 => Just(Change::AutoDelete),
        1 => Just(Change::Exclusive),
    ]
}

fn apply(request: &mut QueueDeclaration, at: Index, change: Change) {
    let names: Vec<String> = request.arguments.iter().map(|(name, _)| name.to_owned()).collect();
    match change {
        Change::Set(name, value) => drop(request.arguments.insert(name, value)),
        Change::Durable => request.durable = !request.durable,
        Change::AutoDelete => request.auto_delete = !request.auto_delete,
        Change::Exclusive => request.exclusive = !request.exclusive,
        Change::Remove | Change::Revalue(_) | Change::Rewiden(_) if names.is_empty() => {}
        Change::Remove => drop(request.arguments.remove(at.get::<String>(&names))),
        Change::Revalue(value) => drop(request.arguments.insert(at.get(&names).clone(), value)),
        Change::Rewiden(seed) => {
            let name = at.get(&names).clone();
            if let Some(number) = request.arguments.get(&name).and_then(Value::as_integer) {
                request.arguments.insert(name, integer_of(number, seed));
            }
        }
    }
}

fn declaration(name: String) -> impl Strategy<Value = QueueDeclaration> {
    let kind = prop_oneof![
        3 => Just(None),
        2 => Just(Some(Value::text("classic"))),
        4 => Just(Some(Value::text("quorum"))),
        4 => Just(Some(Value::text("stream"))),
        1 => select(vec!["bogus", "undefined", "", "Quorum"]).prop_map(|kind| Some(Value::text(kind))),
        1 => any_value().prop_map(Some),
    ];
    let flags = prop_oneof![
        8 => Just((true, false, false)),
        2 => any::<(bool, bool, bool)>(),
    ];
    (kind, flags, any::<bool>())
        .prop_flat_map(|(kind, flags, first)| {
            let fitting = fitting(kind.as_ref().and_then(Value::as_text)).to_vec();
            let some = vec(prop_oneof![12 => select(fitting).prop_flat_map(valid), 1 => argument()], 0..5);
            (Just(kind), Just(flags), Just(first), some)
        })
        .prop_map(move |(kind, (durable, exclusive, auto_delete), first, some)| {
            let mut arguments = Table::new();
            if let (Some(kind), true) = (&kind, first) {
                arguments.insert("x-queue-type", kind.clone());
            }
            for (name, value) in some {
                arguments.insert(name, value);
            }
            if let (Some(kind), false) = (kind, first) {
                arguments.insert("x-queue-type", kind);
            }
            QueueDeclaration { name: name.clone(), durable, exclusive, auto_delete, arguments }
        })
}

const CLASSIC: [&str; 14] = [
    "x-expires",
    "x-message-ttl",
    "x-dead-letter-exchange",
    "x-dead-letter-exchange",
    "x-dead-letter-routing-key",
    "x-max-length",
    "x-max-length-bytes",
    "x-max-priority",
    "x-overflow",
    "x-queue-mode",
    "x-queue-version",
    "x-single-active-consumer",
    "x-queue-leader-locator",
    "x-unknown",
];
const QUORUM: [&str; 16] = [
    "x-expires",
    "x-message-ttl",
    "x-dead-letter-exchange",
    "x-dead-letter-exchange",
    "x-dead-letter-routing-key",
    "x-dead-letter-strategy",
    "x-max-length",
    "x-max-length-bytes",
    "x-max-in-memory-length",
    "x-max-in-memory-bytes",
    "x-overflow",
    "x-single-active-consumer",
    "x-quorum-initial-group-size",
    "x-delivery-limit",
    "x-queue-leader-locator",
    "x-unknown",
];
const STREAM: [&str; 7] = [
    "x-max-length-bytes",
    "x-max-age",
    "x-stream-max-segment-size-bytes",
    "x-stream-filter-size-bytes",
    "x-initial-cluster-size",
    "x-queue-leader-locator",
    "x-unknown",
];
/// Arguments whose rules changed with a version, and such as are no arguments at all.
const ODD: [&str; 12] = [
    "x-queue-master-locator",
    "x-consumer-timeout",
    "x-consumer-disconnected-timeout",
    "x-delayed-retry-type",
    "x-delayed-retry-min",
    "x-delayed-retry-max",
    "x-cancel-on-ha-failover",
    "x-member-placement-tag",
    "x-name-prefix",
    "message-ttl",
    "alternate-exchange",
    "X-Message-TTL",
];

fn fitting(kind: Option<&str>) -> &'static [&'static str] {
    match kind {
        Some("quorum") => &QUORUM,
        Some("stream") => &STREAM,
        _ => &CLASSIC,
    }
}

/// Any argument, with a value that it takes three times out of four.
fn argument() -> impl Strategy<Value = (&'static str, Value)> {
    let every = [CLASSIC.as_slice(), QUORUM.as_slice(), STREAM.as_slice(), ODD.as_slice()].concat();
    select(every).prop_flat_map(|name| {
        prop_oneof![
            3 => valid(name),
            1 => any_value().prop_map(move |value| (name, value)),
        ]
    })
}

fn valid(name: &'static str) -> BoxedStrategy<(&'static str, Value)> {
    let texts = |texts: &[&'static str]| select(texts.to_vec()).prop_map(Value::text).boxed();
    let value = match name {
        "x-dead-letter-exchange" => texts(&["", "dlx", "d'l\"x", "zusätzlich", "日本", "amq.direct"]),
        "x-dead-letter-routing-key" => texts(&["", "key", "a.b", "k'"]),
        "x-dead-letter-strategy" => texts(&["at-most-once", "at-least-once"]),
        "x-overflow" => texts(&["drop-head", "reject-publish", "reject-publish-dlx"]),
        "x-queue-mode" => texts(&["default", "lazy"]),
        "x-queue-leader-locator" => texts(&["client-local", "balanced"]),
        "x-queue-master-locator" => texts(&["client-local", "min-masters"]),
        "x-max-age" => texts(&["1D", "24h", "1440m", "2Y", "90s", "1M"]),
        "x-single-active-consumer" => any::<bool>().prop_map(Value::Bool).boxed(),
        "x-queue-version" => integer(select(vec![1, 2]).boxed()),
        "x-max-priority" => integer((0_i64..256).boxed()),
        "x-stream-filter-size-bytes" => integer((16_i64..256).boxed()),
        "x-expires" => integer(prop_oneof![600_000_i64..700_000, Just(315_360_000_000)].boxed()),
        "x-message-ttl" => integer(prop_oneof![0_i64..100_000, Just(315_360_000_000)].boxed()),
        "x-quorum-initial-group-size" | "x-initial-cluster-size" => integer((1_i64..6).boxed()),
        "x-stream-max-segment-size-bytes" => integer(select(vec![1000, 500_000_000, 3_000_000_000]).boxed()),
        "x-unknown" | "x-cancel-on-ha-failover" => any_value().boxed(),
        _ => integer((0_i64..1_000_000).boxed()),
    };
    value.prop_map(move |value| (name, value)).boxed()
}

fn integer(numbers: BoxedStrategy<i64>) -> BoxedStrategy<Value> {
    (numbers, any::<u8>()).prop_map(|(number, seed)| integer_of(number, seed)).boxed()
}

/// `number` in one of the wire types that hold it.
fn integer_of(number: i64, seed: u8) -> Value {
    let mut fitting = vec![Value::I64(number)];
    fitting.extend(i8::try_from(number).map(Value::I8));
    fitting.extend(u8::try_from(number).map(Value::U8));
    fitting.extend(i16::try_from(number).map(Value::I16));
    fitting.extend(u16::try_from(number).map(Value::U16));
    fitting.extend(i32::try_from(number).map(Value::I32));
    fitting.extend(u32::try_from(number).map(Value::U32));
    fitting.swap_remove(usize::from(seed) % fitting.len())
}

/// Any value, without decimals (a differing one crashes the broker's formatter) and with UTF-8 only.
fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        select(vec!["", "classic", "quorum", "1000", "60s", "1D", "a'b", "\u{7f}", "line\nbreak", "é", "日本", "\"\\"])
            .prop_map(str::to_owned),
        "[ -~]{0,30}",
        "\\PC{0,12}",
    ];
    let leaf = prop_oneof![
        2 => any::<bool>().prop_map(Value::Bool),
        4 => (select(vec![0, 1, -1, 5, 127, 255, 256, 60_000, -70_000, 4_294_967_295, 315_360_000_001, i64::MAX, i64::MIN]), any::<u8>())
            .prop_map(|(number, seed)| integer_of(number, seed)),
        1 => any::<i64>().prop_map(Value::I64),
        1 => any_f64().prop_map(Value::F64),
        1 => any_f64().prop_map(|number| number as f32).prop_filter("finite", |n| n.is_finite()).prop_map(Value::F32),
        3 => text.prop_map(Value::text),
        1 => "[ -~é]{0,8}".prop_map(|text| Value::Binary(text.into_bytes())),
        1 => (0_u64..2_000_000_000).prop_map(Value::Timestamp),
        1 => Just(Value::Void),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec(("[a-z']{0,6}", inner), 0..4).prop_map(|entries| Value::Table(entries.into_iter().collect())),
        ]
    })
}

fn any_f64() -> impl Strategy<Value = f64> {
    prop_oneof![
        select(vec![0.0, -0.0, 1.0, 1.5, 0.1, 1e10, 1e-5, 1e22, 123_456_789.0, 60_000.0, 5e-324, 1e100]),
        any::<i32>().prop_map(|number| f64::from(number) / 1000.0),
        // The broker's parser knows neither infinity nor NaN: it drops the connection without a word.
        any::<f64>().prop_filter("finite", |number| number.is_finite()),
    ]
}
