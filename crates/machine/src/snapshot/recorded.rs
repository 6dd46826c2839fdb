//! What a snapshot records of architecture, vendor and kernel.

use crate::error::MachineError;
use crate::files::Files;
use crate::model::Arch;
use crate::sysfs::arch_named;

const CPUINFO: &str = "proc/cpuinfo";
/// Facts that hwloc's gathering script asks the system for.
const NOFILE_INFO: &str = "proc/hwloc-nofile-info";

/// `uname` of a snapshot: the output of `uname -a` there, in it or (a capture's step) beside it.
fn uname(files: &Files) -> Result<Option<String>, MachineError> {
    match files.text("uname")? {
        Some(text) => Ok(Some(text)),
        None => files.at("..").text("uname"),
    }
}

/// The value of `key` in lines `KEY : VALUE`.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

/// Architecture: of this computer, or by `uname`, hwloc's gathered facts, `/proc/sys/kernel/arch` or `/proc/cpuinfo`;
/// [`Arch::Other`] where none of them tells it.
pub(super) fn arch(files: &Files) -> Result<Arch, MachineError> {
    if files.directory().is_some_and(|root| root.as_os_str() == "/") {
        return Ok(arch_named(std::env::consts::ARCH).unwrap_or(Arch::Other));
    }
    if let Some(arch) = uname(files)?.as_deref().and_then(arch_of_uname) {
        return Ok(arch);
    }
    let gathered = files.text(NOFILE_INFO)?;
    let named = gathered.as_deref().and_then(|text| field(text, "Architecture"));
    if let Some(arch) = named.and_then(arch_named) {
        return Ok(arch);
    }
    if let Some(arch) = files.text("proc/sys/kernel/arch")?.as_deref().and_then(arch_named) {
        return Ok(arch);
    }
    let cpuinfo = files.text(CPUINFO)?;
    Ok(cpuinfo.as_deref().map_or(Arch::Other, arch_of_cpuinfo))
}

/// The architecture in the output of `uname -a`: the last word that names one; hosts are called as they like.
fn arch_of_uname(text: &str) -> Option<Arch> {
    text.split_whitespace().rev().find_map(arch_named)
}

/// A sentence on an `uname` that does not tell architecture and release.
pub(super) fn odd_uname(files: &Files) -> Option<String> {
    let text = uname(files).ok()??;
    let whole = arch_of_uname(&text).is_some() && release_of(&text).is_some();
    (!whole).then(|| {
        format!("uname: found `{text}`, expected output of `uname -a`; it tells what it can.")
    })
}

fn release_of(text: &str) -> Option<String> {
    text.split_whitespace().nth(2).map(str::to_string)
}

/// Architecture by the fields that each one's `/proc/cpuinfo` has.
fn arch_of_cpuinfo(text: &str) -> Arch {
    if field(text, "cpu family").is_some() && field(text, "vendor_id").is_some() {
        return Arch::X86;
    }
    if field(text, "CPU architecture") == Some("8") {
        return Arch::Arm64;
    }
    let power = |cpu: &str| cpu.starts_with("POWER") || cpu.contains("altivec");
    if field(text, "cpu").is_some_and(power) { Arch::Powerpc } else { Arch::Other }
}

/// Vendor of the CPUs, as x86 kernels show it.
pub(super) fn vendor(files: &Files) -> Result<Option<String>, MachineError> {
    let cpuinfo = files.text(CPUINFO)?;
    Ok(cpuinfo.as_deref().and_then(|text| field(text, "vendor_id")).map(str::to_string))
}

/// Release of the kernel.
pub(super) fn release(files: &Files) -> Result<Option<String>, MachineError> {
    if let Some(release) = uname(files)?.as_deref().and_then(release_of) {
        return Ok(Some(release));
    }
    if let Some(release) = files.text("proc/sys/kernel/osrelease")? {
        return Ok(Some(release));
    }
    let gathered = files.text(NOFILE_INFO)?;
    Ok(gathered.as_deref().and_then(|text| field(text, "OSRelease")).map(str::to_string))
}
