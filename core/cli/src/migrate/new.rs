//! `new`: writes the next migration file, from what a topology asks for and the broker has otherwise.

use crate::broker::{self, Target, Wish};
use crate::cli::BrokerArguments;
use crate::failure::Failure;
use crate::input;
use crate::migrate::folder;
use crate::output::Report;
use acemq_core::migration::{FileName, MigrationPlan};
use acemq_core::plan::{Action, Object, Remedied, Settings, Verdict};
use acemq_core::topology::shown_name;
use clap::Args;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct NewArguments {
    /// What it does, in a few words; becomes the description in the name of the file
    pub name: String,
    /// Write a replacement for each queue that this topology document asks for and the broker has with other arguments
    #[arg(long, value_name = "TOPOLOGY")]
    pub from_plan: Option<String>,
    /// Write the file that belongs behind this one: with keep_name: true it brings the old name back, with teardown: later it
    /// takes the exchanges in between down
    #[arg(long, value_name = "FILE", conflicts_with = "from_plan")]
    pub follow_up: Option<String>,
    /// The folder of migration files
    #[arg(long, value_name = "DIR", default_value = "migrations")]
    pub dir: String,
    #[command(flatten)]
    pub broker: BrokerArguments,
}

/// Writes the file, or one for each queue, and prints the names.
pub fn new(arguments: &NewArguments) -> Result<Report, Failure> {
    let word = words(&arguments.name)?;
    let folder = Path::new(&arguments.dir);
    if let Some(first) = &arguments.follow_up {
        let path = write(folder, next_version(folder)?, &word, &follow_up(&found(first, folder), &arguments.broker)?)?;
        return Ok(Report::done(format!("{}\n", path.display())));
    }
    let Some(topology) = &arguments.from_plan else {
        let path = write(folder, next_version(folder)?, &word, &template())?;
        return Ok(Report::done(format!("{}\n", path.display())));
    };
    let mut text = String::new();
    let drifting = drifting(topology, &arguments.broker, &mut text)?;
    if drifting.is_empty() {
        text.push_str("no queue has to be replaced: nothing was written\n");
    }
    let first = next_version(folder)?;
    let several = drifting.len() > 1;
    for (version, (queue, content)) in (first..).zip(drifting) {
        let word = if several { format!("{word}_{}", file_word(&queue)) } else { word.clone() };
        let path = write(folder, version, &word, &content)?;
        let _ = writeln!(text, "{}", path.display());
    }
    Ok(Report::done(text))
}

/// A file, as `migrate run` names it: by its place, or by its name in the folder.
fn found(file: &str, folder: &Path) -> String {
    let inside = folder.join(file);
    if !Path::new(file).exists() && inside.is_file() { inside.to_string_lossy().into_owned() } else { file.to_owned() }
}

/// The file that belongs behind another one.
fn follow_up(first: &str, broker: &BrokerArguments) -> Result<String, Failure> {
    let file = folder::migration(first)?;
    let state = Target::resolve(broker, None)?.state()?;
    let plan = MigrationPlan::new(&file, &state).map_err(|error| folder::refused(first, &error))?;
    plan.follow_up.ok_or_else(|| {
        let why =
            "nothing follows this migration; that is so with keep_name: true or teardown: later among its options";
        Failure::input(format!("{}: {why}", shown_name(first)))
    })
}

/// The queues that have to be replaced, each with its file; what needs no replacement is told.
fn drifting(topology: &str, broker: &BrokerArguments, told: &mut String) -> Result<Vec<(String, String)>, Failure> {
    let tables = input::tables(topology, false)?;
    let entries = entries(topology)?;
    let wish = Wish::new(|settings: &mut Settings| settings.skip_exclusive = true);
    let plan = broker::run(Target::resolve(broker, None)?, tables, wish)?.into_plan();
    let mut files = Vec::new();
    for action in plan.actions.iter().filter(|action| action.verdict == Verdict::Drift) {
        let Object::Queue(queue) = &action.object else { continue };
        let name = &queue.name;
        let shown = shown_name(name);
        let compared: Vec<_> = action.differences.iter().filter(|difference| difference.compared).collect();
        if !compared.is_empty() && compared.iter().all(|difference| difference.remedy == Remedied::Policy) {
            let _ = writeln!(told, "queue {shown}: a policy makes this change on the live queue; acemq plan prints it");
            continue;
        }
        match entries.get(name) {
            Some(entry) => files.push((name.clone(), replacement(topology, name, entry, action))),
            None => {
                let _ = writeln!(
                    told,
                    "queue {shown}: {topology} does not declare it by itself; replace it by a file of your own"
                );
            }
        }
    }
    Ok(files)
}

/// The file that replaces a queue by what the topology asks for.
fn replacement(topology: &str, name: &str, entry: &Map<String, Json>, action: &Action) -> String {
    let new = next_name(name);
    let (shown, shown_new) = (shown_name(name), shown_name(&new));
    let mut text = format!("# Queue {shown} as {} asks for it; the broker has it otherwise:\n", shown_name(topology));
    for difference in &action.differences {
        let value = |value: &Option<acemq_core::value::Value>| {
            value.as_ref().map_or("not set".to_owned(), |value| acemq_core::topology::shown_value(value).into_owned())
        };
        let (wanted, current) = (value(&difference.wanted), value(&difference.current));
        let _ = writeln!(text, "#   {}: {wanted} is asked for, {current} is there", shown_name(&difference.argument));
    }
    let _ = write!(
        text,
        "# In the release that runs this, take the declaration of {shown} and of its bindings out of the application, and\n\
         # consume from {shown_new} as well: a client that declares the old binding when it starts brings it back.\n\
         acemq_migration: 1\nreplace:\n  queue: {}\n  with:\n    name: {}\n",
        scalar(&Json::from(name)),
        scalar(&Json::from(new.as_str()))
    );
    for (key, value) in entry.iter().filter(|(key, _)| *key != "name") {
        let _ = writeln!(text, "    {key}: {}", scalar(value));
    }
    text
}

fn template() -> String {
    "# Replaces a queue under traffic; acemq migrate plan shows the steps. In the release that runs this, take the\n\
     # declaration of the old queue and of its bindings out of the application.\n\
     acemq_migration: 1\nreplace:\n  queue: OLD\n  with: { name: OLD.v2, type: quorum }\n\
     # Unless said, these hold:\n\
     # options:\n\
     #   method: fanout          # or policy: an alternate exchange by policy; or overlap: every message of a moment comes twice\n\
     #   wait_for_consumers: 1   # consumers of the new queue, before it gets messages\n\
     #   drain: { timeout: 10m, poll: 1s, stable: 3 }   # the old queue must be empty so many times in a row\n\
     #   retire_after: 0s        # how long the old queue stays when it is empty\n\
     #   teardown: now           # or later: a file of its own takes the exchanges in between down\n\
     #   keep_name: false        # true: a second file brings the old name back\n\
     # A file may hold plain changes instead of replace and options:\n\
     # changes:\n\
     #   - declare: { queue: { name: q, type: quorum } }   # or { exchange: { name: x, type: topic } }\n\
     #   - bind: { exchange: x, queue: q, routing_key: k } # or unbind; to_exchange in place of queue\n\
     #   - policy: { name: p, pattern: ^q$, definition: { max-length: 1000 } }\n\
     #   - delete: { queue: q, guard: empty }              # or { exchange: x }\n"
        .to_owned()
}

/// The queues of a topology document as they are written there, by name.
fn entries(topology: &str) -> Result<BTreeMap<String, Map<String, Json>>, Failure> {
    let cannot = |why: String| Failure::input(format!("{}: {why}", shown_name(topology)));
    let text = String::from_utf8(input::read(topology)?).map_err(|_| cannot("the file is not UTF-8".to_owned()))?;
    // Whether it is a topology was checked before.
    let document: Json = serde_saphyr::from_str(&text).map_err(|error| cannot(error.to_string()))?;
    let mut entries = BTreeMap::new();
    match document.get("queues") {
        Some(Json::Object(queues)) => {
            for (name, entry) in queues {
                entries.insert(name.clone(), entry.as_object().cloned().unwrap_or_default());
            }
        }
        Some(Json::Array(queues)) => {
            for entry in queues {
                if let Some(name) = entry.get("name").and_then(Json::as_str) {
                    entries.insert(name.to_owned(), entry.as_object().cloned().unwrap_or_default());
                }
            }
        }
        _ => {}
    }
    Ok(entries)
}

/// `orders` becomes `orders.v2`, and that `orders.v3`.
fn next_name(name: &str) -> String {
    let numbered = name.rsplit_once(".v").and_then(|(stem, number)| Some((stem, number.parse::<u32>().ok()?)));
    match numbered {
        Some((stem, number)) => format!("{stem}.v{}", number.saturating_add(1)),
        None => format!("{name}.v2"),
    }
}

/// A value on one line of YAML; JSON is YAML, and plain words need no quotes.
fn scalar(value: &Json) -> String {
    match value {
        Json::String(text) if is_plain(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_plain(text: &str) -> bool {
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
        && !words.contains(&text.to_ascii_lowercase().as_str())
}

/// The number behind the highest version of the folder.
fn next_version(folder: &Path) -> Result<u64, Failure> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(1),
        Err(error) => return Err(Failure::input(format!("cannot read the folder {}: {error}", folder.display()))),
    };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let versions = names.filter_map(|name| FileName::parse(&name).ok()?.version.first().copied());
    Ok(versions.max().unwrap_or(0).saturating_add(1))
}

fn words(name: &str) -> Result<String, Failure> {
    let word = file_word(name);
    if word.chars().all(|c| c == '_') {
        return Err(Failure::input("say in a few words what the migration does, such as 'orders to quorum'"));
    }
    Ok(word)
}

fn file_word(text: &str) -> String {
    text.trim().chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// Writes a file that is not there yet.
fn write(folder: &Path, version: u64, word: &str, content: &str) -> Result<PathBuf, Failure> {
    let path = folder.join(format!("V{version}__{word}.yaml"));
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::File::create_new(&path))
        .and_then(|mut file| file.write_all(content.as_bytes()));
    match written {
        Ok(()) => Ok(path),
        Err(error) => Err(Failure::input(format!("cannot write {}: {error}", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acemq_core::migration::{MigrationFile, Work};
    use acemq_core::topology::Format;

    fn read(text: &str) -> Work {
        MigrationFile::parse(text, Format::Yaml).unwrap_or_else(|error| panic!("{error}\n{text}")).work
    }

    /// The lines of the template from one comment to another, without their marks.
    fn shown(from: &str, to: &str) -> String {
        let template = template();
        let (_, rest) = template.split_once(from).unwrap();
        let text = rest.split_once(to).map_or(rest, |(text, _)| text);
        format!("{from}{text}").lines().map(|line| line.trim_start_matches("# ").to_owned() + "\n").collect()
    }

    #[test]
    fn the_options_that_the_template_shows_are_those_that_hold_unless_said() {
        let said = format!("{}{}", template(), shown("# options:", "# A file"));
        assert_eq!(read(&said), read(&template()));
    }

    #[test]
    fn the_changes_that_the_template_shows_can_be_read() {
        let changes = format!("acemq_migration: 1\n{}", shown("# changes:", "\0"));
        assert!(matches!(read(&changes), Work::Changes(changes) if changes.len() == 4));
    }
}
