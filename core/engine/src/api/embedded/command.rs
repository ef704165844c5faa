//! Commands to the embedded broker: one JSON object each, with who asks and the one thing that is asked.
//!
//! `{"channel": 2, "declare_queue": {"name": "orders"}}` is a command of channel 2. What a client does needs a channel; what
//! AMQP lets anybody ask may also come from a connection, on a channel that is opened for this one request. What happens to
//! the broker itself (the clock, policies, permissions) needs neither.

use crate::api::declared::{Binding, Exchange, Queue};
use crate::api::routing::RoutedMessage;
use crate::rabbitmq::{PolicyDeclaration, Properties};
use crate::value::Table;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

macro_rules! actions {
    ($($(#[$about:meta])* $name:ident: $variant:ident($input:ty),)*) => {
        /// A command: who asks, and exactly one action.
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Command {
            /// The channel that asks.
            pub channel: Option<u64>,
            /// Or the connection that asks.
            pub connection: Option<u64>,
            $($(#[$about])* pub $name: Option<$input>,)*
        }

        /// What is asked.
        #[derive(Debug)]
        pub(super) enum Action {
            $($variant($input),)*
        }

        impl Command {
            /// The names of all actions.
            pub(super) const ACTIONS: &'static [&'static str] = &[$(stringify!($name),)*];

            /// The actions of this command with their names; there should be one.
            pub(super) fn actions(self) -> Vec<(&'static str, Action)> {
                let mut actions = Vec::new();
                $(actions.extend(self.$name.map(|input| (stringify!($name), Action::$variant(input))));)*
                actions
            }
        }
    };
}

actions! {
    /// Opens a connection.
    connect: Connect(Connect),
    /// Closes the connection, its channels and its exclusive queues.
    disconnect: Disconnect(Nothing),
    /// Opens a channel on the connection.
    open_channel: OpenChannel(Nothing),
    /// Closes the channel; what it did not acknowledge goes back.
    close_channel: CloseChannel(Nothing),
    /// Whether the channel or connection is open.
    is_open: IsOpen(Nothing),
    /// `queue.declare`
    declare_queue: DeclareQueue(Queue),
    /// `queue.declare` with `passive`
    declare_queue_passively: DeclareQueuePassively(OneName),
    /// `exchange.declare`
    declare_exchange: DeclareExchange(Exchange),
    /// `exchange.declare` with `passive`
    declare_exchange_passively: DeclareExchangePassively(OneName),
    /// `queue.bind` or `exchange.bind`
    bind: Bind(Binding),
    /// `queue.unbind` or `exchange.unbind`
    unbind: Unbind(Binding),
    /// `queue.delete`
    delete_queue: DeleteQueue(DeleteQueueForm),
    /// `exchange.delete`
    delete_exchange: DeleteExchange(DeleteExchangeForm),
    /// `queue.purge`
    purge: Purge(OneQueue),
    /// `basic.publish`, with a confirm
    publish: Publish(Box<Publish>),
    /// `basic.get`
    get: Get(Get),
    /// `basic.consume`
    consume: Consume(Consume),
    /// `basic.cancel`
    cancel: Cancel(Cancel),
    /// `basic.qos`
    qos: Qos(Qos),
    /// `basic.ack`
    ack: Ack(Ack),
    /// `basic.nack`
    nack: Nack(Nack),
    /// `basic.reject`
    reject: Reject(Reject),
    /// `basic.recover`: everything that the channel holds goes back to the queues.
    recover: Recover(Nothing),
    /// What the broker has told the channel since it was last asked.
    take_events: TakeEvents(Nothing),
    /// Lets time pass.
    advance: Advance(Advance),
    /// Adds a user, or changes what one may do.
    set_permissions: SetPermissions(UserPermissions),
    /// Sets a policy, or replaces the one of that name.
    set_policy: SetPolicy(PolicyForm),
    /// Sets an operator policy, or replaces the one of that name.
    set_operator_policy: SetOperatorPolicy(PolicyForm),
    /// Takes a policy away.
    clear_policy: ClearPolicy(OneName),
    /// Takes an operator policy away.
    clear_operator_policy: ClearOperatorPolicy(OneName),
    /// What a queue holds.
    contents: Contents(OneQueue),
    /// Everything that the vhost holds.
    state: State(Nothing),
    /// Everything that the vhost holds, as a broker would export it.
    definitions: Definitions(Nothing),
    /// Where a message would go.
    route: Route(RoutedMessage),
    /// A question of a plan session, as the session gave it out.
    answer_question: AnswerQuestion(Json),
    /// What happened to messages since the broker was made, where it keeps that.
    history: History(Nothing),
}

/// Nothing further: `{}`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Who connects.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connect {
    /// A user that was given permissions; the broker's own user unless said.
    pub user: Option<String>,
}

/// A name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneName {
    /// It.
    pub name: String,
}

/// A queue.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneQueue {
    /// Its name.
    pub queue: String,
}

/// Which queue to delete.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteQueueForm {
    /// The queue.
    pub name: String,
    /// Only when it has no consumers.
    #[serde(default)]
    pub if_unused: bool,
    /// Only when it has no messages.
    #[serde(default)]
    pub if_empty: bool,
}

/// Which exchange to delete.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteExchangeForm {
    /// The exchange.
    pub name: String,
    /// Only when nothing is bound to it.
    #[serde(default)]
    pub if_unused: bool,
}

/// A message that is published.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Publish {
    /// The exchange; the default exchange unless said.
    #[serde(default)]
    pub exchange: String,
    /// The routing key.
    #[serde(default)]
    pub routing_key: String,
    /// Give it back when no queue gets it.
    #[serde(default)]
    pub mandatory: bool,
    /// Its properties.
    #[serde(default)]
    pub properties: PropertiesForm,
    /// Its body; empty unless said.
    #[serde(default)]
    pub body: Body,
}

/// A body: a text, or `{"base64": "…"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Body {
    /// UTF-8.
    Text(String),
    /// Any bytes.
    Bytes(Base64Body),
}

/// Bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Base64Body {
    /// Standard alphabet, padded.
    pub base64: String,
}

impl Default for Body {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Body {
    /// As text where it is one.
    pub(super) fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Bytes(Base64Body { base64: STANDARD.encode(bytes) }),
        }
    }

    /// The bytes; `None` when what should be base64 is not.
    pub(super) fn bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.into_bytes()),
            Self::Bytes(Base64Body { base64 }) => STANDARD.decode(base64).ok(),
        }
    }
}

/// The properties of a message.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PropertiesForm {
    /// MIME type of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// MIME encoding of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_encoding: Option<String>,
    /// Headers with their types.
    #[serde(skip_serializing_if = "Table::is_empty")]
    pub headers: Table,
    /// 1 transient, 2 persistent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_mode: Option<u8>,
    /// 0 to 255.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Which request this answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// Where to answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// Time to live in milliseconds, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiration: Option<String>,
    /// The application's own id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<u64>,
    /// The application's name for the kind of message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// The user who publishes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The application that publishes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_id: Option<String>,
    /// Deprecated by AMQP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_id: Option<String>,
}

impl From<PropertiesForm> for Properties {
    fn from(form: PropertiesForm) -> Self {
        Self {
            content_type: form.content_type,
            content_encoding: form.content_encoding,
            headers: form.headers,
            delivery_mode: form.delivery_mode,
            priority: form.priority,
            correlation_id: form.correlation_id,
            reply_to: form.reply_to,
            expiration: form.expiration,
            message_id: form.message_id,
            timestamp: form.timestamp,
            kind: form.r#type,
            user_id: form.user_id,
            app_id: form.app_id,
            cluster_id: form.cluster_id,
        }
    }
}

impl From<Properties> for PropertiesForm {
    fn from(properties: Properties) -> Self {
        Self {
            content_type: properties.content_type,
            content_encoding: properties.content_encoding,
            headers: properties.headers,
            delivery_mode: properties.delivery_mode,
            priority: properties.priority,
            correlation_id: properties.correlation_id,
            reply_to: properties.reply_to,
            expiration: properties.expiration,
            message_id: properties.message_id,
            timestamp: properties.timestamp,
            r#type: properties.kind,
            user_id: properties.user_id,
            app_id: properties.app_id,
            cluster_id: properties.cluster_id,
        }
    }
}

/// Where to get a message from.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Get {
    /// The queue.
    pub queue: String,
    /// It counts as acknowledged when it is sent.
    #[serde(default)]
    pub no_ack: bool,
}

/// A consumer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Consume {
    /// The queue.
    pub queue: String,
    /// Its tag; empty asks the broker for one.
    #[serde(default)]
    pub consumer_tag: String,
    /// Messages count as acknowledged when they are sent.
    #[serde(default)]
    pub no_ack: bool,
    /// Nobody else may consume from the queue.
    #[serde(default)]
    pub exclusive: bool,
    /// `x-priority`, `x-stream-offset`.
    #[serde(default)]
    pub arguments: Table,
}

/// Which consumer ends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cancel {
    /// Its tag.
    pub consumer_tag: String,
}

/// How many messages may be held.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Qos {
    /// By each consumer that comes later; 0 is any number.
    pub prefetch: u16,
    /// By all consumers of the channel together instead.
    #[serde(default)]
    pub global: bool,
}

/// Which deliveries are done.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ack {
    /// The delivery.
    pub delivery_tag: u64,
    /// Everything up to it as well, and everything for 0.
    #[serde(default)]
    pub multiple: bool,
}

/// Which deliveries failed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nack {
    /// The delivery.
    pub delivery_tag: u64,
    /// Everything up to it as well, and everything for 0.
    #[serde(default)]
    pub multiple: bool,
    /// Back to the queue; else it dies.
    pub requeue: bool,
}

/// Which delivery failed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reject {
    /// The delivery.
    pub delivery_tag: u64,
    /// Back to the queue; else it dies.
    pub requeue: bool,
}

/// How much time passes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Advance {
    /// Milliseconds.
    pub ms: u64,
}

/// What a user may do.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserPermissions {
    /// The user.
    pub user: String,
    /// Regular expression on the names that may be declared and deleted; the empty one allows nothing.
    pub configure: String,
    /// On those that may be written to.
    pub write: String,
    /// On those that may be read from.
    pub read: String,
}

/// A policy.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyForm {
    /// Its name.
    pub name: String,
    /// Regular expression on names.
    pub pattern: String,
    /// `all`, `queues`, `exchanges`, `classic_queues`, `quorum_queues` or `streams`.
    #[serde(default = "everything")]
    pub apply_to: String,
    /// The highest wins.
    #[serde(default)]
    pub priority: i64,
    /// What it sets, by keys without `x-`.
    pub definition: Table,
}

fn everything() -> String {
    "all".to_owned()
}

impl From<PolicyForm> for PolicyDeclaration {
    fn from(form: PolicyForm) -> Self {
        let PolicyForm { name, pattern, apply_to, priority, definition } = form;
        Self { name, pattern, apply_to, priority, definition }
    }
}
