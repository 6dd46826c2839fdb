//! A user's script in a guest, with programs and files of this computer.

use crate::board::Board;
use crate::boot::{Guest, Limits, boot};
use crate::foreign::{self, name_of, quoted, read};
use crate::frames::{Said, Stream};
use crate::initramfs::Initramfs;
use crate::qemu::Qemu;
use crate::sched_ext::BPFTOOL;
use crate::{Arch, Cache, KernelImage, VmError, guest};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Where programs are found before those of busybox.
const PROGRAMS: &str = "programs";
/// Where the script begins, and where files go that are given without a place.
const HOME: &str = "root";
/// The file with the script's exit code.
const STATUS: &str = "status";

/// A program that a guest gets, with the tree that has its libraries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    file: PathBuf,
    root: PathBuf,
}

impl Given {
    /// The program `file` of this computer, for guests of `arch` whose unpacked packages are `guest`.
    ///
    /// # Errors
    /// A file that is no program for `arch`, and libraries that are not there.
    pub fn own(file: &Path, arch: Arch, guest: &Path) -> Result<Given, VmError> {
        Ok(Given { file: file.to_owned(), root: foreign::root_of(file, arch, guest)? })
    }

    /// Debian's bpftool, which is fetched where it is missing.
    ///
    /// # Errors
    /// No programs for guests, and what apt says.
    pub fn bpftool(cache: &Cache, arch: Arch) -> Result<Given, VmError> {
        let root = cache.bpftool(arch)?;
        Ok(Given { file: root.join(BPFTOOL), root })
    }
}

/// What a script in a guest needs.
#[derive(Debug, Clone)]
pub struct Exec<'a> {
    /// The kernel.
    pub kernel: &'a KernelImage,
    /// Unpacked guest programs.
    pub tree: &'a Path,
    /// The machine.
    pub board: &'a Board,
    /// QEMU's arguments for the machine and what runs it.
    pub machine: &'a [String],
    /// What follows on the kernel's command line, the board's words included.
    pub append: &'a str,
    /// Programs that the script finds in its PATH.
    pub programs: &'a [Given],
    /// Files and directories of this computer, and where they go; a path without a leading slash begins in the script's directory.
    pub files: &'a [(PathBuf, String)],
    /// The script.
    pub script: &'a Path,
    /// How long it may take.
    pub limits: Limits,
}

impl Exec<'_> {
    /// Boots the guest, runs the script, and gives its exit code. What it prints goes to `print` as it comes, what else the guest
    /// says to `hear`.
    ///
    /// # Errors
    /// Programs and files that the guest cannot have, and all that can happen to a guest.
    pub fn run(
        &self,
        qemu: &Qemu,
        stop: &AtomicBool,
        print: &mut dyn FnMut(Stream, &str),
        hear: &mut dyn FnMut(&str),
    ) -> Result<u8, VmError> {
        let work = tempfile::Builder::new().prefix(".schedscape-vm").tempdir();
        let work = work.map_err(VmError::io(Path::new("temporary directory")))?;
        let initramfs = work.path().join("initramfs.gz");
        self.root()?.write(&initramfs)?;
        let guest = Guest {
            kernel: self.kernel,
            initramfs: &initramfs,
            machine: self.machine,
            edits: self.board.edits(),
            append: self.append,
            pinning: None,
            work: work.path(),
        };
        let mut code = None;
        boot(qemu, &guest, self.limits, &[stop], &mut |said| match said {
            Said::Printed { to, line } => print(to, &line),
            Said::Console(line) | Said::Note(line) => hear(&line),
            Said::File { name, content } if name == STATUS => {
                code = String::from_utf8_lossy(&content).trim().parse().ok();
            }
            Said::File { .. } | Said::Done => {}
        })?;
        code.ok_or_else(|| VmError::Failed {
            program: "guest".to_owned(),
            status: "done".to_owned(),
            message: "it sent no exit code".to_owned(),
        })
    }

    fn root(&self) -> Result<Initramfs, VmError> {
        let mut root = guest::base(self.tree, self.kernel)?;
        root.directory(HOME);
        let mut start = String::new();
        for (at, Given { file, root: libraries }) in self.programs.iter().enumerate() {
            let (dir, name) = (format!("{PROGRAMS}/{at}"), name_of(file));
            let words = foreign::add(&mut root, &dir, libraries, file, &name)?;
            let command = format!("{} \"$@\"", quoted(&words));
            root.file(
                &format!("{PROGRAMS}/bin/{name}"),
                0o755,
                format!("#!/bin/sh\nexec {command}\n"),
            );
            // Busybox's shell takes its own programs before it looks at PATH.
            if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                start.push_str(&format!("{name}() {{ {command}; }}\n"));
            }
        }
        for (from, to) in self.files {
            let to = match to.strip_prefix('/') {
                Some(path) => path.to_owned(),
                None => format!("{HOME}/{to}"),
            };
            add_file(&mut root, from, &to)?;
        }
        // Where programs look for the kernel's configuration.
        if self.kernel.config.exists() {
            let config = format!("boot/config-{}", self.kernel.release);
            root.file(&config, 0o644, read(&self.kernel.config)?);
        }
        root.file("script", 0o644, read(self.script)?);
        root.file("start", 0o644, start + ". /script\n");
        root.file("job", 0o644, format!("PATH=/{PROGRAMS}/bin:$PATH\nscript\n"));
        Ok(root)
    }
}

fn add_file(root: &mut Initramfs, from: &Path, to: &str) -> Result<(), VmError> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = from.metadata().map_err(VmError::io(from))?;
    if metadata.is_dir() {
        return root.tree_under(to.trim_end_matches('/'), from);
    }
    root.file(to, metadata.permissions().mode(), read(from)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_arch;

    /// The archive of a guest of `arch` with the program and the files.
    fn archive(arch: Arch, program: &str, files: &[(PathBuf, String)]) -> Result<Vec<u8>, String> {
        let dir = tempfile::tempdir().unwrap();
        let given = Given::own(Path::new(program), arch, dir.path()).map_err(|e| e.to_string())?;
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(path("tree/bin")).unwrap();
        std::fs::write(path("tree/bin/busybox"), "").unwrap();
        std::fs::write(path("script"), "true\n").unwrap();
        let kernel = KernelImage {
            version: (6, 12),
            release: "6.12.1-test".to_owned(),
            arch,
            image: path("vmlinuz"),
            config: path("config"),
            modules: None,
        };
        let machine = machine::qemu::read("-M q35 -smp 2").unwrap();
        let exec = Exec {
            kernel: &kernel,
            tree: &path("tree"),
            board: &Board::of(&machine, false).unwrap(),
            machine: &[],
            append: "",
            programs: &[given],
            files,
            script: &path("script"),
            limits: Limits { silent_s: 1, total_s: 1 },
        };
        exec.root().map(|root| root.archive()).map_err(|e| e.to_string())
    }

    #[test]
    fn programs_and_files_have_their_places() {
        let file = |to: &str| (PathBuf::from("/bin/sh"), to.to_owned());
        let archive = archive(host_arch().unwrap(), "/bin/sh", &[file("a"), file("/b/c")]).unwrap();
        let has = |text: &str| archive.windows(text.len()).any(|at| at == text.as_bytes());
        assert!(has("programs/bin/sh\0") && has("root/a\0") && has("b/c\0"));
        assert!(has(
            "exec /programs/0/bin/sh --library-path /programs/0/lib /programs/0/program \"$@\"\n"
        ));
    }

    #[test]
    fn a_program_for_another_architecture_is_refused() {
        let own = host_arch().unwrap();
        let other = if own == Arch::X86 { Arch::Arm64 } else { Arch::X86 };
        let error = archive(other, "/bin/sh", &[]).unwrap_err();
        assert!(
            error.contains("/bin/sh: found another architecture, expected a program"),
            "{error}"
        );
        let error = archive(own, "/bin/sh", &[("/nowhere".into(), "x".to_owned())]).unwrap_err();
        assert!(error.starts_with("/nowhere: "), "{error}");
    }
}
