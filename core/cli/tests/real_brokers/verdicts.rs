//! What a verdict is worth: `--strict` with something unanswered, and the policy that a drift names as its way out.

use crate::acemq;
use acemq_core::rabbitmq::QueueDeclaration;
use acemq_tests::amqp::Publish;
use acemq_tests::management::path_segment;
use acemq_tests::on_every_broker;
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};

on_every_broker! {
    fn strict_fails_on_what_gave_no_answer(node) {
        let vhost = node.fresh_vhost();
        let owner = vhost.connect();
        let theirs = QueueDeclaration { durable: false, exclusive: true, ..QueueDeclaration::durable("theirs") };
        owner.channel().unwrap().declare_queue(&theirs).unwrap();
        let document = "acemq: 1\nqueues: { theirs: { type: classic }, new: {} }\n";
        let url = vhost.amqp_url();
        let lenient = acemq(&["plan", "-"], &url, document);
        assert_eq!(lenient.code, 2, "{}", lenient.out);
        let strict = acemq(&["plan", "-", "--strict"], &url, document);
        assert_eq!((strict.code, &strict.out), (4, &lenient.out));
        assert!(strict.out.contains("  unknown  queue theirs (classic) — cannot obtain exclusive access to locked queue"), "{}", strict.out);
        assert_eq!(acemq(&["drift", "-", "--strict"], &url, document).code, 4);
        assert_eq!(acemq(&["plan", "-", "--mode", "validate"], &url, document).code, 3);
        let refused = acemq(&["apply", "-", "--strict"], &url, document);
        assert_eq!(refused.code, 4);
        assert!(refused.err.starts_with("acemq: nothing was declared: 1 object gave no answer\n  queue theirs: "), "{}", refused.err);
        assert_eq!(vhost.definitions()["queues"], json!([]));
    }

    fn the_policy_of_a_drift_makes_the_live_queue_behave_as_wanted(node) {
        let vhost = node.fresh_vhost();
        let channel = vhost.connect().channel().unwrap();
        // A limit of its own, and no dead-letter exchange: a policy tightens the one and adds the other.
        channel.declare_queue(&QueueDeclaration::durable("orders").with("x-max-length", 10)).unwrap();
        channel.declare_queue(&QueueDeclaration::durable("dead")).unwrap();
        let document = "acemq: 1\nqueues:\n  dead: { type: classic }\n  orders: { type: classic, arguments: { x-max-length: 2, \
                        x-dead-letter-exchange: \"\", x-dead-letter-routing-key: dead } }\n";
        let planned = acemq(&["plan", "-", "--format", "json", "--management", &node.management_url()], &vhost.amqp_url(), document);
        let plan: Json = serde_json::from_str(&planned.out).unwrap();
        let drift = plan["actions"].as_array().unwrap().iter().find(|action| action["verdict"] == "drift").unwrap();
        let remedies: Vec<_> = drift["differences"].as_array().unwrap().iter().map(|difference| difference["remedy"].clone()).collect();
        assert_eq!(remedies, ["policy", "policy", "policy"]);
        let mut policy = drift["policy"].clone();
        let name = policy.as_object_mut().unwrap().remove("name").unwrap();
        // What the user does with it: the body of a PUT. RabbitMQ before 3.12 knows "queues" only, and the plan minds that.
        vhost.set_policy(name.as_str().unwrap(), &policy);

        let path = format!("/api/queues/{}/orders", path_segment(vhost.name()));
        let deadline = Instant::now() + Duration::from_secs(60);
        while node.management().get(&path).unwrap()["policy"] != name {
            assert!(Instant::now() < deadline, "the policy {name} never applied");
        }
        channel.confirm_select().unwrap();
        for _ in 0..5 {
            channel.publish_confirmed(&Publish::to("", "orders").body("x")).unwrap();
        }
        let count = |queue: &str| {
            let request = acemq_tests::amqp::QueueRequest::passive(queue);
            channel.declare_queue(request).unwrap().messages
        };
        while (count("orders"), count("dead")) != (2, 3) {
            assert!(Instant::now() < deadline, "{} messages are left, {} are dead", count("orders"), count("dead"));
        }
    }
}
