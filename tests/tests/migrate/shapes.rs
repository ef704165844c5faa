//! Every arrangement on every broker, under load.

use acemq_tests::amqp::QueueRequest;
use acemq_tests::broker::Node;
use acemq_tests::load::{Load, SHAPES, Shape, Traffic};
use acemq_tests::on_every_broker;
use acemq_tests::running::{Addresses, finish, place};
use std::thread;
use std::time::Duration;

fn replaces_under_load(node: &Node, shape: &Shape) {
    let vhost = node.fresh_vhost();
    let connection = vhost.connect();
    let channel = connection.channel().unwrap();
    (shape.prepare)(&channel);
    let load = Load::start(&place(&[node], &vhost), Traffic { publishers: 2, rate: 80, ..(shape.traffic)() });
    load.until_published(200, Duration::from_secs(60));
    finish(&Addresses::of(&vhost), &shape.file());
    load.until_published(load.published() + 200, Duration::from_secs(60));
    let report = load.stop();
    report.assert_clean();
    assert!(report.of("old") > 0 && report.of("new") > 0 && report.of("neighbour") > 0, "{report:?}");
    assert_eq!(channel.declare_queue(QueueRequest::passive("old")).unwrap_err().refusal().code, 404);
}

on_every_broker! {
    fn every_arrangement_is_replaced_under_load(node) {
        // Most of the time is waiting, so all of them go on at once.
        thread::scope(|scope| {
            let shapes = SHAPES.iter();
            let running: Vec<_> =
                shapes.map(|shape| (shape.name, scope.spawn(|| replaces_under_load(node, shape)))).collect();
            let failed: Vec<&str> =
                running.into_iter().filter_map(|(name, run)| run.join().is_err().then_some(name)).collect();
            assert!(failed.is_empty(), "{failed:?}");
        });
    }
}
