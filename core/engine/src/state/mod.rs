//! One vhost as it is: its exchanges, queues, bindings and policies, and how much of that is known.
//!
//! Every source of truth about a live broker becomes a [`State`]: an exported definitions file, the management API, the
//! embedded broker, another topology document. Plan, routing and audit read nothing else, so they need not care where it
//! came from. Sources differ in what they can see, and a state says so: [`KnownKinds`] for whole kinds of objects,
//! [`State::exclusive_queues_visible`] and [`State::internal_exchanges_visible`] for the two that exports leave out. The
//! look-ups answer with a [`Presence`], which keeps "it is not there" apart from "this source cannot tell".
//!
//! ```
//! use acemq_core::rabbitmq::{Broker, QueueDeclaration, Version};
//! use acemq_core::state::{Presence, State};
//!
//! let mut state = State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
//! state.insert_queue(QueueDeclaration::durable("orders"));
//! assert!(matches!(state.queue("orders"), Presence::There(_)));
//! assert_eq!(state.queue("invoices"), Presence::Absent);
//! ```

mod bindings;
mod lossy;
mod tables;

pub use crate::rabbitmq::{PREDECLARED_EXCHANGES, predeclared_exchange};
pub use bindings::Bindings;
pub use lossy::as_exported;

use crate::rabbitmq::{
    BindingDeclaration, Broker, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration, QueueType,
};
use crate::value::{fingerprint, write_string};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Which kinds of objects a source reports in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownKinds {
    /// Exchanges; internal ones only where [`State::internal_exchanges_visible`] is set too.
    pub exchanges: bool,
    /// Queues; exclusive ones only where [`State::exclusive_queues_visible`] is set too.
    pub queues: bool,
    /// Bindings.
    pub bindings: bool,
    /// Policies and operator policies.
    pub policies: bool,
}

impl KnownKinds {
    /// Everything: a definitions file of a whole vhost, the management API, the embedded broker.
    pub const ALL: Self = Self { exchanges: true, queues: true, bindings: true, policies: true };
    /// Nothing: a source that was never asked.
    pub const NONE: Self = Self { exchanges: false, queues: false, bindings: false, policies: false };
}

/// Where the type of a queue that is declared without `x-queue-type` was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultTypeOrigin {
    /// The vhost's own `default_queue_type` (RabbitMQ 3.10.8 and later).
    Vhost,
    /// The node's configuration, which counts at declaration from RabbitMQ 4.0 on where the vhost says nothing.
    Node,
    /// The caller, overriding what the source says.
    Caller,
    /// The source shows the vhost and it sets none. No export shows what the node's configuration says.
    NotSet,
    /// The source does not show the vhost's settings.
    Unknown,
}

/// The answer to "is it there?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence<T> {
    /// It is there, like this.
    There(T),
    /// It is not there.
    Absent,
    /// This source cannot tell.
    Unknown,
}

impl<T> Presence<T> {
    /// What is there, if it is known to be.
    pub fn there(self) -> Option<T> {
        match self {
            Self::There(object) => Some(object),
            Self::Absent | Self::Unknown => None,
        }
    }
}

/// One vhost as it is.
///
/// The exchanges that every vhost has ([`PREDECLARED_EXCHANGES`]) and the default exchange's bindings are left out of the
/// collections, as exports leave them out; the look-ups know them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Product and version.
    pub broker: Broker,
    /// The vhost's name.
    pub vhost: String,
    /// The type of a queue that is declared without one; `None` is the broker's own default, classic.
    pub default_queue_type: Option<String>,
    /// Where [`default_queue_type`](Self::default_queue_type) was read.
    pub default_type_origin: DefaultTypeOrigin,
    /// How many queues the vhost may hold, where a limit is set.
    pub queue_limit: Option<u64>,
    /// Which kinds are reported in full.
    pub known: KnownKinds,
    /// Whether exclusive queues are among the queues. Exports never hold them.
    pub exclusive_queues_visible: bool,
    /// Whether internal exchanges are among the exchanges. `rabbitmqctl export_definitions` never writes them, the
    /// management API's export not from 4.2.9 and 4.3.3 on.
    pub internal_exchanges_visible: bool,
    /// Whether argument values came through JSON, as in exports and the management API, and lost their wire types: every
    /// integer is a 64-bit one, every time stamp and decimal a number, binary data and void a text.
    pub argument_types_lost: bool,
    /// Exchanges by name.
    pub exchanges: BTreeMap<String, ExchangeDeclaration>,
    /// Queues by name, as the broker stores them: with the type that it injected.
    pub queues: BTreeMap<String, QueueDeclaration>,
    /// Bindings, those of the default exchange left out.
    pub bindings: Bindings,
    /// Policies, in the source's order.
    pub policies: Vec<PolicyDeclaration>,
    /// Operator policies, in the source's order.
    pub operator_policies: Vec<PolicyDeclaration>,
    /// What plugins bring into the vhost, where the source says it: only definitions do.
    pub links: Links,
}

/// What shovels and federation bring into a vhost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Links {
    /// The queues of this vhost that shovels write to, by the shovels' names.
    pub shovels: BTreeMap<String, String>,
    /// The upstreams that are defined.
    pub upstreams: BTreeSet<String>,
    /// The sets of upstreams, each with the upstreams that it names.
    pub upstream_sets: BTreeMap<String, Vec<String>>,
}

impl State {
    /// A vhost that holds nothing and of which everything is known.
    pub fn empty(broker: Broker, vhost: impl Into<String>) -> Self {
        Self {
            broker,
            vhost: vhost.into(),
            default_queue_type: None,
            default_type_origin: DefaultTypeOrigin::NotSet,
            queue_limit: None,
            known: KnownKinds::ALL,
            exclusive_queues_visible: true,
            internal_exchanges_visible: true,
            argument_types_lost: false,
            exchanges: BTreeMap::new(),
            queues: BTreeMap::new(),
            bindings: Bindings::new(),
            policies: Vec::new(),
            operator_policies: Vec::new(),
            links: Links::default(),
        }
    }

    /// A vhost of which nothing is known yet.
    pub fn unknown(broker: Broker, vhost: impl Into<String>) -> Self {
        Self {
            default_type_origin: DefaultTypeOrigin::Unknown,
            known: KnownKinds::NONE,
            exclusive_queues_visible: false,
            internal_exchanges_visible: false,
            ..Self::empty(broker, vhost)
        }
    }

    /// Adds or replaces an exchange; gives back the one that was there.
    pub fn insert_exchange(&mut self, exchange: ExchangeDeclaration) -> Option<ExchangeDeclaration> {
        self.exchanges.insert(exchange.name.clone(), exchange)
    }

    /// Adds or replaces a queue; gives back the one that was there.
    pub fn insert_queue(&mut self, queue: QueueDeclaration) -> Option<QueueDeclaration> {
        self.queues.insert(queue.name.clone(), queue)
    }

    /// Adds or replaces a policy by name; gives back the one that was there.
    pub fn insert_policy(&mut self, policy: PolicyDeclaration) -> Option<PolicyDeclaration> {
        match self.policies.iter_mut().find(|known| known.name == policy.name) {
            Some(known) => Some(std::mem::replace(known, policy)),
            None => {
                self.policies.push(policy);
                None
            }
        }
    }

    /// The queue with that name.
    ///
    /// Where exclusive queues are not visible, [`Presence::Absent`] means that there is no *shared* queue of that name: an
    /// exclusive one belongs to its connection, and whoever wants one gets no proof here that it is not there.
    pub fn queue(&self, name: &str) -> Presence<&QueueDeclaration> {
        match self.queues.get(name) {
            Some(queue) => Presence::There(queue),
            None if self.known.queues => Presence::Absent,
            None => Presence::Unknown,
        }
    }

    /// The exchange with that name, predeclared ones included.
    ///
    /// Where internal exchanges are not visible, a name that only bindings know is [`Presence::Unknown`]: such an exchange
    /// is there, for its bindings are exported, and nothing says what it is.
    pub fn exchange(&self, name: &str) -> Presence<Cow<'_, ExchangeDeclaration>> {
        if let Some(exchange) = self.exchanges.get(name) {
            return Presence::There(Cow::Borrowed(exchange));
        }
        if let Some(exchange) = predeclared_exchange(name) {
            return Presence::There(Cow::Owned(exchange));
        }
        if self.known.exchanges && (self.internal_exchanges_visible || !self.bindings.names_exchange(name)) {
            return Presence::Absent;
        }
        Presence::Unknown
    }

    /// Whether that very binding is there; its arguments count with their types, as they do on the broker, unless the source
    /// lost them.
    pub fn binding(&self, binding: &BindingDeclaration) -> Presence<()> {
        let exported = (self.argument_types_lost && !binding.arguments.is_empty())
            .then(|| BindingDeclaration { arguments: as_exported(&binding.arguments), ..binding.clone() });
        if self.bindings.contains(exported.as_ref().unwrap_or(binding)) {
            Presence::There(())
        } else if self.known.bindings {
            Presence::Absent
        } else {
            Presence::Unknown
        }
    }

    /// The policy with that name.
    pub fn policy(&self, name: &str) -> Presence<&PolicyDeclaration> {
        match self.policies.iter().find(|policy| policy.name == name) {
            Some(policy) => Presence::There(policy),
            None if self.known.policies => Presence::Absent,
            None => Presence::Unknown,
        }
    }

    /// What a stored queue is: its argument, and classic where it has none. The vhost's default counts only for queues that
    /// are yet to be declared. `None` is a type that a plugin brought.
    pub fn stored_type(&self, name: &str) -> Option<QueueType> {
        self.queues.get(name).and_then(QueueDeclaration::queue_type)
    }

    /// The contents of the vhost as sorted canonical lines, each ended by a newline.
    ///
    /// Two vhosts that hold the same print the same, whichever source they were read from: neither the broker nor what is
    /// visible is part of it.
    pub fn canonical(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        lines.extend(self.exchanges.values().map(ExchangeDeclaration::canonical));
        lines.extend(self.queues.values().map(QueueDeclaration::canonical));
        lines.extend(self.bindings.iter().map(BindingDeclaration::canonical));
        lines.extend(self.policies.iter().map(PolicyDeclaration::canonical));
        lines.extend(self.operator_policies.iter().map(PolicyDeclaration::canonical_operator));
        lines.push(self.vhost_line());
        lines.sort_unstable();
        let mut out = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
        for line in &lines {
            out.push_str(line);
            out.push('\n');
        }
        out
    }

    /// The SHA-256 of [`canonical`](Self::canonical), in lower-case hexadecimal.
    pub fn fingerprint(&self) -> String {
        fingerprint(self.canonical().as_bytes())
    }

    fn vhost_line(&self) -> String {
        let mut out = String::from("{\"default_queue_type\":");
        match &self.default_queue_type {
            Some(kind) => write_string(&mut out, kind),
            None => out.push_str("null"),
        }
        out.push_str(",\"kind\":\"vhost\",\"name\":");
        write_string(&mut out, &self.vhost);
        out.push('}');
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rabbitmq::Version;
    use crate::value::{Table, Value};

    fn state() -> State {
        State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/")
    }

    #[test]
    fn what_a_source_cannot_see_is_unknown_and_not_absent() {
        let blind = State::unknown(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
        assert_eq!(blind.queue("q"), Presence::Unknown);
        assert_eq!(blind.exchange("e"), Presence::Unknown);
        assert_eq!(blind.binding(&BindingDeclaration::queue("e", "q", "k")), Presence::Unknown);
        assert_eq!(blind.policy("p"), Presence::Unknown);
        let seeing = state();
        assert_eq!(seeing.queue("q"), Presence::Absent);
        assert_eq!(seeing.exchange("e"), Presence::Absent);
        assert_eq!(seeing.binding(&BindingDeclaration::queue("e", "q", "k")), Presence::Absent);
        assert_eq!(seeing.policy("p"), Presence::Absent);
    }

    #[test]
    fn predeclared_exchanges_are_there_even_when_no_exchange_is_known() {
        let blind = State::unknown(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
        let topic = blind.exchange("amq.topic").there().map(Cow::into_owned);
        assert_eq!(topic, Some(ExchangeDeclaration::durable("amq.topic", "topic")));
        assert!(blind.exchange("").there().is_some());
        assert_eq!(blind.exchange("amq.nonsense"), Presence::Unknown);
    }

    #[test]
    fn an_exchange_that_only_a_binding_names_is_unknown_in_an_export_without_internal_exchanges() {
        let mut export = state();
        export.internal_exchanges_visible = false;
        export.bindings.insert(BindingDeclaration::exchange("orders", "hidden", "#"));
        assert_eq!(export.exchange("hidden"), Presence::Unknown);
        assert_eq!(export.exchange("orders"), Presence::Unknown);
        assert_eq!(export.exchange("never-named"), Presence::Absent);
    }

    #[test]
    fn a_binding_with_another_argument_type_is_another_binding() {
        let mut state = state();
        let long = BindingDeclaration {
            arguments: Table::from([("n", Value::I64(5))]),
            ..BindingDeclaration::queue("e", "q", "")
        };
        let int = BindingDeclaration { arguments: Table::from([("n", Value::I32(5))]), ..long.clone() };
        assert!(state.bindings.insert(long.clone()));
        assert!(!state.bindings.insert(long));
        assert_eq!(state.binding(&int), Presence::Absent);
    }

    #[test]
    fn a_source_that_lost_argument_types_finds_a_binding_whatever_its_types() {
        let binding = |value| BindingDeclaration {
            arguments: Table::from([("n", value)]),
            ..BindingDeclaration::queue("e", "q", "")
        };
        let mut state = state();
        state.bindings.insert(binding(Value::I64(5)));
        assert_eq!(state.binding(&binding(Value::I32(5))), Presence::Absent);
        state.argument_types_lost = true;
        assert_eq!(state.binding(&binding(Value::I32(5))), Presence::There(()));
        assert_eq!(state.binding(&binding(Value::Timestamp(5))), Presence::There(()));
        assert_eq!(state.binding(&binding(Value::text("5"))), Presence::Absent);
    }

    #[test]
    fn the_canonical_print_does_not_depend_on_order_or_on_an_explicit_classic() {
        let mut one = state();
        one.insert_queue(QueueDeclaration::durable("q").with("b", 1).with("a", 2));
        one.insert_exchange(ExchangeDeclaration::durable("e", "topic"));
        let mut two = state();
        two.internal_exchanges_visible = false;
        two.insert_exchange(ExchangeDeclaration::durable("e", "topic"));
        two.insert_queue(
            QueueDeclaration::durable("q").with("x-queue-type", "classic").with("a", 2).with("b", Value::I16(1)),
        );
        assert_eq!(one.canonical(), two.canonical());
        assert_eq!(one.fingerprint(), two.fingerprint());
        assert_ne!(one, two);
        assert_eq!(
            one.canonical(),
            concat!(
                r#"{"arguments":{"a":2,"b":1},"auto_delete":false,"durable":true,"exclusive":false,"kind":"queue","name":"q"}"#,
                "\n",
                r#"{"arguments":{},"auto_delete":false,"durable":true,"internal":false,"kind":"exchange","name":"e","type":"topic"}"#,
                "\n",
                r#"{"default_queue_type":null,"kind":"vhost","name":"/"}"#,
                "\n",
            )
        );
    }

    #[test]
    fn a_policy_and_an_operator_policy_of_one_name_are_two_lines() {
        let policy = PolicyDeclaration {
            name: "limits".into(),
            pattern: "^a".into(),
            apply_to: "queues".into(),
            priority: 0,
            definition: Table::from([("max-length", 5)]),
        };
        let mut state = state();
        assert_eq!(state.insert_policy(policy.clone()), None);
        assert_eq!(state.insert_policy(policy.clone()), Some(policy.clone()));
        state.operator_policies.push(policy);
        assert_eq!(
            state.canonical(),
            concat!(
                r#"{"apply_to":"queues","definition":{"max-length":5},"kind":"operator_policy","name":"limits","pattern":"^a","priority":0}"#,
                "\n",
                r#"{"apply_to":"queues","definition":{"max-length":5},"kind":"policy","name":"limits","pattern":"^a","priority":0}"#,
                "\n",
                r#"{"default_queue_type":null,"kind":"vhost","name":"/"}"#,
                "\n",
            )
        );
    }
}
