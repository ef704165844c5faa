//! How long a large document takes, and how much memory: parsed, validated, planned against the embedded broker.
//!
//!     cargo run --release -p acemq-tests --bin scale
//!
//! Each size runs in a process of its own, so that its peak memory is its own. The last column is the time of one queue and
//! one binding, in microseconds: where it stays the same, the growth is linear.
#![allow(clippy::print_stdout, reason = "its output is its purpose")]

use acemq_core::embedded::EmbeddedBroker;
use acemq_core::plan::{BrokerKind, PlanSession, Settings};
use acemq_core::rabbitmq::{Broker, Conditions, Version};
use acemq_core::topology::{Format, Topology};
use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [format, size] => one(format, size.parse().unwrap_or(1_000)),
        _ => all(),
    }
}

fn all() {
    let itself = std::env::current_exe().expect("a program knows its file");
    println!(
        "{:<6} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "format", "queues", "parse ms", "tables ms", "plan ms", "all ms", "peak MiB", "µs each"
    );
    for format in ["json", "yaml"] {
        for size in SIZES {
            let status = Command::new(&itself).args([format, &size.to_string()]).status();
            assert!(status.is_ok_and(|status| status.success()), "{format} {size} failed");
        }
    }
}

/// A document with that many queues and bindings, each queue with a table of its own.
fn document(format: &str, size: usize) -> String {
    let mut text = String::new();
    if format == "json" {
        text.push_str("{\"acemq\":1,\"exchanges\":{\"events\":{\"type\":\"topic\"}},\"queues\":{");
        for n in 0..size {
            let _ = write!(
                text,
                "{}\"service.queue.{n}\":{{\"arguments\":{{\"x-max-length\":{n}}}}}",
                if n > 0 { "," } else { "" }
            );
        }
        text.push_str("},\"bindings\":[");
        for n in 0..size {
            let comma = if n > 0 { "," } else { "" };
            let _ = write!(
                text,
                "{comma}{{\"queue\":\"service.queue.{n}\",\"exchange\":\"events\",\"routing_key\":\"event.{n}.*\"}}"
            );
        }
        text.push_str("]}");
    } else {
        text.push_str("acemq: 1\nexchanges:\n  events: { type: topic }\nqueues:\n");
        for n in 0..size {
            let _ = writeln!(text, "  service.queue.{n}: {{ arguments: {{ x-max-length: {n} }} }}");
        }
        text.push_str("bindings:\n");
        for n in 0..size {
            let _ =
                writeln!(text, "  - {{ queue: service.queue.{n}, exchange: events, routing_key: \"event.{n}.*\" }}");
        }
    }
    text
}

fn one(format: &str, size: usize) {
    let text = document(format, size).into_bytes();
    let started = Instant::now();
    let topology = Topology::parse(&text, Format::Auto).expect("the document has no problems");
    let parsed = started.elapsed();
    let tables = topology.into_tables().expect("the document has no problems");
    let tabled = started.elapsed();
    let version = Version::NEWEST;
    let mut broker = EmbeddedBroker::new(Conditions::new(version, "/"));
    let mut settings = Settings::amqp(Broker::rabbitmq(version));
    settings.kind = BrokerKind::Memory;
    settings.vhost = Some("/".to_owned());
    let mut session = PlanSession::new(tables, settings);
    broker.drive(&mut session);
    let plan = session.into_plan();
    assert_eq!(plan.summary().create, size);
    let rendered = plan.render(acemq_core::plan::Style::Plan, None);
    let planned = started.elapsed();
    assert!(rendered.len() > size);
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    println!(
        "{format:<6} {size:>8} {:>9.1} {:>9.1} {:>9.1} {:>9.1} {:>9.0} {:>9.2}",
        ms(parsed),
        ms(tabled - parsed),
        ms(planned - tabled),
        ms(planned),
        peak_mib(),
        ms(planned) * 1e3 / size as f64
    );
}

/// The most memory that this process ever had, in MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1024.0
}
