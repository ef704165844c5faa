//! What an answer depends on besides the request and what exists: version, vhost, rights and limits.

use super::Refused;
use super::reply::{Code, Text};
use super::resource::Resource;
use crate::rabbitmq::Version;
use crate::rabbitmq::changes::CHARACTER_TEXTS;
use fancy_regex::Regex;
use std::fmt;

/// The circumstances of a request. [`Conditions::new`] gives a broker that forbids nothing; set what differs.
#[derive(Debug, Clone)]
pub struct Conditions {
    /// Whose rules hold.
    pub version: Version,
    /// The vhost, as refusals name it.
    pub vhost: String,
    /// The vhost's default queue type, else the node's; `None` where neither is set.
    pub default_queue_type: Option<String>,
    /// Whether transient non-exclusive queues are permitted. They can be denied since 3.13, and are by default in upstream's
    /// 4.3.0 and later (some builds permit them); before 3.13 they always are, whatever stands here.
    pub transient_nonexclusive: bool,
    /// `quorum_queue.property_equivalence.relaxed_checks_on_redeclaration` (3.11.16, 3.12.0 and later).
    pub relaxed_quorum_redeclare: bool,
    /// The user who asks, as refusals name it.
    pub user: String,
    /// What that user may do in the vhost.
    pub permissions: Permissions,
    /// The vhost's `max-queues`.
    pub queue_limit: Option<Limit>,
    /// The cluster's limit of queues (3.13 and later).
    pub cluster_queue_limit: Option<Limit>,
    /// The cluster's limit of exchanges, predeclared ones included (4.1.4 and later).
    pub exchange_limit: Option<Limit>,
    /// Exchange types that plugins add to the broker's own.
    pub plugin_exchange_types: Vec<String>,
}

impl Conditions {
    /// A broker of `version` where everything is allowed and nothing limited, with user `guest` and no default queue type.
    pub fn new(version: Version, vhost: impl Into<String>) -> Self {
        Self {
            version,
            vhost: vhost.into(),
            default_queue_type: None,
            transient_nonexclusive: true,
            relaxed_quorum_redeclare: false,
            user: "guest".to_owned(),
            permissions: Permissions::all(),
            queue_limit: None,
            cluster_queue_limit: None,
            exchange_limit: None,
            plugin_exchange_types: Vec::new(),
        }
    }

    /// An empty explanation in this version's encoding.
    pub(super) fn text(&self) -> Text {
        Text::new(self.version)
    }

    /// Refuses an operation on `resource` that needs `right` to a user who does not have it.
    pub(super) fn require(&self, right: Right, resource: Resource<'_>) -> Result<(), Refused> {
        let resource = known_as(resource);
        if self.permissions.allow(right, resource.name) { Ok(()) } else { Err(self.denied(right, resource)) }
    }

    /// Refuses a user who has none of the three rights; the text names `configure`.
    pub(super) fn require_any(&self, resource: Resource<'_>) -> Result<(), Refused> {
        if Right::ALL.into_iter().any(|right| self.permissions.allow(right, resource.name)) {
            Ok(())
        } else {
            Err(self.denied(Right::Configure, resource))
        }
    }

    fn denied(&self, right: Right, resource: Resource<'_>) -> Refused {
        let mut text = self.text();
        if CHARACTER_TEXTS.holds(self.version) {
            text = text.plain(right.verb()).plain(" ");
        }
        text.plain("access to ")
            .resource(self, resource)
            .plain(" refused for user '")
            .raw(self.user.as_bytes())
            .plain("'")
            .refuse(Code::AccessRefused)
    }
}

/// Rights on the default exchange are asked for, and refused, under a name of its own.
fn known_as(resource: Resource<'_>) -> Resource<'_> {
    if resource.is_default_exchange() { Resource::exchange("amq.default") } else { resource }
}

/// A limit and how much of it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The most that may exist.
    pub maximum: u64,
    /// How many exist before the request.
    pub declared: u64,
}

impl Limit {
    pub(super) const fn is_reached(self) -> bool {
        self.declared >= self.maximum
    }
}

/// One of the three rights on a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Right {
    Configure,
    Write,
    Read,
}

impl Right {
    const ALL: [Self; 3] = [Self::Configure, Self::Write, Self::Read];

    const fn verb(self) -> &'static str {
        match self {
            Self::Configure => "configure",
            Self::Write => "write",
            Self::Read => "read",
        }
    }
}

/// What a user may configure, write and read in a vhost: three regular expressions on names, unanchored as the broker's are.
#[derive(Debug, Clone)]
pub struct Permissions {
    configure: Option<Regex>,
    write: Option<Regex>,
    read: Option<Regex>,
}

impl Permissions {
    /// All names.
    pub const fn all() -> Self {
        Self { configure: None, write: None, read: None }
    }

    /// From the three patterns of `rabbitmqctl set_permissions`; an empty pattern allows only the empty name.
    ///
    /// # Errors
    /// The first pattern that is no regular expression.
    pub fn new(configure: &str, write: &str, read: &str) -> Result<Self, PermissionError> {
        let compile = |right: Right, pattern: &str| {
            // The broker gives an empty pattern a meaning of its own: nothing.
            let pattern = if pattern.is_empty() { "^$" } else { pattern };
            Regex::new(pattern).map(Some).map_err(|error| PermissionError {
                right: right.verb(),
                pattern: pattern.to_owned(),
                why: error.to_string(),
            })
        };
        Ok(Self {
            configure: compile(Right::Configure, configure)?,
            write: compile(Right::Write, write)?,
            read: compile(Right::Read, read)?,
        })
    }

    fn allow(&self, right: Right, name: &str) -> bool {
        let pattern = match right {
            Right::Configure => &self.configure,
            Right::Write => &self.write,
            Right::Read => &self.read,
        };
        // A pattern that exceeds the engine's limits of backtracking denies, as the broker's own does.
        pattern.as_ref().is_none_or(|pattern| pattern.is_match(name).unwrap_or(false))
    }
}

/// A permission that is no regular expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionError {
    right: &'static str,
    pattern: String,
    why: String,
}

impl fmt::Display for PermissionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} permission \"{}\" is no regular expression: {}", self.right, self.pattern, self.why)
    }
}

impl std::error::Error for PermissionError {}
