//! A topology as the world: the vhost that holds it and nothing else.

use super::{DefaultTypeOrigin, State, predeclared_exchange};
use crate::rabbitmq::{Broker, Conditions, ExchangeDeclaration, Version, effective_request};
use crate::topology::Tables;

impl State {
    /// The vhost in which everything of `tables` was declared, each queue with the type that this broker and this default
    /// give it. Whether the broker would accept it all is not asked.
    ///
    /// An external exchange is there when the topology says its type; otherwise nothing is known about it, so that bindings
    /// to it are not called broken.
    pub fn of_tables(
        broker: Broker,
        vhost: impl Into<String>,
        default_queue_type: Option<String>,
        tables: &Tables,
    ) -> Self {
        let mut state = Self::empty(broker, vhost);
        let version = state.broker.version.unwrap_or(Version::NEWEST);
        let mut conditions = Conditions::new(version, state.vhost.clone());
        conditions.default_queue_type.clone_from(&default_queue_type);
        if default_queue_type.is_some() {
            state.default_type_origin = DefaultTypeOrigin::Caller;
        }
        state.default_queue_type = default_queue_type;
        for exchange in &tables.exchanges {
            state.insert_exchange(exchange.declaration.clone());
        }
        for external in tables.external.iter().filter(|external| predeclared_exchange(&external.name).is_none()) {
            match &external.kind {
                Some(kind) => {
                    state.insert_exchange(ExchangeDeclaration::durable(external.name.clone(), kind.clone()));
                }
                None => state.internal_exchanges_visible = false,
            }
        }
        for queue in &tables.queues {
            let mut stored = effective_request(&conditions, &queue.declaration).into_owned();
            stored.durable &= !stored.exclusive;
            state.insert_queue(stored);
        }
        state.bindings.extend(tables.bindings.iter().map(|binding| binding.declaration.clone()));
        state.policies.clone_from(&tables.policies);
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rabbitmq::QueueType;
    use crate::state::Presence;
    use crate::topology::Topology;

    fn tables(text: &str) -> Tables {
        Topology::from_yaml(text).unwrap().into_tables().unwrap()
    }

    #[test]
    fn queues_get_the_type_that_the_broker_gives_them() {
        let tables = tables("queues: { plain: { type: classic }, temporary: { exclusive: true }, mirrored: {} }");
        let of = |version, default: Option<&str>| {
            let broker = Broker::rabbitmq(version);
            let state = State::of_tables(broker, "/", default.map(str::to_owned), &tables);
            let kind = |name: &str| {
                state.queues[name].arguments.get("x-queue-type").and_then(|kind| kind.as_text().map(str::to_owned))
            };
            (kind("plain"), kind("temporary"), kind("mirrored"))
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(of(Version::new(3, 10, 8), None), (None, None, text("quorum")));
        assert_eq!(of(Version::new(4, 0, 5), None), (text("classic"), text("classic"), text("quorum")));
        assert_eq!(of(Version::new(4, 0, 5), Some("quorum")), (text("quorum"), text("classic"), text("quorum")));
        let state = State::of_tables(Broker::rabbitmq(Version::new(4, 0, 5)), "/", Some("quorum".into()), &tables);
        assert!(!state.queues["temporary"].durable);
        assert_eq!(state.stored_type("plain"), Some(QueueType::Quorum));
        assert_eq!(state.default_type_origin, DefaultTypeOrigin::Caller);
    }

    #[test]
    fn an_external_exchange_is_as_known_as_the_topology_says() {
        let tables = tables(
            "exchanges: { theirs: { external: true }, typed: { external: true, type: fanout } }\nqueues: { q: {} }\nbindings: [ { queue: q, exchange: theirs, routing_key: k }, { queue: q, exchange: typed, routing_key: k }, { queue: q, exchange: amq.topic, routing_key: k } ]",
        );
        let state = State::of_tables(Broker::rabbitmq(Version::new(4, 0, 5)), "/", None, &tables);
        assert_eq!(state.exchange("theirs"), Presence::Unknown);
        assert_eq!(state.exchange("typed").there().map(|exchange| exchange.kind.clone()).as_deref(), Some("fanout"));
        assert_eq!(state.exchange("nobody's"), Presence::Absent);
        assert_eq!(state.bindings.len(), 3);
        // What every vhost has is in no state.
        assert_eq!(state.exchanges.keys().collect::<Vec<_>>(), ["typed"]);
    }
}
