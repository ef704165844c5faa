//! Order, counts, time to live, limits: each expectation was read off RabbitMQ 3.10.8, 4.0.5 and 4.3.6.

use super::*;
use crate::rabbitmq::Properties;

/// The two counts of a delivery from a quorum queue: `x-acquired-count`, `x-delivery-count`.
fn counts(delivery: &Delivery) -> (Option<i64>, Option<i64>) {
    let count = |name: &str| delivery.properties.headers.get(name).and_then(crate::value::Value::as_integer);
    (count("x-acquired-count"), count("x-delivery-count"))
}

fn drain(bench: &mut Bench, queue: &str) -> Vec<Delivery> {
    std::iter::from_fn(|| bench.get(queue)).collect()
}

fn bodies(deliveries: &[Delivery]) -> Vec<String> {
    deliveries.iter().map(body).collect()
}

#[test]
fn a_classic_queue_takes_messages_back_in_their_old_places() {
    for version in ALL {
        let mut bench = Bench::new(version);
        bench.queue("q", Table::new());
        for text in ["0", "1", "2", "3"] {
            bench.put("q", text);
        }
        let first: Vec<Delivery> = (0..3).map(|_| bench.get("q").unwrap()).collect();
        assert!(first.iter().all(|delivery| !delivery.redelivered));
        bench.broker.nack(bench.channel, first[2].delivery_tag, true, true).unwrap();
        let all = drain(&mut bench, "q");
        assert_eq!(bodies(&all), ["0", "1", "2", "3"]);
        assert_eq!(all.iter().map(|d| d.redelivered).collect::<Vec<_>>(), [true, true, true, false]);
        assert_eq!(all.iter().map(|d| d.remaining.unwrap()).collect::<Vec<_>>(), [3, 2, 1, 0]);
        for at in [2, 0, 3, 1] {
            bench.broker.reject(bench.channel, all[at].delivery_tag, true).unwrap();
        }
        assert_eq!(bench.ready("q"), ["0", "1", "2", "3"]);
        drain(&mut bench, "q");
        bench.reopen();
        assert_eq!(bench.ready("q"), ["0", "1", "2", "3"]);
    }
}

#[test]
fn what_a_quorum_queue_takes_back_goes_to_the_front_when_it_counts_deliveries() {
    // (version, delivery limit, order after putting 0, 1, 2 back)
    let front = ["0", "1", "2", "3", "4"];
    let back = ["3", "4", "0", "1", "2"];
    for (version, limit, expected) in [
        (V3_10, None, back),
        (V3_10, Some(50), front),
        (V4_0, None, front),
        (V4_0, Some(-1), back),
        (V4_0, Some(50), front),
        (V4_3, None, front),
        (V4_3, Some(-1), front),
    ] {
        for by_nack in [true, false] {
            let mut bench = Bench::new(version);
            bench.queue("q", limit.map_or(quorum(), |limit| quorum().with("x-delivery-limit", limit)));
            for text in ["0", "1", "2", "3", "4"] {
                bench.put("q", text);
            }
            let held: Vec<u64> = (0..3).map(|_| bench.get("q").unwrap().delivery_tag).collect();
            for tag in held {
                if by_nack {
                    bench.broker.nack(bench.channel, tag, false, true).unwrap();
                } else {
                    bench.broker.reject(bench.channel, tag, true).unwrap();
                }
            }
            assert_eq!(bench.ready("q"), expected, "{version} {limit:?}");
        }
    }
}

#[test]
fn a_negative_delivery_limit_drops_at_the_first_return_before_4_0() {
    let mut bench = Bench::new(V3_10);
    bench.queue("q", quorum().with("x-delivery-limit", -1));
    bench.put("q", "x");
    let delivery = bench.get("q").unwrap();
    bench.broker.nack(bench.channel, delivery.delivery_tag, false, true).unwrap();
    assert!(bench.ready("q").is_empty());
}

#[test]
fn a_quorum_queue_takes_back_holder_by_holder_when_a_channel_closes() {
    for (version, expected) in [
        (V3_10, ["3", "4", "5", "6", "7", "8", "0", "1", "2", "9"]),
        (V4_0, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]),
        (V4_3, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]),
    ] {
        let mut bench = Bench::new(version);
        bench.queue("q", quorum());
        for number in 0..10 {
            bench.put("q", &number.to_string());
        }
        let consumer = bench.broker.open_channel(bench.connection).unwrap();
        bench.broker.qos(consumer, 3, false).unwrap();
        for tag in ["z", "a", "m"] {
            let subscription = Subscription { tag: tag.into(), ..Subscription::new("q") };
            bench.broker.consume(consumer, &subscription).unwrap();
        }
        bench.broker.close_channel(consumer);
        assert_eq!(bench.ready("q"), expected, "{version}");
    }
}

#[test]
fn deliveries_are_counted_as_each_version_counts_them() {
    for (version, nacked, rejected, closed, recovered) in [
        (V3_10, (None, Some(1)), (None, Some(2)), (None, Some(3)), (None, Some(4))),
        (V4_0, (None, Some(1)), (None, Some(2)), (None, Some(3)), (None, Some(4))),
        (V4_3, (Some(1), None), (Some(2), Some(1)), (Some(3), Some(2)), (Some(4), Some(2))),
    ] {
        let mut bench = Bench::new(version);
        bench.queue("q", quorum());
        bench.put("q", "x");
        let first = bench.get("q").unwrap();
        let none = if version == V3_10 { Some(0) } else { None };
        assert_eq!((counts(&first), first.redelivered), ((None, none), false), "{version}");
        bench.broker.nack(bench.channel, first.delivery_tag, false, true).unwrap();
        let second = bench.get("q").unwrap();
        assert_eq!((counts(&second), second.redelivered), (nacked, true), "{version}");
        bench.broker.reject(bench.channel, second.delivery_tag, true).unwrap();
        assert_eq!(counts(&bench.get("q").unwrap()), rejected, "{version}");
        bench.reopen();
        assert_eq!(counts(&bench.get("q").unwrap()), closed, "{version}");
        bench.broker.recover(bench.channel).unwrap();
        assert_eq!(counts(&bench.get("q").unwrap()), recovered, "{version}");
    }
}

#[test]
fn failed_deliveries_go_on_counting_behind_a_dead_letter() {
    // quorum a1, after a nack and a reject back and a last reject, to classic a2, to quorum a3, to quorum a4.
    for (version, a2, a3, a4) in [
        (V3_10, false, (None, Some(0)), (None, Some(0))),
        (V4_0, false, (None, Some(1)), (None, Some(2))),
        (V4_3, true, (Some(3), Some(3)), (Some(4), Some(4))),
    ] {
        let mut bench = Bench::new(version);
        let quorum_to = |queue: &str| dying_to(queue).with("x-queue-type", "quorum");
        bench.queue("a1", quorum_to("a2"));
        bench.queue("a2", dying_to("a3"));
        bench.queue("a3", quorum_to("a4"));
        bench.queue("a4", quorum());
        bench.put("a1", "x");
        let delivery = bench.get("a1").unwrap();
        bench.broker.nack(bench.channel, delivery.delivery_tag, false, true).unwrap();
        let delivery = bench.get("a1").unwrap();
        bench.broker.reject(bench.channel, delivery.delivery_tag, true).unwrap();
        let delivery = bench.get("a1").unwrap();
        bench.broker.reject(bench.channel, delivery.delivery_tag, false).unwrap();
        let delivery = bench.get("a2").unwrap();
        assert_eq!((counts(&delivery), delivery.redelivered), ((None, None), a2), "{version}");
        bench.broker.reject(bench.channel, delivery.delivery_tag, false).unwrap();
        let delivery = bench.get("a3").unwrap();
        assert_eq!((counts(&delivery), delivery.redelivered), (a3, version != V3_10), "{version}");
        bench.broker.reject(bench.channel, delivery.delivery_tag, false).unwrap();
        assert_eq!(counts(&bench.get("a4").unwrap()), a4, "{version}");
    }
}

#[test]
fn a_delivery_limit_counts_returns_and_from_4_3_on_failures_only() {
    for version in ALL {
        let mut bench = Bench::new(version);
        bench.queue("q", dying_to("dead").with("x-queue-type", "quorum").with("x-delivery-limit", 2));
        bench.queue("dead", Table::new());
        bench.put("q", "x");
        let deliveries = std::iter::from_fn(|| {
            let delivery = bench.get("q")?;
            bench.broker.nack(bench.channel, delivery.delivery_tag, false, true).unwrap();
            Some(())
        })
        .take(5)
        .count();
        assert_eq!(deliveries, if version == V4_3 { 5 } else { 3 }, "{version}");
        let deliveries = std::iter::from_fn(|| {
            bench.get("q")?;
            bench.reopen();
            Some(())
        })
        .take(5)
        .count();
        assert_eq!(deliveries, if version == V4_3 { 3 } else { 0 }, "{version}");
        assert_eq!(bench.ready("dead"), ["x"], "{version}");
    }
}

#[test]
fn a_message_expires_only_at_the_head_of_its_queue() {
    for version in ALL {
        for arguments in [Table::new(), quorum()] {
            let mut bench = Bench::new(version);
            bench.queue("q", arguments);
            for (text, expiration) in [("long", "200"), ("short", "10"), ("none", "")] {
                let mut publication = Publication::new("", "q", text);
                if !expiration.is_empty() {
                    publication.properties.expiration = Some(expiration.into());
                }
                bench.broker.publish(bench.channel, publication).unwrap();
            }
            bench.broker.advance(199);
            assert_eq!(bench.ready("q"), ["long", "short", "none"], "{version}");
            bench.broker.advance(1);
            assert_eq!(bench.ready("q"), ["none"], "{version}");
        }
    }
}

#[test]
fn each_level_of_a_quorum_queue_has_a_head_of_its_own_from_4_3_on() {
    for (version, arguments, left) in [
        (V4_0, quorum(), vec!["high", "low", "other"]),
        (V4_3, quorum(), vec!["high", "other"]),
        (V4_3, Table::new().with("x-max-priority", 9), vec!["high", "low", "other"]),
    ] {
        let mut bench = Bench::new(version);
        bench.queue("q", arguments);
        for (text, priority, expiration) in [("low", None, Some("600")), ("high", Some(7), None), ("other", None, None)]
        {
            let mut publication = Publication::new("", "q", text);
            publication.properties.priority = priority;
            publication.properties.expiration = expiration.map(str::to_owned);
            bench.broker.publish(bench.channel, publication).unwrap();
        }
        bench.broker.advance(600);
        assert_eq!(bench.ready("q"), left, "{version}");
    }
}

#[test]
fn the_smaller_time_to_live_counts_and_no_time_is_enough_for_a_waiting_consumer() {
    for arguments in [Table::new(), quorum()] {
        let mut bench = Bench::new(V4_0);
        bench.queue("q", arguments.clone().with("x-message-ttl", 100));
        let mut publication = Publication::new("", "q", "x");
        publication.properties.expiration = Some("5000".into());
        bench.broker.publish(bench.channel, publication).unwrap();
        bench.broker.advance(100);
        assert!(bench.ready("q").is_empty());
        bench.queue("now", arguments.with("x-message-ttl", 0));
        bench.put("now", "too late");
        bench.broker.advance(1);
        assert!(bench.ready("now").is_empty());
        bench.broker.consume(bench.channel, &Subscription::new("now")).unwrap();
        bench.put("now", "in time");
        let events = bench.broker.take_events(bench.channel);
        assert!(matches!(&events[..], [Event::Delivered(delivery)] if body(delivery) == "in time"));
    }
}

#[test]
fn a_queue_goes_when_nobody_uses_it() {
    let mut bench = Bench::new(V4_0);
    bench.queue("q", dying_to("dead").with("x-expires", 100));
    bench.queue("dead", Table::new());
    bench.put("q", "x");
    bench.broker.advance(60);
    bench.get("q");
    bench.broker.advance(99);
    assert!(bench.broker.contents("q").is_some(), "a get is use");
    let tag = bench.broker.consume(bench.channel, &Subscription::new("q")).unwrap();
    bench.broker.advance(1000);
    bench.broker.cancel(bench.channel, &tag).unwrap();
    bench.broker.advance(99);
    assert!(bench.broker.contents("q").is_some());
    bench.broker.advance(1);
    assert!(bench.broker.contents("q").is_none());
    assert!(bench.ready("dead").is_empty(), "what was in it is not dead-lettered");
}

#[test]
fn the_oldest_message_is_lost_first() {
    for version in ALL {
        for kind in [Table::new(), quorum()] {
            let mut bench = Bench::new(version);
            let mut arguments = dying_to("dead").with("x-max-length", 2);
            for (name, value) in kind {
                arguments.insert(name, value);
            }
            bench.queue("q", arguments);
            bench.queue("dead", Table::new());
            for text in ["m-1", "m-2", "m-3"] {
                assert!(bench.put("q", text).confirmed);
            }
            assert_eq!((bench.ready("q"), bench.ready("dead")), (vec!["m-2".into(), "m-3".into()], vec!["m-1".into()]));
        }
    }
}

#[test]
fn refusing_publishers_is_exact_in_a_classic_queue_and_late_in_a_quorum_queue() {
    for version in ALL {
        let mut bench = Bench::new(version);
        let full = |kind: Table| {
            let mut table = Table::new().with("x-max-length", 5).with("x-overflow", "reject-publish");
            for (name, value) in kind {
                table.insert(name, value);
            }
            table
        };
        bench.queue("classic", full(Table::new()));
        bench.queue("quorum", full(quorum()));
        let confirms = |bench: &mut Bench, queue: &str, times: usize| -> String {
            (0..times).map(|_| if bench.put(queue, "z").confirmed { 'a' } else { 'n' }).collect()
        };
        assert_eq!(confirms(&mut bench, "classic", 7), "aaaaann");
        assert_eq!(confirms(&mut bench, "quorum", 10), "aaaaaannnn");
        let old = bench.channel;
        bench.channel = bench.broker.open_channel(bench.connection).unwrap();
        assert_eq!(confirms(&mut bench, "quorum", 3), "nnn", "a channel that is new to the full queue");
        // Publishers go on at four fifths.
        bench.broker.get(old, "quorum", true).unwrap();
        assert_eq!(confirms(&mut bench, "quorum", 1), "n");
        bench.broker.get(old, "quorum", true).unwrap();
        assert_eq!(confirms(&mut bench, "quorum", 1), "a");
    }
}

#[test]
fn reject_publish_dlx_refuses_and_dead_letters_in_a_classic_queue_only() {
    let mut bench = Bench::new(V4_0);
    let overflowing = dying_to("dead").with("x-max-length", 1).with("x-overflow", "reject-publish-dlx");
    bench.queue("classic", overflowing.clone());
    bench.queue("quorum", overflowing.with("x-queue-type", "quorum"));
    bench.queue("dead", Table::new());
    assert!(bench.put("classic", "c1").confirmed && !bench.put("classic", "c2").confirmed);
    assert!(bench.put("quorum", "q1").confirmed && bench.put("quorum", "q2").confirmed);
    assert_eq!((bench.ready("classic"), bench.ready("quorum")), (vec!["c1".into()], vec!["q2".into()]));
    assert_eq!(bench.ready("dead"), ["c2", "q1"]);
}

#[test]
fn bytes_are_those_of_the_body_and_in_a_quorum_queue_of_4_3_those_of_the_properties_too() {
    let with = |change: &dyn Fn(&mut Properties)| {
        let mut properties = Properties::default();
        change(&mut properties);
        properties
    };
    // The smallest limit that takes a body of four bytes with these properties into a quorum queue of 4.3.6.
    for (properties, smallest) in [
        (Properties::default(), 6),
        (with(&|p| p.content_type = Some("text/plain".into())), 17),
        (with(&|p| p.headers = Table::from([("a", "b")])), 18),
        (with(&|p| p.headers = Table::new().with("a", "b").with("c", crate::value::Value::I32(1))), 25),
        (with(&|p| p.priority = Some(5)), 7),
        (
            with(&|p| {
                p.expiration = Some("60000".into());
                p.delivery_mode = Some(2);
            }),
            13,
        ),
    ] {
        for (version, kind, smallest) in
            [(V4_3, quorum(), smallest), (V4_3, Table::new(), 4), (V4_0, quorum(), 4), (V3_10, quorum(), 4)]
        {
            for (limit, fits) in [(smallest - 1, false), (smallest, true)] {
                let mut bench = Bench::new(version);
                bench.queue("q", kind.clone().with("x-max-length-bytes", limit));
                let publication = Publication { properties: properties.clone(), ..Publication::new("", "q", "aaaa") };
                bench.broker.publish(bench.channel, publication).unwrap();
                assert_eq!(!bench.ready("q").is_empty(), fits, "{version} {limit} {properties:?}");
            }
        }
    }
}

#[test]
fn priorities_go_first_where_the_queue_knows_them() {
    let order = |version: Version, arguments: Table| -> String {
        let mut bench = Bench::new(version);
        bench.queue("q", arguments);
        for (text, priority) in
            [("a", None), ("b", Some(1)), ("c", Some(9)), ("d", Some(5)), ("e", Some(200)), ("f", None)]
        {
            let mut publication = Publication::new("", "q", text);
            publication.properties.priority = priority;
            bench.broker.publish(bench.channel, publication).unwrap();
        }
        drain(&mut bench, "q").iter().map(body).collect()
    };
    assert_eq!(order(V4_0, Table::new()), "abcdef");
    assert_eq!(order(V4_0, Table::new().with("x-max-priority", 5)), "cdebaf");
    assert_eq!(order(V3_10, quorum()), "abcdef");
    // Two of 5 and more, then one of the others.
    assert_eq!(order(V4_0, quorum()), "cdaebf");
    assert_eq!(order(V4_3, quorum()), "ecdafb");
}

#[test]
fn purging_begins_the_turns_of_priorities_anew() {
    let mut bench = Bench::new(V4_0);
    bench.queue("q", quorum());
    let put = |bench: &mut Bench, text: &str, priority| {
        let mut publication = Publication::new("", "q", text);
        publication.properties.priority = Some(priority);
        bench.broker.publish(bench.channel, publication).unwrap();
    };
    for priority in [9, 9, 0] {
        put(&mut bench, "gone", priority);
    }
    bench.get("q");
    bench.get("q");
    bench.broker.purge(bench.channel, "q").unwrap();
    put(&mut bench, "low", 0);
    put(&mut bench, "high", 9);
    assert_eq!(bench.ready("q"), ["high", "low"]);
}
