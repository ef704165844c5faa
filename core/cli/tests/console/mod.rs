//! Runs the `$ acemq …` lines of Markdown and compares what they print, byte for byte.
//!
//! A block is fenced, begins with `$ acemq ARGUMENTS` (quoted as for sh), goes on with `? CODE` when the exit code is not 0,
//! then with everything that was printed: standard error first. `ACEMQ_BLESS=1 cargo test` writes what is printed now; read
//! it before it is committed.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs every block of `file` with `folder` as the current one; gives the number of blocks.
pub fn run(file: &Path, folder: &Path) -> usize {
    let text = fs::read_to_string(file).unwrap();
    let mut out = String::new();
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if !line.starts_with("```") {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let expected = block.iter().map(|line| format!("{line}\n")).collect::<String>();
        let actual = match block.first().and_then(|first| first.strip_prefix("$ acemq ")) {
            Some(arguments) => {
                count += 1;
                printed(arguments, folder)
            }
            None => expected.clone(),
        };
        if actual != expected {
            wrong.push(format!("expected:\n{expected}\nprinted:\n{actual}"));
        }
        out.push_str(&actual);
        out.push_str("```\n");
    }
    if std::env::var_os("ACEMQ_BLESS").is_some() {
        fs::write(file, out).unwrap();
    } else {
        assert!(wrong.is_empty(), "{}: {} of {count} differ\n{}", file.display(), wrong.len(), wrong.join("\n"));
    }
    count
}

/// The whole block for these arguments.
fn printed(arguments: &str, folder: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_acemq"))
        .args(shlex::split(arguments).unwrap())
        .current_dir(folder)
        .env_clear()
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let mut block = format!("$ acemq {arguments}\n");
    match output.status.code() {
        Some(0) => {}
        code => block.push_str(&format!("? {}\n", code.unwrap())),
    }
    block.push_str(&String::from_utf8(output.stderr).unwrap());
    block.push_str(&String::from_utf8(output.stdout).unwrap());
    block
}
