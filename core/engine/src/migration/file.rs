//! A migration file: which queue is replaced by what, and how.
//!
//! The checksum is over the lines, so a byte order mark, the kind of line ends and blank lines at the end do not count. The
//! name carries version and description, `V42__orders_to_quorum.yaml`; versions are numbers joined by dots and compare as such.

use super::change::Change;
use super::error::MigrationError;
use super::options::{Options, OptionsDocument, Teardown};
use crate::name::{nearest, quoted};
use crate::topology::{Format, Problem, Tables, Topology, read_as};
use crate::value::fingerprint;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::fmt;

/// The format version that this engine reads.
const VERSION: i64 = 1;

/// A migration as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct MigrationFile {
    /// What it does.
    pub work: Work,
    /// SHA-256 over the lines, in lower-case hexadecimal.
    pub checksum: String,
}

/// What a migration does.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// A queue is replaced by another one under traffic.
    Replace(Box<Replacement>),
    /// Plain changes, one after the other.
    Changes(Vec<Change>),
}

/// A queue and what takes its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Replacement {
    /// The queue that is replaced.
    pub old: String,
    /// The name of the queue that takes its place.
    pub new: String,
    /// That queue as the file describes it.
    pub with: Json,
    /// That queue and what belongs to it, as it goes over the wire.
    pub tables: Tables,
    /// How.
    pub options: Options,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    acemq_migration: Option<i64>,
    replace: Option<ReplaceDocument>,
    changes: Option<Vec<Json>>,
    options: Option<OptionsDocument>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplaceDocument {
    queue: String,
    with: Json,
}

impl MigrationFile {
    /// Reads a migration.
    ///
    /// ```
    /// use acemq_core::migration::{MigrationFile, Work};
    /// use acemq_core::topology::Format;
    ///
    /// let text = "acemq_migration: 1\nreplace: { queue: orders, with: { name: orders.v2, dead_letter: true } }";
    /// let file = MigrationFile::parse(text, Format::Yaml).unwrap();
    /// assert!(matches!(file.work, Work::Replace(replacement) if replacement.new == "orders.v2"));
    ///
    /// let misspelt = text.to_owned() + "\noptions: { metod: overlap }";
    /// let error = MigrationFile::parse(&misspelt, Format::Yaml).unwrap_err();
    /// assert_eq!((error.code, &error.fields["nearest"]), ("migration_option_unknown", &"method".into()));
    /// ```
    ///
    /// # Errors
    /// When it cannot be read, has keys or values that the format does not have, or asks for a queue that cannot be.
    pub fn parse(text: &str, format: Format) -> Result<Self, MigrationError> {
        let whole = text;
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let document: Document = read_as(text, format).map_err(|(sentence, at)| unreadable(&sentence, at))?;
        match document.acemq_migration {
            Some(VERSION) => {}
            Some(other) => {
                let message = format!("the file has format version {other}, and this engine reads version {VERSION}");
                return Err(MigrationError::new(
                    "migration_format",
                    message,
                    "use a newer acemq, or write acemq_migration: 1",
                )
                .with("found", other));
            }
            None => {
                let message = "the file does not say acemq_migration: 1";
                let help = "begin it with acemq_migration: 1, and replace or changes below it";
                return Err(MigrationError::new("migration_format", message, help));
            }
        }
        let work = match (document.replace, document.changes, document.options) {
            (Some(replace), None, options) => Work::Replace(Box::new(Replacement::read(replace, options)?)),
            (None, Some(changes), None) => Work::Changes(Change::read_all(&changes)?),
            (None, Some(_), Some(_)) => {
                let message = "the file has options beside changes, which have none";
                return Err(MigrationError::new("migration_shape", message, "take the options out"));
            }
            (Some(_), Some(_), _) => {
                let message = "the file has both replace and changes";
                return Err(MigrationError::new("migration_shape", message, "write two files, one for each"));
            }
            (None, None, _) => {
                let message = "the file has neither replace nor changes";
                let help = "write replace: { queue: OLD, with: { name: NEW, … } }, or changes: [ … ]";
                return Err(MigrationError::new("migration_shape", message, help));
            }
        };
        Ok(Self { work, checksum: checksum(whole) })
    }

    /// Whether another file belongs behind this one, which a plan then has as its
    /// [`follow_up`](super::MigrationPlan::follow_up).
    pub fn has_follow_up(&self) -> bool {
        let Work::Replace(replacement) = &self.work else { return false };
        replacement.options.keep_name || replacement.options.teardown == Teardown::Later
    }
}

impl Replacement {
    fn read(document: ReplaceDocument, options: Option<OptionsDocument>) -> Result<Self, MigrationError> {
        let options = Options::read(options.unwrap_or_default())?;
        let topology = json!({ "acemq": 1, "queues": [&document.with] }).to_string();
        let tables = Topology::parse(topology.as_bytes(), Format::Json)
            .and_then(Topology::into_tables)
            .map_err(|problems| wrong_queue(&problems))?;
        let new = tables.queues.first().map(|queue| queue.declaration.name.clone()).unwrap_or_default();
        if new == document.queue {
            let message = format!("queue {} is to be replaced by one of the same name", quoted(&new));
            let help =
                "give the new queue another name; with keep_name: true a second migration brings the old name back";
            return Err(MigrationError::new("migration_queue", message, help).with("queue", new));
        }
        Ok(Self { old: document.queue, new, with: document.with, tables, options })
    }
}

/// The first thing that is wrong with the new queue.
fn wrong_queue(problems: &[Problem]) -> MigrationError {
    let problem = problems.iter().find(|problem| problem.is_error()).or(problems.first());
    let (message, help) = problem.map_or_else(
        || ("it cannot be read".to_owned(), "describe it as in a topology document".to_owned()),
        |problem| {
            let message = problem.message.strip_prefix("acemq: ").unwrap_or(&problem.message).to_owned();
            (message, problem.help.trim_end_matches('.').to_owned())
        },
    );
    let code = problem.map_or("", |problem| problem.code.as_str());
    MigrationError::new("migration_queue", format!("the new queue: {message}"), help).with("problem", code)
}

/// A sentence of the reader; an unknown key is answered with the nearest known one.
fn unreadable(sentence: &str, at: Option<crate::topology::Position>) -> MigrationError {
    let unknown = sentence.split_once("unknown field `").and_then(|(_, rest)| rest.split_once('`'));
    let error = match unknown {
        Some((unknown, rest)) => {
            let words = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let known: Vec<&str> = words.filter(|word| !["", "expected", "one", "of", "or"].contains(word)).collect();
            let near = nearest(unknown, known.iter().copied()).unwrap_or_default();
            let message = format!("a migration has no key {} there", quoted(unknown));
            let help = format!("did you mean {near}? There are {}", known.join(", "));
            MigrationError::new("migration_option_unknown", message, help).with("key", unknown).with("nearest", near)
        }
        None => {
            let message = format!("the file cannot be read: {sentence}");
            MigrationError::new("migration_syntax", message, "correct it at that place")
        }
    };
    MigrationError { at, ..error }
}

/// What stays the same when only line ends do not.
fn checksum(text: &str) -> String {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    fingerprint(text.trim_end_matches('\n').as_bytes())
}

/// Version and description, as the name of a file says them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileName {
    /// The numbers of the version; later ones decide only where earlier ones are equal.
    pub version: Vec<u64>,
    /// The rest of the name, with blanks for underscores.
    pub description: String,
}

impl FileName {
    /// Reads the name of a file, without folders.
    ///
    /// ```
    /// use acemq_core::migration::FileName;
    ///
    /// let name = FileName::parse("V42.1__orders_to_quorum.yaml").unwrap();
    /// assert_eq!((name.version_text().as_str(), name.description.as_str()), ("42.1", "orders to quorum"));
    /// ```
    ///
    /// # Errors
    /// When it is not `V`, a version, two underscores, a description, and `.yaml`, `.yml` or `.json`.
    pub fn parse(name: &str) -> Result<Self, MigrationError> {
        let error = || {
            let message = format!("{} is not the name of a migration", quoted(name));
            let help =
                "name it V, a number, two underscores, a description and .yaml, as in V42__orders_to_quorum.yaml";
            MigrationError::new("migration_name", message, help).with("file", name)
        };
        let stem = [".yaml", ".yml", ".json"].iter().find_map(|end| name.strip_suffix(end)).ok_or_else(error)?;
        let (version, description) = stem.strip_prefix('V').and_then(|rest| rest.split_once("__")).ok_or_else(error)?;
        let version = Self::parse_version(version).ok_or_else(error)?;
        Ok(Self { version, description: description.replace('_', " ") })
    }

    /// Reads a version: numbers joined by dots, of which zeros at the end do not count.
    pub fn parse_version(text: &str) -> Option<Vec<u64>> {
        let mut numbers = text
            .split('.')
            .map(|number| number.parse::<u64>().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit())))
            .collect::<Option<Vec<u64>>>()?;
        while numbers.len() > 1 && numbers.last() == Some(&0) {
            numbers.pop();
        }
        Some(numbers)
    }

    /// The version as text.
    pub fn version_text(&self) -> String {
        self.version.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "V{} {}", self.version_text(), self.description)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "acemq_migration: 1\nreplace:\n  queue: a\n  with: { name: b }\n";

    #[test]
    fn what_is_no_yaml_of_one_migration_is_refused_in_the_words_of_the_file() {
        let text = "acemq_migration: 1\nreplace: { queue: old, with: { name: new } }\n";
        let cases = [
            (format!("{text}{text}"), "duplicate mapping key `acemq_migration` is not allowed here"),
            (format!("{text}---\n{text}"), "only single YAML document expected but multiple found"),
            (text.replace("old", ""), "null is not allowed here"),
        ];
        for (text, why) in cases {
            let error = MigrationFile::parse(&text, Format::Yaml).unwrap_err();
            assert_eq!(error.message, format!("the file cannot be read: {why}"));
        }
    }

    #[test]
    fn line_ends_a_mark_and_a_last_newline_do_not_change_the_checksum() {
        let plain = MigrationFile::parse(TEXT, Format::Yaml).unwrap();
        for text in [TEXT.replace('\n', "\r\n"), format!("\u{FEFF}{TEXT}"), TEXT.trim_end().to_owned()] {
            assert_eq!(MigrationFile::parse(&text, Format::Yaml).unwrap().checksum, plain.checksum, "{text:?}");
        }
        let other = TEXT.replace("queue: a", "queue: c");
        assert_ne!(MigrationFile::parse(&other, Format::Yaml).unwrap().checksum, plain.checksum);
        // printf '%s' "$text" | sha256sum, without the last newline
        assert_eq!(plain.checksum, "f309f34a177baabaeb6dff1378c5ffc7a052da409b2ea2e91436db7f4c53cda5");
    }

    #[test]
    fn versions_compare_as_numbers() {
        let version = |name: &str| FileName::parse(name).unwrap().version;
        assert!(version("V9__a.yaml") < version("V10__a.yaml"));
        assert!(version("V1.2__a.yaml") < version("V1.10__a.yml"));
        assert_eq!(version("V1.0__a.yaml"), version("V1__b.json"));
        assert_eq!(version("V007__a.yaml"), [7]);
        for wrong in
            ["42__a.yaml", "V__a.yaml", "V1_a.yaml", "V1__a.txt", "V1.x__a.yaml", "V+1__a.yaml", "V1..2__a.yaml"]
        {
            assert_eq!(FileName::parse(wrong).unwrap_err().code, "migration_name", "{wrong}");
        }
    }

    #[test]
    fn what_is_wrong_is_one_sentence_with_the_way_out() {
        let head = "acemq_migration: 1\n";
        for (text, code, part) in [
            (
                "replace: { queue: a, with: { name: b } }".to_owned(),
                "migration_format",
                "begin it with acemq_migration: 1",
            ),
            ("acemq_migration: 2\n".to_owned(), "migration_format", "this engine reads version 1"),
            (head.to_owned(), "migration_shape", "neither replace nor changes"),
            (format!("{head}changes: [{{ delete: {{ queue: '' }} }}]"), "migration_shape", "an empty name"),
            (
                format!("{head}changes: [{{ bind: {{ exchange: x, queue: '' }} }}]"),
                "migration_shape",
                "leads to an empty name",
            ),
            (
                format!("{head}changes: [{{ bind: {{ exchange: x, queue: q, key: k }} }}]"),
                "migration_shape",
                "with the keys that a file of acemq migrate new shows",
            ),
            (
                format!("{head}replace: {{ queue: a, with: {{ name: b }} }}\nchanges: []"),
                "migration_shape",
                "two files",
            ),
            (format!("{head}replace: {{ queue: a, with: {{ name: a }} }}"), "migration_queue", "keep_name"),
            (format!("{head}replace: {{ queue: a, with: {{ name: b, tipe: quorum }} }}"), "migration_queue", "tipe"),
            (format!("{head}replace: {{ queue: a }}"), "migration_syntax", "with"),
            (
                format!("{head}replace: {{ queue: a, with: {{ name: b }} }}\noptions: {{ drain: {{ tmeout: 5s }} }}"),
                "migration_option_unknown",
                "did you mean timeout?",
            ),
            (
                format!("{head}replace: {{ queue: a, with: {{ name: b }} }}\noptions: {{ method: fan }}"),
                "migration_option_value",
                "fanout, overlap or policy",
            ),
            (
                format!("{head}replace: {{ queue: a, with: {{ name: b }} }}\noptions: {{ drain: {{ timeout: 10 }} }}"),
                "migration_option_value",
                "10m",
            ),
            (format!("{head}replace: [}}"), "migration_syntax", "cannot be read"),
        ] {
            let error = MigrationFile::parse(&text, Format::Yaml).unwrap_err();
            assert_eq!(error.code, code, "{text}: {error}");
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }
}
