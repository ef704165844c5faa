//! `match`: topic patterns and routing keys.

use crate::cli::MatchArguments;
use crate::failure::Failure;
use crate::input;
use crate::output::{Report, json};
use acemq_core::topic::TopicPattern;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    pattern: &'a str,
    key: &'a str,
    matches: bool,
}

/// `true` or `false`, or one of them a line.
pub fn matching(arguments: &MatchArguments) -> Result<Report, Failure> {
    if let Some(file) = &arguments.pairs {
        return pairs(file);
    }
    let (pattern, key) = match (&arguments.pattern, &arguments.key) {
        (Some(pattern), Some(key)) => (pattern, key),
        _ => return Err(Failure::input("match needs a pattern and a key, or --pairs FILE")),
    };
    let matches = TopicPattern::new(pattern).matches(key);
    Ok(Report::done(if arguments.format.is_json() {
        json(&Document { format: "acemq.match/1", pattern, key, matches })
    } else {
        format!("{matches}\n")
    }))
}

fn pairs(file: &str) -> Result<Report, Failure> {
    let bytes = input::read(file)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        Failure::input(format!("{file} is not UTF-8 from byte {} on", error.utf8_error().valid_up_to()))
    })?;
    let mut out = String::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let (pattern, key): (String, String) = serde_json::from_str(line).map_err(|error| {
            Failure::input(format!(
                "{file}:{}: expected a JSON array of two strings, [\"PATTERN\", \"KEY\"]: {error}",
                index + 1
            ))
        })?;
        out.push_str(if TopicPattern::new(&pattern).matches(&key) { "true\n" } else { "false\n" });
    }
    Ok(Report::done(out))
}
