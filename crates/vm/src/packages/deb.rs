//! Unpacking of packages into a directory that appears when it is whole.

use crate::VmError;
use crate::host::missing;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Unpacks what `wanted` takes of `packages` into the new directory `to`.
pub(crate) fn unpack(
    packages: &[PathBuf],
    to: &Path,
    wanted: &dyn Fn(&Path) -> bool,
) -> Result<(), VmError> {
    let partial = to.with_extension("partial");
    if partial.exists() {
        std::fs::remove_dir_all(&partial).map_err(VmError::io(&partial))?;
    }
    std::fs::create_dir_all(&partial).map_err(VmError::io(&partial))?;
    packages.iter().try_for_each(|package| one(package, &partial, wanted))?;
    std::fs::rename(&partial, to).map_err(VmError::io(to))
}

fn one(package: &Path, to: &Path, wanted: &dyn Fn(&Path) -> bool) -> Result<(), VmError> {
    let program = "dpkg-deb";
    let mut child = Command::new(program)
        .arg("--fsys-tarfile")
        .arg(package)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|source| missing(program, source))?;
    let unpacked = child.stdout.take().map_or(Ok(()), |pipe| files(pipe, to, wanted));
    let status = child.wait().map_err(VmError::io(package))?;
    unpacked.map_err(VmError::io(package))?;
    match status.success() {
        true => Ok(()),
        false => Err(VmError::Failed {
            program: program.to_owned(),
            status: status.to_string(),
            message: package.display().to_string(),
        }),
    }
}

fn files(
    pipe: impl std::io::Read,
    to: &Path,
    wanted: &dyn Fn(&Path) -> bool,
) -> std::io::Result<()> {
    let mut archive = tar::Archive::new(pipe);
    archive.set_preserve_mtime(false);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let path = path.strip_prefix(".").unwrap_or(&path);
        if entry.header().entry_type().is_dir() || !wanted(path) {
            continue;
        }
        entry.unpack_in(to)?;
    }
    Ok(())
}
