//! The file of known findings is written whole or not at all, and keeps what it says of other vhosts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn acemq(folder: &Path, arguments: &[&str]) -> Output {
    let export = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/audit/two.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_acemq"));
    command.arg("audit").arg(export).args(arguments).current_dir(folder).env_clear().output().unwrap()
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn what_was_written_as_known_stops_nothing_any_more() {
    let folder = folder("baseline-known");
    assert_eq!(acemq(&folder, &["--vhost", "a"]).status.code(), Some(3));
    let written = acemq(&folder, &["--vhost", "a", "--write-baseline", "known.json"]);
    assert_eq!(written.status.code(), Some(0));
    assert_eq!(String::from_utf8(written.stderr).unwrap(), "acemq: known.json: known findings: 2\n");
    assert_eq!(
        acemq(&folder, &["--vhost", "a", "--baseline", "known.json", "--severity", "info"]).status.code(),
        Some(0)
    );
    // Nothing else is left behind, and the same again is the same file.
    let first = fs::read(folder.join("known.json")).unwrap();
    acemq(&folder, &["--vhost", "a", "--write-baseline", "known.json"]);
    assert_eq!(fs::read(folder.join("known.json")).unwrap(), first);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    // A vhost without findings takes nothing away from another one.
    acemq(&folder, &["--vhost", "b", "--write-baseline", "known.json"]);
    assert_eq!(fs::read(folder.join("known.json")).unwrap(), first);
}

#[test]
fn a_damaged_file_is_neither_used_nor_overwritten() {
    let folder = folder("baseline-damaged");
    fs::write(folder.join("known.json"), "<<<<<<< ours\n").unwrap();
    for option in ["--baseline", "--write-baseline"] {
        let output = acemq(&folder, &["--vhost", "a", option, "known.json"]);
        assert_eq!(output.status.code(), Some(1));
        let sentence = String::from_utf8(output.stderr).unwrap();
        assert!(sentence.contains("known.json: this is no baseline"), "{sentence}");
    }
    assert_eq!(fs::read_to_string(folder.join("known.json")).unwrap(), "<<<<<<< ours\n");
}

#[test]
fn several_vhosts_are_written_into_one_file_and_known_in_each() {
    let folder = folder("baseline-several");
    let written = acemq(&folder, &["--vhosts", "*", "--write-baseline", "known.json"]);
    assert_eq!(written.status.code(), Some(0));
    assert_eq!(String::from_utf8(written.stderr).unwrap(), "acemq: known.json: known findings: 2\n");
    // As one vhost after the other.
    let first = fs::read(folder.join("known.json")).unwrap();
    acemq(&folder, &["--vhost", "a", "--write-baseline", "one.json"]);
    acemq(&folder, &["--vhost", "b", "--write-baseline", "one.json"]);
    assert_eq!(fs::read(folder.join("one.json")).unwrap(), first);
    assert_eq!(acemq(&folder, &["--vhosts", "*", "--baseline", "known.json"]).status.code(), Some(0));
    // A vhost that cannot be had loses nothing that is known of it.
    let gone = acemq(&folder, &["--vhosts", "b,gone", "--write-baseline", "known.json"]);
    assert_eq!(gone.status.code(), Some(1));
    assert_eq!(fs::read(folder.join("known.json")).unwrap(), first);
}

#[test]
fn the_sarif_of_several_vhosts_is_one_run_in_which_each_result_names_its_own() {
    let tenants = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/audit");
    let sarif = |vhosts: &[&str]| -> serde_json::Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_acemq"));
        command.args(["audit", "tenants.json", "--format", "sarif"]).args(vhosts).current_dir(&tenants).env_clear();
        serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
    };
    let all = sarif(&["--vhosts", "*"]);
    assert_eq!(all["runs"].as_array().unwrap().len(), 1);
    let run = &all["runs"][0];
    assert_eq!(run["automationDetails"]["id"], "acemq-audit/*/");
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let vhosts = ["clean-1", "clean-2", "shop", "tenant-1", "tenant-2"];
    assert_eq!(run["properties"]["vhosts"], serde_json::json!(vhosts));
    // The results of each vhost alone, but for the name in the message.
    let mut alone = Vec::new();
    for vhost in vhosts {
        let mut log = sarif(&["--vhost", vhost]);
        for result in log["runs"][0]["results"].as_array_mut().unwrap() {
            let text = result["message"]["text"].as_str().unwrap();
            let first = text.chars().next().unwrap().to_lowercase().to_string();
            result["message"]["text"] = format!("Vhost \"{vhost}\": {first}{}", &text[1..]).into();
            alone.push(result.clone());
        }
    }
    assert_eq!(run["results"].as_array().unwrap(), &alone);
    let mut fingerprints: Vec<_> =
        alone.iter().map(|result| result["partialFingerprints"]["acemqFinding/v1"].as_str().unwrap()).collect();
    fingerprints.sort_unstable();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), alone.len());
    // A vhost that is not there is no clean one.
    let gone = sarif(&["--vhosts", "gone,shop"]);
    let invocation = &gone["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let note = invocation["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap();
    assert!(note.starts_with("vhost gone: "), "{note}");
}
