//! What is wrong with a topology, as data: a stable code, the object, the fields, the place and a sentence.

use crate::rabbitmq::BindingDeclaration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// Whether a problem stops everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Wrong on every broker: nothing can be planned.
    Error,
    /// Accepted by some brokers, or accepted without the effect that was wanted.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal, $severity:ident;)+) => {
        /// Every problem and warning of a topology, by its stable code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ProblemCode {
            $($(#[doc = $doc])+ $name,)+
        }

        impl ProblemCode {
            /// All of them, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The code as documents carry it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// Whether it is a problem or a warning.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)+ }
            }

            /// What it means, in a sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),+).trim_ascii(),)+ }
            }
        }
    };
}

codes! {
    /// The document is empty.
    DocumentEmpty = "document_empty", Error;
    /// The document is not UTF-8 text.
    DocumentNotUtf8 = "document_not_utf8", Error;
    /// The document is larger than the stated limit.
    DocumentTooLarge = "document_too_large", Error;
    /// The document nests, repeats or refers to itself more than any topology needs.
    DocumentTooComplex = "document_too_complex", Error;
    /// The document is not well-formed JSON or YAML.
    DocumentSyntax = "document_syntax", Error;
    /// The document is something else than a topology.
    DocumentNotATopology = "document_not_a_topology", Error;
    /// The document has a format version that this engine does not read.
    DocumentVersion = "document_version", Error;
    /// A key that the format does not have.
    UnknownKey = "unknown_key", Error;
    /// A key that stands twice in one mapping.
    DuplicateKey = "duplicate_key", Error;
    /// A value of another kind than the key takes.
    WrongValue = "wrong_value", Error;
    /// A suppression without a code, an object or a reason, or with several objects.
    SuppressionIncomplete = "suppression_incomplete", Error;

    /// An object without a name.
    NameEmpty = "name_empty", Error;
    /// A name, or a name derived from it, over 255 bytes of UTF-8.
    NameTooLong = "name_too_long", Error;
    /// A queue name that starts with `amq.`.
    NameReserved = "name_reserved", Error;
    /// A name with a carriage return or a line feed, which the broker would take out.
    NameLineBreak = "name_line_break", Error;

    /// An exchange type that no RabbitMQ and none of its known plugins has.
    ExchangeTypeUnknown = "exchange_type_unknown", Error;
    /// An exchange without a type.
    ExchangeTypeMissing = "exchange_type_missing", Error;
    /// Two different declarations of one exchange.
    DuplicateExchange = "duplicate_exchange", Error;
    /// A declaration of `acemq.dlx` or `acemq.retry` that differs from the one that every queue shares.
    SharedExchangeDiffers = "shared_exchange_differs", Error;
    /// An external exchange that is described as if it were declared here.
    ExternalDescribed = "external_described", Error;
    /// An alternate exchange that is given twice: by key and by argument.
    AlternateExchangeConflict = "alternate_exchange_conflict", Error;
    /// An object that is said to be both durable and transient.
    DurableConflict = "durable_conflict", Error;
    /// Two different declarations of one queue.
    DuplicateQueue = "duplicate_queue", Error;
    /// Two different policies of one name.
    DuplicatePolicy = "duplicate_policy", Error;

    /// A queue type that RabbitMQ does not have.
    QueueTypeUnknown = "queue_type_unknown", Error;
    /// A queue type that is asked for while the arguments name another one.
    QueueTypeConflict = "queue_type_conflict", Error;
    /// A quorum queue or a stream that is to be transient, exclusive or auto-delete.
    QueueTypeNeedsDurable = "queue_type_needs_durable", Error;

    /// A binding to a queue that this topology does not declare.
    BindingQueueUndeclared = "binding_queue_undeclared", Error;
    /// A binding from or to an exchange that this topology neither declares nor calls external.
    BindingExchangeUndeclared = "binding_exchange_undeclared", Error;
    /// A binding from or to the default exchange, which nobody can bind.
    BindingDefaultExchange = "binding_default_exchange", Error;

    /// A binding that leads to a queue and to an exchange, to neither, or from nowhere.
    BindingEndMissing = "binding_end_missing", Error;
    /// A routing key over 255 bytes of UTF-8.
    RoutingKeyTooLong = "routing_key_too_long", Error;
    /// A binding argument that a headers exchange refuses.
    BindingArgument = "binding_argument", Error;

    /// A setting for a queue that this topology does not declare.
    QueueUndeclared = "queue_undeclared", Error;
    /// One argument of one queue with two values.
    ArgumentConflict = "argument_conflict", Error;
    /// Dead letters for a queue that this topology does not declare.
    DeadLetterUndeclared = "dead_letter_undeclared", Error;
    /// Dead letters for a stream, which never dead-letters.
    DeadLetterOnStream = "dead_letter_on_stream", Error;
    /// Dead-letter arguments by hand on a queue that is also to be dead-lettered.
    DeadLetterConflict = "dead_letter_conflict", Error;
    /// `x-dead-letter-routing-key` without `x-dead-letter-exchange`.
    DeadLetterKeyAlone = "dead_letter_key_alone", Error;
    /// Retries for a queue that this topology does not declare.
    RetriesUndeclared = "retries_undeclared", Error;
    /// Retries for a stream, which never gives a message back.
    RetriesOnStream = "retries_on_stream", Error;
    /// A retry policy that cannot be.
    RetryPolicyInvalid = "retry_policy_invalid", Error;
    /// Two different retry policies for one queue.
    RetryPolicyConflict = "retry_policy_conflict", Error;

    /// An argument with a value of a type that the broker refuses.
    ArgumentType = "argument_type", Error;
    /// An argument with a value that the broker refuses.
    ArgumentRange = "argument_range", Error;

    /// A table with more entries than a declaration has room for.
    TableTooLarge = "table_too_large", Error;

    /// A policy that no broker takes.
    PolicyInvalid = "policy_invalid", Error;

    /// A queue that is neither durable nor exclusive: deprecated since RabbitMQ 3.13, refused by default from 4.3 on.
    TransientQueue = "transient_queue", Warning;
    /// A topic pattern with three or more `#`, refused from RabbitMQ 4.3.5 on.
    ManyHashes = "many_hashes", Warning;
    /// An argument of other queue types: a queue that is there ignores it, a new one is refused.
    ArgumentForeign = "argument_foreign", Warning;
    /// An argument that some versions of RabbitMQ refuse.
    ArgumentVersion = "argument_version", Warning;
    /// An argument that has no effect on a queue of this type.
    ArgumentIgnored = "argument_ignored", Warning;
    /// An `x-…` argument that RabbitMQ does not know.
    ArgumentUnknown = "argument_unknown", Warning;
    /// A known argument without its `x-`.
    ArgumentWithoutPrefix = "argument_without_prefix", Warning;
    /// `reject-publish-dlx` on a quorum queue, which acts as `drop-head` there.
    OverflowOnQuorum = "overflow_on_quorum", Warning;
    /// A dead-letter exchange that this topology does not declare.
    DeadLetterExchangeUndeclared = "dead_letter_exchange_undeclared", Warning;
    /// An alternate exchange that this topology does not declare.
    AlternateExchangeUndeclared = "alternate_exchange_undeclared", Warning;
}

impl fmt::Display for ProblemCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl JsonSchema for ProblemCode {
    fn schema_name() -> Cow<'static, str> {
        "ProblemCode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let codes: Vec<&str> = Self::ALL.iter().map(|code| code.as_str()).collect();
        json_schema!({ "description": "the stable code of a problem or warning", "type": "string", "enum": codes })
    }
}

impl Serialize for ProblemCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What a problem is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ObjectRef {
    /// The document as a whole.
    Document {},
    /// An exchange.
    Exchange {
        /// Its name.
        name: String,
    },
    /// A policy.
    Policy {
        /// Its name.
        name: String,
    },
    /// A queue.
    Queue {
        /// Its name.
        name: String,
    },
    /// A binding.
    Binding {
        /// The exchange that it leads from.
        source: String,
        /// The queue or exchange that it leads to.
        destination: String,
        /// `queue` or `exchange`.
        destination_type: &'static str,
        /// Its routing key.
        routing_key: String,
    },
}

impl ObjectRef {
    /// An exchange by its name.
    pub fn exchange(name: impl Into<String>) -> Self {
        Self::Exchange { name: name.into() }
    }

    /// A queue by its name.
    pub fn queue(name: impl Into<String>) -> Self {
        Self::Queue { name: name.into() }
    }

    /// A policy by its name.
    pub fn policy(name: impl Into<String>) -> Self {
        Self::Policy { name: name.into() }
    }

    /// The binding that a declaration makes.
    pub fn binding(binding: &BindingDeclaration) -> Self {
        Self::Binding {
            source: binding.source.clone(),
            destination: binding.destination.clone(),
            destination_type: binding.destination_type.name(),
            routing_key: binding.routing_key.clone(),
        }
    }
}

/// A place in a document; both count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct Position {
    /// Line.
    pub line: u64,
    /// Column.
    pub column: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// One thing that is wrong, or doubtful, with a topology.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Problem {
    /// The stable code.
    pub code: ProblemCode,
    /// Problem or warning; follows from the code.
    pub severity: Severity,
    /// What it is about.
    pub object: ObjectRef,
    /// The particulars by name: the argument, the two values, the nearest known key.
    pub fields: BTreeMap<String, serde_json::Value>,
    /// One sentence: what, where, and what was expected. It starts with `acemq: `.
    pub message: String,
    /// The way out, as a sentence.
    pub help: String,
    /// Where in the document; `None` for a topology that a program built.
    pub at: Option<Position>,
}

impl Problem {
    /// A problem of `object`; `sentence` is the message without its prefix.
    pub(super) fn new(code: ProblemCode, object: ObjectRef, sentence: impl fmt::Display) -> Self {
        Self {
            code,
            severity: code.severity(),
            object,
            fields: BTreeMap::new(),
            message: format!("acemq: {sentence}"),
            help: String::new(),
            at: None,
        }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    pub(super) fn field(mut self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Whether it stops everything.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// `acemq.check/1`: every problem and warning of a topology.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckDocument<'a> {
    format: &'static str,
    problems: &'a [Problem],
}

impl<'a> CheckDocument<'a> {
    /// The document that holds `problems`.
    pub fn new(problems: &'a [Problem]) -> Self {
        Self { format: "acemq.check/1", problems }
    }
}
