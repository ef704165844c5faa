//! One command in one vhost or in several, each with a result of its own. A vhost that cannot be had, or that does not end well,
//! is a result like any other: the rest is still done.

use super::SettingArguments;
use crate::broker::Target;
use crate::failure::Failure;
use crate::live::Address;
use crate::output::{Report, json};
use crate::vhosts;
use acemq_core::topology::shown_name;
use serde_json::{Value as Json, json as document};
use std::fmt::Write as _;

/// What a command says about one vhost.
pub struct Outcome {
    /// For people; whole lines.
    pub text: String,
    /// As a document.
    pub document: Json,
    /// Whether the document is the last of several lines.
    pub is_line: bool,
    /// One line for the report of several vhosts.
    pub summary: String,
    /// Why it did not end well, for standard error.
    pub why: Option<String>,
    /// Exit code.
    pub code: u8,
}

/// Does it in the vhosts that are asked for, one after the other.
pub fn in_each(
    setting: &SettingArguments,
    mut what: impl FnMut(Address, Option<&str>) -> Result<Outcome, Failure>,
) -> Result<Report, Failure> {
    let is_json = setting.format.is_json();
    let Some(choices) = vhosts::chosen(&setting.several, &setting.broker)? else {
        let Outcome { text, document, is_line, why, code, .. } = what(Address::of(&setting.broker)?, None)?;
        let text = if is_json { printed(&document, is_line) } else { text };
        return match why {
            Some(why) => Err(Failure { document: Some(text), ..Failure::with_code(why, code) }),
            None => Ok(Report::done(text).with_code(code)),
        };
    };
    let mut out = String::new();
    let mut documents = Vec::new();
    let mut summary = format!("{}\n", vhosts::how_many(choices.len()));
    let mut codes = Vec::new();
    let mut is_line = false;
    for choice in choices {
        let vhost = choice.vhost;
        let outcome = choice.target.and_then(|target| match target {
            Target::Real(address) if address.can_migrate() => what(*address, Some(&vhost)),
            _ => Err(Address::of(&setting.broker).err().unwrap_or_else(|| Failure::input("no live broker"))),
        });
        let shown = shown_name(&vhost);
        match outcome {
            Ok(outcome) => {
                let _ = writeln!(out, "vhost {shown}\n{}", outcome.text);
                if let Some(why) = &outcome.why {
                    let _ = writeln!(out, "{why}\n");
                }
                let _ = writeln!(summary, "  {shown}: {}", outcome.summary);
                documents.push(document!({
                    "vhost": vhost, "exit_code": outcome.code, "error": outcome.why, "result": outcome.document,
                }));
                codes.push(outcome.code);
                is_line |= outcome.is_line;
            }
            Err(failure) => {
                let why = failure.message.strip_prefix("acemq: ").unwrap_or(&failure.message).to_owned();
                let _ = writeln!(summary, "  {shown}: {why}");
                documents.push(document!({ "vhost": vhost, "exit_code": failure.code, "error": why, "result": null }));
                codes.push(failure.code);
            }
        }
    }
    let code = codes.into_iter().min_by_key(|code| vhosts::precedence(*code)).unwrap_or(0);
    let text = if is_json {
        printed(&document!({ "format": "acemq.migrate_vhosts/1", "vhosts": documents, "exit_code": code }), is_line)
    } else {
        out + &summary
    };
    Ok(Report::done(text).with_code(code))
}

/// A document for standard output: on one line where lines stand before it.
fn printed(document: &Json, is_line: bool) -> String {
    if is_line { format!("{document}\n") } else { json(document) }
}
