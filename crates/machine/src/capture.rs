//! Captures of running kernels: a directory with `sys/` and `uname`, the firmware's tables in `../fw` beside it.
//!
//! sysfs shows neither POWER's thread groups nor the cores of offline CPUs; the firmware's tables do.

use crate::error::MachineError;
use crate::model::{Arch, Machine};
use crate::{acpi, devicetree, sysfs};
use std::fs;
use std::path::Path;

/// The machine of a capture's step `dir` of architecture `arch`, with this step's CPUs online: POWER from the device
/// tree, arm64 with offline CPUs from the ACPI tables, everything else from sysfs.
///
/// # Errors
/// Whatever the readers find wrong, and firmware that does not know a CPU of sysfs.
pub(crate) fn read(dir: &Path, arch: Arch) -> Result<Machine, MachineError> {
    let seen = sysfs::read(dir, arch)?;
    let firmware = dir.join("../fw");
    let from_firmware = match arch {
        Arch::Powerpc if firmware.join("fdt").is_file() => {
            devicetree::read_file(&firmware.join("fdt"))?
        }
        Arch::Arm64 if seen.online != seen.possible() && firmware.join("acpi/PPTT").is_file() => {
            acpi::read(&firmware.join("acpi"))?
        }
        _ => return Ok(seen),
    };
    let merged = from_firmware.with_online(seen.online).map_err(|e| MachineError::File {
        file: dir.display().to_string(),
        found: e.to_string(),
        expected: "CPUs that the firmware's tables know".to_string(),
    })?;
    Ok(Machine { name: seen.name, title: seen.title, ..merged })
}

/// The kernel release that goes with `spec`, where one is recorded: `uname` in a capture's step, this computer's
/// own for `host`.
///
/// # Errors
/// A file that is there and holds no release.
pub fn recorded_release(spec: &str) -> Result<Option<String>, MachineError> {
    let (path, word) = match spec {
        "host" => (Path::new("/proc/sys/kernel/osrelease").to_path_buf(), 0),
        dir => (Path::new(dir).join("uname"), 2),
    };
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).map_err(|e| MachineError::unreadable(&path, &e))?;
    match text.split_whitespace().nth(word) {
        Some(release) => Ok(Some(release.to_string())),
        None => Err(MachineError::File {
            file: path.display().to_string(),
            found: format!("`{}`", text.trim()),
            expected: "a kernel release, as `uname -a` prints it".to_string(),
        }),
    }
}

/// The processor's vendor that goes with `spec` (`vendor_id` of `proc/cpuinfo`, x86 only), where one is recorded.
///
/// # Errors
/// A file that is there and cannot be read.
pub fn recorded_vendor(spec: &str) -> Result<Option<String>, MachineError> {
    let root = if spec == "host" { Path::new("/") } else { Path::new(spec) };
    let path = root.join("proc/cpuinfo");
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).map_err(|e| MachineError::unreadable(&path, &e))?;
    let vendor = text.lines().find_map(|line| line.strip_prefix("vendor_id")?.split_once(':'));
    Ok(vendor.map(|(_, name)| name.trim().to_string()))
}
