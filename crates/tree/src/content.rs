//! What a library was made of, and whether that is still so.

use crate::TreeError;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The files that a build read, as kbuild notes them for each object: in `.NAME.o.cmd`, `deps_…` lists them. Paths
/// without a root are below the output directory. `$(wildcard …)` are options of the configuration, which counts whole.
pub(crate) fn read_by(out: &Path, objects: &[String]) -> Result<BTreeSet<PathBuf>, TreeError> {
    let mut files = BTreeSet::new();
    for object in objects {
        let object = Path::new(object);
        let (Some(folder), Some(name)) = (object.parent(), object.file_name()) else { continue };
        let notes = out.join(folder).join(format!(".{}.cmd", name.to_string_lossy()));
        let text = std::fs::read_to_string(&notes).map_err(TreeError::io(&notes))?;
        files.extend(dependencies(&text).map(|path| out.join(path)));
    }
    Ok(files)
}

/// Paths in the notes of one object.
fn dependencies(notes: &str) -> impl Iterator<Item = &str> {
    let lists =
        notes.lines().filter(|l| l.starts_with("source_")).filter_map(|l| l.split_once(":= "));
    let sources = lists.map(|(_, path)| path.trim());
    let block = notes.split("\ndeps_").nth(1).unwrap_or("");
    let block = block.split("\n\n").next().unwrap_or("");
    let words = block.lines().skip(1).map(|l| l.trim().trim_end_matches('\\').trim());
    sources.chain(words.filter(|w| !w.is_empty() && !w.starts_with('$')))
}

/// A digest of a text.
pub(crate) fn text(of: &str) -> String {
    Sha256::digest(of).iter().map(|b| format!("{b:02x}")).collect()
}

/// Enough digits of [`text`] to tell trees and configurations apart.
pub(crate) fn short(of: &str) -> String {
    let mut digits = text(of);
    digits.truncate(8);
    digits
}

/// A digest of parts in a row, of which none runs into the next.
#[derive(Default)]
pub(crate) struct Parts(Sha256);

impl Parts {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    pub(crate) fn digest(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A digest of files, by path and content, and of other things that matter.
pub(crate) fn digest(files: &BTreeSet<PathBuf>, others: &[&str]) -> Result<String, TreeError> {
    let mut parts = Parts::default();
    for file in files {
        parts.add(file.as_os_str().as_encoded_bytes());
        parts.add(&std::fs::read(file).map_err(TreeError::io(file))?);
    }
    others.iter().for_each(|text| parts.add(text.as_bytes()));
    Ok(parts.digest())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_an_object_name_its_files() {
        let notes = "savedcmd_kernel/a.o := gcc -o kernel/a.o /farm/kernel/a.c\n\n\
                     source_kernel/a.o := /farm/kernel/a.c\n\n\
                     deps_kernel/a.o := \\\n  include/generated/x.h \\\n    $(wildcard include/config/SMP) \\\n  /farm/include/y.h \\\n\n\
                     kernel/a.o: $(deps_kernel/a.o)\n";
        let found: Vec<&str> = dependencies(notes).collect();
        assert_eq!(found, ["/farm/kernel/a.c", "include/generated/x.h", "/farm/include/y.h"]);
    }
}
