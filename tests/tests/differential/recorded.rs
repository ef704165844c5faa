//! The recorder's requests, whose answers are kept in a file.

use acemq_tests::on_every_broker;
use acemq_tests::recorder::{Recorder, Recording, cases};
use acemq_tests::replay::{self, Options, replay};
use std::fs;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/recorded/answers.json");

#[test]
fn the_engine_predicts_every_recorded_answer() {
    let report = predict(&fs::read(FILE).unwrap());
    let [oldest, newest] = [report.brokers.first(), report.brokers.last()].map(|tally| tally.unwrap().version.major);
    assert_eq!((oldest, newest), (3, 4), "answers of both major versions are recorded");
}

on_every_broker! {
    fn a_broker_answers_the_recorded_requests_as_predicted(node) {
        let cases = cases::all();
        let mut recorder = Recorder::new(node);
        let mut recording = Recording::default();
        for case in &cases {
            let given = recorder.ask(case);
            recording.note(&recorder.name(), &node.version().to_string(), case, given);
        }
        predict(recording.write(&cases).as_bytes());
    }
}

/// Predicts every answer of a recording.
fn predict(file: &[u8]) -> replay::Report {
    let recording = replay::Recording::read(file).unwrap();
    let report = replay(&recording, &Options::default()).unwrap();
    assert!(report.is_clean() && report.not_replayable.is_empty(), "{report}");
    for tally in &report.brokers {
        // A few requests need something that not every version has; all others were asked.
        assert!(tally.of * 10 > cases::all().len() * 9, "{tally:?}");
    }
    report
}
