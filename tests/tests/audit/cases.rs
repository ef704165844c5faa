//! Reads `catalogue.txt`: vhosts in a few lines each.

use acemq_core::audit::{Code, Options};
use acemq_core::rabbitmq::{
    BindingDeclaration, Broker, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration, Version,
};
use acemq_core::state::{Bindings, DefaultTypeOrigin, State};
use acemq_core::topology::describe_binding;
use acemq_core::value::Table;

/// A vhost, what the audit must find in it, and the vhost in which that is repaired.
pub struct Case {
    pub name: String,
    pub state: State,
    pub options: Options,
    pub finds: Vec<(Code, String)>,
    pub repaired: State,
}

/// Every case of the catalogue.
pub fn all() -> Vec<Case> {
    let text = include_str!("catalogue.txt");
    let mut cases: Vec<Case> = Vec::new();
    let mut is_repaired = false;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("case ") {
            let state = State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
            let repaired = state.clone();
            let (options, finds) = (Options::default(), Vec::new());
            cases.push(Case { name: name.to_owned(), state, options, finds, repaired });
            is_repaired = false;
            continue;
        }
        let case = cases.last_mut().unwrap();
        if line == "repaired" {
            case.repaired = case.state.clone();
            is_repaired = true;
        } else if let Some(found) = line.strip_prefix("finds ") {
            let (code, object) = found.split_once(' ').unwrap();
            case.finds.push((code.parse().unwrap(), object.to_owned()));
        } else if let Some(version) = line.strip_prefix("target ") {
            case.options.target = Some(version.parse().unwrap());
        } else {
            let state = if is_repaired { &mut case.repaired } else { &mut case.state };
            assert!(apply(state, line).is_some(), "{}: {line}", case.name);
        }
    }
    cases
}

/// A vhost of the lines of `catalogue.txt`.
pub fn state(lines: &str) -> State {
    let mut state = State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        assert!(apply(&mut state, line).is_some(), "{line}");
    }
    state
}

fn apply(state: &mut State, line: &str) -> Option<()> {
    let (kind, rest) = line.split_once(' ')?;
    match kind {
        "on" => state.broker = Broker::rabbitmq(rest.parse().ok()?),
        "default" => {
            state.default_queue_type = Some(rest.to_owned());
            state.default_type_origin = DefaultTypeOrigin::Vhost;
        }
        "exchange" => {
            let (words, arguments) = with_table(rest)?;
            let mut words = words.split(' ');
            let mut exchange = ExchangeDeclaration::durable(words.next()?, words.next()?);
            exchange.internal = words.any(|word| word == "internal");
            exchange.arguments = arguments;
            state.insert_exchange(exchange);
        }
        "queue" => {
            let (words, arguments) = with_table(rest)?;
            let mut words = words.split(' ');
            let mut queue = QueueDeclaration::durable(words.next()?);
            queue.arguments = arguments;
            for word in words.filter(|word| !word.is_empty()) {
                match word {
                    "transient" => queue.durable = false,
                    "auto_delete" => queue.auto_delete = true,
                    kind => queue = queue.with("x-queue-type", kind),
                }
            }
            state.insert_queue(queue);
        }
        "bind" | "chain" => {
            let (words, arguments) = with_table(rest)?;
            let (ends, key) = words.split_once(" \"")?;
            let (source, destination) = ends.split_once(" -> ")?;
            let key = key.strip_suffix('"')?;
            let binding = match kind {
                "bind" => BindingDeclaration::queue(source, destination, key),
                _ => BindingDeclaration::exchange(source, destination, key),
            };
            state.bindings.insert(BindingDeclaration { arguments, ..binding });
        }
        "policy" | "operator" => {
            let (words, definition) = with_table(rest)?;
            let (name, rest) = words.split_once(" \"")?;
            let (pattern, rest) = rest.split_once("\" ")?;
            let (apply_to, priority) = rest.split_once(' ')?;
            let policy = PolicyDeclaration {
                name: name.to_owned(),
                pattern: pattern.to_owned(),
                apply_to: apply_to.to_owned(),
                priority: priority.parse().ok()?,
                definition,
            };
            if kind == "policy" {
                state.insert_policy(policy);
            } else {
                state.operator_policies.push(policy);
            }
        }
        "shovel" => {
            let (name, queue) = rest.split_once(' ')?;
            state.links.shovels.insert(name.to_owned(), queue.to_owned());
        }
        "upstream" => _ = state.links.upstreams.insert(rest.to_owned()),
        "upstreams" => {
            let mut words = rest.split(' ').map(str::to_owned);
            state.links.upstream_sets.insert(words.next()?, words.collect());
        }
        "without" => match rest.split_once(' ')? {
            ("policy", name) => state.policies.retain(|policy| policy.name != name),
            (_, shown) => {
                let all: Vec<BindingDeclaration> = state.bindings.iter().cloned().collect();
                let kept: Bindings = all.iter().filter(|binding| describe_binding(binding) != shown).cloned().collect();
                assert!(kept.len() < all.len(), "no binding {shown}");
                state.bindings = kept;
            }
        },
        _ => return None,
    }
    Some(())
}

/// The words in front of a JSON object, and the object.
fn with_table(text: &str) -> Option<(&str, Table)> {
    match text.split_once(" {") {
        Some((words, table)) => Some((words, serde_json::from_str(&format!("{{{table}")).ok()?)),
        None => Some((text, Table::new())),
    }
}
