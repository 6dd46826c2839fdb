//! Schedulers of the class sched_ext: what a guest needs to load one, and what it says of one.
//!
//! A scheduler is a program that loads a BPF program and holds it, or a BPF object that bpftool registers. Programs are `foreign`.

pub(crate) mod crates;
mod outcome;

pub use crates::Built;
pub use outcome::Outcome;
pub(crate) use outcome::failure;
pub use outcome::thrown_out;

use crate::foreign::{self, name_of, quoted, read};
use crate::initramfs::Initramfs;
use crate::packages::deb;
use crate::{Arch, Cache, VmError, elf};
use std::path::{Path, PathBuf};

/// What the guest's init runs for schedulers.
const SCRIPT: &str = include_str!("guest/scheduler.sh");
/// Where it is in a guest.
const SCRIPT_PATH: &str = "scheduler.sh";
/// Where bpftool is in its package.
pub(crate) const BPFTOOL: &str = "usr/sbin/bpftool";

/// A scheduler that guests of one architecture can load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheduler {
    /// Its name, for people and for the kernel.
    pub name: String,
    /// Its version; of a file, what tells it from others.
    pub version: String,
    /// Its arguments.
    pub options: Vec<String>,
    /// What is loaded.
    file: PathBuf,
    by: By,
}

/// How a scheduler is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
enum By {
    /// It loads itself. Its libraries are in the tree `root`.
    Itself { root: PathBuf },
    /// By bpftool, out of the packages unpacked in `tree`.
    Bpftool { tree: PathBuf },
}

impl Scheduler {
    /// The scheduler that the program `file` loads, for guests of `arch` whose unpacked packages are `guest`. Its libraries are this
    /// computer's, where it is of this computer's architecture, else the guests'.
    ///
    /// # Errors
    /// A file that is no program for `arch`, and libraries that are not there.
    pub fn program(file: &Path, arch: Arch, guest: &Path) -> Result<Scheduler, VmError> {
        let root = foreign::root_of(file, arch, guest)?;
        Ok(Scheduler {
            name: name_of(file),
            version: digest_of(file)?,
            options: Vec::new(),
            file: file.to_owned(),
            by: By::Itself { root },
        })
    }

    /// The scheduler in the BPF object `file`, which bpftool of `cache` registers in guests of `arch`; it is fetched where it is missing.
    ///
    /// # Errors
    /// A file that is no BPF object, and what apt says.
    pub fn object(file: &Path, arch: Arch, cache: &Cache) -> Result<Scheduler, VmError> {
        if elf::machine_of(file) != Some(object::elf::EM_BPF.0) {
            let expected = "a BPF object (clang -target bpf)".to_owned();
            return Err(VmError::Found {
                path: file.to_owned(),
                found: "another file".to_owned(),
                expected,
            });
        }
        Ok(Scheduler {
            name: name_of(file),
            version: digest_of(file)?,
            options: Vec::new(),
            file: file.to_owned(),
            by: By::Bpftool { tree: cache.bpftool(arch)? },
        })
    }

    /// A crate that was built for this computer's architecture.
    ///
    /// # Errors
    /// Libraries that are not there.
    pub fn of_crate(built: &Built, arch: Arch, guest: &Path) -> Result<Scheduler, VmError> {
        let program = Scheduler::program(&built.program, arch, guest)?;
        Ok(Scheduler { version: built.version.clone(), ..program })
    }

    /// The same with arguments.
    pub fn with_options(self, options: &[String]) -> Scheduler {
        Scheduler { options: options.to_vec(), ..self }
    }

    /// The file that is loaded, without its arguments.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Puts it into a guest as its scheduler number `at`, and gives what the guest's script says to load it.
    fn add_to(&self, guest: &mut Initramfs, at: usize) -> Result<String, VmError> {
        let dir = format!("schedulers/{at}");
        let words = match &self.by {
            By::Itself { root } => {
                let mut words = vec!["scheduler_program".to_owned()];
                words.extend(foreign::add(guest, &dir, root, &self.file, &self.name)?);
                words
            }
            By::Bpftool { tree } => {
                let object = format!("{dir}/scheduler.o");
                guest.file(&object, 0o644, read(&self.file)?);
                let mut words = vec!["scheduler_object".to_owned(), format!("/{object}")];
                words.extend(foreign::add(guest, &dir, tree, &tree.join(BPFTOOL), "bpftool")?);
                words
            }
        };
        Ok(quoted(words.iter().chain(&self.options)) + "\n")
    }
}

/// Puts all that `schedulers` need into a guest; by scheduler, what its runs say to load it.
pub(crate) fn add_all(
    guest: &mut Initramfs,
    schedulers: &[&Scheduler],
) -> Result<Vec<String>, VmError> {
    guest.file(SCRIPT_PATH, 0o644, SCRIPT);
    schedulers.iter().enumerate().map(|(at, scheduler)| scheduler.add_to(guest, at)).collect()
}

/// What a guest's job says before its first run, where one has a scheduler.
pub(crate) const JOB: &str = ". /scheduler.sh\n";

/// What tells a file from others, short enough for people.
///
/// # Errors
/// A file that cannot be read.
pub fn digest_of(file: &Path) -> Result<String, VmError> {
    Ok(format!("sha256:{}", crate::compile::checksum([read(file)?])))
}

impl Cache {
    /// bpftool for guests of `arch`, out of the suite of their programs, fetched where it is missing.
    ///
    /// # Errors
    /// No programs for guests, and what apt says.
    pub(crate) fn bpftool(&self, arch: Arch) -> Result<PathBuf, VmError> {
        let guest = self.guest(arch)?;
        let name = guest.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let suite = name.strip_suffix(&format!("-{arch}")).unwrap_or(&name);
        let dir = self.dir().join("bpftool").join(&name);
        if !dir.exists() {
            let files = self.apt(suite, arch)?.download_closure(&["bpftool"])?;
            deb::unpack(&files, &dir, &|path| !path.starts_with("usr/share"))?;
        }
        Ok(dir)
    }
}

#[cfg(test)]
#[path = "sched_ext/tests.rs"]
mod tests;
