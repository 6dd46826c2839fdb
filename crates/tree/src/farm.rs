//! A farm of links that stands in for a tree.
//!
//! Everything in the farm is a link into the tree, but for `arch`, which has one architecture more, and for the files that
//! patches touch, which are copies. A directory on the way to a copy is a real one with links in it. Links to files keep the
//! tree's times, so the tree's build system sees what was edited. What a build within the tree left there is not in the farm, or
//! the tree's build system would refuse to build elsewhere.

use crate::TreeError;
use crate::make::run;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lays the farm for the tree at `root` into `farm`, anew, with `patches` applied. The architecture is written to
/// `architecture`, which stays, so that its files keep their times as well.
///
/// # Errors
/// A patch that does not apply, with what `git apply` says.
pub(crate) fn lay(
    root: &Path,
    farm: &Path,
    architecture: &Path,
    patches: &[PathBuf],
) -> Result<(), TreeError> {
    let arch = BTreeSet::from([PathBuf::from("arch")]);
    links(root, farm, &files_of(root, patches)?, &arch)?;
    crate::arch::write(architecture)?;
    let link = farm.join("arch").join(crate::arch::NAME);
    std::os::unix::fs::symlink(architecture, &link).map_err(TreeError::io(&link))?;
    apply_all(farm, patches)
}

/// Applies `patches` to the farm, whose files that they touch are copies.
///
/// # Errors
/// As [`lay`].
pub(crate) fn apply_all(farm: &Path, patches: &[PathBuf]) -> Result<(), TreeError> {
    patches.iter().try_for_each(|patch| apply(farm, patch, &[]).map(|_| ()))
}

/// Links for all of the tree at `root`, in `farm`, anew: `copies` are copied, and what is in `real` are directories of their own.
///
/// # Errors
/// What cannot be read or written.
pub(crate) fn links(
    root: &Path,
    farm: &Path,
    copies: &BTreeSet<PathBuf>,
    real: &BTreeSet<PathBuf>,
) -> Result<(), TreeError> {
    if farm.exists() {
        std::fs::remove_dir_all(farm).map_err(TreeError::io(farm))?;
    }
    std::fs::create_dir_all(farm).map_err(TreeError::io(farm))?;
    let mut real = real.clone();
    real.extend([PathBuf::new(), PathBuf::from("include")]);
    for file in copies {
        real.extend(file.ancestors().skip(1).map(Path::to_owned));
    }
    real.iter().try_for_each(|folder| fill(root, farm, folder, &real, copies))
}

/// Whether a build within the tree made this, by which others know that it was built there.
fn is_built(path: &Path) -> bool {
    let is_arch = path.starts_with("arch") && path.ends_with("include/generated");
    is_arch
        || [".config", "include/config", "include/generated"].iter().any(|p| path == Path::new(p))
}

/// Makes `folder` of the farm a real directory: links, copies of what is touched, and room for the real ones below.
fn fill(
    root: &Path,
    farm: &Path,
    folder: &Path,
    real: &BTreeSet<PathBuf>,
    touched: &BTreeSet<PathBuf>,
) -> Result<(), TreeError> {
    let (from, to) = (root.join(folder), farm.join(folder));
    std::fs::create_dir_all(&to).map_err(TreeError::io(&to))?;
    // A directory that only a patch has.
    if !from.exists() {
        return Ok(());
    }
    for entry in std::fs::read_dir(&from).map_err(TreeError::io(&from))? {
        let name = entry.map_err(TreeError::io(&from))?.file_name();
        let path = folder.join(&name);
        let (from, to) = (from.join(&name), to.join(&name));
        if real.contains(&path) || is_built(&path) {
            continue;
        }
        let done = match touched.contains(&path) {
            true => std::fs::copy(&from, &to).map(|_| ()),
            false => std::os::unix::fs::symlink(&from, &to),
        };
        done.map_err(TreeError::io(&to))?;
    }
    Ok(())
}

/// The files that `patches` touch, by `git apply --numstat`.
///
/// # Errors
/// A file that is no patch.
pub(crate) fn files_of(root: &Path, patches: &[PathBuf]) -> Result<BTreeSet<PathBuf>, TreeError> {
    let mut all = BTreeSet::new();
    for patch in patches {
        let said = apply(root, patch, &["--numstat", "-z"])?;
        let rows = said.split('\0').filter_map(|row| row.splitn(3, '\t').nth(2));
        let files: Vec<PathBuf> = rows.filter(|path| !path.is_empty()).map(PathBuf::from).collect();
        if files.is_empty() {
            return Err(TreeError::found(patch.display(), "no file that it changes", "a patch"));
        }
        all.extend(files);
    }
    Ok(all)
}

/// `git apply` in the farm, which is no repository of its own, nor part of one.
fn apply(farm: &Path, patch: &Path, options: &[&str]) -> Result<String, TreeError> {
    let patch = std::path::absolute(patch).map_err(TreeError::io(patch))?;
    let mut command = Command::new("git");
    command.arg("apply").args(options).arg(&patch).current_dir(farm);
    command.env("GIT_DIR", farm.join(".no-repository")).env("GIT_CEILING_DIRECTORIES", farm);
    run(&mut command, &format!("git apply {}", patch.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("tree/kernel/sched")).unwrap();
        fs::create_dir_all(dir.path().join("tree/arch/x86")).unwrap();
        fs::write(dir.path().join("tree/Makefile"), "all:\n").unwrap();
        fs::write(dir.path().join("tree/kernel/sched/fair.c"), "one\ntwo\nthree\n").unwrap();
        fs::write(dir.path().join("tree/kernel/sched/core.c"), "core\n").unwrap();
        dir
    }

    const PATCH: &str = "--- a/kernel/sched/fair.c\n+++ b/kernel/sched/fair.c\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";

    #[test]
    fn a_patch_changes_the_farm_and_not_the_tree() {
        let dir = tree();
        let (root, farm) = (dir.path().join("tree"), dir.path().join("farm"));
        let patch = dir.path().join("p.patch");
        fs::write(&patch, PATCH).unwrap();
        lay(&root, &farm, &dir.path().join("ours"), &[patch]).unwrap();
        assert_eq!(
            fs::read_to_string(farm.join("kernel/sched/fair.c")).unwrap(),
            "one\n2\nthree\n"
        );
        assert_eq!(
            fs::read_to_string(root.join("kernel/sched/fair.c")).unwrap(),
            "one\ntwo\nthree\n"
        );
        assert!(farm.join("kernel/sched/core.c").is_symlink());
        assert!(farm.join("arch/x86").is_symlink());
        assert!(farm.join("arch/schedscape/Kconfig").is_file());
        assert!(!root.join("arch/schedscape").exists());
    }

    #[test]
    fn a_patch_that_does_not_apply_says_where() {
        let dir = tree();
        let patch = dir.path().join("p.patch");
        fs::write(&patch, PATCH.replace(" one", " ein")).unwrap();
        let [root, farm, ours] = ["tree", "farm", "ours"].map(|name| dir.path().join(name));
        let error = lay(&root, &farm, &ours, &[patch]).unwrap_err();
        assert!(error.to_string().contains("kernel/sched/fair.c"), "{error}");
    }

    #[test]
    fn without_patches_all_but_the_architecture_is_links() {
        let dir = tree();
        let farm = dir.path().join("farm");
        lay(&dir.path().join("tree"), &farm, &dir.path().join("ours"), &[]).unwrap();
        assert!(farm.join("kernel").is_symlink() && farm.join("Makefile").is_symlink());
    }
}
