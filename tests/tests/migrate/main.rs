//! Migrations on real brokers, under load: what was published is received once, neighbours go on, and a runner that is cut off
//! is followed by one that finishes.

mod load;

use acemq_core::migration::MigrationFile;
use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration};
use acemq_core::topology::Format;
use acemq_live::{Client, Limits, Management};
use acemq_migrate::{Ending, Progress, Runner};
use acemq_tests::broker::Vhost;
use acemq_tests::on_every_broker;
use load::Load;
use std::time::Duration;

/// Limits that a busy machine keeps; only a hang is longer.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(30),
    question: Duration::from_secs(30),
    change: Duration::from_secs(60),
    reconnect: Duration::from_secs(60),
    listing: Duration::from_secs(60),
    close: Duration::from_secs(3),
};

const FILE: &str = "acemq_migration: 1
replace: { queue: old, with: { name: new, type: quorum } }
options: { drain: { timeout: 5m, poll: 200ms, stable: 3 } }
";

/// A topic exchange with overlapping patterns for `old`, and a neighbour on the same keys.
fn prepare(vhost: &Vhost<'_>) {
    let connection = vhost.connect();
    let channel = connection.channel().unwrap();
    channel.declare_exchange(&ExchangeDeclaration::durable("x", "topic")).unwrap();
    for queue in ["old", "neighbour"] {
        channel.declare_queue(&QueueDeclaration::durable(queue).with("x-queue-type", "classic")).unwrap();
    }
    for (queue, key) in [("old", "a.*"), ("old", "*.b"), ("neighbour", "a.#")] {
        channel.bind(&BindingDeclaration::queue("x", queue, key)).unwrap();
    }
}

/// Runs the migration until it ends, or until `cut` changes were made; then the connection is dropped in the middle.
fn migrate(vhost: &Vhost<'_>, cut: Option<usize>) -> Option<Ending> {
    let file = MigrationFile::parse(FILE, Format::Yaml).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let client = Client::connect(vhost.amqp_url().parse().unwrap(), "acemq migrate tests", LIMITS).await.unwrap();
        let management = Management::new(vhost.node().management_url().parse().unwrap(), LIMITS).unwrap();
        let runner = Runner::new(&client, &management, vhost.name());
        let (sender, mut changes) = tokio::sync::mpsc::unbounded_channel();
        let run = runner.run(&file, move |progress| {
            if matches!(progress, Progress::Step { .. }) {
                let _ = sender.send(());
            }
        });
        let cut_off = async {
            match cut {
                Some(count) => {
                    for _ in 0..count {
                        changes.recv().await;
                    }
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            ending = run => Some(ending.unwrap()),
            () = cut_off => None,
        }
    })
}

on_every_broker! {
    fn a_queue_is_replaced_under_load_with_nothing_lost_and_nothing_doubled(node) {
        let vhost = node.fresh_vhost();
        prepare(&vhost);
        let load = Load::start(&vhost);
        assert_eq!(migrate(&vhost, None), Some(Ending::Finished));
        let report = load.stop();
        assert!(report.confirmed > 100, "{report:?}");
        assert_eq!((report.lost, report.doubled, report.returned), (0, 0, 0), "{report:?}");
        assert_eq!((report.neighbour_lost, report.neighbour_doubled), (0, 0), "{report:?}");
        assert!(report.by_new > 0, "{report:?}");
        let connection = vhost.connect();
        let gone = connection.channel().unwrap().declare_queue(acemq_tests::amqp::QueueRequest::passive("old"));
        assert_eq!(gone.unwrap_err().refusal().code, 404);
    }

    fn a_runner_that_is_cut_off_under_load_is_followed_by_one_that_finishes(node) {
        let vhost = node.fresh_vhost();
        prepare(&vhost);
        let load = Load::start(&vhost);
        // After the third change, and after the switch; then to the end.
        assert_eq!(migrate(&vhost, Some(3)), None);
        assert_eq!(migrate(&vhost, Some(6)), None);
        assert_eq!(migrate(&vhost, None), Some(Ending::Finished));
        assert_eq!(migrate(&vhost, None), Some(Ending::Finished));
        let report = load.stop();
        assert_eq!((report.lost, report.doubled, report.returned), (0, 0, 0), "{report:?}");
        assert_eq!((report.neighbour_lost, report.neighbour_doubled), (0, 0), "{report:?}");
    }
}
