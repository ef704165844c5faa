//! Findings that the topology document says are meant, each with its reason.
//!
//! They are moved aside, not forgotten. A suppression that finds nothing to suppress is a finding of its own: left alone it
//! would hide the same fault when it comes back.

use super::codes::Code;
use super::finding::{Finding, Object, ObjectKind};
use super::report::Suppressed;
use super::world::World;
use super::{Options, Report};
use crate::rabbitmq::DestinationType;
use crate::topology::{SuppressedKind, Suppression, describe_binding, shown_name};

/// Moves what is meant aside, and says which suppressions do nothing.
pub(super) fn apply(world: &World<'_>, options: &Options, report: &mut Report) {
    for (index, suppression) in options.suppress.iter().enumerate() {
        let kind = kind_of(suppression.kind);
        let object = Object {
            kind: ObjectKind::Suppression,
            name: format!("{} of {} {}", suppression.code, kind.word(false), suppression.name),
            vhost: world.state.vhost.clone(),
        };
        let about = shown_name(&object.name).into_owned();
        let told = |code, why: String| {
            let finding = Finding::new(code, object.clone(), format!("the suppression of {about} {why}"));
            Finding { number: Some(index), ..finding }
        };
        let code: Code = match suppression.code.parse() {
            Ok(code) => code,
            Err(unknown) => {
                report.add(told(Code::SuppressionUnknownCode, format!("suppresses nothing: {unknown}")));
                continue;
            }
        };
        let before = report.findings.len();
        let meant = |finding: &mut Finding| {
            finding.code == code && finding.object.kind == kind && finding.object.name == suppression.name
        };
        let aside: Vec<Finding> = report.findings.extract_if(.., meant).collect();
        let reason = &suppression.reason;
        report.suppressed.extend(aside.into_iter().map(|finding| Suppressed { finding, reason: reason.clone() }));
        if report.findings.len() < before {
            continue;
        }
        if !is_there(world, suppression) {
            let why = format!("suppresses nothing: there is no such {}", kind.word(false));
            report.add(told(Code::SuppressionObjectMissing, why));
        } else if options.target.is_some() || !code.is_about_an_upgrade() {
            report.add(told(Code::SuppressionUnused, "suppresses nothing: there is no such finding".to_owned()));
        }
    }
}

const fn kind_of(kind: SuppressedKind) -> ObjectKind {
    match kind {
        SuppressedKind::Queue => ObjectKind::Queue,
        SuppressedKind::Exchange => ObjectKind::Exchange,
        SuppressedKind::Binding => ObjectKind::Binding,
        SuppressedKind::Policy => ObjectKind::Policy,
    }
}

fn is_there(world: &World<'_>, suppression: &Suppression) -> bool {
    let name = suppression.name.as_str();
    let state = world.state;
    match suppression.kind {
        SuppressedKind::Queue => state.queues.contains_key(name),
        SuppressedKind::Exchange => {
            world.exchanges.contains_key(name)
                || state.bindings.iter().any(|binding| {
                    binding.source == name
                        || binding.destination_type == DestinationType::Exchange && binding.destination == name
                })
        }
        SuppressedKind::Binding => state.bindings.iter().any(|binding| describe_binding(binding) == name),
        SuppressedKind::Policy => state.policies.iter().any(|policy| policy.name == name),
    }
}

impl Code {
    /// Whether only an audit with a version to upgrade to has it.
    fn is_about_an_upgrade(self) -> bool {
        self.as_str().starts_with(super::baseline::UPGRADE)
    }
}
