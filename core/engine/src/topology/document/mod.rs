//! The topology document, JSON or YAML.
//!
//! A document that is right is read once, straight into its types. Only when there is something to report is it read again
//! into a tree that knows lines and columns, so that a large document costs no more than it must.

mod foreign;
mod form;
mod json;
mod places;
mod shape;
#[cfg(test)]
mod tests;
mod tree;
mod yaml;

pub(super) use form::Document;
pub use places::DeclaredAt;

use super::Topology;
use super::compile::compile;
use super::finding::{Findings, Place};
use super::problem::{ObjectRef, Position, Problem, ProblemCode};
use super::wish::Wishes;
use form::VERSION;
use json::Lines;
use serde_saphyr::MessageFormatter;
use shape::Shape;
use tree::{Kind, Node};

/// The largest document, in bytes: 64 MiB. 100,000 queues and as many bindings take a third of it.
pub const MAX_BYTES: usize = 64 << 20;

/// How a document is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// JSON when the first character that is not blank is a brace, else YAML.
    #[default]
    Auto,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

impl Format {
    /// The format of a file with that name: `.json`, `.yaml` and `.yml` are taken at their word.
    pub fn of_file(name: &str) -> Self {
        let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        match extension.as_deref() {
            Some("json") => Self::Json,
            Some("yaml" | "yml") => Self::Yaml,
            _ => Self::Auto,
        }
    }

    fn settled(self, text: &str) -> Self {
        match self {
            Self::Auto if text.trim_start().starts_with('{') => Self::Json,
            Self::Auto => Self::Yaml,
            settled => settled,
        }
    }
}

/// Why a document cannot be read even into a tree.
enum Unreadable {
    Syntax { sentence: String, help: Option<&'static str>, at: Option<Position> },
    TooComplex { sentence: String, at: Option<Position> },
}

impl Topology {
    /// Reads a YAML document.
    ///
    /// # Errors
    /// As [`Topology::parse`].
    pub fn from_yaml(text: &str) -> Result<Self, Vec<Problem>> {
        Self::parse(text.as_bytes(), Format::Yaml)
    }

    /// Reads a JSON document.
    ///
    /// # Errors
    /// As [`Topology::parse`].
    pub fn from_json(text: &str) -> Result<Self, Vec<Problem>> {
        Self::parse(text.as_bytes(), Format::Json)
    }

    /// Reads a document of at most [`MAX_BYTES`](super::MAX_DOCUMENT_BYTES).
    ///
    /// A document that has the right shape gives a topology, whatever it asks for: [`Topology::check`] judges that.
    ///
    /// ```
    /// use acemq_core::topology::{Format, Topology};
    ///
    /// let topology = Topology::parse(b"acemq: 1\nqueues: { orders: { dead_letter: true } }", Format::Auto).unwrap();
    /// assert_eq!(topology.tables().unwrap().queues.len(), 3);
    ///
    /// let problems = Topology::parse(b"queues:\n  orders: { dead_leter: true }", Format::Yaml).unwrap_err();
    /// assert_eq!(problems[0].fields["nearest"], "dead_letter");
    /// assert_eq!(problems[0].at.unwrap().to_string(), "line 2, column 13");
    /// ```
    ///
    /// # Errors
    /// When it is no document of that format or has keys and values that the format does not have: every one of these, and
    /// every other problem and warning that can be told nevertheless.
    pub fn parse(bytes: &[u8], format: Format) -> Result<Self, Vec<Problem>> {
        let text = text_of(bytes).map_err(|problem| vec![*problem])?;
        let format = format.settled(text);
        match read(text, format) {
            Some(document) if document.acemq.unwrap_or(VERSION) == VERSION && !document.is_empty() => {
                let (tables, findings) = compile(document.into_wishes());
                let problems = placed(findings, || tree_of(text, format).ok());
                Ok(Self::new(tables, problems))
            }
            _ => diagnose(text, format),
        }
    }

    /// Reads a JSON document and settings for its queues, as a builder in another language has them: a JSON list of bodies
    /// of queues with their `name`, each of which is added to the queue of that name in the document. A name may stand in
    /// several of them, and what contradicts is a problem, as with a [`TopologyBuilder`](super::TopologyBuilder).
    ///
    /// ```
    /// use acemq_core::topology::Topology;
    ///
    /// let settings = r#"[{"name": "orders", "dead_letter": true}, {"name": "orders", "type": "classic"}]"#;
    /// let topology = Topology::parse_built(r#"{"queues": {"orders": null}}"#, settings).unwrap();
    /// assert_eq!(topology.tables().unwrap().queues.len(), 3);
    /// ```
    ///
    /// # Errors
    /// As [`Topology::parse`], for the document or else for the settings. No problem has a line.
    pub fn parse_built(document: &str, settings: &str) -> Result<Self, Vec<Problem>> {
        let settings = format!("{{\"acemq\":1,\"queues\":{settings}}}");
        let mut wishes = wishes_of(document)?;
        let queues = wishes_of(&settings)?.queues;
        wishes.settings = (queues.into_iter())
            .flat_map(|mut queue| {
                let name = std::mem::take(&mut queue.name);
                queue.into_settings().into_iter().map(move |setting| (name.clone(), setting))
            })
            .collect();
        let (tables, findings) = compile(wishes);
        Ok(Self::new(tables, findings.list.into_iter().map(|(_, problem)| problem).collect()))
    }
}

/// What a JSON document asks for.
fn wishes_of(text: &str) -> Result<Wishes, Vec<Problem>> {
    match read(text, Format::Json) {
        Some(document) if document.acemq.unwrap_or(VERSION) == VERSION && !document.is_empty() => {
            Ok(document.into_wishes())
        }
        _ => {
            let problems = match text_of(text.as_bytes()) {
                Ok(text) => diagnose(text, Format::Json).err().unwrap_or_default(),
                Err(problem) => vec![*problem],
            };
            Err(problems.into_iter().map(|problem| Problem { at: None, ..problem }).collect())
        }
    }
}

/// Reads another kind of document by the same rules: the sentence that says what is wrong, and where.
pub(crate) fn read_as<T: for<'de> serde::Deserialize<'de>>(
    text: &str,
    format: Format,
) -> Result<T, (String, Option<Position>)> {
    if text.len() > MAX_BYTES {
        return Err((format!("it has {} bytes, and at most {MAX_BYTES} are read", text.len()), None));
    }
    match format.settled(text) {
        Format::Json => serde_json::from_str(text).map_err(|error| {
            let place = u64::try_from(error.line()).ok().zip(u64::try_from(error.column()).ok());
            let at = place.filter(|(line, _)| *line > 0).map(|(line, column)| Position { line, column });
            let whole = error.to_string();
            let sentence = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(sentence, _)| sentence);
            (sentence.to_owned(), at)
        }),
        Format::Yaml | Format::Auto => yaml::read_into(text).map_err(|error| {
            let at = error.location().map(yaml::position);
            let sentence = MessageFormatter::format_message(&serde_saphyr::UserMessageFormatter, &error);
            (sentence.into_owned(), at)
        }),
    }
}

fn read(text: &str, format: Format) -> Option<Document> {
    match format {
        Format::Json => serde_json::from_str(text).ok(),
        Format::Yaml | Format::Auto => yaml::read_into(text).ok(),
    }
}

fn tree_of(text: &str, format: Format) -> Result<Node, Unreadable> {
    match format {
        Format::Json => json::read(text),
        Format::Yaml | Format::Auto => yaml::read(text),
    }
}

/// The text of a document that is not empty.
fn text_of(bytes: &[u8]) -> Result<&str, Box<Problem>> {
    let problem = |code, sentence: String, help: &str, at: Option<Position>| {
        Err(Box::new(Problem { at, ..Problem::new(code, ObjectRef::Document {}, sentence).help(help) }))
    };
    if bytes.len() > MAX_BYTES {
        let sentence = format!("the document has {} bytes, and at most {MAX_BYTES} are read", bytes.len());
        let help = "Split it into several topologies: each is planned by itself.";
        return problem(ProblemCode::DocumentTooLarge, sentence, help, None);
    }
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        let sentence = "the document is UTF-16, and UTF-8 is expected".to_owned();
        let at = Some(Position { line: 1, column: 1 });
        return problem(ProblemCode::DocumentNotUtf8, sentence, "Save the file as UTF-8.", at);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let at = std::str::from_utf8(good).map(|good| Lines::new(good).position(good.len())).ok();
            let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
            let sentence =
                format!("the document is not UTF-8: it has the byte 0x{byte:02x} where a character is expected");
            return problem(ProblemCode::DocumentNotUtf8, sentence, "Save the file as UTF-8.", at);
        }
    };
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    if text.trim().is_empty() {
        let sentence = "the document is empty, and a topology is expected".to_owned();
        let help = "Begin with acemq: 1, and exchanges, queues and bindings below it.";
        return problem(ProblemCode::DocumentEmpty, sentence, help, None);
    }
    Ok(text)
}

/// Everything that is wrong with a document that did not read.
fn diagnose(text: &str, format: Format) -> Result<Topology, Vec<Problem>> {
    let mut tree = match tree_of(text, format) {
        Ok(tree) => tree,
        Err(reason) => return Err(vec![unreadable(reason, format)]),
    };
    if matches!(tree.kind, Kind::Null) {
        let problem = Problem::new(
            ProblemCode::DocumentEmpty,
            ObjectRef::Document {},
            "the document holds nothing, and a topology is expected",
        );
        return Err(vec![problem.help("Begin with acemq: 1, and exchanges, queues and bindings below it.")]);
    }
    if let Some(problem) = foreign::recognise(&tree) {
        return Err(vec![problem]);
    }
    if let Some(problem) = other_version(&tree) {
        return Err(vec![problem]);
    }
    let schema = Topology::schema();
    let mut shape = Shape::new(&schema, format != Format::Json);
    shape.document(&mut tree, &schema);
    let Shape { mut problems, tainted, .. } = shape;
    match serde_json::from_str::<Document>(&tree.to_json()) {
        Ok(document) => {
            let (tables, mut findings) = compile(document.into_wishes());
            if problems.is_empty() {
                // Only the first, stricter reading had something against it.
                return Ok(Topology::new(tables, placed(findings, || Some(tree))));
            }
            findings.list.retain(|(place, problem)| {
                let entry = place.as_ref().map(|place| (place.section, place.index));
                !entry.is_some_and(|entry| tainted.contains(&entry)) && !may_follow(problem.code)
            });
            problems.extend(placed(findings, || Some(tree)));
            problems.sort_by_key(|problem| problem.at);
        }
        Err(error) if problems.is_empty() => {
            let sentence =
                format!("the document does not have the shape of a topology: {}", tree::short(&error.to_string()));
            problems.push(
                Problem::new(ProblemCode::WrongValue, ObjectRef::Document {}, sentence)
                    .help("Compare it with the JSON Schema of the format."),
            );
        }
        Err(_) => {}
    }
    Err(problems)
}

/// Whether a problem may be no more than the consequence of something that was taken out.
fn may_follow(code: ProblemCode) -> bool {
    matches!(
        code,
        ProblemCode::BindingQueueUndeclared
            | ProblemCode::BindingExchangeUndeclared
            | ProblemCode::DeadLetterExchangeUndeclared
            | ProblemCode::AlternateExchangeUndeclared
    )
}

fn other_version(root: &Node) -> Option<Problem> {
    let version = root.entry("acemq")?;
    match &version.value.kind {
        Kind::Number { json, .. } if json.parse() == Ok(VERSION) => return None,
        Kind::Number { .. } => {}
        // Whatever else it is, its shape is wrong, and that is reported with everything else.
        _ => return None,
    }
    let Kind::Number { written: found, .. } = &version.value.kind else { return None };
    let sentence =
        format!("the document has format version {}, and this engine reads version {VERSION}", tree::short(found));
    let problem = Problem::new(ProblemCode::DocumentVersion, ObjectRef::Document {}, sentence)
        .field("found", found.as_str())
        .field("expected", VERSION)
        .help("Use a newer acemq, or write acemq: 1 and what that version has.");
    Some(Problem { at: Some(version.value.at), ..problem })
}

fn unreadable(reason: Unreadable, format: Format) -> Problem {
    let name = if format == Format::Json { "JSON" } else { "YAML" };
    let (code, sentence, help, at) = match reason {
        Unreadable::Syntax { sentence, help, at } => {
            let sentence = format!("the document cannot be read as {name}: {}", tree::short(&sentence));
            let help = help.map_or_else(|| format!("Correct the {name} at that place."), str::to_owned);
            (ProblemCode::DocumentSyntax, sentence, help, at)
        }
        Unreadable::TooComplex { sentence, at } => {
            let sentence = format!("the document is more complex than any topology: {sentence}");
            let help = "Write it without deep nesting and with few aliases.".to_owned();
            (ProblemCode::DocumentTooComplex, sentence, help, at)
        }
    };
    Problem { at, ..Problem::new(code, ObjectRef::Document {}, sentence).help(help) }
}

/// The problems with their lines and columns, in the document's order. The tree is asked for only when it is needed.
fn placed(findings: Findings, tree: impl FnOnce() -> Option<Node>) -> Vec<Problem> {
    if findings.list.is_empty() {
        return Vec::new();
    }
    let tree = tree();
    let mut problems: Vec<Problem> = findings
        .list
        .into_iter()
        .map(|(place, problem)| {
            let at = tree.as_ref().zip(place).and_then(|(tree, place)| locate(tree, &place));
            Problem { at, ..problem }
        })
        .collect();
    problems.sort_by_key(|problem| problem.at);
    problems
}

/// The nearest place that is written down for `place`.
fn locate(root: &Node, place: &Place) -> Option<Position> {
    let section = root.entry(place.section.key())?;
    let (mut at, mut node) = match &section.value.kind {
        Kind::List(items) => items.get(place.index).map(|item| (item.at, item)),
        Kind::Mapping(entries) => entries.get(place.index).map(|entry| (entry.key_at, &entry.value)),
        _ => None,
    }
    .unwrap_or((section.key_at, &section.value));
    for key in &place.keys {
        let Some(next) = node.get(key) else { break };
        (at, node) = (next.at, next);
    }
    Some(at)
}
