//! False alarms: definitions as they are in good practice, from 5 to 1,000 queues. Nothing in them is an error, and whatever
//! else the audit remarks is true.

use crate::embedded;
use acemq_core::audit::{Code, Options, Severity, audit};
use acemq_core::rabbitmq::{
    BindingDeclaration, Broker, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration, Version,
};
use acemq_core::state::State;
use acemq_core::topology::Topology;
use acemq_core::value::{Table, Value};
use std::collections::BTreeSet;

/// A vhost that is put together object by object.
struct Vhost(State);

impl Vhost {
    fn new() -> Self {
        Self(State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/"))
    }

    fn exchange(&mut self, name: &str, kind: &str) -> &mut Self {
        self.0.insert_exchange(ExchangeDeclaration::durable(name, kind));
        self
    }

    fn alternate(&mut self, name: &str, kind: &str, alternate: &str) -> &mut Self {
        self.0.insert_exchange(ExchangeDeclaration::durable(name, kind).with("alternate-exchange", alternate));
        self
    }

    fn queue(&mut self, name: &str, arguments: &[(&str, Value)]) -> &mut Self {
        let mut queue = QueueDeclaration::durable(name);
        for (argument, value) in arguments {
            queue = queue.with(*argument, value.clone());
        }
        self.0.insert_queue(queue);
        self
    }

    fn bind(&mut self, exchange: &str, queue: &str, key: &str) -> &mut Self {
        self.0.bindings.insert(BindingDeclaration::queue(exchange, queue, key));
        self
    }

    fn chain(&mut self, exchange: &str, to: &str, key: &str) -> &mut Self {
        self.0.bindings.insert(BindingDeclaration::exchange(exchange, to, key));
        self
    }

    fn policy(&mut self, name: &str, pattern: &str, apply_to: &str, priority: i64, definition: Table) -> &mut Self {
        self.0.insert_policy(PolicyDeclaration {
            name: name.to_owned(),
            pattern: pattern.to_owned(),
            apply_to: apply_to.to_owned(),
            priority,
            definition,
        });
        self
    }
}

fn text(text: &str) -> Value {
    Value::text(text)
}

fn quorum() -> (&'static str, Value) {
    ("x-queue-type", text("quorum"))
}

/// Work queues that are published to by name, with dead-letter queues.
fn plain_work_queues() -> State {
    let mut vhost = Vhost::new();
    for name in ["mail", "invoice"] {
        let dead = format!("{name}.dlq");
        vhost
            .queue(name, &[quorum(), ("x-dead-letter-exchange", text("")), ("x-dead-letter-routing-key", text(&dead))]);
        vhost.queue(&dead, &[]);
    }
    vhost.queue("scratch", &[]);
    vhost.0
}

/// Services on a topic exchange, each with its key on a shared direct dead-letter exchange.
fn services_with_dead_letter_keys(services: usize) -> State {
    let mut vhost = Vhost::new();
    vhost.exchange("events", "topic").exchange("dead", "direct").exchange("unrouted", "fanout");
    vhost.alternate("events", "topic", "unrouted").queue("unrouted", &[]).bind("unrouted", "unrouted", "");
    for number in 0..services {
        let (name, dead) = (format!("service-{number}"), format!("service-{number}.dead"));
        vhost.queue(
            &name,
            &[quorum(), ("x-dead-letter-exchange", text("dead")), ("x-dead-letter-routing-key", text(&dead))],
        );
        vhost.queue(&dead, &[]).bind("dead", &dead, &dead);
        for pattern in ["order.*.eu", "order.paid.#", "customer.*"] {
            vhost.bind("events", &name, &pattern.replace("order", &format!("order{}", number % 7)));
        }
    }
    vhost.0
}

/// One dead-letter queue for all, behind a fanout.
fn shared_fanout() -> State {
    let mut vhost = Vhost::new();
    vhost.exchange("events", "topic").exchange("dlx", "fanout").queue("dead", &[]).bind("dlx", "dead", "");
    for number in 0..20 {
        let name = format!("q{number}");
        vhost.queue(&name, &[("x-dead-letter-exchange", text("dlx"))]);
        vhost.bind("events", &name, "#.created").bind("events", &name, &format!("audit.{number}.#"));
    }
    vhost.0
}

/// Dead letters keep their keys and are sorted by a topic exchange with a catch-all for the archive.
fn topic_dead_letters() -> State {
    let mut vhost = Vhost::new();
    vhost.exchange("events", "topic").exchange("dead", "topic").queue("archive", &[("x-queue-type", text("stream"))]);
    vhost.bind("dead", "archive", "#");
    for name in ["orders", "customers", "stock"] {
        let dead = format!("{name}.dead");
        vhost.queue(name, &[quorum(), ("x-dead-letter-exchange", text("dead"))]).queue(&dead, &[]);
        vhost.bind("events", name, &format!("{name}.*.#")).bind("dead", &dead, &format!("{name}.#"));
    }
    vhost.0
}

/// What this engine itself derives for queues with dead letters and retries.
fn derived_ladders(services: usize) -> State {
    let mut document = String::from("exchanges: { events: { type: topic } }\nqueues:\n");
    for number in 0..services {
        document.push_str(&format!("  s{number}: {{ dead_letter: true, retry: \"exponential(6, 10s, 5m)\" }}\n"));
    }
    document.push_str("bindings:\n");
    for number in 0..services {
        document.push_str(&format!("  - {{ queue: s{number}, exchange: events, routing_key: \"k{number}.*\" }}\n"));
    }
    let tables = Topology::from_yaml(&document).unwrap().into_tables().unwrap();
    State::of_tables(Broker::rabbitmq(Version::new(4, 0, 5)), "/", None, &tables)
}

/// Task workers: a direct exchange for each queue, priorities, event queues that go by themselves.
fn task_workers() -> State {
    let mut vhost = Vhost::new();
    vhost.exchange("celeryev", "topic").exchange("celery.pidbox", "fanout");
    for name in ["celery", "mail", "reports"] {
        vhost.exchange(name, "direct").queue(name, &[("x-max-priority", Value::I64(10))]).bind(name, name, name);
    }
    for number in 0..4 {
        let events = format!("celeryev.{number}");
        let box_ = format!("worker{number}.celery.pidbox");
        vhost
            .queue(&events, &[("x-expires", Value::I64(60_000)), ("x-message-ttl", Value::I64(5_000))])
            .bind("celeryev", &events, "#");
        vhost.queue(&box_, &[("x-expires", Value::I64(10_000)), ("x-message-ttl", Value::I64(300_000))]).bind(
            "celery.pidbox",
            &box_,
            "",
        );
        for name in [&events, &box_] {
            let queue = vhost.0.queues.get_mut(name).unwrap();
            (queue.auto_delete, queue.durable) = (true, false);
        }
    }
    vhost.0
}

/// An exchange for each message type and one for each endpoint, chained; errors are published by the library.
fn message_type_exchanges() -> State {
    let mut vhost = Vhost::new();
    for service in ["ordering", "billing", "shipping"] {
        vhost
            .exchange(service, "fanout")
            .queue(service, &[quorum(), ("x-delivery-limit", Value::I64(-1))])
            .bind(service, service, "");
        for suffix in ["_error", "_skipped"] {
            let name = format!("{service}{suffix}");
            vhost.exchange(&name, "fanout").queue(&name, &[]).bind(&name, &name, "");
        }
        for message in ["OrderPlaced", "OrderPaid"] {
            let kind = format!("Contracts:{message}");
            vhost.exchange(&kind, "fanout").chain(&kind, service, "");
        }
    }
    vhost.0
}

/// Delays as binary digits in the key: 28 levels of topic exchanges and queues, each twice as long as the next.
fn binary_delays() -> State {
    let mut vhost = Vhost::new();
    let level = |number: usize| format!("delay-level-{number:02}");
    vhost.exchange("delivery", "topic");
    for number in (0..28).rev() {
        let name = level(number);
        let next = if number == 0 { "delivery".to_owned() } else { level(number - 1) };
        let ttl = 1_000_i64 << number;
        vhost.exchange(&name, "topic");
        vhost.queue(&name, &[quorum(), ("x-message-ttl", Value::I64(ttl)), ("x-dead-letter-exchange", text(&next))]);
        let stars = "*.".repeat(27 - number);
        vhost.bind(&name, &name, &format!("{stars}1.#")).chain(&name, &next, &format!("{stars}0.#"));
    }
    for endpoint in ["sales", "billing"] {
        vhost.exchange(endpoint, "fanout").queue(endpoint, &[quorum(), ("x-delivery-limit", Value::I64(-1))]);
        vhost.bind(endpoint, endpoint, "").chain("delivery", endpoint, &format!("#.{endpoint}"));
    }
    vhost.0
}

/// The same where each level keeps a message until the next one has it, as NServiceBus and Celery declare it.
fn binary_delays_kept() -> State {
    let mut state = binary_delays();
    for queue in state.queues.values_mut().filter(|queue| queue.name.starts_with("delay-level-")) {
        queue.arguments.insert("x-dead-letter-strategy", "at-least-once");
        queue.arguments.insert("x-overflow", "reject-publish");
    }
    state
}

/// Delay queues that are made for each delay and go when they are not used.
fn queues_for_each_delay() -> State {
    let mut vhost = Vhost::new();
    vhost
        .exchange("messages", "fanout")
        .exchange("delays", "direct")
        .queue("messages", &[])
        .bind("messages", "messages", "");
    for delay in [1_000, 2_000, 4_000, 60_000] {
        let name = format!("delay_messages__{delay}_delay");
        let arguments = [
            ("x-message-ttl", Value::I64(delay)),
            ("x-expires", Value::I64(delay + 10_000)),
            ("x-dead-letter-exchange", text("messages")),
            ("x-dead-letter-routing-key", text("")),
        ];
        vhost.queue(&name, &arguments).bind("delays", &name, &name);
    }
    vhost.0
}

/// Rejected messages wait in a queue and come back through an exchange of their own; the worker gives up by publishing.
fn retries_by_exchange() -> State {
    let mut vhost = Vhost::new();
    vhost.exchange("events", "topic");
    for worker in ["mailer", "indexer"] {
        let (retry, requeue, error) =
            (format!("{worker}-retry"), format!("{worker}-retry-requeue"), format!("{worker}-error"));
        vhost.exchange(&retry, "topic").exchange(&requeue, "topic").exchange(&error, "topic");
        vhost.queue(worker, &[("x-dead-letter-exchange", text(&retry))]).bind("events", worker, &format!("{worker}.#"));
        vhost
            .queue(&retry, &[("x-message-ttl", Value::I64(60_000)), ("x-dead-letter-exchange", text(&requeue))])
            .bind(&retry, &retry, "#");
        vhost.bind(&requeue, worker, "#").queue(&error, &[]).bind(&error, &error, "#");
    }
    vhost.0
}

/// Subscriptions of devices and browsers.
fn subscriptions() -> State {
    let mut vhost = Vhost::new();
    for number in 0..200 {
        let name = format!("mqtt-subscription-client{number}qos1");
        vhost.queue(&name, &[("x-expires", Value::I64(86_400_000))]).bind(
            "amq.topic",
            &name,
            &format!("devices.{number}.*.state"),
        );
        if number % 3 == 0 {
            let server_named = format!("amq.gen-{number:022}");
            vhost.queue(&server_named, &[]).bind("amq.topic", &server_named, "alerts.#");
            vhost.0.queues.get_mut(&server_named).unwrap().exclusive = true;
        }
    }
    vhost.0
}

/// A thousand quorum queues whose limits and dead letters come from policies.
fn governed_by_policies() -> State {
    let mut vhost = Vhost::new();
    vhost.exchange("dlx", "fanout").queue("dead", &[]).bind("dlx", "dead", "").exchange("events", "topic");
    for number in 0..1_000 {
        let name = format!("tenant-{number}.inbox");
        vhost.queue(&name, &[quorum()]).bind("events", &name, &format!("tenant.{number}.#"));
    }
    let definition = Table::from([
        ("max-length", Value::I64(100_000)),
        ("dead-letter-exchange", text("dlx")),
        ("delivery-limit", Value::I64(10)),
    ]);
    vhost.policy("tenants", "^tenant-", "quorum_queues", 10, definition);
    vhost.policy("classic", ".*", "classic_queues", 0, Table::from([("max-length", Value::I64(1_000_000))]));
    vhost.0
}

/// Headers routing with criteria, an alternate for the rest, streams beside.
fn by_headers() -> State {
    let mut vhost = Vhost::new();
    vhost.alternate("documents", "headers", "rest").exchange("rest", "fanout").exchange("log", "fanout");
    vhost
        .queue("rest", &[])
        .bind("rest", "rest", "")
        .queue("log", &[("x-queue-type", text("stream")), ("x-max-age", text("7D"))])
        .bind("log", "log", "");
    for (queue, class) in [("pdf", "application/pdf"), ("images", "image/png"), ("texts", "text/plain")] {
        vhost.queue(queue, &[("x-dead-letter-exchange", text("log"))]);
        let arguments = Table::from([("x-match", text("all")), ("type", text(class))]);
        vhost.0.bindings.insert(BindingDeclaration { arguments, ..BindingDeclaration::queue("documents", queue, "") });
    }
    vhost.0
}

/// Callers with a reply queue each that goes with them, and servers that are called by name.
fn remote_calls() -> State {
    let mut vhost = Vhost::new();
    vhost.exchange("rpc", "direct");
    for service in ["prices", "stock", "addresses"] {
        let name = format!("rpc.{service}");
        vhost.queue(&name, &[("x-message-ttl", Value::I64(30_000))]).bind("rpc", &name, service);
    }
    for number in 0..60 {
        let name = format!("amq.gen-reply{number:017}");
        vhost.queue(&name, &[("x-expires", Value::I64(60_000))]);
        let queue = vhost.0.queues.get_mut(&name).unwrap();
        (queue.exclusive, queue.auto_delete, queue.durable) = (true, true, false);
    }
    vhost.0
}

/// Consumer groups of a stream binder: a destination exchange, a queue for each group, a shared dead-letter exchange.
fn consumer_groups() -> State {
    let mut vhost = Vhost::new();
    vhost.exchange("DLX", "direct");
    for destination in ["orders", "invoices", "shipments"] {
        vhost.exchange(destination, "topic");
        for group in ["audit", "search", "mail"] {
            let name = format!("{destination}.{group}");
            let dead = format!("{name}.dlq");
            vhost.queue(&name, &[("x-dead-letter-exchange", text("DLX")), ("x-dead-letter-routing-key", text(&name))]);
            vhost.queue(&dead, &[]).bind(destination, &name, "#").bind("DLX", &dead, &name);
        }
    }
    vhost.0
}

/// Tasks with a time to run: one delayed exchange of the plugin, dead letters by key.
fn delayed_by_plugin() -> State {
    let mut vhost = Vhost::new();
    let delayed = ExchangeDeclaration::durable("schedule", "x-delayed-message").with("x-delayed-type", "topic");
    vhost.0.insert_exchange(delayed);
    vhost.exchange("failed", "direct");
    for task in ["reminders", "renewals", "cleanups"] {
        let dead = format!("{task}.failed");
        vhost.queue(
            task,
            &[quorum(), ("x-dead-letter-exchange", text("failed")), ("x-dead-letter-routing-key", text(&dead))],
        );
        vhost.queue(&dead, &[]).bind("schedule", task, &format!("{task}.#")).bind("failed", &dead, &dead);
    }
    vhost.0
}

/// The receiving end of a federation, with the exchanges and queues that the plugin keeps for itself.
fn federated() -> State {
    let mut vhost = Vhost::new();
    vhost.exchange("events", "topic");
    vhost
        .queue("reports", &[])
        .bind("events", "reports", "report.#")
        .queue("work", &[])
        .bind("events", "work", "work.*");
    for place in ["oslo", "lima"] {
        let name = format!("federation: events -> {place}");
        let inner = format!("federation: events -> {place} A");
        vhost.queue(&name, &[("x-expires", Value::I64(1_800_000))]);
        let mut exchange = ExchangeDeclaration::durable(&inner, "x-federation-upstream");
        exchange.internal = true;
        exchange.auto_delete = true;
        vhost.0.insert_exchange(exchange.with("x-internal-purpose", "federation"));
        vhost.chain("events", &inner, "report.#").bind(&inner, &name, "report.#");
    }
    vhost.policy("fed", "^events$", "exchanges", 1, Table::from([("federation-upstream-set", text("all"))]));
    vhost.0
}

/// Devices over MQTT: a queue for each session, one exchange, a stream that keeps everything, retained sessions for a day.
fn devices(sessions: usize) -> State {
    let mut vhost = Vhost::new();
    vhost.queue("telemetry", &[("x-queue-type", text("stream")), ("x-max-length-bytes", Value::I64(20_000_000_000))]);
    vhost.bind("amq.topic", "telemetry", "devices.*.telemetry.#");
    for number in 0..sessions {
        let name = format!("mqtt-subscription-device{number}qos1");
        match number % 2 {
            0 => vhost.queue(&name, &[quorum(), ("x-delivery-limit", Value::I64(-1))]),
            _ => vhost.queue(&name, &[("x-expires", Value::I64(86_400_000))]),
        };
        vhost.bind("amq.topic", &name, &format!("devices.{number}.commands.#")).bind("amq.topic", &name, "broadcast.#");
    }
    vhost.0
}

/// A ladder of waits by hand, each back to the work by name, and a parking place at its end.
fn ladders_by_name(services: usize) -> State {
    let mut vhost = Vhost::new();
    vhost.exchange("events", "topic").exchange("retry", "direct");
    for number in 0..services {
        let work = format!("svc{number}");
        vhost.queue(
            &work,
            &[
                quorum(),
                ("x-dead-letter-exchange", text("")),
                ("x-dead-letter-routing-key", text(&format!("{work}.failed"))),
            ],
        );
        vhost.bind("events", &work, &format!("svc{number}.*")).queue(&format!("{work}.failed"), &[]);
        for seconds in [5, 30, 300] {
            let wait = format!("{work}.retry.{seconds}s");
            let arguments = [
                ("x-message-ttl", Value::I64(seconds * 1_000)),
                ("x-dead-letter-exchange", text("")),
                ("x-dead-letter-routing-key", text(&work)),
            ];
            vhost.queue(&wait, &arguments).bind("retry", &wait, &wait);
        }
    }
    vhost.0
}

/// Partitions by a hash of the key, each with one consumer at a time, and one place for what fails.
fn partitions() -> State {
    let mut vhost = Vhost::new();
    vhost.exchange("meter", "topic").exchange("meter.hash", "x-consistent-hash").exchange("meter.dead", "fanout");
    vhost.chain("meter", "meter.hash", "reading.#").queue("meter.dead", &[]).bind("meter.dead", "meter.dead", "");
    for number in 0..16 {
        let name = format!("meter.{number:02}");
        let arguments =
            [quorum(), ("x-single-active-consumer", Value::Bool(true)), ("x-dead-letter-exchange", text("meter.dead"))];
        vhost.queue(&name, &arguments).bind("meter.hash", &name, "10");
    }
    vhost.0
}

/// Dead letters kept at least once, as the guide for quorum queues has it.
fn at_least_once() -> State {
    let mut vhost = Vhost::new();
    vhost
        .exchange("payments", "topic")
        .exchange("payments.dead", "topic")
        .queue("payments.dead", &[quorum(), ("x-delivery-limit", Value::I64(-1))]);
    vhost.bind("payments.dead", "payments.dead", "#");
    for name in ["card", "bank", "wallet"] {
        let queue = format!("payments.{name}");
        vhost.queue(&queue, &[quorum(), ("x-dead-letter-exchange", text("payments.dead"))]).bind(
            "payments",
            &queue,
            &format!("{name}.#"),
        );
    }
    let definition = Table::from([
        ("dead-letter-strategy", text("at-least-once")),
        ("overflow", text("reject-publish")),
        ("max-length", Value::I64(500_000)),
        ("delivery-limit", Value::I64(5)),
    ]);
    vhost.policy("payments", "^payments\\.(card|bank|wallet)$", "quorum_queues", 5, definition);
    vhost.0
}

fn all() -> Vec<(&'static str, State)> {
    vec![
        ("plain work queues", plain_work_queues()),
        ("services with dead-letter keys", services_with_dead_letter_keys(40)),
        ("five hundred services", services_with_dead_letter_keys(250)),
        ("a shared fanout", shared_fanout()),
        ("topic dead letters", topic_dead_letters()),
        ("derived ladders", derived_ladders(30)),
        ("task workers", task_workers()),
        ("message type exchanges", message_type_exchanges()),
        ("binary delays", binary_delays()),
        ("binary delays kept", binary_delays_kept()),
        ("queues for each delay", queues_for_each_delay()),
        ("retries by exchange", retries_by_exchange()),
        ("subscriptions", subscriptions()),
        ("governed by policies", governed_by_policies()),
        ("by headers", by_headers()),
        ("remote calls", remote_calls()),
        ("consumer groups", consumer_groups()),
        ("delayed by plugin", delayed_by_plugin()),
        ("federated", federated()),
        ("devices", devices(100)),
        ("a thousand devices", devices(1_000)),
        ("ladders by name", ladders_by_name(25)),
        ("partitions", partitions()),
        ("at least once", at_least_once()),
    ]
}

#[test]
fn good_definitions_have_no_error() {
    for (name, state) in all() {
        for version in ["3.10.8", "3.13.7", "4.0.5", "4.3.6"] {
            let state = State { broker: Broker::rabbitmq(version.parse().unwrap()), ..state.clone() };
            let report = audit(&state, &Options::default());
            assert!(!report.reaches(Severity::Error), "{name} on {version}:\n{}", report.to_text(Severity::Error));
        }
    }
}

/// What an operator would want to be told of them all the same.
const WARNED: [(&str, Code); 4] = [
    // A key with fewer digits than there are levels falls through; clients of the library never publish one.
    ("binary delays", Code::DeadLetterLostForSome),
    ("binary delays kept", Code::DeadLetterBlocked),
    // The worker counts and gives up, which the definitions do not show.
    ("retries by exchange", Code::RetryNeverEnds),
    // A limit for every classic queue is one for the dead letters as well.
    ("governed by policies", Code::DeadLetterQueueBounded),
];

#[test]
fn good_definitions_have_few_warnings_and_each_is_meant() {
    for (name, state) in all() {
        let report = audit(&state, &Options::default());
        let found: BTreeSet<Code> = report
            .findings
            .iter()
            .filter(|finding| finding.severity >= Severity::Warning)
            .map(|finding| finding.code)
            .collect();
        let meant = WARNED.iter().filter(|(of, _)| *of == name).map(|(_, code)| *code).collect();
        assert_eq!(found, meant, "{name}: {}", report.to_text(Severity::Warning));
    }
}

#[test]
fn whatever_is_remarked_on_them_is_true() {
    for (name, state) in all().into_iter().filter(|(_, state)| state.queues.len() < 150) {
        for finding in audit(&state, &Options::default()).findings {
            if let Some(example) = &finding.example {
                let held = embedded::play(&state, example);
                assert_eq!(held, Ok(embedded::expected(example)), "{name}: {}\n{example:#?}", finding.message);
            }
        }
    }
}
