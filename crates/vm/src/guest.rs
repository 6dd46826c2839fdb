//! What runs inside a guest.

use crate::VmError;
use crate::initramfs::Initramfs;
use std::path::Path;

/// The guest's `/init`: a script for busybox's shell, which runs `/job`.
pub(crate) const INIT: &str = include_str!("guest/init.sh");

/// A root with init and busybox out of the unpacked packages `programs`; `/job` is missing.
///
/// # Errors
/// Packages without busybox.
pub(crate) fn base(programs: &Path) -> Result<Initramfs, VmError> {
    // Older suites have it below `/bin`.
    let merged = programs.join("usr/bin/busybox");
    let busybox = if merged.exists() { merged } else { programs.join("bin/busybox") };
    let content = std::fs::read(&busybox).map_err(VmError::io(&busybox))?;
    let mut root = Initramfs::new();
    root.file("bin/busybox", 0o755, content);
    root.link("bin/sh", "busybox");
    root.file("init", 0o755, INIT);
    ["proc", "sys", "tmp", "run", "sbin", "usr/bin", "usr/sbin"]
        .iter()
        .for_each(|d| root.directory(d));
    Ok(root)
}
