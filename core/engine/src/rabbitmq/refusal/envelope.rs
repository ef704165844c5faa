//! What clients, logs and the management API put around a refusal.
//!
//! | where | form |
//! |---|---|
//! | AMQP | `PRECONDITION_FAILED - …` |
//! | Java | `#method<channel.close>(reply-code=406, reply-text=PRECONDITION_FAILED - …, class-id=50, method-id=10)` |
//! | .NET | `…, code=406, text='PRECONDITION_FAILED - …', classId=50, methodId=10` (older: `text="…"`) |
//! | Go | `Exception (406) Reason: "PRECONDITION_FAILED - …"`, quoted as Go quotes |
//! | pika | `(406, "PRECONDITION_FAILED - …")`, quoted as Python quotes |
//! | py-amqp | `Queue.declare: (406) PRECONDITION_FAILED - …` |
//! | amqplib | `406 (PRECONDITION-FAILED) with message "PRECONDITION_FAILED - …"` |
//! | php-amqplib | `PRECONDITION_FAILED - … in /app/AMQPChannel.php:188` |
//! | bunny | the text alone |
//! | broker log | `operation queue.declare caused a channel exception precondition_failed: …` |
//! | broker log | `operation queue.delete caused a connection exception not_implemented: "…"`, quoted as Erlang quotes |
//! | management API | `{"error":"bad_request","reason":"…"}` |
//!
//! One text can be read in several ways, because most of these quote nothing. [`candidates`] gives the readings, the likeliest
//! first; the first that is a known wording is taken.

use super::quoting::{self, Quoting};
use super::wordings::WORDINGS;
use std::borrow::Cow;

/// The reply codes and names of AMQP 0-9-1.
const REPLIES: [(u16, &str); 18] = [
    (311, "CONTENT_TOO_LARGE"),
    (312, "NO_ROUTE"),
    (313, "NO_CONSUMERS"),
    (320, "CONNECTION_FORCED"),
    (402, "INVALID_PATH"),
    (403, "ACCESS_REFUSED"),
    (404, "NOT_FOUND"),
    (405, "RESOURCE_LOCKED"),
    (406, "PRECONDITION_FAILED"),
    (501, "FRAME_ERROR"),
    (502, "SYNTAX_ERROR"),
    (503, "COMMAND_INVALID"),
    (504, "CHANNEL_ERROR"),
    (505, "UNEXPECTED_FRAME"),
    (506, "RESOURCE_ERROR"),
    (530, "NOT_ALLOWED"),
    (540, "NOT_IMPLEMENTED"),
    (541, "INTERNAL_ERROR"),
];

/// More than this of a text is not looked at: a broker's are at most 255 long, a log's hold names and values at most.
const LONGEST: usize = 32 * 1024;

/// How deep a text may be quoted inside a text: a client's message in a log line in JSON in another log.
const NESTING: u8 = 3;

/// One way to read a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate<'t> {
    /// The code that belongs to the name in the text.
    pub(super) code: Option<u16>,
    pub(super) explanation: Cow<'t, str>,
}

/// The name that goes with a code.
pub(super) fn reply_name(code: u16) -> Option<&'static str> {
    REPLIES.iter().find(|(number, _)| *number == code).map(|(_, name)| *name)
}

/// The text as AMQP gives it: `NAME - explanation`, or an explanation without its name.
pub(super) fn direct(text: &str) -> Candidate<'_> {
    let text = quoting::beginning(text.trim(), LONGEST);
    match named(text) {
        Some((code, explanation)) => Candidate { code: Some(code), explanation: explanation.into() },
        None => Candidate { code: None, explanation: text.into() },
    }
}

/// All ways to read `text`, the likeliest first.
pub(super) fn candidates(text: &str) -> Vec<Candidate<'_>> {
    let mut found = vec![direct(text)];
    look_inside(quoting::beginning(text.trim(), LONGEST), NESTING, &mut found);
    if text.contains(['\n', '\t']) {
        // A terminal, a mail or a document broke the text into lines.
        let joined: Vec<Candidate<'_>> = found.iter().map(unwrapped).collect();
        found.extend(joined);
    }
    found
}

/// `NAME - explanation`, or the bare name.
fn named(text: &str) -> Option<(u16, &str)> {
    REPLIES.iter().find_map(|(code, name)| {
        let rest = text.strip_prefix(name)?;
        let explanation = if rest.is_empty() { Some("") } else { rest.strip_prefix(" - ") };
        explanation.or_else(|| rest.trim_start().strip_prefix('-').map(str::trim_start)).map(|text| (*code, text))
    })
}

fn look_inside<'t>(text: &'t str, depth: u8, found: &mut Vec<Candidate<'t>>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    json(text, depth, found);
    for (code, at) in names_within(text) {
        let Some((before, body)) = text.split_at_checked(at) else { continue };
        if before.ends_with("\\\"") {
            // Quoted inside a quoted text: take one layer off, and read again.
            owned(&quoting::unescape(text, Quoting::C), depth, found);
            return;
        }
        for body in bodies(before, body) {
            let explanation = match body {
                Cow::Borrowed(body) => named(body).map(|(_, explanation)| Cow::Borrowed(explanation)),
                Cow::Owned(body) => named(&body).map(|(_, explanation)| Cow::Owned(explanation.to_owned())),
            };
            found.extend(explanation.map(|explanation| Candidate { code: Some(code), explanation }));
        }
    }
    log_lines(text, found);
    for at in beginnings_within(text) {
        found.extend(text.get(at..).map(|body| Candidate { code: None, explanation: body.into() }));
    }
}

/// Reads a text that was made here.
fn owned(text: &str, depth: u8, found: &mut Vec<Candidate<'_>>) {
    let mut inner = Vec::new();
    look_inside(text, depth, &mut inner);
    found.extend(inner.into_iter().map(|candidate| Candidate {
        code: candidate.code,
        explanation: Cow::Owned(candidate.explanation.into_owned()),
    }));
}

/// The strings of a JSON object that begins in the text: the management API's answer, or a log line.
fn json(text: &str, depth: u8, found: &mut Vec<Candidate<'_>>) {
    let Some(object) = text.find('{').and_then(|at| text.get(at..)) else { return };
    let Some(Ok(serde_json::Value::Object(object))) =
        serde_json::Deserializer::from_str(object).into_iter::<serde_json::Value>().next()
    else {
        return;
    };
    // `reason` is the management API's; the others come in the order of their names.
    let strings = object.get("reason").into_iter().chain(object.values()).filter_map(serde_json::Value::as_str);
    for string in strings {
        let candidate = match named(string) {
            Some((code, explanation)) => Candidate { code: Some(code), explanation: explanation.to_owned().into() },
            None => Candidate { code: None, explanation: string.to_owned().into() },
        };
        found.push(candidate);
        owned(string, depth, found);
    }
}

/// Where `NAME - ` stands inside the text; the first few of them.
fn names_within(text: &str) -> Vec<(u16, usize)> {
    let mut at: Vec<(u16, usize)> = REPLIES
        .iter()
        .filter_map(|(code, name)| {
            let (at, _) = text.match_indices(name).find(|(at, _)| {
                text.get(at + name.len()..)
                    .is_some_and(|rest| rest.trim_start().starts_with('-') && !rest.starts_with('-'))
            })?;
            (at > 0).then_some((*code, at))
        })
        .collect();
    at.sort_by_key(|(_, at)| *at);
    at.truncate(3);
    at
}

/// The ways in which a text that stands behind `before` can end, the likeliest first.
fn bodies<'t>(before: &str, body: &'t str) -> Vec<Cow<'t, str>> {
    let up_to = |end: &str| body.rfind(end).and_then(|at| body.get(..at)).map(Cow::Borrowed);
    let mut ways = Vec::new();
    if before.ends_with("reply-text=") {
        ways.extend(up_to(", class-id="));
        ways.extend(up_to(")"));
    } else if before.ends_with("text='") {
        ways.extend(up_to("', classId="));
        ways.extend(up_to("'"));
    } else if before.ends_with("text=\"") {
        ways.extend(up_to("\", classId="));
        ways.extend(up_to("\""));
    } else if before.ends_with("message \"") {
        ways.extend(up_to("\""));
    } else if let Some(quote @ ('"' | '\'')) = before.chars().next_back() {
        let quoting = if before.trim_end_matches(quote).ends_with(", ") { Quoting::Python } else { Quoting::Go };
        ways.extend(quoting::quoted(body, quote, quoting).map(Cow::Owned));
        ways.extend(body.rfind(quote).and_then(|at| body.get(..at)).map(Cow::Borrowed));
    } else if before.ends_with(": ") {
        // amqprs: '406: PRECONDITION_FAILED - …', (class_id = 50, method_id = 10)
        ways.extend(up_to("', (class_id = "));
    }
    ways.push(Cow::Borrowed(body));
    ways
}

/// The broker's log: `precondition_failed: …`, in old ones `{amqp_error,precondition_failed,"…",'queue.declare'}`.
fn log_lines<'t>(text: &'t str, found: &mut Vec<Candidate<'t>>) {
    for (code, name) in REPLIES {
        let atom = name.to_ascii_lowercase();
        let Some(rest) = text.find(&atom).and_then(|at| text.get(at + atom.len()..)) else { continue };
        let Some(rest) = rest.strip_prefix([':', ',']).map(str::trim_start) else { continue };
        let quoted = rest.strip_prefix('"').and_then(|body| quoting::quoted(body, '"', Quoting::C));
        found.extend(quoted.map(|body| Candidate { code: Some(code), explanation: body.into() }));
        found.push(Candidate { code: Some(code), explanation: rest.into() });
    }
}

/// Where the unmistakable beginnings of wordings stand in the text.
fn beginnings_within(text: &str) -> Vec<usize> {
    let long = WORDINGS.iter().map(|wording| wording.beginning).filter(|beginning| beginning.len() >= 14);
    let mut at: Vec<usize> = long.filter_map(|beginning| text.find(beginning)).filter(|at| *at > 0).collect();
    at.sort_unstable();
    at.dedup();
    at.truncate(3);
    at
}

/// The candidate with every line end, and the blanks around it, as one blank.
fn unwrapped<'t>(candidate: &Candidate<'t>) -> Candidate<'t> {
    let lines: Vec<&str> =
        candidate.explanation.split(['\n', '\r', '\t']).map(str::trim).filter(|line| !line.is_empty()).collect();
    Candidate { code: candidate.code, explanation: lines.join(" ").into() }
}
