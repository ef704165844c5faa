//! Clusters: traffic through all three nodes, a node that hangs for some seconds, a node that is down.

use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration};
use acemq_live::Head;
use acemq_live::amqp::AmqpBroker;
use acemq_migrate::{Ending, LOCK_QUEUE, Progress, RunError};
use acemq_tests::amqp::{Login, Publish, QueueRequest};
use acemq_tests::broker::{Cluster, Generation, Node, Vhost};
use acemq_tests::load::{Load, Report, Shape};
use acemq_tests::running::{Addresses, LIMITS, finish, light, migrate, place};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(120);

fn on_cluster(generation: Generation, check: impl FnOnce(&[Node])) {
    if Generation::wanted().contains(&generation) {
        check(Cluster::start(generation).unwrap().nodes());
    }
}

/// Replaces the queue of a shape under load through all nodes, while `meanwhile` goes on; what came of it.
fn replace(nodes: &[Node], shape: &str, run: impl FnOnce(&Addresses, &str)) -> Report {
    let shape = Shape::named(shape).unwrap();
    let vhost = nodes[0].fresh_vhost();
    (shape.prepare)(&vhost.connect().channel().unwrap());
    known_everywhere(nodes, &vhost);
    let all: Vec<&Node> = nodes.iter().collect();
    let load = Load::start(&place(&all, &vhost), light((shape.traffic)()));
    load.until_published(200, LIMIT);
    run(&Addresses::of(&vhost), &shape.file());
    load.until_published(load.published() + 200, LIMIT);
    load.stop()
}

/// Waits until every node knows the vhost and its bindings, so that nothing is published into nowhere.
fn known_everywhere(nodes: &[Node], vhost: &Vhost<'_>) {
    let bindings = |node: &Node| node.management().get(&format!("/api/bindings/{}", vhost.name())).ok();
    let wanted = bindings(&nodes[0]).unwrap();
    let deadline = Instant::now() + LIMIT;
    while nodes.iter().any(|node| bindings(node).as_ref() != Some(&wanted)) {
        assert!(Instant::now() < deadline, "not every node knows the vhost");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A node that is stopped for some seconds. It goes on when this is dropped, whatever happened.
struct Frozen<'a>(&'a Node);

impl<'a> Frozen<'a> {
    fn freeze(node: &'a Node) -> Self {
        node.freeze().unwrap();
        Self(node)
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        let _ = self.0.thaw();
    }
}

/// How long a node hangs: so long that a queue that another node believes empty would be deleted meanwhile.
const HANG: Duration = Duration::from_secs(4);

/// Runs the migration; whenever one of these steps is done, the node hangs.
fn finish_while_hanging(addresses: &Addresses, file: &str, node: &Node, steps: &[&str]) {
    let (sender, hang) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            while hang.recv().is_ok() {
                let _frozen = Frozen::freeze(node);
                thread::sleep(HANG);
            }
        });
        let mut hung = 0;
        let ended = migrate(addresses, file, |progress| {
            if matches!(progress, Progress::Step { action, .. } if steps.contains(&action.as_str())) {
                hung += 1;
                sender.send(()).unwrap();
            }
            true
        });
        drop(sender);
        assert_eq!(ended.unwrap().unwrap(), Ending::Finished);
        assert_eq!(hung, steps.len());
    });
}

fn traffic_through_all_nodes_is_clean(nodes: &[Node]) {
    let notes = |addresses: &Addresses, file: &str| {
        let ended = migrate(addresses, file, |progress| {
            // Every node is asked on an address of its own that was found; nothing is left to luck.
            assert!(!matches!(progress, Progress::Note(_)), "{progress:?}");
            true
        });
        assert_eq!(ended.unwrap().unwrap(), Ending::Finished);
    };
    let report = replace(nodes, "several-sources", notes);
    report.assert_clean();
    assert!(report.of("new") > 0, "{report:?}");
}

/// Around the switch, and before the old queue is deleted.
fn a_node_that_hangs_is_waited_for(nodes: &[Node]) {
    let report = replace(nodes, "overlapping-patterns", |addresses, file| {
        finish_while_hanging(addresses, file, &nodes[2], &[SWITCH, "delete exchange old.migration.catch"]);
    });
    report.assert_clean();
}

const SWITCH: &str = "unbind old.migration -> old []";

fn a_node_that_is_down_is_named_and_the_run_goes_on_when_it_is_back(nodes: &[Node]) {
    let down = format!("node {} is not running", nodes[2].node_name());
    let report = replace(nodes, "overlapping-patterns", |addresses, file| {
        // It goes down when the switch is done: the barrier behind it cannot be passed.
        let ended = migrate(addresses, file, |progress| {
            if matches!(progress, Progress::Step { action, .. } if action == SWITCH) {
                nodes[2].kill().unwrap();
                until_down(&nodes[0], &nodes[2]);
            }
            true
        });
        let why = waits(ended);
        assert!(why.contains(&down), "{why}");
        // Nor does another run start.
        let why = waits(migrate(addresses, file, |_| true));
        assert!(why.contains(&down), "{why}");
        nodes[2].start_again().unwrap();
        finish(addresses, file);
    });
    report.assert_clean();
}

/// The exclusive queue of a runner that was connected to a node which went down: from Khepri on nobody can take it.
fn a_lock_that_its_node_keeps_is_named(nodes: &[Node]) {
    let shape = Shape::named("overlapping-patterns").unwrap();
    let vhost = nodes[0].fresh_vhost();
    (shape.prepare)(&vhost.connect().channel().unwrap());
    known_everywhere(nodes, &vhost);
    let login = Login { vhost: vhost.name().to_owned(), ..Login::default() };
    let owner = nodes[2].try_connect(&login).unwrap();
    let lock = QueueDeclaration { durable: false, exclusive: true, ..QueueDeclaration::durable(LOCK_QUEUE) };
    owner.channel().unwrap().declare_queue(&lock).unwrap();
    // Nobody consumes here.
    let file = shape.file().replace("stable: 3 }", "stable: 3 }, wait_for_consumers: 0");
    let ended = migrate(&Addresses::of(&vhost), &file, |progress| {
        if matches!(progress, Progress::Note(note) if note.contains("another runner")) {
            nodes[2].kill().unwrap();
            until_down(&nodes[0], &nodes[2]);
        }
        true
    });
    let why = match ended.unwrap() {
        Err(RunError::Locked { why }) | Ok(Ending::Waiting(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(why.contains(&nodes[2].node_name()), "{why}");
    let is_kept = nodes[0].generation() == Generation::V4_3;
    assert_eq!(why.contains(LOCK_QUEUE), is_kept, "{why}");
    nodes[2].start_again().unwrap();
}

fn waits(ended: Option<Result<Ending, RunError>>) -> String {
    match ended.unwrap().unwrap() {
        Ending::Waiting(why) => why,
        other => panic!("{other:?}"),
    }
}

/// Waits until one node knows that another one is down.
fn until_down(asked: &Node, down: &Node) {
    let deadline = Instant::now() + LIMIT;
    let is_down = || {
        let nodes = asked.management().get("/api/nodes").unwrap_or_default();
        let nodes = nodes.as_array().into_iter().flatten();
        nodes.filter(|node| node["name"] == down.node_name()).any(|node| node["running"] == false)
    };
    while !is_down() {
        assert!(Instant::now() < deadline, "{} is not known to be down", down.node_name());
        thread::sleep(Duration::from_millis(50));
    }
}

/// A quorum queue whose leader hangs: others say 0 messages for it.
fn a_queue_whose_leader_hangs_is_not_believed_empty(nodes: &[Node]) {
    const MESSAGES: u8 = 10;
    let shape = Shape::named("quorum-to-quorum").unwrap();
    let vhost = nodes[0].fresh_vhost();
    known_everywhere(nodes, &vhost);
    let login = Login { vhost: vhost.name().to_owned(), ..Login::default() };
    let there = nodes[2].try_connect(&login).unwrap().channel().unwrap();
    there.declare_queue(&QueueDeclaration::durable("dead")).unwrap();
    // The leader is on the node through which it is declared.
    let old = QueueDeclaration::durable("old").with("x-queue-type", "quorum").with("x-delivery-limit", 2);
    let old = old.with("x-dead-letter-exchange", "").with("x-dead-letter-routing-key", "dead");
    there.declare_queue(&old.with("x-queue-leader-locator", "client-local")).unwrap();
    there.declare_exchange(&ExchangeDeclaration::durable("x", "direct")).unwrap();
    there.bind(&BindingDeclaration::queue("x", "old", "a")).unwrap();
    known_everywhere(nodes, &vhost);
    there.confirm_select().unwrap();
    for number in 0..MESSAGES {
        assert!(there.publish_confirmed(&Publish::to("x", "a").body([number])).unwrap().acknowledged);
    }
    let addresses = Addresses::of(&vhost);
    let file = shape.file().replace("stable: 3 }", "stable: 3 }, wait_for_consumers: 0");
    let (tell, told) = mpsc::channel();
    thread::scope(|scope| {
        let run = scope.spawn(|| {
            migrate(&addresses, &file, move |progress| {
                if matches!(progress, Progress::Left { messages } if *messages == u64::from(MESSAGES)) {
                    // Nobody listens any more after the first time.
                    let _ = tell.send(());
                }
                true
            })
        });
        told.recv_timeout(LIMIT).unwrap();
        {
            let _frozen = Frozen::freeze(&nodes[2]);
            let broker = AmqpBroker::new(addresses.amqp.parse().unwrap(), "cluster tests").unwrap();
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let asked = Instant::now();
            let answer = runtime.block_on(Head::ask(&broker, "old", LIMITS, HANG));
            assert_eq!(answer, None);
            assert!(asked.elapsed() < HANG * 3, "{:?}", asked.elapsed());
            // Longer than two rounds of statistics.
            thread::sleep(HANG * 2);
            assert!(!run.is_finished());
        }
        let here = vhost.connect().channel().unwrap();
        let count = |queue: &str| here.declare_queue(QueueRequest::passive(queue)).unwrap().messages;
        let deadline = Instant::now() + LIMIT;
        while count("old") != u32::from(MESSAGES) {
            assert!(Instant::now() < deadline, "{} of {MESSAGES} messages are there, {}", count("old"), count("dead"));
            thread::sleep(Duration::from_millis(100));
        }
        let numbers: Vec<u8> = (0..MESSAGES)
            .map(|_| {
                let delivery = here.get("old", false).unwrap().unwrap();
                here.ack(delivery.delivery_tag, false).unwrap();
                delivery.body[0]
            })
            .collect();
        assert_eq!(numbers, (0..MESSAGES).collect::<Vec<_>>());
        assert_eq!(run.join().unwrap().unwrap().unwrap(), Ending::Finished);
        assert_eq!(count("dead"), 0);
    });
}

fn check(nodes: &[Node]) {
    traffic_through_all_nodes_is_clean(nodes);
    a_node_that_hangs_is_waited_for(nodes);
    a_queue_whose_leader_hangs_is_not_believed_empty(nodes);
    a_node_that_is_down_is_named_and_the_run_goes_on_when_it_is_back(nodes);
    a_lock_that_its_node_keeps_is_named(nodes);
}

#[test]
fn distribution() {
    on_cluster(Generation::Distribution, check);
}

#[test]
fn rabbitmq_4_3() {
    on_cluster(Generation::V4_3, check);
}
