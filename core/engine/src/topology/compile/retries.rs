//! Retries: one rung for each delay of the policy that is spent in the broker.

use super::super::finding::{Findings, Place, queue as named};
use super::super::problem::{ObjectRef, Problem, ProblemCode};
use crate::rabbitmq::QueueDeclaration;
use crate::retry::{Ladder, RetryForm, RetryProblem};

/// The rungs of `queue`; `nameable` says that its own name is fine, so that a bad one is reported once.
pub(super) fn rungs(
    queue: &str,
    form: &RetryForm,
    nameable: bool,
    place: &Place,
    findings: &mut Findings,
) -> Vec<QueueDeclaration> {
    let policy = match form.policy() {
        Ok(policy) => policy,
        Err(problems) => {
            for problem in &problems {
                findings.push(place_of(problem, place), invalid(queue, problem));
            }
            return Vec::new();
        }
    };
    if !nameable {
        return Vec::new();
    }
    match Ladder::new(queue, &policy) {
        Ok(ladder) => ladder.rungs().iter().map(|rung| rung.queue.clone()).collect(),
        Err(error) => {
            findings.name_error(place.clone(), ObjectRef::queue(queue), &error);
            Vec::new()
        }
    }
}

/// The policy, or the key of its mapping that the problem names.
fn place_of(problem: &RetryProblem, queue: &Place) -> Place {
    let policy = queue.clone().at("retry");
    match problem.fields.get("key").and_then(|key| key.as_str()) {
        Some(path) => path.split('.').fold(policy, |place, key| place.at(key.to_owned())),
        None => policy,
    }
}

fn invalid(queue: &str, problem: &RetryProblem) -> Problem {
    let sentence = format!("the retry policy of {} cannot be: {}", named(queue), problem.message);
    let mut ours = Problem::new(ProblemCode::RetryPolicyInvalid, ObjectRef::queue(queue), sentence)
        .help(sentence_case(&problem.help));
    ours.fields.clone_from(&problem.fields);
    ours.field("reason", problem.code.as_str())
}

fn sentence_case(text: &str) -> String {
    let mut chars = text.chars();
    let mut out: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    out.push_str(chars.as_str());
    if !out.ends_with(['.', '!', '?']) {
        out.push('.');
    }
    out
}
