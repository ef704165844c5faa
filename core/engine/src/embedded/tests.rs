//! What the embedded broker answers, against what RabbitMQ 3.10.8, 4.0.5 and 4.3.6 answered.

mod consumers;
mod deaths;
mod queues;

use super::*;
use crate::rabbitmq::{
    BindingDeclaration, DeleteQueue, ExchangeDeclaration, Permissions, QueueDeclaration, Refused, Scope, Version,
};
use crate::state::State;
use crate::value::Table;

fn broker(version: Version) -> EmbeddedBroker {
    EmbeddedBroker::new(Conditions::new(version, "probe"))
}

const V3_10: Version = Version::new(3, 10, 8);
const V4_0: Version = Version::new(4, 0, 5);
const V4_3: Version = Version::new(4, 3, 6);
const ALL: [Version; 3] = [V3_10, V4_0, V4_3];

const LOCKED: &str = "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q-locked' in vhost 'probe'. It could be originally declared on another connection or the exclusive property value does not match that of the original declaration.";

fn exclusive(name: &str) -> QueueDeclaration {
    QueueDeclaration { exclusive: true, durable: false, ..QueueDeclaration::durable(name) }
}

/// A broker with one client on one channel, and the short words that the tests speak in.
struct Bench {
    broker: EmbeddedBroker,
    connection: ConnectionId,
    channel: ChannelId,
}

impl Bench {
    fn new(version: Version) -> Self {
        let mut broker = broker(version);
        let connection = broker.connect();
        let channel = broker.open_channel(connection).unwrap();
        Self { broker, connection, channel }
    }

    fn queue(&mut self, name: &str, arguments: Table) {
        let declaration = QueueDeclaration { arguments, ..QueueDeclaration::durable(name) };
        self.broker.declare_queue(self.channel, &declaration).unwrap();
    }

    fn put(&mut self, queue: &str, body: &str) -> Published {
        self.broker.publish(self.channel, Publication::new("", queue, body)).unwrap()
    }

    fn get(&mut self, queue: &str) -> Option<Delivery> {
        self.broker.get(self.channel, queue, false).unwrap()
    }

    /// Closes the channel and opens another one.
    fn reopen(&mut self) {
        self.broker.close_channel(self.channel);
        self.channel = self.broker.open_channel(self.connection).unwrap();
    }

    /// Bodies of what is ready, in order.
    fn ready(&self, queue: &str) -> Vec<String> {
        let contents = self.broker.contents(queue).unwrap();
        contents.ready.iter().map(|message| String::from_utf8_lossy(&message.body).into_owned()).collect()
    }
}

fn quorum() -> Table {
    Table::from([("x-queue-type", "quorum")])
}

/// Dead letters to a queue, through the default exchange.
fn dying_to(queue: &str) -> Table {
    Table::new().with("x-dead-letter-exchange", "").with("x-dead-letter-routing-key", queue)
}

fn body(delivery: &Delivery) -> String {
    String::from_utf8_lossy(&delivery.body).into_owned()
}

#[test]
fn an_exclusive_queue_is_locked_for_others_and_goes_with_its_connection() {
    for version in ALL {
        let mut broker = broker(version);
        let (owner, other) = (broker.connect(), broker.connect());
        broker.declare_queue(owner, &exclusive("q-locked")).unwrap();
        broker.declare_queue(owner, &exclusive("q-locked")).unwrap();
        let binding = BindingDeclaration::queue("amq.direct", "q-locked", "k");
        broker.bind(owner, &binding).unwrap();
        let answers = [
            broker.declare_queue(other, &exclusive("q-locked")).unwrap_err(),
            broker.declare_queue_passively(other, "q-locked").unwrap_err(),
            broker.delete_queue(other, "q-locked", DeleteQueue::ANYWAY).unwrap_err(),
            broker.bind(other, &BindingDeclaration::queue("amq.direct", "q-locked", "other")).unwrap_err(),
            broker.unbind(other, &binding).unwrap_err(),
        ];
        for refused in answers {
            assert_eq!(
                (refused.code, refused.text.as_str(), refused.scope),
                (405, LOCKED, Scope::Channel),
                "{version}"
            );
        }
        broker.unbind(other, &BindingDeclaration::queue("amq.direct", "q-locked", "never bound")).unwrap();
        broker.disconnect(owner);
        assert_eq!(broker.declare_queue_passively(other, "q-locked").unwrap_err().code, 404);
        assert!(broker.state().bindings.is_empty());
    }
}

#[test]
fn a_refusal_closes_the_channel_or_the_connection() {
    let mut broker = broker(V4_0);
    let connection = broker.connect();
    let (first, second) = (broker.open_channel(connection).unwrap(), broker.open_channel(connection).unwrap());
    broker.declare_queue(second, &exclusive("mine")).unwrap();
    assert_eq!(
        broker.declare_queue_passively(first, "nope").unwrap_err().text,
        "NOT_FOUND - no queue 'nope' in vhost 'probe'"
    );
    assert!(!broker.is_open(first) && broker.is_open(second) && broker.is_open(connection));
    assert_eq!(broker.declare_queue_passively(first, "mine").unwrap_err().code, 504);

    broker.declare_queue(second, &QueueDeclaration::durable("qq").with("x-queue-type", "quorum")).unwrap();
    let refused = broker.delete_queue(second, "qq", DeleteQueue { if_unused: true, if_empty: true }).unwrap_err();
    assert_eq!(
        (refused.code, refused.text.as_str(), refused.scope),
        (
            540,
            "NOT_IMPLEMENTED - cannot delete queue 'qq' in vhost 'probe'. queue.delete operations with if-unused flag set are not supported by quorum queues",
            Scope::Connection
        )
    );
    assert!(!broker.is_open(connection) && !broker.is_open(second));
    assert_eq!(
        broker.state().queues.keys().collect::<Vec<_>>(),
        ["qq"],
        "the exclusive queue went with its connection"
    );
}

#[test]
fn deleting_answers_as_the_brokers_did() {
    for version in ALL {
        let mut broker = broker(version);
        let service = broker.connect();
        for kind in ["quorum", "stream"] {
            broker.declare_queue(service, &QueueDeclaration::durable(kind).with("x-queue-type", kind)).unwrap();
        }
        let text = |refused: Refused| (refused.code, refused.text);
        assert_eq!(broker.delete_queue(service, "nope", DeleteQueue { if_unused: true, if_empty: false }), Ok(0));
        assert_eq!(broker.delete_queue(service, "stream", DeleteQueue { if_unused: false, if_empty: true }), Ok(0));
        broker.delete_exchange(service, "nope", true).unwrap();
        assert_eq!(
            text(broker.delete_exchange(service, "", true).unwrap_err()),
            (403, "ACCESS_REFUSED - operation not permitted on the default exchange".into())
        );
        for system in ["amq.topic", "amq.nothing"] {
            assert_eq!(
                text(broker.delete_exchange(service, system, true).unwrap_err()),
                (403, format!("ACCESS_REFUSED - deletion of system exchange '{system}' in vhost 'probe' not allowed"))
            );
        }
        for exchange in ["source", "destination"] {
            broker.declare_exchange(service, &ExchangeDeclaration::durable(exchange, "fanout")).unwrap();
        }
        broker.bind(service, &BindingDeclaration::exchange("source", "destination", "")).unwrap();
        assert_eq!(
            text(broker.delete_exchange(service, "source", true).unwrap_err()),
            (406, "PRECONDITION_FAILED - exchange 'source' in vhost 'probe' in use".into())
        );
        broker.delete_exchange(service, "destination", true).unwrap();
        broker.delete_exchange(service, "source", true).unwrap();
        broker.delete_queue(service, "quorum", DeleteQueue::ANYWAY).unwrap();
        assert_eq!(broker.state().canonical(), super::tests::broker(version).state().canonical());
    }
}

#[test]
fn bindings_answer_as_the_brokers_did() {
    for version in ALL {
        let mut broker = broker(version);
        let service = broker.connect();
        let mut refused = |binding: BindingDeclaration| {
            let refused = broker.bind(service, &binding).unwrap_err();
            (refused.code, refused.text)
        };
        let queue = BindingDeclaration::queue;
        assert_eq!(
            refused(queue("nope", "amq.direct", "k")),
            (404, "NOT_FOUND - no exchange 'nope' in vhost 'probe'".into())
        );
        assert_eq!(
            refused(queue("amq.direct", "a\nb", "k")),
            (404, "NOT_FOUND - no queue 'ab' in vhost 'probe'".into())
        );
        assert_eq!(
            refused(BindingDeclaration::exchange("nope-s", "nope-d", "k")),
            (404, "NOT_FOUND - no exchange 'nope-s' in vhost 'probe'".into())
        );
        for binding in
            [BindingDeclaration::exchange("", "amq.direct", "k"), BindingDeclaration::exchange("amq.direct", "", "k")]
        {
            assert_eq!(
                refused(binding),
                (403, "ACCESS_REFUSED - operation not permitted on the default exchange".into())
            );
        }
        broker.declare_queue(service, &QueueDeclaration::durable("q")).unwrap();
        let mut headers = |value: crate::value::Value| {
            let mut binding = queue("amq.headers", "q", "");
            binding.arguments.insert("x-match", value);
            broker.bind(service, &binding).map_err(|refused| refused.text)
        };
        assert_eq!(
            headers("bogus".into()),
            Err("PRECONDITION_FAILED - Invalid x-match field value <<\"bogus\">>; expected all, any, all-with-x, or any-with-x".into())
        );
        assert_eq!(
            headers(crate::value::Value::I32(1)),
            Err("PRECONDITION_FAILED - Invalid x-match field type signedint (value 1); expected longstr".into())
        );
        assert_eq!(headers("any-with-x".into()), Ok(()));
    }
}

#[test]
fn three_hashes_are_refused_from_4_3_5_on() {
    for (version, answer) in [(V4_0, Ok(())), (Version::new(4, 3, 4), Ok(())), (V4_3, Err(()))] {
        let mut broker = broker(version);
        let service = broker.connect();
        broker.declare_queue(service, &QueueDeclaration::durable("q")).unwrap();
        let bound = broker.bind(service, &BindingDeclaration::queue("amq.topic", "q", "#.#.#"));
        assert_eq!(bound.as_ref().map_err(|_| ()), answer.as_ref().map_err(|_| ()), "{version}");
        if let Err(refused) = bound {
            assert_eq!(
                refused.text,
                "PRECONDITION_FAILED - Topic binding key '#.#.#' uses 3 '#' wildcards, at most 2 are allowed"
            );
        }
    }
}

#[test]
fn auto_delete_exchanges_go_with_their_last_binding_one_after_the_other() {
    let mut broker = broker(V4_0);
    let service = broker.connect();
    for name in ["first", "second"] {
        let exchange = ExchangeDeclaration { auto_delete: true, ..ExchangeDeclaration::durable(name, "fanout") };
        broker.declare_exchange(service, &exchange).unwrap();
    }
    broker.declare_queue(service, &QueueDeclaration::durable("q")).unwrap();
    broker.bind(service, &BindingDeclaration::exchange("first", "second", "")).unwrap();
    let (one, two) = (BindingDeclaration::queue("second", "q", "1"), BindingDeclaration::queue("second", "q", "2"));
    broker.bind(service, &one).unwrap();
    broker.bind(service, &two).unwrap();
    broker.unbind(service, &one).unwrap();
    assert_eq!(broker.state().exchanges.len(), 2);
    broker.delete_queue(service, "q", DeleteQueue::ANYWAY).unwrap();
    assert!(broker.state().exchanges.is_empty());
    assert!(broker.state().bindings.is_empty());
}

#[test]
fn the_broker_names_queues_that_have_no_name_and_repeats_itself() {
    let name = |broker: &mut EmbeddedBroker| {
        let service = broker.connect();
        broker.declare_queue(service, &exclusive("")).unwrap().name
    };
    let (mut one, mut two) = (broker(V4_0), broker(V4_0));
    let given = name(&mut one);
    assert!(given.starts_with("amq.gen-") && given.len() == 30, "{given}");
    assert_eq!(given, name(&mut two));
    assert_ne!(given, name(&mut one));
}

#[test]
fn a_limit_counts_what_is_there() {
    let mut conditions = Conditions::new(V4_0, "probe");
    conditions.queue_limit = Some(crate::rabbitmq::Limit { maximum: 1, declared: 0 });
    let mut broker = EmbeddedBroker::new(conditions);
    let service = broker.connect();
    broker.declare_queue(service, &QueueDeclaration::durable("a")).unwrap();
    broker.declare_queue(service, &QueueDeclaration::durable("a")).unwrap();
    assert_eq!(
        broker.declare_queue(service, &QueueDeclaration::durable("b")).unwrap_err().text,
        "PRECONDITION_FAILED - cannot declare queue 'b': queue limit in vhost 'probe' (1) is reached"
    );
}

#[test]
fn what_the_user_may_not_configure_is_refused() {
    let mut conditions = Conditions::new(V4_0, "probe");
    conditions.user = "app".into();
    conditions.permissions = Permissions::new("^app\\.", ".*", ".*").unwrap();
    let mut broker = EmbeddedBroker::new(conditions);
    let service = broker.connect();
    broker.declare_queue(service, &QueueDeclaration::durable("app.q")).unwrap();
    for refused in [
        broker.declare_queue(service, &QueueDeclaration::durable("q")).unwrap_err(),
        broker.delete_queue(service, "q", DeleteQueue::ANYWAY).unwrap_err(),
    ] {
        assert_eq!(
            refused.text,
            "ACCESS_REFUSED - configure access to queue 'q' in vhost 'probe' refused for user 'app'"
        );
    }
}

#[test]
fn a_state_goes_in_and_comes_out_unchanged() {
    let mut state = State::empty(crate::rabbitmq::Broker::rabbitmq(V4_0), "probe");
    state.insert_exchange(ExchangeDeclaration::durable("e", "topic"));
    state.insert_queue(QueueDeclaration::durable("q").with("x-queue-type", "quorum"));
    state.bindings.insert(BindingDeclaration::queue("e", "q", "#"));
    let mut broker = EmbeddedBroker::holding(&state);
    assert_eq!(broker.state(), state);
    let service = broker.connect();
    assert_eq!(broker.declare_queue(service, &QueueDeclaration::durable("q")).unwrap_err().code, 406);
    assert_eq!(
        broker.declare_queue_passively(service, "q").unwrap(),
        QueueStatus { name: "q".into(), messages: 0, consumers: 0 }
    );
}
