//! A plan for people: two styles, the drift lines, and the notes behind them. Every byte is part of the contract.

use super::action::{Action, Object, Plan, PlannedDifference, Reason, Verdict};
use crate::rabbitmq::{BindingDeclaration, DestinationType};
use crate::topology::{
    describe_binding_arguments, describe_exchange, describe_policy, describe_queue, shown_name, shown_value, type_word,
};
use crate::value::Value;
use std::borrow::Cow;
use std::fmt::Write as _;

/// How a plan is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// A header, and one labelled line an object.
    #[default]
    Plan,
    /// One line an object that says everything about it.
    Lines,
}

/// Continuation lines stand under the object: two blanks, a label of seven, two blanks.
const INDENT: usize = 11;

impl Plan {
    /// The plan as text, each line ended by a line feed: the block, and the notes behind an empty line. `width` wraps the
    /// plan style at that many columns.
    pub fn render(&self, style: Style, width: Option<usize>) -> String {
        let mut out = self.render_block(style, width);
        let notes = self.render_notes();
        if !notes.is_empty() {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&notes);
        }
        out
    }

    /// The plan as text without its notes.
    pub fn render_block(&self, style: Style, width: Option<usize>) -> String {
        let mut out = String::new();
        match style {
            Style::Plan => {
                out.push_str("topology plan:\n");
                if self.actions.is_empty() {
                    out.push_str("  nothing declared\n");
                }
                for action in &self.actions {
                    push_wrapped(&mut out, &plan_line(action), width);
                }
            }
            Style::Lines => {
                for action in &self.actions {
                    out.push_str(&line(action));
                    out.push('\n');
                }
            }
        }
        out
    }

    /// What the lines do not hold, each line starting `note: `.
    pub fn render_notes(&self) -> String {
        let mut out = String::new();
        let notes = self.actions.iter().flat_map(|action| action.notes.iter()).chain(self.notes.iter());
        for note in notes {
            for line in note.lines() {
                let _ = writeln!(out, "note: {line}");
            }
        }
        out
    }

    /// One line for everything that drifted, sorted by name; empty when nothing has.
    pub fn render_drift(&self) -> String {
        let mut drifted: Vec<&Action> = self.actions.iter().filter(|action| action.verdict == Verdict::Drift).collect();
        drifted.sort_by(|a, b| (a.object.name(), a.object.kind()).cmp(&(b.object.name(), b.object.kind())));
        let mut out = String::new();
        for action in drifted {
            let _ = writeln!(
                out,
                "drift: {} {}: {}",
                action.object.kind(),
                shown_name(action.object.name()),
                refused_declaration(action)
            );
        }
        out
    }
}

/// `the broker refused the declaration: Exception (406) …`, or for a policy how it differs.
fn refused_declaration(action: &Action) -> String {
    match &action.refusal {
        Some((code, text)) => {
            format!("the broker refused the declaration: Exception ({code}) {}", shown_name(text))
        }
        None => differences_text(&action.differences),
    }
}

/// `x-message-ttl is 60000 on the broker, 30000 here; …`
fn differences_text(differences: &[PlannedDifference]) -> String {
    let parts: Vec<String> = differences.iter().map(difference_text).collect();
    parts.join("; ")
}

/// `x-message-ttl is 60000 on the broker, 30000 here`
pub(super) fn difference_text(difference: &PlannedDifference) -> String {
    let name = &difference.argument;
    match (&difference.current, &difference.wanted) {
        (Some(current), Some(wanted)) => {
            let kinds = (kind_word(current), kind_word(wanted));
            let (current, wanted) = (shown(current), shown(wanted));
            if current == wanted {
                // Only the types differ, and the broker does not print them.
                return match kinds {
                    (there, here) if there != here => {
                        format!("{name} is the {there} {current} on the broker, the {here} {wanted} here")
                    }
                    _ => format!("{name} prints as {current} on both sides, with another type here than on the broker"),
                };
            }
            format!("{name} is {current} on the broker, {wanted} here")
        }
        (Some(current), None) => format!("{name} is {} on the broker, not set here", shown(current)),
        (None, Some(wanted)) => format!("{name} is not set on the broker, {} here", shown(wanted)),
        (None, None) => format!("{name} differs"),
    }
}

/// What a value is, where its print does not tell.
const fn kind_word(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "boolean",
        Value::LongStr(_) => "text",
        Value::Binary(_) => "binary text",
        Value::Timestamp(_) => "time stamp",
        Value::Array(_) => "array",
        Value::Table(_) => "table",
        Value::Void => "void",
        _ => "number",
    }
}

fn shown(value: &Value) -> String {
    let text = shown_value(value);
    if text.is_empty() { "\"\"".to_owned() } else { shown_name(&text).into_owned() }
}

/// The explanation without its `NAME - ` prefix.
pub(super) fn explanation(text: &str) -> &str {
    match text.split_once(" - ") {
        Some((name, explanation))
            if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') =>
        {
            explanation
        }
        _ => text,
    }
}

const fn asked(action: &Action) -> bool {
    !matches!((action.verdict, action.reason), (Verdict::Unknown, Some(Reason::NotAskable)))
}

fn plan_line(action: &Action) -> String {
    let label = match action.verdict {
        Verdict::Create => "create",
        Verdict::Present => "present",
        Verdict::Drift => "DRIFT",
        Verdict::Invalid => "INVALID",
        Verdict::Extra => "extra",
        // What was not asked is shown as what would be sent.
        Verdict::Unknown if !asked(action) && !matches!(action.object, Object::Queue(_) | Object::External(_)) => {
            "create"
        }
        Verdict::Unknown => "unknown",
    };
    let mut line = format!("  {label:<7}  {}", object_text(&action.object));
    let explained = match action.verdict {
        Verdict::Drift | Verdict::Invalid => match &action.refusal {
            Some((_, text)) => Some(Cow::Borrowed(explanation(text))),
            None => Some(Cow::Owned(differences_text(&action.differences))),
        },
        Verdict::Unknown => match (&action.refusal, &action.why) {
            (Some((_, text)), _) => Some(Cow::Borrowed(explanation(text))),
            (None, Some(why)) => Some(Cow::Borrowed(why.as_str())),
            (None, None) => None,
        },
        Verdict::Create | Verdict::Present | Verdict::Extra => None,
    };
    if let Some(explained) = explained
        && !explained.is_empty()
    {
        let _ = write!(line, " — {}", shown_name(&explained));
    }
    line
}

fn object_text(object: &Object) -> String {
    match object {
        Object::Exchange(exchange) => {
            format!("exchange {} ({})", shown_name(&exchange.name), shown_name(&exchange.kind))
        }
        Object::External(exchange) => match &exchange.kind {
            Some(kind) => format!("exchange {} ({}, external)", shown_name(&exchange.name), shown_name(kind)),
            None => format!("exchange {} (external)", shown_name(&exchange.name)),
        },
        Object::Policy(policy) => format!("policy {} ({})", shown_name(&policy.name), describe_policy(policy)),
        Object::Queue(queue) => format!("queue {} ({})", shown_name(&queue.name), shown_name(type_word(queue))),
        Object::Binding(binding) => format!(
            "binding {}{} <- {} [{}]{}",
            to_exchange(binding),
            shown_name(&binding.destination),
            shown_name(&binding.source),
            shown_name(&binding.routing_key),
            describe_binding_arguments(&binding.arguments)
        ),
    }
}

fn to_exchange(binding: &BindingDeclaration) -> &'static str {
    match binding.destination_type {
        DestinationType::Exchange => "exchange ",
        DestinationType::Queue => "",
    }
}

fn line(action: &Action) -> String {
    let object = match &action.object {
        Object::Exchange(exchange) => {
            format!("exchange {}: {}", shown_name(&exchange.name), describe_exchange(exchange))
        }
        Object::External(exchange) => match &exchange.kind {
            Some(kind) => format!("exchange {}: {}, external", shown_name(&exchange.name), shown_name(kind)),
            None => format!("exchange {}: external", shown_name(&exchange.name)),
        },
        Object::Policy(policy) => format!("policy {}: {}", shown_name(&policy.name), describe_policy(policy)),
        Object::Queue(queue) => format!("queue {}: {}", shown_name(&queue.name), describe_queue(queue)),
        Object::Binding(binding) => format!(
            "binding {}{}: from {} on {}{}",
            to_exchange(binding),
            shown_name(&binding.destination),
            shown_name(&binding.source),
            shown_name(&binding.routing_key),
            describe_binding_arguments(&binding.arguments)
        ),
    };
    format!("{object} — {}", ending(action))
}

fn ending(action: &Action) -> String {
    match action.verdict {
        Verdict::Create => "would create".to_owned(),
        Verdict::Present => "matches".to_owned(),
        Verdict::Drift => format!("differs: {}", refused_declaration(action)),
        Verdict::Invalid => match &action.refusal {
            Some((_, text)) => format!("invalid: {}", shown_name(explanation(text))),
            None => format!("invalid: {}", differences_text(&action.differences)),
        },
        Verdict::Extra => "extra, this topology does not declare it".to_owned(),
        Verdict::Unknown => match action.reason {
            None | Some(Reason::NotAskable) => match &action.object {
                Object::Exchange(_) | Object::External(_) => "unknown, AMQP cannot report exchanges".to_owned(),
                Object::Policy(_) => "unknown, AMQP cannot report policies".to_owned(),
                Object::Binding(_) => "unknown, AMQP cannot report bindings".to_owned(),
                Object::Queue(_) => "unknown, exclusive queues are not reported".to_owned(),
            },
            Some(Reason::NoInspection) => "unknown, this transport cannot check".to_owned(),
            Some(_) => format!(
                "unknown, the broker could not be asked: {}",
                shown_name(action.why.as_deref().unwrap_or("no answer"))
            ),
        },
    }
}

/// Appends one line, wrapped at `width` columns where it is given; a word longer than a line stands alone.
fn push_wrapped(out: &mut String, line: &str, width: Option<usize>) {
    let Some(width) = width else {
        out.push_str(line);
        out.push('\n');
        return;
    };
    // The label and its blanks are not words: they stay as they are.
    let mut column = 0;
    let mut started = false;
    let mut words = line.split(' ');
    // Leading blanks come out as empty words.
    for word in words.by_ref() {
        let length = word.chars().count();
        let wraps = started && column > INDENT && column + 1 + length > width && !word.is_empty();
        if wraps {
            out.push('\n');
            for _ in 0..INDENT {
                out.push(' ');
            }
            out.push_str(word);
            column = INDENT + length;
        } else {
            if started {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += length;
        }
        started = true;
    }
    out.push('\n');
}
