//! A topology document is refused with problems that stand somewhere in it, or read; what is read is judged and shown.
#![no_main]

use acemq_core::topology::{Format, Problem, Topology};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let lines = u64::try_from(bytes.iter().filter(|byte| **byte == b'\n').count()).unwrap_or(u64::MAX);
    let look = |problems: &[Problem]| {
        for problem in problems {
            assert!(!problem.message.is_empty());
            // A lone carriage return ends a line in YAML too, so only a text without one has countable lines.
            if let Some(at) = problem.at.filter(|_| !bytes.contains(&b'\r')) {
                assert!(at.line >= 1 && at.line <= lines + 2, "{at} of {lines} lines: {}", problem.message);
            }
        }
    };
    for format in [Format::Json, Format::Yaml] {
        match Topology::parse(bytes, format) {
            Err(problems) => {
                assert!(!problems.is_empty(), "refused without saying why");
                look(&problems);
            }
            Ok(topology) => {
                look(&topology.check());
                assert!(!topology.intent().is_empty());
                if let Ok(tables) = topology.tables() {
                    assert_eq!(tables.fingerprint().len(), 64);
                }
            }
        }
    }
});
