//! Consumers, publishers and the refusals of both. Texts were read off RabbitMQ 3.10.8, 4.0.5 and 4.3.6.

use super::*;
use crate::rabbitmq::Properties;
use crate::value::Value;

fn tagged(queue: &str, tag: &str) -> Subscription {
    Subscription { tag: tag.into(), ..Subscription::new(queue) }
}

fn with_argument(queue: &str, tag: &str, name: &str, value: impl Into<Value>) -> Subscription {
    Subscription { arguments: Table::new().with(name, value), ..tagged(queue, tag) }
}

/// Who got what since it was last asked: `tag:body`.
fn got(bench: &mut Bench) -> Vec<String> {
    bench
        .broker
        .take_events(bench.channel)
        .into_iter()
        .map(|event| match event {
            Event::Delivered(delivery) => format!("{}:{}", delivery.consumer_tag.clone().unwrap(), body(&delivery)),
            Event::Cancelled { consumer_tag } => format!("{consumer_tag} cancelled"),
        })
        .collect()
}

#[test]
fn consumers_take_turns_up_to_their_prefetch() {
    for version in ALL {
        for arguments in [Table::new(), quorum()] {
            let mut bench = Bench::new(version);
            bench.queue("q", arguments);
            bench.broker.qos(bench.channel, 2, false).unwrap();
            for tag in ["a", "b"] {
                bench.broker.consume(bench.channel, &tagged("q", tag)).unwrap();
            }
            for text in ["1", "2", "3", "4", "5", "6"] {
                bench.put("q", text);
            }
            assert_eq!(got(&mut bench), ["a:1", "b:2", "a:3", "b:4"], "{version}");
            bench.broker.ack(bench.channel, 2, false).unwrap();
            assert_eq!(got(&mut bench), ["b:5"]);
            bench.broker.ack(bench.channel, 3, true).unwrap();
            assert_eq!(got(&mut bench), ["a:6"]);
        }
    }
}

#[test]
fn a_channel_wide_prefetch_is_one_for_each_consumer_from_4_3_on() {
    for (version, expected) in [
        (V3_10, vec!["a:0", "a:1", "a:2"]),
        (V4_0, vec!["a:0", "a:1", "a:2"]),
        (V4_3, vec!["a:0", "a:1", "a:2", "b:3", "b:4", "b:5"]),
    ] {
        let mut bench = Bench::new(version);
        bench.queue("q", Table::new());
        for number in 0..10 {
            bench.put("q", &number.to_string());
        }
        bench.broker.qos(bench.channel, 3, true).unwrap();
        for tag in ["a", "b"] {
            bench.broker.consume(bench.channel, &tagged("q", tag)).unwrap();
        }
        assert_eq!(got(&mut bench), expected, "{version}");
    }
}

#[test]
fn the_higher_consumer_priority_is_served_until_it_is_full() {
    for arguments in [Table::new(), quorum()] {
        let mut bench = Bench::new(V4_0);
        bench.queue("q", arguments);
        bench.broker.qos(bench.channel, 2, false).unwrap();
        bench.broker.consume(bench.channel, &tagged("q", "low")).unwrap();
        bench.broker.consume(bench.channel, &with_argument("q", "high", "x-priority", 5)).unwrap();
        for text in ["1", "2", "3"] {
            bench.put("q", text);
        }
        assert_eq!(got(&mut bench), ["high:1", "high:2", "low:3"]);
    }
}

#[test]
fn a_single_active_consumer_has_the_queue_until_it_leaves() {
    for version in ALL {
        for kind in [Table::new(), quorum()] {
            let mut bench = Bench::new(version);
            bench.queue("q", kind.with("x-single-active-consumer", true));
            for tag in ["a", "b", "c"] {
                bench.broker.consume(bench.channel, &tagged("q", tag)).unwrap();
            }
            bench.put("q", "1");
            bench.put("q", "2");
            bench.broker.cancel(bench.channel, "a").unwrap();
            bench.put("q", "3");
            assert_eq!(got(&mut bench), ["a:1", "a:2", "b:3"], "{version}");
        }
    }
}

#[test]
fn a_quorum_queue_of_4_0_hands_over_to_a_higher_priority_when_the_active_one_has_settled() {
    let mut bench = Bench::new(V4_0);
    bench.queue("q", quorum().with("x-single-active-consumer", true));
    bench.broker.consume(bench.channel, &tagged("q", "first")).unwrap();
    bench.put("q", "1");
    bench.broker.consume(bench.channel, &with_argument("q", "high", "x-priority", 5)).unwrap();
    bench.put("q", "2");
    assert_eq!(got(&mut bench), ["first:1"]);
    bench.broker.ack(bench.channel, 1, false).unwrap();
    assert_eq!(got(&mut bench), ["high:2"]);
}

#[test]
fn the_single_active_consumer_that_was_replaced_stands_last() {
    for version in [V4_0, V4_3] {
        let mut bench = Bench::new(version);
        bench.queue("q", quorum().with("x-single-active-consumer", true));
        for tag in ["first", "second"] {
            bench.broker.consume(bench.channel, &tagged("q", tag)).unwrap();
        }
        bench.broker.consume(bench.channel, &with_argument("q", "high", "x-priority", 1)).unwrap();
        bench.put("q", "1");
        bench.broker.cancel(bench.channel, "high").unwrap();
        bench.put("q", "2");
        assert_eq!(got(&mut bench), ["high:1", "second:2"], "{version}");
    }
}

#[test]
fn what_comes_back_to_a_quorum_queue_goes_out_again_before_the_limit_is_looked_at() {
    for version in ALL {
        for (kind, expected) in [(Table::new(), ["t:1", "t:2"]), (quorum().with("x-delivery-limit", 5), ["t:1", "t:1"])]
        {
            let mut bench = Bench::new(version);
            bench.queue("q", kind.with("x-max-length", 1));
            bench.broker.qos(bench.channel, 1, false).unwrap();
            bench.broker.consume(bench.channel, &tagged("q", "t")).unwrap();
            bench.put("q", "1");
            bench.put("q", "2");
            bench.broker.reject(bench.channel, 1, true).unwrap();
            assert_eq!(got(&mut bench), expected, "{version}");
        }
    }
}

#[test]
fn a_count_of_no_deliveries_is_shown_to_get_and_not_to_a_consumer_before_3_13() {
    let mut bench = Bench::new(V3_10);
    bench.queue("q", quorum());
    bench.put("q", "1");
    bench.put("q", "2");
    let count = |delivery: &Delivery| delivery.properties.headers.get("x-delivery-count").cloned();
    assert_eq!(count(&bench.get("q").unwrap()), Some(Value::I64(0)));
    bench.broker.consume(bench.channel, &tagged("q", "t")).unwrap();
    let events = bench.broker.take_events(bench.channel);
    assert!(matches!(&events[..], [Event::Delivered(delivery)] if count(delivery).is_none()), "{events:?}");
}

#[test]
fn an_auto_delete_queue_goes_with_its_last_consumer_and_a_deleted_one_cancels_its_consumers() {
    let mut bench = Bench::new(V4_0);
    let auto = QueueDeclaration { auto_delete: true, ..QueueDeclaration::durable("auto") };
    bench.broker.declare_queue(bench.channel, &auto).unwrap();
    for tag in ["a", "b"] {
        bench.broker.consume(bench.channel, &tagged("auto", tag)).unwrap();
    }
    bench.broker.cancel(bench.channel, "a").unwrap();
    assert!(bench.broker.contents("auto").is_some());
    bench.broker.cancel(bench.channel, "b").unwrap();
    assert!(bench.broker.contents("auto").is_none());

    bench.queue("q", Table::new());
    bench.put("q", "x");
    bench.broker.consume(bench.channel, &tagged("q", "t")).unwrap();
    bench.broker.delete_queue(bench.connection, "q", DeleteQueue::ANYWAY).unwrap();
    assert_eq!(got(&mut bench), ["t:x", "t cancelled"]);
    bench.queue("q", Table::new());
    bench.broker.nack(bench.channel, 1, false, true).unwrap();
    assert!(bench.ready("q").is_empty(), "what came from the old queue does not enter the new one");
}

#[test]
fn a_stream_keeps_everything_and_each_consumer_starts_where_it_asks() {
    let mut bench = Bench::new(V4_0);
    bench.queue("s", Table::from([("x-queue-type", "stream")]));
    for text in ["1", "2", "3"] {
        bench.put("s", text);
    }
    bench.broker.qos(bench.channel, 2, false).unwrap();
    bench.broker.consume(bench.channel, &with_argument("s", "all", "x-stream-offset", "first")).unwrap();
    bench.broker.consume(bench.channel, &tagged("s", "new")).unwrap();
    assert_eq!(got(&mut bench), ["all:1", "all:2"]);
    bench.put("s", "4");
    assert_eq!(got(&mut bench), ["new:4"]);
    bench.broker.ack(bench.channel, 2, true).unwrap();
    assert_eq!(got(&mut bench), ["all:3", "all:4"]);
    assert_eq!(bench.ready("s").len(), 4);
}

#[test]
fn consuming_and_getting_are_refused_in_the_brokers_words() {
    let precondition = |text: &str| (406, format!("PRECONDITION_FAILED - {text}"), Scope::Channel);
    let unimplemented = |text: &str| (540, format!("NOT_IMPLEMENTED - {text}"), Scope::Connection);
    for version in ALL {
        let fresh = || {
            let mut bench = Bench::new(version);
            bench.queue("classic", Table::new());
            bench.queue("quorum", quorum());
            bench.queue("stream", Table::from([("x-queue-type", "stream")]));
            bench.queue("single", quorum().with("x-single-active-consumer", true));
            bench.queue("classic-single", Table::new().with("x-single-active-consumer", true));
            bench
        };
        let refused = |prepare: &dyn Fn(&mut Bench), subscription: Subscription| {
            let mut bench = fresh();
            prepare(&mut bench);
            let refused = bench.broker.consume(bench.channel, &subscription).unwrap_err();
            (refused.code, refused.text, refused.scope)
        };
        let nothing: &dyn Fn(&mut Bench) = &|_| {};
        let limited: &dyn Fn(&mut Bench) = &|bench| bench.broker.qos(bench.channel, 5, false).unwrap();
        let limited_globally: &dyn Fn(&mut Bench) = &|bench| bench.broker.qos(bench.channel, 5, true).unwrap();
        let taken: &dyn Fn(&mut Bench) = &|bench| {
            let exclusive = Subscription { exclusive: true, ..tagged("classic", "t") };
            bench.broker.consume(bench.channel, &exclusive).unwrap();
        };
        assert_eq!(
            refused(nothing, tagged("nope", "t")),
            (404, "NOT_FOUND - no queue 'nope' in vhost 'probe'".into(), Scope::Channel)
        );
        assert_eq!(
            refused(taken, tagged("classic", "other")),
            (403, "ACCESS_REFUSED - queue 'classic' in vhost 'probe' in exclusive use".into(), Scope::Channel)
        );
        assert_eq!(
            refused(taken, tagged("nope", "t")),
            (530, "NOT_ALLOWED - attempt to reuse consumer tag 't'".into(), Scope::Connection)
        );
        assert_eq!(
            refused(nothing, Subscription { exclusive: true, ..tagged("classic-single", "t") }).1,
            "ACCESS_REFUSED - queue 'classic-single' in vhost 'probe' in exclusive use"
        );
        assert_eq!(
            refused(nothing, with_argument("classic", "t", "x-priority", "high")),
            precondition(
                "invalid arg 'x-priority' for queue 'classic' in vhost 'probe': \"expected integer, got longstr\""
            )
        );
        let no_prefetch = if version == V3_10 {
            "consumer prefetch count is not set for 'queue 'stream' in vhost 'probe''"
        } else {
            "consumer prefetch count is not set for stream queue 'stream' in vhost 'probe'"
        };
        assert_eq!(refused(nothing, tagged("stream", "t")), precondition(no_prefetch));
        let no_ack = Subscription { no_ack: true, ..tagged("stream", "t") };
        let kind = if version == V3_10 { "stream queues" } else { "stream" };
        assert_eq!(
            refused(limited, no_ack),
            unimplemented(&format!(
                "automatic acknowledgement not supported by {kind} queue 'stream' in vhost 'probe'"
            ))
        );
        let bogus_offset = refused(limited, with_argument("stream", "t", "x-stream-offset", "bogus"));
        if version == V4_3 {
            assert_eq!(
                bogus_offset,
                precondition(
                    "invalid arg 'x-stream-offset' for queue 'stream' in vhost 'probe': {invalid_stream_offset_arg,{longstr,<<\"bogus\">>}}"
                )
            );
        } else {
            assert_eq!(bogus_offset, (541, "INTERNAL_ERROR".into(), Scope::Connection));
            assert_eq!(
                refused(limited_globally, tagged("quorum", "t")),
                unimplemented("queue 'quorum' in vhost 'probe' does not support global qos")
            );
        }
        let get = |queue: &str| {
            let mut bench = fresh();
            let refused = bench.broker.get(bench.channel, queue, false).unwrap_err();
            (refused.code, refused.text, refused.scope)
        };
        let word = if version == V4_3 { "<<\"quorum\">>" } else { "quorum" };
        assert_eq!(
            get("single"),
            (
                405,
                format!(
                    "RESOURCE_LOCKED - cannot obtain access to locked queue 'single' in vhost 'probe'. basic.get operations are not supported by {word} queues with single active consumer"
                ),
                Scope::Channel
            )
        );
        assert_eq!(
            get("stream"),
            unimplemented("basic.get not supported by stream queues queue 'stream' in vhost 'probe'")
        );
        let mut bench = fresh();
        let refused = bench.broker.purge(bench.channel, "stream").unwrap_err();
        assert_eq!(
            refused.text,
            "NOT_IMPLEMENTED - queue.purge not supported by stream queues queue 'stream' in vhost 'probe'"
        );
        let mut bench = Bench::new(version);
        let refused = bench.broker.get(bench.channel, "", false).unwrap_err();
        assert_eq!((refused.code, refused.text.as_str()), (404, "NOT_FOUND - no previously declared queue"));
        let mut bench = Bench::new(version);
        let refused = bench.broker.ack(bench.channel, 99, false).unwrap_err();
        assert_eq!((refused.code, refused.text.as_str()), (406, "PRECONDITION_FAILED - unknown delivery tag 99"));
        assert!(!bench.broker.is_open(bench.channel));
    }
}

#[test]
fn publishing_is_refused_in_the_brokers_words_and_order() {
    for version in ALL {
        let publish = |change: &dyn Fn(&mut Publication)| {
            let mut bench = Bench::new(version);
            let internal = ExchangeDeclaration { internal: true, ..ExchangeDeclaration::durable("inner", "fanout") };
            bench.broker.declare_exchange(bench.channel, &internal).unwrap();
            let mut publication = Publication::new("", "cl", "");
            change(&mut publication);
            bench.broker.publish(bench.channel, publication).map_err(|refused| refused.text)
        };
        let expiring = |expiration: &str| {
            publish(&|publication| publication.properties.expiration = Some(expiration.to_owned())).map(|_| ())
        };
        let failed = |text: &str| Err(format!("PRECONDITION_FAILED - {text}"));
        assert_eq!(
            expiring("5x\"é"),
            failed(if version == V3_10 {
                "invalid expiration '5x\"é': {leftover_string,\"x\\\"é\"}"
            } else {
                "invalid expiration '5x\"é': {leftover_string,\"x\\\"Ã©\"}"
            })
        );
        assert_eq!(expiring(""), failed("invalid expiration '': no_integer"));
        assert_eq!(expiring(" 5"), failed("invalid expiration ' 5': no_integer"));
        assert_eq!(expiring("+5"), Ok(()));
        assert_eq!(expiring("-1"), failed("invalid expiration '-1': {value_negative,-1}"));
        assert_eq!(expiring("5.5"), failed("invalid expiration '5.5': {leftover_string,\".5\"}"));
        assert_eq!(expiring("5\n\x07"), failed("invalid expiration '5\n\x07': {leftover_string,[10,7]}"));
        assert_eq!(expiring("315360000000"), Ok(()));
        assert_eq!(
            expiring("315360000001"),
            failed("invalid expiration '315360000001': {value_too_large,315360000001}")
        );
        let copies = |name: &'static str, value: Value| {
            publish(&|publication| {
                publication.properties.headers.insert(name, value.clone());
            })
            .map(|_| ())
        };
        assert_eq!(copies("CC", "a".into()), failed("invalid message: {unacceptable_type_in_header,\"CC\",longstr}"));
        assert_eq!(
            copies("BCC", Value::I32(5)),
            failed("invalid message: {unacceptable_type_in_header,\"BCC\",signedint}")
        );
        let everything_wrong = publish(&|publication| {
            publication.properties = Properties {
                user_id: Some("bob".into()),
                expiration: Some("x".into()),
                headers: Table::from([("CC", "a")]),
                ..Properties::default()
            };
        });
        assert_eq!(
            everything_wrong.map(|_| ()),
            failed(if version == V3_10 {
                "user_id property set to 'bob' but authenticated user was 'guest'"
            } else {
                "invalid expiration 'x': no_integer"
            })
        );
        assert_eq!(
            publish(&|publication| publication.exchange = "nope".into()).unwrap_err(),
            "NOT_FOUND - no exchange 'nope' in vhost 'probe'"
        );
        assert_eq!(
            publish(&|publication| publication.exchange = "inner".into()).unwrap_err(),
            "ACCESS_REFUSED - cannot publish to internal exchange 'inner' in vhost 'probe'"
        );
        let unroutable = publish(&|publication| publication.mandatory = true).unwrap();
        assert!(unroutable.returned && unroutable.confirmed && unroutable.queues.is_empty());
    }
}

#[test]
fn permissions_are_those_of_the_connections_user() {
    let mut broker = broker(V4_0);
    let admin = broker.connect();
    broker.declare_queue(admin, &QueueDeclaration::durable("q")).unwrap();
    assert_eq!(
        broker.connect_as("app").unwrap_err().text,
        "NOT_ALLOWED - access to vhost 'probe' refused for user 'app'"
    );
    broker.set_permissions("app", Permissions::new("^$", "^amq\\.", "^none$").unwrap());
    let app = broker.connect_as("app").unwrap();
    let channel = broker.open_channel(app).unwrap();
    assert_eq!(
        broker.publish(app, Publication::new("amq.direct", "k", "")).map(|published| published.queues),
        Ok(Vec::new())
    );
    assert_eq!(
        broker.publish(app, Publication::new("other", "k", "")).unwrap_err().text,
        "ACCESS_REFUSED - write access to exchange 'other' in vhost 'probe' refused for user 'app'"
    );
    assert_eq!(
        broker.get(channel, "q", true).unwrap_err().text,
        "ACCESS_REFUSED - read access to queue 'q' in vhost 'probe' refused for user 'app'"
    );
    broker.set_permissions("app", Permissions::all());
    let channel = broker.open_channel(app).unwrap();
    assert_eq!(broker.get(channel, "q", true), Ok(None));
}
