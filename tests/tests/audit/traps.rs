//! What looks like a fault and is none: vhosts in the shapes of published definitions, about which the audit is silent.

use crate::cases;
use acemq_core::audit::{Code, Options, Report, Severity, audit};
use acemq_core::definitions::{Overrides, read};
use acemq_core::rabbitmq::Broker;
use acemq_core::state::State;
use std::collections::BTreeSet;

fn on(version: &str, lines: &str) -> Report {
    let state = State { broker: Broker::rabbitmq(version.parse().unwrap()), ..cases::state(lines) };
    audit(&state, &Options::default())
}

fn of_file(text: &str) -> Report {
    let state = read(text.as_bytes()).unwrap().state(None, &Overrides::default()).unwrap();
    audit(&state, &Options::default())
}

#[track_caller]
fn silent(report: &Report) {
    assert!(report.findings.is_empty(), "{}", report.to_text(Severity::Info));
}

#[track_caller]
fn only(report: &Report, codes: &[Code]) {
    let found: BTreeSet<Code> = report.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(found, codes.iter().copied().collect(), "{}", report.to_text(Severity::Info));
}

#[test]
fn policies_of_one_priority_with_patterns_that_never_meet_are_no_tie() {
    let lines = r#"
        exchange tenants topic
        queue tenant-a-1
        queue tenant-b-1
        bind tenants -> tenant-a-1 "a"
        bind tenants -> tenant-b-1 "b"
        policy a "^tenant-a-" queues 1 {"max-length": 10}
        policy b "^tenant-b-" queues 1 {"max-length": 20}
    "#;
    silent(&on("3.6.16", lines));
    // The same two are a tie for a name that both match.
    let both = format!("{lines}\nqueue tenant-a-tenant-b-\npolicy b \"tenant-b-\" queues 1 {{\"max-length\": 20}}");
    assert!(on("3.6.16", &both).findings.iter().any(|finding| finding.code == Code::PolicyTie));
}

#[test]
fn keys_that_a_broker_of_its_time_knew_are_not_unknown_there() {
    silent(&on(
        "3.6.16",
        r#"
        exchange jobs direct
        queue jobs.mail
        bind jobs -> jobs.mail "mail"
        policy mirrored "^jobs" queues 0 {"ha-mode": "exactly", "ha-params": 2, "ha-sync-mode": "automatic", "queue-mode": "lazy", "queue-master-locator": "min-masters"}
        "#,
    ));
}

#[test]
fn many_queues_that_are_used_by_name_beside_subscriptions_are_told_once() {
    let mut lines = String::new();
    for number in 0..25 {
        lines.push_str(&format!("queue destination-{number}\n"));
    }
    for number in 0..4 {
        lines.push_str(&format!(
            "queue stomp-subscription-{number}\nbind amq.topic -> stomp-subscription-{number} \"news\"\n"
        ));
    }
    let report = on("3.7.28", &lines);
    only(&report, &[Code::QueueUnreachable]);
    assert!(!report.reaches(Severity::Warning));
    assert_eq!(report.findings.len(), 25, "subscriptions are bound");
    let text = report.to_text(Severity::Info);
    assert_eq!(text.matches("queue_unreachable").count(), 1, "{text}");
    assert!(text.contains("25 queues") && text.lines().count() < 12, "{text}");
}

#[test]
fn a_pattern_without_an_anchor_that_matches_only_what_is_meant_is_fine() {
    silent(&on(
        "3.13.7",
        r#"
        exchange audit topic
        exchange audit.dlx direct
        queue audit.events {"x-dead-letter-exchange": "audit.dlx", "x-dead-letter-routing-key": "audit.events.dlq"}
        queue audit.events.dlq
        bind audit -> audit.events "audit.#"
        bind audit.dlx -> audit.events.dlq "audit.events.dlq"
        policy mirrored "audit.*" queues 0 {"ha-mode": "all"}
        "#,
    ));
}

#[test]
fn a_policy_without_priority_and_apply_to_is_for_everything() {
    only(
        &of_file(
            r#"{"rabbit_version": "3.7.28", "vhosts": [{"name": "/"}],
                "policies": [{"vhost": "/", "name": "all", "pattern": "", "definition": {"ha-mode": "all"}}],
                "queues": [{"vhost": "/", "name": "main", "durable": true, "auto_delete": true, "arguments": {}}],
                "exchanges": [{"vhost": "/", "name": "main", "type": "direct", "durable": true, "auto_delete": false, "internal": false, "arguments": {}}],
                "bindings": [{"vhost": "/", "source": "main", "destination": "main", "destination_type": "queue", "routing_key": "k", "arguments": {}}]}"#,
        ),
        &[Code::AutoDeleteQueue],
    );
}

#[test]
fn dead_letters_to_a_queue_by_its_name_need_neither_exchanges_nor_bindings() {
    let report = of_file(
        r#"{"rabbit_version": "3.12.14", "vhosts": [{"name": "/"}], "queues": [
            {"vhost": "/", "name": "pay", "durable": true, "auto_delete": false,
             "arguments": {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "pay.dead"}},
            {"vhost": "/", "name": "pay.dead", "durable": true, "auto_delete": false, "arguments": {}}]}"#,
    );
    // Without the list of bindings nobody knows that there are none.
    silent(&report);
}

#[test]
fn bindings_to_predeclared_exchanges_hold_in_a_file_without_exchanges() {
    silent(&of_file(
        r#"{"rabbit_version": "3.12.14", "vhosts": [{"name": "/"}],
            "queues": [{"vhost": "/", "name": "t1", "durable": true, "auto_delete": false, "arguments": {}}],
            "bindings": [{"source": "amq.topic", "vhost": "/", "destination": "t1", "destination_type": "queue", "routing_key": "a.#"}]}"#,
    ));
}

#[test]
fn a_hash_in_front_takes_the_bare_word_as_well() {
    // What waits comes back as delayed.render, what is new as render, and both fit.
    silent(&on(
        "3.0.4",
        r##"
        exchange jobs topic
        exchange delay topic
        queue render
        queue me-render
        queue delay {"x-message-ttl": 60000, "x-dead-letter-exchange": "jobs", "x-dead-letter-routing-key": "delayed.render"}
        bind jobs -> render "#.render"
        bind jobs -> me-render "#.me-render"
        bind delay -> delay "#"
        "##,
    ));
}

#[test]
fn a_dead_letter_key_that_is_spelled_otherwise_is_harmless_before_a_hash() {
    silent(&on(
        "4.2.1",
        r##"
        exchange flow topic
        exchange flow.dead topic
        queue flow.jobs quorum {"x-dead-letter-exchange": "flow.dead", "x-dead-letter-routing-key": "flow.job.failed"}
        queue flow.jobs.dlq
        bind flow -> flow.jobs "flow.jobs.#"
        bind flow.dead -> flow.jobs.dlq "#"
        "##,
    ));
}

#[test]
fn an_alternate_that_takes_everything_is_complete_and_streams_keep_what_they_have() {
    silent(&on(
        "3.11.28",
        r##"
        exchange archive topic
        exchange archive.dead topic
        queue ingest
        queue unrouted
        queue log stream {"x-max-age": "1M"}
        bind archive -> ingest "files"
        bind archive -> log "log"
        bind archive.dead -> unrouted "#"
        policy alternate "^archive$" exchanges 0 {"alternate-exchange": "archive.dead"}
        "##,
    ));
}

#[test]
fn a_queue_that_a_shovel_feeds_is_reached() {
    let file = |queue: &str| {
        format!(
            r#"{{"rabbit_version": "3.11.28", "vhosts": [{{"name": "sda"}}], "exchanges": [], "bindings": [], "policies": [],
            "queues": [{{"vhost": "sda", "name": "{queue}", "durable": true, "auto_delete": false, "arguments": {{}}}}],
            "parameters": [{{"vhost": "sda", "component": "shovel", "name": "s", "value": {{
                "src-uri": "amqp:///sda", "src-queue": "log", "dest-uri": "amqp:///sda", "dest-queue": "mappings"}}}}]}}"#
        )
    };
    silent(&of_file(&file("mappings")));
    only(&of_file(&file("other")), &[Code::QueueUnreachable, Code::ShovelTargetUndeclared]);
}

#[test]
fn transient_queues_are_no_fault_of_a_version_that_permits_them() {
    silent(&on(
        "3.8.34",
        r#"
        exchange events direct
        queue events.live transient
        bind events -> events.live "k"
        "#,
    ));
}

#[test]
fn an_exchange_for_each_endpoint_without_binding_arguments_is_clean_before_the_limit_of_deliveries() {
    let lines = r#"
        exchange Sales fanout
        exchange Contracts.OrderPlaced fanout
        queue Sales quorum
        queue error
        exchange error fanout
        bind Sales -> Sales ""
        bind error -> error ""
        chain Contracts.OrderPlaced -> Sales ""
    "#;
    silent(&on("3.13.7", lines));
    only(&on("4.0.5", lines), &[Code::DeliveryLimitDrops]);
}

#[test]
fn an_exchange_by_headers_with_one_binding_for_everything_is_a_fanout() {
    let report = on(
        "3.12.14",
        r#"
        exchange delayed headers
        exchange events direct
        queue delayed {"x-message-ttl": 30000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work"}
        queue work
        bind events -> work "work"
        bind delayed -> delayed ""
        "#,
    );
    only(&report, &[Code::HeadersMatchAll]);
    assert!(!report.reaches(Severity::Warning));
}
