//! What can be asked of a broker over AMQP, and what comes back.

use crate::limits::{Limits, spoken};
use acemq_core::rabbitmq::{
    BindingDeclaration, DestinationType, ExchangeDeclaration, QueueDeclaration, Refused, Scope,
};
use std::fmt;
use std::time::Duration;

/// One AMQP method that is answered. All of them can be sent twice with the same outcome as once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// `queue.declare`
    DeclareQueue(QueueDeclaration),
    /// `queue.declare` with `passive`: is there a queue of that name, and what does it hold?
    LookUpQueue(String),
    /// `queue.delete`, whatever it holds. A queue that is not there is no error.
    DeleteQueue(String),
    /// `queue.delete` that the broker refuses while the queue holds something ready or has consumers. Only classic queues can be
    /// asked this; for others the broker closes the connection with 540.
    DeleteUnusedQueue(String),
    /// `exchange.declare`
    DeclareExchange(ExchangeDeclaration),
    /// `exchange.declare` with `passive`
    LookUpExchange(String),
    /// `exchange.delete`, whatever is bound to it. An exchange that is not there is no error.
    DeleteExchange(String),
    /// `exchange.delete` that the broker refuses while something is bound to it.
    DeleteUnusedExchange(String),
    /// `queue.bind` or `exchange.bind`
    Bind(BindingDeclaration),
    /// `queue.unbind` or `exchange.unbind`. A binding that is not there is no error.
    Unbind(BindingDeclaration),
}

impl Operation {
    /// What is to be done with what, for a sentence: `declare queue "orders"`.
    pub fn describe(&self) -> String {
        let bound = |binding: &BindingDeclaration| {
            let kind = match binding.destination_type {
                DestinationType::Queue => "queue",
                DestinationType::Exchange => "exchange",
            };
            format!("{kind} {}", quoted(&binding.destination))
        };
        match self {
            Self::DeclareQueue(queue) => format!("declare queue {}", quoted(&queue.name)),
            Self::LookUpQueue(name) => format!("look up queue {}", quoted(name)),
            Self::DeleteQueue(name) | Self::DeleteUnusedQueue(name) => format!("delete queue {}", quoted(name)),
            Self::DeclareExchange(exchange) => format!("declare exchange {}", quoted(&exchange.name)),
            Self::LookUpExchange(name) => format!("look up exchange {}", quoted(name)),
            Self::DeleteExchange(name) | Self::DeleteUnusedExchange(name) => {
                format!("delete exchange {}", quoted(name))
            }
            Self::Bind(binding) => format!("bind {} to exchange {}", bound(binding), quoted(&binding.source)),
            Self::Unbind(binding) => format!("unbind {} from exchange {}", bound(binding), quoted(&binding.source)),
        }
    }

    /// The limit that holds for it.
    pub fn limit(&self, limits: &Limits) -> Duration {
        match self {
            Self::LookUpQueue(_) | Self::LookUpExchange(_) => limits.question,
            _ => limits.change,
        }
    }
}

/// A name between double quotes, with quotes and control characters escaped; cut when no broker could take it.
fn quoted(name: &str) -> String {
    if name.len() <= 255 {
        return format!("\"{}\"", name.escape_debug());
    }
    let start: String = name.chars().take(40).collect();
    format!("\"{}…\"", start.escape_debug())
}

/// What an answered method tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// `queue.declare-ok`
    Queue(QueueStatus),
    /// `queue.delete-ok`: this many ready messages are gone.
    Deleted {
        /// Ready messages at the time; 0 as well when there was no queue.
        messages: u32,
    },
    /// The `-ok` of a method that tells nothing more.
    Ok,
}

/// A queue as `queue.declare-ok` shows it. The counts are exact at that moment, unlike statistics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueStatus {
    /// Its name; the broker's choice when the declaration had none.
    pub name: String,
    /// Messages that are ready; those delivered and not acknowledged yet are not in it.
    pub messages: u32,
    /// Consumers.
    pub consumers: u32,
}

/// What came of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It was done.
    Done(Done),
    /// The broker closed the channel or the connection over it.
    Refused(Refused),
    /// There is no answer.
    Failed(Failure),
}

/// Why there is no answer to an operation. What it asked for may have happened or not, unless the text says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The broker was silent for as long as the limit allows.
    Timeout {
        /// The limit.
        after: Duration,
    },
    /// The connection ended, and again when the operation was tried on a connection of its own.
    ConnectionLost {
        /// What is known about the end.
        why: String,
    },
    /// No connection could be had; the operation was not sent.
    Unavailable {
        /// Why not.
        why: String,
    },
    /// AMQP or this client cannot carry it; the operation was not sent.
    Unsendable {
        /// Why not, with a way out.
        why: String,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout { after } => write!(f, "no answer within {}", spoken(*after)),
            Self::ConnectionLost { why } => write!(f, "the connection was lost: {why}"),
            Self::Unavailable { why } => write!(f, "the broker is unavailable: {why}"),
            Self::Unsendable { why } => f.write_str(why),
        }
    }
}

/// A single operation that was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationError {
    /// What was to be done, such as `declare queue "orders"`.
    pub operation: String,
    /// Why it was not.
    pub cause: Cause,
}

/// Why an operation was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The broker refused.
    Refused(Refused),
    /// There was no answer.
    Failed(Failure),
}

impl OperationError {
    /// The broker's refusal, if it was one.
    pub fn refused(&self) -> Option<&Refused> {
        match &self.cause {
            Cause::Refused(refused) => Some(refused),
            Cause::Failed(_) => None,
        }
    }
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "acemq: cannot {}: ", self.operation)?;
        match &self.cause {
            Cause::Refused(refused) => {
                write!(f, "Exception ({}) Reason: \"{}\"", refused.code, refused.text)?;
                match refused.scope {
                    Scope::Channel => Ok(()),
                    Scope::Connection => f.write_str(", and the broker closed the connection"),
                }
            }
            Cause::Failed(failure) => failure.fmt(f),
        }
    }
}

impl std::error::Error for OperationError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_declaration_reads_as_the_libraries_print_it() {
        let error = OperationError {
            operation: Operation::DeclareQueue(QueueDeclaration::durable("orders")).describe(),
            cause: Cause::Refused(Refused {
                code: 406,
                text: "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'orders' in vhost '/': received 'true' but current is 'false'".into(),
                scope: Scope::Channel,
            }),
        };
        assert_eq!(
            error.to_string(),
            "acemq: cannot declare queue \"orders\": Exception (406) Reason: \"PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'orders' in vhost '/': received 'true' but current is 'false'\""
        );
    }

    #[test]
    fn a_binding_names_both_ends_and_control_characters_are_shown() {
        let binding = BindingDeclaration::exchange("orders", "arch\u{1}ive", "#");
        assert_eq!(Operation::Bind(binding.clone()).describe(), r#"bind exchange "arch\u{1}ive" to exchange "orders""#);
        assert_eq!(
            Operation::Unbind(BindingDeclaration::queue("e", "q", "k")).describe(),
            r#"unbind queue "q" from exchange "e""#
        );
    }
}
