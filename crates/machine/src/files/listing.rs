//! Files of sysfs as `grep -r . /sys/devices/system/cpu` prints them: a line `PATH:CONTENT` for each line of a file.

use super::memory::Memory;
use crate::error::MachineError;
use std::collections::BTreeMap;

/// Where the files lie, wherever a path begins.
const ROOT: &str = "sys/devices/system/";

/// Whether `text` looks like such a listing: its first line that is not empty names a file of sysfs.
pub(crate) fn is_listing(text: &str) -> bool {
    let said = |line: &&str| !line.trim().is_empty() && !line.starts_with("grep: ");
    let first = text.lines().find(said);
    first.is_some_and(|line| split(line).is_some())
}

/// The files of the listing `text`; errors call it `name`.
///
/// # Errors
/// A line that is not of the form.
pub(crate) fn parse(text: &str, name: &str) -> Result<Memory, MachineError> {
    let mut files: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        // What grep says of files that it could not read or print.
        let of_grep = line.starts_with("grep: ") || line.starts_with("Binary file ");
        if line.trim().is_empty() || of_grep {
            continue;
        }
        let Some((path, content)) = split(line) else {
            return Err(MachineError::Field {
                file: name.to_string(),
                field: format!("line {number}"),
                found: super::quoted(line),
                expected: "PATH:CONTENT with a path below /sys/devices/system".to_string(),
            });
        };
        let file = files.entry(path).or_default();
        file.extend_from_slice(content.as_bytes());
        file.push(b'\n');
    }
    Ok(Memory::new(name, files.into_iter().map(|(path, text)| (path.to_string(), Some(text)))))
}

/// Path from [`ROOT`] on and content of a line.
fn split(line: &str) -> Option<(&str, &str)> {
    let (path, content) = line.split_once(':')?;
    let start = path.find(ROOT)?;
    Some((&path[start..], content))
}
