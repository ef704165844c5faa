//! What an upgrade refuses, ignores or changes: each row of the list is found with `target`, and asked of real brokers where
//! one can answer.

use crate::cases;
use acemq_core::audit::{Code, Options, audit};
use acemq_core::rabbitmq::{Broker, QueueDeclaration, Version};
use acemq_core::state::State;
use acemq_tests::amqp::{Channel, Publish, QueueRequest};
use acemq_tests::on_every_broker;
use serde_json::json;
use std::time::{Duration, Instant};

/// From, to, what is there, and the finding; without one the upgrade changes nothing about it.
const GATES: [(&str, &str, &str, &str, Option<Code>); 26] = [
    ("transient queue, before it is denied", "3.13.7", "4.2.1", "queue q transient", None),
    ("transient queue", "4.2.1", "4.3.0", "queue q transient", Some(Code::UpgradeTransientQueue)),
    ("transient queue, by a jump", "3.8.34", "4.3.6", "queue q transient", Some(Code::UpgradeTransientQueue)),
    ("transient queue, denied already", "4.3.0", "4.3.6", "queue q transient", None),
    ("mirroring", "3.13.7", "4.0.5", r#"policy ha ".*" all 0 {"ha-mode": "all"}"#, Some(Code::UpgradeMirroring)),
    ("mirroring, within 3", "3.8.34", "3.13.7", r#"policy ha ".*" all 0 {"ha-mode": "all"}"#, None),
    (
        "mirroring by an operator",
        "3.13.7",
        "4.0.5",
        r#"operator ha ".*" all 0 {"ha-mode": "all"}"#,
        Some(Code::UpgradeMirroring),
    ),
    ("lazy mode", "3.11.28", "3.12.14", r#"queue q {"x-queue-mode": "lazy"}"#, Some(Code::UpgradeIgnores)),
    (
        "lazy mode by policy",
        "3.11.28",
        "4.3.6",
        r#"policy lazy ".*" queues 0 {"queue-mode": "lazy"}"#,
        Some(Code::UpgradeIgnores),
    ),
    ("lazy mode, ignored already", "3.12.14", "4.3.6", r#"queue q {"x-queue-mode": "lazy"}"#, None),
    (
        "messages in memory",
        "3.9.29",
        "3.10.8",
        r#"queue q quorum {"x-max-in-memory-length": 5}"#,
        Some(Code::UpgradeIgnores),
    ),
    ("a queue version of its own", "4.2.1", "4.3.0", r#"queue q {"x-queue-version": 1}"#, Some(Code::UpgradeRefuses)),
    (
        "a locator of mirrored queues",
        "4.2.1",
        "4.3.0",
        r#"queue q {"x-queue-master-locator": "min-masters"}"#,
        Some(Code::UpgradeRefuses),
    ),
    (
        "a time to live past the limit",
        "3.10.1",
        "3.10.8",
        r#"queue q {"x-message-ttl": 315360000001}"#,
        Some(Code::UpgradeRefuses),
    ),
    (
        "a foreign argument that was unknown",
        "4.2.1",
        "4.3.2",
        r#"queue q {"x-consumer-timeout": 60000}"#,
        Some(Code::UpgradeRefuses),
    ),
    ("the default delivery limit", "3.13.7", "4.0.0", "queue q quorum", Some(Code::UpgradeDeliveryLimit)),
    ("a delivery limit of its own", "3.13.7", "4.0.0", r#"queue q quorum {"x-delivery-limit": 5}"#, None),
    (
        "no delivery limit by policy",
        "3.13.7",
        "4.0.0",
        r#"queue q quorum
        policy none ".*" quorum_queues 0 {"delivery-limit": -1}"#,
        None,
    ),
    ("put back by nack", "4.0.5", "4.3.0", r#"queue q quorum {"x-delivery-limit": 5}"#, Some(Code::UpgradeUncounted)),
    ("three #", "4.3.4", "4.3.5", "queue q\nbind amq.topic -> q \"#.a.#.b.#\"", Some(Code::UpgradeTooManyHashes)),
    ("two #", "4.3.4", "4.3.5", "queue q\nbind amq.topic -> q \"#.a.#\"", None),
    (
        "a fraction in headers",
        "3.12.14",
        "3.13.0",
        "queue q\nbind amq.headers -> q \"\" {\"size\": 5.5}",
        Some(Code::UpgradeHeaders),
    ),
    (
        "policy keys that became foreign",
        "3.12.6",
        "3.12.7",
        r#"queue q
        policy p ".*" queues 0 {"max-length": 10, "target-group-size": 3}"#,
        Some(Code::UpgradeSettingChanges),
    ),
    (
        "policy keys that are supported now",
        "3.13.7",
        "4.0.0",
        r#"queue q
        policy p ".*" queues 0 {"max-length": 10, "queue-leader-locator": "balanced"}"#,
        Some(Code::UpgradeSettingChanges),
    ),
    (
        "the smaller x-expires of a quorum queue",
        "3.13.7",
        "4.0.0",
        r#"queue q quorum {"x-expires": 60000, "x-delivery-limit": 5}
        policy p ".*" queues 0 {"expires": 90000}"#,
        Some(Code::UpgradeSettingChanges),
    ),
    (
        "a limit that says the same",
        "3.13.7",
        "4.0.0",
        r#"queue q {"x-max-length": 10}
        policy p ".*" queues 0 {"max-length": 20}"#,
        None,
    ),
];

#[test]
fn each_change_of_a_version_is_told_with_the_upgrade_that_brings_it_and_no_other() {
    for (name, from, to, lines, wanted) in GATES {
        let state = State { broker: Broker::rabbitmq(from.parse().unwrap()), ..cases::state(lines) };
        let target = Some(to.parse().unwrap());
        let findings = audit(&state, &Options { target, ..Options::default() }).findings;
        let upgrade: Vec<Code> =
            findings.iter().map(|finding| finding.code).filter(|code| code.as_str().starts_with("upgrade_")).collect();
        assert_eq!(upgrade, wanted.into_iter().collect::<Vec<Code>>(), "{name}: {findings:#?}");
        // Without a target nothing is said about upgrades.
        let findings = audit(&state, &Options::default()).findings;
        assert!(!findings.iter().any(|finding| finding.code.as_str().starts_with("upgrade_")), "{name}");
    }
}

on_every_broker! {
    fn each_version_does_what_the_findings_of_an_upgrade_to_it_say(node) {
        let version = node.version();
        let at_least = |text: &str| version >= text.parse::<Version>().unwrap();
        let vhost = node.fresh_vhost();
        let connection = vhost.connect();
        let declared = |queue: QueueDeclaration| connection_declares(&vhost, &queue);

        // Refused from 4.3 on, except where a distribution permits the deprecated feature.
        assert_eq!(declared(QueueDeclaration::durable("version").with("x-queue-version", 1_i64)), !at_least("4.3.0"));
        assert_eq!(declared(QueueDeclaration::durable("timeout").with("x-consumer-timeout", 60_000_i64)), !at_least("4.3.2"));
        if !at_least("4.3.0") {
            assert!(declared(QueueDeclaration::durable("locator").with("x-queue-master-locator", "min-masters")));
            let mut transient = QueueDeclaration::durable("transient");
            transient.durable = false;
            assert!(declared(transient));
        }
        // Ignored, and still compared.
        assert!(declared(QueueDeclaration::durable("lazy").with("x-queue-mode", "lazy")));
        assert!(!declared(QueueDeclaration::durable("lazy")));
        let bounded = QueueDeclaration::durable("memory").with("x-queue-type", "quorum");
        assert!(declared(bounded.with("x-max-in-memory-length", 5_i64)));

        // Policies that mirror are refused from 4.0 on.
        let path = format!("/api/policies/{}/ha", acemq_tests::management::path_segment(vhost.name()));
        let mirrored = json!({"pattern": "^none$", "apply-to": "queues", "priority": 0, "definition": {"ha-mode": "all"}});
        assert_eq!(node.management().put(&path, &mirrored).is_ok(), !at_least("4.0.0"));

        // One foreign key keeps the whole policy off a classic queue from 3.12.7 on.
        let limits = json!({"pattern": "^limited$", "apply-to": "queues", "priority": 0,
            "definition": {"max-length": 1, "max-in-memory-length": 5}});
        vhost.set_policy("limits", &limits);
        assert!(declared(QueueDeclaration::durable("limited").with("x-queue-type", "classic")));
        let channel = connection.channel().unwrap();
        channel.confirm_select().unwrap();
        for _ in 0..3 {
            channel.publish_confirmed(&Publish::to("", "limited").body("a message")).unwrap();
        }
        let held = if at_least("3.12.7") { 3 } else { 1 };
        wait(|| count(&channel, "limited") == held);

        // Three # in a pattern are refused from 4.3.5 on.
        let hashes = acemq_core::rabbitmq::BindingDeclaration::queue("amq.topic", "limited", "#.a.#.b.#");
        assert_eq!(connection.channel().unwrap().bind(&hashes).is_ok(), !at_least("4.3.5"));

        // What is put back by nack counts until 4.3, and what is rejected counts everywhere.
        for (name, by_reject) in [("nacked", false), ("rejected", true)] {
            let queue = QueueDeclaration::durable(name).with("x-queue-type", "quorum").with("x-delivery-limit", 2_i64);
            assert!(declared(queue));
            channel.publish_confirmed(&Publish::to("", name).body("a message")).unwrap();
            for _ in 0..3 {
                put_back(&channel, name, by_reject);
            }
            let kept = u32::from(!by_reject && at_least("4.3.0"));
            wait(|| count(&channel, name) == kept);
        }
        // The default limit is there from 4.0 on.
        assert!(declared(QueueDeclaration::durable("unlimited").with("x-queue-type", "quorum")));
        channel.publish_confirmed(&Publish::to("", "unlimited").body("a message")).unwrap();
        for _ in 0..21 {
            put_back(&channel, "unlimited", true);
        }
        wait(|| count(&channel, "unlimited") == u32::from(!at_least("4.0.0")));
    }
}

fn connection_declares(vhost: &acemq_tests::broker::Vhost<'_>, queue: &QueueDeclaration) -> bool {
    // Some refusals close the connection.
    let connection = vhost.connect();
    connection.channel().unwrap().declare_queue(queue).is_ok()
}

fn put_back(channel: &Channel, queue: &str, by_reject: bool) {
    wait(|| {
        let Some(delivery) = channel.get(queue, false).unwrap() else { return false };
        match by_reject {
            true => channel.reject(delivery.delivery_tag, true).unwrap(),
            false => channel.nack(delivery.delivery_tag, false, true).unwrap(),
        }
        true
    });
}

fn count(channel: &Channel, queue: &str) -> u32 {
    channel.declare_queue(QueueRequest::passive(queue)).unwrap().messages
}

fn wait(mut until: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !until() {
        assert!(Instant::now() < deadline, "it did not come to that in time");
        std::thread::sleep(Duration::from_millis(20));
    }
}
