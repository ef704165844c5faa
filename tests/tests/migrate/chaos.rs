//! Runners that die, brokers and APIs that fail: a run that follows finishes, and nothing is lost or doubled.

use crate::running::{Addresses, finish, light, migrate, place};
use acemq_migrate::Progress;
use acemq_tests::load::{Load, Shape};
use acemq_tests::on_every_broker;

/// Ends a run when so many changes were made.
fn after_changes(count: usize) -> impl FnMut(&Progress) -> bool {
    let mut made = 0;
    move |progress| {
        made += usize::from(matches!(progress, Progress::Step { .. }));
        made < count
    }
}

on_every_broker! {
    fn a_runner_that_is_cut_off_under_load_is_followed_by_one_that_finishes(node) {
        let shape = Shape::named("overlapping-patterns").unwrap();
        let vhost = node.fresh_vhost();
        (shape.prepare)(&vhost.connect().channel().unwrap());
        let load = Load::start(&place(&[node], &vhost), light((shape.traffic)()));
        let addresses = Addresses::of(&vhost);
        // After the third change, and after the switch; then to the end, and once more.
        for changes in [3, 8] {
            assert!(migrate(&addresses, &shape.file(), after_changes(changes)).is_none());
        }
        finish(&addresses, &shape.file());
        finish(&addresses, &shape.file());
        load.stop().assert_clean();
    }
}
