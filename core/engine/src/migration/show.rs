//! A plan in words, and as the document `acemq.migration_plan/1`.

use super::action::Action;
use super::findings::Weight;
use super::plan::MigrationPlan;
use super::position::Position;
use super::step::{Direction, Step};
use crate::topology::shown_name;
use crate::value::counted;
use serde_json::{Value as Json, json};
use std::fmt::Write as _;

/// What takes a plain change back; nothing for what is done, for the table does not tell what was there before.
fn way_back(step: &Step, is_done: bool) -> String {
    match &step.inverse {
        Some(Action::SetPolicy(former)) => {
            format!("             undo: {}, as it was before\n", Action::SetPolicy(former.clone()))
        }
        Some(inverse) => format!("             undo: {inverse}\n"),
        None if is_done || step.point_of_no_return || !step.action.changes() => String::new(),
        None => "             undo: nothing, for it is so already\n".to_owned(),
    }
}

impl MigrationPlan {
    /// The plan for people: the steps by phase, the proof, who else gets the messages, and what to know.
    pub fn to_text(&self) -> String {
        let mut out = match &self.subject {
            Some(subject) => format!(
                "{} of queue {} to {} (method {}) in vhost {}: {}",
                match self.direction {
                    Direction::Forward => "migration",
                    Direction::Back => "undo of the migration",
                },
                shown_name(&subject.old),
                shown_name(&subject.new),
                subject.method.name(),
                shown_name(&self.vhost),
                counted(self.steps.len(), "step")
            ),
            None => format!(
                "{}{} in vhost {}",
                match self.direction {
                    Direction::Forward => "",
                    Direction::Back => "undo of plain changes: ",
                },
                counted(self.steps.len(), "change"),
                shown_name(&self.vhost)
            ),
        };
        let done = self.done().unwrap_or_default();
        if done > 0 {
            let _ = write!(out, ", {done} of them done");
        }
        out.push('\n');
        let mut phase = None;
        for (at, step) in self.steps.iter().enumerate() {
            if phase != Some(step.phase) {
                phase = Some(step.phase);
                let _ = writeln!(out, "  {}", step.phase.name());
            }
            let mark = if at < done { "done" } else { "" };
            let _ = write!(out, "  {mark:<4} {:>3}  {}", at + 1, step.action);
            if step.point_of_no_return {
                out.push_str(" (point of no return)");
            }
            out.push('\n');
            if self.subject.is_none() && self.direction == Direction::Forward {
                out.push_str(&way_back(step, at < done));
            }
        }
        if let Some(proof) = &self.proof {
            let _ = writeln!(out, "proof: {proof}");
        }
        for neighbour in &self.neighbours {
            let _ = writeln!(
                out,
                "neighbour: queue {} gets \"{}\" from exchange {} too",
                shown_name(&neighbour.queue),
                shown_name(&neighbour.routing_key),
                shown_name(&neighbour.exchange)
            );
        }
        for finding in &self.findings {
            let _ = writeln!(out, "{finding}");
        }
        if let Position::Astray { .. } = &self.position {
            let _ = writeln!(out, "refused: {}", self.position);
        }
        if let Some(file) = &self.follow_up {
            let _ = write!(out, "for later, as a file of its own:\n{file}");
        }
        out
    }

    /// The plan as a document.
    pub fn to_json(&self) -> Json {
        let steps: Vec<Json> = self.steps.iter().zip(1..).map(|(step, number)| step.to_json(number)).collect();
        let position = match &self.position {
            Position::At(done) => json!({ "done": done }),
            Position::Astray { nearest, surplus, missing } => {
                json!({ "done": null, "nearest": nearest, "surplus": surplus, "missing": missing })
            }
        };
        json!({
            "format": "acemq.migration_plan/1",
            "direction": self.direction.name(),
            "vhost": self.vhost,
            "replace": self.subject.as_ref().map(|subject| {
                json!({ "queue": subject.old, "with": subject.new, "method": subject.method.name() })
            }),
            "position": position,
            "steps": steps,
            "proof": self.proof.as_ref().map(super::Proof::to_json),
            "neighbours": self.neighbours,
            "findings": self.findings,
            "follow_up": self.follow_up,
            "beginning": self.beginning(),
            "refused": self.refusal(),
        })
    }

    /// Whether something has to be known before it runs.
    pub fn has_warnings(&self) -> bool {
        self.findings.iter().any(|finding| finding.weight == Weight::Warning)
    }
}
