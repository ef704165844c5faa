//! Why a definitions file cannot be used.

use super::fault::Fault;
use crate::topology::{Position, shown_name};
use std::fmt;

/// How many faults a sentence lists before it counts the rest.
const LISTED: usize = 20;

/// Why a file is no definitions file, or why the vhost that was asked for cannot be taken from it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefinitionsError {
    /// There is nothing in it.
    Empty,
    /// It is not UTF-8.
    NotUtf8 {
        /// The first byte that is not.
        at: Position,
    },
    /// It is not JSON.
    NotJson {
        /// Where reading stopped.
        at: Position,
        /// Why, in the words of the JSON reader.
        reason: String,
    },
    /// It is JSON (or YAML), but a topology document.
    TopologyDocument,
    /// It is JSON, but something else.
    NotDefinitions {
        /// What it is instead.
        found: String,
    },
    /// Entries of the vhost cannot be read.
    Faulty {
        /// Each of them, in the order of the file.
        faults: Vec<Fault>,
    },
    /// There are several vhosts and none was chosen.
    VhostNotChosen {
        /// Their names.
        vhosts: Vec<String>,
    },
    /// The vhost that was chosen is not in the file.
    NoSuchVhost {
        /// The one that was asked for; `None` when the file has no vhost at all.
        wanted: Option<String>,
        /// Those that are there.
        vhosts: Vec<String>,
    },
    /// The default queue type of the caller is none.
    UnknownQueueType {
        /// What was given.
        given: String,
    },
}

impl DefinitionsError {
    /// A stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "definitions_empty",
            Self::NotUtf8 { .. } => "definitions_not_utf8",
            Self::NotJson { .. } => "definitions_not_json",
            Self::TopologyDocument => "definitions_is_a_topology",
            Self::NotDefinitions { .. } => "not_definitions",
            Self::Faulty { .. } => "definitions_faulty",
            Self::VhostNotChosen { .. } => "vhost_not_chosen",
            Self::NoSuchVhost { .. } => "no_such_vhost",
            Self::UnknownQueueType { .. } => "unknown_queue_type",
        }
    }

    /// Where in the file, when it is one place.
    pub fn at(&self) -> Option<Position> {
        match self {
            Self::NotUtf8 { at } | Self::NotJson { at, .. } => Some(*at),
            Self::Faulty { faults } => faults.first().map(|fault| fault.at),
            _ => None,
        }
    }
}

/// How to get a definitions file.
const EXPORT: &str = "`rabbitmqctl export_definitions FILE` writes one";

impl fmt::Display for DefinitionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the file is empty; expected a broker's definitions: {EXPORT}"),
            Self::NotUtf8 { at } => {
                write!(f, "{at}: the text is not UTF-8, so these are no broker's definitions: {EXPORT}")
            }
            Self::NotJson { at, reason } => {
                write!(f, "{at}: not JSON ({reason}); a broker's definitions are one JSON object: {EXPORT}")
            }
            Self::TopologyDocument => f.write_str(
                "this is a topology document, not a broker's definitions; plan it by its own name, or use it as the broker with `memory:FILE`",
            ),
            Self::NotDefinitions { found } => write!(
                f,
                "this is {found}, not a broker's definitions, which are one JSON object with lists such as \"queues\" and \"bindings\": {EXPORT}"
            ),
            Self::Faulty { faults } => {
                for (index, fault) in faults.iter().take(LISTED).enumerate() {
                    if index > 0 {
                        f.write_str("\n")?;
                    }
                    write!(f, "{fault}")?;
                }
                match faults.len().saturating_sub(LISTED) {
                    0 => Ok(()),
                    more => write!(f, "\nand {more} more"),
                }
            }
            Self::VhostNotChosen { vhosts } => write!(
                f,
                "the definitions hold {} vhosts, so one has to be chosen (`?vhost=NAME`): {}",
                vhosts.len(),
                listed(vhosts)
            ),
            Self::NoSuchVhost { vhosts, .. } if vhosts.is_empty() => {
                f.write_str("the definitions name no vhost at all, neither in \"vhosts\" nor in an entry")
            }
            Self::NoSuchVhost { wanted, vhosts } => write!(
                f,
                "the definitions hold no vhost {}; they hold {}",
                quoted(wanted.as_deref().unwrap_or_default()),
                listed(vhosts)
            ),
            Self::UnknownQueueType { given } => {
                write!(f, "{} is no queue type; a default queue type is classic, quorum or stream", quoted(given))
            }
        }
    }
}

impl std::error::Error for DefinitionsError {}

fn quoted(name: &str) -> String {
    format!("\"{}\"", shown_name(name))
}

fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| quoted(name)).collect();
    match names.len().saturating_sub(LISTED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
