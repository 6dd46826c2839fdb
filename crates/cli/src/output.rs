//! Standard output: whole texts, colours only on a terminal.

use crate::Failure;
use definition::folder_of;
use results::store;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Writes `text`; escape codes in it reach only a terminal that wants them (`NO_COLOR`, `CLICOLOR`).
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// `value` as JSON.
pub fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// Writes `value` as JSON.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&json(value)?)
}

/// Writes `text` into the file `path`, whole or not at all.
pub fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    Staged::text(path, text)?.keep()
}

/// Lets `write` write the file `path`, whole or not at all.
pub fn write_file<T>(
    path: &Path,
    write: impl FnOnce(&File) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let (staged, written) = Staged::new(path, write)?;
    staged.keep()?;
    Ok(written)
}

/// A whole file that does not have its name yet: a temporary one beside it, which is gone unless it is kept. So no reader finds half of
/// a file, nor one of several that belong together.
pub struct Staged {
    file: NamedTempFile,
    path: PathBuf,
}

impl Staged {
    /// Lets `write` write it.
    pub fn new<T>(
        path: &Path,
        write: impl FnOnce(&File) -> Result<T, Failure>,
    ) -> Result<(Staged, T), Failure> {
        // Renaming over a device or a pipe would replace it.
        if path.metadata().is_ok_and(|m| !m.is_file()) {
            return Err(unwritable(path, &"something that is no regular file"));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(store::TEMPORARY_PREFIX);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder_of(path)).map_err(|e| unwritable(path, &e))?;
        let written = write(file.as_file()).map_err(|e| match e.downcast::<std::io::Error>() {
            Ok(e) => unwritable(path, &e),
            Err(e) => e,
        })?;
        Ok((Staged { file, path: path.to_owned() }, written))
    }

    /// The same with a text.
    pub fn text(path: &Path, text: &str) -> Result<Staged, Failure> {
        Ok(Staged::new(path, |mut file| Ok(file.write_all(text.as_bytes())?))?.0)
    }

    /// Gives it its name.
    pub fn keep(self) -> Result<(), Failure> {
        self.file.persist(&self.path).map_err(|e| unwritable(&self.path, &e))?;
        Ok(())
    }
}

fn unwritable(path: &Path, reason: &dyn std::fmt::Display) -> Failure {
    format!("{}: found {reason}, expected a file that can be written", path.display()).into()
}

/// Whether the reader of our output has gone, which is no failure.
pub fn is_broken_pipe(failure: &(dyn std::error::Error + 'static)) -> bool {
    failure
        .downcast_ref::<std::io::Error>()
        .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}
