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
/// cores when CPUs are offline.
pub(super) fn read(files: &Files, seen: &Machine) -> Result<Option<Machine>, MachineError> {
    match (seen.arch, seen.firmware) {
        (Arch::Powerpc, _) => device_tree(files),
        (Arch::Arm64, Some(Firmware::Acpi)) if seen.online != seen.possible() => acpi(files),
        (Arch::Arm64, Some(Firmware::DeviceTree)) if seen.online != seen.possible() => {
            device_tree(files)
        }
        _ => Ok(None),
    }
}

fn device_tree(files: &Files) -> Result<Option<Machine>, MachineError> {
    for path in TREE {
        if let Some(blob) = files.bytes(path)? {
            let name = format!("{}/{path}", files.root());
            return devicetree::read(&blob, &name).map(Some);
        }
    }
    Ok(None)
}

fn acpi(files: &Files) -> Result<Option<Machine>, MachineError> {
    let Some(root) = files.directory() else { return Ok(None) };
    match ACPI.iter().map(|dir| root.join(dir)).find(|dir| dir.join(acpi::PPTT).is_file()) {
        Some(dir) => acpi::read(&dir).map(Some),
        None => Ok(None),
    }
}
