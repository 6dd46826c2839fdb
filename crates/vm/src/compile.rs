//! Small C programs of ours, built when they are needed and kept by what they are built from.
//!
//! This computer's compiler builds for its own architecture and an installed cross compiler for another. Where there is none, Debian's
//! compiler is fetched for the suite that this computer runs, since it runs with this computer's C library, and is run from where it was
//! unpacked: gcc finds its parts and its headers beside itself.

use crate::host::run;
use crate::packages::{deb, host_arch};
use crate::{Arch, Cache, VmError};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What says which Debian this computer runs.
const OS_RELEASE: &str = "/etc/os-release";
/// Where an unpacked compiler has its programs.
const PROGRAMS: &str = "usr/bin";

/// A program's source.
pub(crate) struct Sources {
    /// The directory of the cache that it is kept in.
    pub name: &'static str,
    /// Files that are compiled, by name.
    pub files: &'static [(&'static str, &'static str)],
    /// What they include.
    pub headers: &'static [(&'static str, &'static str)],
    /// How they are compiled.
    pub flags: &'static [&'static str],
    /// What they are linked with, after them.
    pub libraries: &'static [&'static str],
}

impl Sources {
    /// The name of the file that is built of it.
    fn file_name(&self, arch: Arch) -> String {
        format!("{}-{arch}", self.checksum())
    }

    /// Checksum of all that it is built from, short enough for a file name.
    fn checksum(&self) -> String {
        let files = self.files.iter().chain(self.headers);
        let texts = files.map(|(name, text)| format!("{name} {}\n{text}", text.len()));
        checksum(texts.chain([self.flags.join(" "), self.libraries.join(" ")]))
    }

    fn compile(&self, compiler: &Compiler, directory: &Path, to: &Path) -> Result<(), VmError> {
        let mut command = compiler.command();
        command.args(self.flags).current_dir(directory);
        command.args(self.files.iter().map(|(name, _)| name)).args(self.libraries);
        command.arg("-o").arg(to);
        run(&mut command).map(drop)
    }
}

impl Cache {
    /// The program of `sources` for `arch`, built if this source has not been built before.
    ///
    /// # Errors
    /// No compiler that does it, with what to install.
    pub(crate) fn build(&self, sources: &Sources, arch: Arch) -> Result<PathBuf, VmError> {
        if let Some(path) = self.built(sources, arch) {
            return Ok(path);
        }
        let dir = self.dir().join(sources.name);
        let path = dir.join(sources.file_name(arch));
        std::fs::create_dir_all(&dir).map_err(VmError::io(&dir))?;
        let work = tempfile::Builder::new().prefix(".build").tempdir_in(&dir);
        let work = work.map_err(VmError::io(&dir))?;
        for (name, text) in sources.files.iter().chain(sources.headers) {
            let file = work.path().join(name);
            std::fs::write(&file, text).map_err(VmError::io(&file))?;
        }
        let built = work.path().join(sources.name);
        self.compile(sources, arch, work.path(), &built)?;
        std::fs::rename(&built, &path).map_err(VmError::io(&path))?;
        Ok(path)
    }

    /// The program of `sources` for `arch`, where it is built.
    pub(crate) fn built(&self, sources: &Sources, arch: Arch) -> Option<PathBuf> {
        let path = self.dir().join(sources.name).join(sources.file_name(arch));
        Some(path).filter(|path| path.exists())
    }

    /// Builds with the first compiler that can.
    fn compile(
        &self,
        sources: &Sources,
        arch: Arch,
        directory: &Path,
        to: &Path,
    ) -> Result<(), VmError> {
        if sources.compile(&Compiler::installed(arch), directory, to).is_ok() {
            return Ok(());
        }
        let fetched = self.fetch_compiler(arch);
        let built = fetched.and_then(|compiler| sources.compile(&compiler, directory, to));
        built.map_err(|reason| none(arch, reason))
    }

    /// What kernels for `arch` are compiled with: `is_good` says whether the installed compiler will do, and if not, Debian's is fetched.
    ///
    /// # Errors
    /// No compiler, with the package that has it.
    pub fn cross_compiler(
        &self,
        arch: Arch,
        is_good: impl FnOnce(&str) -> bool,
    ) -> Result<Cross, VmError> {
        let cross = format!("{}-", triplet(arch));
        let own = host_arch().is_ok_and(|host| host == arch);
        let prefix = if own { String::new() } else { cross.clone() };
        if is_good(&prefix) {
            return Ok(Cross { prefix, programs: vec![], libraries: vec![] });
        }
        let root = self.fetch_compiler(arch).map_err(|reason| none(arch, reason))?.root;
        Ok(Cross {
            prefix: cross,
            programs: root.iter().map(|root| root.join(PROGRAMS)).collect(),
            libraries: root.iter().map(|root| libraries(root)).collect(),
        })
    }

    /// Debian's compiler for `arch`, unpacked in the cache.
    fn fetch_compiler(&self, arch: Arch) -> Result<Compiler, VmError> {
        let suite = own_suite()?;
        let root = self.dir().join("compilers").join(format!("{suite}-{arch}"));
        if !root.exists() {
            let apt = self.apt(&suite, host_arch()?)?;
            let names = packages(arch);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut files = apt.download_closure(&names)?;
            // The compiler's own C library is this computer's, to go with its loader.
            files.retain(|file| {
                !file.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"libc6_"))
            });
            deb::unpack(&files, &root, &|path| !path.starts_with("usr/share"))?;
        }
        Ok(Compiler::unpacked(&root, arch))
    }
}

/// Checksum of `parts` in a row, short enough for a file name.
pub(crate) fn checksum(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let mut sum = Sha256::new();
    parts.into_iter().for_each(|part| sum.update(part));
    sum.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// A compiler for kernels.
#[derive(Debug, Clone)]
pub struct Cross {
    /// What its programs' names begin with.
    pub prefix: String,
    /// Directories of its programs and of their libraries; nothing where it is installed.
    pub programs: Vec<PathBuf>,
    /// See [`Cross::programs`].
    pub libraries: Vec<PathBuf>,
}

/// No compiler for `arch`, because of `reason`.
fn none(arch: Arch, reason: VmError) -> VmError {
    VmError::NoCompiler {
        arch: arch.debian(),
        reason: Box::new(reason),
        install: format!("apt install {}", packages(arch).join(" ")),
    }
}

/// Where a compiler that was unpacked to `root` has its libraries.
fn libraries(root: &Path) -> PathBuf {
    root.join(format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH))
}

/// A compiler and how it is run.
struct Compiler {
    program: PathBuf,
    /// The tree that it was unpacked to.
    root: Option<PathBuf>,
}

impl Compiler {
    fn installed(arch: Arch) -> Compiler {
        let own = host_arch().is_ok_and(|host| host == arch);
        let program = if own { "cc".into() } else { format!("{}-gcc", triplet(arch)).into() };
        Compiler { program, root: None }
    }

    fn unpacked(root: &Path, arch: Arch) -> Compiler {
        let program = root.join(PROGRAMS).join(format!("{}-gcc", triplet(arch)));
        Compiler { program, root: Some(root.to_owned()) }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env("LC_ALL", "C");
        if let Some(root) = &self.root {
            command.env("LD_LIBRARY_PATH", libraries(root));
            let mut sysroot = OsString::from("--sysroot=");
            sysroot.push(root);
            command.arg(sysroot);
        }
        command
    }
}

/// The packages of a compiler for `arch` on this computer.
fn packages(arch: Arch) -> [String; 2] {
    match host_arch() {
        Ok(host) if host == arch => ["gcc".to_owned(), "libc6-dev".to_owned()],
        _ => {
            // A package's name has no underscore.
            let gcc = format!("gcc-{}", triplet(arch)).replace('_', "-");
            [gcc, format!("libc6-dev-{arch}-cross")]
        }
    }
}

/// What compilers call an architecture.
fn triplet(arch: Arch) -> &'static str {
    match arch {
        Arch::X86 => "x86_64-linux-gnu",
        Arch::Arm64 => "aarch64-linux-gnu",
        Arch::Powerpc => "powerpc64le-linux-gnu",
    }
}

/// The suite that this computer runs.
fn own_suite() -> Result<String, VmError> {
    let path = Path::new(OS_RELEASE);
    let text = std::fs::read_to_string(path).map_err(VmError::io(path))?;
    codename(&text).map(str::to_owned).ok_or_else(|| VmError::Failed {
        program: OS_RELEASE.to_owned(),
        status: "no VERSION_CODENAME".to_owned(),
        message: "expected the name of a Debian suite".to_owned(),
    })
}

fn codename(os_release: &str) -> Option<&str> {
    let name = os_release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="))?;
    Some(name.trim_matches('"')).filter(|name| !name.is_empty())
}

#[cfg(test)]
#[path = "compile/tests.rs"]
mod tests;
