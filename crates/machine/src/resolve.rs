//! From what a user writes to a machine.

use crate::error::MachineError;
use crate::model::{Arch, Machine};
use crate::{acpi, capture, catalog, devicetree, sysfs};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The machine that `spec` names: `host` (this computer), a name of the catalog, a path to a flattened device
/// tree, a path to a directory that holds `sys/devices/system/cpu` and `uname`, which is the output of
/// `uname -a` there (with the firmware's tables in `../fw` beside it, if any), or a path to a directory that
/// holds raw ACPI tables, each named by its signature, or a path to a device tree as a directory, such as
/// `/proc/device-tree`.
///
/// # Errors
/// A `spec` that is none of these, and whatever the reader of that form finds wrong.
pub fn resolve(spec: &str) -> Result<Machine, MachineError> {
    if spec == "host" {
        return sysfs::read(Path::new("/"), sysfs::host_arch()?);
    }
    if catalog::names().contains(&spec) {
        return catalog::load(spec);
    }
    let path = Path::new(spec);
    if path.join("sys/devices/system/cpu").is_dir() {
        return capture::read(path, recorded_arch(path)?);
    }
    if [acpi::MADT, acpi::PPTT].iter().any(|table| path.join(table).exists()) {
        return acpi::read(path);
    }
    if path.join("cpus").is_dir() {
        return devicetree::read_dir(path);
    }
    if path.is_file() && is_device_tree(path)? {
        return devicetree::read_file(path);
    }
    let found = match (path.is_file(), path.exists()) {
        (true, _) => "a file that is no flattened device tree",
        (false, true) => "a path without sys/devices/system/cpu or ACPI tables below it",
        (false, false) => "neither a name of the catalog nor a path",
    };
    Err(MachineError::Spec {
        spec: spec.to_string(),
        found: found.to_string(),
        expected: format!(
            "host, a machine of the catalog ({}), a device tree (*.dtb), a directory with \
             sys/devices/system/cpu and uname, or one with ACPI tables (APIC, PPTT)",
            catalog::names().join(", ")
        ),
    })
}

/// Whether the file is called `*.dtb` or starts as device trees do.
fn is_device_tree(path: &Path) -> Result<bool, MachineError> {
    if path.extension().is_some_and(|e| e == "dtb") {
        return Ok(true);
    }
    let mut start = Vec::new();
    let file = File::open(path).map_err(|e| MachineError::unreadable(path, &e))?;
    file.take(4).read_to_end(&mut start).map_err(|e| MachineError::unreadable(path, &e))?;
    Ok(start == devicetree::fdt::MAGIC.to_be_bytes())
}

/// Architecture by the file `uname` in `dir`; the machine is the last word of it that names one.
fn recorded_arch(dir: &Path) -> Result<Arch, MachineError> {
    let path = dir.join("uname");
    let text = fs::read_to_string(&path).map_err(|e| MachineError::unreadable(&path, &e))?;
    text.split_whitespace().rev().find_map(sysfs::arch_named).ok_or_else(|| MachineError::File {
        file: path.display().to_string(),
        found: format!("`{}`", text.trim()),
        expected: "output of `uname -a` on ppc64, ppc64le, aarch64 or x86_64".to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devicetree::testing::{core, machine};

    #[test]
    fn finds_each_form() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
        let blob = machine(vec![core(&[0, 1])]).blob();
        fs::write(path("a.dtb"), &blob).unwrap();
        fs::write(path("fdt"), &blob).unwrap();
        assert_eq!(resolve(&path("a.dtb")).unwrap().name, "a");
        assert_eq!(resolve(&path("fdt")).unwrap().cpus.len(), 2);
        assert_eq!(resolve("power9-big-core").unwrap().cpus.len(), 16);

        fs::create_dir_all(dir.path().join("sys/devices/system/cpu")).unwrap();
        fs::write(path("sys/devices/system/cpu/present"), "0-2\n").unwrap();
        fs::write(path("uname"), "Linux h 6.12 #1 SMP Debian 6.12-1 aarch64 GNU/Linux\n").unwrap();
        let snapshot = resolve(dir.path().to_str().unwrap()).unwrap();
        assert_eq!((snapshot.arch, snapshot.cpus.len()), (Arch::Arm64, 3));
    }

    #[test]
    fn says_what_it_wants_instead() {
        let error = resolve("power8").unwrap_err().to_string();
        assert_eq!(
            error,
            "machine `power8`: found neither a name of the catalog nor a path, expected host, a machine of \
             the catalog (power9-big-core), a device tree (*.dtb), a directory with \
             sys/devices/system/cpu and uname, or one with ACPI tables (APIC, PPTT)"
        );
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
        let fail = |spec: &str| resolve(spec).unwrap_err().to_string();
        assert!(fail(&path("")).contains("found a path without sys/devices/system/cpu"));
        fs::write(path("notes"), "hello").unwrap();
        assert!(fail(&path("notes")).contains("found a file that is no flattened device tree"));
        fs::write(path("a.dtb"), "hello").unwrap();
        assert!(
            fail(&path("a.dtb"))
                .contains("a.dtb: offset 0x0: found 0x68656c6c, expected the magic")
        );
        fs::create_dir_all(dir.path().join("sys/devices/system/cpu")).unwrap();
        assert!(fail(&path("")).contains("uname: found No such file"), "{}", fail(&path("")));
        fs::write(path("uname"), "Linux s390x\n").unwrap();
        assert!(fail(&path("")).contains("found `Linux s390x`, expected output of `uname -a`"));
    }
}
