//! What runs inside a guest.

use crate::initramfs::Initramfs;
use crate::{KernelImage, VmError};
use std::path::Path;

/// The guest's `/init`: a script for busybox's shell, which runs `/job`.
pub(crate) const INIT: &str = include_str!("guest/init.sh");

/// A root for `kernel` with its modules, and with init and busybox out of the unpacked packages `programs`; `/job` is missing.
///
/// # Errors
/// Packages without busybox, and modules that cannot be read.
pub(crate) fn base(programs: &Path, kernel: &KernelImage) -> Result<Initramfs, VmError> {
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
    if let Some(modules) = &kernel.modules {
        root.tree_under(&format!("lib/modules/{}", kernel.release), modules)?;
        // What the kernel calls for a module that it wants.
        root.link("sbin/modprobe", "../bin/busybox");
    }
    Ok(root)
}
