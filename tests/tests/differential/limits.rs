//! The limit of queues that a vhost can have.

use acemq_core::rabbitmq::{Conditions, ExistingQueue, Limit, Owner, QueueDeclaration, declare_queue};
use acemq_tests::answer::Answer;
use acemq_tests::on_every_broker;

on_every_broker! {
    fn the_engine_predicts_what_a_full_vhost_answers(node) {
        let vhost = node.fresh_vhost();
        let there = QueueDeclaration::durable("there");
        vhost.connect().channel().unwrap().declare_queue(&there).unwrap();
        vhost.set_limit("max-queues", 1);
        let mut conditions = Conditions::new(node.version(), vhost.name());
        conditions.queue_limit = Some(Limit { maximum: 1, declared: 1 });

        let plain = QueueDeclaration::durable("q");
        let new = [
            plain.clone(),
            plain.clone().with("x-queue-type", "quorum"),
            plain.clone().with("x-queue-type", "bogus"),
            plain.clone().with("x-message-ttl", -1),
            plain.clone().with("x-dead-letter-exchange", 5),
            plain.clone().with("x-max-age", "1D"),
            plain.clone().with("x-stream-max-segment-size-bytes", 1000),
            QueueDeclaration { auto_delete: true, ..plain.clone().with("x-queue-type", "quorum") },
            QueueDeclaration { exclusive: true, ..plain },
        ];
        for request in new {
            let answer = Answer::given(vhost.connect().channel().unwrap().declare_queue(&request)).unwrap();
            let predicted = Answer::predicted(declare_queue(&conditions, None, &request));
            assert_eq!(answer, predicted, "{} {}", node.version(), request.canonical());
        }
        // What is there needs no room.
        for request in [there.clone(), there.clone().with("x-message-ttl", 1)] {
            let answer = Answer::given(vhost.connect().channel().unwrap().declare_queue(&request)).unwrap();
            let existing = ExistingQueue { declaration: &there, owner: Owner::Nobody };
            let predicted = Answer::predicted(declare_queue(&conditions, Some(existing), &request));
            assert_eq!(answer, predicted, "{} {}", node.version(), request.canonical());
        }
    }
}
