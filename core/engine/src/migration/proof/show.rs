//! A proof in words and as a document.

use super::{Counterexample, Fault, MAX_CLASSES, Proof};
use crate::topology::{describe_binding_arguments, shown_name};
use crate::value::counted;
use serde_json::{Value as Json, json};
use std::fmt;

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds(scope) => {
                write!(
                    f,
                    "proven for {} of messages at {} in {}",
                    counted(scope.classes, "class"),
                    counted(scope.entries, "exchange"),
                    counted(scope.states, "state")
                )?;
                match scope.pairs {
                    Some(0) => {}
                    Some(pairs) => write!(f, ", and for {} of routing keys (CC, BCC)", counted(pairs, "pair"))?,
                    None => {
                        f.write_str("; messages with further keys in CC or BCC are not looked at, there are too many")?
                    }
                }
                if scope.doubled > 0 {
                    write!(
                        f,
                        "; {} of them twice for a moment",
                        if scope.doubled == 1 { "1 comes".to_owned() } else { format!("{} come", scope.doubled) }
                    )?;
                }
                Ok(())
            }
            Self::Broken(counterexample) => counterexample.fmt(f),
            Self::NotProven { why } => write!(f, "not proven: {why}"),
            Self::Refused { step, refused } => {
                write!(f, "the broker would refuse step {step}: {} {}", refused.code, refused.text)
            }
        }
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<String> = self.keys.iter().map(|key| format!("\"{}\"", shown_name(key))).collect();
        write!(f, "a message to exchange {} with key {}", shown_name(&self.exchange), keys.join(" and "))?;
        if !self.headers.is_empty() {
            write!(f, " and headers{}", describe_binding_arguments(&self.headers).replacen(" with", "", 1))?;
        }
        match &self.fault {
            Fault::Lost => f.write_str(" is lost")?,
            Fault::Doubled => f.write_str(" comes twice")?,
            Fault::Astray => f.write_str(" comes to a queue that it has nothing to do with")?,
            Fault::Missed { queue } => write!(f, " is missed by queue {}", shown_name(queue))?,
            Fault::Spilled { queue } => write!(f, " comes to queue {}, which never got it", shown_name(queue))?,
            Fault::Detoured { exchange } => write!(f, " takes another way at exchange {}", shown_name(exchange))?,
            Fault::Deleted { queue } => {
                write!(f, " that waits in queue {} is deleted with it", shown_name(queue))?;
            }
            Fault::Stranded { queue } => {
                write!(f, " that waits in queue {}, whose dead letters lead nowhere now, is lost", shown_name(queue))?;
            }
        }
        let queues = |queues: &[String]| match queues {
            [] => "nothing".to_owned(),
            queues => queues.iter().map(|queue| shown_name(queue)).collect::<Vec<_>>().join(", "),
        };
        if self.after == 0 {
            let help =
                "a client may have brought a binding back that a migration took away: take it away, and run again";
            return write!(f, " before any step: it reaches {}; {help}", queues(&self.then));
        }
        write!(
            f,
            ": after step {} it reaches {}, before it reached {}",
            self.after,
            queues(&self.then),
            queues(&self.before)
        )
    }
}

impl Fault {
    /// One word for documents.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Doubled => "doubled",
            Self::Astray => "astray",
            Self::Missed { .. } => "missed",
            Self::Spilled { .. } => "spilled",
            Self::Detoured { .. } => "detoured",
            Self::Deleted { .. } => "deleted",
            Self::Stranded { .. } => "stranded",
        }
    }
}

impl Proof {
    /// The proof as documents carry it.
    pub fn to_json(&self) -> Json {
        let mut json = match self {
            Self::Holds(scope) => {
                let mut json = serde_json::to_value(scope).unwrap_or_default();
                if let Some(object) = json.as_object_mut() {
                    object.insert("limit".to_owned(), MAX_CLASSES.into());
                }
                json
            }
            Self::Broken(broken) => json!({
                "fault": broken.fault.name(),
                "after_step": broken.after,
                "message": { "exchange": broken.exchange, "keys": broken.keys, "headers": broken.headers },
                "before": broken.before,
                "then": broken.then,
            }),
            Self::NotProven { .. } => json!({}),
            Self::Refused { step, refused } => json!({ "step": step, "code": refused.code, "reason": refused.text }),
        };
        if let Some(object) = json.as_object_mut() {
            let outcome = match self {
                Self::Holds(_) => "holds",
                Self::Broken(_) => "broken",
                Self::NotProven { .. } => "not_proven",
                Self::Refused { .. } => "refused",
            };
            object.insert("outcome".to_owned(), outcome.into());
            object.insert("text".to_owned(), self.to_string().into());
        }
        json
    }
}
