//! YAML, strictly: YAML 1.2 booleans, no merge keys, no includes, no tags of an application, and limits on everything that
//! can grow.

use super::tree::{Entry, Kind, Node};
use super::{MAX_BYTES, Unreadable};
use crate::topology::problem::Position;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{DefaultMessageFormatter, Error, Location, MessageFormatter, Options, Spanned};
use std::fmt;

/// Deeper documents are refused: a topology needs six levels, and each costs some twenty kilobytes of a thread's stack while
/// its place is noted.
const MAX_DEPTH: usize = 16;

/// Nodes in one document; 100,000 queues and as many bindings are two millions.
const MAX_NODES: usize = 16_000_000;

/// Aliases, and what they may repeat. Topologies use them for a few shared argument tables.
const MAX_ALIASES: usize = 10_000;
const MAX_REPEATED: usize = 200_000;

fn options(duplicate_keys: DuplicateKeyPolicy) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 2 * MAX_NODES,
            max_nodes: MAX_NODES,
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_aliases: MAX_ALIASES,
            max_anchors: MAX_ALIASES,
            max_recorded_anchor_events: MAX_REPEATED,
            max_documents: 2,
            max_inclusion_depth: 0,
            max_total_scalar_bytes: MAX_BYTES,
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_REPEATED,
            max_replay_stack_depth: 8,
        },
        duplicate_keys: duplicate_keys,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}

/// Reads `text` into a type, without places.
pub(super) fn read_into<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, Error> {
    serde_saphyr::from_str_with_options(text, options(DuplicateKeyPolicy::Error))
}

/// Reads `text` into a tree.
pub(super) fn read(text: &str) -> Result<Node, Unreadable> {
    let root: Located = serde_saphyr::from_str_with_options(text, options(DuplicateKeyPolicy::PassThrough))
        .map_err(|error| unreadable(&error))?;
    Ok(root.into_node(text))
}

fn unreadable(error: &Error) -> Unreadable {
    let at = error.location().map(position);
    let cause = cause(error);
    let unread = |sentence: &str, help| Unreadable::Syntax { sentence: sentence.to_owned(), help: Some(help), at };
    let complex = |sentence: String| Unreadable::TooComplex { sentence, at };
    let nests = || complex(format!("it nests more than {MAX_DEPTH} levels deep"));
    let repeats = || complex(format!("its aliases repeat more than {MAX_REPEATED} values"));
    match cause {
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => nests(),
        Error::Budget { breach: BudgetBreach::RecordedAnchorEvents { .. }, .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => repeats(),
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            complex("an alias stands inside what it repeats".to_owned())
        }
        Error::Budget { .. } => complex(format!("it has more than {MAX_NODES} values or {MAX_ALIASES} aliases")),
        Error::MergeKeyNotAllowed { .. } => unread("merge keys (<<) are not read", "Write the keys out at each place."),
        Error::UnsupportedTag { .. } => unread("tags are not read", "Take the tag out; a file includes no other file."),
        Error::MultipleDocuments { .. } => {
            unread("a second document begins here", "Give each topology a file of its own.")
        }
        _ => {
            let sentence = DefaultMessageFormatter.format_message(cause).into_owned();
            // The scanner stops before any budget is looked at.
            if sentence.contains("recursion limit") { nests() } else { Unreadable::Syntax { sentence, help: None, at } }
        }
    }
}

/// The error itself, without the alias or the lines that it was found in.
fn cause(error: &Error) -> &Error {
    match error {
        Error::AliasError { error, .. } | Error::WithSnippet { error, .. } => cause(error),
        error => error,
    }
}

pub(super) fn position(location: Location) -> Position {
    Position { line: location.line(), column: location.column() }
}

type Located = Spanned<Raw>;

/// A value before its place is worked out.
enum Raw {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Located>),
    Mapping(Vec<(Spanned<String>, Located)>),
}

trait IntoNode {
    fn into_node(self, text: &str) -> Node;
}

impl IntoNode for Located {
    fn into_node(self, text: &str) -> Node {
        let at = position(self.referenced);
        let kind = match self.value {
            Raw::Null => Kind::Null,
            Raw::Bool(flag) => Kind::Bool(flag),
            Raw::Number(json) => {
                let span = self.defined.span();
                let start = span.byte_offset().and_then(|start| usize::try_from(start).ok());
                let rest = start.and_then(|start| text.get(start..)).unwrap_or_default();
                let written = rest.split(|c: char| c.is_whitespace() || ",]}#".contains(c)).next().unwrap_or_default();
                let written = if written.is_empty() { json.clone() } else { written.to_owned() };
                Kind::Number { json, written }
            }
            Raw::Text(text) => Kind::Text(text),
            Raw::List(items) => Kind::List(items.into_iter().map(|item| item.into_node(text)).collect()),
            Raw::Mapping(entries) => Kind::Mapping(
                entries
                    .into_iter()
                    .map(|(key, value)| Entry {
                        key_at: position(key.referenced),
                        key: key.value,
                        value: value.into_node(text),
                    })
                    .collect(),
            ),
        };
        Node { at, kind }
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RawVisitor;

        impl<'de> Visitor<'de> for RawVisitor {
            type Value = Raw;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_unit<E>(self) -> Result<Raw, E> {
                Ok(Raw::Null)
            }

            fn visit_none<E>(self) -> Result<Raw, E> {
                Ok(Raw::Null)
            }

            fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
                Raw::deserialize(deserializer)
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Raw, E> {
                Ok(Raw::Bool(flag))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Raw, E> {
                Ok(Raw::Number(number.to_string()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Raw, E> {
                Ok(Raw::Number(number.to_string()))
            }

            fn visit_i128<E>(self, number: i128) -> Result<Raw, E> {
                Ok(Raw::Number(number.to_string()))
            }

            fn visit_u128<E>(self, number: u128) -> Result<Raw, E> {
                Ok(Raw::Number(number.to_string()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Raw, E> {
                // {:?} keeps the fraction or the exponent that makes it a double.
                Ok(if number.is_finite() { Raw::Number(format!("{number:?}")) } else { Raw::Text(number.to_string()) })
            }

            fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
                Ok(Raw::Text(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<Raw, E> {
                Ok(Raw::Text(text))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Raw, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Raw::List(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Raw::Mapping(entries))
            }
        }

        deserializer.deserialize_any(RawVisitor)
    }
}
