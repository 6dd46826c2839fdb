//! From what a user writes to a machine.

use crate::error::MachineError;
use crate::model::Machine;
use crate::snapshot::{self, Snapshot};
use crate::{acpi, catalog, devicetree, files, hwloc, qemu};
use std::fs;
use std::path::Path;

/// Start of a machine given by QEMU's arguments.
const QEMU: &str = "qemu:";
/// This computer.
pub const HOST: &str = "host";
/// Start of a machine given by hwloc's synthetic string.
const SYNTHETIC: &str = "synthetic:";

/// The machine that `spec` names:
/// * `host`: this computer;
/// * a name of the catalog;
/// * a catalog file of one's own, `FILE.toml`; `FILE.toml#VARIANT` (or `FILE.toml:VARIANT`) where it holds several ([`catalog::read`]), with the
///   device tree that it may name in the same directory;
/// * `qemu:` and arguments of QEMU, such as `qemu:-M virt -smp 8,clusters=2,cores=4` ([`qemu::read`]);
/// * `synthetic:` and a synthetic string of hwloc, such as `synthetic:pack:2 l3:1 core:4 pu:2`
///   ([`hwloc::read_synthetic`]);
/// * a file of hwloc's XML ([`hwloc::read_xml`]);
/// * a directory with a copy of `/sys/devices/system/{cpu,node}` and what belongs to it ([`snapshot::read_directory`]);
/// * a tar archive of such a directory, plain or packed with gzip or bzip2; `ARCHIVE:STEP` where it holds several;
/// * a listing of `/sys/devices/system` ([`snapshot::read_listing`]);
/// * a device tree, flattened or as a directory such as `/proc/device-tree`;
/// * a directory with raw ACPI tables, each named by its signature ([`acpi::read`]), or a file in which they follow one
///   another ([`acpi::split`]).
///
/// # Errors
/// A `spec` that is none of these, and whatever the reader of that form finds wrong.
pub fn resolve(spec: &str) -> Result<Machine, MachineError> {
    Ok(resolve_snapshot(spec)?.machine)
}

/// As [`resolve`], with the kernel's release where `spec` records one.
///
/// # Errors
/// As [`resolve`].
pub fn resolve_snapshot(spec: &str) -> Result<Snapshot, MachineError> {
    let alone = |machine| Snapshot { machine, release: None };
    if spec == HOST {
        return snapshot::read_host();
    }
    if catalog::names().contains(&spec) {
        return catalog::load(spec).map(alone);
    }
    if let Some(arguments) = spec.strip_prefix(QEMU) {
        return qemu::read(arguments).map(alone);
    }
    if let Some(levels) = spec.strip_prefix(SYNTHETIC) {
        return hwloc::read_synthetic(levels).map(alone);
    }
    let path = Path::new(spec);
    if path.is_dir() {
        return directory(path);
    }
    if path.is_file() {
        return file(path, None);
    }
    let part = [spec.rsplit_once('#'), spec.rsplit_once(':')];
    match part.into_iter().flatten().find(|(whole, _)| Path::new(whole).is_file()) {
        Some((whole, part)) => file(Path::new(whole), Some(part)),
        None => Err(unknown(spec, "neither a name of the catalog nor a path")),
    }
}

fn directory(path: &Path) -> Result<Snapshot, MachineError> {
    let alone = |machine| Snapshot { machine, release: None };
    if path.join(files::CPU_DIR).is_dir() {
        return snapshot::read_directory(path);
    }
    if [acpi::MADT, acpi::PPTT].iter().any(|table| path.join(table).exists()) {
        return acpi::read(path).map(alone);
    }
    if path.join("cpus").is_dir() {
        return devicetree::read_dir(path).map(alone);
    }
    snapshot::read_directory(path)
}

/// The machine in a file, whose form its first bytes tell; `step` is the one meant where an archive holds several.
fn file(path: &Path, step: Option<&str>) -> Result<Snapshot, MachineError> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|e| MachineError::unreadable(path, &e))?;
    if is_archive(&bytes) {
        return snapshot::read_archive(&bytes, &name, step);
    }
    let called = |end: &str| path.extension().is_some_and(|e| e == end);
    if called("toml") {
        return catalog_file(path, bytes, &name, step);
    }
    if bytes.starts_with(&devicetree::fdt::MAGIC.to_be_bytes()) || called("dtb") {
        let machine = devicetree::read(&bytes, &name)?;
        return Ok(Snapshot { machine, release: None });
    }
    if acpi::SIGNATURES.iter().any(|signature| bytes.starts_with(signature.as_bytes())) {
        let tables = acpi::split(&bytes, &name)?;
        let tables: Vec<(&str, &[u8])> = tables.iter().map(|t| (name.as_str(), *t)).collect();
        let machine = acpi::read_tables(&tables, &stem(path))?;
        return Ok(Snapshot { machine, release: None });
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) if text.trim_start().starts_with('<') => {
            let machine = hwloc::read_xml(text, &name)?;
            Ok(Snapshot { machine, release: None })
        }
        Ok(text) if files::is_listing(text) => snapshot::read_listing(text, &name),
        _ => Err(unknown(&name, "a file of no known form")),
    }
}

/// The machine of a catalog file, `variant` of those in it, whose device tree lies beside it.
fn catalog_file(
    path: &Path,
    bytes: Vec<u8>,
    name: &str,
    variant: Option<&str>,
) -> Result<Snapshot, MachineError> {
    let text = String::from_utf8(bytes).map_err(|e| MachineError::File {
        file: name.to_string(),
        found: e.utf8_error().to_string(),
        expected: "a catalog file".to_string(),
    })?;
    let machine = catalog::read_beside(&text, name, variant, |tree| {
        let tree = path.with_file_name(tree);
        fs::read(&tree).map_err(|e| MachineError::unreadable(&tree, &e))
    })?;
    Ok(Snapshot { machine, release: None })
}

/// A file's name without directory and extension.
fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// Whether `bytes` begin as gzip, bzip2 or tar files do.
fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
        || bytes.starts_with(b"BZh")
        || bytes.get(257..262) == Some(b"ustar")
}

fn unknown(spec: &str, found: &str) -> MachineError {
    MachineError::Spec {
        spec: spec.to_string(),
        found: found.to_string(),
        expected: format!(
            "host, a machine of the catalog ({}), a catalog file (*.toml), qemu:ARGUMENTS, synthetic:LEVELS, a \
             directory, archive or listing of /sys/devices/system, hwloc XML, a device tree (*.dtb or a directory), or ACPI tables (APIC, PPTT)",
            catalog::names().join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arch;
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
    fn finds_catalog_files_and_the_trees_beside_them() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
        let fail = |spec: &str| resolve(spec).unwrap_err().to_string();
        fs::write(path("own.toml"), include_str!("../catalog/power8.toml")).unwrap();
        let own = resolve(&path("own.toml:power8-16core")).unwrap();
        assert_eq!(own, catalog::load("power8-16core").unwrap());
        assert_eq!(resolve(&path("own.toml#power8-16core")).unwrap(), own);
        assert!(
            fail(&path("own.toml#power7")).contains("own.toml: "),
            "{}",
            fail(&path("own.toml#power7"))
        );
        assert!(
            fail(&path("none.toml#power8")).contains("neither a name of the catalog nor a path")
        );
        assert!(fail(&path("own.toml")).ends_with(
            "own.toml: variant: found 2 machines and none picked, expected one of power8, power8-16core"
        ));

        let tree = "name = 'mine'\ntitle = 't'\nsource = 's'\ndevice_tree = 'x.dtb'\n";
        fs::write(path("tree.toml"), tree).unwrap();
        assert!(fail(&path("tree.toml")).contains("x.dtb: found No such file"));
        fs::write(path("x.dtb"), machine(vec![core(&[0, 1])]).blob()).unwrap();
        let mine = resolve(&path("tree.toml")).unwrap();
        assert_eq!((mine.name.as_str(), mine.cpus.len()), ("mine", 2));

        fs::write(path("bad.toml"), [b'a', 0xff]).unwrap();
        assert!(fail(&path("bad.toml")).contains("bad.toml: found invalid utf-8"));
        fs::write(path("bad.toml"), "name = 'x'\ntitle = 3\n").unwrap();
        assert!(fail(&path("bad.toml")).contains("bad.toml: line 2: found invalid type: integer"));
    }

    #[test]
    fn says_what_it_wants_instead() {
        let error = resolve("power7").unwrap_err().to_string();
        assert_eq!(
            error.replace(&catalog::names().join(", "), "NAMES"),
            "machine `power7`: found neither a name of the catalog nor a path, expected host, a machine of \
             the catalog (NAMES), a catalog file (*.toml), qemu:ARGUMENTS, synthetic:LEVELS, a directory, archive \
             or listing of /sys/devices/system, hwloc XML, a device tree (*.dtb or a directory), or ACPI tables (APIC, PPTT)"
        );
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
        let fail = |spec: &str| resolve(spec).unwrap_err().to_string();
        assert!(
            fail(&path(""))
                .contains("found no snapshot, expected a directory with sys/devices/system/cpu")
        );
        fs::write(path("notes"), "hello").unwrap();
        assert!(fail(&path("notes")).contains("found a file of no known form"));
        fs::write(path("a.dtb"), "hello").unwrap();
        assert!(
            fail(&path("a.dtb"))
                .contains("a.dtb: offset 0x0: found 0x68656c6c, expected the magic")
        );
        fs::create_dir_all(dir.path().join("sys/devices/system/cpu")).unwrap();
        fs::write(path("uname"), "Linux h 6.12\n").unwrap();
        fs::write(path("sys/devices/system/cpu/present"), "0\n").unwrap();
        let odd = resolve_snapshot(&path("")).unwrap();
        assert_eq!((odd.machine.arch, odd.release.as_deref()), (Arch::Other, Some("6.12")));
        let unknown = odd.machine.unknown.join("\n");
        assert!(unknown.contains("uname: found `Linux h 6.12`, expected output of"), "{unknown}");
        fs::create_dir(path("fw")).unwrap();
        fs::write(path("fw/fdt"), "hello").unwrap();
        fs::write(path("uname"), "Linux h 6.12 ppc64le\n").unwrap();
        let unknown = resolve(&path("")).unwrap().unknown.join("\n");
        assert!(unknown.contains("offset 0x0: found 0x68656c6c"), "{unknown}");
        assert!(unknown.contains("; sysfs stands alone."), "{unknown}");
    }
}
