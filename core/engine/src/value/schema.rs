//! The JSON Schema of values and tables, for editors.

use super::{Table, Value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

impl JsonSchema for Value {
    fn schema_name() -> Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let item = generator.subschema_for::<Self>();
        json_schema!({
            "description": "One argument's value. A whole number is a 64-bit integer; other AMQP types are written as an object with one key, @ and the wire letter, as in {\"@T\": 1700000000}.",
            "type": ["boolean", "number", "string", "array", "object"],
            "items": item
        })
    }
}

impl JsonSchema for Table {
    fn schema_name() -> Cow<'static, str> {
        "Arguments".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<Value>();
        json_schema!({
            "description": "An AMQP argument table: names with typed values. Nothing is guessed: 60000 is a number, \"60000\" is a text.",
            "type": "object",
            "additionalProperties": value
        })
    }
}
