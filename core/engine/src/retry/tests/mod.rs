//! Each expectation is a literal of the contract, or computed by a second routine that shares nothing with the first.

mod document;
mod form;
mod ladder;
mod messages;
mod schedule;
mod text;
mod validation;

use super::{RetryPolicy, RetryProblems};

fn policy(text: &str) -> RetryPolicy {
    text.parse().unwrap_or_else(|problems: RetryProblems| panic!("{text}: {problems}"))
}

fn codes(result: Result<RetryPolicy, RetryProblems>) -> Vec<&'static str> {
    result.unwrap_err().iter().map(|problem| problem.code.as_str()).collect()
}
