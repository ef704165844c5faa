//! Reading a broker's refusal: which object, which argument, what was received and what is there.
//!
//! A refused declaration is the only inspection that AMQP offers: RabbitMQ's `406 PRECONDITION_FAILED` names the argument
//! and both values. The text is made for people. It is cut at 255, prints no types when both values are there, and escapes
//! nothing, so a queue named `it's 'x'` stands in it as `'it's 'x''`. Clients and logs then wrap it in their own quoting.
//!
//! [`Refusal::read`] takes such a text in any of these dresses and gives back what it proves, and nothing that it does not
//! prove: a name or value that the cut left incomplete is not given.
//!
//! Reading goes from outside to inside: `envelope` unwraps what a client or a log put around the text, `wordings` is the
//! table of everything that brokers are known to say, `pattern` matches one against the other, `sides` reads the two values
//! and `sentence` says it in plain words.

mod adopt;
mod document;
mod envelope;
mod pattern;
mod quoting;
mod sentence;
mod sides;
mod wordings;

pub use adopt::typed_value;
pub use document::{LineError, PrintedDocument, RefusalDocument};

use envelope::Candidate;
use pattern::{Found, Mode};
use std::fmt;

/// What the caller knows about the request that was refused. Names and vhosts that hold quotes can only be told from the
/// text around them by this.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Known<'a> {
    /// Name of the queue or exchange that was asked for.
    pub name: Option<&'a str>,
    /// The vhost that the connection is in.
    pub vhost: Option<&'a str>,
}

/// What kind of refusal it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefusalClass {
    /// The object is there with another property or argument.
    Inequivalent,
    /// What was asked is refused whatever is there and whoever asks.
    Invalid,
    /// The object is not there.
    NotFound,
    /// The object may well be there, but its node, leader or metadata store does not answer.
    Unavailable,
    /// An exclusive queue of another connection, or one whose exclusive property differs.
    Locked,
    /// This user may not.
    AccessRefused,
    /// In use: a deletion with `if-unused`, or a consumer that has the queue for itself.
    InUse,
    /// Not empty: a deletion with `if-empty`.
    NotEmpty,
    /// The broker does not offer this for that kind of queue.
    NotImplemented,
    /// Anything else.
    Other,
}

impl RefusalClass {
    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inequivalent => "inequivalent",
            Self::Invalid => "invalid",
            Self::NotFound => "not_found",
            Self::Unavailable => "unavailable",
            Self::Locked => "locked",
            Self::AccessRefused => "access_refused",
            Self::InUse => "in_use",
            Self::NotEmpty => "not_empty",
            Self::NotImplemented => "not_implemented",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for RefusalClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What kind of object the refusal is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefusedKind {
    /// A queue.
    Queue,
    /// An exchange.
    Exchange,
    /// A binding.
    Binding,
    /// A vhost.
    Vhost,
    /// The connection itself.
    Connection,
}

impl RefusedKind {
    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Exchange => "exchange",
            Self::Binding => "binding",
            Self::Vhost => "vhost",
            Self::Connection => "connection",
        }
    }
}

impl fmt::Display for RefusedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One of the two sides that a broker compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// What the declaration asked for.
    Received,
    /// What is there.
    Current,
}

impl Side {
    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Current => "current",
        }
    }
}

/// A value as the broker prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// The text between the quotes: integers in decimal, doubles as `6.0e4`, tables and arrays as Erlang terms, which may
    /// go over several lines. From 4.3.6 `x-max-age` is printed in milliseconds.
    pub value: String,
    /// The wire type by the broker's own name (`signedint`, `longstr`, …); it is printed only where the other side has no
    /// value.
    pub kind: Option<String>,
}

/// A refusal, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of refusal it is.
    pub class: RefusalClass,
    /// The kind of object, where the text or its wording tells.
    pub kind: Option<RefusedKind>,
    /// The object's name; `None` when the text names none or was cut before its end. A cut name that agrees with the
    /// [`Known`] one is that one.
    pub name: Option<String>,
    /// The object's vhost, as with `name`.
    pub vhost: Option<String>,
    /// The argument, or the property `durable`, `auto_delete`, `type` or `internal`; an invalid property is named as
    /// printed (`non-durable`).
    pub argument: Option<String>,
    /// What the declaration asked for, where it is printed whole.
    pub received: Option<Printed>,
    /// What is there, where it is printed whole.
    pub current: Option<Printed>,
    /// The side that the broker printed as `none`.
    pub absent: Option<Side>,
    /// The broker cut the text (at 255 bytes, or characters from 4.0.5 on): there may be more than this says.
    pub truncated: bool,
    /// The AMQP reply code: the caller's, else the one that the text shows.
    pub code: Option<u16>,
    /// The explanation without its `NAME - ` and without what a client put around it.
    pub text: String,
    /// The wording that was found, with the fields that are not above.
    found: Option<Found<'static>>,
}

impl Refusal {
    /// Reads a refusal: the reply text of AMQP, or any text that holds one as clients, logs and the management API show it.
    ///
    /// Never fails: what is not recognised has the class [`RefusalClass::Other`].
    ///
    /// ```
    /// use acemq_core::rabbitmq::{Known, Refusal, RefusalClass};
    ///
    /// let text = "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'orders.new' in vhost '/': \
    ///             received '30000' but current is '60000'";
    /// let refusal = Refusal::read(Some(406), text, Known { name: Some("orders.new"), vhost: Some("/") });
    /// assert_eq!(refusal.class, RefusalClass::Inequivalent);
    /// assert_eq!(refusal.argument.as_deref(), Some("x-message-ttl"));
    /// assert_eq!(refusal.current.unwrap().value, "60000");
    /// ```
    pub fn read(code: Option<u16>, text: &str, known: Known<'_>) -> Self {
        let find = |candidate: &Candidate<'_>, mode| {
            let code = code.or(candidate.code);
            let found = pattern::find(wordings::WORDINGS, &candidate.explanation, code, known, mode)?;
            Some(Self::of(code, &candidate.explanation, found))
        };
        // What AMQP gives is read at once; only a wrapped text has to be looked into.
        let direct = envelope::direct(text);
        let modes: &[Mode] = if direct.code.is_some() { &[Mode::Whole, Mode::Cut] } else { &[Mode::Whole] };
        if let Some(refusal) = modes.iter().find_map(|mode| find(&direct, *mode)) {
            return refusal;
        }
        let candidates = envelope::candidates(text);
        [Mode::Whole, Mode::Cut, Mode::Followed]
            .into_iter()
            .find_map(|mode| candidates.iter().find_map(|candidate| find(candidate, mode)))
            .unwrap_or_else(|| Self::unknown(code.or(direct.code), &direct.explanation))
    }

    fn of(code: Option<u16>, text: &str, mut found: Found<'_>) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let kind = found.wording.kind.or_else(|| match found.get("kind").or_else(|| found.get("Kind"))? {
            "queue" | "Queue" => Some(RefusedKind::Queue),
            "exchange" | "Exchange" => Some(RefusedKind::Exchange),
            _ => None,
        });
        let argument = owned(found.wording.argument.or_else(|| found.get("argument")));
        let sides = found.sides.get_or_insert_default();
        let (received, current, absent) = (sides.received.take(), sides.current.take(), sides.absent);
        let sent =
            argument.as_ref().and_then(|_| found.get("value").or_else(|| found.get("error").and_then(sent_value)));
        Self {
            class: found.wording.class,
            kind,
            name: owned(found.get("name")),
            vhost: owned(found.get("vhost")),
            received: received.or_else(|| sent.map(|value| Printed { value: value.to_owned(), kind: None })),
            argument,
            current,
            absent,
            truncated: found.mode == Mode::Cut || found.ends_cut(text),
            code,
            text: text.to_owned(),
            found: Some(found.for_the_sentence()),
        }
    }

    fn unknown(code: Option<u16>, text: &str) -> Self {
        let class = match code {
            Some(403) => RefusalClass::AccessRefused,
            Some(405) => RefusalClass::Locked,
            Some(540) => RefusalClass::NotImplemented,
            _ => RefusalClass::Other,
        };
        Self {
            class,
            kind: None,
            name: None,
            vhost: None,
            argument: None,
            received: None,
            current: None,
            absent: None,
            truncated: pattern::is_cut(text),
            code,
            text: text.to_owned(),
            found: None,
        }
    }

    /// One sentence in plain words.
    pub fn says(&self) -> String {
        sentence::say(self, self.found.as_ref())
    }

    /// Whether this proves that the queue or exchange [`name`](Self::name) does not exist.
    ///
    /// Only `no queue 'N' in vhost 'V'` and `no exchange …` do. Every other 404 may come from a queue that is there but
    /// whose node or leader is not: planning a creation from it would be wrong.
    pub fn proves_absence(&self) -> bool {
        let said = self.found.as_ref().is_some_and(|found| found.wording.absence && found.mode != Mode::Followed);
        said && self.name.is_some() && self.code.is_none_or(|code| code == 404)
    }
}

/// The value inside the broker's complaint about it: `{value_negative,-1}`, `"unsupported queue type 'bogus'"`.
fn sent_value(error: &str) -> Option<&str> {
    if let Some(inside) = error.strip_prefix("\"unsupported queue ") {
        return inside.strip_suffix("'\"")?.split_once(" '").map(|(_, value)| value);
    }
    let (complaint, value) = error.strip_prefix('{')?.strip_suffix('}')?.split_once(',')?;
    matches!(complaint, "value_zero" | "value_negative" | "value_too_large" | "max_value_exceeded").then_some(value)
}

#[cfg(test)]
mod tests;
