//! sysfs as the readers see it: a file that cannot be read counts as absent and is noted.

use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::files::Files;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;

/// Notes of odd files that are written out; more are counted.
const MOST_NOTES: usize = 20;

/// Files of a sysfs, and notes of those that are left out.
pub(super) struct Sysfs<'a> {
    files: &'a Files,
    notes: RefCell<Notes>,
}

#[derive(Default)]
struct Notes {
    /// Odd files: several readers may come to the same one.
    paths: BTreeSet<String>,
    /// Sentences on the first of them.
    sentences: Vec<String>,
}

impl<'a> Sysfs<'a> {
    pub(super) fn new(files: &'a Files) -> Sysfs<'a> {
        Sysfs { files, notes: RefCell::default() }
    }

    /// The files themselves, where an odd one is an error.
    pub(super) fn strict(&self) -> &'a Files {
        self.files
    }

    /// Notes that `path` holds something that cannot be meant.
    pub(super) fn odd(&self, path: &str, found: impl Display, expected: impl Display) {
        self.note(path, format!("found {found}, expected {expected}; it is left out."));
    }

    /// Notes what is to be said of `path`.
    pub(super) fn note(&self, path: &str, what: impl Display) {
        let mut notes = self.notes.borrow_mut();
        if notes.paths.insert(path.to_string()) && notes.sentences.len() < MOST_NOTES {
            notes.sentences.push(format!("{path}: {what}"));
        }
    }

    /// What was noted, one sentence for each file.
    pub(super) fn into_notes(self) -> Vec<String> {
        let Notes { paths, mut sentences } = self.notes.into_inner();
        let more = paths.len() - sentences.len();
        if more > 0 {
            sentences.push(format!("{more} more files of sysfs are odd; they are left out."));
        }
        sentences
    }

    /// What was read; an error becomes a note.
    fn kept<T: Default>(&self, read: Result<T, MachineError>) -> T {
        match read {
            Ok(value) => value,
            Err(MachineError::Sysfs { path, found, expected, .. }) => {
                self.odd(&path, found, expected);
                T::default()
            }
            Err(other) => {
                self.odd("sysfs", other, "readable files");
                T::default()
            }
        }
    }

    pub(super) fn text(&self, path: &str) -> Option<String> {
        self.kept(self.files.text(path))
    }

    /// A file that holds one number; an empty one counts as absent (old kernels, files of offline CPUs).
    pub(super) fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        let text = self.text(path).filter(|text| !text.is_empty())?;
        match text.parse() {
            Ok(number) => Some(number),
            Err(_) => {
                self.odd(path, format!("`{text}`"), "a number");
                None
            }
        }
    }

    pub(super) fn cpu_list(&self, path: &str) -> Option<CpuSet> {
        self.kept(self.files.cpu_list(path))
    }

    /// CPUs from the first of `masks` (file names in `dir`) that can be read, else from the first of `lists`, with the
    /// path of the file.
    pub(super) fn cpus(
        &self,
        dir: &str,
        masks: &[&str],
        lists: &[&str],
    ) -> Option<(String, CpuSet)> {
        let mask = |file: &&str| {
            let path = format!("{dir}/{file}");
            let set = self.kept(self.files.cpu_mask(&path))?;
            Some((path, set))
        };
        let list = |file: &&str| {
            let path = format!("{dir}/{file}");
            let set = self.cpu_list(&path)?;
            Some((path, set))
        };
        masks.iter().find_map(mask).or_else(|| lists.iter().find_map(list))
    }

    pub(super) fn numbered(&self, dir: &str, prefix: &str) -> Vec<u32> {
        self.kept(self.files.numbered(dir, prefix))
    }

    pub(super) fn is_file(&self, path: &str) -> bool {
        self.files.is_file(path)
    }
}
