use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration};
use acemq_core::value::{Table, Value};
use acemq_tests::amqp::{Consume, Event, Failure, Publish, QueueRequest, Scope};
use acemq_tests::on_every_broker;
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(20);

on_every_broker! {
    fn a_refusal_comes_with_its_code_text_and_scope(node) {
        let vhost = node.fresh_vhost();
        let connection = vhost.connect();
        let channel = connection.channel().unwrap();
        let queue = QueueDeclaration::durable("q").with("x-message-ttl", Value::I32(1000));
        let ok = channel.declare_queue(&queue).unwrap();
        assert_eq!((ok.name.as_slice(), ok.messages, ok.consumers), (b"q".as_slice(), 0, 0));

        let other = QueueDeclaration::durable("q").with("x-message-ttl", Value::I32(2000));
        let close = channel.declare_queue(&other).unwrap_err().refusal();
        assert_eq!((close.scope, close.code, close.refused), (Scope::Channel, 406, (50, 10)));
        let vhost_name = vhost.name();
        assert_eq!(close.text(), format!(
            "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q' in vhost '{vhost_name}': received '2000' but current is '1000'"
        ));
        assert!(!channel.is_open());
        assert!(matches!(channel.declare_queue(&queue), Err(Failure::ChannelClosed)));

        // A decimal is more than the broker can print: it closes the connection.
        let decimal = QueueDeclaration::durable("q").with("x-message-ttl", Value::Decimal { scale: 0, unscaled: 5 });
        let close = connection.channel().unwrap().declare_queue(&decimal).unwrap_err().refusal();
        assert_eq!((close.scope, close.code, close.text().as_str()), (Scope::Connection, 541, "INTERNAL_ERROR"));
    }

    fn another_channel_still_publishes_after_a_refusal(node) {
        let vhost = node.fresh_vhost();
        let connection = vhost.connect();
        let publisher = connection.channel().unwrap();
        publisher.confirm_select().unwrap();
        publisher.declare_queue(&QueueDeclaration::durable("q")).unwrap();
        let refused = connection.channel().unwrap();
        refused.declare_queue(QueueRequest::passive("nowhere")).unwrap_err().refusal();
        let confirmed = publisher.publish_confirmed(&Publish::to("", "q").persistent().mandatory()).unwrap();
        assert!(confirmed.acknowledged && confirmed.returned.is_none());
        assert_eq!(publisher.declare_queue(QueueRequest::passive("q")).unwrap().messages, 1);
    }

    fn the_order_of_a_table_reaches_the_broker(node) {
        let vhost = node.fresh_vhost();
        let connection = vhost.connect();
        // The first foreign argument in the table's own order is the one that is named.
        for (first, second) in [("x-max-age", "x-max-priority"), ("x-max-priority", "x-max-age")] {
            let queue = QueueDeclaration {
                arguments: Table::from([("x-queue-type", "quorum"), (first, "1D"), (second, "1D")]),
                ..QueueDeclaration::durable("q")
            };
            let close = connection.channel().unwrap().declare_queue(&queue).unwrap_err().refusal();
            assert!(close.text().contains(&format!("invalid arg '{first}' for queue")), "{}", close.text());
        }
    }

    fn a_message_keeps_its_headers_through_a_binding(node) {
        let vhost = node.fresh_vhost();
        let connection = vhost.connect();
        let channel = connection.channel().unwrap();
        channel.declare_exchange(&ExchangeDeclaration::durable("e", "topic")).unwrap();
        channel.declare_queue(&QueueDeclaration::durable("q")).unwrap();
        channel.bind(&BindingDeclaration::queue("e", "q", "a.*")).unwrap();
        let headers = Table::from([("z", Value::U8(1)), ("a", Value::Array(vec![Value::Void]))]);
        channel.publish(&Publish::to("e", "a.b").headers(headers.clone()).body("x".repeat(200_000))).unwrap();

        let consumer = connection.channel().unwrap();
        let tag = consumer.consume(&Consume::from("q")).unwrap();
        let Some(Event::Delivery(delivery)) = consumer.next_event(SOON).unwrap() else { panic!("expected a delivery") };
        assert_eq!(delivery.consumer_tag, tag);
        assert_eq!((delivery.exchange.as_slice(), delivery.routing_key.as_slice()), (b"e".as_slice(), b"a.b".as_slice()));
        assert_eq!(delivery.properties.headers.map(|headers| headers.sorted()), Some(headers.sorted()));
        assert_eq!(delivery.body.len(), 200_000);
        consumer.nack(delivery.delivery_tag, false, true).unwrap();
        consumer.cancel(tag).unwrap();
        consumer.close().unwrap();

        // The rejected message may have been on its way to the consumer once more: it is back a moment after the channel is gone.
        let channel = connection.channel().unwrap();
        let deadline = Instant::now() + SOON;
        let delivery = loop {
            match channel.get("q", false).unwrap() {
                Some(delivery) => break delivery,
                None => assert!(Instant::now() < deadline, "the message never came back"),
            }
        };
        assert!(delivery.redelivered);
        channel.ack(delivery.delivery_tag, false).unwrap();
        assert_eq!(channel.get("q", true).unwrap(), None);
        channel.unbind(&BindingDeclaration::queue("e", "q", "a.*")).unwrap();
        channel.confirm_select().unwrap();
        let confirmed = channel.publish_confirmed(&Publish::to("e", "a.b").mandatory()).unwrap();
        assert_eq!(confirmed.returned.unwrap().code, 312);
        assert_eq!(channel.delete_queue("q").unwrap(), 0);
    }

    fn a_connection_outlives_more_refusals_than_it_has_channels(node) {
        let vhost = node.fresh_vhost();
        let connection = vhost.connect();
        for _ in 0..2100 {
            let close = connection.channel().unwrap().declare_queue(QueueRequest::passive("no")).unwrap_err().refusal();
            assert_eq!(close.code, 404);
        }
    }
}
