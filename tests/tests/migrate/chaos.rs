//! Runners that die, brokers and APIs that fail: a run that follows finishes, and nothing is lost or doubled.

use acemq_migrate::{Ending, Progress};
use acemq_tests::broker::{Generation, Node, Vhost, shared};
use acemq_tests::load::{Load, Report, Shape};
use acemq_tests::on_every_broker;
use acemq_tests::proxy::{self, Fate, Wire};
use acemq_tests::running::{Addresses, finish, light, migrate, place, plan};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Runs `run` while a queue is under load; what came of it.
fn under_load(node: &Node, shape: &str, run: impl FnOnce(&Vhost<'_>, &Addresses, &Shape)) -> Report {
    let shape = Shape::named(shape).unwrap();
    let vhost = node.fresh_vhost();
    (shape.prepare)(&vhost.connect().channel().unwrap());
    let load = Load::start(&place(&[node], &vhost), light((shape.traffic)()));
    run(&vhost, &Addresses::of(&vhost), shape);
    let report = load.stop();
    assert!(report.of("new") > 0, "{report:?}");
    report
}

/// The numbers of the steps that change something.
fn changes(addresses: &Addresses, file: &str) -> Vec<usize> {
    let steps = plan(addresses, file).steps;
    (1..).zip(steps).filter(|(_, step)| step.action.changes()).map(|(number, _)| number).collect()
}

on_every_broker! {
    fn a_runner_that_is_killed_before_and_after_every_step_is_followed_by_one_that_finishes(node) {
        under_load(node, "overlapping-patterns", |_, addresses, shape| {
            let mut killed = 0;
            for number in changes(addresses, &shape.file()) {
                for moment in ["before", "after"] {
                    let status = Command::new(env!("CARGO_BIN_EXE_migrate"))
                        .args(["die", moment, &number.to_string()])
                        .args([&addresses.amqp, &addresses.management, &addresses.vhost, &shape.file()])
                        .status()
                        .unwrap();
                    // Killed, and by itself.
                    assert_eq!(status.signal(), Some(9), "{moment} step {number}: {status}");
                    killed += 1;
                }
            }
            assert!(killed > 30, "{killed}");
            finish(addresses, &shape.file());
        })
        .assert_clean();
    }

    fn five_runners_at_once_are_one(node) {
        under_load(node, "overlapping-patterns", |_, addresses, shape| {
            thread::scope(|scope| {
                for _ in 0..5 {
                    scope.spawn(|| finish(addresses, &shape.file()));
                }
            });
        })
        .assert_clean();
    }

    fn a_connection_that_is_cut_after_every_step_is_made_again(node) {
        under_load(node, "overlapping-patterns", |vhost, addresses, shape| {
            let wire = Wire::start(node.amqp_port()).unwrap();
            let amqp = format!("amqp://guest:guest@127.0.0.1:{}/{}", wire.port, vhost.name());
            let ended = migrate(&Addresses { amqp, ..addresses.clone() }, &shape.file(), |progress| {
                if matches!(progress, Progress::Step { .. }) {
                    wire.cut();
                }
                true
            });
            assert_eq!(ended.unwrap().unwrap(), Ending::Finished);
        })
        .assert_clean();
    }

    fn a_management_api_that_fails_now_and_then_or_is_slow_delays_a_run_only(node) {
        under_load(node, "overlapping-patterns", |_, addresses, shape| {
            let asked = AtomicU64::new(0);
            let port = proxy::management(node.management_port(), move |_| match asked.fetch_add(1, Ordering::SeqCst) % 60 {
                20 => Fate::Fail(500),
                40 => Fate::Fail(503),
                50 => Fate::Late(Duration::from_millis(700)),
                _ => Fate::Pass,
            });
            let management = format!("http://guest:guest@127.0.0.1:{}", port.unwrap());
            finish(&Addresses { management, ..addresses.clone() }, &shape.file());
        })
        .assert_clean();
    }
}

/// Statistics lag on every version alike, and waiting for them takes its time: one version will do.
#[test]
fn figures_of_five_seconds_ago_do_not_make_a_queue_empty() {
    let Some(node) = shared(Generation::V4_3) else { return };
    under_load(node, "quorum-to-quorum", |_, addresses, shape| {
        let port = proxy::management(node.management_port(), |path| {
            if path.contains("enable_queue_totals") { Fate::Stale(Duration::from_secs(5)) } else { Fate::Pass }
        });
        let management = format!("http://guest:guest@127.0.0.1:{}", port.unwrap());
        finish(&Addresses { management, ..addresses.clone() }, &shape.file());
    })
    .assert_clean();
}
