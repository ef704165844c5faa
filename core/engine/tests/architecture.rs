//! The engine keeps its own rules: modules use only what stands before them, and nothing reaches outside.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The order of the modules. One that is not here yet has to find its place before it is added.
const ORDER: [&str; 15] = [
    "value",
    "rabbitmq",
    "name",
    "retry",
    "topology",
    "state",
    "policy",
    "plan",
    "topic",
    "routing",
    "definitions",
    "embedded",
    "audit",
    "migration",
    "api",
];

/// What a pure engine has no use for.
const OUTSIDE: [&str; 12] = [
    "std::fs",
    "std::net",
    "std::io",
    "std::env",
    "std::process",
    "std::thread",
    "std::time",
    "std::sync::Mutex",
    "SystemTime",
    "Instant::now",
    "thread_rng",
    "async fn",
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every source file with the module that it belongs to; tests are left out.
fn files() -> Vec<(String, PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![source()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                if name != "tests" && name != "snapshots" {
                    folders.push(path);
                }
                continue;
            }
            let relative = path.strip_prefix(source()).unwrap();
            let module = relative.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
            if path.extension().is_some_and(|extension| extension == "rs") && name != "tests.rs" && module != "lib" {
                let text = fs::read_to_string(&path).unwrap();
                found.push((module, path, without_tests(&text)));
            }
        }
    }
    found
}

/// The text up to its test module, without comments.
fn without_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    code.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// The modules that a file names after `crate::`, also inside braces.
fn used(code: &str) -> Vec<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut modules = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            None => modules.push(word(rest)),
            Some(braced) => {
                let mut depth = 0;
                let mut start = true;
                for (index, c) in braced.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => start = true,
                        c if start && !c.is_whitespace() => {
                            modules.push(word(&braced[index..]));
                            start = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    modules
}

#[test]
fn a_module_uses_only_those_before_it() {
    let rank: BTreeMap<&str, usize> = ORDER.iter().enumerate().map(|(rank, module)| (*module, rank)).collect();
    let mut wrong = Vec::new();
    for (module, path, code) in files() {
        let own = rank.get(module.as_str()).unwrap_or_else(|| panic!("{module} has no place in the order"));
        for used in used(&code) {
            let other = rank.get(used.as_str()).unwrap_or_else(|| panic!("{}: crate::{used}", path.display()));
            if other > own {
                wrong.push(format!("{}: {module} uses {used}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lib_rs_lists_the_modules_in_their_order() {
    let text = fs::read_to_string(source().join("lib.rs")).unwrap();
    let listed: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    let expected: Vec<&str> = ORDER.into_iter().filter(|module| listed.contains(module)).collect();
    assert_eq!(listed, expected);
    assert!(text.contains("#![forbid(unsafe_code)]"));
}

#[test]
fn nothing_reaches_outside() {
    let mut wrong = Vec::new();
    for (_, path, code) in files() {
        for outside in OUTSIDE {
            if code.contains(outside) {
                wrong.push(format!("{}: {outside}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reader_of_use_lines_sees_through_braces() {
    assert_eq!(
        used("use crate::{value::{A, B}, name, topic::C};\nlet x = crate::plan::y();"),
        ["value", "name", "topic", "plan"]
    );
}
