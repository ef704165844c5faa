//! The JSON Schema of the document, from its types.

use super::Topology;
use super::document::Document;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;

impl Topology {
    /// The JSON Schema (draft 2020-12) of the topology document, for editors and other tools.
    pub fn schema() -> serde_json::Value {
        let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(without_null_default));
        settings.into_generator().into_root_schema_for::<Document>().to_value()
    }
}

/// A default of nothing says nothing.
fn without_null_default(schema: &mut Schema) {
    if schema.get("default").is_some_and(serde_json::Value::is_null) {
        schema.remove("default");
    }
}
