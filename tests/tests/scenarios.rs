//! The example scenarios on real brokers: the same steps, the same answers, every message in the same place with the same
//! routing key and the same deaths.
//!
//! What an expectation says of a queue's contents can only be looked at by taking the messages out. So each scenario is played
//! once for each of its expectations, up to there, and once to its end.

use acemq_core::embedded::scenario::{Base, Scenario};
use acemq_core::topology::Format;
use acemq_tests::broker::Node;
use acemq_tests::mirror::Mirror;
use acemq_tests::on_every_broker;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

/// Waiting is most of what they do.
const THREADS: usize = 8;
/// How often a play that was late is played again.
const ATTEMPTS: usize = 10;

on_every_broker! {
    fn every_scenario_comes_out_as_on_the_embedded_broker(node) {
        // Unroutable dead letters of a quorum queue that keeps them are tried again after this time, three minutes unless set.
        node.rabbitmqctl(&["eval", "application:set_env(rabbit, dead_letter_worker_publisher_confirm_timeout, 500)."])
            .unwrap();
        let plays: Vec<(String, Scenario)> = files().iter().flat_map(|(name, text)| plays(name, text, node)).collect();
        let next = Mutex::new(plays.iter());
        let faults = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    loop {
                        let Some((name, scenario)) = next.lock().unwrap().next() else { return };
                        if let Err(why) = play(node, scenario) {
                            faults.lock().unwrap().push(format!("{name}: {why}"));
                        }
                    }
                });
            }
        });
        let faults = faults.into_inner().unwrap();
        assert!(faults.is_empty(), "{} of {} plays on {}:\n{}", faults.len(), plays.len(), node.version(), faults.join("\n"));
    }
}

/// Name and text of each scenario.
fn files() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/scenarios");
    let mut files: Vec<(String, String)> = [folder.clone(), folder.join("reports")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    assert!(files.len() > 30, "{files:?}");
    files
}

/// A scenario up to each of its expectations and to its end, by the rules of that node's version.
fn plays(name: &str, text: &str, node: &Node) -> Vec<(String, Scenario)> {
    let scenario = Scenario::parse(text.as_bytes(), Format::Yaml)
        .unwrap_or_else(|error| panic!("{name}: {error}"))
        .for_version(node.version())
        .times_as_fast(speed(text));
    let ends: BTreeSet<usize> =
        scenario.expectations().into_iter().map(|step| step + 1).chain([scenario.step_count()]).collect();
    ends.into_iter().map(|end| (format!("{name}, {end} steps"), scenario.clone().up_to(end))).collect()
}

/// A scenario says in a comment how much faster than it is written it can go where time is real.
fn speed(text: &str) -> u32 {
    let comments = text.lines().filter_map(|line| line.strip_prefix("# Against a real broker "));
    comments
        .filter_map(|line| line.strip_suffix(" times as fast."))
        .map(|factor| factor.parse().unwrap())
        .next()
        .unwrap_or(1)
}

fn play(node: &Node, scenario: &Scenario) -> Result<(), String> {
    for _ in 0..ATTEMPTS {
        let vhost = node.fresh_vhost();
        let scenario = scenario.clone().for_vhost(vhost.name());
        let base = Base::Own;
        let mut mirror = Mirror::new(scenario.broker(&base), &vhost);
        let report = scenario.play_on(&mut mirror, base).map_err(|error| error.to_string())?;
        let Some(mut faults) = mirror.finish_in_time() else { continue };
        if report.failed > 0 {
            faults.push(report.to_string());
        }
        return if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) };
    }
    Err(format!("late in each of {ATTEMPTS} attempts"))
}
