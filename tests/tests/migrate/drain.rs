//! Old queues that do not run empty: who is in the way is named, and nothing is deleted.

use acemq_core::migration::MigrationFile;
use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration};
use acemq_core::topology::Format;
use acemq_migrate::{Ending, LOCK_QUEUE, Progress};
use acemq_tests::amqp::{Channel, Consume, Event, Publish, QueueRequest};
use acemq_tests::broker::{Node, Vhost};
use acemq_tests::load::Shape;
use acemq_tests::on_every_broker;
use acemq_tests::running::{Addresses, migrate, with_runner};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A queue `old` with messages, and a consumer on `new` as soon as that is there.
struct Scene<'a> {
    vhost: Vhost<'a>,
    file: String,
}

impl<'a> Scene<'a> {
    fn set(node: &'a Node, messages: u64, timeout: &str) -> Self {
        let shape = Shape::named("overlapping-patterns").unwrap();
        let vhost = node.fresh_vhost();
        let channel = vhost.connect().channel().unwrap();
        (shape.prepare)(&channel);
        channel.confirm_select().unwrap();
        for number in 0..messages {
            assert!(
                channel.publish_confirmed(&Publish::to("x", "c.b").body(number.to_be_bytes())).unwrap().acknowledged
            );
        }
        let file = shape.file().replace("timeout: 3m", &format!("timeout: {timeout}"));
        Self { vhost, file: file.replace("stable: 3 }", "stable: 3 }, wait_for_consumers: 0") }
    }

    fn run(&self, watch: impl FnMut(&Progress) -> bool + Send) -> Ending {
        migrate(&Addresses::of(&self.vhost), &self.file, watch).unwrap().unwrap()
    }

    fn channel(&self) -> Channel {
        self.vhost.connect().channel().unwrap()
    }

    fn left(&self) -> u32 {
        self.channel().declare_queue(QueueRequest::passive("old")).unwrap().messages
    }
}

fn deliveries(channel: &Channel, count: usize) -> Vec<u64> {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut tags = Vec::new();
    while tags.len() < count {
        assert!(Instant::now() < deadline, "{} of {count} messages came", tags.len());
        if let Some(Event::Delivery(delivery)) = channel.next_event(Duration::from_millis(100)).unwrap() {
            tags.push(delivery.delivery_tag);
        }
    }
    tags
}

fn waits(ending: Ending) -> String {
    match ending {
        Ending::Waiting(why) => why,
        other => panic!("{other:?}"),
    }
}

fn stops(ending: Ending) -> String {
    match ending {
        Ending::Stopped(why) => why,
        other => panic!("{other:?}"),
    }
}

on_every_broker! {
    fn a_consumer_that_holds_messages_for_ever_is_named_and_the_run_goes_on_when_it_is_through(node) {
        let scene = Scene::set(node, 3, "12s");
        let connection = scene.vhost.connect();
        let stuck = connection.channel().unwrap();
        stuck.prefetch(7).unwrap();
        stuck.consume(&Consume::from("old")).unwrap();
        let tags = deliveries(&stuck, 3);
        let why = waits(scene.run(|_| true));
        assert!(why.contains("still holds 3 messages, 3 of them unacknowledged"), "{why}");
        assert!(why.contains("(1) of user guest holds 3"), "{why}");
        assert_eq!(scene.left(), 0);
        for tag in tags {
            stuck.ack(tag, false).unwrap();
        }
        assert_eq!(scene.run(|_| true), Ending::Finished);
    }

    fn consumers_that_take_and_never_finish_end_the_run_at_once(node) {
        let scene = Scene::set(node, 3000, "10m");
        let goes_on = AtomicBool::new(true);
        thread::scope(|scope| {
            scope.spawn(|| {
                let connection = scene.vhost.connect();
                let channel = connection.channel().unwrap();
                while goes_on.load(Ordering::SeqCst) {
                    channel.get("old", false).unwrap();
                    thread::sleep(Duration::from_millis(20));
                }
            });
            let why = stops(scene.run(|_| true));
            goes_on.store(false, Ordering::SeqCst);
            assert!(why.contains("take more messages than they finish"), "{why}");
        });
    }

    fn messages_from_outside_after_the_drain_stop_the_run_before_the_queue_is_deleted(node) {
        let scene = Scene::set(node, 0, "2m");
        let outside = scene.channel();
        outside.confirm_select().unwrap();
        let why = stops(scene.run(|progress| {
            if matches!(progress, Progress::Step { action, .. } if action == "delete exchange old.migration.catch") {
                for _ in 0..3 {
                    assert!(outside.publish_confirmed(&Publish::to("", "old")).unwrap().acknowledged);
                }
            }
            true
        }));
        assert!(why.contains("3 messages arrived in queue") && why.contains("from outside"), "{why}");
        assert_eq!(scene.left(), 3);
        assert_eq!(outside.purge("old").unwrap(), 3);
        assert_eq!(scene.run(|_| true), Ending::Finished);
    }

    fn a_publisher_by_name_is_noticed_though_consumers_keep_the_queue_empty(node) {
        let scene = Scene::set(node, 0, "2m");
        let goes_on = AtomicBool::new(true);
        thread::scope(|scope| {
            scope.spawn(|| {
                let connection = scene.vhost.connect();
                let (publisher, consumer) = (connection.channel().unwrap(), connection.channel().unwrap());
                publisher.confirm_select().unwrap();
                consumer.consume(&Consume { no_ack: true, ..Consume::from("old") }).unwrap();
                while goes_on.load(Ordering::SeqCst) {
                    assert!(publisher.publish_confirmed(&Publish::to("", "old")).unwrap().acknowledged);
                    while consumer.next_event(Duration::from_millis(50)).unwrap().is_some() {}
                }
            });
            let ending = migrate(&Addresses { watched: true, ..Addresses::of(&scene.vhost) }, &scene.file, |_| true);
            goes_on.store(false, Ordering::SeqCst);
            let why = stops(ending.unwrap().unwrap());
            assert!(why.contains("from outside") && why.contains("by its name"), "{why}");
        });
        assert_eq!(scene.left(), 0);
        // Nobody publishes any more.
        let ending = migrate(&Addresses { watched: true, ..Addresses::of(&scene.vhost) }, &scene.file, |_| true);
        assert_eq!(ending.unwrap().unwrap(), Ending::Finished);
    }

    fn messages_that_are_neither_ready_nor_held_keep_the_queue(node) {
        let vhost = node.fresh_vhost();
        let channel = vhost.connect().channel().unwrap();
        channel.declare_exchange(&ExchangeDeclaration::durable("x", "direct")).unwrap();
        let old = QueueDeclaration::durable("old").with("x-queue-type", "quorum");
        // Dead letters that no queue takes stay, and are in no count but the total.
        let old = old.with("x-dead-letter-strategy", "at-least-once").with("x-overflow", "reject-publish");
        channel.declare_queue(&old.with("x-dead-letter-exchange", "later")).unwrap();
        channel.bind(&BindingDeclaration::queue("x", "old", "a")).unwrap();
        channel.confirm_select().unwrap();
        for _ in 0..3 {
            assert!(channel.publish_confirmed(&Publish::to("x", "a")).unwrap().acknowledged);
            let delivery = channel.get("old", false).unwrap().unwrap();
            channel.reject(delivery.delivery_tag, false).unwrap();
        }
        let file = Shape::named("quorum-to-quorum").unwrap().file();
        let file = file.replace("stable: 3 }", "stable: 3 }, wait_for_consumers: 0");
        let scene = Scene { vhost, file: file.replace("timeout: 3m", "timeout: 25s") };
        let why = waits(scene.run(|_| true));
        assert!(why.contains("still holds 3 messages, 0 of them unacknowledged"), "{why}");
        assert!(why.contains("3 wait for a delayed retry, or for a queue that takes them as dead letters"), "{why}");
        assert_eq!(scene.left(), 0);
    }

    fn a_limit_of_queues_without_room_is_said_before_the_first_step(node) {
        let scene = Scene::set(node, 0, "2m");
        // old and neighbour; the lock and the new queue come to them.
        scene.vhost.set_limit("max-queues", 2);
        let error = migrate(&Addresses::of(&scene.vhost), &scene.file, |_| true).unwrap().unwrap_err().to_string();
        assert!(error.contains("max-queues") && error.contains(LOCK_QUEUE), "{error}");
        scene.vhost.set_limit("max-queues", 3);
        let error = migrate(&Addresses::of(&scene.vhost), &scene.file, |_| true).unwrap().unwrap_err().to_string();
        assert!(error.contains("declare queue new") && error.contains("raise its limit max-queues"), "{error}");
        // Nor is there room for the history, where it is a stream.
        scene.vhost.set_limit("max-queues", 4);
        let file = MigrationFile::parse(&scene.file, Format::Yaml).unwrap();
        let why = stops(with_runner(&Addresses::of(&scene.vhost), async |runner| {
            let runner = runner.clone().with_history_in_the_vhost();
            runner.run(&file, |progress| panic!("{progress:?}")).await.unwrap()
        }));
        assert!(why.contains("may have 4 queues and has 3, so there is no room for \"acemq.history\", \"new\""), "{why}");
        assert!(why.contains("raise its limit max-queues to 5 first"), "{why}");
        assert_eq!(scene.run(|_| true), Ending::Finished);
    }

    fn a_user_who_may_not_see_the_nodes_is_told_what_is_not_known(node) {
        let scene = Scene::set(node, 0, "2m");
        // The tag management, which opens the API but shows no nodes.
        scene.vhost.user("limited", ".*", ".*", ".*");
        let addresses = Addresses::of(&scene.vhost);
        let limited = |url: &str| url.replace("guest:guest", "limited:limited");
        let (amqp, management) = (limited(&addresses.amqp), limited(&addresses.management));
        let mut notes = Vec::new();
        let ending = migrate(&Addresses { amqp, management, ..addresses }, &scene.file, |progress| {
            if let Progress::Note(note) = progress {
                notes.push(note.clone());
            }
            true
        });
        assert_eq!(ending.unwrap().unwrap(), Ending::Finished);
        assert!(notes.iter().any(|note| note.contains("limited") && note.contains("is not known")), "{notes:?}");
    }
}
