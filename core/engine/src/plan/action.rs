//! One line of a plan: what is known about an object, and what an apply would send.

use crate::rabbitmq::{
    BindingDeclaration, Broker, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration, QueueType,
};
use crate::topology::ExternalExchange;
use crate::value::Value;

use super::session::{BrokerKind, Mode};

/// What the action is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Object {
    /// An exchange of this topology.
    Exchange(ExchangeDeclaration),
    /// An exchange that somebody else declares: asked for, never declared.
    External(ExternalExchange),
    /// A policy.
    Policy(PolicyDeclaration),
    /// A queue.
    Queue(QueueDeclaration),
    /// A binding.
    Binding(BindingDeclaration),
}

impl Object {
    /// `exchange`, `policy`, `queue` or `binding`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Exchange(_) | Self::External(_) => "exchange",
            Self::Policy(_) => "policy",
            Self::Queue(_) => "queue",
            Self::Binding(_) => "binding",
        }
    }

    /// Its name; a binding goes by its destination.
    pub fn name(&self) -> &str {
        match self {
            Self::Exchange(exchange) => &exchange.name,
            Self::External(exchange) => &exchange.name,
            Self::Policy(policy) => &policy.name,
            Self::Queue(queue) => &queue.name,
            Self::Binding(binding) => &binding.destination,
        }
    }
}

/// What is known about an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Asked, and not there.
    Create,
    /// Asked, there, and equivalent.
    Present,
    /// Asked, there, and refused as inequivalent.
    Drift,
    /// Refused whatever is there: the broker said so, or the rules of its version do.
    Invalid,
    /// No answer; [`Action::reason`] says why.
    Unknown,
    /// There, not asked for, and ours.
    Extra,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Create, Self::Present, Self::Drift, Self::Invalid, Self::Unknown, Self::Extra];

    /// The word that JSON uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Present => "present",
            Self::Drift => "drift",
            Self::Invalid => "invalid",
            Self::Unknown => "unknown",
            Self::Extra => "extra",
        }
    }
}

/// Why nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// This kind of object cannot be asked about here: AMQP reports no bindings and no policies.
    NotAskable,
    /// The host's transport cannot ask.
    NoInspection,
    /// The user may not ask, or may not declare what is there.
    AccessRefused,
    /// An exclusive queue of another connection.
    Locked,
    /// The broker answered that the object cannot be reached now.
    Unavailable,
    /// No answer within the time limit.
    Timeout,
    /// The connection went away before the answer.
    ConnectionLost,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::NotAskable,
        Self::NoInspection,
        Self::AccessRefused,
        Self::Locked,
        Self::Unavailable,
        Self::Timeout,
        Self::ConnectionLost,
    ];

    /// The word that JSON uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotAskable => "not_askable",
            Self::NoInspection => "no_inspection",
            Self::AccessRefused => "access_refused",
            Self::Locked => "locked",
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::ConnectionLost => "connection_lost",
        }
    }

    /// Sorts a host's own words for a missing answer.
    pub(super) fn of_failure(why: &str) -> Self {
        let lower = why.to_ascii_lowercase();
        if lower.contains("timeout") || lower.contains("timed out") || lower.contains("no answer within") {
            Self::Timeout
        } else if lower.contains("connection") || lower.contains("socket") || lower.contains("closed") {
            Self::ConnectionLost
        } else {
            Self::Unavailable
        }
    }
}

/// What an apply sends for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sends {
    /// `exchange.declare` or `queue.declare`.
    Declare,
    /// `queue.bind` or `exchange.bind`.
    Bind,
    /// A policy, through the management API.
    Set,
    /// Nothing.
    Nothing,
}

impl Sends {
    /// The word that JSON uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Declare => "declare",
            Self::Bind => "bind",
            Self::Set => "set",
            Self::Nothing => "nothing",
        }
    }
}

/// What can be done about one difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Remedied {
    /// A policy changes it on the live queue: [`Action::policy`].
    Policy,
    /// The queue has to be replaced.
    Migrate,
    /// Declare what is there: the value on the broker has no effect, or nothing else can be done.
    DeclareAsIs,
    /// Nothing has to be done.
    Nothing,
}

impl Remedied {
    /// The word that JSON uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Migrate => "migrate",
            Self::DeclareAsIs => "declare_as_is",
            Self::Nothing => "none",
        }
    }
}

/// One argument or property in which the topology and the broker differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedDifference {
    /// The argument, or `durable`, `auto_delete`, `exclusive`, `type`, `internal`.
    pub argument: String,
    /// What the topology asks for; `None` when it does not set the argument.
    pub wanted: Option<Value>,
    /// What the broker has; `None` when it is not set there.
    pub current: Option<Value>,
    /// Whether a broker compares it when the object is declared again.
    pub compared: bool,
    /// What can be done about it.
    pub remedy: Remedied,
}

/// What became of an action in an apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// Sent, and the broker said ok.
    Done,
    /// Sent, and the broker refused it.
    Refused {
        /// Reply code.
        code: u16,
        /// Reply text.
        text: String,
    },
    /// Sent, and there was no answer: it may or may not have happened.
    Unanswered {
        /// Why not.
        why: String,
    },
}

/// One line of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// What it is about.
    pub object: Object,
    /// What is known.
    pub verdict: Verdict,
    /// Why nothing is known, when nothing is.
    pub reason: Option<Reason>,
    /// The broker's or the host's words for an unknown.
    pub why: Option<String>,
    /// What an apply sends.
    pub sends: Sends,
    /// The refusal that drift or invalid stand on: the broker's own, or what its rules predict.
    pub refusal: Option<(u16, String)>,
    /// Every difference that is known.
    pub differences: Vec<PlannedDifference>,
    /// Whether there may be more differences than those.
    pub at_least: bool,
    /// The policy that makes the live object behave as the topology asks.
    pub policy: Option<PolicyDeclaration>,
    /// Further sentences for a person, without a prefix.
    pub notes: Vec<String>,
    /// The type that the broker gives a queue that names none, where that is not classic.
    pub given_type: Option<QueueType>,
    /// What an apply has done with it so far.
    pub applied: Option<Applied>,
}

impl Action {
    pub(super) fn new(object: Object) -> Self {
        Self {
            object,
            verdict: Verdict::Unknown,
            reason: Some(Reason::NotAskable),
            why: None,
            sends: Sends::Nothing,
            refusal: None,
            differences: Vec::new(),
            at_least: false,
            policy: None,
            notes: Vec::new(),
            given_type: None,
            applied: None,
        }
    }

    /// Whether it could have been answered and was not.
    pub fn is_unanswered(&self) -> bool {
        self.verdict == Verdict::Unknown && self.reason != Some(Reason::NotAskable)
    }

    /// Sets what is known, and takes away what explained an earlier unknown.
    pub(super) fn judge(&mut self, verdict: Verdict) {
        self.verdict = verdict;
        self.reason = None;
        self.why = None;
    }

    pub(super) fn unknown(&mut self, reason: Reason, why: impl Into<Option<String>>) {
        self.verdict = Verdict::Unknown;
        self.reason = Some(reason);
        self.why = why.into();
    }
}

/// How many actions have each verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Not there.
    pub create: usize,
    /// There and equivalent.
    pub present: usize,
    /// There and different.
    pub drift: usize,
    /// Refused whatever is there.
    pub invalid: usize,
    /// No answer.
    pub unknown: usize,
    /// There, not asked for, ours.
    pub extra: usize,
    /// There, not asked for, and somebody else's; they are counted, not listed.
    pub foreign: usize,
}

/// What is known of every object of a topology, in the order in which an apply declares them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Which verdicts are called a failure.
    pub mode: Mode,
    /// How the broker is reached.
    pub kind: BrokerKind,
    /// What the broker says it is.
    pub broker: Broker,
    /// The vhost, when it is known.
    pub vhost: Option<String>,
    /// Exchanges, policies, queues, bindings; extras last.
    pub actions: Vec<Action>,
    /// Objects of others that are there too.
    pub foreign: usize,
    /// Sentences about the plan as a whole, without a prefix.
    pub notes: Vec<String>,
}

impl Plan {
    /// Counts the verdicts.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary { foreign: self.foreign, ..Summary::default() };
        for action in &self.actions {
            *match action.verdict {
                Verdict::Create => &mut summary.create,
                Verdict::Present => &mut summary.present,
                Verdict::Drift => &mut summary.drift,
                Verdict::Invalid => &mut summary.invalid,
                Verdict::Unknown => &mut summary.unknown,
                Verdict::Extra => &mut summary.extra,
            } += 1;
        }
        summary
    }

    /// Whether something drifted or is invalid.
    pub fn has_drift_or_invalid(&self) -> bool {
        self.actions.iter().any(|action| matches!(action.verdict, Verdict::Drift | Verdict::Invalid))
    }

    /// Whether something is unknown that could have been answered: what `--strict` fails on.
    pub fn has_unanswered(&self) -> bool {
        self.actions.iter().any(Action::is_unanswered)
    }

    /// Whether `validate` fails: something is missing, differs or is invalid, or a queue gave no answer.
    pub fn fails_validation(&self) -> bool {
        self.actions.iter().any(|action| match action.verdict {
            Verdict::Create | Verdict::Drift | Verdict::Invalid => true,
            Verdict::Unknown => matches!(action.object, Object::Queue(_)),
            Verdict::Present | Verdict::Extra => false,
        })
    }

    /// Whether an apply would create something that is known to be missing.
    pub fn creates(&self) -> bool {
        self.actions.iter().any(|action| action.verdict == Verdict::Create)
    }
}
