//! The findings as SARIF 2.1.0, which code scanning services and editors read.
//!
//! A rule is a code of the table of findings; a result names its object, and the place that declares it where the audited
//! text is known. The fingerprint of a finding keeps a result the same when lines move.

use super::Report;
use super::codes::{Code, Severity};
use super::finding::{Finding, ObjectKind, quoted};
use crate::topology::Position;
use serde::Serialize;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Where the schema of SARIF 2.1.0 is published; nothing reads it from there.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The kind of fingerprint that code scanning on GitHub compares.
const LINE_HASH: &str = "primaryLocationLineHash";
const FINGERPRINT: &str = "acemqFinding/v1";

#[derive(Serialize)]
struct Log<'a> {
    version: &'static str,
    #[serde(rename = "$schema")]
    schema: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool,
    automation_details: Automation,
    invocations: [Invocation<'a>; 1],
    /// Columns count characters, not UTF-16 units.
    column_kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<Artifact>,
    results: Vec<Outcome<'a>>,
    properties: BTreeMap<&'static str, Json>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Message,
    full_description: Message,
    help: Help,
    default_configuration: Configuration,
    properties: RuleProperties,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
struct Help {
    text: String,
    markdown: String,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct RuleProperties {
    tags: [&'static str; 2],
    versions: &'static str,
    #[serde(rename = "problem.severity")]
    severity: &'static str,
}

/// A category for each vhost or set of vhosts, so that audits of several do not replace each other.
#[derive(Serialize)]
struct Automation {
    id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation<'a> {
    execution_successful: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_execution_notifications: Vec<Notification<'a>>,
}

#[derive(Serialize)]
struct Notification<'a> {
    level: &'static str,
    message: NotificationText<'a>,
}

#[derive(Serialize)]
struct NotificationText<'a> {
    text: &'a str,
}

#[derive(Serialize)]
struct Artifact {
    location: ArtifactLocation,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: [Location<'a>; 1],
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline_state: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<SuppressionMark<'a>>,
}

#[derive(Serialize)]
struct SuppressionMark<'a> {
    kind: &'static str,
    status: &'static str,
    justification: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    physical_location: Option<PhysicalLocation>,
    logical_locations: [LogicalLocation<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation<'a> {
    name: &'a str,
    fully_qualified_name: String,
    kind: &'static str,
}

impl Report {
    /// SARIF 2.1.0, indented, the last line ended.
    pub fn to_sarif(&self) -> String {
        let run = run(encoded(&self.vhost, ""), &[self], &[], false);
        text_of(run, ("vhost", Json::from(self.vhost.as_str())))
    }

    /// What is mended is not listed as `absent`: who does not know baselines would take it for a finding.
    fn results(&self, names_vhost: bool) -> impl Iterator<Item = Outcome<'_>> {
        let uri = self.file.as_deref().map(uri_of);
        (self.findings.iter().map(|finding| (finding, None)))
            .chain(self.suppressed.iter().map(|suppressed| (&suppressed.finding, Some(suppressed.reason.as_str()))))
            .map(move |(finding, reason)| Outcome {
                baseline_state: self.compared.then_some(if finding.known { "unchanged" } else { "new" }),
                suppressions: reason.into_iter().map(suppressed).collect(),
                ..result(finding, uri.as_deref(), names_vhost)
            })
    }
}

/// The audits of several vhosts as one log with one run, SARIF 2.1.0: services take few runs of one log.
///
/// `patterns` are those that chose the vhosts; they make the category, which so stays the same when vhosts come and go.
/// `failed` says of which vhosts nothing is known, and why.
pub fn sarif_of(patterns: &[String], reports: &[&Report], failed: &[String]) -> String {
    let category: Vec<String> = patterns.iter().map(|pattern| encoded(pattern, "*")).collect();
    let vhosts: Vec<&str> = reports.iter().map(|report| report.vhost.as_str()).collect();
    text_of(run(category.join(","), reports, failed, true), ("vhosts", Json::from(vhosts)))
}

fn text_of<'a>(mut run: Run<'a>, (property, vhosts): (&'static str, Json)) -> String {
    run.properties.insert(property, vhosts);
    let log = Log { version: "2.1.0", schema: SCHEMA, runs: [run] };
    let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
    text.push('\n');
    text
}

/// One run; where it is of several vhosts, each message names its own.
fn run<'a>(category: String, reports: &[&'a Report], failed: &'a [String], several: bool) -> Run<'a> {
    let files: BTreeSet<&str> = reports.iter().filter_map(|report| report.file.as_deref()).collect();
    let artifact = |file| Artifact { location: ArtifactLocation { uri: uri_of(file) } };
    let first = reports.first();
    let versions = [
        ("rabbitmq", first.and_then(|report| report.broker.version)),
        ("target", first.and_then(|report| report.target)),
    ];
    let notification = |text| Notification { level: "error", message: NotificationText { text } };
    Run {
        tool: Tool {
            driver: Driver {
                name: "acemq",
                semantic_version: env!("CARGO_PKG_VERSION"),
                rules: Code::ALL.iter().map(|code| rule(*code)).collect(),
            },
        },
        automation_details: Automation { id: format!("acemq-audit/{category}/") },
        invocations: [Invocation {
            execution_successful: failed.is_empty(),
            tool_execution_notifications: failed.iter().map(|text| notification(text)).collect(),
        }],
        column_kind: "unicodeCodePoints",
        artifacts: files.into_iter().map(artifact).collect(),
        results: reports.iter().flat_map(|report| report.results(several)).collect(),
        properties: versions
            .into_iter()
            .filter_map(|(name, version)| Some((name, Json::from(version?.to_string()))))
            .collect(),
    }
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn rule(code: Code) -> Rule {
    let about = code.about();
    let text = format!("{}\n\n{}\nVersions: {}\nExample: {}", about.why, about.fix, about.versions, about.example);
    let markdown = format!(
        "{}\n\n**Fix:** {}\n\n**Versions:** {}\n\n**Example:**\n\n    {}\n",
        about.why, about.fix, about.versions, about.example
    );
    Rule {
        id: about.code,
        short_description: Message { text: about.condition.to_owned() },
        full_description: Message { text: about.why.to_owned() },
        help: Help { text, markdown },
        default_configuration: Configuration { level: level(about.severity) },
        properties: RuleProperties {
            tags: ["rabbitmq", "topology"],
            versions: about.versions,
            severity: match about.severity {
                Severity::Info => "recommendation",
                other => level(other),
            },
        },
    }
}

fn result<'a>(finding: &'a Finding, uri: Option<&str>, names_vhost: bool) -> Outcome<'a> {
    let mut text = match names_vhost {
        true => format!("Vhost {}: {}", quoted(&finding.object.vhost), finding.message.trim_end_matches('.')) + ".",
        false => sentence(&finding.message),
    };
    if let Some(example) = &finding.example {
        let _ = write!(text, " Example: {}", sentence(&example.happens));
    }
    let _ = write!(text, " Fix: {}", sentence(&finding.fix));
    let object = &finding.object;
    let fingerprint = finding.fingerprint.as_str();
    Outcome {
        rule_id: finding.code.as_str(),
        rule_index: Code::ALL.iter().position(|code| *code == finding.code).unwrap_or_default(),
        level: level(finding.severity),
        message: Message { text },
        locations: [Location {
            physical_location: uri.map(|uri| PhysicalLocation {
                artifact_location: ArtifactLocation { uri: uri.to_owned() },
                region: region(finding.at),
            }),
            logical_locations: [LogicalLocation {
                name: &object.name,
                fully_qualified_name: format!("{}/{}/{}", object.vhost, object.kind.word(false), object.name),
                kind: kind(object.kind),
            }],
        }],
        partial_fingerprints: BTreeMap::from([
            (FINGERPRINT, fingerprint.to_owned()),
            (LINE_HASH, format!("{fingerprint}:1")),
        ]),
        baseline_state: None,
        suppressions: Vec::new(),
    }
}

const fn suppressed(reason: &str) -> SuppressionMark<'_> {
    SuppressionMark { kind: "inSource", status: "accepted", justification: reason }
}

/// The object's declaration, else the beginning of the file: whoever shows annotations needs a line.
fn region(at: Option<Position>) -> Region {
    match at {
        Some(at) => Region { start_line: at.line, start_column: Some(at.column) },
        None => Region { start_line: 1, start_column: None },
    }
}

/// SARIF's own kinds are those of programs; it takes others.
const fn kind(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Exchange => "exchange",
        ObjectKind::Queue => "queue",
        ObjectKind::Binding => "binding",
        ObjectKind::Policy => "policy",
        ObjectKind::OperatorPolicy => "operatorPolicy",
        ObjectKind::Parameter => "parameter",
        ObjectKind::Suppression => "suppression",
    }
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut chars = text.trim_end_matches('.').chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

/// A path as a relative reference, or as a file: URI where it begins at the root.
fn uri_of(path: &str) -> String {
    let path = path.replace('\\', "/");
    let drive = path.as_bytes().get(1) == Some(&b':');
    let relative = path.strip_prefix("./").unwrap_or(&path);
    match (path.starts_with('/'), drive) {
        (true, _) => format!("file://{}", encoded(&path, "/")),
        (false, true) => format!("file:///{}", encoded(&path, "/:")),
        (false, false) => encoded(relative, "/"),
    }
}

/// Percent-encoded, but for unreserved characters (RFC 3986) and those of `kept`.
fn encoded(text: &str, kept: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || "-._~".contains(c) || (c.is_ascii() && kept.contains(c)) {
            out.push(c);
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
