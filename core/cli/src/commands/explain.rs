//! `explain`: a broker's refusal in plain words.

use crate::cli::ExplainArguments;
use crate::failure::Failure;
use crate::input;
use crate::output::{Report, json};
use acemq_core::rabbitmq::{Known, Refusal};

/// One refusal of the command line, or one a line of standard input.
pub fn explain(arguments: &ExplainArguments) -> Result<Report, Failure> {
    match arguments.text.as_deref() {
        Some(text) if text != "-" => {
            let refusal = Refusal::read(None, text, Known::default());
            Ok(Report::done(match arguments.format.is_json() {
                true => json(&refusal.to_document()),
                false => said(&refusal),
            }))
        }
        _ => lines(arguments.format.is_json()),
    }
}

fn said(refusal: &Refusal) -> String {
    format!("{}\n", acemq_core::topology::shown_name(&refusal.says()))
}

fn lines(json_lines: bool) -> Result<Report, Failure> {
    let bytes = input::read("-")?;
    // A refusal that was cut inside a character is read as far as it goes.
    let text = String::from_utf8_lossy(&bytes);
    let mut out = String::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let refusal = Refusal::read_line(line)
            .map_err(|error| Failure::input(format!("line {} of standard input: {error}", index + 1)))?;
        if json_lines {
            out.push_str(&serde_json::to_string(&refusal.to_document()).unwrap_or_default());
            out.push('\n');
        } else {
            out.push_str(&said(&refusal));
        }
    }
    Ok(Report::done(out))
}
