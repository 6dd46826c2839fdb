//! What programs need of a tree of unpacked packages to run in a guest: their libraries and the loader.
//!
//! A library is looked for as the dynamic loader looks for it (ld.so(8)): where the program's own `DT_RPATH` or
//! `DT_RUNPATH` says, then in Debian's directories. Packages of a system whose `/lib` is `/usr/lib` bring no link from
//! the one to the other, so what programs call by the short name gets a link of its own.

use crate::VmError;
use crate::initramfs::Initramfs;
use object::Endianness;
use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Links that are followed one after the other, as many as the kernel does (`MAXSYMLINKS`).
const LINKS: usize = 40;

/// What glibc's `pthread_exit` loads by itself, and a thread of a program without it dies by.
const LOADED_BY_LIBC: (&str, &str) = ("libc.so.6", "libgcc_s.so.1");

/// Programs with all that they need, by paths in a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Needed {
    /// Files and symbolic links of the tree.
    pub files: BTreeSet<PathBuf>,
    /// Symbolic links that the tree lacks, with their targets.
    pub links: BTreeMap<PathBuf, PathBuf>,
}

impl Needed {
    /// Adds all of it from the tree `root` to a guest's.
    ///
    /// # Errors
    /// What cannot be read.
    pub(crate) fn add_to(&self, root: &Path, guest: &mut Initramfs) -> Result<(), VmError> {
        guest.tree(root, &|path| self.files.contains(path))?;
        for (link, target) in &self.links {
            guest.link(&link.to_string_lossy(), &target.to_string_lossy());
        }
        Ok(())
    }
}

/// What the programs at `paths` of the tree `root` need, themselves among it. A script needs nothing.
///
/// # Errors
/// A program or library that is not there or that is cut.
pub(crate) fn programs(root: &Path, paths: &[&str]) -> Result<Needed, VmError> {
    let mut needed = Needed::default();
    let mut todo = Vec::new();
    for &path in paths {
        let file =
            needed.take_merged(root, Path::new(path)).ok_or_else(|| missing(path, "the tree"))?;
        todo.push(file);
    }
    needed.follow(root, todo)?;
    Ok(needed)
}

/// A program from anywhere with what it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// Its loader, a path in the root; none for a program that needs none.
    pub loader: Option<PathBuf>,
    /// Its libraries, by the names that programs call them, with their paths in the root.
    pub libraries: BTreeMap<OsString, PathBuf>,
}

/// What `program`, which need not lie in the tree `root`, needs of it.
///
/// # Errors
/// A file that is no program, and libraries that the tree does not have.
pub(crate) fn foreign(root: &Path, program: &Path) -> Result<Foreign, VmError> {
    let content = std::fs::read(program).map_err(VmError::io(program))?;
    let about = dynamic(&content).map_err(|found| broken(program, &found))?;
    let about = about.ok_or_else(|| broken(program, "no ELF file"))?;
    let mut needed = Needed::default();
    let mut todo = Vec::new();
    needed.take_needed(root, program, &about, &library_directories(root)?, &mut todo)?;
    let loader = about.loader.as_deref().and_then(|loader| resolve_merged(root, loader));
    needed.follow(root, todo)?;
    // What is found under several names is there under each: links of libraries say which.
    let names = needed.files.iter().filter_map(|path| {
        let (file, _) = resolve(root, path)?;
        Some((path.file_name()?.to_owned(), file))
    });
    Ok(Foreign { loader, libraries: names.collect() })
}

/// The file that a program's loader is.
fn resolve_merged(root: &Path, loader: &str) -> Option<PathBuf> {
    let path = Path::new(loader.trim_start_matches('/'));
    let (file, _) = resolve(root, path).or_else(|| resolve(root, &Path::new("usr").join(path)))?;
    Some(file)
}

impl Needed {
    /// Takes what the files `todo` of the tree need, and what that needs.
    fn follow(&mut self, root: &Path, mut todo: Vec<PathBuf>) -> Result<(), VmError> {
        let directories = library_directories(root)?;
        let mut seen = BTreeSet::new();
        while let Some(file) = todo.pop() {
            if !seen.insert(file.clone()) {
                continue;
            }
            let full = root.join(&file);
            let content = std::fs::read(&full).map_err(VmError::io(&full))?;
            if let Some(about) = dynamic(&content).map_err(|found| broken(&full, &found))? {
                self.take_needed(root, &file, &about, &directories, &mut todo)?;
            }
        }
        Ok(())
    }

    /// Takes what `file` says that it needs, and adds it to `todo`.
    fn take_needed(
        &mut self,
        root: &Path,
        file: &Path,
        about: &Dynamic,
        directories: &[PathBuf],
        todo: &mut Vec<PathBuf>,
    ) -> Result<(), VmError> {
        let by = file.display().to_string();
        if let Some(loader) = &about.loader {
            todo.push(
                self.take_merged(root, Path::new(loader)).ok_or_else(|| missing(loader, &by))?,
            );
        }
        let own = about.paths.iter().map(|path| own_directory(path, file));
        let places: Vec<PathBuf> = own.chain(directories.iter().cloned()).collect();
        let mut take = |library: &str| {
            // Like the loader, past libraries of other architectures.
            let is_ours = |path: &PathBuf| {
                let (file, _) = resolve(root, path.strip_prefix("/").unwrap_or(path))?;
                Some(machine_of(&root.join(file))? == about.machine)
            };
            let mut all =
                places.iter().map(|place| place.join(library)).filter(|p| is_ours(p) == Some(true));
            all.find_map(|path| self.take(root, &path))
        };
        for library in &about.libraries {
            todo.push(take(library).ok_or_else(|| missing(library, &by))?);
            if library == LOADED_BY_LIBC.0 {
                todo.extend(take(LOADED_BY_LIBC.1));
            }
        }
        Ok(())
    }
}

/// For which architecture a file is (`e_machine`); `None` where it is no program and no library.
pub(crate) fn machine_of(path: &Path) -> Option<u16> {
    let mut head = [0; 64];
    std::fs::File::open(path).ok()?.read_exact(&mut head).ok()?;
    let header = FileHeader64::<Endianness>::parse(&head[..]).ok()?;
    Some(header.e_machine(header.endian().ok()?).0)
}

/// What a file says that it needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Dynamic {
    /// `e_machine`.
    machine: u16,
    /// `PT_INTERP`.
    loader: Option<String>,
    /// `DT_NEEDED`.
    libraries: Vec<String>,
    /// Directories of `DT_RPATH` and `DT_RUNPATH`.
    paths: Vec<String>,
}

/// Reads a 64-bit ELF file; `None` for another.
fn dynamic(content: &[u8]) -> Result<Option<Dynamic>, String> {
    if !content.starts_with(b"\x7fELF") {
        return Ok(None);
    }
    read_dynamic(content).map(Some).map_err(|e| e.to_string())
}

fn read_dynamic(content: &[u8]) -> object::Result<Dynamic> {
    let header = FileHeader64::<Endianness>::parse(content)?;
    let endian = header.endian()?;
    let mut about = Dynamic { machine: header.e_machine(endian).0, ..Dynamic::default() };
    for segment in header.program_headers(endian, content)? {
        if let Some(path) = segment.interpreter(endian, content)? {
            about.loader = Some(String::from_utf8_lossy(path).into_owned());
        }
    }
    let sections = header.sections(endian, content)?;
    let table = sections.dynamic_table(endian, content)?;
    for entry in &table {
        let text = || table.string(entry).map(|text| String::from_utf8_lossy(text).into_owned());
        match entry.tag {
            DT_NEEDED => about.libraries.push(text()?),
            DT_RPATH | DT_RUNPATH => about.paths.extend(text()?.split(':').map(str::to_owned)),
            _ => {}
        }
    }
    Ok(about)
}

/// Directories of libraries, those of architectures first.
fn library_directories(root: &Path) -> Result<Vec<PathBuf>, VmError> {
    let mut found = Vec::new();
    for base in ["lib", "usr/lib"] {
        let here = root.join(base);
        if !here.is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(&here).map_err(VmError::io(&here))? {
            let name = entry.map_err(VmError::io(&here))?.file_name();
            if name.to_string_lossy().contains("-linux-gnu") {
                found.push(Path::new(base).join(name));
            }
        }
    }
    found.sort();
    found.extend(["lib64", "usr/lib64", "lib", "usr/lib"].map(PathBuf::from));
    Ok(found)
}

/// A directory that a program names, in which `$ORIGIN` is the program's own.
fn own_directory(path: &str, program: &Path) -> PathBuf {
    let own = program.parent().unwrap_or(Path::new("")).to_string_lossy();
    let path = path.replace("${ORIGIN}", &own).replace("$ORIGIN", &own);
    PathBuf::from(path.trim_start_matches('/'))
}

impl Needed {
    /// Takes the file at `path` with the links on the way; gives the file at their end, `None` where there is none.
    fn take(&mut self, root: &Path, path: &Path) -> Option<PathBuf> {
        let (file, links) = resolve(root, path.strip_prefix("/").unwrap_or(path))?;
        self.files.insert(file.clone());
        self.files.extend(links);
        Some(file)
    }

    /// The same for a file by its only name, as `/lib64/x` on a system where `/lib64` is `/usr/lib64`.
    fn take_merged(&mut self, root: &Path, path: &Path) -> Option<PathBuf> {
        let path = path.strip_prefix("/").unwrap_or(path);
        let merged = Path::new("usr").join(path);
        self.take(root, path).or_else(|| {
            let file = self.take(root, &merged)?;
            self.links.insert(path.to_owned(), Path::new("/").join(merged));
            Some(file)
        })
    }
}

/// The file that `path` leads to in the tree, as one whose root it is sees it, and the links on the way.
fn resolve(root: &Path, path: &Path) -> Option<(PathBuf, Vec<PathBuf>)> {
    let parts = |path: &Path| -> Vec<OsString> {
        path.components().rev().map(|part| part.as_os_str().to_owned()).collect()
    };
    let (mut at, mut links) = (PathBuf::new(), Vec::new());
    let mut left = parts(path);
    while let Some(part) = left.pop() {
        match Path::new(&part).components().next()? {
            Component::RootDir => at = PathBuf::new(),
            Component::ParentDir => drop(at.pop()),
            Component::Normal(name) => at.push(name),
            Component::CurDir | Component::Prefix(_) => {}
        }
        let full = root.join(&at);
        if full.is_symlink() {
            if links.len() == LINKS {
                return None;
            }
            left.extend(parts(&std::fs::read_link(&full).ok()?));
            links.push(at.clone());
            at.pop();
        }
    }
    root.join(&at).is_file().then_some((at, links))
}

fn missing(library: &str, by: &str) -> VmError {
    VmError::NoLibrary { library: library.to_owned(), by: by.to_owned() }
}

fn broken(path: &Path, found: &str) -> VmError {
    VmError::Elf { path: path.to_owned(), found: found.to_owned() }
}

#[cfg(test)]
#[path = "elf/tests.rs"]
mod tests;
