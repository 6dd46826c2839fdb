//! The small text files that describe a machine: below a directory, or unpacked in memory.

mod archive;
mod listing;
mod memory;

pub(crate) use archive::unpack;
pub(crate) use listing::{is_listing, parse as parse_listing};
pub(crate) use memory::Memory;

use crate::cpuset::CpuSet;
use crate::error::MachineError;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Where the kernel describes CPUs.
pub(crate) const CPU_DIR: &str = "sys/devices/system/cpu";
/// Where it describes NUMA nodes.
pub(crate) const NODE_DIR: &str = "sys/devices/system/node";

/// Files by their path below a root; paths use `/` and do not begin with it.
#[derive(Debug, Clone)]
pub(crate) enum Files {
    /// Below a directory.
    Directory(PathBuf),
    /// In memory.
    Memory(Memory),
}

impl Files {
    /// What errors call the root.
    pub(crate) fn root(&self) -> String {
        match self {
            Files::Directory(root) => root.display().to_string(),
            Files::Memory(memory) => memory.name().to_string(),
        }
    }

    /// An error about `path`.
    pub(crate) fn error(
        &self,
        path: &str,
        found: impl Into<String>,
        expected: &str,
    ) -> MachineError {
        MachineError::Sysfs {
            root: self.root(),
            path: path.to_string(),
            found: found.into(),
            expected: expected.to_string(),
        }
    }

    /// Content of a file, `None` where there is no such file.
    pub(crate) fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>, MachineError> {
        match self {
            Files::Memory(memory) => Ok(memory.file(path).map(<[u8]>::to_vec)),
            Files::Directory(root) => match read(&root.join(path)) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(e) if is_absence(e.kind()) => Ok(None),
                Err(e) => Err(self.error(path, e.to_string(), "a readable file")),
            },
        }
    }

    /// Content of a text file up to its first NUL (gathering tools pad with them) and without surrounding blanks,
    /// `None` where there is no such file.
    pub(crate) fn text(&self, path: &str) -> Result<Option<String>, MachineError> {
        let Some(mut bytes) = self.bytes(path)? else { return Ok(None) };
        bytes.truncate(bytes.iter().position(|&b| b == 0).map_or(bytes.len(), |end| end));
        match String::from_utf8(bytes) {
            Ok(mut text) => {
                text.truncate(text.trim_end().len());
                let blanks = text.len() - text.trim_start().len();
                text.drain(..blanks);
                Ok(Some(text))
            }
            Err(_) => Err(self.error(path, "bytes that are no UTF-8", "a text file")),
        }
    }

    /// A file that holds a CPU list (`0-3,8`).
    pub(crate) fn cpu_list(&self, path: &str) -> Result<Option<CpuSet>, MachineError> {
        let Some(text) = self.text(path)? else { return Ok(None) };
        match text.parse() {
            Ok(set) => Ok(Some(set)),
            Err(_) => Err(self.error(
                path,
                quoted(&text),
                &format!("a CPU list such as 0-3,8 with CPUs below {}", crate::MAX_CPUS),
            )),
        }
    }

    /// A file that holds a CPU mask (`ff,ffffffff`).
    pub(crate) fn cpu_mask(&self, path: &str) -> Result<Option<CpuSet>, MachineError> {
        let Some(text) = self.text(path)? else { return Ok(None) };
        match CpuSet::from_mask(&text) {
            Ok(set) => Ok(Some(set)),
            Err(_) => Err(self.error(
                path,
                quoted(&text),
                &format!("a CPU mask such as ff,ffffffff with CPUs below {}", crate::MAX_CPUS),
            )),
        }
    }

    /// Names in a directory, in no order; none where there is no directory.
    pub(crate) fn entries(&self, dir: &str) -> Result<Vec<String>, MachineError> {
        let root = match self {
            Files::Memory(memory) => return Ok(memory.entries(dir)),
            Files::Directory(root) => root,
        };
        let unreadable =
            |e: &std::io::Error| self.error(dir, e.to_string(), "a readable directory");
        let entries = match fs::read_dir(root.join(dir)) {
            Ok(entries) => entries,
            Err(e) if is_absence(e.kind()) => return Ok(Vec::new()),
            Err(e) => return Err(unreadable(&e)),
        };
        let mut names = Vec::new();
        for entry in entries {
            // A name that is no UTF-8 is none that the kernel gives.
            if let Ok(name) = entry.map_err(|e| unreadable(&e))?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Numbers of the entries `PREFIXn` of a directory in ascending order; none where there is no directory.
    pub(crate) fn numbered(&self, dir: &str, prefix: &str) -> Result<Vec<u32>, MachineError> {
        let names = self.entries(dir)?;
        let number = |name: &String| name.strip_prefix(prefix)?.parse().ok();
        let mut numbers: Vec<u32> = names.iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// Whether there is such a directory.
    pub(crate) fn is_dir(&self, path: &str) -> bool {
        match self {
            Files::Directory(root) => root.join(path).is_dir(),
            Files::Memory(memory) => memory.is_dir(path),
        }
    }

    /// Whether there is such a file.
    pub(crate) fn is_file(&self, path: &str) -> bool {
        match self {
            Files::Directory(root) => root.join(path).is_file(),
            Files::Memory(memory) => memory.file(path).is_some(),
        }
    }

    /// The same files seen from `dir`; `..` leaves it again only in a real directory.
    pub(crate) fn at(&self, dir: &str) -> Files {
        match self {
            Files::Directory(root) => Files::Directory(root.join(dir)),
            Files::Memory(memory) => Files::Memory(memory.at(dir)),
        }
    }

    /// A directory of the file system, where the files are in one.
    pub(crate) fn directory(&self) -> Option<&Path> {
        match self {
            Files::Directory(root) => Some(root),
            Files::Memory(_) => None,
        }
    }
}

/// Content of a file. The kernel's files are shorter than the buffer and come whole in one read, so neither their size
/// nor their end is asked for.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut buffer = [0; 4096];
    let start = file.read(&mut buffer)?;
    let mut content = buffer[..start].to_vec();
    if start == buffer.len() {
        file.read_to_end(&mut content)?;
    }
    Ok(content)
}

fn is_absence(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory)
}

/// `text` in quotes, cut where it is long.
fn quoted(text: &str) -> String {
    const SHOWN: usize = 80;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}
