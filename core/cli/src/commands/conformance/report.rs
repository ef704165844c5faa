//! What came of a run.

use super::fixtures::Fixtures;
use crate::failure::{DIFFERS, UNANSWERED};
use acemq_core::api::Case;
use acemq_core::topology::shown_name;
use serde::Serialize;
use serde_json::Value as Json;
use std::fmt;

/// How many reasons are told in text, and how many cases that failed for one of them.
const TOLD: usize = 50;
const NAMED: usize = 5;

/// What was answered to a case.
#[derive(Debug, Clone)]
pub enum Answer {
    /// An output.
    Output(Json),
    /// An error: `{"code", …}`.
    Error(Json),
    /// The library does not have such an operation.
    Unsupported,
    /// There was no answer, for this reason.
    Nothing(String),
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is as expected.
    Passed,
    /// The library does not have it.
    Unsupported,
    /// It is not, for this reason.
    Failed(String),
    /// Nobody answered, for this reason, which other cases share.
    LeftOpen(String),
}

impl Outcome {
    /// Judges the answer to a case.
    pub fn of(case: &Case, answer: Answer) -> Self {
        let judged = match &answer {
            Answer::Output(output) => case.judge(Ok(output)),
            Answer::Error(error) => case.judge(Err(error)),
            Answer::Unsupported => return Self::Unsupported,
            Answer::Nothing(why) => return Self::Failed(why.clone()),
        };
        judged.map_or_else(|mismatch| Self::Failed(mismatch.to_string()), |()| Self::Passed)
    }
}

/// `acemq.conformance-report/1`
#[derive(Debug, Serialize)]
pub struct RunReport {
    format: &'static str,
    spec_version: u32,
    /// The command of the adapter; empty for the engine itself.
    adapter: Vec<String>,
    cases: usize,
    passed: usize,
    failed: usize,
    unsupported: usize,
    suites: Vec<SuiteReport>,
    failures: Vec<FailedCase>,
}

#[derive(Debug, Serialize)]
struct SuiteReport {
    suite: String,
    operation: String,
    cases: usize,
    passed: usize,
    failed: usize,
    unsupported: usize,
}

#[derive(Debug, Serialize)]
struct FailedCase {
    id: String,
    suite: String,
    description: String,
    why: String,
    /// Whether nobody answered.
    left_open: bool,
}

impl RunReport {
    /// The report on outcomes in the order of the cases.
    pub fn new(fixtures: &Fixtures, adapter: &[String], outcomes: Vec<Outcome>) -> Self {
        let mut outcomes = outcomes.into_iter();
        let mut report = Self {
            format: "acemq.conformance-report/1",
            spec_version: fixtures.spec_version(),
            adapter: adapter.to_vec(),
            cases: fixtures.cases().count(),
            passed: 0,
            failed: 0,
            unsupported: 0,
            suites: Vec::new(),
            failures: Vec::new(),
        };
        for suite in fixtures.suites() {
            let mut row = SuiteReport {
                suite: suite.suite.clone(),
                operation: suite.operation.clone(),
                cases: suite.cases.len(),
                passed: 0,
                failed: 0,
                unsupported: 0,
            };
            for case in &suite.cases {
                let outcome = outcomes.next().unwrap_or_else(|| Outcome::LeftOpen("it was not run".to_owned()));
                let left_open = matches!(outcome, Outcome::LeftOpen(_));
                match outcome {
                    Outcome::Passed => row.passed += 1,
                    Outcome::Unsupported => row.unsupported += 1,
                    Outcome::Failed(why) | Outcome::LeftOpen(why) => {
                        row.failed += 1;
                        let (id, description) = (case.id.clone(), case.description.clone());
                        report.failures.push(FailedCase {
                            id,
                            suite: suite.suite.clone(),
                            description,
                            why,
                            left_open,
                        });
                    }
                }
            }
            report.passed += row.passed;
            report.failed += row.failed;
            report.unsupported += row.unsupported;
            report.suites.push(row);
        }
        report
    }

    /// 3 when a case failed; 4 when `strict` and one is not supported.
    pub fn exit_code(&self, strict: bool) -> u8 {
        match (self.failed, self.unsupported) {
            (1.., _) => DIFFERS,
            (0, 1..) if strict => UNANSWERED,
            _ => 0,
        }
    }
}

impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let together = |a: &FailedCase, b: &FailedCase| a.left_open && b.left_open && a.why == b.why;
        let reasons: Vec<&[FailedCase]> = self.failures.chunk_by(together).collect();
        for failures in reasons.iter().take(TOLD) {
            match failures {
                [one] => writeln!(f, "FAILED {}: {}", one.id, shown_name(&one.description))?,
                several => {
                    let named: Vec<&str> = several.iter().take(NAMED).map(|failure| failure.id.as_str()).collect();
                    write!(f, "FAILED {}", named.join(", "))?;
                    match several.len().saturating_sub(NAMED) {
                        0 => writeln!(f)?,
                        more => writeln!(f, " and {more} more")?,
                    }
                }
            }
            if let Some(failure) = failures.first() {
                writeln!(f, "  {}", shown_name(&failure.why))?;
            }
        }
        if reasons.len() > TOLD {
            writeln!(f, "and {} reasons more, all of them with --format json", reasons.len() - TOLD)?;
        }
        let width = self.suites.iter().map(|suite| suite.suite.len()).max().unwrap_or_default();
        for suite in self.suites.iter().filter(|suite| suite.passed < suite.cases) {
            writeln!(
                f,
                "{:<width$}  {} passed, {} failed, {} unsupported",
                suite.suite, suite.passed, suite.failed, suite.unsupported
            )?;
        }
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.unsupported > 0 {
            write!(f, ", {} unsupported", self.unsupported)?;
        }
        writeln!(f, " of {} cases, version {}", self.cases, self.spec_version)
    }
}
