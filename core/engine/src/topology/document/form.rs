//! The document as serde reads it, JSON and YAML alike.

use super::super::strict::optional_whole;
use super::super::wish::{BindingWish, ExchangeWish, PolicyWish, QueueWish, SuppressionWish, Wishes};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

/// The format version that this engine reads.
pub(super) const VERSION: i64 = 1;

/// A RabbitMQ topology: the exchanges, queues, bindings and policies that a service needs.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "AceMQ topology", rename = "Topology")]
pub(in super::super) struct Document {
    /// The format version: 1.
    #[serde(deserialize_with = "optional_whole")]
    #[schemars(range(min = 1, max = 1))]
    pub acemq: Option<i64>,
    /// The exchanges, by name or as a list; they are declared in this order.
    pub exchanges: Named<ExchangeWish>,
    /// The queues, by name or as a list; they are declared in this order.
    pub queues: Named<QueueWish>,
    /// The bindings.
    #[serde(deserialize_with = "list")]
    #[schemars(with = "Option<Vec<BindingWish>>")]
    pub bindings: Vec<BindingWish>,
    /// The policies, by name or as a list. Only the management API can set them.
    pub policies: Named<PolicyWish>,
    /// Findings of the audit that are meant. They change nothing that is declared.
    #[serde(deserialize_with = "list")]
    #[schemars(with = "Option<Vec<SuppressionWish>>")]
    pub suppress: Vec<SuppressionWish>,
}

impl Document {
    pub fn is_empty(&self) -> bool {
        let Self { acemq, exchanges, queues, bindings, policies, suppress } = self;
        let objects = [exchanges.0.len(), queues.0.len(), bindings.len(), policies.0.len(), suppress.len()];
        acemq.is_none() && objects.iter().all(|count| *count == 0)
    }

    pub fn into_wishes(self) -> Wishes {
        Wishes {
            exchanges: self.exchanges.0,
            policies: self.policies.0,
            queues: self.queues.0,
            bindings: self.bindings,
            suppressions: self.suppress,
            settings: Vec::new(),
        }
    }
}

fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Ok(Option::<Vec<T>>::deserialize(deserializer)?.unwrap_or_default())
}

/// Objects in order: a mapping from name to body, or a list of bodies that have a `name`.
#[derive(Debug)]
pub(in super::super) struct Named<T>(pub Vec<T>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// An object of a [`Named`] section.
pub(in super::super) trait Body: Default {
    fn name_mut(&mut self) -> &mut String;
}

macro_rules! bodies {
    ($($body:ty),+) => {
        $(impl Body for $body {
            fn name_mut(&mut self) -> &mut String {
                &mut self.name
            }
        })+
    };
}

bodies!(ExchangeWish, PolicyWish, QueueWish);

impl<'de, T: Body + Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NamedVisitor<T>(PhantomData<T>);

        impl<'de, T: Body + Deserialize<'de>> Visitor<'de> for NamedVisitor<T> {
            type Value = Named<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping of names, or a list")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Named::default())
            }

            fn visit_none<E>(self) -> Result<Self::Value, E> {
                Ok(Named::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut bodies = Vec::new();
                while let Some(body) = seq.next_element()? {
                    bodies.push(body);
                }
                Ok(Named(bodies))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut bodies = Vec::new();
                let mut seen = HashSet::new();
                while let Some((name, body)) = map.next_entry::<String, Option<T>>()? {
                    let mut body = body.unwrap_or_default();
                    if !body.name_mut().is_empty() || !seen.insert(name.clone()) {
                        return Err(A::Error::custom("the name stands twice"));
                    }
                    *body.name_mut() = name;
                    bodies.push(body);
                }
                Ok(Named(bodies))
            }
        }

        deserializer.deserialize_any(NamedVisitor(PhantomData))
    }
}

impl<T: Body + JsonSchema> JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Named{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let body = generator.subschema_for::<T>();
        json_schema!({
            "anyOf": [
                { "type": "object", "additionalProperties": { "anyOf": [body, { "type": "null" }] } },
                { "type": "array", "items": body },
                { "type": "null" }
            ]
        })
    }
}
