//! The firmware's tables of a snapshot.

use crate::error::MachineError;
use crate::files::Files;
use crate::model::{Arch, Firmware, Machine};
use crate::{acpi, devicetree};

/// Where ACPI tables lie: gathered beside the snapshot, or as sysfs shows them to root.
const ACPI: &[&str] = &["fw/acpi", "../fw/acpi", "sys/firmware/acpi/tables"];
/// Where a flattened device tree lies.
const TREE: &[&str] = &["fw/fdt", "../fw/fdt", "sys/firmware/fdt"];

/// What the kernel booted from. With both kinds there, ACPI wins: QEMU's firmware hands over a tree as well.
pub(super) fn kind(files: &Files) -> Option<Firmware> {
    if ACPI.iter().any(|dir| files.is_dir(dir)) {
        return Some(Firmware::Acpi);
    }
    let tree = TREE.iter().any(|file| files.is_file(file)) || files.is_dir("proc/device-tree");
    tree.then_some(Firmware::DeviceTree)
}

/// The machine by its firmware, where that knows more than sysfs (`seen`): POWER's cores and thread groups, arm64's
/// cores when CPUs are offline. Firmware with another number of CPUs is of no use: which of them are whose would be
/// a guess; `unknown` then says so. `tree` is POWER's device tree.
pub(super) fn read(
    files: &Files,
    tree: Option<Machine>,
    seen: &mut Machine,
) -> Result<Option<Machine>, MachineError> {
    let tables = match (seen.arch, seen.firmware) {
        (Arch::Powerpc, _) => tree,
        (Arch::Arm64, Some(Firmware::Acpi)) if seen.online != seen.possible() => acpi(files)?,
        (Arch::Arm64, Some(Firmware::DeviceTree)) if seen.online != seen.possible() => {
            device_tree(files)?
        }
        _ => None,
    };
    Ok(match tables {
        Some(tables) if tables.cpus.len() != seen.cpus.len() => {
            seen.unknown.push(format!(
                "Firmware's tables: they have {} CPUs and sysfs {}, so sysfs stands alone.",
                tables.cpus.len(),
                seen.cpus.len()
            ));
            None
        }
        tables => tables,
    })
}

/// The machine by its device tree, where there is one.
pub(super) fn device_tree(files: &Files) -> Result<Option<Machine>, MachineError> {
    const DIRECTORY: &str = "proc/device-tree";
    for path in TREE {
        if let Some(blob) = files.bytes(path)? {
            let name = format!("{}/{path}", files.root());
            return devicetree::read(&blob, &name).map(Some);
        }
    }
    match files {
        Files::Directory(root) if root.join(DIRECTORY).is_dir() => {
            devicetree::read_dir(&root.join(DIRECTORY)).map(Some)
        }
        Files::Memory(memory) if memory.is_dir(DIRECTORY) => {
            let name = format!("{}/{DIRECTORY}", files.root());
            devicetree::read_files(memory.below(DIRECTORY), &name).map(Some)
        }
        _ => Ok(None),
    }
}

fn acpi(files: &Files) -> Result<Option<Machine>, MachineError> {
    let holds_pptt = |dir: &&&str| files.is_file(&format!("{dir}/{}", acpi::PPTT));
    let Some(dir) = ACPI.iter().find(holds_pptt) else { return Ok(None) };
    let mut tables = Vec::new();
    for name in files.entries(dir)? {
        if let Some(bytes) = files.bytes(&format!("{dir}/{name}"))? {
            tables.push((format!("{}/{dir}/{name}", files.root()), bytes));
        }
    }
    let tables: Vec<(&str, &[u8])> =
        tables.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    acpi::read_tables(&tables, "acpi").map(Some)
}
