//! The scenario file.

use crate::retry::parse_duration;
use crate::value::Table;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// A scenario: a broker, a topology, and what happens.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    /// The RabbitMQ version to play by, `"4.0.5"` or `"4.3"`; the newest known one unless said.
    pub(super) rabbitmq: Option<String>,
    /// The vhost's name, as refusals show it; `/` unless said.
    pub(super) vhost: Option<String>,
    /// The vhost's default queue type.
    pub(super) default_queue_type: Option<String>,
    /// Seconds since 1970 at which the clock starts; 0 unless said.
    #[serde(default)]
    pub(super) start: u64,
    /// A topology document: the name of its file, or the document itself.
    pub(super) topology: Option<serde_json::Value>,
    /// What happens, in order.
    #[serde(default)]
    pub(super) steps: Vec<StepForm>,
}

/// One step: one action, and perhaps when it happens and what the broker is to answer.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StepForm {
    /// When, from the start; the clock is moved there first.
    pub(super) at: Option<DurationText>,
    /// Only by the rules of this RabbitMQ version and later ones.
    pub(super) since: Option<String>,
    /// Only by the rules of versions before this one.
    pub(super) before: Option<String>,
    /// The channel, by any name; `main` unless said.
    pub(super) channel: Option<String>,
    /// The refusal that is expected: its code, or code and text.
    pub(super) refused: Option<RefusalForm>,
    pub(super) publish: Option<PublishForm>,
    pub(super) get: Option<GetForm>,
    pub(super) consume: Option<ConsumeForm>,
    /// Ends a consumer, by its tag.
    pub(super) cancel: Option<String>,
    pub(super) prefetch: Option<PrefetchForm>,
    pub(super) ack: Option<SettleForm>,
    pub(super) nack: Option<SettleForm>,
    pub(super) reject: Option<SettleForm>,
    /// Puts everything back that the channel holds: `recover: {}`.
    pub(super) recover: Option<Nothing>,
    /// A topology document: everything in it is declared.
    pub(super) declare: Option<serde_json::Value>,
    pub(super) bind: Option<BindForm>,
    pub(super) unbind: Option<BindForm>,
    pub(super) delete: Option<DeleteForm>,
    /// Throws away what is ready in a queue.
    pub(super) purge: Option<String>,
    pub(super) set_policy: Option<PolicyForm>,
    pub(super) set_operator_policy: Option<PolicyForm>,
    /// Takes a policy away, by its name.
    pub(super) clear_policy: Option<String>,
    /// Takes an operator policy away, by its name.
    pub(super) clear_operator_policy: Option<String>,
    /// `channel` closes the step's channel, `connection` its connection with everything on it.
    pub(super) close: Option<CloseForm>,
    /// Lets time pass.
    pub(super) advance: Option<DurationText>,
    pub(super) repeat: Option<RepeatForm>,
    pub(super) expect: Option<ExpectForm>,
}

/// A duration such as `30s` or `500ms`, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub(super) struct DurationText(pub(super) u64);

impl<'de> Deserialize<'de> for DurationText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Text(String),
            Number(u64),
        }
        let text = match Written::deserialize(deserializer)? {
            Written::Text(text) => text,
            Written::Number(number) => number.to_string(),
        };
        parse_duration(&text).map(Self).map_err(serde::de::Error::custom)
    }
}

/// `406`, or `{ code: 406, text: "…" }`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum RefusalForm {
    Code(u16),
    Whole {
        code: u16,
        /// The whole reply text.
        text: Option<String>,
    },
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PublishForm {
    /// The default exchange unless said.
    #[serde(default)]
    pub(super) exchange: String,
    /// The routing key.
    #[serde(default)]
    pub(super) key: String,
    #[serde(default)]
    pub(super) headers: Table,
    #[serde(default)]
    pub(super) body: String,
    /// What this scenario calls the message; its body unless said.
    pub(super) name: Option<String>,
    pub(super) expiration: Option<DurationText>,
    pub(super) priority: Option<u8>,
    #[serde(default)]
    pub(super) mandatory: bool,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetForm {
    pub(super) queue: String,
    #[serde(default)]
    pub(super) no_ack: bool,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConsumeForm {
    pub(super) queue: String,
    #[serde(default)]
    pub(super) tag: String,
    #[serde(default)]
    pub(super) no_ack: bool,
    #[serde(default)]
    pub(super) exclusive: bool,
    #[serde(default)]
    pub(super) arguments: Table,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PrefetchForm {
    /// How many messages a consumer may hold; 0 is any number.
    pub(super) count: u16,
    /// All consumers of the channel together.
    #[serde(default)]
    pub(super) global: bool,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SettleForm {
    /// Which message, by its name; the delivery that the channel has held longest unless said.
    pub(super) message: Option<String>,
    /// Everything that came before it as well.
    #[serde(default)]
    pub(super) multiple: bool,
    /// Back to the queue; else it dies.
    #[serde(default)]
    pub(super) requeue: bool,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BindForm {
    /// The exchange that messages come from.
    pub(super) exchange: String,
    /// The queue that they go to.
    pub(super) queue: Option<String>,
    /// Or the exchange that they go to.
    pub(super) to_exchange: Option<String>,
    #[serde(default)]
    pub(super) routing_key: String,
    #[serde(default)]
    pub(super) arguments: Table,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteForm {
    pub(super) queue: Option<String>,
    pub(super) exchange: Option<String>,
    #[serde(default)]
    pub(super) if_unused: bool,
    #[serde(default)]
    pub(super) if_empty: bool,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PolicyForm {
    pub(super) name: String,
    pub(super) pattern: String,
    #[serde(default = "everything")]
    pub(super) apply_to: String,
    #[serde(default)]
    pub(super) priority: i64,
    pub(super) definition: Table,
}

fn everything() -> String {
    "all".to_owned()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum CloseForm {
    Channel,
    Connection,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RepeatForm {
    pub(super) times: u32,
    pub(super) steps: Vec<StepForm>,
}

/// What is expected: queues by name, and what messages carry.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(super) struct ExpectForm {
    /// An entry of a message's `x-death`; the keys that stand here must be equal.
    pub(super) death: Option<DeathForm>,
    /// A message's headers.
    pub(super) headers: Option<HeadersForm>,
    /// Names of mandatory messages that came back, since the last `expect`.
    pub(super) returned: Option<Vec<String>>,
    /// Queues with what is ready in them: a number, or names in order.
    #[serde(flatten)]
    pub(super) queues: BTreeMap<String, ContentsForm>,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeathForm {
    /// Whose.
    pub(super) message: String,
    pub(super) queue: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) count: Option<i64>,
    pub(super) exchange: Option<String>,
    pub(super) routing_keys: Option<Vec<String>>,
    pub(super) original_expiration: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HeadersForm {
    /// Whose.
    pub(super) message: String,
    /// Headers that are there, with these values.
    #[serde(default)]
    pub(super) with: Table,
    /// Headers that are not there.
    #[serde(default)]
    pub(super) without: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum ContentsForm {
    Count(u64),
    Names(Vec<String>),
}
