//! Findings of the audit that a document says are meant. Whether there is such a finding, only the audit knows.

use super::super::finding::{Findings, Place, Section};
use super::super::problem::{ObjectRef, Problem, ProblemCode};
use super::super::tables::{SuppressedKind, Suppression};
use super::super::wish::SuppressionWish;

/// Every suppression that says what, of which object, and why.
pub(super) fn read(wishes: Vec<SuppressionWish>, findings: &mut Findings) -> Vec<Suppression> {
    let mut suppressions = Vec::with_capacity(wishes.len());
    for (index, wish) in wishes.into_iter().enumerate() {
        match complete(wish) {
            Ok(suppression) => suppressions.push(suppression),
            Err((key, lacks, help)) => {
                let sentence = format!("entry {} of suppress {lacks}", index + 1);
                let problem = Problem::new(ProblemCode::SuppressionIncomplete, ObjectRef::Document {}, sentence)
                    .field("key", key)
                    .help(help);
                findings.push(Place::new(Section::Suppressions, index), problem);
            }
        }
    }
    suppressions
}

/// What it lacks: the key, the end of a sentence, the way out.
type Lack = (&'static str, &'static str, &'static str);

fn complete(wish: SuppressionWish) -> Result<Suppression, Lack> {
    let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let SuppressionWish { code, queue, exchange, binding, policy, reason } = wish;
    let Some(code) = filled(code) else {
        return Err(("code", "has no code", "Write code: and the code in brackets that acemq audit prints."));
    };
    let objects = [
        (SuppressedKind::Queue, queue),
        (SuppressedKind::Exchange, exchange),
        (SuppressedKind::Binding, binding),
        (SuppressedKind::Policy, policy),
    ];
    let mut named = objects.into_iter().filter_map(|(kind, name)| Some((kind, filled(name)?)));
    let (kind, name) = match (named.next(), named.next()) {
        (Some(one), None) => one,
        (None, _) => {
            return Err((
                "object",
                "names no object",
                "Write queue:, exchange:, binding: or policy: and the name that the finding has.",
            ));
        }
        (Some(_), Some(_)) => {
            return Err(("object", "names several objects", "Write an entry for each of them."));
        }
    };
    let Some(reason) = filled(reason) else {
        return Err(("reason", "has no reason", "Write reason: and why the finding is meant."));
    };
    Ok(Suppression { code, kind, name, reason })
}
