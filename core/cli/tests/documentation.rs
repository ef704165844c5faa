//! The documentation is true, and every message that the command has is one that somebody has read.

mod console;

use std::path::Path;

#[test]
fn every_command_of_the_readme_prints_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert!(console::run(&root.join("README.md"), &root) > 0);
}

#[test]
fn every_message_says_what_to_do() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    for case in ["conformance", "documents", "brokers", "routing", "migrations", "audit", "graph"] {
        assert!(console::run(&cases.join(format!("{case}.md")), &cases.join(case)) > 0);
    }
}
