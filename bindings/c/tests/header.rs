//! `include/acemq.h` is what cbindgen makes of the sources. `ACEMQ_BLESS=1` rewrites it.

use std::path::Path;

fn made() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let mut made = Vec::new();
    let builder = cbindgen::Builder::new().with_config(config);
    let builder = SOURCES.iter().fold(builder, |builder, source| builder.with_src(folder.join("src").join(source)));
    builder.generate().unwrap().write(&mut made);
    String::from_utf8(made).unwrap()
}

#[test]
fn the_header_that_is_checked_in_is_the_one_of_the_sources() {
    let made = made();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/acemq.h");
    if std::env::var_os("ACEMQ_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let header = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        header == made,
        "include/acemq.h is not the sources' any more: ACEMQ_BLESS=1 cargo test -p acemq-ffi --test header"
    );
}

/// In the order in which the header shows them.
const SOURCES: &[&str] =
    &["abi.rs", "version.rs", "memory.rs", "error.rs", "call.rs", "names.rs", "retry.rs", "topic.rs", "handles.rs"];

#[test]
fn every_entry_of_the_library_is_in_the_header() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = made();
    let mut entries = 0;
    for source in std::fs::read_dir(folder.join("src")).unwrap() {
        let text = std::fs::read_to_string(source.unwrap().path()).unwrap();
        for entry in text.split("#[unsafe(no_mangle)]").skip(1) {
            let name = entry.split("fn ").nth(1).unwrap().split('(').next().unwrap();
            assert!(header.contains(&format!("{name}(")), "{name} is missing in the header");
            entries += 1;
        }
    }
    assert!(entries > 30, "only {entries} entries were found");
}
