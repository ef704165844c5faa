//! Migrations under load, by hand: `cargo run --release -p acemq-tests --bin migrate [MESSAGES [GENERATION] [SHAPE]]`.
//!
//! Publishes so many messages (200,000 unless said) with confirms while the queue of each arrangement is replaced, on a node
//! of each RabbitMQ that this machine has, and on a cluster of three; counts what was lost, doubled and returned. Exit code 1
//! when a run was not clean.
//!
//! `migrate without-barrier [ROUNDS]` shows on a 4.3 cluster with a node that hangs for four seconds what is lost when nobody
//! waits for that node.
//!
//! `migrate die before|after STEP AMQP MANAGEMENT VHOST FILE` is the runner that tests let die: it kills itself before or after
//! that step.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a command of the tests"
)]

mod dying;
mod without_barrier;

use acemq_migrate::Ending;
use acemq_tests::broker::{Cluster, Generation, Node};
use acemq_tests::load::{Load, SHAPES, Shape, Traffic};
use acemq_tests::running::{Addresses, migrate, place};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(900);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["die", moment, step, amqp, management, vhost, file] = words.as_slice() {
        let [amqp, management, vhost] = [amqp, management, vhost].map(|text| (*text).to_owned());
        return dying::run(moment, step.parse().unwrap(), &Addresses { amqp, management, vhost, watched: false }, file);
    }
    if let ["without-barrier", rounds @ ..] = words.as_slice() {
        let rounds = rounds.first().map_or(3, |count| count.parse().unwrap());
        return if without_barrier::run(rounds) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let messages: u64 =
        words.first().map_or(200_000, |count| count.parse().unwrap_or_else(|_| panic!("{count} is no number")));
    let wanted =
        |name: &str| words.get(1..).unwrap_or_default().iter().all(|word| !is_one(word, name) || *word == name);
    let shapes: Vec<&Shape> = SHAPES.iter().filter(|shape| wanted(shape.name)).collect();
    let mut clean = true;
    for generation in Generation::wanted().into_iter().filter(|generation| wanted(generation.name())) {
        let node = Node::start(generation).unwrap();
        for shape in &shapes {
            clean &= run(std::slice::from_ref(&node), "one node", shape, messages);
        }
        drop(node);
        if generation != Generation::V4_0 {
            let cluster = Cluster::start(generation).unwrap();
            for shape in &shapes {
                clean &= run(cluster.nodes(), "three nodes", shape, messages);
            }
        }
    }
    if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether two words name things of one sort: shapes, or generations.
fn is_one(word: &str, name: &str) -> bool {
    Shape::named(word).is_some() == Shape::named(name).is_some()
}

fn run(nodes: &[Node], kind: &str, shape: &Shape, messages: u64) -> bool {
    let vhost = nodes[0].fresh_vhost();
    (shape.prepare)(&vhost.connect().channel().unwrap());
    let all: Vec<&Node> = nodes.iter().collect();
    let traffic = Traffic { publishers: 4, total: messages, rate: 2500, ..(shape.traffic)() };
    let load = Load::start(&place(&all, &vhost), traffic);
    // The migration begins when the traffic is under way, and ends before it.
    load.until_published(messages / 20, LIMIT);
    let started = Instant::now();
    let mut notes = Vec::new();
    let ended = migrate(&Addresses { watched: true, ..Addresses::of(&vhost) }, &shape.file(), |progress| {
        if let acemq_migrate::Progress::Note(note) = progress {
            notes.push(note.clone());
        }
        true
    });
    let (took, published) = (started.elapsed(), load.published());
    let ended = ended.unwrap();
    let report = load.stop();
    println!(
        "{} {kind}, {}: {report}; the migration took {:.1} s and ended after {published} messages{}",
        nodes[0].version(),
        shape.name,
        took.as_secs_f64(),
        if published >= messages { " (too late to say much)" } else { "" },
    );
    for note in notes {
        println!("    {note}");
    }
    match &ended {
        Ok(Ending::Finished) => {}
        Ok(Ending::Waiting(why) | Ending::Stopped(why)) => println!("    it did not finish: {why}"),
        Err(error) => println!("    it did not finish: {error}"),
    }
    report.is_clean() && matches!(ended, Ok(Ending::Finished))
}
