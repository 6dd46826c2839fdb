//! Snapshots: `/sys/devices/system` of this computer, of another one in a directory or an archive, or as a listing,
//! with what lies beside it: the firmware's tables, `uname`, `/proc/cpuinfo`.
//!
//! sysfs shows neither POWER's thread groups nor the cores of offline CPUs; the firmware's tables do, so the two are
//! merged.

mod firmware;
mod merge;
mod recorded;

use crate::error::MachineError;
use crate::files::{self, CPU_DIR, Files};
use crate::model::{Arch, Machine};
use crate::sysfs;
use std::path::Path;

/// A machine and the kernel that was seen on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The machine.
    pub machine: Machine,
    /// Release of the kernel, as `uname -r` prints it, where it is recorded.
    pub release: Option<String>,
}

/// Reads this computer.
///
/// # Errors
/// Whatever the readers find wrong.
pub fn read_host() -> Result<Snapshot, MachineError> {
    read(&Files::Directory("/".into()), "host")
}

/// Reads the snapshot in `root`, which holds `sys/devices/system/cpu`, or holds one directory that does. The firmware's
/// tables are taken from `fw/` in it or beside it (`fdt`, `acpi/`), `proc/device-tree` or `sys/firmware/acpi/tables`.
///
/// # Errors
/// A directory without a snapshot or with several, and whatever the readers find wrong.
pub fn read_directory(root: &Path) -> Result<Snapshot, MachineError> {
    let files = Files::Directory(root.to_path_buf());
    let step = if files.is_dir(CPU_DIR) { String::new() } else { only_step(&files)? };
    let root = files.at(&step);
    let name = root.directory().and_then(|d| d.file_name());
    let name = name.map_or_else(|| "host".into(), |name| name.to_string_lossy());
    read(&root, &name)
}

/// The one directory in `files` that holds a snapshot.
fn only_step(files: &Files) -> Result<String, MachineError> {
    let mut steps = files.entries("")?;
    steps.retain(|step| files.is_dir(&format!("{step}/{CPU_DIR}")));
    steps.sort();
    one(steps, None, &files.root(), '/')
}

/// Reads the snapshot in a tar archive, plain or packed with gzip or bzip2; `name` is the archive's file name. Where it
/// holds several (a capture's steps), `step` is the name of the directory that is meant.
///
/// # Errors
/// Bytes that are no such archive, one without a snapshot, several without a choice, and whatever the readers find
/// wrong.
pub fn read_archive(
    bytes: &[u8],
    name: &str,
    step: Option<&str>,
) -> Result<Snapshot, MachineError> {
    let memory = files::unpack(bytes, name)?;
    let holder = one(memory.holders(CPU_DIR), step, name, ':')?;
    let machine = match holder.rsplit('/').next() {
        Some(last) if !last.is_empty() => last.to_string(),
        _ => stem(name),
    };
    read(&Files::Memory(memory.at(&holder)), &machine)
}

/// Reads what `grep -r . /sys/devices/system/cpu /sys/devices/system/node` printed on a machine, a line `PATH:CONTENT`
/// for each line of a file; `name` is the file's name.
///
/// # Errors
/// A line that is not of the form, and whatever the reader of sysfs finds wrong.
pub fn read_listing(text: &str, name: &str) -> Result<Snapshot, MachineError> {
    let memory = files::parse_listing(text, name)?;
    read(&Files::Memory(memory), &stem(name))
}

/// File name without directories and from its first dot on.
fn stem(name: &str) -> String {
    let file = name.rsplit('/').next().map_or(name, |file| file);
    file.split_once('.').map_or(file, |(stem, _)| stem).to_string()
}

/// The one of `holders` that is meant; a user writes `file`, `separator` and its last name to mean it.
fn one(
    mut holders: Vec<String>,
    step: Option<&str>,
    file: &str,
    separator: char,
) -> Result<String, MachineError> {
    let last = |holder: &str| holder.rsplit('/').next().map_or(String::new(), str::to_string);
    let all = holders.iter().map(|h| last(h)).collect::<Vec<_>>().join(", ");
    if let Some(step) = step {
        holders.retain(|holder| last(holder) == step);
    }
    let (found, expected) = match (holders.as_slice(), step) {
        ([holder], _) => return Ok(holder.clone()),
        ([], Some(step)) => (format!("no snapshot `{step}`"), format!("one of {all}")),
        ([], None) => ("no snapshot".to_string(), format!("a directory with {CPU_DIR}")),
        ([first, ..], _) => {
            let example = format!("{}{separator}{}", file.trim_end_matches('/'), last(first));
            (format!("snapshots {all}"), format!("one, as in {example}"))
        }
    };
    Err(MachineError::File { file: file.to_string(), found, expected })
}

/// The snapshot at `files`. sysfs and a device tree are thousands of small files each, so that they are read side by
/// side.
fn read(files: &Files, name: &str) -> Result<Snapshot, MachineError> {
    let arch = recorded::arch(files)?;
    let (seen, tree) = std::thread::scope(|scope| {
        let tree = scope.spawn(|| match arch {
            Arch::Powerpc => firmware::device_tree(files),
            _ => Ok(None),
        });
        (sysfs::read_files(files, arch, name), tree.join())
    });
    let mut seen = seen?;
    seen.vendor = recorded::vendor(files)?;
    seen.firmware = firmware::kind(files);
    seen.unknown.extend(recorded::odd_uname(files));
    let tables = match tree {
        Ok(tree) => tree.and_then(|tree| firmware::read(files, tree, &mut seen)),
        Err(panic) => std::panic::resume_unwind(panic),
    };
    let tables = tables.unwrap_or_else(|odd| {
        seen.unknown.push(format!("Firmware's tables: {odd}; sysfs stands alone."));
        None
    });
    let machine = match tables {
        Some(tables) => merge::merge(tables, seen, &files.root())?,
        None => seen,
    };
    Ok(Snapshot { machine, release: recorded::release(files)? })
}

#[cfg(test)]
mod tests;
