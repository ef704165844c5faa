//! What text and mapping have in common: reading one written value at a time, and going on after a bad one.

use super::multiplier;
use super::{DurationError, RetryCode, RetryPolicy, RetryPolicyBuilder, RetryProblem, RetryProblems, parse_duration};

/// A policy that is being read.
pub(super) struct Draft {
    builder: RetryPolicyBuilder,
    problems: Vec<RetryProblem>,
}

/// Where a value stands: adds the place to a problem.
pub(super) trait Place {
    /// The problem with its place.
    fn locate(&self, problem: RetryProblem) -> RetryProblem;

    /// The problem of a bad duration, whose own column may count.
    fn locate_in_duration(&self, problem: RetryProblem, error: &DurationError) -> RetryProblem;
}

impl Draft {
    /// Starts with the two or three values that make a kind of policy.
    pub(super) const fn new(builder: RetryPolicyBuilder, problems: Vec<RetryProblem>) -> Self {
        Self { builder, problems }
    }

    pub(super) fn problem(&mut self, problem: RetryProblem) {
        self.problems.push(problem);
    }

    fn change(&mut self, change: impl FnOnce(RetryPolicyBuilder) -> RetryPolicyBuilder) {
        self.builder = change(self.builder);
    }

    /// Something that the schedule depends on could not be read.
    pub(super) fn schedule_unknown(&mut self) {
        self.change(RetryPolicyBuilder::with_unknown_schedule);
    }

    pub(super) fn cap(&mut self, written: &str, place: &impl Place) {
        match self.duration(written, place) {
            Some(ms) => self.change(|builder| builder.cap(ms)),
            None => self.schedule_unknown(),
        }
    }

    pub(super) fn multiplier(&mut self, written: &str, place: &impl Place) {
        match multiplier::parse(written) {
            Ok(thousandths) => self.change(|builder| builder.multiplier_thousandths(thousandths)),
            Err(problem) => {
                self.problem(place.locate(problem));
                self.schedule_unknown();
            }
        }
    }

    pub(super) fn jitter(&mut self, factor: f64) {
        self.change(|builder| builder.jitter(factor));
    }

    pub(super) fn give_up_after(&mut self, written: &str, place: &impl Place) {
        if let Some(ms) = self.duration(written, place) {
            self.change(|builder| builder.give_up_after(ms));
        }
    }

    pub(super) fn wait_in_broker_from(&mut self, written: &str, place: &impl Place) {
        match self.duration(written, place) {
            Some(ms) => self.change(|builder| builder.wait_in_broker_from(ms)),
            None => self.threshold_unknown(),
        }
    }

    /// Nothing waits in the broker until it is known from when on.
    pub(super) fn threshold_unknown(&mut self) {
        self.change(|builder| builder.wait_in_broker_from(0));
    }

    fn duration(&mut self, written: &str, place: &impl Place) -> Option<u64> {
        duration(written, place, &mut self.problems)
    }

    /// The policy, or everything that is wrong with what was written.
    pub(super) fn finish(self) -> Result<RetryPolicy, RetryProblems> {
        self.builder.build_after(self.problems)
    }
}

/// A written duration; a bad one is a problem.
pub(super) fn duration(written: &str, place: &impl Place, problems: &mut Vec<RetryProblem>) -> Option<u64> {
    parse_duration(written)
        .map_err(|error| {
            let message = format!("\"{}\" is no duration", super::duration::shortened(written));
            let problem = RetryProblem::new(RetryCode::Duration(error.fault()), message, error.help())
                .with("value", super::duration::shortened(written));
            problems.push(place.locate_in_duration(problem, &error));
        })
        .ok()
}

/// A written number of attempts; a bad one is a problem.
pub(super) fn attempts(written: &str, place: &impl Place, problems: &mut Vec<RetryProblem>) -> Option<u32> {
    let digits = written.strip_prefix('-').unwrap_or(written);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = format!("\"{}\" is no number of attempts", super::duration::shortened(written));
        problems.push(place.locate(RetryProblem::new(RetryCode::PolicySyntax, message, "write digits, as in 6")));
        return None;
    }
    written.parse::<u32>().map_err(|_| problems.push(place.locate(attempts_out_of_range(written)))).ok()
}

pub(super) fn attempts_out_of_range(written: &str) -> RetryProblem {
    let shown = super::duration::shortened(written);
    let message = format!("attempts {shown} is out of range");
    let help = format!("give a whole number from 1 to {}", u32::MAX);
    RetryProblem::new(RetryCode::AttemptsOutOfRange, message, help).with("attempts", shown)
}
