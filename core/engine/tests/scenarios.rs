//! The example scenarios come out as they say by the rules of every version.
//!
//! `examples/scenarios` holds the runs that articles about dead letters show, `examples/scenarios/reports` what users of
//! RabbitMQ ran into, each report under its number in the project's collection (B-18 …) as the smallest scenario with the
//! right answer.

use acemq_core::embedded::scenario::{Base, Scenario};
use acemq_core::topology::Format;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

const VERSIONS: [&str; 8] = ["3.10.8", "3.12.14", "3.13.2", "3.13.7", "4.0.5", "4.2.9", "4.3.0", "4.3.6"];

/// The reports of B-18 to B-40 that one broker's behaviour cannot show: B-33 is about federation, which links two.
const NOT_HERE: [u32; 1] = [33];

/// Name and text of each file in a folder.
fn files(folder: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenarios").join(folder);
    let mut files: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn every_scenario_comes_out_as_it_says_in_every_version() {
    for (name, text) in [files(""), files("reports")].concat() {
        for version in VERSIONS {
            let scenario =
                Scenario::parse(text.as_bytes(), Format::Yaml).unwrap_or_else(|error| panic!("{name}: {error}"));
            let report = scenario.for_version(version.parse().unwrap()).play(Base::Own).unwrap();
            assert_eq!(report.failed, 0, "{name} on {version}:\n{report}");
        }
    }
}

#[test]
fn every_report_about_dead_letters_and_routing_has_its_scenario() {
    let there: BTreeSet<u32> = files("reports").iter().map(|(name, _)| name[2..4].parse().unwrap()).collect();
    let wanted = (18..=40).filter(|number| !NOT_HERE.contains(number)).collect();
    assert_eq!(there, wanted);
}
