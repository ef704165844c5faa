//! Reading migration files.

use crate::failure::{BAD_INPUT, Failure};
use crate::input;
use acemq_core::migration::history::{Given, Script};
use acemq_core::migration::{FileName, MigrationError, MigrationFile};
use acemq_core::topology::{Format, shown_name};
use acemq_migrate::history::Folder;
use std::path::Path;

/// Endings of files that are migrations; others may lie beside them.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// A folder of files, or one file.
pub fn read(path: &str) -> Result<Folder, Failure> {
    if path == "-" {
        return Err(Failure::input("standard input has no version; give a file such as V42__orders_to_quorum.yaml"));
    }
    let folder = Path::new(path);
    if !folder.is_dir() {
        if !folder.exists() && folder.extension().is_none() {
            return Err(Failure::input(format!(
                "there is no folder {}; name the folder of migration files, or one file",
                shown_name(path)
            )));
        }
        return Ok(Folder { files: vec![file(path)?], given: Given::Some });
    }
    let cannot =
        |error: std::io::Error| Failure::input(format!("cannot read the folder {}: {error}", shown_name(path)));
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        let is_migration = path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
        // Editors and file systems leave hidden files of their own. A link that leads nowhere is a migration that is missing.
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if is_migration && !is_hidden && (path.is_file() || !path.exists()) {
            names.push(path.to_string_lossy().into_owned());
        }
    }
    names.sort();
    let mut files = names.iter().map(|name| file(name)).collect::<Result<Vec<_>, _>>()?;
    files.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    Ok(Folder { files, given: Given::Everything })
}

/// One file, its name checked as well.
fn file(path: &str) -> Result<(Script, MigrationFile), Failure> {
    let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let parsed = FileName::parse(&name).map_err(Failure::input)?;
    let migration = migration(path)?;
    let script = Script { name: parsed, file: name, checksum: migration.checksum.clone() };
    Ok((script, migration))
}

/// What a file says, whatever its name; `-` for standard input.
pub fn migration(path: &str) -> Result<MigrationFile, Failure> {
    let text = String::from_utf8(input::read(path)?)
        .map_err(|_| Failure::input(format!("{}: the file is not UTF-8; save it as UTF-8", shown_name(path))))?;
    MigrationFile::parse(&text, Format::of_file(path)).map_err(|error| refused(path, &error))
}

/// `V42__a.yaml:4:5: sentence; way out`
pub fn refused(file: &str, error: &MigrationError) -> Failure {
    let place = match &error.at {
        Some(at) => format!("{}:{}:{}", shown_name(file), at.line, at.column),
        None => shown_name(file).into_owned(),
    };
    Failure::with_code(format!("{place}: {error}"), BAD_INPUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_is_a_missing_file_and_hidden_files_are_none() {
        let folder = std::env::temp_dir().join(format!("acemq-folder-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("V7__folder.yaml")).unwrap();
        std::fs::write(folder.join("._V1__a.yaml"), "left by a file system").unwrap();
        std::fs::write(
            folder.join("V1__a.yaml"),
            "acemq_migration: 1\nchanges: [ { declare: { queue: { name: q } } } ]\n",
        )
        .unwrap();
        let path = folder.display().to_string();
        let files = read(&path).unwrap().files;
        assert_eq!(files.iter().map(|(script, _)| script.file.as_str()).collect::<Vec<_>>(), ["V1__a.yaml"]);
        std::os::unix::fs::symlink("nowhere", folder.join("V2__b.yaml")).unwrap();
        let refused = read(&path).unwrap_err();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(
            refused.message.contains("cannot read") && refused.message.contains("V2__b.yaml"),
            "{}",
            refused.message
        );
    }
}
