//! Every arrangement on every broker, under load.

use acemq_tests::amqp::QueueRequest;
use acemq_tests::broker::Node;
use acemq_tests::load::{Load, Shape};
use acemq_tests::on_every_broker;
use acemq_tests::running::{Addresses, finish, light, place};
use std::time::Duration;

fn replaces_under_load(node: &Node, shape: &str) {
    let shape = Shape::named(shape).unwrap();
    let vhost = node.fresh_vhost();
    let connection = vhost.connect();
    let channel = connection.channel().unwrap();
    (shape.prepare)(&channel);
    let load = Load::start(&place(&[node], &vhost), light((shape.traffic)()));
    load.until_published(200, Duration::from_secs(60));
    finish(&Addresses::of(&vhost), &shape.file());
    load.until_published(load.published() + 200, Duration::from_secs(60));
    let report = load.stop();
    report.assert_clean();
    assert!(report.of("old") > 0 && report.of("new") > 0 && report.of("neighbour") > 0, "{report:?}");
    assert_eq!(channel.declare_queue(QueueRequest::passive("old")).unwrap_err().refusal().code, 404);
}

on_every_broker! {
    fn patterns_that_overlap_are_one_switch(node) { replaces_under_load(node, "overlapping-patterns"); }
    fn the_sequence_with_a_policy_is_clean_too(node) { replaces_under_load(node, "policy-method"); }
    fn a_quorum_queue_becomes_another_quorum_queue(node) { replaces_under_load(node, "quorum-to-quorum"); }
    fn sources_of_three_types_and_a_binding_between_them_are_one_switch(node) { replaces_under_load(node, "several-sources"); }
    fn a_rung_that_names_the_old_queue_runs_empty_first(node) { replaces_under_load(node, "rungs-by-name"); }
}
