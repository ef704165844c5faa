//! One command in one vhost or in several, each with a result of its own.

use super::SettingArguments;
use crate::broker::Target;
use crate::failure::{Failure, STOPPED};
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
    /// One line for the report of several vhosts.
    pub summary: String,
    /// Why it did not end well, for standard error.
    pub why: Option<String>,
    /// Exit code.
    pub code: u8,
}

/// Does it in the vhosts that are asked for, one after the other; with `careful`, the first that does not end well is the last.
pub fn in_each(
    setting: &SettingArguments,
    careful: bool,
    mut what: impl FnMut(Address, Option<&str>) -> Result<Outcome, Failure>,
) -> Result<Report, Failure> {
    let is_json = setting.format.is_json();
    let Some(choices) = vhosts::chosen(&setting.several, &setting.broker)? else {
        let Outcome { text, document, why, code, .. } = what(Address::of(&setting.broker)?, None)?;
        let text = if is_json { line_or_document(&document) } else { text };
        return match why {
            Some(why) => Err(Failure { document: Some(text), ..Failure::with_code(why, code) }),
            None => Ok(Report::done(text).with_code(code)),
        };
    };
    let mut out = String::new();
    let mut documents = Vec::new();
    let mut summary = format!("{} vhosts\n", choices.len());
    let mut codes = Vec::new();
    for choice in choices {
        let vhost = choice.vhost;
        let is_over = careful && codes.iter().any(|code| *code != 0);
        let outcome = if is_over {
            Err(Failure::with_code("not begun, because the vhost before did not end well", STOPPED))
        } else {
            choice.target.and_then(|target| match target {
                Target::Real(address) if address.can_migrate() => what(*address, Some(&vhost)),
                _ => Err(Address::of(&setting.broker).err().unwrap_or_else(|| Failure::input("no live broker"))),
            })
        };
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
        json(&document!({ "format": "acemq.migrate_vhosts/1", "vhosts": documents, "exit_code": code }))
    } else {
        out + &summary
    };
    Ok(Report::done(text).with_code(code))
}

/// A document for standard output; nothing for none.
fn line_or_document(document: &Json) -> String {
    if document.is_null() { String::new() } else { json(document) }
}
