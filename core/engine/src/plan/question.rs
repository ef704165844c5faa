//! The questions that a session asks and the answers that a host gives, in Rust and as JSON.

use crate::rabbitmq::{BindingDeclaration, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration, Scope};
use serde::Deserialize;
use std::fmt;

/// One question. Ask it on a channel of its own: a refusal closes the channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Which question this is; the answer carries it.
    pub id: u64,
    /// What to ask.
    pub ask: Ask,
}

/// What to ask of the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// `queue.declare` with `passive`: is there a queue of that name?
    QueuePassive(String),
    /// `queue.declare` as given: it cannot create, or the queue is there.
    QueueOffer(QueueDeclaration),
    /// `exchange.declare` with `passive`.
    ExchangePassive(String),
    /// `exchange.declare` as given: it cannot create, or the exchange is there.
    ExchangeOffer(ExchangeDeclaration),
    /// Applying: `exchange.declare`.
    DeclareExchange(ExchangeDeclaration),
    /// Applying: set a policy through the management API.
    SetPolicy(PolicyDeclaration),
    /// Applying: `queue.declare`.
    DeclareQueue(QueueDeclaration),
    /// Applying: `queue.bind` or `exchange.bind`.
    Bind(BindingDeclaration),
}

impl Ask {
    /// Whether answering this question changes the broker.
    pub const fn changes(&self) -> bool {
        matches!(self, Self::DeclareExchange(_) | Self::SetPolicy(_) | Self::DeclareQueue(_) | Self::Bind(_))
    }
}

/// What the broker, or the way to it, answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The method was answered with its `-ok`. Counts are those of `queue.declare-ok`, 0 elsewhere.
    Ok {
        /// Ready messages.
        messages: u32,
        /// Consumers.
        consumers: u32,
    },
    /// The broker closed the channel or the connection.
    Refused {
        /// Reply code, such as 406.
        code: u16,
        /// Reply text, such as `PRECONDITION_FAILED - …`.
        text: String,
        /// What the refusal closed.
        scope: Scope,
    },
    /// There was no answer.
    Failed {
        /// What happened instead, such as `timed out after 10 s`.
        why: String,
    },
    /// The host's transport cannot ask such a question.
    Cannot {
        /// Why not.
        why: String,
    },
}

impl Answer {
    /// The `-ok` of a method without counts.
    pub const OK: Self = Self::Ok { messages: 0, consumers: 0 };
}

/// An answer that the session cannot take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerError {
    /// No question of that number is open: it was never asked, or it has its answer.
    NotOpen(u64),
    /// The JSON is no answer.
    Malformed(String),
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen(id) => {
                write!(f, "question {id} is not open: answer each number that the session gave out once")
            }
            Self::Malformed(why) => write!(
                f,
                "this is no answer: {why}; write {{\"id\":1,\"ok\":{{\"messages\":0,\"consumers\":0}}}}, \
                 {{\"id\":1,\"refused\":{{\"code\":406,\"text\":\"…\",\"scope\":\"channel\"}}}}, {{\"id\":1,\"failed\":\"why\"}} \
                 or {{\"id\":1,\"cannot\":\"why\"}}"
            ),
        }
    }
}

impl std::error::Error for AnswerError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    id: u64,
    ok: Option<WireOk>,
    refused: Option<WireRefused>,
    failed: Option<String>,
    cannot: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireOk {
    #[serde(default)]
    messages: u32,
    #[serde(default)]
    consumers: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireRefused {
    code: u16,
    text: String,
    #[serde(default)]
    scope: WireScope,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum WireScope {
    #[default]
    Channel,
    Connection,
}

impl Answer {
    /// Reads `{"id",…}` with exactly one of `ok`, `refused`, `failed` and `cannot`.
    pub fn from_json(value: serde_json::Value) -> Result<(u64, Self), AnswerError> {
        let wire: Wire = serde_json::from_value(value).map_err(|error| AnswerError::Malformed(error.to_string()))?;
        let answer = match (wire.ok, wire.refused, wire.failed, wire.cannot) {
            (Some(ok), None, None, None) => Self::Ok { messages: ok.messages, consumers: ok.consumers },
            (None, Some(refused), None, None) => Self::Refused {
                code: refused.code,
                text: refused.text,
                scope: match refused.scope {
                    WireScope::Channel => Scope::Channel,
                    WireScope::Connection => Scope::Connection,
                },
            },
            (None, None, Some(why), None) => Self::Failed { why },
            (None, None, None, Some(why)) => Self::Cannot { why },
            _ => {
                return Err(AnswerError::Malformed(
                    "it needs exactly one of \"ok\", \"refused\", \"failed\" and \"cannot\"".to_owned(),
                ));
            }
        };
        Ok((wire.id, answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_is_exactly_one_of_four() {
        let refused =
            json!({"id": 3, "refused": {"code": 406, "text": "PRECONDITION_FAILED - no", "scope": "connection"}});
        let expected =
            Answer::Refused { code: 406, text: "PRECONDITION_FAILED - no".to_owned(), scope: Scope::Connection };
        assert_eq!(Answer::from_json(refused), Ok((3, expected)));
        assert_eq!(Answer::from_json(json!({"id": 1, "ok": {}})), Ok((1, Answer::OK)));
        for bad in [
            json!({"id": 1}),
            json!({"id": 1, "failed": "a", "cannot": "b"}),
            json!({"id": 1, "okay": {}}),
            json!({"failed": "a"}),
        ] {
            assert!(matches!(Answer::from_json(bad.clone()), Err(AnswerError::Malformed(_))), "{bad}");
        }
    }
}
