//! Expectations here are written from RabbitMQ's and LavinMQ's own texts, never from what the reader gave.

mod cut;
mod envelopes;
mod grammar;
mod sentences;
mod texts;

use super::*;

/// Reads with nothing known.
fn read(code: u16, text: &str) -> Refusal {
    Refusal::read(Some(code), text, Known::default())
}

fn printed(value: &str) -> Printed {
    Printed { value: value.into(), kind: None }
}

fn typed(value: &str, kind: &str) -> Printed {
    Printed { value: value.into(), kind: Some(kind.into()) }
}
