//! The sentence of every wording, as a golden.

use super::super::wordings::WORDINGS;
use super::{Known, Refusal};
use std::fmt::Write as _;

/// A text that the pattern fits.
fn example(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        let (field, after) = after.split_once('}').unwrap();
        out.push_str(before);
        out.push_str(match field {
            "Kind" => "Exchange",
            "kind" => "queue",
            "argument" if pattern.starts_with("invalid property") => "non-durable",
            "argument" => "x-message-ttl",
            "name" => "orders.new",
            "vhost" | "down" => "/",
            "sides" => "'30000' but current is '60000'",
            "module" => "rabbit_quorum_queue",
            "error" if pattern.starts_with("invalid arg") => "{value_negative,-1}",
            "error" => "connection limit (5) is reached",
            "type" => "signedint",
            "limit" => "10",
            "number" => "11",
            "flag" => "if-unused",
            "permission" if pattern.starts_with("Login") => "PLAIN",
            "permission" => "write",
            "verb" if pattern.starts_with("{verb}") => "basic.get",
            "verb" => "declare",
            "user" => "limited",
            "node" | "leader" => "rabbit@one",
            "pid" => "<11.0.7>",
            "key" => "a.#.b",
            "value" => "bogus",
            "needed" => "x-dead-letter-exchange",
            "feature" => "global_qos",
            "reason" => "shutdown",
            "prefix" => "orders-",
            "rest" => " and so on",
            other => panic!("no example for {other}"),
        });
        rest = after;
    }
    out.push_str(rest);
    out
}

#[test]
fn every_wording_is_found_as_itself_and_has_its_sentence() {
    let mut golden = String::new();
    for wording in WORDINGS {
        let text = example(wording.pattern);
        let refusal = Refusal::read(None, &text, Known::default());
        assert_eq!(refusal.class, wording.class, "{text}");
        assert!(!refusal.says().contains('…'), "{text}: {}", refusal.says());
        writeln!(golden, "{text}\n    {}: {}\n", refusal.class, refusal.says()).unwrap();
    }
    insta::assert_snapshot!("wordings", golden);
}

#[test]
fn every_kind_of_difference_has_its_sentence() {
    let mut golden = String::new();
    for (argument, kind, sides) in [
        ("x-message-ttl", "queue", "'30000' but current is '60000'"),
        ("x-message-ttl", "queue", "none but current is the value '60000' of type 'signedint'"),
        ("x-message-ttl", "queue", "the value '30000' of type 'long' but current is none"),
        ("x-message-ttl", "queue", "none but current is '60000'"),
        ("x-message-ttl", "queue", "'1000' but current is '1000'"),
        ("x-single-active-consumer", "queue", "'true' but current is 'true'"),
        ("x-delivery-limit", "queue", "'[{signedint,1}]' but current is '[{signedint,1}]'"),
        ("x-overflow", "queue", "'drop-head' but current is 'drop-head'"),
        ("x-message-ttl", "queue", "'[{signedint,1},\n {signedint,2}]' but current is '6.0e4'"),
        ("x-dead-letter-exchange", "queue", "'it's' but current is ''"),
        ("x-dead-letter-exchange", "queue", "the value '42' of type 'longstr' but current is none"),
        ("x-max-age", "queue", "'172800000' but current is '86400000'"),
        ("x-max-age", "queue", "'2D' but current is '1D'"),
        ("x-queue-type", "queue", "'classic' but current is 'quorum'"),
        ("x-queue-type", "queue", "none but current is the value 'quorum' of type 'longstr'"),
        ("x-queue-type", "queue", "the value 'quorum' of type 'longstr' but current is none"),
        ("durable", "queue", "'false' but current is 'true'"),
        ("durable", "exchange", "'true' but current is 'false'"),
        ("auto_delete", "queue", "'false' but current is 'true'"),
        ("auto_delete", "queue", "'true' but current is 'false'"),
        ("internal", "exchange", "'false' but current is 'true'"),
        ("internal", "exchange", "'true' but current is 'false'"),
        ("type", "exchange", "''x-delayed-message'' but current is 'direct'"),
        ("alternate-exchange", "exchange", "'5' but current is 'ae'"),
    ] {
        let text = format!("inequivalent arg '{argument}' for {kind} 'orders.new' in vhost '/': received {sides}");
        writeln!(golden, "{argument}: {sides}\n    {}\n", Refusal::read(Some(406), &text, Known::default()).says())
            .unwrap();
    }
    insta::assert_snapshot!("differences", golden);
}

#[test]
fn every_complaint_has_its_sentence() {
    let mut golden = String::new();
    for (argument, error) in [
        ("x-message-ttl", "{unacceptable_type,longstr}"),
        ("x-single-active-consumer", "{unacceptable_type,signedint}"),
        ("x-message-ttl", "\"expected integer, got longstr\""),
        ("x-expires", "{value_zero,0}"),
        ("x-message-ttl", "{value_negative,-1}"),
        ("x-message-ttl", "{value_too_large,315360000001}"),
        ("x-max-priority", "{max_value_exceeded,256}"),
        ("x-queue-type", "\"unsupported queue type 'bogus'\""),
        ("x-queue-version", "\"unsupported queue version '3'\""),
        ("x-queue-mode", "\"unsupported queue mode 'bogus'\""),
        ("x-queue-type", "invalid_queue_type"),
        ("x-dead-letter-routing-key", "routing_key_but_no_dlx_defined"),
        ("x-max-age", "invalid_max_age"),
        ("x-overflow", "invalid_overflow"),
        ("x-dead-letter-strategy", "invalid_dlx_strategy"),
        ("x-queue-leader-locator", "invalid_queue_locator_arg"),
        ("x-queue-mode", "invalid_queue_mode"),
        ("x-new", "{something,new}"),
    ] {
        let text = format!("invalid arg '{argument}' for queue 'orders.new' in vhost '/': {error}");
        writeln!(golden, "{argument}: {error}\n    {}\n", Refusal::read(Some(406), &text, Known::default()).says())
            .unwrap();
    }
    insta::assert_snapshot!("complaints", golden);
}

#[test]
fn what_is_not_known_has_its_sentence() {
    let mut golden = String::new();
    for (code, text) in [
        (Some(541), "INTERNAL_ERROR"),
        (Some(312), "NO_ROUTE"),
        (Some(406), "PRECONDITION_FAILED - words of a later version"),
        (Some(599), "no name for this code"),
        (None, "Connection reset by peer"),
    ] {
        writeln!(golden, "{text}\n    {}\n", Refusal::read(code, text, Known::default()).says()).unwrap();
    }
    insta::assert_snapshot!("unknown", golden);
}

#[test]
fn a_sentence_is_one_line_whatever_the_broker_prints() {
    let text = "PRECONDITION_FAILED - invalid arg 'x' for queue 'q' in vhost 'v': {unacceptable_type,\nl}";
    assert_eq!(
        Refusal::read(Some(406), text, Known::default()).says(),
        "queue \"q\" in vhost \"v\" cannot be declared: x cannot be l"
    );
}
