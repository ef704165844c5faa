//! Puts the conformance fixtures into the command, so that it needs no files beside it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("../../conformance");
    let mut files: Vec<PathBuf> = vec![folder.join("index.json"), folder.join("README.md")];
    for part in ["suites", "schema"] {
        println!("cargo::rerun-if-changed={}", folder.join(part).display());
        for entry in fs::read_dir(folder.join(part))? {
            files.push(entry?.path());
        }
    }
    files.sort();
    let mut source = String::from("&[\n");
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.strip_prefix(&folder).map_err(io::Error::other)?;
        let _ = writeln!(source, "    ({:?}, include_str!({:?})),", name.to_string_lossy(), fs::canonicalize(file)?);
    }
    source.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR").map_err(io::Error::other)?).join("fixtures.rs"), source)
}
