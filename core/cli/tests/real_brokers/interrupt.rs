//! Ctrl-C in the middle of an apply: what is under way is waited for, the rest is not sent, and the report says which is which.

use acemq_tests::on_every_broker;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const QUEUES: usize = 1000;
/// Far longer than it takes; only a hang is longer.
const LIMIT: Duration = Duration::from_secs(300);

on_every_broker! {
    fn a_stopped_apply_says_what_was_done_and_is_finished_by_the_next(node) {
        let vhost = node.fresh_vhost();
        let mut document = "acemq: 1\nqueues:\n".to_owned();
        for n in 0..QUEUES {
            writeln!(document, "  q{n}: {{}}").unwrap();
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_acemq"))
            .args(["apply", "-"])
            .env_clear()
            .env("ACEMQ_BROKER", vhost.amqp_url())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(document.as_bytes()).unwrap();
        let queues = || vhost.definitions()["queues"].as_array().unwrap().len();
        let deadline = Instant::now() + LIMIT;
        while queues() < 20 {
            assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none(), "nothing was declared");
        }
        let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(interrupted.success());
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(6), "{error}");
        let there = queues();
        assert!((20..QUEUES).contains(&there), "{there}");
        assert!(error.contains("\n  declared: queue q0, "), "{error}");
        assert!(error.contains("\n  not declared: queue q"), "{error}");
        assert!(error.ends_with("applying again is safe: what is there already is left as it is\n"), "{error}");

        let again = crate::acemq(&["apply", "-"], &vhost.amqp_url(), &document);
        assert_eq!((again.code, again.err.as_str()), (0, ""));
        assert_eq!(queues(), QUEUES);
    }
}
