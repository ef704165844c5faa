//! A refusal in one sentence, for somebody who reads it at three in the morning.

use super::pattern::{Found, Mode};
use super::{Printed, Refusal, RefusalClass, RefusedKind, Side, envelope};
use crate::value::shown_name;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Why a sentence says no more.
const CUT: &str = " (the broker cut its text here)";

/// More characters of a value than this help nobody.
const LONGEST_VALUE: usize = 200;

/// The sentence for a refusal, from its wording and the fields that it does not keep itself.
pub(super) fn say(refusal: &Refusal, found: Option<&Found<'_>>) -> String {
    let Some(found) = found else { return unknown(refusal) };
    let words = Words { refusal, found };
    let mut says = if found.wording.says.is_empty() { words.inequivalent() } else { words.fill(found.wording.says) };
    if found.mode == Mode::Cut && refusal.class != RefusalClass::Inequivalent {
        says.push_str(CUT);
    }
    says
}

fn unknown(refusal: &Refusal) -> String {
    match (refusal.code, refusal.text.is_empty()) {
        (Some(541), true) => {
            "the broker crashed over this request and says no more (541 INTERNAL_ERROR); its log has the reason"
                .to_owned()
        }
        (Some(312), true) => {
            "a mandatory message was returned, because no queue is bound for its routing key".to_owned()
        }
        (Some(code), _) => match envelope::reply_name(code) {
            Some(name) => format!("the broker refused with {code} {name}, in words that are not known here"),
            None => format!("the broker refused with code {code}, in words that are not known here"),
        },
        (None, _) => "this is no refusal of RabbitMQ or LavinMQ that is known here".to_owned(),
    }
}

struct Words<'a> {
    refusal: &'a Refusal,
    found: &'a Found<'a>,
}

impl Words<'_> {
    /// Fills the fields of a sentence in; parts in brackets go when one of theirs is not there.
    fn fill(&self, sentence: &str) -> String {
        let mut out = String::new();
        let mut rest = sentence;
        while let Some((before, bracketed)) = rest.split_once('[') {
            out.push_str(&self.part(before).unwrap_or_default());
            let (inside, after) = bracketed.split_once(']').unwrap_or((bracketed, ""));
            out.push_str(&self.part(inside).unwrap_or_default());
            rest = after;
        }
        out.push_str(&self.part_with_gaps(rest));
        out
    }

    /// A part with its fields, or `None` when one is missing.
    fn part(&self, part: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = part;
        while let Some((before, after)) = rest.split_once('{') {
            let (field, after) = after.split_once('}')?;
            out.push_str(before);
            out.push_str(&self.field(field)?);
            rest = after;
        }
        out.push_str(rest);
        Some(out)
    }

    /// A part whose missing fields show as `…`.
    fn part_with_gaps(&self, part: &str) -> String {
        let mut out = String::new();
        let mut rest = part;
        while let Some((before, after)) = rest.split_once('{') {
            let (field, after) = after.split_once('}').unwrap_or((after, ""));
            out.push_str(before);
            out.push_str(self.field(field).as_deref().unwrap_or("…"));
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn field(&self, field: &str) -> Option<String> {
        let text = || self.found.get(field);
        match field {
            "object" => Some(self.object()),
            "property" => self.refusal.argument.as_deref().map(property),
            "error" => text().map(|error| self.complaint(error)),
            "module" => text().map(module),
            "type" => text().map(|kind| type_word(kind).into_owned()),
            "name" => self.refusal.name.as_deref().map(in_quotes),
            "vhost" => self.refusal.vhost.as_deref().map(in_quotes),
            "argument" => self.refusal.argument.as_deref().map(|argument| shown_name(argument).into_owned()),
            "value" => text().map(value),
            "kind" => self.refusal.kind.map(|kind| kind.name().to_owned()),
            "user" | "node" | "reason" | "key" | "prefix" => text().map(in_quotes),
            _ => text().map(|text| shown_name(text).into_owned()),
        }
    }

    /// `queue "orders" in vhost "/"`, as far as the text goes.
    fn object(&self) -> String {
        let kind = self.refusal.kind.map_or("object", RefusedKind::name);
        let mut out = match (&self.refusal.name, self.found.beginning("name")) {
            (Some(name), _) => format!("{kind} {}", in_quotes(name)),
            (None, Some(beginning)) => {
                let article = if kind.starts_with(['a', 'e', 'o']) { "an" } else { "a" };
                format!("{article} {kind} whose name begins with {}", in_quotes(beginning))
            }
            (None, None) => format!("the {kind}"),
        };
        if let Some(vhost) = &self.refusal.vhost {
            let _ = write!(out, " in vhost {}", in_quotes(vhost));
        }
        out
    }

    fn inequivalent(&self) -> String {
        let object = self.object();
        let Some(argument) = self.refusal.argument.as_deref() else {
            return format!(
                "{object} is there with another property or argument; the broker cut its text before the name"
            );
        };
        let value = |printed: &Printed| argument_value(argument, printed);
        let (received, current) = (self.refusal.received.as_ref(), self.refusal.current.as_ref());
        match (received, current, self.refusal.absent) {
            (Some(received), Some(current), _) if received.value == current.value && received.kind == current.kind => {
                format!(
                    "the {argument} of {object} and the one asked for both print as {}, so their types differ{}",
                    value(current),
                    differing_types(&current.value)
                )
            }
            (Some(received), Some(current), _) => both(&object, argument, received, current),
            (None, Some(current), Some(Side::Received)) => match argument {
                "x-queue-type" => {
                    format!("{object} is of type {}; the declaration named no type", bare(&current.value))
                }
                // A type is printed where the other side has no such argument, none where its value is void.
                _ if current.kind.is_some() => {
                    format!("{object} has {argument} {}; the declaration does not set it", value(current))
                }
                _ => format!("{object} has {argument} {}; the declaration gave it no value", value(current)),
            },
            (Some(received), None, Some(Side::Current)) => match argument {
                "x-queue-type" => format!(
                    "{object} was declared without a type, which means classic; the declaration asked for {}",
                    bare(&received.value)
                ),
                _ => format!("{object} has no {argument}; the declaration asked for {}", value(received)),
            },
            _ => self.cut_inequivalence(&object, argument),
        }
    }

    /// What a cut text still says of the two values.
    fn cut_inequivalence(&self, object: &str, argument: &str) -> String {
        let begins = self.found.sides.as_ref().and_then(|sides| sides.begins.as_ref());
        let begins = |side| match begins {
            Some((of, beginning)) if *of == side && !beginning.is_empty() => Some(in_quotes(beginning)),
            _ => None,
        };
        let asked = match (&self.refusal.received, begins(Side::Received), self.refusal.absent) {
            (Some(received), ..) => Some(argument_value(argument, received)),
            (None, Some(beginning), _) => Some(format!("one that begins with {beginning}")),
            (None, None, Some(Side::Received)) => Some("none".to_owned()),
            _ => None,
        };
        let mut out = match asked {
            Some(asked) => format!("{object} has another {argument} than the declaration, which asked for {asked}"),
            None => format!("{object} has another {argument} than the declaration asked for"),
        };
        if let Some(beginning) = begins(Side::Current) {
            let _ = write!(out, "; what is there begins with {beginning}");
        }
        out.push_str(CUT);
        out
    }

    /// What is wrong with an argument's value, from the Erlang term or the text that the broker prints.
    fn complaint(&self, error: &str) -> String {
        let argument = self.refusal.argument.as_deref().unwrap_or("an argument");
        if let Some(kind) = error.strip_prefix("{unacceptable_type,").and_then(|rest| rest.split('}').next()) {
            return format!("{argument} cannot be {}", type_word(kind));
        }
        if let Some(kind) = error.strip_prefix("\"expected integer, got ").and_then(|rest| rest.split('"').next()) {
            return format!("{argument} must be an integer, and {} was sent", type_word(kind));
        }
        let sent = self.refusal.received.as_ref().map(|received| value(&received.value)).unwrap_or_default();
        for (beginning, reason) in [
            ("{value_zero,", "must not be 0"),
            ("{value_negative,", "must not be negative"),
            ("{value_too_large,", "is larger than RabbitMQ allows"),
            ("{max_value_exceeded,", "is larger than RabbitMQ allows"),
            ("\"unsupported queue type", "names a queue type that this broker does not have"),
            ("\"unsupported queue", "has a value that this broker does not support"),
        ] {
            if error.starts_with(beginning) {
                return if sent.is_empty() || sent == "0" {
                    format!("{argument} {reason}")
                } else {
                    format!("{argument} {reason} ({sent} was sent)")
                };
            }
        }
        match error {
            "routing_key_but_no_dlx_defined" => format!(
                "{argument} needs x-dead-letter-exchange among the arguments, and one that a policy sets does not count"
            ),
            "invalid_max_age" => format!("{argument} must be digits with one of Y M D h m s behind them, above zero"),
            "invalid_queue_type" => format!("{argument} names a queue type that this broker does not have"),
            "invalid_overflow" => format!("{argument} must be drop-head, reject-publish or reject-publish-dlx"),
            "invalid_dlx_strategy" => format!("{argument} must be at-most-once or at-least-once"),
            "invalid_queue_locator_arg" => format!("{argument} must be client-local or balanced"),
            "invalid_queue_mode" => format!("{argument} must be default or lazy"),
            _ => format!("the broker says {}", shortened(error)),
        }
    }
}

/// Both values are there, and print differently.
fn both(object: &str, argument: &str, received: &Printed, current: &Printed) -> String {
    let flag = |yes: &'static str, no: &'static str, printed: &Printed| if printed.value == "true" { yes } else { no };
    match argument {
        "durable" => format!(
            "{object} is {}; the declaration asked for a {} one",
            flag("durable", "transient", current),
            flag("durable", "transient", received)
        ),
        "auto_delete" => format!(
            "{object} is {}; the declaration asked for one that is {}",
            flag("auto-delete", "not auto-delete", current),
            flag("auto-delete", "not", received)
        ),
        "internal" => format!(
            "{object} is {}; the declaration asked for one that is {}",
            flag("internal", "not internal", current),
            flag("internal", "not", received)
        ),
        "type" => {
            format!("{object} is of type {}; the declaration asked for {}", bare(&current.value), bare(&received.value))
        }
        // From 4.0 on a declaration without a type is filled in before the comparison.
        "x-queue-type" => format!(
            "{object} is of type {}; the declaration asked for {asked}, or for no type where the default is {asked}",
            bare(&current.value),
            asked = bare(&received.value)
        ),
        _ => format!(
            "{object} has {argument} {}; the declaration asked for {}",
            argument_value(argument, current),
            argument_value(argument, received)
        ),
    }
}

fn differing_types(printed: &str) -> &'static str {
    match printed {
        "true" | "false" => ": one is a boolean, the other a text",
        _ if is_number(printed) => ": one is a number, the other a text",
        _ if printed.starts_with('[') => ": one is a table or an array, the other a text",
        _ => "",
    }
}

fn argument_value(argument: &str, printed: &Printed) -> String {
    // From 4.3.6 a stream's age is compared and printed in milliseconds; as declared it ends in a letter.
    let milliseconds = argument == "x-max-age" && printed.value.bytes().all(|b| b.is_ascii_digit());
    match &printed.kind {
        _ if milliseconds => format!("{} ms", printed.value),
        Some(kind) if kind == "longstr" => in_quotes(&printed.value),
        _ => value(&printed.value),
    }
}

/// A value as it is shown: numbers, booleans and Erlang terms bare, texts in quotes.
fn value(printed: &str) -> String {
    let binary = printed.strip_prefix("<<\"").and_then(|inner| inner.strip_suffix("\">>"));
    match binary {
        Some(text) => in_quotes(text),
        None if is_number(printed) || matches!(printed, "true" | "false") => printed.to_owned(),
        None if printed.starts_with(['[', '{']) => shortened(printed),
        None => in_quotes(printed),
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || c == '-') && text.parse::<f64>().is_ok()
}

fn in_quotes(text: &str) -> String {
    format!("\"{}\"", shortened(text))
}

/// An exchange or queue type without the quotes that Erlang puts around some atoms.
fn bare(text: &str) -> String {
    shortened(text.strip_prefix('\'').and_then(|inner| inner.strip_suffix('\'')).unwrap_or(text))
}

/// On one line, without control characters, and not endless.
fn shortened(text: &str) -> String {
    let line =
        if text.contains('\n') { text.split_whitespace().collect::<Vec<_>>().join(" ") } else { text.to_owned() };
    let shown = shown_name(&line);
    match shown.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}…", shown.get(..end).unwrap_or_default()),
        None => shown.into_owned(),
    }
}

fn module(name: &str) -> String {
    let kind = name.strip_prefix("rabbit_").and_then(|rest| rest.strip_suffix("_queue"));
    match kind {
        Some("stream") => "streams".to_owned(),
        Some(kind) => format!("{kind} queues"),
        None => format!("queues of type {}", shown_name(name)),
    }
}

fn property(printed: &str) -> String {
    match printed {
        "auto-delete" => "auto-delete".to_owned(),
        "exclusive-owner" => "exclusive".to_owned(),
        "non-durable" => "transient".to_owned(),
        other => shown_name(other).into_owned(),
    }
}

/// The broker's name of a wire type, in words.
fn type_word(kind: &str) -> Cow<'_, str> {
    Cow::Borrowed(match kind {
        "longstr" => "a text",
        "bool" => "a boolean",
        "float" | "double" => "a floating-point number",
        "decimal" => "a decimal",
        "timestamp" => "a timestamp",
        "binary" => "binary data",
        "array" => "an array",
        "table" => "a table",
        "void" => "nothing (void)",
        "signedint" | "unsignedint" | "long" | "short" | "unsignedshort" | "byte" | "unsignedbyte" => "an integer",
        other => return shortened(other).into(),
    })
}
