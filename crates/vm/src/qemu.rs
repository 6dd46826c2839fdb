//! QEMU itself: the system's where it is new enough, else the fetched one.

use crate::{Arch, Cache, VmError};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest QEMU whose machines can say all that we describe (`smp-cache`, big cores of powernv).
pub const OLDEST: (u32, u32) = (9, 2);

/// A QEMU that works.
#[derive(Debug, Clone)]
pub struct Qemu {
    /// What runs: the program, or the dynamic loader with the program as argument.
    program: PathBuf,
    arguments: Vec<String>,
    /// Its version.
    pub version: (u32, u32),
}

impl Qemu {
    /// The system's QEMU for `arch` if it is not older than [`OLDEST`], else the one that the cache has.
    ///
    /// # Errors
    /// Neither is there.
    pub fn find(cache: &Cache, arch: Arch) -> Result<Qemu, VmError> {
        if let Ok(found) = Qemu::at(Path::new(arch.qemu()))
            && found.version >= OLDEST
        {
            return Ok(found);
        }
        match cache.fetched_qemu(arch)? {
            Some(root) => Qemu::in_tree(&root, arch),
            None => Err(VmError::NoQemu { arch: arch.debian() }),
        }
    }

    /// The QEMU that is the program at `path`.
    ///
    /// # Errors
    /// A program that does not say its version.
    pub fn at(path: &Path) -> Result<Qemu, VmError> {
        Qemu { program: path.to_owned(), arguments: Vec::new(), version: (0, 0) }.checked()
    }

    /// The QEMU in a tree of unpacked packages, run by the tree's own loader with the tree's libraries.
    ///
    /// # Errors
    /// A tree without it, and a QEMU that does not start.
    pub(crate) fn in_tree(root: &Path, arch: Arch) -> Result<Qemu, VmError> {
        let lib = root.join("usr/lib").join(library_directory());
        let loader = loader(&lib).ok_or(VmError::NoQemu { arch: arch.debian() })?;
        let path = |p: PathBuf| p.display().to_string();
        let share = root.join("usr/share");
        let mut arguments = vec![
            "--library-path".to_owned(),
            path(lib),
            path(root.join("usr/bin").join(arch.qemu())),
        ];
        for data in ["qemu", "seabios", "qemu-efi-aarch64"] {
            arguments.extend(["-L".to_owned(), path(share.join(data))]);
        }
        Qemu { program: loader, arguments, version: (0, 0) }.checked()
    }

    /// Where it comes from: the program, or the loader that runs the fetched one.
    pub fn place(&self) -> String {
        self.program.display().to_string()
    }

    /// A command that still lacks the machine.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }

    /// The same with the version that it says it has.
    fn checked(self) -> Result<Qemu, VmError> {
        let said = crate::host::run(self.command().arg("--version"))?;
        let version = version_of(&said).ok_or_else(|| VmError::Failed {
            program: self.program.display().to_string(),
            status: "no version".to_owned(),
            message: said.lines().next().unwrap_or("nothing said").to_owned(),
        })?;
        Ok(Qemu { version, ..self })
    }
}

/// Debian's directory of libraries on this computer.
fn library_directory() -> String {
    format!("{}-linux-gnu", std::env::consts::ARCH)
}

/// The dynamic loader among the libraries.
fn loader(lib: &Path) -> Option<PathBuf> {
    let mut names: Vec<PathBuf> =
        std::fs::read_dir(lib).ok()?.filter_map(|e| Some(e.ok()?.path())).collect();
    names.sort();
    let is_loader = |p: &PathBuf| {
        p.file_name()
            .and_then(|n| n.to_str())
            .is_some_and(|n| n.starts_with("ld-linux") || n.starts_with("ld64"))
    };
    names.into_iter().find(is_loader)
}

/// `QEMU emulator version 10.0.13 (…)`.
fn version_of(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.split_once("version ")?.1.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let said = "QEMU emulator version 10.0.13 (Debian 1:10.0.13+ds-0+deb13u1)\nCopyright";
        assert_eq!(version_of(said), Some((10, 0)));
        assert!(version_of(said).unwrap() > OLDEST);
        assert_eq!(version_of("bash: not found"), None);
    }
}
