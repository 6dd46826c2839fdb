//! Schedulers of the class sched_ext: what a guest needs to load one, and what it says of one.
//!
//! A scheduler is a program that loads a BPF program and holds it, or a BPF object that bpftool registers. A program brings its own
//! loader and libraries, in a directory of its own: it was not built for the guest's Debian, and nothing else in the guest is to change.
//! The loader goes by the program's name, since that is how the kernel calls the task.

pub(crate) mod crates;
mod outcome;

pub use crates::Built;
pub use outcome::Outcome;
pub(crate) use outcome::failure;
pub use outcome::thrown_out;

use crate::initramfs::Initramfs;
use crate::packages::{deb, host_arch};
use crate::{Arch, Cache, VmError, elf};
use std::path::{Path, PathBuf};

/// What the guest's init runs for schedulers.
const SCRIPT: &str = include_str!("guest/scheduler.sh");
/// Where it is in a guest.
const SCRIPT_PATH: &str = "scheduler.sh";
/// Where bpftool is in its package.
const BPFTOOL: &str = "usr/sbin/bpftool";

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
        let machine = elf::machine_of(file);
        if machine != Some(arch.elf_machine()) {
            let found = if machine.is_some() { "another architecture" } else { "no program" };
            let expected = format!("a program for {arch}");
            return Err(VmError::Found { path: file.to_owned(), found: found.into(), expected });
        }
        let own = host_arch().is_ok_and(|host| host == arch);
        let root = if own { PathBuf::from("/") } else { guest.to_owned() };
        elf::foreign(&root, file)?;
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
                words.extend(program(guest, &dir, root, &self.file, &self.name)?);
                words
            }
            By::Bpftool { tree } => {
                let object = format!("{dir}/scheduler.o");
                guest.file(&object, 0o644, read(&self.file)?);
                let mut words = vec!["scheduler_object".to_owned(), format!("/{object}")];
                words.extend(program(guest, &dir, tree, &tree.join(BPFTOOL), "bpftool")?);
                words
            }
        };
        Ok(words.iter().chain(&self.options).map(|w| quoted(w)).collect::<Vec<_>>().join(" ")
            + "\n")
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

/// Puts the program `file`, whose libraries are in the tree `root`, into a guest below `dir`, to be started as `name`; gives the command.
fn program(
    guest: &mut Initramfs,
    dir: &str,
    root: &Path,
    file: &Path,
    name: &str,
) -> Result<Vec<String>, VmError> {
    let needed = elf::foreign(root, file)?;
    let start = format!("{dir}/bin/{name}");
    let Some(loader) = &needed.loader else {
        guest.file(&start, 0o755, read(file)?);
        return Ok(vec![format!("/{start}")]);
    };
    guest.file(&start, 0o755, read(&root.join(loader))?);
    let own = format!("{dir}/program");
    guest.file(&own, 0o755, read(file)?);
    let libraries = format!("{dir}/lib");
    for (name, path) in &needed.libraries {
        guest.file(&format!("{libraries}/{}", name.display()), 0o755, read(&root.join(path))?);
    }
    let words = [start, "--library-path".to_owned(), libraries, own];
    let absolute = |word: String| if word.starts_with('-') { word } else { format!("/{word}") };
    Ok(words.map(absolute).to_vec())
}

fn read(path: &Path) -> Result<Vec<u8>, VmError> {
    std::fs::read(path).map_err(VmError::io(path))
}

fn name_of(file: &Path) -> String {
    file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// What tells a file from others, short enough for people.
///
/// # Errors
/// A file that cannot be read.
pub fn digest_of(file: &Path) -> Result<String, VmError> {
    Ok(format!("sha256:{}", crate::compile::checksum([read(file)?])))
}

/// A word as the shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-=:,".contains(c);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

impl Cache {
    /// bpftool for guests of `arch`, out of the suite of their programs, fetched where it is missing.
    ///
    /// # Errors
    /// No programs for guests, and what apt says.
    fn bpftool(&self, arch: Arch) -> Result<PathBuf, VmError> {
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
