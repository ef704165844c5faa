//! A queue as the audit looks at it: what holds for it, and where its dead letters go.

use super::world::Given;
use crate::policy::{Effective, Policies, Setting};
use crate::rabbitmq::{QueueDeclaration, QueueType};
use crate::value::Value;

/// A queue with what holds for it.
#[derive(Debug)]
pub(super) struct Queue<'a> {
    pub(super) name: &'a str,
    pub(super) declaration: &'a QueueDeclaration,
    pub(super) kind: Option<QueueType>,
    pub(super) effective: Effective,
    pub(super) dead_letter: Given<DeadLetter>,
}

/// Where a queue's dead letters go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeadLetter {
    pub(super) exchange: String,
    /// The key that they get; without one they keep theirs.
    pub(super) key: Option<String>,
    /// A message without a target is kept.
    pub(super) at_least_once: bool,
}

impl<'a> Queue<'a> {
    pub(super) fn new(declaration: &'a QueueDeclaration, policies: &Policies<'a>) -> Self {
        let effective = policies.effective(declaration);
        let kind = declaration.queue_type();
        let dead_letter = dead_letter(&effective, kind);
        Self { name: &declaration.name, declaration, kind, effective, dead_letter }
    }

    /// The dead-letter exchange and key, when they are known.
    pub(super) fn dead_letters(&self) -> Option<&DeadLetter> {
        match &self.dead_letter {
            Given::Value(dead_letter) => Some(dead_letter),
            Given::Nothing | Given::Undecided => None,
        }
    }

    /// An effective setting that is a whole number.
    pub(super) fn number(&self, key: &str) -> Option<i64> {
        self.effective.value(key).and_then(Value::as_integer)
    }

    /// An effective setting that is a text.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.effective.value(key).and_then(Value::as_text)
    }

    /// Whether messages die of age here.
    pub(super) fn expires_messages(&self) -> bool {
        self.number("message-ttl").is_some()
    }

    /// Whether messages die of a length limit here.
    pub(super) fn drops_when_full(&self) -> bool {
        let limited = self.number("max-length").is_some() || self.number("max-length-bytes").is_some();
        limited && self.text("overflow") != Some("reject-publish")
    }

    /// Whether the oldest message makes room for the next one. With reject-publish-dlx a classic queue refuses the next one, and
    /// that is the one that dies; a quorum queue takes the value and drops its head.
    pub(super) fn drops_its_head(&self) -> bool {
        let drops = match self.text("overflow") {
            None | Some("drop-head") => true,
            Some(overflow) => overflow == "reject-publish-dlx" && self.kind == Some(QueueType::Quorum),
        };
        drops && self.number("max-length").is_some()
    }

    /// How often a message may come back before it dies.
    pub(super) fn delivery_limit(&self) -> Option<i64> {
        let limit = self.number("delivery-limit").filter(|limit| *limit >= 0);
        (self.kind == Some(QueueType::Quorum)).then_some(limit).flatten()
    }
}

fn dead_letter(effective: &Effective, kind: Option<QueueType>) -> Given<DeadLetter> {
    let text = |key: &str| match effective.settings.get(key) {
        None => Given::Nothing,
        Some(Setting { value: Some(value), .. }) => {
            value.as_text().map_or(Given::Undecided, |text| Given::Value(text.to_owned()))
        }
        Some(_) => Given::Undecided,
    };
    let exchange = match text("dead-letter-exchange") {
        Given::Value(exchange) => exchange,
        // Policies that are not known at all show in `open` only.
        Given::Nothing if effective.open.is_empty() => return Given::Nothing,
        Given::Nothing | Given::Undecided => return Given::Undecided,
    };
    let key = match text("dead-letter-routing-key") {
        Given::Value(key) => Some(key),
        Given::Nothing => None,
        Given::Undecided => return Given::Undecided,
    };
    let value = |key: &str| effective.value(key).and_then(Value::as_text);
    let at_least_once = kind == Some(QueueType::Quorum)
        && value("dead-letter-strategy") == Some("at-least-once")
        && value("overflow") == Some("reject-publish");
    Given::Value(DeadLetter { exchange, key, at_least_once })
}
