//! Standard output: whole texts, colours only on a terminal.

use crate::Failure;
use std::io::Write;

/// Writes `text`; escape codes in it reach only a terminal that wants them (`NO_COLOR`, `CLICOLOR`).
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes `value` as JSON.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&(serde_json::to_string_pretty(value)? + "\n"))
}

/// A section's title.
pub fn heading(text: &str) -> String {
    format!("\x1b[1m{text}\x1b[0m\n")
}

/// Whether the reader of our output has gone, which is no failure.
pub fn is_broken_pipe(failure: &(dyn std::error::Error + 'static)) -> bool {
    failure
        .downcast_ref::<std::io::Error>()
        .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}
