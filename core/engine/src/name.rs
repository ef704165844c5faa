//! The names that a queue implies, and what RabbitMQ accepts as a name.
//!
//! Every AceMQ library publishes to and consumes from the same few derived objects: the queue's dead-letter queue, its
//! parked queue, one *rung* (a queue with a TTL) for each retry delay, and two direct exchanges that all queues of a vhost
//! share. A rung's name holds its delay exactly, so two delays never share a queue.
//!
//! A name is checked when it is derived: a queue of 252 bytes is fine, but its `.dlq` is not.
//!
//! ```
//! use acemq_core::name;
//!
//! assert_eq!(name::dead_letter_queue("orders").unwrap(), "orders.dlq");
//! assert_eq!(name::retry_queue("orders", 90_000).unwrap(), "orders.retry.90s");
//! assert_eq!(name::dead_letter_queue("amq.orders").unwrap_err().code(), "name_reserved");
//! ```

pub use crate::value::shown_name as shown;

use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt;

/// The direct exchange through which dead letters of every queue reach their `.dlq` or `.parked`.
pub const DEAD_LETTER_EXCHANGE: &str = "acemq.dlx";

/// The direct exchange through which expired messages of every rung return to their queue.
pub const RETRY_EXCHANGE: &str = "acemq.retry";

/// The type of both shared exchanges.
pub const SHARED_EXCHANGE_TYPE: &str = "direct";

/// The longest name in bytes of UTF-8: AMQP's short string.
pub const MAX_NAME_BYTES: usize = 255;

/// How a name that only the broker may give starts (case-sensitive; `amq` alone is free).
pub const RESERVED_PREFIX: &str = "amq.";

const DEAD_LETTER_SUFFIX: &str = ".dlq";
const PARKED_SUFFIX: &str = ".parked";
const RETRY_INFIX: &str = ".retry.";

/// What is being named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// A queue, or a stream.
    Queue,
    /// An exchange.
    Exchange,
}

impl NameKind {
    /// `queue` or `exchange`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Exchange => "exchange",
        }
    }
}

/// What is wrong with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameFault {
    /// No name: AMQP would take it for a request to invent one, or for the default exchange.
    Empty,
    /// More than [`MAX_NAME_BYTES`].
    TooLong {
        /// Length in bytes of UTF-8.
        bytes: usize,
    },
    /// Starts with [`RESERVED_PREFIX`]: an active declaration answers 403.
    Reserved,
    /// Holds a carriage return or a line feed: the broker strips both and declares another name.
    LineBreak,
    /// A rung of no delay, which would be no wait at all.
    NoDelay,
}

impl NameFault {
    /// The stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Empty => "name_empty",
            Self::TooLong { .. } => "name_too_long",
            Self::Reserved => "name_reserved",
            Self::LineBreak => "name_line_break",
            Self::NoDelay => "delay_zero",
        }
    }
}

/// A name that RabbitMQ would not take as it stands. Its `Display` is one sentence with the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameError {
    kind: NameKind,
    name: String,
    fault: NameFault,
    derived: Option<Derived>,
}

/// Where a derived name comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Derived {
    source: String,
    suffix: String,
}

impl NameError {
    /// The stable code of the fault.
    pub const fn code(&self) -> &'static str {
        self.fault.code()
    }

    /// What is wrong.
    pub const fn fault(&self) -> NameFault {
        self.fault
    }

    /// What was to be named.
    pub const fn kind(&self) -> NameKind {
        self.kind
    }

    /// The whole name, derived or not.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The queue that the name is derived from and the suffix that was added; `None` for a name given by hand.
    pub fn derived_from(&self) -> Option<(&str, &str)> {
        self.derived.as_ref().map(|derived| (derived.source.as_str(), derived.suffix.as_str()))
    }

    /// The particulars by name.
    pub fn fields(&self) -> BTreeMap<String, Json> {
        let mut fields = BTreeMap::new();
        let mut set = |field: &str, value: Json| fields.insert(field.to_owned(), value);
        set("kind", self.kind.word().into());
        set("name", self.name.as_str().into());
        if let NameFault::TooLong { bytes } = self.fault {
            set("bytes", bytes.into());
            set("limit", MAX_NAME_BYTES.into());
        }
        if let Some(derived) = &self.derived {
            set("source", derived.source.as_str().into());
            set("suffix", derived.suffix.as_str().into());
        }
        fields
    }

    /// What is wrong, without the way out.
    pub fn message(&self) -> String {
        let subject = match &self.derived {
            None if self.fault == NameFault::NoDelay => return "a delay of 0 ms has no name".to_owned(),
            None => format!("{} name {}", self.kind.word(), quoted(&self.name)),
            Some(from) => {
                format!("{} {} with the suffix {}", self.kind.word(), quoted(&from.source), quoted(&from.suffix))
            }
        };
        match (self.fault, &self.derived) {
            (NameFault::Empty, None) => format!("{} name is empty", self.kind.word()),
            (NameFault::Empty, Some(_)) => format!("{subject} has no name of its own"),
            (NameFault::TooLong { bytes }, None) => {
                format!("{subject} has {bytes} bytes of UTF-8, RabbitMQ takes at most {MAX_NAME_BYTES}")
            }
            (NameFault::TooLong { bytes }, Some(_)) => {
                format!("{subject} makes a name of {bytes} bytes of UTF-8, RabbitMQ takes at most {MAX_NAME_BYTES}")
            }
            (NameFault::Reserved, _) => {
                format!("{subject} starts with \"{RESERVED_PREFIX}\", which RabbitMQ reserves for itself")
            }
            (NameFault::LineBreak, _) => {
                format!("{subject} holds a line break, which RabbitMQ strips: it would declare another name")
            }
            (NameFault::NoDelay, _) => format!("{subject} asks for a rung of 0 ms"),
        }
    }

    /// The way out.
    pub fn help(&self) -> String {
        let kind = self.kind.word();
        match self.fault {
            NameFault::Empty => format!("give the {kind} a name"),
            NameFault::TooLong { bytes } => {
                format!("shorten the name of the {kind} by {} bytes", bytes.saturating_sub(MAX_NAME_BYTES))
            }
            NameFault::Reserved => "choose a name that starts otherwise".to_owned(),
            NameFault::LineBreak => "take the line break out".to_owned(),
            NameFault::NoDelay => "let a rung wait at least \"1ms\"".to_owned(),
        }
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message(), self.help())
    }
}

impl std::error::Error for NameError {}

/// Checks the name of a queue or exchange that is to be declared.
///
/// # Errors
/// The first fault, in the order of [`NameFault`]; [`check_all`] gives all of them.
pub fn check(kind: NameKind, name: &str) -> Result<(), NameError> {
    check_all(kind, name).into_iter().next().map_or(Ok(()), Err)
}

/// Every fault of a name, none when RabbitMQ takes it as it stands.
pub fn check_all(kind: NameKind, name: &str) -> Vec<NameError> {
    faults(name).map(|fault| NameError { kind, name: name.to_owned(), fault, derived: None }).collect()
}

fn faults(name: &str) -> impl Iterator<Item = NameFault> {
    let too_long = name.len() > MAX_NAME_BYTES;
    [
        name.is_empty().then_some(NameFault::Empty),
        too_long.then_some(NameFault::TooLong { bytes: name.len() }),
        name.starts_with(RESERVED_PREFIX).then_some(NameFault::Reserved),
        name.contains(['\r', '\n']).then_some(NameFault::LineBreak),
    ]
    .into_iter()
    .flatten()
}

/// `{queue}.dlq`: where rejected messages of `queue` go.
///
/// # Errors
/// When RabbitMQ would not take the derived name; the error names `queue` and the suffix.
pub fn dead_letter_queue(queue: &str) -> Result<String, NameError> {
    derive(queue, DEAD_LETTER_SUFFIX)
}

/// `{queue}.parked`: where messages of `queue` are set aside for a person to look at.
///
/// # Errors
/// When RabbitMQ would not take the derived name; the error names `queue` and the suffix.
pub fn parked_queue(queue: &str) -> Result<String, NameError> {
    derive(queue, PARKED_SUFFIX)
}

/// `{queue}.retry.{delay}`: where messages of `queue` wait for `delay_ms` milliseconds.
///
/// # Errors
/// When the delay is 0, or RabbitMQ would not take the derived name; the error names `queue` and the suffix.
pub fn retry_queue(queue: &str, delay_ms: u64) -> Result<String, NameError> {
    let suffix = format!("{RETRY_INFIX}{}", Delay(delay_ms));
    if delay_ms == 0 {
        return Err(derived_error(queue, &suffix, NameFault::NoDelay));
    }
    derive(queue, &suffix)
}

/// How every rung of `queue` starts: `{queue}.retry.`
pub fn retry_prefix(queue: &str) -> String {
    format!("{queue}{RETRY_INFIX}")
}

/// The exact text of a delay in a rung's name: `2h`, `5m`, `90s`, `30500ms`.
///
/// The largest of hours, minutes, seconds and milliseconds that gives a whole number; no day, never two units.
///
/// # Errors
/// When the delay is 0.
pub fn delay(ms: u64) -> Result<String, NameError> {
    if ms == 0 {
        let (kind, name) = (NameKind::Queue, String::new());
        return Err(NameError { kind, name, fault: NameFault::NoDelay, derived: None });
    }
    Ok(Delay(ms).to_string())
}

/// Prints milliseconds as in a rung's name; 0 prints as `0`, the one duration without a unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delay(pub(crate) u64);

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 3] = [(3_600_000, "h"), (60_000, "m"), (1_000, "s")];
        if self.0 == 0 {
            return f.write_str("0");
        }
        match UNITS.into_iter().find(|(unit, _)| self.0.is_multiple_of(*unit)) {
            Some((unit, letter)) => write!(f, "{}{letter}", self.0 / unit),
            None => write!(f, "{}ms", self.0),
        }
    }
}

fn derive(source: &str, suffix: &str) -> Result<String, NameError> {
    let name = format!("{source}{suffix}");
    // An empty source gives a name that RabbitMQ would take: ".dlq".
    let fault = if source.is_empty() { Some(NameFault::Empty) } else { faults(&name).next() };
    match fault {
        None => Ok(name),
        Some(fault) => Err(derived_error(source, suffix, fault)),
    }
}

fn derived_error(source: &str, suffix: &str, fault: NameFault) -> NameError {
    NameError {
        kind: NameKind::Queue,
        name: format!("{source}{suffix}"),
        fault,
        derived: Some(Derived { source: source.to_owned(), suffix: suffix.to_owned() }),
    }
}

/// [`shown`] in double quotes for use in a sentence; what is longer than any name can be is cut.
pub(crate) fn quoted(name: &str) -> String {
    const KEPT: usize = 60;
    if name.len() <= MAX_NAME_BYTES {
        return format!("\"{}\"", shown(name));
    }
    let start: String = name.chars().take(KEPT).collect();
    format!("\"{}…\"", shown(&start))
}

/// The one of `known` that is most like `word`, for the way out of a misspelt key; the first of equals.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Beyond any key's length there is nothing alike, and comparing costs the product of both lengths.
    let word: String = word.chars().take(64).collect::<String>().to_lowercase();
    let unlike = |candidate: &str| 1.0 - strsim::normalized_damerau_levenshtein(&word, candidate);
    known.into_iter().min_by(|a, b| unlike(a).total_cmp(&unlike(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_rendered_in_the_largest_unit_that_is_exact() {
        // RULES 1 and the table of the five libraries, the exact column.
        for (ms, text) in [
            (1, "1ms"),
            (500, "500ms"),
            (999, "999ms"),
            (1_000, "1s"),
            (1_500, "1500ms"),
            (30_000, "30s"),
            (30_500, "30500ms"),
            (40_000, "40s"),
            (59_999, "59999ms"),
            (60_000, "1m"),
            (60_001, "60001ms"),
            (61_000, "61s"),
            (80_000, "80s"),
            (90_000, "90s"),
            (160_000, "160s"),
            (300_000, "5m"),
            (3_599_000, "3599s"),
            (3_600_000, "1h"),
            (5_400_000, "90m"),
            (7_200_000, "2h"),
            (86_400_000, "24h"),
            (129_600_000, "36h"),
            (315_360_000_000, "87600h"),
            (u64::MAX, "18446744073709551615ms"),
        ] {
            assert_eq!(delay(ms).as_deref(), Ok(text));
        }
        assert_eq!(delay(0).unwrap_err().code(), "delay_zero");
    }

    #[test]
    fn a_queue_implies_three_kinds_of_names() {
        assert_eq!(dead_letter_queue("orders").as_deref(), Ok("orders.dlq"));
        assert_eq!(parked_queue("orders").as_deref(), Ok("orders.parked"));
        assert_eq!(retry_queue("orders", 40_000).as_deref(), Ok("orders.retry.40s"));
        assert!(retry_queue("orders", 1).unwrap().starts_with(&retry_prefix("orders")));
    }

    #[test]
    fn the_limit_counts_bytes_of_the_derived_name() {
        assert_eq!(dead_letter_queue(&"q".repeat(251)).unwrap().len(), 255);
        let error = dead_letter_queue(&"q".repeat(252)).unwrap_err();
        assert_eq!((error.code(), error.fault()), ("name_too_long", NameFault::TooLong { bytes: 256 }));
        assert_eq!(error.derived_from(), Some(("q".repeat(252).as_str(), ".dlq")));
        // 126 characters of two bytes.
        assert!(check(NameKind::Exchange, &"é".repeat(127)).is_ok());
        let error = check(NameKind::Exchange, &"é".repeat(128)).unwrap_err();
        assert_eq!(error.fault(), NameFault::TooLong { bytes: 256 });
        assert_eq!(retry_queue(&"q".repeat(246), 30_500).unwrap_err().fault(), NameFault::TooLong { bytes: 260 });
    }

    #[test]
    fn only_the_lower_case_prefix_with_its_dot_is_reserved() {
        for free in ["amq", "AMQ.x", "amqp.x", "x.amq."] {
            assert_eq!(check(NameKind::Queue, free), Ok(()));
        }
        for reserved in ["amq.", "amq.x"] {
            assert_eq!(check(NameKind::Queue, reserved).unwrap_err().code(), "name_reserved");
            assert_eq!(parked_queue(reserved).unwrap_err().code(), "name_reserved");
        }
        // The queue's own name is free, what is derived from it is not.
        assert_eq!(dead_letter_queue("amq").unwrap_err().code(), "name_reserved");
    }

    #[test]
    fn every_fault_of_a_name_is_found() {
        let name = format!("amq.\n{}", "x".repeat(300));
        let codes: Vec<_> = check_all(NameKind::Queue, &name).iter().map(NameError::code).collect();
        assert_eq!(codes, ["name_too_long", "name_reserved", "name_line_break"]);
        assert_eq!(check(NameKind::Queue, "").unwrap_err().code(), "name_empty");
        assert_eq!(dead_letter_queue("").unwrap_err().code(), "name_empty");
        assert_eq!(retry_queue("a\rb", 1).unwrap_err().code(), "name_line_break");
        assert_eq!(retry_queue("a", 0).unwrap_err().code(), "delay_zero");
    }

    #[test]
    fn a_message_names_the_source_the_suffix_and_the_way_out() {
        assert_eq!(
            dead_letter_queue(&"q".repeat(252)).unwrap_err().to_string(),
            format!(
                "queue \"{}\" with the suffix \".dlq\" makes a name of 256 bytes of UTF-8, RabbitMQ takes at most 255; \
                 shorten the name of the queue by 1 bytes",
                "q".repeat(252)
            )
        );
        assert_eq!(
            check(NameKind::Exchange, "amq.x").unwrap_err().to_string(),
            "exchange name \"amq.x\" starts with \"amq.\", which RabbitMQ reserves for itself; \
             choose a name that starts otherwise"
        );
        assert_eq!(
            retry_queue("a\nb", 40_000).unwrap_err().message(),
            "queue \"a\\u{a}b\" with the suffix \".retry.40s\" holds a line break, which RabbitMQ strips: \
             it would declare another name"
        );
        assert_eq!(check(NameKind::Queue, "").unwrap_err().to_string(), "queue name is empty; give the queue a name");
        assert_eq!(delay(0).unwrap_err().to_string(), "a delay of 0 ms has no name; let a rung wait at least \"1ms\"");
        assert!(check(NameKind::Queue, &"q".repeat(1 << 20)).unwrap_err().to_string().len() < 300);
    }

    #[test]
    fn the_nearest_key_is_the_one_with_the_fewest_slips() {
        let known = ["attempts", "first", "cap", "multiplier"];
        assert_eq!(nearest("atempts", known), Some("attempts"));
        assert_eq!(nearest("Multiplyer", known), Some("multiplier"));
        assert_eq!(nearest("give_up", ["fixed", "give_up_after"]), Some("give_up_after"));
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn control_characters_are_shown_as_escapes() {
        assert_eq!(shown("plain é \"name\""), "plain é \"name\"");
        assert_eq!(shown("a\u{1b}[31m\nb\u{7f}"), "a\\u{1b}[31m\\u{a}b\\u{7f}");
    }
}
