//! Deleting queues and exchanges, with and without their conditions.

use acemq_core::rabbitmq::{
    BindingDeclaration, Conditions, DeleteQueue, ExchangeDeclaration, ExistingQueue, Owner, Permissions,
    QueueDeclaration, QueueType, delete_exchange, delete_queue,
};
use acemq_tests::amqp::{Channel, Connection, Consume, Publish};
use acemq_tests::answer::Answer;
use acemq_tests::broker::Vhost;
use acemq_tests::on_every_broker;

on_every_broker! {
    fn the_engine_predicts_the_answer_to_deleting_a_queue(node) {
        let vhost = node.fresh_vhost();
        let conditions = Conditions::new(node.version(), vhost.name());
        for kind in QueueType::ALL {
            for condition in conditions_of_deleting() {
                for (ready, consumers) in [(0, 0), (1, 0), (0, 1)] {
                    let queue = QueueDeclaration::durable("q").with("x-queue-type", kind.name());
                    // A consumer of a stream needs a prefetch count.
                    let other = vhost.connect();
                    let channel = other.channel().unwrap();
                    channel.prefetch(1).unwrap();
                    channel.declare_queue(&queue).unwrap();
                    fill(&channel, ready, consumers);
                    let existing = Some(ExistingQueue { declaration: &queue, owner: Owner::Nobody });
                    let predicted = delete_queue(&conditions, existing, "q", condition, (ready, consumers));
                    let answer = delete(&vhost.connect(), condition);
                    let what = format!("{kind} {condition:?} with {ready} ready and {consumers} consumers");
                    assert_eq!(answer, Answer::predicted(predicted), "{} {what}", node.version());
                    delete(&vhost.connect(), DeleteQueue::ANYWAY);
                }
            }
        }
        for condition in conditions_of_deleting() {
            let predicted = delete_queue(&conditions, None, "q", condition, (0, 0));
            assert_eq!(delete(&vhost.connect(), condition), Answer::predicted(predicted));
        }
    }

    fn the_engine_predicts_who_may_delete_a_queue(node) {
        let vhost = node.fresh_vhost();
        let exclusive = QueueDeclaration { exclusive: true, ..QueueDeclaration::durable("q") };
        let owner = vhost.connect();
        owner.channel().unwrap().declare_queue(&exclusive).unwrap();
        let mut conditions = Conditions::new(node.version(), vhost.name());
        let another = |owner| Some(ExistingQueue { declaration: &exclusive, owner });

        let predicted = delete_queue(&conditions, another(Owner::Another), "q", DeleteQueue::ANYWAY, (0, 0));
        assert_eq!(delete(&vhost.connect(), DeleteQueue::ANYWAY), Answer::predicted(predicted));

        limit(&vhost, &mut conditions);
        let predicted = delete_queue(&conditions, another(Owner::Another), "q", DeleteQueue::ANYWAY, (0, 0));
        assert_eq!(delete(&vhost.connect_as("limited", "limited"), DeleteQueue::ANYWAY), Answer::predicted(predicted));

        let predicted = delete_queue(&Conditions::new(node.version(), vhost.name()), another(Owner::Requester), "q", DeleteQueue::ANYWAY, (0, 0));
        assert_eq!(delete(&owner, DeleteQueue::ANYWAY), Answer::predicted(predicted));
    }

    fn the_engine_predicts_the_answer_to_deleting_an_exchange(node) {
        let vhost = node.fresh_vhost();
        let mut conditions = Conditions::new(node.version(), vhost.name());
        let setup = vhost.connect().channel().unwrap();
        for name in ["source", "destination", "alternate"] {
            setup.declare_exchange(&ExchangeDeclaration::durable(name, "fanout")).unwrap();
        }
        setup.declare_exchange(&ExchangeDeclaration::durable("e", "fanout").with("alternate-exchange", "alternate")).unwrap();
        setup.bind(&BindingDeclaration::exchange("source", "destination", "")).unwrap();
        let delete = |connection: Connection, name: &str, if_unused| {
            Answer::given(connection.channel().unwrap().delete_exchange(name, if_unused)).unwrap()
        };
        for name in ["", "amq.direct", "amq.nothing", "nowhere", "source", "destination", "alternate", "e"] {
            let predicted = Answer::predicted(delete_exchange(&conditions, name, name == "source"));
            assert_eq!(delete(vhost.connect(), name, true), predicted, "{} {name:?} if unused", node.version());
        }
        let predicted = Answer::predicted(delete_exchange(&conditions, "source", false));
        assert_eq!(delete(vhost.connect(), "source", false), predicted);
        limit(&vhost, &mut conditions);
        for name in ["", "amq.direct", "nowhere"] {
            let predicted = Answer::predicted(delete_exchange(&conditions, name, false));
            assert_eq!(delete(vhost.connect_as("limited", "limited"), name, false), predicted, "{} {name:?}", node.version());
        }
    }
}

fn conditions_of_deleting() -> [DeleteQueue; 4] {
    [(false, false), (true, false), (false, true), (true, true)]
        .map(|(if_unused, if_empty)| DeleteQueue { if_unused, if_empty })
}

fn fill(channel: &Channel, messages: u32, consumers: u32) {
    channel.confirm_select().unwrap();
    for _ in 0..messages {
        assert!(channel.publish_confirmed(&Publish::to("", "q").persistent()).unwrap().acknowledged);
    }
    for _ in 0..consumers {
        channel.consume(&Consume::from("q")).unwrap();
    }
}

fn delete(connection: &Connection, condition: DeleteQueue) -> Answer {
    let channel = connection.channel().unwrap();
    Answer::given(channel.delete_queue_if("q", condition.if_unused, condition.if_empty)).unwrap()
}

/// Makes `limited`, who may configure nothing, the one who asks.
fn limit(vhost: &Vhost<'_>, conditions: &mut Conditions) {
    vhost.user("limited", "^$", ".*", ".*");
    conditions.user = "limited".to_owned();
    conditions.permissions = Permissions::new("^$", ".*", ".*").unwrap();
}
