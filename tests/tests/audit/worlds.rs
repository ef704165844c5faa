//! Small vhosts drawn at random, in which everything that the audit looks at meets everything else: names that are keys too,
//! every type of exchange, chains, alternates, dead letters by argument and by policy, limits of every kind.

use acemq_core::rabbitmq::{
    BindingDeclaration, Broker, DestinationType, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration, Version,
};
use acemq_core::state::State;
use acemq_core::value::{Table, Value};
use acemq_tests::draw::Draw;

/// Names of queues are words of keys too.
const QUEUES: [&str; 6] = ["a", "b", "q", "q.dlq", "r", "r.dlq"];
const EXCHANGES: [&str; 4] = ["x", "y", "z", "dlx"];
/// Never declared.
const MISSING: &str = "missing";
const WORDS: [&str; 6] = ["a", "b", "*", "#", "q", ""];
const KEYS: [&str; 7] = ["", "a", "b", "a.b", "q", "q.dlq", "r"];
const CRITERIA: [&str; 2] = ["h", "i"];

/// A vhost.
pub fn world(draw: &mut Draw, version: Version) -> State {
    let mut state = State::empty(Broker::rabbitmq(version), "/");
    let queues = &QUEUES[..2 + draw.below(QUEUES.len() - 1)];
    let exchanges = &EXCHANGES[EXCHANGES.len() - 1 - draw.below(EXCHANGES.len())..];
    for name in exchanges {
        let kind = *draw.one_of(&["direct", "topic", "topic", "fanout", "headers"]);
        let mut exchange = ExchangeDeclaration::durable(*name, kind);
        exchange.internal = draw.chance(4);
        if draw.chance(4) {
            exchange.arguments.insert("alternate-exchange", some_exchange(draw, exchanges));
        }
        state.insert_exchange(exchange);
    }
    for name in exchanges {
        for _ in 0..draw.below(5) {
            bind(draw, &mut state, name, queues, exchanges);
        }
    }
    for name in queues {
        let declaration = queue(draw, name, exchanges, version);
        state.insert_queue(declaration);
    }
    policies(draw, &mut state, exchanges);
    // Which keys an internal exchange gets as an alternate of others is not followed.
    let alternates: Vec<String> = state
        .exchanges
        .values()
        .map(|exchange| &exchange.arguments)
        .chain(state.policies.iter().map(|policy| &policy.definition))
        .filter_map(|table| table.get("alternate-exchange")?.as_text().map(str::to_owned))
        .collect();
    for name in alternates {
        if let Some(exchange) = state.exchanges.get_mut(&name) {
            exchange.internal = false;
        }
    }
    state
}

fn some_exchange(draw: &mut Draw, exchanges: &[&'static str]) -> &'static str {
    match draw.below(8) {
        0 => "",
        1 => MISSING,
        _ => draw.one_of::<&str>(exchanges),
    }
}

fn pattern(draw: &mut Draw) -> String {
    let words: Vec<&str> = (0..draw.below(3) + 1).map(|_| *draw.one_of(&WORDS)).collect();
    let pattern = words.join(".");
    if pattern.matches('#').count() > 2 { "#".to_owned() } else { pattern }
}

fn bind(draw: &mut Draw, state: &mut State, source: &str, queues: &[&str], exchanges: &[&str]) {
    let kind = state.exchanges[source].kind.clone();
    let key = if kind == "topic" { pattern(draw) } else { (*draw.one_of(&KEYS)).to_owned() };
    let mut binding = if draw.chance(4) {
        BindingDeclaration::exchange(source, *draw.one_of(exchanges), key)
    } else {
        BindingDeclaration::queue(source, *draw.one_of(queues), key)
    };
    if kind == "headers" {
        binding.arguments.insert("x-match", *draw.one_of(&["all", "any", "all-with-x", "any-with-x"]));
        for name in CRITERIA {
            if draw.chance(2) {
                binding.arguments.insert(name, i64::try_from(draw.below(2)).unwrap());
            }
        }
    }
    state.bindings.insert(binding);
}

fn queue(draw: &mut Draw, name: &str, exchanges: &[&'static str], version: Version) -> QueueDeclaration {
    let is_quorum = draw.chance(2);
    let mut queue = QueueDeclaration::durable(name);
    if is_quorum {
        queue = queue.with("x-queue-type", "quorum");
    } else if version >= Version::new(4, 0, 0) {
        queue = queue.with("x-queue-type", "classic");
    }
    let overflow = *draw.one_of(&["drop-head", "reject-publish", "reject-publish-dlx"]);
    if !draw.chance(3) {
        queue = queue.with("x-dead-letter-exchange", some_exchange(draw, exchanges));
        if draw.chance(2) {
            queue = queue.with("x-dead-letter-routing-key", *draw.one_of(&KEYS));
        }
        if is_quorum && draw.chance(3) {
            queue = queue.with("x-dead-letter-strategy", "at-least-once");
            if draw.chance(2) {
                queue = queue.with("x-overflow", "reject-publish");
            }
        }
    }
    if draw.chance(3) {
        queue = queue.with("x-message-ttl", i64::try_from(100 + 50 * draw.below(5)).unwrap());
    }
    if draw.chance(4) {
        queue = queue.with("x-max-length", i64::try_from(draw.below(3) + 1).unwrap());
        if draw.chance(2) && !queue.arguments.contains("x-overflow") {
            queue = queue.with("x-overflow", overflow);
        }
    }
    if is_quorum && draw.chance(3) {
        queue = queue.with("x-delivery-limit", *draw.one_of(&[0_i64, 1, 2, -1]));
    }
    queue
}

/// Each with a priority of its own: what holds in a tie is not defined.
fn policies(draw: &mut Draw, state: &mut State, exchanges: &[&'static str]) {
    for priority in 0..draw.below(3) {
        let number = |draw: &mut Draw| i64::try_from(draw.below(3) + 1).unwrap();
        let mut definition = Table::new();
        if draw.chance(2) {
            definition.insert("dead-letter-exchange", some_exchange(draw, exchanges));
        }
        if draw.chance(3) {
            definition.insert("dead-letter-routing-key", *draw.one_of(&KEYS));
        }
        if draw.chance(3) {
            definition.insert("message-ttl", 100 * number(draw));
        }
        if draw.chance(4) {
            definition.insert("max-length", number(draw));
        }
        if draw.chance(4) {
            definition.insert("overflow", *draw.one_of(&["drop-head", "reject-publish"]));
        }
        if draw.chance(6) {
            definition.insert("delivery-limit", number(draw));
        }
        if draw.chance(6) {
            definition.insert("dead-letter-strategy", "at-least-once");
        }
        if draw.chance(5) {
            definition.insert("alternate-exchange", some_exchange(draw, exchanges));
        }
        if definition.is_empty() {
            continue;
        }
        state.insert_policy(PolicyDeclaration {
            name: format!("p{priority}"),
            pattern: (*draw.one_of(&["^q", "dlq$", ".*", "^[ab]$", "^[xyz]$"])).to_owned(),
            apply_to: (*draw.one_of(&["all", "queues", "exchanges"])).to_owned(),
            priority: i64::try_from(priority).unwrap(),
            definition,
        });
    }
    if draw.chance(5) {
        let key = *draw.one_of(&["message-ttl", "max-length", "delivery-limit"]);
        let value = i64::try_from(draw.below(200) + 1).unwrap();
        state.operator_policies.push(PolicyDeclaration {
            name: "operator".to_owned(),
            pattern: (*draw.one_of(&["^q", "dlq$", ".*"])).to_owned(),
            apply_to: "queues".to_owned(),
            priority: 0,
            definition: Table::new().with(key, value),
        });
    }
}

/// The vhost in the lines of `catalogue.txt`.
pub fn lines(state: &State) -> String {
    let table = |table: &Table| {
        if table.is_empty() { String::new() } else { format!(" {}", Value::Table(table.clone()).to_json()) }
    };
    let mut lines = vec![format!("on {}", state.broker.version.unwrap())];
    for exchange in state.exchanges.values() {
        let internal = if exchange.internal { " internal" } else { "" };
        lines.push(format!("exchange {} {}{internal}{}", exchange.name, exchange.kind, table(&exchange.arguments)));
    }
    for queue in state.queues.values() {
        let mut arguments = queue.arguments.clone();
        let kind = match arguments.remove("x-queue-type") {
            Some(kind) => format!(" {}", kind.as_text().unwrap()),
            None => String::new(),
        };
        lines.push(format!("queue {}{kind}{}", queue.name, table(&arguments)));
    }
    for binding in state.bindings.iter() {
        let kind = if binding.destination_type == DestinationType::Queue { "bind" } else { "chain" };
        let ends = format!("{} -> {}", binding.source, binding.destination);
        lines.push(format!("{kind} {ends} \"{}\"{}", binding.routing_key, table(&binding.arguments)));
    }
    for (kind, policies) in [("policy", &state.policies), ("operator", &state.operator_policies)] {
        for policy in policies {
            let PolicyDeclaration { name, pattern, apply_to, priority, definition } = policy;
            lines.push(format!("{kind} {name} \"{pattern}\" {apply_to} {priority}{}", table(definition)));
        }
    }
    lines.iter().map(|line| format!("    {line}\n")).collect()
}
