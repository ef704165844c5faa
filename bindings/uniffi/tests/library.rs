//! The library and what is generated from it.

use camino::{Utf8Path, Utf8PathBuf};
use std::fs;
use std::process::Command;
use uniffi_bindgen::bindings::{GenerateOptions, TargetLanguage, generate_with_bindgen_paths};
use uniffi_bindgen::{BindgenPaths, BindgenPathsLayer};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// A library that cargo has built beside this test: `so`, or `rlib` for the one whose symbols no linker has stripped.
fn library(extension: &str) -> Utf8PathBuf {
    let test = Utf8PathBuf::from_path_buf(std::env::current_exe().unwrap()).unwrap();
    let library = test.with_file_name("libacemq_uniffi").with_extension(extension);
    assert!(library.exists(), "{library} is missing");
    library
}

/// Where the generator finds uniffi.toml.
struct ThisCrate;

impl BindgenPathsLayer for ThisCrate {
    fn get_crate_root(&self, name: &str) -> Option<Utf8PathBuf> {
        (name == "acemq_uniffi").then(|| HERE.into())
    }
}

#[test]
fn the_ruby_code_that_is_checked_in_is_what_the_library_gives() {
    let out = tempfile::tempdir().unwrap();
    let out = Utf8Path::from_path(out.path()).unwrap();
    let mut paths = BindgenPaths::default();
    paths.add_layer(ThisCrate);
    let options = GenerateOptions {
        languages: vec![TargetLanguage::Ruby],
        source: library("rlib"),
        out_dir: out.to_owned(),
        ..GenerateOptions::default()
    };
    generate_with_bindgen_paths(options, paths).unwrap();
    let generated = fs::read_to_string(out.join("acemq.rb")).unwrap();

    let checked_in = Utf8Path::new(HERE).join("../ruby/lib/acemq/core/objects.rb");
    if std::env::var_os("ACEMQ_BLESS").is_some() {
        fs::write(&checked_in, &generated).unwrap();
    }
    let found = fs::read_to_string(&checked_in).unwrap_or_default();
    assert!(
        found == generated,
        "{checked_in} is stale: run ACEMQ_BLESS=1 cargo test -p acemq-uniffi and look at the difference"
    );
}

#[test]
fn every_c_symbol_is_in_the_library() {
    let header = fs::read_to_string(Utf8Path::new(HERE).join("../c/include/acemq.h")).unwrap();
    let declared = header.lines().filter(|line| !line.starts_with("//") && !line.starts_with([' ', '*', '#']));
    let names: Vec<&str> = declared
        .filter_map(|line| line.split_once('(').map(|(before, _)| before))
        .filter_map(|before| before.rsplit([' ', '*']).next())
        .filter(|name| name.starts_with("acemq_"))
        .collect();
    assert!(names.len() > 30, "the header declares {} functions", names.len());
    let symbols = Command::new("nm").args(["-D", "--defined-only"]).arg(library("so")).output().unwrap();
    let symbols = String::from_utf8(symbols.stdout).unwrap();
    let exported: Vec<&str> = symbols.lines().filter_map(|line| line.rsplit(' ').next()).collect();
    let missing: Vec<&&str> = names.iter().filter(|name| !exported.contains(name)).collect();
    assert!(missing.is_empty(), "the library does not export {missing:?}");
}
