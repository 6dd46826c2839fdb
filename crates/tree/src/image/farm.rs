//! A farm of links for builds that follow each other with different patches.
//!
//! The tree's build system compiles what is newer than its object. A file that the last build's patch changed and this one's does not
//! is older, as the tree has it. So a file that any patch has touched stays a copy, and a copy is as new as its last change.

use crate::TreeError;
use crate::farm::{apply_all, files_of, links};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The list of all files that patches have touched, beside the farm.
const TOUCHED: &str = "touched";

/// Lays the farm for the tree at `root` into `farm`, with `patches` applied; `dir` is what all builds of one place share.
///
/// # Errors
/// A patch that does not apply, with what `git apply` says.
pub(super) fn lay(
    root: &Path,
    dir: &Path,
    farm: &Path,
    arch: &str,
    patches: &[PathBuf],
) -> Result<(), TreeError> {
    std::fs::create_dir_all(dir).map_err(TreeError::io(dir))?;
    let list = dir.join(TOUCHED);
    let said = match std::fs::read_to_string(&list) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        said => said.map_err(TreeError::io(&list))?,
    };
    let mut copies = files_of(root, patches)?;
    copies.extend(said.lines().map(PathBuf::from));
    let lines: String = copies.iter().map(|file| format!("{}\n", file.display())).collect();
    // The list first: a build that is killed has touched what it says.
    std::fs::write(&list, lines).map_err(TreeError::io(&list))?;
    let before = contents(farm, &copies);
    let real =
        ["arch", &format!("arch/{arch}"), &format!("arch/{arch}/include")].map(PathBuf::from);
    let copied = copies.iter().filter(|file| root.join(file).exists()).cloned();
    links(root, farm, &copied.collect(), &BTreeSet::from(real))?;
    apply_all(farm, patches)?;
    keep_times(farm, &before)
}

/// Copies as they are in `farm`, with their times.
fn contents(farm: &Path, files: &BTreeSet<PathBuf>) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let read = |file: &PathBuf| {
        let path = farm.join(file);
        let is_copy = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
        let time = path.metadata().and_then(|meta| meta.modified()).ok()?;
        Some((file.clone(), (is_copy.then(|| std::fs::read(&path).ok())??, time)))
    };
    files.iter().filter_map(read).collect()
}

/// Gives copies that are as they were the times that they had, and all others the present.
fn keep_times(
    farm: &Path,
    before: &BTreeMap<PathBuf, (Vec<u8>, SystemTime)>,
) -> Result<(), TreeError> {
    for (file, (content, time)) in before {
        let path = farm.join(file);
        if std::fs::read(&path).is_ok_and(|now| now == *content) {
            let opened = File::options().write(true).open(&path).map_err(TreeError::io(&path))?;
            opened.set_modified(*time).map_err(TreeError::io(&path))?;
        }
    }
    Ok(())
}
