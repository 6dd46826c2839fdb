//! A guest's root file system as the kernel unpacks it: a `newc` archive (kernel documentation,
//! `early-userspace/buffer-format`), compressed with gzip.

use crate::VmError;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Files end at a multiple of this.
const ALIGNMENT: usize = 4;
const DIRECTORY: u32 = 0o040_755;
const LINK: u32 = 0o120_777;
const FILE: u32 = 0o100_000;
const CHARACTER_DEVICE: u32 = 0o020_600;
/// Major and minor number of `/dev/console`.
const CONSOLE: (u32, u32) = (5, 1);

/// What is at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Directory,
    Link(Vec<u8>),
    File { mode: u32, content: Vec<u8> },
    Console,
}

/// The files of a guest, by path without a leading slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Initramfs {
    nodes: BTreeMap<Vec<u8>, Node>,
}

impl Default for Initramfs {
    fn default() -> Initramfs {
        Initramfs::new()
    }
}

impl Initramfs {
    /// Nothing but `/dev/console`, which the kernel opens before it starts `/init`.
    pub(crate) fn new() -> Initramfs {
        let mut new = Initramfs { nodes: BTreeMap::new() };
        new.put(b"dev/console", Node::Console);
        new
    }

    fn put(&mut self, path: &[u8], node: Node) {
        for (at, _) in path.iter().enumerate().filter(|&(_, &byte)| byte == b'/') {
            self.nodes.entry(path[..at].to_owned()).or_insert(Node::Directory);
        }
        self.nodes.insert(path.to_owned(), node);
    }

    /// Adds a directory.
    pub(crate) fn directory(&mut self, path: &str) {
        self.put(path.as_bytes(), Node::Directory);
    }

    /// Adds a file with these permissions, 0o755 for a program.
    pub(crate) fn file(&mut self, path: &str, mode: u32, content: impl Into<Vec<u8>>) {
        let mode = FILE | (mode & 0o7777);
        self.put(path.as_bytes(), Node::File { mode, content: content.into() });
    }

    /// Adds a symbolic link to `target`.
    pub(crate) fn link(&mut self, path: &str, target: &str) {
        self.put(path.as_bytes(), Node::Link(target.as_bytes().to_owned()));
    }

    /// Adds all files, links and directories below `root` that `wanted` takes, by their paths in `root`.
    ///
    /// # Errors
    /// What cannot be read.
    pub(crate) fn tree(
        &mut self,
        root: &Path,
        wanted: &dyn Fn(&Path) -> bool,
    ) -> Result<(), VmError> {
        self.below(root, "", Path::new(""), wanted)
    }

    /// Adds what is below `root` below `under`.
    ///
    /// # Errors
    /// What cannot be read.
    pub(crate) fn tree_under(&mut self, under: &str, root: &Path) -> Result<(), VmError> {
        self.below(root, &format!("{under}/"), Path::new(""), &|_| true)
    }

    fn below(
        &mut self,
        root: &Path,
        under: &str,
        at: &Path,
        wanted: &dyn Fn(&Path) -> bool,
    ) -> Result<(), VmError> {
        let here = root.join(at);
        for entry in std::fs::read_dir(&here).map_err(VmError::io(&here))? {
            let entry = entry.map_err(VmError::io(&here))?;
            let (path, full) = (at.join(entry.file_name()), entry.path());
            let metadata = entry.metadata().map_err(VmError::io(&full))?;
            let name = [under.as_bytes(), path.as_os_str().as_bytes()].concat();
            let name = name.as_slice();
            if metadata.is_dir() {
                self.below(root, under, &path, wanted)?;
            } else if !wanted(&path) {
                continue;
            } else if metadata.is_symlink() {
                let target = std::fs::read_link(&full).map_err(VmError::io(&full))?;
                self.put(name, Node::Link(target.as_os_str().as_bytes().to_owned()));
            } else if metadata.is_file() {
                let content = std::fs::read(&full).map_err(VmError::io(&full))?;
                let mode = FILE | (metadata.permissions().mode() & 0o7777);
                self.put(name, Node::File { mode, content });
            }
        }
        Ok(())
    }

    /// The archive. The same files give the same bytes.
    pub(crate) fn archive(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (inode, (path, node)) in self.nodes.iter().enumerate() {
            entry(&mut out, inode as u32 + 1, path, node);
        }
        let end = Node::File { mode: 0, content: Vec::new() };
        entry(&mut out, 0, b"TRAILER!!!", &end);
        out
    }

    /// Writes the compressed archive.
    ///
    /// # Errors
    /// What the file system refuses.
    pub(crate) fn write(&self, path: &Path) -> Result<(), VmError> {
        let file = std::fs::File::create(path).map_err(VmError::io(path))?;
        let mut gzip = GzEncoder::new(file, Compression::fast());
        gzip.write_all(&self.archive()).map_err(VmError::io(path))?;
        gzip.finish().map_err(VmError::io(path))?.sync_all().map_err(VmError::io(path))
    }
}

/// One header with its name and content, each up to a multiple of four bytes.
fn entry(out: &mut Vec<u8>, inode: u32, path: &[u8], node: &Node) {
    let (mode, content, device): (u32, &[u8], (u32, u32)) = match node {
        Node::Directory => (DIRECTORY, &[], (0, 0)),
        Node::Link(target) => (LINK, target, (0, 0)),
        Node::File { mode, content } => (*mode, content, (0, 0)),
        Node::Console => (CHARACTER_DEVICE, &[], CONSOLE),
    };
    let name = path.len() as u32 + 1;
    let fields = [inode, mode, 0, 0, 1, 0, content.len() as u32, 0, 0, device.0, device.1, name, 0];
    out.extend_from_slice(b"070701");
    fields.iter().for_each(|field| out.extend_from_slice(format!("{field:08x}").as_bytes()));
    out.extend_from_slice(path);
    out.push(0);
    pad(out);
    out.extend_from_slice(content);
    pad(out);
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Headers of 110 bytes; the first entries are directory and console, in order of path.
    #[test]
    fn an_archive_by_hand() {
        let mut root = Initramfs::new();
        root.file("init", 0o755, "ab");
        let archive = root.archive();
        let text = String::from_utf8_lossy(&archive);
        assert_eq!(&text[..6], "070701");
        assert_eq!(&text[14..22], "000041ed", "a directory, 0755");
        assert_eq!(&text[110..114], "dev\0");
        let console = 116;
        assert_eq!(&text[console + 14..console + 22], "00002180", "a character device, 0600");
        assert_eq!(&text[console + 78..console + 94], "0000000500000001");
        let init = text.find("init\0").unwrap_or(0) - 110;
        assert_eq!(&text[init + 14..init + 22], "000081ed", "a file, 0755");
        assert_eq!(&text[init + 54..init + 62], "00000002");
        assert!(text[init + 110..].starts_with(concat!("init\0\0ab\0", "\0", "070701")));
        assert!(text.ends_with("TRAILER!!!\0\0\0\0"));
        assert_eq!(archive.len() % ALIGNMENT, 0);
    }

    #[test]
    fn the_same_files_give_the_same_bytes_in_any_order() {
        let build = |paths: [&str; 3]| {
            let mut root = Initramfs::new();
            paths.iter().for_each(|p| root.file(p, 0o644, *p));
            root.archive()
        };
        assert_eq!(build(["a/b", "a/c", "d"]), build(["d", "a/c", "a/b"]));
    }
}
