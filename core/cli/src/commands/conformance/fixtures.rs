//! Where fixtures come from: the ones inside the command, or files that are named.

use crate::failure::Failure;
use acemq_core::api::{Case, Index, Suite};
use acemq_core::topology::shown_name;
use serde::Serialize;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Every file of `conformance/` that a library needs, by its path there.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/fixtures.rs"));

/// Suites that are to be run.
pub struct Fixtures {
    suites: Vec<Suite>,
    /// From the index; the engine's own where there is none.
    spec_version: u32,
}

/// `acemq.conformance-list/1`
#[derive(Serialize)]
pub struct Listed<'a> {
    format: &'static str,
    spec_version: u32,
    cases: usize,
    suites: Vec<ListedSuite<'a>>,
}

#[derive(Serialize)]
struct ListedSuite<'a> {
    suite: &'a str,
    operation: &'a str,
    cases: usize,
    derivation: &'a str,
}

impl Fixtures {
    /// The fixtures inside the command; or those of a folder with an index, of an index, or of one suite.
    pub fn read(from: Option<&str>) -> Result<Self, Failure> {
        let Some(from) = from else {
            let inside = |file: &str| {
                let found = FILES.iter().find(|(name, _)| *name == file);
                found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "it is not inside the command".to_owned())
            };
            return Self::of_index("index.json", inside);
        };
        let path = Path::new(from);
        let path = if path.is_dir() { path.join("index.json") } else { path.to_owned() };
        let text = fs::read_to_string(&path).map_err(|error| {
            Failure::input(format!(
                "cannot read {}: {error}; name a folder with an index.json, or one suite",
                shown(&path)
            ))
        })?;
        if text.contains("acemq.conformance-index/") {
            let folder = path.parent().map(Path::to_owned).unwrap_or_default();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            return Self::of_index(&name, |file| {
                fs::read_to_string(folder.join(file)).map_err(|error| error.to_string())
            });
        }
        Ok(Self { suites: vec![suite(&shown(&path), &text)?], spec_version: acemq_core::api::CONFORMANCE_VERSION })
    }

    fn of_index(name: &str, read: impl Fn(&str) -> Result<String, String>) -> Result<Self, Failure> {
        let text = read(name).map_err(|why| Failure::input(format!("cannot read {}: {why}", shown_name(name))))?;
        let index: Index = serde_json::from_str(&text).map_err(|error| {
            Failure::input(format!("{} is no index of fixtures, acemq.conformance-index/1: {error}", shown_name(name)))
        })?;
        let mut suites = Vec::new();
        for entry in &index.suites {
            let file = shown_name(&entry.file).into_owned();
            let text = read(&entry.file).map_err(|why| Failure::input(format!("cannot read {file}: {why}")))?;
            let suite = suite(&file, &text)?;
            if suite.cases.len() != entry.cases {
                let (found, said) = (suite.cases.len(), entry.cases);
                return Err(Failure::input(format!(
                    "{file} has {found} cases, and the index says {said}; one is stale"
                )));
            }
            suites.push(suite);
        }
        Ok(Self { suites, spec_version: index.spec_version })
    }

    /// Leaves only these suites and cases, where any are named.
    pub fn keep(&mut self, suites: &[String], cases: &[String]) -> Result<(), Failure> {
        if let Some(unknown) = suites.iter().find(|name| self.suites.iter().all(|suite| suite.suite != **name)) {
            let known: Vec<&str> = self.suites.iter().map(|suite| suite.suite.as_str()).collect();
            let sentence = format!("there is no suite \"{}\"; there are {}", shown_name(unknown), known.join(", "));
            return Err(Failure::input(sentence));
        }
        if let Some(unknown) = cases.iter().find(|id| self.cases().all(|(_, case)| case.id != **id)) {
            let sentence =
                format!("there is no case \"{}\"; acemq conformance export writes them all", shown_name(unknown));
            return Err(Failure::input(sentence));
        }
        if !suites.is_empty() {
            self.suites.retain(|suite| suites.contains(&suite.suite));
        }
        if !cases.is_empty() {
            for suite in &mut self.suites {
                suite.cases.retain(|case| cases.contains(&case.id));
            }
            self.suites.retain(|suite| !suite.cases.is_empty());
        }
        Ok(())
    }

    /// The suites.
    pub fn suites(&self) -> &[Suite] {
        &self.suites
    }

    /// Which version of the expectations these are.
    pub fn spec_version(&self) -> u32 {
        self.spec_version
    }

    /// Every case with its operation.
    pub fn cases(&self) -> impl Iterator<Item = (&str, &Case)> {
        self.suites.iter().flat_map(|suite| suite.cases.iter().map(|case| (suite.operation.as_str(), case)))
    }

    /// As a document.
    pub fn listed(&self) -> Listed<'_> {
        let suites = self.suites.iter().map(|suite| ListedSuite {
            suite: &suite.suite,
            operation: &suite.operation,
            cases: suite.cases.len(),
            derivation: &suite.derivation,
        });
        Listed {
            format: "acemq.conformance-list/1",
            spec_version: self.spec_version,
            cases: self.cases().count(),
            suites: suites.collect(),
        }
    }

    /// One line a suite: cases, name, operation.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let width = self.suites.iter().map(|suite| suite.suite.len()).max().unwrap_or_default();
        for suite in &self.suites {
            let _ = writeln!(out, "{:>5}  {:<width$}  {}", suite.cases.len(), suite.suite, suite.operation);
        }
        let _ = writeln!(out, "{:>5}  cases of version {}", self.cases().count(), self.spec_version);
        out
    }
}

fn suite(file: &str, text: &str) -> Result<Suite, Failure> {
    serde_json::from_str(text).map_err(|error| {
        Failure::input(format!(
            "{file} is no suite of fixtures, acemq.conformance/1: {error}; acemq conformance export writes such files"
        ))
    })
}

fn shown(path: &Path) -> String {
    shown_name(&path.to_string_lossy()).into_owned()
}

/// Writes every file into `folder`, which is made where it is missing. Gives how many there are.
pub fn export(folder: &str) -> Result<usize, Failure> {
    let failed = |path: &Path, error: std::io::Error| Failure::input(format!("cannot write {}: {error}", shown(path)));
    for (name, text) in FILES {
        let path: PathBuf = Path::new(folder).join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        }
        fs::write(&path, text).map_err(|error| failed(&path, error))?;
    }
    Ok(FILES.len())
}
