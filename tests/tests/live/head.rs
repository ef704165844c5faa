//! Whether a quorum queue's leader says that it is empty, and what becomes of a message that comes instead.

use crate::{LIMITS, run, url};
use acemq_core::rabbitmq::QueueDeclaration;
use acemq_core::value::Value;
use acemq_live::Head;
use acemq_live::amqp::AmqpBroker;
use acemq_tests::amqp::{Channel, Publish, QueueRequest};
use acemq_tests::broker::Vhost;
use acemq_tests::on_every_broker;
use std::thread;
use std::time::{Duration, Instant};

fn ask(vhost: &Vhost<'_>, queue: &str) -> Head {
    let broker = AmqpBroker::new(url(&vhost.amqp_url()), "head tests").unwrap();
    run(async { Head::ask(&broker, queue, LIMITS, LIMITS.question).await }).unwrap()
}

/// A quorum queue `q` whose dead letters come to `dead`, with messages 0, 1 and 2.
fn filled(vhost: &Vhost<'_>, limit: Option<i32>) -> Channel {
    let channel = vhost.connect().channel().unwrap();
    channel.declare_queue(&QueueDeclaration::durable("dead")).unwrap();
    let mut queue = QueueDeclaration::durable("q")
        .with("x-queue-type", "quorum")
        .with("x-dead-letter-exchange", "")
        .with("x-dead-letter-routing-key", "dead");
    if let Some(limit) = limit {
        queue = queue.with("x-delivery-limit", Value::I32(limit));
    }
    channel.declare_queue(&queue).unwrap();
    channel.confirm_select().unwrap();
    for number in 0..3_u8 {
        assert!(channel.publish_confirmed(&Publish::to("", "q").body([number])).unwrap().acknowledged);
    }
    channel
}

on_every_broker! {
    fn a_message_that_comes_instead_goes_back_to_its_place_and_is_never_a_dead_letter(node) {
        // Before 4.3 what comes back counts, so the limit must leave room for one delivery.
        let uncounted = node.version().at_least(4, 3, 0);
        for limit in [None, Some(if uncounted { 0 } else { 1 })] {
            let vhost = node.fresh_vhost();
            let channel = filled(&vhost, limit);
            assert_eq!(ask(&vhost, "q"), Head::Message);
            let count = |queue: &str| channel.declare_queue(QueueRequest::passive(queue)).unwrap().messages;
            let deadline = Instant::now() + Duration::from_secs(20);
            while count("q") < 3 && count("dead") == 0 && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(10));
            }
            assert_eq!((count("q"), count("dead")), (3, 0), "limit {limit:?}");
            for number in 0..3_u8 {
                let delivery = channel.get("q", false).unwrap().unwrap();
                assert_eq!((delivery.body.as_slice(), delivery.redelivered), ([number].as_slice(), number == 0));
                let counted = delivery.properties.headers.as_ref().and_then(|headers| {
                    headers.get("x-delivery-count").and_then(Value::as_integer)
                });
                assert_eq!(counted.unwrap_or_default(), i64::from(number == 0 && !uncounted));
                channel.ack(delivery.delivery_tag, false).unwrap();
            }
            assert_eq!(ask(&vhost, "q"), Head::Empty);
        }
    }

    fn a_queue_with_a_single_active_consumer_says_that_it_answers_and_no_more(node) {
        let vhost = node.fresh_vhost();
        let queue = QueueDeclaration::durable("q").with("x-queue-type", "quorum");
        vhost.connect().channel().unwrap().declare_queue(&queue.with("x-single-active-consumer", true)).unwrap();
        assert_eq!(ask(&vhost, "q"), Head::Reserved);
    }

    fn a_refusal_is_told(node) {
        let vhost = node.fresh_vhost();
        assert!(matches!(ask(&vhost, "nowhere"), Head::Refused(refused) if refused.code == 404));
    }
}
