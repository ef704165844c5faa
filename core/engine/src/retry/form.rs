//! A policy in a document: its text, or a mapping with the same keys.
//!
//! ```yaml
//! retry: "exponential(6, 10s, 5m).give_up_after(2h)"
//! retry: { exponential: { attempts: 6, first: 10s, cap: 5m, multiplier: 1.5 }, jitter: 0.1, give_up_after: 2h }
//! retry: { fixed: { attempts: 3, delay: 30s }, wait_in_broker_from: 10s }
//! retry: { none: {} }
//! ```

use super::draft::{self, Draft, Place};
use super::duration::shortened;
use super::text::start;
use super::{DurationError, RetryCode, RetryPolicy, RetryProblem, RetryProblems};
use crate::name::nearest;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

const KINDS: [&str; 3] = ["none", "fixed", "exponential"];
const KEYS: [&str; 6] = ["none", "fixed", "exponential", "jitter", "give_up_after", "wait_in_broker_from"];

/// A policy as a document writes it, not yet checked.
///
/// Reading one never fails for what it holds, so that a document's reader can report all problems of all policies with their
/// places; [`RetryForm::policy`] checks it.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryForm(Node);

impl RetryForm {
    /// The policy.
    ///
    /// # Errors
    /// Everything that is wrong. Problems of a mapping have the field `key`, as in `exponential.first`.
    pub fn policy(&self) -> Result<RetryPolicy, RetryProblems> {
        match &self.0 {
            Node::Text(text) => text.parse(),
            Node::Map(entries) => Mapping { path: "", entries }.policy(),
            other => {
                let message = format!("a retry policy is a text or a mapping, not {}", other.described());
                let help = "write it as in \"exponential(6, 10s, 5m)\"";
                Err(RetryProblem::new(RetryCode::WrongValue, message, help).into())
            }
        }
    }
}

impl From<&str> for RetryForm {
    fn from(text: &str) -> Self {
        Self(Node::Text(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for RetryForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Node::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for RetryPolicy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RetryForm::deserialize(deserializer)?.policy().map_err(de::Error::custom)
    }
}

impl Serialize for RetryPolicy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One value of a document, with nothing lost: repeated keys stay.
#[derive(Debug, Clone, PartialEq)]
enum Node {
    Null,
    Bool(bool),
    Whole(i128),
    Fraction(f64),
    Text(String),
    List,
    Map(Vec<(String, Node)>),
}

impl Node {
    fn described(&self) -> String {
        match self {
            Self::Null => "nothing".to_owned(),
            Self::Bool(flag) => flag.to_string(),
            Self::Whole(number) => format!("the number {number}"),
            Self::Fraction(number) => format!("the number {number}"),
            Self::Text(text) => format!("the text \"{}\"", shortened(text)),
            Self::List => "a list".to_owned(),
            Self::Map(_) => "a mapping".to_owned(),
        }
    }

    /// A number as it is written: the shortest decimal that gives the same double.
    fn number(&self) -> Option<String> {
        match self {
            Self::Whole(number) => Some(number.to_string()),
            Self::Fraction(number) if number.is_finite() => Some(number.to_string()),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NodeVisitor;

        impl<'de> Visitor<'de> for NodeVisitor {
            type Value = Node;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a retry policy")
            }

            fn visit_unit<E>(self) -> Result<Node, E> {
                Ok(Node::Null)
            }

            fn visit_none<E>(self) -> Result<Node, E> {
                Ok(Node::Null)
            }

            fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
                Node::deserialize(deserializer)
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Node, E> {
                Ok(Node::Bool(flag))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
                Ok(Node::Whole(number.into()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
                Ok(Node::Whole(number.into()))
            }

            fn visit_i128<E>(self, number: i128) -> Result<Node, E> {
                Ok(Node::Whole(number))
            }

            fn visit_u128<E>(self, number: u128) -> Result<Node, E> {
                Ok(Node::Whole(i128::try_from(number).unwrap_or(i128::MAX)))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
                Ok(Node::Fraction(number))
            }

            fn visit_str<E>(self, text: &str) -> Result<Node, E> {
                Ok(Node::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
                while items.next_element::<de::IgnoredAny>()?.is_some() {}
                Ok(Node::List)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Node::Map(entries))
            }
        }

        deserializer.deserialize_any(NodeVisitor)
    }
}

/// The key of a value: where a problem is.
struct Key(String);

impl Place for Key {
    fn locate(&self, mut problem: RetryProblem) -> RetryProblem {
        problem.message = format!("{}: {}", self.0, problem.message);
        problem.with("key", self.0.as_str())
    }

    fn locate_in_duration(&self, problem: RetryProblem, error: &DurationError) -> RetryProblem {
        self.locate(problem).with("column", error.column())
    }
}

/// The entries of a mapping; `path` is empty, or its own key and a point.
struct Mapping<'a> {
    path: &'a str,
    entries: &'a [(String, Node)],
}

impl<'a> Mapping<'a> {
    fn key(&self, key: &str) -> Key {
        Key(format!("{}{}", self.path, shortened(key)))
    }

    fn get(&self, key: &str) -> Option<&'a Node> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// Unknown and repeated keys.
    fn check_keys(&self, known: &[&'static str], problems: &mut Vec<RetryProblem>) {
        for (index, (key, _)) in self.entries.iter().enumerate() {
            let at = self.key(key);
            if !known.contains(&key.as_str()) {
                let near = nearest(key, known.iter().copied()).unwrap_or_default();
                let help = match known {
                    [] => "leave it out: there are no keys here".to_owned(),
                    _ => format!("did you mean {near}? There are {}", known.join(", ")),
                };
                let problem = RetryProblem::new(RetryCode::UnknownKey, "unknown key", help).with("nearest", near);
                problems.push(at.locate(problem));
            } else if self.entries.iter().take(index).any(|(earlier, _)| earlier == key) {
                let problem = RetryProblem::new(RetryCode::DuplicateKey, "the key stands twice", "keep one of the two");
                problems.push(at.locate(problem));
            }
        }
    }

    fn missing(&self, key: &str, example: &str) -> RetryProblem {
        self.key(key).locate(RetryProblem::new(
            RetryCode::MissingKey,
            "the key is missing",
            format!("add {key}, as in {example}"),
        ))
    }

    fn wrong(&self, key: &str, node: &Node, help: &str) -> RetryProblem {
        let message = format!("{} does not fit here", node.described());
        self.key(key).locate(RetryProblem::new(RetryCode::WrongValue, message, help))
    }

    /// A duration as the text of the grammar: a number needs its unit, only 0 has none.
    fn duration(&self, key: &str, node: &Node, problems: &mut Vec<RetryProblem>) -> Option<String> {
        match node {
            Node::Text(text) => Some(text.clone()),
            Node::Whole(number) => Some(number.to_string()),
            other => {
                let help = "write a duration, as in \"10s\" or \"10ms\"";
                problems.push(self.wrong(key, other, help));
                None
            }
        }
    }

    /// The value of a key that has to be there, as milliseconds.
    fn required_duration(&self, key: &str, problems: &mut Vec<RetryProblem>) -> Option<u64> {
        let Some(node) = self.get(key) else {
            problems.push(self.missing(key, &format!("{key}: 10s")));
            return None;
        };
        let written = self.duration(key, node, problems)?;
        draft::duration(&written, &self.key(key), problems)
    }

    fn attempts(&self, problems: &mut Vec<RetryProblem>) -> Option<u32> {
        const KEY: &str = "attempts";
        match self.get(KEY) {
            None => problems.push(self.missing(KEY, "attempts: 6")),
            Some(Node::Whole(number)) => match u32::try_from(*number) {
                Ok(attempts) => return Some(attempts),
                Err(_) => problems.push(self.key(KEY).locate(draft::attempts_out_of_range(&number.to_string()))),
            },
            Some(other) => problems.push(self.wrong(KEY, other, "write a whole number, as in 6")),
        }
        None
    }

    fn policy(&self) -> Result<RetryPolicy, RetryProblems> {
        let mut problems = Vec::new();
        self.check_keys(&KEYS, &mut problems);
        let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| self.get(kind).is_some()).collect();
        let mut draft = match *kinds.as_slice() {
            [kind] => self.draft(kind, problems),
            [] => {
                let help = "add one of none, fixed, exponential, as in exponential: { attempts: 6, first: 10s }";
                problems.push(RetryProblem::new(RetryCode::MissingKey, "the policy has no kind", help));
                unknown_kind(problems)
            }
            _ => {
                let message = format!("the policy is {} at once", kinds.join(" and "));
                problems.push(RetryProblem::new(RetryCode::DuplicateKey, message, "keep one of them"));
                unknown_kind(problems)
            }
        };
        self.options(&mut draft);
        draft.finish()
    }

    fn draft(&self, kind: &'static str, mut problems: Vec<RetryProblem>) -> Draft {
        let entries = match self.get(kind) {
            Some(Node::Map(entries)) => entries.as_slice(),
            Some(other) => {
                let help = match kind {
                    "none" => "write none: {}",
                    "fixed" => "write fixed: { attempts: 3, delay: 30s }",
                    _ => "write exponential: { attempts: 6, first: 10s }",
                };
                problems.push(self.wrong(kind, other, help));
                return unknown_kind(problems);
            }
            None => return unknown_kind(problems),
        };
        let path = format!("{kind}.");
        let inner = Mapping { path: &path, entries };
        match kind {
            "none" => {
                inner.check_keys(&[], &mut problems);
                Draft::new(RetryPolicy::none().to_builder(), problems)
            }
            "fixed" => {
                inner.check_keys(&["attempts", "delay"], &mut problems);
                let attempts = inner.attempts(&mut problems);
                let delay = inner.required_duration("delay", &mut problems);
                start(RetryPolicy::fixed, attempts, delay, problems)
            }
            _ => inner.exponential(problems),
        }
    }

    fn exponential(&self, mut problems: Vec<RetryProblem>) -> Draft {
        self.check_keys(&["attempts", "first", "cap", "multiplier"], &mut problems);
        let attempts = self.attempts(&mut problems);
        let first = self.required_duration("first", &mut problems);
        let cap = self.get("cap").map(|node| self.duration("cap", node, &mut problems));
        let multiplier = self.get("multiplier");
        let mut draft = start(RetryPolicy::exponential, attempts, first, problems);
        match cap {
            Some(Some(written)) => draft.cap(&written, &self.key("cap")),
            Some(None) => draft.schedule_unknown(),
            None => {}
        }
        if let Some(node) = multiplier {
            match node.number() {
                Some(written) => draft.multiplier(&written, &self.key("multiplier")),
                None => {
                    draft.problem(self.wrong("multiplier", node, "write a number, as in 1.5"));
                    draft.schedule_unknown();
                }
            }
        }
        draft
    }

    fn options(&self, draft: &mut Draft) {
        match self.get("jitter") {
            None => {}
            Some(Node::Fraction(factor)) => draft.jitter(*factor),
            #[expect(clippy::cast_precision_loss, reason = "a whole number other than 0 and 1 is out of range anyway")]
            Some(Node::Whole(factor)) => draft.jitter(*factor as f64),
            Some(other) => draft.problem(self.wrong("jitter", other, "write a number from 0 to 1")),
        }
        let mut problems = Vec::new();
        if let Some(node) = self.get("give_up_after")
            && let Some(written) = self.duration("give_up_after", node, &mut problems)
        {
            draft.give_up_after(&written, &self.key("give_up_after"));
        }
        if let Some(node) = self.get("wait_in_broker_from") {
            match self.duration("wait_in_broker_from", node, &mut problems) {
                Some(written) => draft.wait_in_broker_from(&written, &self.key("wait_in_broker_from")),
                None => draft.threshold_unknown(),
            }
        }
        problems.into_iter().for_each(|problem| draft.problem(problem));
    }
}

/// A draft in which nothing else is wrong.
fn unknown_kind(problems: Vec<RetryProblem>) -> Draft {
    Draft::new(RetryPolicy::none().to_builder(), problems)
}

/// The schema of a duration's text.
pub(crate) fn duration_schema() -> Schema {
    json_schema!({
        "description": "digits and one unit of ms, s, m, h; or 0",
        "type": ["string", "integer"],
        "pattern": "^(0|[0-9]+(ms|s|m|h))$",
        "minimum": 0,
        "maximum": 0,
        "examples": ["10s", "500ms", "5m", "2h"]
    })
}

impl JsonSchema for RetryForm {
    fn schema_name() -> Cow<'static, str> {
        "RetryPolicy".into()
    }

    fn schema_id() -> Cow<'static, str> {
        concat!(module_path!(), "::RetryPolicy").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let duration = duration_schema();
        let attempts = json_schema!({
            "description": "deliveries, the first one included",
            "type": "integer", "minimum": 1, "maximum": u32::MAX
        });
        let kind = |properties: serde_json::Value, required: &[&str]| {
            json_schema!({
                "type": "object", "additionalProperties": false, "properties": properties, "required": required
            })
        };
        let none = kind(serde_json::json!({}), &[]);
        let fixed = kind(serde_json::json!({ "attempts": attempts, "delay": duration }), &["attempts", "delay"]);
        let multiplier = json_schema!({
            "description": "1, or 1.01 to 1000 with at most three decimals",
            "type": "number", "minimum": 1, "maximum": 1000, "default": 2
        });
        let exponential = kind(
            serde_json::json!({ "attempts": attempts, "first": duration, "cap": duration, "multiplier": multiplier }),
            &["attempts", "first"],
        );
        json_schema!({
            "description": "when and how long to wait before a failed message is tried again",
            "oneOf": [
                {
                    "type": "string",
                    "pattern": "^(none|fixed|exponential)\\(.*\\)$",
                    "examples": ["exponential(6, 10s, 5m)", "fixed(3, 30s).give_up_after(2h)", "none()"]
                },
                {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                        "none": none,
                        "fixed": fixed,
                        "exponential": exponential,
                        "jitter": {
                            "description": "the random part of a wait in the consumer; 0.2 for exponential, else 0",
                            "type": "number", "minimum": 0, "maximum": 1
                        },
                        "give_up_after": duration,
                        "wait_in_broker_from": duration
                    },
                    "oneOf": [{ "required": ["none"] }, { "required": ["fixed"] }, { "required": ["exponential"] }]
                }
            ]
        })
    }
}

impl JsonSchema for RetryPolicy {
    fn schema_name() -> Cow<'static, str> {
        RetryForm::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        RetryForm::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        RetryForm::json_schema(generator)
    }
}
