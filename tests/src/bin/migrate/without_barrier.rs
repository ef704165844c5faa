//! Why there is a barrier: a cluster whose third node hangs while a queue is switched, drained and deleted.
//!
//! The first node has the change and sees an empty queue. The third one, when it goes on, routes what its publishers sent
//! meanwhile by the table that it has, to a queue that is deleted: the messages are confirmed, and lost. With the barrier the
//! same calls lose nothing, because the queue stays until the third node knows the change.

use acemq_core::rabbitmq::BindingDeclaration;
use acemq_tests::amqp::Channel;
use acemq_tests::broker::{Cluster, Generation, Node};
use acemq_tests::load::{Load, Report, Shape, Traffic};
use acemq_tests::running::{Addresses, migrate, place};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(120);

/// Up to the switch by the product's runner; then the switch, and the deletion of the queue that looks empty.
fn round(nodes: &[Node], barrier: bool) -> Report {
    let shape = Shape::named("overlapping-patterns").unwrap();
    let vhost = nodes[0].fresh_vhost();
    let connection = vhost.connect();
    let channel = connection.channel().unwrap();
    (shape.prepare)(&channel);
    let addresses = Addresses::of(&vhost);
    // The step before the switch waits for consumers, and there are none yet.
    let file = shape
        .file()
        .replace("type: quorum", "type: classic")
        .replace("stable: 3 }", "stable: 3 }, wait_for_consumers: 0");
    let last = "unbind x -> old [a.*]";
    let cut = migrate(
        &addresses,
        &file,
        |progress| !matches!(progress, acemq_migrate::Progress::Step { action, .. } if action == last),
    );
    assert!(cut.is_none(), "no step was \"{last}\": {cut:?}");
    let all: Vec<&Node> = nodes.iter().collect();
    let load = Load::start(&place(&all, &vhost), Traffic { publishers: 18, rate: 300, ..(shape.traffic)() });
    load.until_published(1000, LIMIT);
    nodes[2].freeze().unwrap();
    let thawed = Instant::now() + Duration::from_secs(4);
    let to_old = BindingDeclaration::queue("old.migration", "old", "");
    channel.unbind(&to_old).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(thawed.saturating_duration_since(Instant::now()));
            nodes[2].thaw().unwrap();
        });
        if barrier {
            until_known(&nodes[2]);
        }
        until_empty(&channel);
        std::thread::sleep(Duration::from_secs(1));
        let _ = channel.delete_queue_if("old", false, true);
    });
    load.until_published(load.published() + 1000, LIMIT);
    load.stop()
}

/// Asks the node itself until it does not show the binding any more.
fn until_known(node: &Node) {
    let deadline = Instant::now() + LIMIT;
    loop {
        // The newest vhost is the round's.
        let bindings = node.management().get("/api/bindings").unwrap_or_default();
        let shown = bindings.as_array().into_iter().flatten();
        if shown.filter(|binding| binding["source"] == "old.migration" && binding["destination"] == "old").count() == 0
        {
            return;
        }
        assert!(Instant::now() < deadline, "the node does not apply the change");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Three looks in a row that find nothing.
fn until_empty(channel: &Channel) {
    let deadline = Instant::now() + LIMIT;
    let mut quiet = 0;
    while quiet < 3 {
        assert!(Instant::now() < deadline, "the old queue does not run empty");
        let found = channel.declare_queue(acemq_tests::amqp::QueueRequest::passive("old")).unwrap();
        quiet = if found.messages == 0 { quiet + 1 } else { 0 };
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Rounds without and with the barrier; whether those without it lost messages, and those with it none.
pub fn run(rounds: usize) -> bool {
    let cluster = Cluster::start(Generation::V4_3).unwrap();
    let mut lost = [0, 0];
    for _ in 0..rounds {
        for (sum, barrier) in lost.iter_mut().zip([false, true]) {
            let report = round(cluster.nodes(), barrier);
            println!("{} barrier: {report}", if barrier { "with" } else { "without" });
            *sum += report.lost;
        }
    }
    println!("without barrier {} lost, with it {}", lost[0], lost[1]);
    lost[0] > 0 && lost[1] == 0
}
