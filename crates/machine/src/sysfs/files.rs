//! Reads the small text files of sysfs.

use crate::cpuset::CpuSet;
use crate::error::MachineError;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::str::FromStr;

/// A directory that holds `sys`.
#[derive(Clone, Copy)]
pub(super) struct Sysfs<'a> {
    pub(super) root: &'a Path,
}

impl Sysfs<'_> {
    /// An error about `path`, which is relative to the root.
    pub(super) fn error(
        &self,
        path: &str,
        found: impl Into<String>,
        expected: &str,
    ) -> MachineError {
        MachineError::Sysfs {
            root: self.root.display().to_string(),
            path: path.to_string(),
            found: found.into(),
            expected: expected.to_string(),
        }
    }

    /// Content of a file without surrounding blanks, `None` where there is no such file.
    pub(super) fn text(&self, path: &str) -> Result<Option<String>, MachineError> {
        match fs::read_to_string(self.root.join(path)) {
            Ok(text) => Ok(Some(text.trim().to_string())),
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(e) => Err(self.error(path, e.to_string(), "a readable text file")),
        }
    }

    /// A file that holds one number.
    pub(super) fn number<T: FromStr>(&self, path: &str) -> Result<Option<T>, MachineError> {
        let Some(text) = self.text(path)? else { return Ok(None) };
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(self.error(path, format!("`{text}`"), "a number")),
        }
    }

    /// A file that holds a CPU list.
    pub(super) fn cpu_list(&self, path: &str) -> Result<Option<CpuSet>, MachineError> {
        let Some(text) = self.text(path)? else { return Ok(None) };
        match text.parse() {
            Ok(set) => Ok(Some(set)),
            Err(_) => Err(self.error(
                path,
                format!("`{text}`"),
                &format!("a CPU list such as 0-3,8 with CPUs below {}", crate::MAX_CPUS),
            )),
        }
    }

    /// What a file must hold, where a reader cannot do without it.
    pub(super) fn require<T>(&self, path: &str, value: Option<T>) -> Result<T, MachineError> {
        value.ok_or_else(|| self.error(path, "no such file", "one"))
    }

    /// Numbers of the entries `PREFIXn` of a directory in ascending order; none where there is no directory.
    pub(super) fn numbered(&self, dir: &str, prefix: &str) -> Result<Vec<u32>, MachineError> {
        let entries = match fs::read_dir(self.root.join(dir)) {
            Ok(entries) => entries,
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Vec::new());
            }
            Err(e) => return Err(self.error(dir, e.to_string(), "a readable directory")),
        };
        let mut numbers = Vec::new();
        for entry in entries {
            let entry =
                entry.map_err(|e| self.error(dir, e.to_string(), "a readable directory"))?;
            let name = entry.file_name();
            let digits = name.to_str().and_then(|n| n.strip_prefix(prefix));
            if let Some(Ok(number)) = digits.map(str::parse) {
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}
