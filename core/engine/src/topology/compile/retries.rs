//! Retries: one rung for each delay of the policy that is spent in the broker.

use super::super::finding::{Findings, Place};
use crate::rabbitmq::QueueDeclaration;
use crate::value::Value;

pub(super) fn rungs(
    _queue: &str,
    _policy: &Value,
    _derivable: bool,
    _place: &Place,
    _findings: &mut Findings,
) -> Vec<QueueDeclaration> {
    Vec::new()
}
