//! `broker [GENERATION]`: a throw-away RabbitMQ node for programs that are not written in Rust.
//!
//! Starts a node of `distribution`, `4.0` or `4.3` (the oldest one that the tests run against, unless said), prints one line of
//! JSON with its version and addresses, and stops it when standard input ends: when the program that asked for it is done,
//! however it came to its end.
//!
//! Exit 0 after that, 1 on bad usage or when the node cannot be started.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command")]

use acemq_tests::broker::{Generation, Node};
use serde_json::json;
use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("broker: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Vec<String>) -> Result<(), String> {
    let generation = match arguments.as_slice() {
        [] => {
            Generation::wanted().first().copied().ok_or("this machine has no RabbitMQ; ./test --setup installs it")?
        }
        [name] => Generation::ALL.into_iter().find(|generation| generation.name() == name).ok_or_else(|| {
            let names = Generation::ALL.map(Generation::name).join(", ");
            format!("there is no generation \"{name}\"; there are {names}")
        })?,
        _ => return Err("usage: broker [GENERATION]".to_owned()),
    };
    let node = Node::start(generation)?;
    println!(
        "{}",
        json!({
            "generation": generation.name(),
            "version": node.version().to_string(),
            "url": node.amqp_url(),
            "port": node.amqp_port(),
            "management_url": node.management_url(),
        })
    );
    io::copy(&mut io::stdin(), &mut io::sink()).map_err(|error| error.to_string())?;
    Ok(())
}
