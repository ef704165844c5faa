//! How long the audit of a large vhost takes, and how much memory.
//!
//!     cargo run --release -p acemq-tests --bin audit
//!
//! Each size and shape runs in a process of its own, so that its peak memory is its own. The shapes: every queue dead-letters
//! with a key of its own; every queue dead-letters with the keys that it was reached by, which have to be proved routed; and
//! the same with dead letters that some keys lose. The last column is the time of one binding, in microseconds: where it
//! stays the same, the growth is linear.
#![allow(clippy::print_stdout, reason = "its output is its purpose")]

use acemq_core::audit::{Options, audit};
use acemq_core::rabbitmq::{BindingDeclaration, Broker, ExchangeDeclaration, QueueDeclaration, Version};
use acemq_core::state::State;
use std::process::Command;
use std::time::Instant;

const QUEUES: [usize; 3] = [1_000, 3_000, 10_000];
const BINDINGS: usize = 10;
const SHAPES: [&str; 3] = ["keyed", "proved", "lost"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [shape, queues] => one(shape, queues.parse().unwrap_or(1_000)),
        _ => all(),
    }
}

fn all() {
    let itself = std::env::current_exe().expect("a program knows its file");
    println!(
        "{:<8} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "shape", "queues", "bindings", "findings", "audit ms", "peak MiB", "µs each"
    );
    for shape in SHAPES {
        for queues in QUEUES {
            let status = Command::new(&itself).args([shape, &queues.to_string()]).status();
            assert!(status.is_ok_and(|status| status.success()), "{shape} {queues} failed");
        }
    }
}

/// A vhost of that many queues with ten bindings each, half of them patterns.
fn vhost(shape: &str, queues: usize) -> State {
    let mut state = State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
    state.insert_exchange(ExchangeDeclaration::durable("events", "topic"));
    state.insert_exchange(ExchangeDeclaration::durable("dead", if shape == "keyed" { "direct" } else { "topic" }));
    for number in 0..queues {
        let (name, dead) = (format!("service.queue.{number}"), format!("service.queue.{number}.dlq"));
        let mut queue = QueueDeclaration::durable(&name).with("x-dead-letter-exchange", "dead");
        if shape == "keyed" {
            queue = queue.with("x-dead-letter-routing-key", dead.as_str());
        }
        state.insert_queue(queue);
        // Every tenth queue keeps the dead letters of ten.
        let keeper = format!("service.queue.{}.dlq", number - number % 10);
        if number % 10 == 0 {
            state.insert_queue(QueueDeclaration::durable(&keeper));
        }
        let key = match shape {
            "keyed" => dead,
            "proved" => format!("tenant.{number}.#"),
            _ => format!("tenant.{number}.*.created"),
        };
        state.bindings.insert(BindingDeclaration::queue("dead", &keeper, key));
        for binding in 1..BINDINGS {
            let key = match binding % 2 {
                0 => format!("tenant.{number}.kind{binding}.created"),
                _ => format!("tenant.{number}.kind{binding}.*"),
            };
            state.bindings.insert(BindingDeclaration::queue("events", &name, key));
        }
    }
    state
}

fn one(shape: &str, queues: usize) {
    let state = vhost(shape, queues);
    let started = Instant::now();
    let report = audit(&state, &Options { target: Some(Version::NEWEST), partial: false, ..Options::default() });
    let took = started.elapsed().as_secs_f64() * 1e3;
    let bindings = state.bindings.len();
    println!(
        "{shape:<8} {:>8} {bindings:>9} {:>9} {took:>9.0} {:>9.0} {:>9.2}",
        state.queues.len(),
        report.findings.len(),
        peak_mib(),
        took * 1e3 / bindings as f64
    );
}

/// The most memory that this process ever had, in MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1024.0
}
