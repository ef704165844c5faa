//! Dead letters: where they go, and what they carry. The headers were read off RabbitMQ 3.10.8, 4.0.5 and 4.3.6.

use super::*;
use crate::value::Value;

/// The entries of `x-death`, each as `queue:reason:count`.
fn deaths(delivery: &Delivery) -> Vec<String> {
    let Some(Value::Array(items)) = delivery.properties.headers.get("x-death") else { return Vec::new() };
    items
        .iter()
        .map(|item| {
            let Value::Table(death) = item else { panic!("{item:?}") };
            let text = |name: &str| death.get(name).and_then(Value::as_text).unwrap_or_default().to_owned();
            let count = death.get("count").and_then(Value::as_integer).unwrap();
            format!("{}:{}:{count}", text("queue"), text("reason"))
        })
        .collect()
}

fn header(delivery: &Delivery, name: &str) -> Option<String> {
    delivery.properties.headers.get(name).and_then(Value::as_text).map(str::to_owned)
}

#[test]
fn a_chain_of_expiries_writes_what_each_version_writes() {
    for version in ALL {
        let mut bench = Bench::new(version);
        bench.broker = bench.broker.clone().starting_at(1_800_000_000_999);
        for number in 0..4 {
            bench.queue(&format!("c{number}"), dying_to(&format!("c{}", number + 1)).with("x-message-ttl", 20));
        }
        bench.queue("c4", Table::new());
        let mut publication = Publication::new("", "c0", "x");
        publication.properties.expiration = Some("5000".into());
        publication.properties.headers = Table::new()
            .with("CC", Value::Array(vec!["nope".into()]))
            .with("BCC", Value::Array(vec!["hidden".into()]))
            .with("a", 1);
        bench.broker.publish(bench.channel, publication).unwrap();
        bench.broker.advance(80);
        let dead = bench.get("c4").unwrap();
        let is_old = version == V3_10;
        // Up to 3.12 only the newest stands where its age puts it.
        let expected = if is_old { ["c3", "c1", "c0", "c2"] } else { ["c3", "c2", "c1", "c0"] };
        assert_eq!(deaths(&dead), expected.map(|queue| format!("{queue}:expired:1")), "{version}");
        assert_eq!((dead.exchange.as_str(), dead.routing_key.as_str()), ("", "c4"));
        assert_eq!(dead.properties.expiration, None);
        let names: Vec<&str> = dead.properties.headers.iter().map(|(name, _)| name).collect();
        let first = ["x-death", "x-first-death-exchange", "x-first-death-queue", "x-first-death-reason"];
        let last = ["x-last-death-exchange", "x-last-death-queue", "x-last-death-reason"];
        let expected: Vec<&str> = if is_old {
            ["a"].into_iter().chain(first).collect()
        } else {
            ["CC", "a"].into_iter().chain(first).chain(last).collect()
        };
        assert_eq!(names, expected, "{version}");
        assert_eq!(header(&dead, "x-first-death-queue").as_deref(), Some("c0"));
        assert_eq!(header(&dead, "x-last-death-queue").as_deref(), if is_old { None } else { Some("c3") });
        let Some(Value::Array(items)) = dead.properties.headers.get("x-death") else { panic!() };
        let Value::Table(oldest) = &items[if is_old { 2 } else { 3 }] else { panic!() };
        assert_eq!(oldest.get("original-expiration"), Some(&"5000".into()));
        assert_eq!(oldest.get("routing-keys"), Some(&Value::Array(vec!["c0".into(), "nope".into()])));
        assert_eq!(oldest.get("exchange"), Some(&"".into()));
        assert_eq!(oldest.get("time"), Some(&Value::Timestamp(1_800_000_001)));
        let Value::Table(newest) = &items[0] else { panic!() };
        assert_eq!(newest.get("original-expiration"), None);
    }
}

#[test]
fn the_four_ways_to_die() {
    for version in ALL {
        let mut bench = Bench::new(version);
        bench.queue("dead", Table::new());
        bench.queue("ttl", dying_to("dead").with("x-message-ttl", 10));
        bench.queue("bounded", dying_to("dead").with("x-max-length", 1));
        bench.queue("work", dying_to("dead"));
        bench.queue("limited", dying_to("dead").with("x-queue-type", "quorum").with("x-delivery-limit", 0));
        let arrived = |bench: &mut Bench| {
            let dead = bench.get("dead").unwrap();
            bench.broker.ack(bench.channel, dead.delivery_tag, false).unwrap();
            deaths(&dead)
        };
        bench.put("ttl", "x");
        bench.broker.advance(10);
        assert_eq!(arrived(&mut bench), ["ttl:expired:1"]);
        bench.put("bounded", "1");
        bench.put("bounded", "2");
        assert_eq!(arrived(&mut bench), ["bounded:maxlen:1"]);
        for multiple in [false, true] {
            bench.put("work", "x");
            let delivery = bench.get("work").unwrap();
            bench.broker.nack(bench.channel, delivery.delivery_tag, multiple, false).unwrap();
            assert_eq!(arrived(&mut bench), ["work:rejected:1"]);
        }
        bench.put("limited", "x");
        let delivery = bench.get("limited").unwrap();
        bench.broker.reject(bench.channel, delivery.delivery_tag, true).unwrap();
        assert_eq!(arrived(&mut bench), ["limited:delivery_limit:1"]);
    }
}

#[test]
fn putting_back_is_no_death_however_often() {
    for version in ALL {
        let mut bench = Bench::new(version);
        bench.queue("work", dying_to("dead"));
        bench.queue("dead", Table::new());
        bench.put("work", "poison");
        let redelivered = (0..200)
            .filter(|_| {
                let delivery = bench.get("work").unwrap();
                bench.broker.nack(bench.channel, delivery.delivery_tag, false, true).unwrap();
                delivery.redelivered
            })
            .count();
        assert_eq!((redelivered, bench.ready("dead").len(), bench.ready("work").len()), (199, 0, 1));
        assert_eq!(deaths(&bench.get("work").unwrap()), Vec::<String>::new());
    }
}

#[test]
fn a_circle_ends_when_every_step_is_automatic_and_goes_on_when_a_consumer_rejects() {
    for version in ALL {
        let mut bench = Bench::new(version);
        bench.queue("work", dying_to("retry").with("x-message-ttl", 10));
        bench.queue("retry", dying_to("work").with("x-message-ttl", 30));
        bench.put("work", "x");
        bench.broker.advance(10);
        assert_eq!(bench.ready("retry"), ["x"]);
        bench.broker.advance(30);
        assert!(bench.ready("retry").is_empty() && bench.ready("work").is_empty(), "dropped on its second arrival");

        bench.put("work", "y");
        for round in 1..4 {
            let delivery = bench.get("work").unwrap();
            bench.broker.reject(bench.channel, delivery.delivery_tag, false).unwrap();
            bench.broker.advance(30);
            let back = bench.get("work").unwrap();
            assert_eq!(
                deaths(&back),
                [format!("retry:expired:{round}"), format!("work:rejected:{round}")],
                "{version}"
            );
            bench.reopen();
        }
    }
}

#[test]
fn only_the_target_that_closes_the_circle_is_left_out() {
    for version in ALL {
        let mut bench = Bench::new(version);
        let fan = ExchangeDeclaration::durable("fan", "fanout");
        bench.broker.declare_exchange(bench.channel, &fan).unwrap();
        bench.queue("q1", Table::new().with("x-dead-letter-exchange", "fan").with("x-message-ttl", 10));
        bench.queue("q2", dying_to("q1").with("x-message-ttl", 10));
        bench.queue("q3", Table::new());
        for queue in ["q2", "q3"] {
            bench.broker.bind(bench.channel, &BindingDeclaration::queue("fan", queue, "")).unwrap();
        }
        bench.put("q1", "x");
        bench.broker.advance(10);
        assert_eq!((bench.ready("q2").len(), bench.ready("q3").len()), (1, 1));
        bench.broker.advance(10);
        assert_eq!((bench.ready("q1").len(), bench.ready("q2").len(), bench.ready("q3").len()), (0, 0, 1));
    }
}

#[test]
fn a_republished_x_death_is_counted_on_before_4_0() {
    for (version, expected) in
        [(V3_10, 2), (Version::new(3, 13, 1), 1), (Version::new(3, 13, 7), 2), (V4_0, 1), (V4_3, 1)]
    {
        let mut bench = Bench::new(version);
        bench.queue("work", dying_to("dead"));
        bench.queue("dead", Table::new());
        bench.put("work", "x");
        for _ in 0..2 {
            let delivery = bench.get("work").unwrap();
            bench.broker.reject(bench.channel, delivery.delivery_tag, false).unwrap();
            let dead = bench.broker.get(bench.channel, "dead", true).unwrap().unwrap();
            let again = Publication { properties: dead.properties.clone(), ..Publication::new("", "work", "x") };
            bench.broker.publish(bench.channel, again).unwrap();
        }
        let delivery = bench.get("work").unwrap();
        assert_eq!(deaths(&delivery), [format!("work:rejected:{expected}")], "{version}");
    }
}

#[test]
fn without_an_overriding_key_all_routing_keys_go_along() {
    for version in ALL {
        let mut bench = Bench::new(version);
        let dlx = ExchangeDeclaration::durable("dlx", "direct");
        bench.broker.declare_exchange(bench.channel, &dlx).unwrap();
        bench.queue("work", Table::new().with("x-dead-letter-exchange", "dlx"));
        for (queue, key) in [("own", "work"), ("cc", "copy"), ("bcc", "blind")] {
            bench.queue(queue, Table::new());
            bench.broker.bind(bench.channel, &BindingDeclaration::queue("dlx", queue, key)).unwrap();
        }
        let mut publication = Publication::new("", "work", "x");
        publication.properties.headers =
            Table::new().with("CC", Value::Array(vec!["copy".into()])).with("BCC", Value::Array(vec!["blind".into()]));
        bench.broker.publish(bench.channel, publication).unwrap();
        let delivery = bench.get("work").unwrap();
        assert!(!delivery.properties.headers.contains("BCC") && delivery.properties.headers.contains("CC"));
        bench.broker.reject(bench.channel, delivery.delivery_tag, false).unwrap();
        for queue in ["own", "cc", "bcc"] {
            let dead = bench.get(queue).unwrap();
            assert_eq!((dead.exchange.as_str(), dead.routing_key.as_str()), ("dlx", "work"), "{version}");
            let Some(Value::Array(items)) = dead.properties.headers.get("x-death") else { panic!() };
            let Value::Table(death) = &items[0] else { panic!() };
            assert_eq!(death.get("routing-keys"), Some(&Value::Array(vec!["work".into(), "copy".into()])));
        }
    }
}

#[test]
fn what_no_exchange_or_queue_takes_is_lost_at_most_once_and_waits_at_least_once() {
    let mut bench = Bench::new(V4_0);
    bench.broker.keep_history();
    let to_nowhere = Table::new().with("x-dead-letter-exchange", "dlx").with("x-message-ttl", 10);
    bench.queue("most", to_nowhere.clone());
    bench.queue(
        "least",
        to_nowhere
            .with("x-queue-type", "quorum")
            .with("x-dead-letter-strategy", "at-least-once")
            .with("x-overflow", "reject-publish")
            .with("x-max-length", 1),
    );
    bench.put("most", "m");
    bench.put("least", "l");
    bench.broker.advance(10);
    let lost: Vec<&What> = bench
        .broker
        .history()
        .iter()
        .map(|happening| &happening.what)
        .filter(|what| matches!(what, What::Lost { .. }))
        .collect();
    let why = Loss::MissingDeadLetterExchange(DeathReason::Expired);
    assert_eq!(lost, [&What::Lost { queue: "most".into(), why }]);
    assert_eq!(bench.broker.contents("least").unwrap().waiting.len(), 1);
    // The waiting one counts: publishers are refused once the limit is passed.
    assert!(bench.put("least", "2").confirmed);
    assert!(!bench.put("least", "3").confirmed);

    bench.queue("dead", Table::new());
    bench.broker.declare_exchange(bench.channel, &ExchangeDeclaration::durable("dlx", "fanout")).unwrap();
    assert_eq!(bench.broker.contents("least").unwrap().waiting.len(), 1, "no route is no target");
    bench.broker.bind(bench.channel, &BindingDeclaration::queue("dlx", "dead", "")).unwrap();
    assert_eq!(bench.ready("dead"), ["l"]);
    assert!(bench.broker.contents("least").unwrap().waiting.is_empty());
}
