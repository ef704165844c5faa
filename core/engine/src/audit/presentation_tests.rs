//! What stays of a finding when it is shown elsewhere: fingerprint, place, SARIF.

use super::{Baseline, BaselineError, Code, Finding, Options, Report, Severity, Telling, audit};
use crate::definitions::{self, Overrides};
use crate::rabbitmq::{Broker, Version};
use crate::state::State;
use crate::topology::{DeclaredAt, Format, Topology};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

const DOCUMENT: &str = "\
queues:
  orders: { dead_letter: true, dead_letter_to: ~ }
  shipping:
    arguments: { x-max-length: 10 }
    dead_letter_to: nobody
  bounded: { arguments: { x-dead-letter-exchange: '', x-dead-letter-routing-key: orders.dlq } }
exchanges:
  events: { type: topic }
bindings:
  - { exchange: events, queue: orders, routing_key: '#' }
  - { exchange: events, queue: orders, routing_key: a.b }
policies:
  nothing: { pattern: ^none$, definition: { max-length: 1 } }
  limits: { pattern: '.dlq$', definition: { max-length: 100 } }
";

fn of_document(text: &str) -> Report {
    let tables = Topology::from_yaml(text).unwrap().into_tables().unwrap();
    let state = State::of_tables(Broker::rabbitmq(Version::new(4, 0, 5)), "/", None, &tables);
    let options = Options { partial: true, suppress: tables.suppressions.clone(), ..Options::default() };
    let mut report = audit(&state, &options);
    let declared = DeclaredAt::of_document(text.as_bytes(), Format::Yaml).unwrap();
    report.locate(Some("topology/orders v1.yaml"), &declared.with_derived(&tables));
    report
}

fn place(report: &Report, code: Code, name: &str) -> (u64, u64) {
    let found: Vec<&Finding> =
        report.findings.iter().filter(|finding| finding.code == code && finding.object.name == name).collect();
    assert_eq!(found.len(), 1, "{code} {name}: {:?}", report.findings);
    let at = found[0].at.unwrap();
    (at.line, at.column)
}

#[test]
fn findings_name_the_declaration_in_a_document() {
    let report = of_document(DOCUMENT);
    assert_eq!(place(&report, Code::DeadLetterExchangeMissing, "shipping"), (3, 3));
    assert_eq!(place(&report, Code::BindingRedundant, "events -> orders (a.b)"), (11, 5));
    assert_eq!(place(&report, Code::PolicyMatchesNothing, "nothing"), (13, 3));
    // What follows from a queue stands where the queue does.
    assert_eq!(place(&report, Code::DeadLetterQueueBounded, "orders.dlq"), (2, 3));
}

#[test]
fn findings_name_the_declaration_in_an_export() {
    let text = "{\n \"rabbitmq_version\": \"4.0.5\",\n \"vhosts\": [{\"name\": \"/\"}],\n \"queues\": [\n  {\"name\": \"é\", \"vhost\": \"/\", \"durable\": true, \"auto_delete\": false, \"arguments\": {}}, {\"name\": \"lost\", \"vhost\": \"/\", \"durable\": true, \"auto_delete\": false, \"arguments\": {\"x-dead-letter-exchange\": \"nobody\"}}],\n \"exchanges\": [], \"bindings\": [], \"policies\": []\n}";
    let definitions = definitions::read(text.as_bytes()).unwrap();
    let mut report = audit(&definitions.state(None, &Overrides::default()).unwrap(), &Options::default());
    report.locate(None, &definitions.declared_at(None));
    let column = text.lines().nth(4).unwrap().find("{\"name\": \"lost").unwrap();
    // One character of two bytes stands before it.
    assert_eq!(place(&report, Code::DeadLetterExchangeMissing, "lost"), (5, u64::try_from(column).unwrap()));
}

#[test]
fn a_fingerprint_outlives_lines_numbers_and_sentences_and_is_one_findings() {
    let fingerprints = |report: &Report| -> BTreeSet<String> {
        report.findings.iter().map(|finding| finding.fingerprint.clone()).collect()
    };
    let before = of_document(DOCUMENT);
    assert_eq!(fingerprints(&before).len(), before.findings.len());
    let moved = format!("# moved\n\n{}", DOCUMENT.replace("max-length: 100", "max-length: 200"));
    let after = of_document(&moved);
    assert_eq!(fingerprints(&before), fingerprints(&after));
    assert_ne!(before.findings[0].at, after.findings[0].at);
    // As its documentation says, by hand.
    let finding = before.findings.iter().find(|finding| finding.object.name == "shipping").unwrap();
    let list = r#"["dead_letter_exchange_missing","/","queue","shipping",""]"#;
    let digits: String = Sha256::digest(list.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digits.get(..32), Some(finding.fingerprint.as_str()));
}

#[test]
fn findings_of_one_code_about_one_object_have_their_own_fingerprints() {
    let text = "\
exchanges: { h: { type: headers } }
queues: { q: {}, r: {} }
bindings:
  - { exchange: h, queue: q }
  - { exchange: h, queue: q, arguments: { x-match: all } }
  - { exchange: h, queue: r, arguments: { a: 1 } }
";
    let all = |report: &Report| -> Vec<String> {
        let matching = report.findings.iter().filter(|finding| finding.code == Code::HeadersMatchAll);
        matching.map(|finding| finding.fingerprint.clone()).collect()
    };
    let both = all(&of_document(text));
    assert_eq!(both.len(), 2);
    // Mending the one leaves the other what it was.
    let one = all(&of_document(&text.replace("  - { exchange: h, queue: q }\n", "")));
    assert_eq!(one.len(), 1);
    assert!(both.contains(&one[0]), "{both:?} {one:?}");
}

/// The properties that SARIF 2.1.0 requires (its sections 3.13, 3.14, 3.18, 3.19, 3.27 to 3.30, 3.33, 3.49), and what code
/// scanning services need beside them.
fn must_be_sarif(log: &Json) {
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-2.1.0.json"));
    for run in log["runs"].as_array().unwrap() {
        let driver = &run["tool"]["driver"];
        assert!(!driver["name"].as_str().unwrap().is_empty());
        let rules = driver["rules"].as_array().unwrap();
        let ids: BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), rules.len());
        for rule in rules {
            for text in ["shortDescription", "fullDescription", "help"] {
                assert!(!rule[text]["text"].as_str().unwrap().is_empty(), "{rule}");
            }
            let level = rule["defaultConfiguration"]["level"].as_str().unwrap();
            assert!(["error", "warning", "note"].contains(&level));
        }
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
        for result in run["results"].as_array().unwrap() {
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
            for location in result["locations"].as_array().unwrap() {
                assert!(!location["logicalLocations"][0]["name"].as_str().unwrap().is_empty());
                if let Some(physical) = location.get("physicalLocation") {
                    let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
                    assert!(
                        uri.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\<>\"{}|^`".contains(&byte)),
                        "{uri}"
                    );
                    assert!(physical["region"]["startLine"].as_u64().unwrap() >= 1);
                    assert!(physical["region"].get("startColumn").is_none_or(|column| column.as_u64().unwrap() >= 1));
                }
            }
            let fingerprints = result["partialFingerprints"].as_object().unwrap();
            assert!(fingerprints.values().all(Json::is_string));
            assert!(fingerprints.contains_key("primaryLocationLineHash"));
        }
    }
}

#[test]
fn sarif_has_a_rule_for_each_code_and_a_result_for_each_finding() {
    let report = of_document(DOCUMENT);
    let log: Json = serde_json::from_str(&report.to_sarif()).unwrap();
    must_be_sarif(&log);
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["rules"].as_array().unwrap().len(), Code::ALL.len());
    assert_eq!(run["results"].as_array().unwrap().len(), report.findings.len());
    let physical = |result: &Json| result["locations"][0]["physicalLocation"].clone();
    let lost =
        run["results"].as_array().unwrap().iter().find(|result| result["ruleId"] == "dead_letter_exchange_missing");
    let lost = lost.unwrap();
    assert_eq!(physical(lost)["artifactLocation"]["uri"], "topology/orders%20v1.yaml");
    assert_eq!(physical(lost)["region"]["startLine"], 3);
    assert_eq!(lost["locations"][0]["logicalLocations"][0]["name"], "shipping");
}

#[test]
fn sarif_without_a_file_has_objects_only_and_of_an_unknown_place_the_first_line() {
    let mut report = of_document(DOCUMENT);
    report.locate(None, &DeclaredAt::default());
    let log: Json = serde_json::from_str(&report.to_sarif()).unwrap();
    must_be_sarif(&log);
    assert!(log["runs"][0]["results"][0]["locations"][0].get("physicalLocation").is_none());
    assert!(log["runs"][0].get("artifacts").is_none());
    for (path, uri) in
        [("/srv/é.json", "file:///srv/%C3%A9.json"), ("C:\\a\\b.yaml", "file:///C:/a/b.yaml"), ("./x", "x")]
    {
        report.locate(Some(path), &DeclaredAt::default());
        let log: Json = serde_json::from_str(&report.to_sarif()).unwrap();
        must_be_sarif(&log);
        let physical = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(physical["artifactLocation"]["uri"], uri);
        assert_eq!(physical["region"]["startLine"], 1);
    }
}

const EVERYTHING: Telling = Telling { least: Severity::Info, suppressed: true };

fn codes(report: &Report) -> BTreeSet<&'static str> {
    report.findings.iter().map(|finding| finding.code.as_str()).collect()
}

#[test]
fn a_suppression_moves_one_finding_aside_and_keeps_its_reason() {
    let before = of_document(DOCUMENT);
    let suppress = "suppress: [ { code: binding_redundant, binding: 'events -> orders (a.b)', reason: until v2 } ]\n";
    let after = of_document(&format!("{DOCUMENT}{suppress}"));
    assert_eq!(after.findings.len() + 1, before.findings.len());
    assert_eq!(after.suppressed.len(), 1);
    let suppressed = &after.suppressed[0];
    assert_eq!((suppressed.finding.code, suppressed.reason.as_str()), (Code::BindingRedundant, "until v2"));
    assert!(before.findings.iter().any(|finding| finding.fingerprint == suppressed.finding.fingerprint));
    assert_eq!(after.summary().suppressed, 1);
    assert!(after.to_text(EVERYTHING).contains("reason: until v2"));
    let quiet = after.to_text(Telling { suppressed: false, ..EVERYTHING });
    assert!(!quiet.contains("until v2") && quiet.contains("1 finding suppressed"), "{quiet}");
    let log: Json = serde_json::from_str(&after.to_sarif()).unwrap();
    must_be_sarif(&log);
    let marks: Vec<&Json> =
        log["runs"][0]["results"].as_array().unwrap().iter().filter_map(|result| result.get("suppressions")).collect();
    assert_eq!(marks.len(), 1);
    assert_eq!(
        (&marks[0][0]["kind"], &marks[0][0]["justification"]),
        (&Json::from("inSource"), &Json::from("until v2"))
    );
}

#[test]
fn an_error_that_is_suppressed_reaches_no_severity() {
    let text = "queues: { q: { arguments: { x-dead-letter-exchange: '', x-dead-letter-routing-key: gone } } }\n";
    let tables = |text: &str| Topology::from_yaml(text).unwrap().into_tables().unwrap();
    let judge = |text: &str| {
        let tables = tables(text);
        let state = State::of_tables(Broker::rabbitmq(Version::new(4, 0, 5)), "/", None, &tables);
        audit(&state, &Options { suppress: tables.suppressions, ..Options::default() })
    };
    assert!(judge(text).reaches(Severity::Error));
    let meant = format!("{text}suppress: [ {{ code: dead_letter_queue_missing, queue: q, reason: made by hand }} ]\n");
    assert!(!judge(&meant).reaches(Severity::Error));
}

#[test]
fn suppressions_that_suppress_nothing_are_findings_at_their_own_place() {
    let suppress = "\
suppress:
  - { code: queue_unreachable, queue: orders, reason: mended }
  - { code: queue_unreachable, queue: oders, reason: mistyped }
  - { code: queue_unreachabel, queue: orders, reason: mistyped }
  - { code: upgrade_delivery_limit, queue: orders, reason: only with a version to upgrade to }
";
    let report = of_document(&format!("{DOCUMENT}{suppress}"));
    let first = u64::try_from(DOCUMENT.lines().count()).unwrap() + 2;
    let told: Vec<(Code, Severity, u64)> = report
        .findings
        .iter()
        .filter(|finding| finding.code.as_str().starts_with("suppression_"))
        .map(|finding| (finding.code, finding.severity, finding.at.unwrap().line))
        .collect();
    assert_eq!(
        told,
        [
            (Code::SuppressionUnknownCode, Severity::Warning, first + 2),
            (Code::SuppressionObjectMissing, Severity::Warning, first + 1),
            (Code::SuppressionUnused, Severity::Info, first),
        ]
    );
}

#[test]
fn a_baseline_leaves_only_what_is_new_and_tells_what_is_mended() {
    let before = of_document(DOCUMENT);
    let mut baseline = Baseline::default();
    baseline.update(&before);
    let text = baseline.to_text();
    assert_eq!(Baseline::read(&text), Ok(baseline.clone()));
    // A line for each finding, sorted, between two lines at either end.
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), before.findings.len() + 5, "{text}");
    assert!(lines[3..lines.len() - 2].is_sorted(), "{text}");

    let mut same = of_document(&format!("\n# moved\n{}", DOCUMENT.replace("max-length: 100", "max-length: 7")));
    same.compare(&baseline);
    assert!(!same.reaches(Severity::Info) && same.fixed.is_empty());
    assert_eq!(same.summary().known, before.findings.len());

    let changed = DOCUMENT.replace("routing_key: a.b", "routing_key: c.d").replace("nobody", "events");
    let mut after = of_document(&changed);
    after.compare(&baseline);
    let fixed: BTreeSet<&str> = after.fixed.iter().map(|known| known.code.as_str()).collect();
    assert!(fixed.contains("dead_letter_exchange_missing") && fixed.contains("binding_redundant"), "{fixed:?}");
    assert!(after.fresh().any(|finding| finding.object.name == "events -> orders (c.d)"));
    let text = after.to_text(EVERYTHING);
    assert!(text.contains("fixed: queue shipping [dead_letter_exchange_missing]"), "{text}");
    let log: Json = serde_json::from_str(&after.to_sarif()).unwrap();
    must_be_sarif(&log);
    for result in log["runs"][0]["results"].as_array().unwrap() {
        let fingerprint = result["partialFingerprints"]["acemqFinding/v1"].as_str().unwrap();
        let was_there = before.findings.iter().any(|finding| finding.fingerprint == fingerprint);
        assert_eq!(result["baselineState"], if was_there { "unchanged" } else { "new" });
    }
}

#[test]
fn a_baseline_holds_several_vhosts_and_an_upgrade_only_while_it_is_asked_about() {
    let of = |vhost: &str, target: Option<Version>| {
        let tables = Topology::from_yaml("queues: { q: {} }\n").unwrap().into_tables().unwrap();
        let state = State::of_tables(Broker::rabbitmq(Version::new(3, 13, 7)), vhost, None, &tables);
        audit(&state, &Options { target, ..Options::default() })
    };
    let target = Some(Version::new(4, 0, 5));
    let mut baseline = Baseline::default();
    baseline.update(&of("a", target));
    baseline.update(&of("b", target));
    assert!(codes(&of("a", target)).contains("upgrade_delivery_limit"));
    let mut plain = of("a", None);
    plain.compare(&baseline);
    assert_eq!((plain.fixed.len(), plain.fresh().count()), (0, 0));
    // Writing it anew without the version forgets nothing of the upgrade, nor of the other vhost.
    let length = baseline.len();
    baseline.update(&of("a", None));
    assert_eq!(baseline.len(), length);
}

#[test]
fn what_is_no_baseline_says_what_it_is_and_a_way_out() {
    for (text, is_damaged) in [
        ("", true),
        ("[]", true),
        ("{\"findings\": []}", true),
        ("{\"format\": \"acemq.baseline/1\"}", true),
        ("{\"format\": \"acemq.baseline/1\", \"findings\": [{\"code\": \"x\"}]}", true),
        ("{\"format\": \"acemq.baseline/2\", \"findings\": {}}", false),
        ("{\"format\": \"acemq.audit/1\", \"findings\": []}", false),
    ] {
        let error = Baseline::read(text).unwrap_err();
        assert_eq!(matches!(error, BaselineError::Damaged(_)), is_damaged, "{text}");
        let sentence = error.to_string();
        assert!(sentence.contains("write it anew") && !sentence.contains('\n'), "{sentence}");
    }
}
