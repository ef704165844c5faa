//! The file of known findings.

use crate::failure::Failure;
use acemq_core::audit::Baseline;
use acemq_core::topology::shown_name;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// A baseline that has to be there.
pub fn read(file: &str) -> Result<Baseline, Failure> {
    read_if_there(file)?.ok_or_else(|| {
        let file = shown_name(file);
        Failure::input(format!("there is no baseline {file}; --write-baseline {file} writes one of what is found now"))
    })
}

/// The baseline until now, where there is one.
pub fn read_if_there(file: &str) -> Result<Option<Baseline>, Failure> {
    let cannot = |error: &dyn std::fmt::Display| Failure::input(format!("{}: {error}", shown_name(file)));
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot(&error)),
    };
    let text = String::from_utf8_lossy(&bytes);
    Baseline::read(&text).map(Some).map_err(|error| cannot(&error))
}

/// Writes it whole or not at all: what stood there before stays until the new one is complete.
pub fn write(file: &str, baseline: &Baseline) -> Result<(), Failure> {
    let target = Path::new(file);
    let temporary = beside(target);
    let written = std::fs::File::create_new(&temporary).and_then(|mut out| {
        out.write_all(baseline.to_text().as_bytes())?;
        out.sync_all()?;
        std::fs::rename(&temporary, target)
    });
    written.map_err(|error| {
        let _ = std::fs::remove_file(&temporary);
        Failure::input(format!("cannot write {}: {error}", shown_name(file)))
    })
}

/// A name in the same folder, so that the renaming stays on one file system.
fn beside(target: &Path) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    target.with_file_name(name)
}
