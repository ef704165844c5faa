//! The operation `migration.plan`.

use super::declared::Document;
use super::source::{STATE_CODES, StateSource};
use super::{Failure, Request};
use crate::migration::{MigrationError, MigrationFile, MigrationPlan};
use crate::topology::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `migration.plan`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanMigration {
    /// The text of the migration file, YAML or JSON.
    pub file: String,
    /// The vhost as it is.
    pub state: StateSource,
}

/// A migration against a vhost.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlannedMigration {
    /// The plan, acemq.migration_plan/1.
    pub plan: Document,
    /// The plan for people.
    pub text: String,
    /// SHA-256 of the file's lines, whatever ends them.
    pub checksum: String,
    /// Why the migration must not run.
    pub refused: Option<String>,
}

impl Request for PlanMigration {
    type Answer = PlannedMigration;
    const NAME: &'static str = "migration.plan";
    const ABOUT: &'static str = "The steps that replace a live queue, the proof that no message is lost or doubled, and how many steps are done.";
    const CODES: &'static [&'static [&'static str]] =
        &[MigrationError::CODES, STATE_CODES[0], STATE_CODES[1], STATE_CODES[2], STATE_CODES[3]];

    fn answer(self) -> Result<PlannedMigration, Failure> {
        let file = MigrationFile::parse(&self.file, Format::Auto)?;
        let plan = MigrationPlan::new(&file, &self.state.state()?)?;
        Ok(PlannedMigration {
            plan: Document::of(&plan.to_json()),
            text: plan.to_text(),
            checksum: file.checksum,
            refused: plan.refusal(),
        })
    }
}

impl From<MigrationError> for Failure {
    fn from(error: MigrationError) -> Self {
        let mut failure = Self::one(error.code, error.message, error.help);
        for (field, value) in error.fields {
            failure = failure.with(field, value);
        }
        match error.at {
            Some(at) => failure.with("line", at.line).with("column", at.column),
            None => failure,
        }
    }
}
