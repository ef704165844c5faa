//! `record [FILE]`: asks every RabbitMQ generation that this machine can have the recorder's requests and writes the answers,
//! to standard output without FILE.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command")]

use acemq_tests::broker::{Generation, Node};
use acemq_tests::recorder::{Case, Given, Recorder, Recording, cases};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(std::env::args().nth(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("record: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(file: Option<String>) -> Result<(), String> {
    let cases = cases::all();
    let brokers = std::thread::scope(|scope| {
        let asking: Vec<_> = Generation::wanted()
            .into_iter()
            .map(|generation| {
                scope.spawn({
                    let cases = &cases;
                    move || ask_all(generation, cases)
                })
            })
            .collect();
        asking
            .into_iter()
            .map(|asking| asking.join().map_err(|_| "asking a broker panicked".to_owned())?)
            .collect::<Result<Vec<_>, String>>()
    })?;
    let mut recording = Recording::default();
    for (name, version, answers) in brokers {
        for (case, given) in cases.iter().zip(answers) {
            recording.note(&name, &version, case, given);
        }
    }
    let text = recording.write(&cases);
    match file {
        None => print!("{text}"),
        Some(path) => std::fs::write(&path, text).map_err(|error| format!("{path}: {error}"))?,
    }
    Ok(())
}

fn ask_all(generation: Generation, cases: &[Case]) -> Result<(String, String, Vec<Given>), String> {
    let node = Node::start(generation)?;
    let mut recorder = Recorder::new(&node);
    let answers = cases.iter().map(|case| recorder.ask(case)).collect();
    Ok((recorder.name(), node.version().to_string(), answers))
}
