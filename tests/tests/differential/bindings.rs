//! Binding and unbinding: every kind of source and destination, rights, keys and `x-match` values.

use acemq_core::rabbitmq::{
    BindingDeclaration, Conditions, DestinationType, ExchangeDeclaration, Permissions, QueueDeclaration, bind, unbind,
};
use acemq_core::value::Value;
use acemq_tests::amqp::Connection;
use acemq_tests::answer::Answer;
use acemq_tests::broker::Vhost;
use acemq_tests::on_every_broker;

/// What there is: exchanges by name and type, a queue, and a queue that another connection has for itself.
const EXCHANGES: [(&str, &str); 6] = [
    ("direct", "direct"),
    ("fanout", "fanout"),
    ("topic", "topic"),
    ("headers", "headers"),
    ("it's", "topic"),
    ("other", "direct"),
];
const SOURCES: [&str; 9] = ["direct", "fanout", "topic", "headers", "it's", "amq.topic", "amq.match", "", "nowhere"];
const DESTINATIONS: [(DestinationType, &str); 7] = [
    (DestinationType::Queue, "q"),
    (DestinationType::Queue, "locked"),
    (DestinationType::Queue, "no-such-queue"),
    (DestinationType::Exchange, "other"),
    (DestinationType::Exchange, "amq.fanout"),
    (DestinationType::Exchange, ""),
    (DestinationType::Exchange, "no-such-exchange"),
];

on_every_broker! {
    fn the_engine_predicts_the_answer_to_a_binding(node) {
        let vhost = node.fresh_vhost();
        let _owner = prepare(&vhost);
        let mut asker = Asker::new(&vhost, ["guest", ".*", ".*", ".*"]);
        for binding in bindings() {
            asker.compare(&binding);
        }
        asker.finish();
    }

    fn the_engine_predicts_which_right_a_binding_lacks(node) {
        let vhost = node.fresh_vhost();
        let _owner = prepare(&vhost);
        for (write, read) in [("^$", ".*"), (".*", "^$"), ("^$", "^$"), ("^(q|other)$", "^topic$"), ("amq.default", ".*")] {
            vhost.user("limited", "^$", write, read);
            let mut asker = Asker::new(&vhost, ["limited", "^$", write, read]);
            for binding in places("key") {
                asker.compare(&binding);
            }
            asker.finish();
        }
    }
}

/// Declares what there is; the connection keeps the locked queue.
fn prepare(vhost: &Vhost<'_>) -> Connection {
    let owner = vhost.connect();
    let channel = owner.channel().unwrap();
    for (name, kind) in EXCHANGES {
        channel.declare_exchange(&ExchangeDeclaration::durable(name, kind)).unwrap();
    }
    channel.declare_queue(&QueueDeclaration::durable("q")).unwrap();
    channel.declare_queue(&QueueDeclaration { exclusive: true, ..QueueDeclaration::durable("locked") }).unwrap();
    owner
}

/// Each source with each destination.
fn places(key: &str) -> Vec<BindingDeclaration> {
    let of = |source: &str, (kind, destination): (DestinationType, &str)| match kind {
        DestinationType::Queue => BindingDeclaration::queue(source, destination, key),
        DestinationType::Exchange => BindingDeclaration::exchange(source, destination, key),
    };
    SOURCES.iter().flat_map(|source| DESTINATIONS.map(|destination| of(source, destination))).collect()
}

fn bindings() -> Vec<BindingDeclaration> {
    let mut bindings = Vec::new();
    for key in ["", "a.b", "#.#", "#.a.#.#", "#.#.#.#", "a#.##.#a.#", "zusätzlich.#.#.#"] {
        bindings.extend(places(key));
    }
    let values = [
        Value::text("all"),
        Value::text("any"),
        Value::text("all-with-x"),
        Value::text("any-with-x"),
        Value::text("some"),
        Value::text(""),
        Value::text("zusätzlich"),
        Value::Binary(b"all".to_vec()),
        Value::Bool(true),
        Value::I32(5),
        Value::I64(-1),
        Value::F64(0.5),
        Value::Void,
        Value::Timestamp(7),
        Value::Array(vec![Value::text("all")]),
    ];
    for value in values {
        for mut binding in places("") {
            binding.arguments.insert("x-match", value.clone());
            bindings.push(binding);
        }
    }
    bindings
}

struct Asker<'a> {
    vhost: &'a Vhost<'a>,
    user: &'static str,
    conditions: Conditions,
    connection: Connection,
    disagreements: Vec<String>,
}

impl<'a> Asker<'a> {
    fn new(vhost: &'a Vhost<'a>, [user, configure, write, read]: [&'static str; 4]) -> Self {
        let mut conditions = Conditions::new(vhost.node().version(), vhost.name());
        conditions.user = user.to_owned();
        conditions.permissions = Permissions::new(configure, write, read).unwrap();
        Self { vhost, user, conditions, connection: vhost.connect_as(user, user), disagreements: Vec::new() }
    }

    /// Binds and unbinds.
    fn compare(&mut self, binding: &BindingDeclaration) {
        let source = exchange(&binding.source);
        let destination = binding.destination.as_str();
        let there = match binding.destination_type {
            DestinationType::Queue => ["q", "locked"].contains(&destination),
            DestinationType::Exchange => exchange(destination).is_some(),
        };
        let locked = destination == "locked";
        let predicted = Answer::predicted(bind(&self.conditions, binding, source.as_ref(), there, locked));
        let answer = Answer::given(self.connection.channel().unwrap().bind(binding)).unwrap();
        self.note("bind", binding, &answer, &predicted);

        // No binding of the locked queue was ever made, and what is not there cannot be locked.
        let predicted = Answer::predicted(unbind(&self.conditions, binding, false));
        let answer = Answer::given(self.connection.channel().unwrap().unbind(binding)).unwrap();
        self.note("unbind", binding, &answer, &predicted);
    }

    fn note(&mut self, what: &str, binding: &BindingDeclaration, answer: &Answer, predicted: &Answer) {
        if answer != predicted {
            let binding = binding.canonical();
            self.disagreements.push(format!("{what} {binding}\n  broker:    {answer}\n  predicted: {predicted}"));
        }
        if answer.closes_the_connection() {
            self.connection = self.vhost.connect_as(self.user, self.user);
        }
    }

    fn finish(self) {
        assert!(self.disagreements.is_empty(), "{}:\n{}", self.conditions.version, self.disagreements.join("\n"));
    }
}

fn exchange(name: &str) -> Option<ExchangeDeclaration> {
    let predeclared = [("amq.topic", "topic"), ("amq.match", "headers"), ("amq.fanout", "fanout")];
    let (name, kind) = EXCHANGES.iter().chain(&predeclared).find(|(known, _)| *known == name)?;
    Some(ExchangeDeclaration::durable(*name, *kind))
}
