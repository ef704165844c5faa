use super::policy;
use crate::retry::{Ladder, RetryPolicy};

#[test]
fn a_rung_carries_exactly_three_arguments() {
    let ladder = Ladder::new("orders", &policy("exponential(6, 10s)")).unwrap();
    let lines: Vec<String> = ladder.rungs().iter().map(|rung| rung.queue.canonical()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(
        lines[0],
        r#"{"arguments":{"x-dead-letter-exchange":"acemq.retry","x-dead-letter-routing-key":"orders","x-message-ttl":40000},"auto_delete":false,"durable":true,"exclusive":false,"kind":"queue","name":"orders.retry.40s"}"#
    );
    let order: Vec<&str> = ladder.rungs()[0].queue.arguments.iter().map(|(name, _)| name).collect();
    assert_eq!(order, ["x-message-ttl", "x-dead-letter-exchange", "x-dead-letter-routing-key"]);
    assert_eq!(
        ladder.exchange().unwrap().canonical(),
        r#"{"arguments":{},"auto_delete":false,"durable":true,"internal":false,"kind":"exchange","name":"acemq.retry","type":"direct"}"#
    );
    assert_eq!(
        ladder.home_binding().unwrap().canonical(),
        r#"{"arguments":{},"destination":"orders","destination_type":"queue","kind":"binding","routing_key":"orders","source":"acemq.retry"}"#
    );
}

#[test]
fn two_delays_within_one_second_are_two_rungs() {
    let ladder = Ladder::new("q", &policy("exponential(3, 30100ms).multiplier(1.01)")).unwrap();
    let names: Vec<&str> = ladder.rungs().iter().map(|rung| rung.name()).collect();
    assert_eq!(names, ["q.retry.30100ms", "q.retry.30401ms"]);
}

#[test]
fn without_rungs_there_is_nothing_to_declare() {
    for policy in [RetryPolicy::none(), policy("fixed(9, 1s)"), policy("exponential(9, 1h).wait_in_broker_from(0)")] {
        let ladder = Ladder::new("q", &policy).unwrap();
        assert!(ladder.rungs().is_empty() && ladder.exchange().is_none() && ladder.home_binding().is_none());
        assert_eq!(ladder.rung_for(86_400_000), None);
    }
}

#[test]
fn any_delay_finds_the_next_longer_rung_or_the_longest() {
    let ladder = Ladder::new("q", &policy("exponential(6, 10s)")).unwrap();
    let rung = |delay| ladder.rung_for(delay).map(|rung| rung.name().to_owned());
    assert_eq!(rung(0), None);
    assert_eq!(rung(29_999), None);
    for (delay, name) in
        [(30_000, "40s"), (40_000, "40s"), (40_001, "80s"), (80_001, "160s"), (160_001, "160s"), (u64::MAX, "160s")]
    {
        assert_eq!(rung(delay), Some(format!("q.retry.{name}")), "{delay}");
    }
}

#[test]
fn the_longest_name_is_the_one_that_is_refused() {
    let policy = policy("exponential(6, 10s)");
    assert!(Ladder::new(&"q".repeat(244), &policy).is_ok());
    let error = Ladder::new(&"q".repeat(245), &policy).unwrap_err();
    assert_eq!((error.code(), error.derived_from().unwrap().1), ("name_too_long", ".retry.160s"));
    assert_eq!(Ladder::new("amq.q", &policy).unwrap_err().code(), "name_reserved");
    assert_eq!(Ladder::new("", &policy).unwrap_err().code(), "name_empty");
}
