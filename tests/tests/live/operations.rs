//! Single operations: what a Rust program declares, asks and deletes.

use crate::{client, run};
use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration, Scope};
use acemq_core::value::{Table, Value};
use acemq_live::{Answer, Operation, QueueStatus};
use acemq_tests::on_every_broker;

fn status(name: &str, messages: u32, consumers: u32) -> QueueStatus {
    QueueStatus { name: name.to_owned(), messages, consumers }
}

on_every_broker! {
    fn a_queue_is_declared_looked_up_and_deleted(node) {
        let vhost = node.fresh_vhost();
        let other = vhost.connect();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            assert!(!client.queue_exists("orders").await.unwrap());
            let queue = QueueDeclaration::durable("orders").with("x-message-ttl", 60000);
            assert_eq!(client.declare_queue(&queue).await.unwrap(), status("orders", 0, 0));
            assert!(client.queue_exists("orders").await.unwrap());
            let raw = other.channel().unwrap();
            raw.confirm_select().unwrap();
            for _ in 0..3 {
                raw.publish_confirmed(&acemq_tests::amqp::Publish::to("", "orders").body("x")).unwrap();
            }
            assert_eq!(client.message_count("orders").await.unwrap(), 3);
            assert_eq!(client.queue("orders").await.unwrap(), Some(status("orders", 3, 0)));
            assert_eq!(client.delete_queue("orders").await.unwrap(), 3);
            assert_eq!(client.delete_queue("orders").await.unwrap(), 0);
            assert_eq!(client.queue("orders").await.unwrap(), None);
            assert_eq!(
                client.message_count("orders").await.unwrap_err().to_string(),
                format!(
                    "acemq: cannot look up queue \"orders\": Exception (404) Reason: \"NOT_FOUND - no queue 'orders' in vhost '{}'\"",
                    vhost.name()
                )
            );
        });
    }

    fn a_refused_declaration_carries_the_brokers_code_and_text(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            client.declare_queue(&QueueDeclaration::durable("q").with("x-message-ttl", 60000)).await.unwrap();
            let error = client.declare_queue(&QueueDeclaration::durable("q").with("x-message-ttl", 30000)).await;
            assert_eq!(
                error.unwrap_err().to_string(),
                format!(
                    "acemq: cannot declare queue \"q\": Exception (406) Reason: \"PRECONDITION_FAILED - inequivalent arg \
                     'x-message-ttl' for queue 'q' in vhost '{}': received '30000' but current is '60000'\"",
                    vhost.name()
                )
            );
            // The client goes on.
            assert!(client.queue_exists("q").await.unwrap());
        });
    }

    fn exchanges_and_bindings_are_declared_and_removed(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            client.declare_exchange(&ExchangeDeclaration::durable("orders", "headers")).await.unwrap();
            client.declare_exchange(&ExchangeDeclaration::durable("archive", "fanout")).await.unwrap();
            client.declare_queue(&QueueDeclaration::durable("q")).await.unwrap();
            assert!(client.exchange_exists("orders").await.unwrap());
            assert!(!client.exchange_exists("nowhere").await.unwrap());
            let arguments = Table::from([("x-match", Value::from("all")), ("n", Value::from(1))]);
            let to_queue = BindingDeclaration { arguments, ..BindingDeclaration::queue("orders", "q", "k") };
            let to_exchange = BindingDeclaration::exchange("orders", "archive", "#");
            for binding in [&to_queue, &to_exchange] {
                client.bind(binding).await.unwrap();
                client.bind(binding).await.unwrap();
            }
            let definitions = vhost.definitions();
            let bindings = definitions["bindings"].as_array().unwrap();
            assert_eq!(bindings.len(), 2, "{bindings:?}");
            let queue_binding = bindings.iter().find(|binding| binding["destination_type"] == "queue").unwrap();
            assert_eq!(queue_binding["arguments"], serde_json::json!({"x-match": "all", "n": 1}));
            for binding in [&to_queue, &to_exchange] {
                client.unbind(binding).await.unwrap();
                client.unbind(binding).await.unwrap();
            }
            assert_eq!(vhost.definitions()["bindings"], serde_json::json!([]));
            let error = client.bind(&BindingDeclaration::queue("nowhere", "q", "k")).await.unwrap_err();
            assert_eq!(error.refused().unwrap().code, 404);
            assert!(error.to_string().starts_with("acemq: cannot bind queue \"q\" to exchange \"nowhere\": Exception (404)"));
            client.delete_exchange("archive").await.unwrap();
            client.delete_exchange("archive").await.unwrap();
            assert!(!client.exchange_exists("archive").await.unwrap());
        });
    }

    fn what_is_used_is_not_deleted_where_the_broker_is_asked_to_see_to_that(node) {
        let vhost = node.fresh_vhost();
        let other = vhost.connect();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            let raw = other.channel().unwrap();
            raw.confirm_select().unwrap();
            client.declare_queue(&QueueDeclaration::durable("q").with("x-queue-type", "classic")).await.unwrap();
            client.declare_exchange(&ExchangeDeclaration::durable("x", "fanout")).await.unwrap();
            let binding = BindingDeclaration::queue("x", "q", "");
            client.bind(&binding).await.unwrap();
            raw.publish_confirmed(&acemq_tests::amqp::Publish::to("", "q").body("x")).unwrap();
            let (queue, exchange) =
                (Operation::DeleteUnusedQueue("q".to_owned()), Operation::DeleteUnusedExchange("x".to_owned()));
            for operation in [&queue, &exchange] {
                assert!(matches!(client.ask(operation).await, Answer::Refused(refused) if refused.code == 406));
            }
            assert_eq!(client.message_count("q").await.unwrap(), 1);
            assert!(client.exchange_exists("x").await.unwrap());
            client.unbind(&binding).await.unwrap();
            raw.purge("q").unwrap();
            for operation in [&queue, &exchange] {
                assert!(matches!(client.ask(operation).await, Answer::Done(_)), "{operation:?}");
            }
            assert_eq!(client.queue("q").await.unwrap(), None);
            assert!(!client.exchange_exists("x").await.unwrap());
        });
    }

    fn every_wire_type_reaches_the_broker(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            client.declare_exchange(&ExchangeDeclaration::durable("h", "headers")).await.unwrap();
            client.declare_queue(&QueueDeclaration::durable("q")).await.unwrap();
            let arguments = Table::from([
                ("t", Value::Bool(true)), ("b", Value::I8(-1)), ("B", Value::U8(200)), ("s", Value::I16(-300)),
                ("u", Value::U16(60000)), ("I", Value::I32(-70000)), ("i", Value::U32(4_000_000_000)),
                ("l", Value::I64(-1 << 40)), ("d", Value::F64(1.5)), ("S", Value::from("é")),
                ("T", Value::Timestamp(1_700_000_000)), ("A", Value::Array(vec![Value::from(1), Value::from("x")])),
                ("F", Value::Table(Table::from([("k", 1)]))),
            ]);
            let binding = BindingDeclaration { arguments, ..BindingDeclaration::queue("h", "q", "") };
            client.bind(&binding).await.unwrap();
            let definitions = vhost.definitions();
            let stored = &definitions["bindings"][0]["arguments"];
            let expected = serde_json::json!({
                "t": true, "b": -1, "B": 200, "s": -300, "u": 60000, "I": -70000, "i": 4_000_000_000_u32, "l": -(1_i64 << 40),
                "d": 1.5, "S": "é", "T": 1_700_000_000, "A": [1, "x"], "F": {"k": 1}
            });
            assert_eq!(stored, &expected);
        });
    }

    fn what_amqprs_would_panic_over_is_refused_before_it_is_sent(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            let long = "é".repeat(128);
            for operation in [
                Operation::DeclareQueue(QueueDeclaration::durable(&long)),
                Operation::LookUpQueue(long.clone()),
                Operation::DeclareExchange(ExchangeDeclaration::durable(&long, "topic")),
                Operation::DeclareExchange(ExchangeDeclaration::durable("e", &long)),
                Operation::Bind(BindingDeclaration::queue("amq.topic", "q", &long)),
                Operation::Unbind(BindingDeclaration::exchange(&long, "e", "")),
                Operation::DeclareQueue(QueueDeclaration::durable("q").with(&long, 1)),
            ] {
                let Answer::Failed(failure) = client.ask(&operation).await else { panic!("{operation:?}") };
                assert!(failure.to_string().contains("has 256 bytes of UTF-8; AMQP carries at most 255"), "{failure}");
            }
            assert!(client.declare_queue(&QueueDeclaration::durable("é".repeat(127))).await.is_ok());
        });
    }

    fn the_broker_chooses_a_name_and_an_exclusive_queue_is_locked_for_others(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            let unnamed = QueueDeclaration { durable: false, exclusive: true, ..QueueDeclaration::durable("") };
            let chosen = client.declare_queue(&unnamed).await.unwrap().name;
            assert!(chosen.starts_with("amq.gen-"), "{chosen}");
            let other = crate::client(&vhost.amqp_url()).await;
            let refused = other.message_count(&chosen).await.unwrap_err();
            let refused = refused.refused().unwrap();
            assert_eq!((refused.code, refused.scope), (405, Scope::Channel));
        });
    }
}
