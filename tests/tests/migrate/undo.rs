//! A migration that is taken back under load, from every step before the point of no return.

use acemq_core::migration::Phase;
use acemq_migrate::{Ending, LOCK_QUEUE, Progress};
use acemq_tests::broker::{Node, Vhost};
use acemq_tests::load::{Load, Shape};
use acemq_tests::on_every_broker;
use acemq_tests::running::{Addresses, finish, light, migrate, place, plan, undo};
use serde_json::{Value as Json, json};
use std::time::Duration;

/// Everything that is defined in a vhost. The lock goes a moment after its owner.
fn definitions(vhost: &Vhost<'_>) -> Json {
    let list = |path: &str, columns: &str| {
        let list = vhost.node().management().get(&format!("/api/{path}/{}?columns={columns}", vhost.name())).unwrap();
        let is_lock = |object: &Json| object["name"] == LOCK_QUEUE || object["destination"] == LOCK_QUEUE;
        list.as_array().unwrap().iter().filter(|object| !is_lock(object)).cloned().collect::<Vec<_>>()
    };
    json!([
        list("exchanges", "name,type,durable,auto_delete,internal,arguments"),
        list("queues", "name,durable,auto_delete,exclusive,arguments"),
        list("bindings", "source,destination,destination_type,routing_key,arguments"),
        list("policies", ""),
    ])
}

/// Forward to each of the steps, and back again each time.
fn there_and_back(node: &Node, name: &str) {
    let shape = Shape::named(name).unwrap();
    // Numbers of a quorum queue have to be waited for; that they are is tested elsewhere.
    let file = shape.file().replace("type: quorum", "type: classic");
    let vhost = node.fresh_vhost();
    (shape.prepare)(&vhost.connect().channel().unwrap());
    let addresses = Addresses::of(&vhost);
    let (start, first) = (definitions(&vhost), plan(&addresses, &file));
    let changes: Vec<usize> =
        (1..).zip(&first.steps).filter(|(_, step)| step.action.changes()).map(|(at, _)| at).collect();
    let (last, all) = changes.split_last().unwrap();
    assert!(first.steps[last - 1].point_of_no_return);
    let switch = first.steps.iter().rposition(|step| step.phase == Phase::Switch).unwrap() + 1;
    let every = std::env::var_os("ACEMQ_TEST_THOROUGH").is_some();
    // The first, the switch and the last one; by hand all of them.
    let stops = all.iter().filter(|at| every || [&all[0], &switch, all.last().unwrap()].contains(at));
    let load = Load::start(&place(&[node], &vhost), light((shape.traffic)()));
    load.until_published(200, Duration::from_secs(60));
    for stop in stops {
        let cut =
            migrate(&addresses, &file, |progress| !matches!(progress, Progress::Step { number, .. } if number == stop));
        assert!(cut.is_none(), "step {stop}: {cut:?}");
        assert_ne!(definitions(&vhost), start, "step {stop}");
        assert_eq!(undo(&addresses, &file, first.beginning()).unwrap(), Ending::Finished, "step {stop}");
        assert_eq!(definitions(&vhost), start, "step {stop}");
    }
    finish(&addresses, &file);
    let refused = undo(&addresses, &file, first.beginning()).unwrap_err();
    assert!(refused.to_string().contains("old"), "{refused}");
    load.stop().assert_clean();
}

on_every_broker! {
    fn a_migration_is_taken_back_under_load_to_the_definitions_of_the_start(node) {
        there_and_back(node, "overlapping-patterns");
    }
}
