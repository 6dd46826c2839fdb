//! What was changed on this computer and is not put back yet, on disk.
//!
//! A line is written, and on the disk, before the change that it undoes is made. So whatever ends the process, `schedscape host
//! restore` knows what may have been changed. A change that was journaled and never made is put back to what it was.
//!
//! Settings of the kernel do not survive a boot. A journal of another boot has nothing left to put back.

use crate::HostError;
use serde::{Deserialize, Serialize};
use setting::{Form, KernelFile};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// What puts one change back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Undo {
    /// Writes to a file of the kernel.
    Write {
        /// The file, below the root.
        path: String,
        /// What is written.
        value: String,
        /// How it is read back.
        form: FormName,
    },
    /// Removes a control group, whose tasks go to the root group.
    RemoveGroup {
        /// Its directory, below the root.
        path: String,
    },
    /// Ends a process and those that it started.
    End {
        /// The leader of its process group.
        pid: i32,
        /// When it started, in clock ticks since boot (field 22 of `/proc/PID/stat`): another process may get the number.
        started: u64,
    },
    /// Ends the counting of wake-ups.
    Untrace {
        /// Where tracefs is, below the root.
        tracefs: String,
    },
    /// Unregisters the BPF schedulers that are loaded, and removes what pins them.
    Unregister {
        /// The directory that pins them.
        pins: String,
    },
}

/// A [`Form`] by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormName {
    /// See [`Form::Value`].
    Value,
    /// See [`Form::Choice`].
    Choice,
    /// See [`Form::Feature`].
    Feature,
    /// See [`Form::Member`].
    Member,
}

impl Undo {
    /// The write of `file`.
    pub fn write(file: &KernelFile) -> Undo {
        let form = match file.form {
            Form::Value => FormName::Value,
            Form::Choice => FormName::Choice,
            Form::Feature => FormName::Feature,
            Form::Member => FormName::Member,
        };
        Undo::Write { path: file.path.clone(), value: file.value.clone(), form }
    }

    /// The write that it makes, where it is one.
    pub fn file(&self) -> Option<KernelFile> {
        let Undo::Write { path, value, form } = self else { return None };
        let form = match form {
            FormName::Value => Form::Value,
            FormName::Choice => Form::Choice,
            FormName::Feature => Form::Feature,
            FormName::Member => Form::Member,
        };
        Some(KernelFile { path: path.clone(), value: value.clone(), form })
    }
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Boot {
    boot: String,
}

/// The open journal. While it is open no other process has this computer.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// Locked while the journal is open.
    lock: File,
    boot: String,
    /// What is to be undone, in the order in which it was done.
    undos: Vec<Undo>,
}

impl Journal {
    /// Opens the journal at `path`, in a directory that is made if it is missing, for a computer whose boot is called `boot`. What
    /// another boot left is dropped: it went with that boot.
    ///
    /// # Errors
    /// A journal that another process has open, one that cannot be read or written, lines that are none.
    pub fn open(path: &Path, boot: &str) -> Result<Journal, HostError> {
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(HostError::io(dir))?;
        }
        let lock = path.with_extension("lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&lock);
        let file = file.map_err(HostError::io(&lock))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(HostError::InUse(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(HostError::io(&lock)(source)),
        }
        let text = match std::fs::read_to_string(path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            text => text.map_err(HostError::io(path))?,
        };
        let undos = parse(&text, boot).map_err(|(line, found)| HostError::Journal {
            path: path.to_owned(),
            line,
            found,
        })?;
        Ok(Journal { path: path.to_owned(), lock: file, boot: boot.to_owned(), undos })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is not undone yet, in the order in which it was done.
    pub fn undos(&self) -> &[Undo] {
        &self.undos
    }

    /// Adds what undoes a change that is about to be made. It is on the disk when this returns.
    ///
    /// # Errors
    /// A disk that does not take it.
    pub fn add(&mut self, undo: Undo) -> Result<(), HostError> {
        self.undos.push(undo);
        self.keep()
    }

    /// Takes away the undos from number `at` on, which were made.
    ///
    /// # Errors
    /// A disk that does not take it.
    pub fn truncate(&mut self, at: usize) -> Result<(), HostError> {
        self.undos.truncate(at);
        self.keep()
    }

    /// Takes away the undo at `at`.
    ///
    /// # Errors
    /// A disk that does not take it.
    pub fn remove(&mut self, at: usize) -> Result<(), HostError> {
        self.undos.remove(at);
        self.keep()
    }

    /// Puts all of it in the place of what was there.
    fn keep(&self) -> Result<(), HostError> {
        let io = || HostError::io(&self.path);
        if self.undos.is_empty() {
            return match std::fs::remove_file(&self.path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(io()(e)),
                _ => Ok(()),
            };
        }
        let mut lines = vec![serde_json::to_string(&Boot { boot: self.boot.clone() })];
        lines.extend(self.undos.iter().map(serde_json::to_string));
        let lines = lines.into_iter().collect::<Result<Vec<_>, _>>();
        let text = lines.map_err(|e| io()(e.into()))?.join("\n") + "\n";
        let dir = self.path.parent().unwrap_or(Path::new("."));
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(dir)?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&self.path)?;
            File::open(dir)?.sync_all()
        };
        write().map_err(io())
    }
}

impl Drop for Journal {
    /// A child that another thread is just starting has the file open, too, so closing it is not enough.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

/// What the journal `text` has to undo in `boot`; the error is a line and what it says.
fn parse(text: &str, boot: &str) -> Result<Vec<Undo>, (usize, String)> {
    let Some((first, rest)) = text.split_once('\n') else { return Ok(vec![]) };
    let of: Boot = serde_json::from_str(first).map_err(|_| (1, format!("`{first}`")))?;
    if of.boot != boot {
        return Ok(vec![]);
    }
    let undo = |(at, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|_| (at + 2, format!("`{line}`")))
    };
    rest.lines().enumerate().map(undo).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn undo(path: &str) -> Undo {
        Undo::write(&KernelFile::value(path, 1))
    }

    #[test]
    fn what_was_added_comes_back_and_what_was_undone_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/journal");
        let mut journal = Journal::open(&path, "a").unwrap();
        for name in ["/x", "/y", "/z"] {
            journal.add(undo(name)).unwrap();
        }
        assert!(matches!(Journal::open(&path, "a"), Err(HostError::InUse(_))));
        journal.truncate(2).unwrap();
        journal.remove(0).unwrap();
        drop(journal);
        assert_eq!(Journal::open(&path, "a").unwrap().undos(), [undo("/y")]);
        assert!(Journal::open(&path, "b").unwrap().undos().is_empty(), "another boot");
        let mut journal = Journal::open(&path, "a").unwrap();
        journal.truncate(0).unwrap();
        assert!(!path.exists(), "nothing is left to undo");
    }

    #[test]
    fn lines_that_are_none_are_named() {
        let line = serde_json::to_string(&undo("/x")).unwrap();
        let bad = format!("{{\"boot\":\"a\"}}\n{}\n{line}\n", &line[..10]);
        assert_eq!(parse(&bad, "a").unwrap_err().0, 2);
        assert_eq!(parse("rubbish\n", "a").unwrap_err().0, 1);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(?s).{0,200}") {
            let _ = parse(&text, "a");
        }
    }
}
