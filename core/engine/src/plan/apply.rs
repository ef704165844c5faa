//! Whether a plan may be applied, and what an apply has done.

use super::action::{Action, Applied, Object, Plan, Sends, Verdict};
use super::render::{difference_text, explanation};
use super::session::{Mode, PlanSession, Settings};
use crate::topology::shown_name;
use crate::value::counted;
use std::fmt;

/// How many objects of one list are named before the rest is counted.
const NAMED: usize = 20;

/// What an apply has done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApplyReport {
    /// What the broker said ok to.
    pub done: Vec<String>,
    /// What was not sent, or got no ok.
    pub not_done: Vec<String>,
}

/// Why an apply did not do everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApplyError {
    /// Nothing was declared: something differs or is invalid.
    Refused {
        /// How many objects differ, by kind and name, with one line each difference.
        lines: Vec<String>,
        /// The head of the message.
        head: String,
    },
    /// Nothing was declared: an answer is missing, and the caller is strict about it.
    Unanswered {
        /// One line for each object.
        lines: Vec<String>,
    },
    /// Something was refused or went unanswered on the way.
    Stopped {
        /// The declaration that ended it.
        cause: String,
        /// What was done and what was not.
        report: ApplyReport,
    },
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { lines, head } => {
                write!(f, "acemq: {head}")?;
                lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
            }
            Self::Unanswered { lines } => {
                write!(f, "acemq: nothing was declared: {} gave no answer", counted(lines.len(), "object"))?;
                lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
            }
            Self::Stopped { cause, report } => {
                write!(f, "acemq: {cause}")?;
                write!(f, "\n  declared: {}", list(&report.done))?;
                write!(f, "\n  not declared: {}", list(&report.not_done))?;
                f.write_str("\n  applying again is safe: what is there already is left as it is")
            }
        }
    }
}

impl std::error::Error for ApplyError {}

fn list(names: &[String]) -> String {
    let named: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    match (named.is_empty(), names.len().saturating_sub(NAMED)) {
        (true, _) => "nothing".to_owned(),
        (false, 0) => named.join(", "),
        (false, more) => format!("{}, and {more} more", named.join(", ")),
    }
}

/// Whether drift stands against declaring: a policy that will be updated does not.
fn blocks(settings: &Settings, action: &Action) -> bool {
    match action.verdict {
        Verdict::Invalid => true,
        Verdict::Drift => !(settings.update_policies && matches!(action.object, Object::Policy(_))),
        _ => false,
    }
}

impl PlanSession {
    /// Whether declarations may follow.
    pub(super) fn may_declare(&self) -> bool {
        self.settings.mode == Mode::CreateOnly
            && !self.actions.iter().any(|action| blocks(&self.settings, action))
            && !(self.settings.strict && self.actions.iter().any(Action::is_unanswered))
    }

    /// What kept the apply from doing everything, once the session is finished; `None` when it did.
    pub fn apply_error(&self) -> Option<ApplyError> {
        if !self.settings.apply {
            return None;
        }
        if let Some(obstacle) = self.obstacle() {
            return Some(obstacle);
        }
        let failed = self
            .actions
            .iter()
            .find(|action| matches!(action.applied, Some(Applied::Refused { .. } | Applied::Unanswered { .. })));
        let cause = match failed {
            Some(action) => cause(action),
            None if self.interrupted => "stopped before the end".to_owned(),
            None => return None,
        };
        Some(ApplyError::Stopped { cause, report: self.apply_report() })
    }

    /// What stands against declaring anything, by what is known now; `None` when nothing does. A session that only plans
    /// tells it too.
    pub fn obstacle(&self) -> Option<ApplyError> {
        let blocking: Vec<&Action> = self.actions.iter().filter(|action| blocks(&self.settings, action)).collect();
        if !blocking.is_empty() {
            return Some(refused(&blocking));
        }
        if self.settings.strict {
            let lines: Vec<String> = (self.actions.iter())
                .filter(|action| action.is_unanswered())
                .map(|action| {
                    format!("{}: {}", label(action), shown_name(action.why.as_deref().unwrap_or("no answer")))
                })
                .collect();
            if !lines.is_empty() {
                return Some(ApplyError::Unanswered { lines });
            }
        }
        None
    }

    /// What has been declared so far, and what has not.
    pub fn apply_report(&self) -> ApplyReport {
        let mut report = ApplyReport::default();
        for action in &self.actions {
            match action.applied {
                Some(Applied::Done) => report.done.push(label(action)),
                Some(Applied::Refused { .. } | Applied::Unanswered { .. }) => report.not_done.push(label(action)),
                None if action.sends != Sends::Nothing => report.not_done.push(label(action)),
                None => {}
            }
        }
        report
    }
}

fn label(action: &Action) -> String {
    match &action.object {
        Object::Binding(binding) => {
            format!("binding {}", shown_name(&crate::topology::describe_binding(binding)))
        }
        object => format!("{} {}", object.kind(), shown_name(object.name())),
    }
}

/// `cannot declare queue "NAME": Exception (406) Reason: "…"`
fn cause(action: &Action) -> String {
    let what = match &action.object {
        Object::Binding(binding) => {
            format!("cannot bind {}", shown_name(&crate::topology::describe_binding(binding)))
        }
        Object::Policy(policy) => format!("cannot set policy \"{}\"", shown_name(&policy.name)),
        object => format!("cannot declare {} \"{}\"", object.kind(), shown_name(object.name())),
    };
    match &action.applied {
        Some(Applied::Refused { code, text }) => refused_sentence(&what, *code, text),
        Some(Applied::Unanswered { why }) => {
            format!("{what}: {}; whether it was made is not known", shown_name(why))
        }
        _ => what,
    }
}

/// The sentence for a single declaration that a broker refused, for instance
/// `cannot declare queue "orders": Exception (406) Reason: "PRECONDITION_FAILED - …"`.
pub fn refused_sentence(what: &str, code: u16, text: &str) -> String {
    format!("{what}: Exception ({code}) Reason: \"{}\"", shown_name(text))
}

fn refused(blocking: &[&Action]) -> ApplyError {
    let mut heads = Vec::new();
    for (verdict, one, many) in [
        (Verdict::Drift, "differs from the broker", "differ from the broker"),
        (Verdict::Invalid, "would be refused", "would be refused"),
    ] {
        for kind in ["exchange", "policy", "queue", "binding"] {
            let count =
                blocking.iter().filter(|action| action.verdict == verdict && action.object.kind() == kind).count();
            let plural = if kind == "policy" { "policies".to_owned() } else { format!("{kind}s") };
            match count {
                0 => {}
                1 => heads.push(format!("1 {kind} {one}")),
                n => heads.push(format!("{n} {plural} {many}")),
            }
        }
    }
    let mut lines = Vec::new();
    for action in blocking {
        let object = label(action);
        let compared: Vec<_> = action.differences.iter().filter(|difference| difference.compared).collect();
        match (&action.refusal, compared.is_empty()) {
            (_, false) => {
                lines.extend(
                    compared.into_iter().map(|difference| format!("{object}: {}", difference_text(difference))),
                );
            }
            (Some((_, text)), true) => lines.push(format!("{object}: {}", shown_name(explanation(text)))),
            (None, true) => lines.push(object),
        }
    }
    ApplyError::Refused { lines, head: format!("nothing was declared: {}", heads.join(", ")) }
}

impl Plan {
    /// The message of an apply that is refused because of this plan; `None` when nothing stands against it.
    pub fn refusal(&self) -> Option<ApplyError> {
        let blocking: Vec<&Action> = (self.actions.iter())
            .filter(|action| matches!(action.verdict, Verdict::Drift | Verdict::Invalid))
            .collect();
        (!blocking.is_empty()).then(|| refused(&blocking))
    }
}
