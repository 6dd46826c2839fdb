//! Standard output: whole texts, colours only on a terminal.

use crate::Failure;
use definition::folder_of;
use results::store;
use std::fs::File;
use std::io::Write;
use std::path::Path;

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
    write_file(path, |mut file| Ok(file.write_all(text.as_bytes())?))
}

/// Lets `write` write the file `path`: a temporary one beside it, which then takes its name, so that no reader finds
/// half of it.
pub fn write_file<T>(
    path: &Path,
    write: impl FnOnce(&File) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let fail = |reason: &dyn std::fmt::Display| -> Failure {
        format!("{}: found {reason}, expected a file that can be written", path.display()).into()
    };
    // Renaming over a device or a pipe would replace it.
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return Err(fail(&"something that is no regular file"));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(store::TEMPORARY_PREFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder_of(path)).map_err(|e| fail(&e))?;
    let written = write(file.as_file()).map_err(|e| match e.downcast::<std::io::Error>() {
        Ok(e) => fail(&e),
        Err(e) => e,
    })?;
    file.persist(path).map_err(|e| fail(&e))?;
    Ok(written)
}

/// Whether the reader of our output has gone, which is no failure.
pub fn is_broken_pipe(failure: &(dyn std::error::Error + 'static)) -> bool {
    failure
        .downcast_ref::<std::io::Error>()
        .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}
