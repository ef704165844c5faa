//! The JSON Schema of the document, from its types.

use super::Topology;
use super::document::Document;
use schemars::generate::SchemaSettings;

impl Topology {
    /// The JSON Schema (draft 2020-12) of the topology document, for editors and other tools.
    pub fn schema() -> serde_json::Value {
        let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Document>();
        schema.to_value()
    }
}
