//! Everything that the engine offers to other languages, as one table of operations: JSON in, JSON out.
//!
//! The command's `--format json`, the conformance suites and the coarse calls of every binding are this table. An operation
//! is a type: its fields are the input, and [`Request`] says what it answers. Inputs refuse unknown keys; outputs may gain
//! keys. What is called for every message (matching, deciding) has a direct function as well. What has to be kept between
//! calls is a handle that speaks the same JSON: [`SessionHandle`], [`RouterHandle`], [`BrokerHandle`]; each has an operation
//! that replays it.
//!
//! ```
//! use acemq_core::api;
//!
//! let answer = api::call("retry.decide", r#"{"policy": "exponential(6, 10s)", "queue": "orders", "attempt": 3}"#);
//! assert!(answer.unwrap().contains(r#""rung":"orders.retry.40s""#));
//! let failure = api::call("duration.parse", r#"{"text": "10"}"#).unwrap_err();
//! assert_eq!(failure.code(), "duration_no_unit");
//! ```

mod audit;
mod broker;
mod conformance;
mod declared;
mod definitions;
mod embedded;
mod failure;
mod migration;
mod names;
mod plan;
mod request;
mod retry;
mod routing;
mod scenario;
mod source;
#[cfg(test)]
mod tests;
mod topic;
mod topology;

pub use audit::{
    AuditVhost, BaselineOfVhost, BaselineText, DrawVhost, ExplainFinding, Picture, PictureForm, SarifOfVhost,
};
pub use broker::{
    CompareQueues, Declarable, DifferenceAnswer, Equivalence, ExplainRefusal, Fingerprint, FingerprintOf,
    PredictAnswer, Predicted, PredictedRefusal, WantedExchange, WantedQueue,
};
pub use conformance::{
    Case, ExpectedError, ExpectedProblem, Index, IndexEntry, IndexFormat, Mismatch, Suite, SuiteFormat,
};
pub use declared::{Binding, Declared, Destination, Document, Exchange, GivenDocument, Queue, VersionText};
pub use definitions::{
    DefinitionsAnswer, DefinitionsToTopology, EffectiveAnswer, EffectiveSetting, EffectiveSettings, ImportPreview,
    PreviewImport, ReadDefinitions, ReadState, TopologyToDefinitions, WrittenDefinitions, WrittenTopology,
};
pub use embedded::{
    Ack, Advance, Base64Body, Body, BrokerHandle, BrokerSettings, Cancel, Command, Connect, Consume, ContentsReply,
    DeleteExchangeForm, DeleteQueueForm, DeliveryReply, EventReply, Get, HappeningReply, Nack, Nothing, OneName,
    OneQueue, PolicyForm, PropertiesForm, Publish, PublishedReply, Qos, Reject, Replies, Reply, RunBroker, StoredReply,
    UserPermissions,
};
pub use failure::{Failure, FailureProblem};
pub use migration::{NextStep, OrderDocument, PlanMigration, PlannedMigration, Saw, StepMigration};
pub use names::{
    CheckName, CheckedName, DelayText, DerivedNames, ImpliedNames, NameAnswer, Named, RetryQueueName, TextAnswer,
};
pub use plan::{ModeName, RunSession, SessionAnswer, SessionHandle};
pub use request::{Operation, Request};
pub use retry::{
    Decide, DescribePolicy, DescribeRetry, DurationFromNanoseconds, DurationFromSeconds, LadderOf, Milliseconds,
    ParseDuration, PolicyDocument, RungAnswer, RungFor, ScheduleOf, ScheduleSlice, checked_random,
};
pub use routing::{OpaqueExchange, RouteMessage, RoutedMessage, RouterHandle};
pub use scenario::{ScenarioSource, Simulate};
pub use source::{DefinitionsSource, StateSource};
pub use topic::{MatchTopic, MatchTopics, TopicMatch, TopicMatches};
pub use topology::{
    BuiltTopology, CheckTopology, ConsumerDeclarations, ShowTopology, ShownTopology, TablesOfTopology, TopologySource,
};

/// The version of the conformance suites that this engine passes; `conformance/index.json` names the same.
pub const CONFORMANCE_VERSION: u32 = 1;

/// Every operation, by name.
pub static OPERATIONS: &[Operation] = &[
    Operation::of::<BaselineOfVhost>(),
    Operation::of::<AuditVhost>(),
    Operation::of::<ExplainFinding>(),
    Operation::of::<DrawVhost>(),
    Operation::of::<SarifOfVhost>(),
    Operation::of::<CompareQueues>(),
    Operation::of::<ExplainRefusal>(),
    Operation::of::<PredictAnswer>(),
    Operation::of::<FingerprintOf>(),
    Operation::of::<PreviewImport>(),
    Operation::of::<ReadDefinitions>(),
    Operation::of::<ReadState>(),
    Operation::of::<DefinitionsToTopology>(),
    Operation::of::<DurationFromNanoseconds>(),
    Operation::of::<DurationFromSeconds>(),
    Operation::of::<ParseDuration>(),
    Operation::of::<RunBroker>(),
    Operation::of::<Simulate>(),
    Operation::of::<PlanMigration>(),
    Operation::of::<StepMigration>(),
    Operation::of::<CheckName>(),
    Operation::of::<DelayText>(),
    Operation::of::<ImpliedNames>(),
    Operation::of::<RetryQueueName>(),
    Operation::of::<RunSession>(),
    Operation::of::<EffectiveSettings>(),
    Operation::of::<Decide>(),
    Operation::of::<DescribeRetry>(),
    Operation::of::<LadderOf>(),
    Operation::of::<DescribePolicy>(),
    Operation::of::<RungFor>(),
    Operation::of::<ScheduleOf>(),
    Operation::of::<RouteMessage>(),
    Operation::of::<MatchTopic>(),
    Operation::of::<MatchTopics>(),
    Operation::of::<CheckTopology>(),
    Operation::of::<ConsumerDeclarations>(),
    Operation::of::<ShowTopology>(),
    Operation::of::<TablesOfTopology>(),
    Operation::of::<TopologyToDefinitions>(),
];

/// Runs one operation: takes its input as JSON and gives its output as JSON.
///
/// # Errors
/// When there is no such operation, when the input is not what it takes, and for what the operation itself refuses.
pub fn call(operation: &str, input: &str) -> Result<String, Failure> {
    match OPERATIONS.iter().find(|known| known.name == operation) {
        Some(known) => known.call(input),
        None => Err(Failure::unknown_operation(operation)),
    }
}
