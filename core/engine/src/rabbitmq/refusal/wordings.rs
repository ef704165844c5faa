//! Everything that brokers are known to say, one row a wording.
//!
//! A pattern is the broker's own format text with fields in braces; see [`pattern`](super::pattern) for how it is matched.

use super::{RefusalClass, RefusedKind};

/// One thing that a broker says.
#[derive(Debug)]
pub(super) struct Wording {
    pub(super) pattern: &'static str,
    pub(super) class: RefusalClass,
    /// The kind of object where the pattern has no `{kind}`.
    pub(super) kind: Option<RefusedKind>,
    /// Proves that the named object does not exist.
    pub(super) absence: bool,
}

const fn row(pattern: &'static str, class: RefusalClass, kind: Option<RefusedKind>) -> Wording {
    Wording { pattern, class, kind, absence: false }
}

use RefusalClass::{AccessRefused, Inequivalent, Invalid, Locked, NotFound};
use RefusedKind::Queue;

pub(super) const WORDINGS: &[Wording] = &[
    row("inequivalent arg '{argument}' for {kind} '{name}' in vhost '{vhost}': received {sides}", Inequivalent, None),
    row("invalid arg '{argument}' for queue '{name}' in vhost '{vhost}': {error}", Invalid, Some(Queue)),
    row("invalid arg '{argument}' for queue '{name}' in vhost '{vhost}' of queue type {module}", Invalid, Some(Queue)),
    row("invalid arg '{argument}' for queue '{name}' in vhost '{vhost}'", Invalid, Some(Queue)),
    row("invalid property '{argument}' for queue '{name}' in vhost '{vhost}'", Invalid, Some(Queue)),
    Wording { pattern: "no {kind} '{name}' in vhost '{vhost}'", class: NotFound, kind: None, absence: true },
    row(
        "cannot obtain exclusive access to locked queue '{name}' in vhost '{vhost}'. It could be originally declared on \
         another connection or the exclusive property value does not match that of the original declaration.",
        Locked,
        Some(Queue),
    ),
    row("{permission} access to {kind} '{name}' in vhost '{vhost}' refused for user '{user}'", AccessRefused, None),
    row("access to {kind} '{name}' in vhost '{vhost}' refused for user '{user}'", AccessRefused, None),
];
