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
