//! This computer while it is changed: what is set, read back, and put back.
//!
//! Every change goes through [`Computer`], which journals what undoes it before it makes it. Changes are undone in reverse order, so a
//! clock limit that was set while a CPU was offline goes before the CPU comes back.

use crate::journal::{Journal, Undo};
use crate::process::{self, Process};
use crate::{HostError, bpf, wakeups};
use setting::{Group, KernelFile};
use std::path::{Path, PathBuf};

/// Where the groups of variants are, below the root.
pub const GROUPS: &str = "/sys/fs/cgroup";
/// The name of the boot.
const BOOT_ID: &str = "proc/sys/kernel/random/boot_id";

/// This computer, and what was changed on it.
#[derive(Debug)]
pub struct Computer {
    root: PathBuf,
    journal: Journal,
}

impl Computer {
    /// Takes this computer, whose files are below `root` (`/` but for tests), for changes that are journaled in the file `journal`.
    ///
    /// # Errors
    /// Another process that has it, and changes that an earlier process left.
    pub fn take(root: &Path, journal: &Path) -> Result<Computer, HostError> {
        let computer = Computer::left(root, journal)?;
        match computer.journal.undos().is_empty() {
            true => Ok(computer),
            false => Err(HostError::NotRestored(journal.to_owned())),
        }
    }

    /// The same with the changes that an earlier process left.
    ///
    /// # Errors
    /// Another process that has it.
    pub fn left(root: &Path, journal: &Path) -> Result<Computer, HostError> {
        let id = root.join(BOOT_ID);
        let boot = std::fs::read_to_string(&id).map_err(HostError::io(&id))?;
        let journal = Journal::open(journal, boot.trim())?;
        Ok(Computer { root: root.to_owned(), journal })
    }

    /// How many changes are not undone.
    pub fn changes(&self) -> usize {
        self.journal.undos().len()
    }

    /// The file `path` of the kernel, which begins with `/`.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Writes `file`, unless it holds that already, and reads it back.
    ///
    /// # Errors
    /// What the kernel refuses, and a file that holds something else afterwards.
    pub fn set(&mut self, file: &KernelFile) -> Result<(), HostError> {
        let path = self.path(&file.path);
        let before = std::fs::read_to_string(&path).map_err(HostError::io(&path))?;
        if file.is_held_by(&before) {
            return Ok(());
        }
        self.journal.add(Undo::write(&file.undone(&before)))?;
        let written = self.write(file);
        // A write that the kernel refused has changed nothing, and what it does not know cannot be put back.
        if written.is_err() && std::fs::read_to_string(&path).is_ok_and(|now| now == before) {
            self.journal.truncate(self.changes() - 1)?;
        }
        written
    }

    /// Journals what the file `path` holds, so that it holds that at the end: a change that is about to be made has an effect on it.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn keep(&mut self, path: &str) -> Result<(), HostError> {
        let full = self.path(path);
        let now = std::fs::read_to_string(&full).map_err(HostError::io(&full))?;
        self.journal.add(Undo::write(&KernelFile::value(path, now.trim())))
    }

    fn write(&self, file: &KernelFile) -> Result<(), HostError> {
        let path = self.path(&file.path);
        // The kernel hears of no empty write.
        let bytes = if file.value.is_empty() { "\n" } else { &file.value };
        std::fs::write(&path, bytes).map_err(|source| HostError::Write {
            path: path.clone(),
            value: file.value.clone(),
            source,
        })?;
        let after = std::fs::read_to_string(&path).map_err(HostError::io(&path))?;
        match file.is_held_by(&after) {
            true => Ok(()),
            false => Err(HostError::NotHeld {
                path,
                found: after.trim().to_owned(),
                expected: file.value.clone(),
            }),
        }
    }

    /// Makes the control groups `groups`, those above first, and switches on the controllers that their files need.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn make_groups(&mut self, groups: &[Group]) -> Result<(), HostError> {
        let mut controllers: Vec<&str> = groups
            .iter()
            .flat_map(|g| &g.files)
            .filter_map(|(f, _)| Some(f.split_once('.')?.0))
            .collect();
        controllers.sort_unstable();
        controllers.dedup();
        let switch_on = |computer: &mut Computer, dir: &str| {
            controllers.iter().try_for_each(|controller| {
                computer.set(&KernelFile::member(
                    format!("{dir}/cgroup.subtree_control"),
                    format!("+{controller}"),
                ))
            })
        };
        if !groups.is_empty() {
            switch_on(self, GROUPS)?;
        }
        for group in groups {
            let dir = format!("{GROUPS}/{}", group.path);
            self.make_group(&dir)?;
            let has_groups = groups.iter().any(|g| g.path.starts_with(&format!("{}/", group.path)));
            if has_groups {
                switch_on(self, &dir)?;
            }
            // They go with their group: what they held is not to be put back.
            for (file, value) in &group.files {
                self.write(&KernelFile::value(format!("{dir}/{file}"), value))?;
            }
        }
        Ok(())
    }

    fn make_group(&mut self, dir: &str) -> Result<(), HostError> {
        let path = self.path(dir);
        if path.exists() {
            return Err(HostError::NotHere {
                field: "groups".to_owned(),
                found: format!("`{}`, which is there already", path.display()),
                expected: "a group of another name".to_owned(),
            });
        }
        self.journal.add(Undo::RemoveGroup { path: dir.to_owned() })?;
        std::fs::create_dir(&path).map_err(HostError::io(&path))
    }

    /// Journals that the process group of `process` is to be ended; what gives the place for [`Computer::ended`].
    ///
    /// # Errors
    /// A journal that cannot be written.
    pub fn started(&mut self, process: Process) -> Result<(), HostError> {
        self.journal.add(Undo::End { pid: process.pid, started: process.started })
    }

    /// Journals that the process group of `process` has ended.
    ///
    /// # Errors
    /// A journal that cannot be written.
    pub fn ended(&mut self, process: Process) -> Result<(), HostError> {
        let undo = Undo::End { pid: process.pid, started: process.started };
        match self.journal.undos().iter().rposition(|u| *u == undo) {
            Some(at) => self.journal.remove(at),
            None => Ok(()),
        }
    }

    /// Journals that the schedulers pinned in the directory `pins` are to be unregistered.
    ///
    /// # Errors
    /// A journal that cannot be written.
    pub fn registers(&mut self, pins: &str) -> Result<(), HostError> {
        self.journal.add(Undo::Unregister { pins: pins.to_owned() })
    }

    /// Journals that the counting of wake-ups in the directory `tracefs` is to end.
    ///
    /// # Errors
    /// A journal that cannot be written.
    pub(crate) fn traces(&mut self, tracefs: &str) -> Result<(), HostError> {
        self.journal.add(Undo::Untrace { tracefs: tracefs.to_owned() })
    }

    /// Puts back everything from change number `at` on, the last one first. It goes on after a failure.
    ///
    /// # Errors
    /// What could not be put back. It stays in the journal.
    pub fn undo_from(&mut self, at: usize) -> Result<(), HostError> {
        let mut failed = Vec::new();
        let mut kept = Vec::new();
        while self.journal.undos().len() > at {
            let last = self.journal.undos().len() - 1;
            let undo = self.journal.undos()[last].clone();
            if let Err(reason) = self.undo(&undo) {
                failed.push(reason.to_string());
                kept.push(undo);
            }
            self.journal.truncate(last)?;
        }
        // What is left is undone in the same order by the next who tries.
        kept.into_iter().rev().try_for_each(|undo| self.journal.add(undo))?;
        if failed.is_empty() { Ok(()) } else { Err(HostError::Left(failed)) }
    }

    fn undo(&self, undo: &Undo) -> Result<(), HostError> {
        match undo {
            Undo::Write { .. } => undo.file().map_or(Ok(()), |file| self.put_back(&file)),
            Undo::RemoveGroup { path } => self.remove_group(path),
            Undo::End { pid, started } => process::end(Process { pid: *pid, started: *started }),
            Undo::Untrace { tracefs } => wakeups::end(&self.path(tracefs)),
            Undo::Unregister { pins } => bpf::unregister(&self.path(pins)),
        }
    }

    /// Writes what a file held before. One that went away with its group or its CPU has nothing to put back.
    fn put_back(&self, file: &KernelFile) -> Result<(), HostError> {
        let path = self.path(&file.path);
        match std::fs::read_to_string(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Ok(now) if file.is_held_by(&now) => Ok(()),
            _ => self.write(file),
        }
    }

    fn remove_group(&self, dir: &str) -> Result<(), HostError> {
        let path = self.path(dir);
        if !path.exists() {
            return Ok(());
        }
        process::empty_group(&path, &self.path(GROUPS))?;
        std::fs::remove_dir(&path).map_err(HostError::io(&path))
    }
}
