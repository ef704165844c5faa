//! Offers that cannot create.
//!
//! RabbitMQ ≥ 3.10 looks only at the arguments that an existing queue's type compares, and checks the whole table only when
//! it would create the queue. So an argument that the type must not have (a *guard*) is ignored when the queue is there,
//! and refused by name, after everything else was found right, when it is not (measured on 3.10.8, 4.0.5 and 4.3.6;
//! `rabbit_amqqueue:check_declare_arguments`, `check_arguments_key`).
//!
//! Which argument guards depends on the type that the queue would get. An offer without `x-queue-type` takes the vhost's
//! default type, which AMQP does not tell, so it carries both guards: whatever the type, one of them is foreign to it.
//!
//! An exchange is guarded by `alternate-exchange` with the long 5, which is compared last on an exchange that is there and
//! has the wrong type on one that is not.

use crate::rabbitmq::{ExchangeDeclaration, QueueDeclaration, QueueType};
use crate::value::Value;

/// Foreign to classic and quorum queues.
pub(super) const SEGMENT_SIZE: &str = "x-stream-max-segment-size-bytes";
/// Foreign to classic queues and streams.
pub(super) const DELIVERY_LIMIT: &str = "x-delivery-limit";
/// The only argument of an exchange that is ever compared.
pub(super) const ALTERNATE_EXCHANGE: &str = "alternate-exchange";

/// The guards that an offer carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Guards {
    pub segment_size: bool,
    pub delivery_limit: bool,
}

impl Guards {
    /// The guards for an offer of this declaration; none of them when both are asked for as arguments of its own.
    pub fn of(declaration: &QueueDeclaration) -> Self {
        let default_type = declaration.arguments.get("x-queue-type").is_none_or(|value| {
            // "undefined" (3.13.4) and "" (4.2.8, 4.3.2) mean the default type as well.
            matches!(value.as_text(), Some("undefined" | ""))
        });
        let stream = declaration.queue_type() == Some(QueueType::Stream);
        Self {
            segment_size: (default_type || !stream) && !declaration.arguments.contains(SEGMENT_SIZE),
            delivery_limit: (default_type || stream) && !declaration.arguments.contains(DELIVERY_LIMIT),
        }
    }

    /// Whether the argument is one of these guards, and not one that the topology asks for.
    pub fn contains(self, argument: &str) -> bool {
        (self.segment_size && argument == SEGMENT_SIZE) || (self.delivery_limit && argument == DELIVERY_LIMIT)
    }

    /// These guards without the one named.
    pub fn without(self, argument: &str) -> Self {
        Self {
            segment_size: self.segment_size && argument != SEGMENT_SIZE,
            delivery_limit: self.delivery_limit && argument != DELIVERY_LIMIT,
        }
    }

    /// Whether there is no guard left.
    pub fn is_empty(self) -> bool {
        !self.segment_size && !self.delivery_limit
    }

    /// The declaration with the guards added.
    pub fn guard(self, declaration: &QueueDeclaration) -> QueueDeclaration {
        let mut guarded = declaration.clone();
        if self.segment_size {
            guarded.arguments.insert(SEGMENT_SIZE, Value::I64(1000));
        }
        if self.delivery_limit {
            guarded.arguments.insert(DELIVERY_LIMIT, Value::I64(1));
        }
        guarded
    }
}

/// The exchange with its guard in place of its own alternate exchange.
pub(super) fn guard_exchange(declaration: &ExchangeDeclaration) -> ExchangeDeclaration {
    declaration.clone().with(ALTERNATE_EXCHANGE, Value::I64(5))
}

/// The type that a queue would have, by the refusal of a guard: `… of queue type rabbit_quorum_queue`.
pub(super) fn given_type(text: &str) -> Option<QueueType> {
    let (_, module) = text.rsplit_once(" of queue type rabbit_")?;
    QueueType::from_name(module.strip_suffix("_queue")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_guard_that_is_foreign_to_it() {
        let queue = QueueDeclaration::durable("q");
        let quorum = Guards::of(&queue.clone().with("x-queue-type", "quorum"));
        assert_eq!(quorum, Guards { segment_size: true, delivery_limit: false });
        let stream = Guards::of(&queue.clone().with("x-queue-type", "stream"));
        assert_eq!(stream, Guards { segment_size: false, delivery_limit: true });
        // The vhost decides the type: whichever it is, one of the two is foreign.
        assert_eq!(Guards::of(&queue), Guards { segment_size: true, delivery_limit: true });
        let offered = Guards::of(&queue).guard(&queue);
        let table = serde_json::to_string(&offered.arguments).unwrap();
        assert_eq!(table, r#"{"x-delivery-limit":1,"x-stream-max-segment-size-bytes":1000}"#);
    }

    #[test]
    fn the_refusal_of_a_guard_tells_the_type() {
        let text = "PRECONDITION_FAILED - invalid arg 'x-delivery-limit' for queue 'q' in vhost '/' of queue type rabbit_stream_queue";
        assert_eq!(given_type(text), Some(QueueType::Stream));
        assert_eq!(
            given_type("PRECONDITION_FAILED - invalid arg 'x-expires' for queue 'q' in vhost '/': {value_zero,0}"),
            None
        );
    }

    #[test]
    fn an_argument_that_the_topology_asks_for_is_no_guard() {
        let queue = QueueDeclaration::durable("q").with("x-queue-type", "quorum").with(SEGMENT_SIZE, 5);
        assert!(Guards::of(&queue).is_empty());
    }
}
