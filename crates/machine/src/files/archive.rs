//! Archives of `/sys` and what belongs to it: tar, plain or packed with gzip or bzip2.

use super::memory::Memory;
use crate::error::MachineError;
use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use std::io::{Error, Read};

/// Bytes of an archive that are unpacked before it counts as none of ours.
const MAX_UNPACKED: u64 = 256 << 20;
/// Size of the largest file that is of interest (a device tree).
const MAX_FILE: u64 = 4 << 20;

/// Unpacks the files of the archive `bytes` that describe a machine; errors call it `name`.
///
/// # Errors
/// Bytes that are no archive of one of the three kinds, damaged ones, and archives beyond [`MAX_UNPACKED`].
pub(crate) fn unpack(bytes: &[u8], name: &str) -> Result<Memory, MachineError> {
    let packed: Box<dyn Read + '_> = match bytes {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(bytes)),
        [b'B', b'Z', b'h', ..] => Box::new(MultiBzDecoder::new(bytes)),
        _ => Box::new(bytes),
    };
    let damaged = |e: &Error| MachineError::File {
        file: name.to_string(),
        found: e.to_string(),
        expected: "a tar archive, plain or packed with gzip or bzip2".to_string(),
    };
    let mut files = Vec::new();
    let mut limited = Limited { inner: packed, left: MAX_UNPACKED };
    let mut archive = tar::Archive::new(&mut limited);
    for entry in archive.entries().map_err(|e| damaged(&e))? {
        let mut entry = entry.map_err(|e| damaged(&e))?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let path = path.trim_start_matches("./").to_string();
        if !is_of_interest(&path) {
            continue;
        }
        let content = if entry.header().entry_type().is_file() && entry.size() <= MAX_FILE {
            let mut content = Vec::new();
            entry.read_to_end(&mut content).map_err(|e| damaged(&e))?;
            Some(content)
        } else {
            None
        };
        files.push((path, content));
    }
    if files.is_empty() {
        return Err(damaged(&Error::other("no file below sys/devices/system")));
    }
    Ok(Memory::new(name, files))
}

/// Whether a path may say something about a machine: what a reader asks for, and no more, as archives of `/sys` hold
/// much else.
fn is_of_interest(path: &str) -> bool {
    const PARTS: &[&str] = &[
        "sys/devices/system/cpu/",
        "sys/devices/system/node/",
        "sys/firmware/acpi/tables/",
        "proc/device-tree/",
        "fw/",
    ];
    const ENDS: &[&str] =
        &["uname", "config.json", "proc/cpuinfo", "proc/hwloc-nofile-info", "proc/sys/kernel/arch"];
    PARTS.iter().any(|part| path.contains(part)) || ENDS.iter().any(|end| path.ends_with(end))
}

/// A reader that fails instead of giving more than `left` bytes.
struct Limited<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(Error::other(format!("more than {MAX_UNPACKED} bytes unpacked"))),
        }
        Ok(read)
    }
}
