//! `retry`: what a policy does.

use crate::cli::RetryArguments;
use crate::failure::Failure;
use crate::output::{Report, json};
use acemq_core::retry::{Ladder, Question, RetryDocument, RetryPolicy};

/// The most waits that `--all` prints.
const MOST_WAITS: u32 = 1_000_000;

/// The schedule, the retry queues, one decision.
pub fn retry(arguments: &RetryArguments) -> Result<Report, Failure> {
    let policy: RetryPolicy = arguments.policy.parse().map_err(Failure::input)?;
    let u = arguments.u.unwrap_or(0.5);
    if !(0.0..1.0).contains(&u) {
        return Err(Failure::input(format!(
            "--u {u} is outside [0, 1): it stands for a random number, 0.5 for no jitter"
        )));
    }
    let entries = policy.schedule().len();
    if arguments.all && entries > MOST_WAITS {
        return Err(Failure::input(format!("--all would print {entries} waits; without it the first 100 are shown")));
    }
    let ladder = match &arguments.queue {
        Some(queue) => Some(Ladder::new(queue, &policy).map_err(Failure::input)?),
        None => None,
    };
    let mut document = RetryDocument::new(&policy, arguments.all);
    if let Some(ladder) = &ladder {
        document = document.with_ladder(ladder);
    }
    if let Some(attempt) = arguments.attempt {
        document = document.with_decision(Question { attempt, age_ms: arguments.age, u });
    }
    Ok(Report::done(if arguments.format.is_json() { json(&document) } else { document.to_string() }))
}
