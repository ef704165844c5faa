//! How long the audit of a large vhost takes, and how much memory.
//!
//!     cargo run --release -p acemq-tests --bin audit
//!
//! Each size and shape runs in a process of its own, so that its peak memory is its own; beside it is what the vhost took
//! before it was audited. The last column is the processor time of one binding, in microseconds: where it stays the same from
//! one size to the next, the growth is linear.
//!
//! * `keyed`: every queue dead-letters with a key of its own.
//! * `proved`: dead letters keep the keys that their queue was reached by, which have to be proved routed.
//! * `lost`: the same, and some keys are lost.
//! * `returned`: dead letters wait and come back with their keys, all through the same two exchanges.
//! * `chained`: each queue behind an exchange of its own, and so its dead letters.
//! * `governed`: a fanout to every queue, and twenty policies that say where dead letters go.
//!
//! `-- SHAPE QUEUES FILE` audits one and writes the report to a file, to be compared with that of another version.
#![allow(clippy::print_stdout, reason = "its output is its purpose")]

use acemq_core::audit::{Options, audit};
use acemq_core::rabbitmq::{
    BindingDeclaration, Broker, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration, Version,
};
use acemq_core::state::State;
use acemq_core::value::{Table, Value};
use std::process::Command;
use std::time::Instant;

const QUEUES: [usize; 3] = [1_000, 3_000, 10_000];
const BINDINGS: usize = 10;
const SHAPES: [&str; 6] = ["keyed", "proved", "lost", "returned", "chained", "governed"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [shape, queues, file @ ..] => one(shape, queues.parse().unwrap_or(1_000), file.first()),
        _ => all(),
    }
}

fn all() {
    let itself = std::env::current_exe().expect("a program knows its file");
    println!(
        "{:<8} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "shape", "queues", "bindings", "findings", "audit ms", "cpu ms", "vhost MiB", "peak MiB", "µs each"
    );
    for shape in SHAPES {
        for queues in QUEUES {
            let status = Command::new(&itself).args([shape, &queues.to_string()]).status();
            assert!(status.is_ok_and(|status| status.success()), "{shape} {queues} failed");
        }
    }
}

/// A vhost of that many queues, with ten bindings for each, and what keeps or returns their dead letters.
fn vhost(shape: &str, queues: usize) -> State {
    let mut state = State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
    state.insert_exchange(ExchangeDeclaration::durable("events", if shape == "governed" { "fanout" } else { "topic" }));
    state.insert_exchange(ExchangeDeclaration::durable("dead", if shape == "keyed" { "direct" } else { "topic" }));
    for number in 0..queues {
        let name = format!("service.queue.{number}");
        match shape {
            "returned" => returned(&mut state, number, &name),
            "chained" => chained(&mut state, number, &name),
            "governed" => governed(&mut state, number, &name),
            _ => kept(&mut state, shape, number, &name),
        }
    }
    state
}

fn events(state: &mut State, exchange: &str, number: usize, queue: &str) {
    for binding in 1..BINDINGS {
        let key = match binding % 2 {
            0 => format!("tenant.{number}.kind{binding}.created"),
            _ => format!("tenant.{number}.kind{binding}.*"),
        };
        state.bindings.insert(BindingDeclaration::queue(exchange, queue, key));
    }
}

/// Every tenth queue has one that keeps the dead letters of ten.
fn kept(state: &mut State, shape: &str, number: usize, name: &str) {
    let dead = format!("service.queue.{number}.dlq");
    let mut queue = QueueDeclaration::durable(name).with("x-dead-letter-exchange", "dead");
    if shape == "keyed" {
        queue = queue.with("x-dead-letter-routing-key", dead.as_str());
    }
    state.insert_queue(queue);
    let keeper = format!("service.queue.{}.dlq", number - number % 10);
    if number.is_multiple_of(10) {
        state.insert_queue(QueueDeclaration::durable(&keeper));
    }
    let key = match shape {
        "keyed" => dead,
        "proved" => format!("tenant.{number}.#"),
        _ => format!("tenant.{number}.*.created"),
    };
    state.bindings.insert(BindingDeclaration::queue("dead", &keeper, key));
    events(state, "events", number, name);
}

/// Dead letters wait in a queue for each, and come back with their keys.
fn returned(state: &mut State, number: usize, name: &str) {
    let wait = format!("service.wait.{number}");
    state.insert_queue(QueueDeclaration::durable(name).with("x-dead-letter-exchange", "dead"));
    let waiting = QueueDeclaration::durable(&wait).with("x-message-ttl", 30_000_i64);
    state.insert_queue(waiting.with("x-dead-letter-exchange", "events"));
    state.bindings.insert(BindingDeclaration::queue("dead", &wait, format!("tenant.{number}.#")));
    events(state, "events", number, name);
}

/// An exchange for each queue behind the public one, and one for its dead letters.
fn chained(state: &mut State, number: usize, name: &str) {
    let (inner, dead, keeper) =
        (format!("service.{number}"), format!("service.{number}.dead"), format!("service.queue.{number}.dlq"));
    state.insert_exchange(ExchangeDeclaration::durable(&inner, "topic"));
    state.insert_exchange(ExchangeDeclaration::durable(&dead, "fanout"));
    state.insert_queue(QueueDeclaration::durable(name).with("x-dead-letter-exchange", "dead"));
    state.insert_queue(QueueDeclaration::durable(&keeper));
    state.bindings.insert(BindingDeclaration::exchange("events", &inner, format!("tenant.{number}.#")));
    state.bindings.insert(BindingDeclaration::exchange("dead", &dead, format!("tenant.{number}.#")));
    state.bindings.insert(BindingDeclaration::queue(&dead, &keeper, ""));
    events(state, &inner, number, name);
}

/// Twenty policies say where dead letters go, and every queue gets every message.
fn governed(state: &mut State, number: usize, name: &str) {
    if number < 20 {
        state.insert_policy(PolicyDeclaration {
            name: format!("tenants-{number}"),
            pattern: format!("^service\\.queue\\.\\d*{number}$"),
            apply_to: "queues".to_owned(),
            priority: i64::try_from(number).unwrap_or_default(),
            definition: Table::from([("dead-letter-exchange", Value::text("dead"))]),
        });
        state.insert_queue(QueueDeclaration::durable(format!("dead.{number}")));
        state.bindings.insert(BindingDeclaration::queue("dead", format!("dead.{number}"), "#"));
    }
    state.insert_queue(QueueDeclaration::durable(name));
    events(state, "events", number, name);
}

fn one(shape: &str, queues: usize, file: Option<&String>) {
    let state = vhost(shape, queues);
    let (started, cpu, held) = (Instant::now(), cpu_ms(), peak_mib());
    let report = audit(&state, &Options { target: Some(Version::NEWEST), partial: false, ..Options::default() });
    let (took, cpu) = (started.elapsed().as_secs_f64() * 1e3, cpu_ms() - cpu);
    let bindings = state.bindings.len();
    println!(
        "{shape:<8} {:>8} {bindings:>9} {:>9} {took:>9.0} {cpu:>9.0} {held:>9.0} {:>9.0} {:>9.2}",
        state.queues.len(),
        report.findings.len(),
        peak_mib(),
        cpu * 1e3 / bindings as f64
    );
    if let Some(file) = file {
        let document = serde_json::to_string_pretty(&report.to_document()).expect("a report is JSON");
        std::fs::write(file, document).expect("the file can be written");
    }
}

/// The processor time that this process has had, in ms; it says more than the clock where others work beside it.
fn cpu_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or(0.0) / 1e6
}

/// The most memory that this process ever had, in MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1024.0
}
