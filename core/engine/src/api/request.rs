//! An operation as a type, and its row in the table.

use super::Failure;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::collections::BTreeMap;

/// An operation: its fields are the input.
pub trait Request: DeserializeOwned + JsonSchema {
    /// What it answers.
    type Answer: Serialize + JsonSchema;
    /// The name in the table, `module.what`.
    const NAME: &'static str;
    /// One sentence.
    const ABOUT: &'static str;
    /// The codes of its own problems, in groups; `bad_input` and `unknown_key` may come from every operation.
    const CODES: &'static [&'static [&'static str]];

    /// Runs it.
    ///
    /// # Errors
    /// Everything that is wrong with the input.
    fn answer(self) -> Result<Self::Answer, Failure>;
}

/// A row in the table of operations.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// The name.
    pub name: &'static str,
    /// One sentence.
    pub about: &'static str,
    codes: &'static [&'static [&'static str]],
    input: fn(&mut SchemaGenerator) -> Schema,
    output: fn(&mut SchemaGenerator) -> Schema,
    run: fn(&str) -> Result<String, Failure>,
}

impl Operation {
    /// The row of an operation.
    pub const fn of<R: Request>() -> Self {
        Self {
            name: R::NAME,
            about: R::ABOUT,
            codes: R::CODES,
            input: root_schema::<R>,
            output: root_schema::<R::Answer>,
            run: run::<R>,
        }
    }

    /// The codes of its own problems.
    pub fn codes(&self) -> impl Iterator<Item = &'static str> {
        self.codes.iter().flat_map(|group| group.iter().copied())
    }

    /// The JSON Schema of its input.
    pub fn input_schema(&self) -> Schema {
        (self.input)(&mut SchemaGenerator::default())
    }

    /// The JSON Schema of its output.
    pub fn output_schema(&self) -> Schema {
        (self.output)(&mut SchemaGenerator::default())
    }

    /// Runs it.
    ///
    /// # Errors
    /// When the input is not what it takes, and for what the operation itself refuses.
    pub fn call(&self, input: &str) -> Result<String, Failure> {
        (self.run)(input)
    }
}

fn root_schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.root_schema_for::<T>()
}

fn run<R: Request>(input: &str) -> Result<String, Failure> {
    write(R::NAME, &read::<R>(R::NAME, input)?.answer()?)
}

/// Reads an input; `what` is what sentences call the one that takes it.
pub(super) fn read<T: DeserializeOwned + JsonSchema>(what: &str, input: &str) -> Result<T, Failure> {
    // serde would take an array for a structure, item by item.
    let array = input.trim_start().starts_with('[');
    let no_object = array.then(|| serde_json::from_str::<BTreeMap<String, IgnoredAny>>(input).err()).flatten();
    no_object.map_or_else(|| serde_json::from_str(input), Err).map_err(|error| {
        let schema = T::json_schema(&mut SchemaGenerator::default());
        let properties = schema.get("properties").and_then(|properties| properties.as_object());
        let known: Vec<String> = properties.map(|keys| keys.keys().cloned().collect()).unwrap_or_default();
        Failure::bad_input(what, &known, input, &error)
    })
}

/// Writes an output.
pub(super) fn write(what: &str, output: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(output).map_err(|error| {
        let help = "report this with the input, it is a mistake of the engine";
        Failure::one("internal", format!("{what}: the output cannot be written: {error}"), help)
    })
}
