//! What a broker answered to a declaration, in the terms in which the engine predicts it.

use crate::amqp::{self, Close, Failure};
use acemq_core::rabbitmq::{Refused, Scope};
use std::fmt;

/// Taken, or refused with these words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It was taken.
    Ok,
    /// It was refused.
    Refused(Refused),
}

impl Answer {
    /// What a broker answered.
    ///
    /// # Errors
    /// When it did not answer at all.
    pub fn given<T>(result: Result<T, Failure>) -> Result<Self, Failure> {
        match result {
            Ok(_) => Ok(Self::Ok),
            Err(Failure::Refused(close)) => Ok(Self::Refused(refused(&close))),
            Err(other) => Err(other),
        }
    }

    /// What the engine predicts.
    pub fn predicted<T>(result: Result<T, Refused>) -> Self {
        match result {
            Ok(_) => Self::Ok,
            Err(refused) => Self::Refused(refused),
        }
    }

    /// Whether the connection is closed by it.
    pub fn closes_the_connection(&self) -> bool {
        matches!(self, Self::Refused(refused) if refused.scope == Scope::Connection)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.write_str("ok"),
            Self::Refused(refused) => write!(f, "{:?} {} {}", refused.scope, refused.code, refused.text),
        }
    }
}

fn refused(close: &Close) -> Refused {
    Refused {
        code: close.code,
        // The engine shows bytes that are no UTF-8 the same way.
        text: close.text(),
        scope: match close.scope {
            amqp::Scope::Channel => Scope::Channel,
            amqp::Scope::Connection => Scope::Connection,
        },
    }
}
