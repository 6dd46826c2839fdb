//! Which lines of `kernel/sched` ran, as the compiler counted them, and which of them patches added.
//!
//! A library that was built with [`CONFIG`] counts, and writes what it counted below the directory that `GCOV_PREFIX` names; counts
//! of several processes add up there. `gcov` turns them into lines.

use crate::{Library, Tree, TreeError, make};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The line of configuration that makes a library count.
pub const CONFIG: &str = "CONFIG_SCHEDSCAPE_COVERAGE=y";
/// The files that count, below a tree.
const FOLDER: &str = "kernel/sched";

/// Lines by number: how often each ran.
pub type Lines = BTreeMap<u32, u64>;

/// What ran of a library, by file below the tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage(pub BTreeMap<String, Lines>);

#[derive(Deserialize)]
struct Report {
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    file: String,
    lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    line_number: u32,
    count: u64,
}

impl Coverage {
    /// What processes counted below `counts` for `library`; nothing where none did.
    ///
    /// # Errors
    /// Files that cannot be read, and what `gcov` says.
    pub fn read(library: &Library, counts: &Path) -> Result<Coverage, TreeError> {
        let out = library.out();
        let below = out.strip_prefix("/").unwrap_or(&out).join(FOLDER);
        let folder = counts.join(below);
        let mut all = Coverage::default();
        if !folder.exists() {
            return Ok(all);
        }
        for entry in std::fs::read_dir(&folder).map_err(TreeError::io(&folder))? {
            let file = entry.map_err(TreeError::io(&folder))?.path();
            if file.extension().is_none_or(|e| e != "gcda") {
                continue;
            }
            // gcov looks for the compiler's notes beside the counts.
            let notes = file.with_extension("gcno");
            let name = notes.file_name().unwrap_or_default();
            let from = out.join(FOLDER).join(name);
            std::fs::copy(&from, &notes).map_err(TreeError::io(&from))?;
            let mut gcov = Command::new("gcov");
            gcov.args(["--json-format", "--stdout"]).arg(&file).current_dir(&folder);
            all.add(&make::run(&mut gcov, &format!("gcov {}", file.display()))?)?;
        }
        Ok(all)
    }

    /// Adds a report of `gcov`.
    fn add(&mut self, json: &str) -> Result<(), TreeError> {
        for text in json.lines().filter(|line| line.starts_with('{')) {
            let report: Report = serde_json::from_str(text)
                .map_err(|e| TreeError::found("gcov", e, "its JSON format"))?;
            for file in report.files {
                let Some(name) = below_farm(&file.file).filter(|f| f.starts_with(FOLDER)) else {
                    continue;
                };
                let lines = self.0.entry(name.to_string()).or_default();
                for line in file.lines {
                    *lines.entry(line.line_number).or_default() += line.count;
                }
            }
        }
        Ok(())
    }

    /// Both together.
    pub fn plus(&self, other: &Coverage) -> Coverage {
        let mut sum = self.clone();
        for (file, lines) in &other.0 {
            let there = sum.0.entry(file.clone()).or_default();
            lines.iter().for_each(|(line, count)| *there.entry(*line).or_default() += count);
        }
        sum
    }

    /// As lcov's `.info`; files are those that `library` was compiled from.
    pub fn lcov(&self, library: &Library, name: &str) -> String {
        let farm = library.farm();
        let mut text = String::new();
        // A test's name has letters, digits and _ in lcov's form.
        let name: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        for (file, lines) in &self.0 {
            text += &format!("TN:{name}\nSF:{}\n", farm.join(file).display());
            text.extend(lines.iter().map(|(line, count)| format!("DA:{line},{count}\n")));
            let hit = lines.values().filter(|count| **count > 0).count();
            text += &format!("LF:{}\nLH:{hit}\nend_of_record\n", lines.len());
        }
        text
    }

    /// How often `line` of `file` ran; none where the compiler made no code of it.
    pub fn count(&self, file: &str, line: u32) -> Option<u64> {
        self.0.get(file)?.get(&line).copied()
    }
}

fn below_farm(file: &str) -> Option<&str> {
    file.split_once("/farm/").map(|(_, below)| below)
}

/// The lines of `kernel/sched` that the patches of `tree` add, by file, with the numbers that they have in what `library` was
/// compiled from.
///
/// # Errors
/// What `git` says.
pub fn added(tree: &Tree, library: &Library) -> Result<BTreeMap<String, Vec<u32>>, TreeError> {
    let mut all = BTreeMap::new();
    let farm = library.farm();
    for file in copies(&farm, &farm.join(FOLDER))? {
        let (from, to) = (tree.root.join(&file), farm.join(&file));
        let text = match from.is_file() {
            true => difference(&from, &to)?,
            false => std::fs::read_to_string(&to)
                .map(|text| format!("@@ -0,0 +1,{} @@", text.lines().count()))
                .map_err(TreeError::io(&to))?,
        };
        let lines: Vec<u32> = text.lines().filter_map(hunk).flatten().collect();
        all.insert(file.to_string_lossy().into_owned(), lines);
    }
    Ok(all)
}

/// Files below `folder` that are no links, below `farm`: what patches touched.
fn copies(farm: &Path, folder: &Path) -> Result<BTreeSet<PathBuf>, TreeError> {
    let mut all = BTreeSet::new();
    let real = |path: &Path| path.symlink_metadata().is_ok_and(|m| !m.is_symlink());
    // A directory that no patch touched is a link, and so may be one above it.
    let above = folder.strip_prefix(farm).into_iter().flat_map(Path::ancestors);
    if !above.filter(|a| *a != Path::new("")).all(|a| real(&farm.join(a))) {
        return Ok(all);
    }
    for entry in std::fs::read_dir(folder).map_err(TreeError::io(folder))? {
        let path = entry.map_err(TreeError::io(folder))?.path();
        if !real(&path) {
            continue;
        }
        match path.is_dir() {
            true => all.extend(copies(farm, &path)?),
            false => all.extend(path.strip_prefix(farm).map(Path::to_owned)),
        }
    }
    Ok(all)
}

/// `git diff` of two files, without context. It exits with 1 where they differ.
fn difference(from: &Path, to: &Path) -> Result<String, TreeError> {
    let mut git = Command::new("git");
    git.args(["diff", "--no-index", "--no-ext-diff", "--no-color", "-U0", "--"]).arg(from).arg(to);
    let output = git.env("LC_ALL", "C").output().map_err(TreeError::io(Path::new("git")))?;
    match output.status.code() {
        Some(0 | 1) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        _ => Err(TreeError::Failed {
            what: "git diff".to_string(),
            said: String::from_utf8_lossy(&output.stderr).trim().to_string(),
        }),
    }
}

/// The new lines of a hunk, by its head: `@@ -7,2 +9,3 @@`.
fn hunk(line: &str) -> Option<std::ops::Range<u32>> {
    let new = line.strip_prefix("@@ -")?.split_whitespace().nth(1)?.strip_prefix('+')?;
    let (start, length) = new.split_once(',').unwrap_or((new, "1"));
    let (start, length): (u32, u32) = (start.parse().ok()?, length.parse().ok()?);
    Some(start..start + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const REPORT: &str = r#"{"format_version": "1", "files": [
        {"file": "/c/t/farm/kernel/sched/fair.c", "functions": [], "lines": [
            {"line_number": 7, "count": 2, "unexecuted_block": false, "branches": []},
            {"line_number": 8, "count": 0, "unexecuted_block": true, "branches": []}]},
        {"file": "/c/t/farm/include/linux/list.h", "lines": [{"line_number": 1, "count": 5}]}]}"#;

    fn library(dir: &Path) -> Library {
        let file = dir.join("library.so");
        Library { file, key: String::new(), is_new: false, environment: vec![], left_out: vec![] }
    }

    #[test]
    fn counts_of_kernel_sched_add_up() {
        let mut coverage = Coverage::default();
        coverage.add(&REPORT.replace('\n', "")).unwrap();
        let both = coverage.plus(&coverage);
        let count = |line| both.count("kernel/sched/fair.c", line);
        assert_eq!((count(7), count(8), count(9)), (Some(4), Some(0), None));
        assert_eq!(both.0.len(), 1);
        let info = both.lcov(&library(Path::new("/c/t")), "a-b");
        let expected =
            "TN:a_b\nSF:/c/t/farm/kernel/sched/fair.c\nDA:7,4\nDA:8,0\nLF:2\nLH:1\nend_of_record\n";
        assert_eq!(info, expected);
        assert!(coverage.add("{").is_err());
    }

    #[test]
    fn heads_of_hunks_tell_new_lines() {
        assert_eq!(hunk("@@ -7,2 +9,3 @@ int f(void)"), Some(9..12));
        assert_eq!(hunk("@@ -7 +9 @@"), Some(9..10));
        assert_eq!(hunk("@@ -7,2 +6,0 @@"), Some(6..6));
        assert_eq!(hunk("+@@ -7,2 +6,0 @@"), None);
    }

    #[test]
    fn lines_that_patches_add_have_the_numbers_of_the_patched_file() {
        let dir = tempfile::tempdir().unwrap();
        let (root, farm) = (dir.path().join("tree"), dir.path().join("farm"));
        for folder in [&root, &farm] {
            fs::create_dir_all(folder.join("kernel/sched")).unwrap();
        }
        fs::write(root.join("kernel/sched/fair.c"), "one\ntwo\n").unwrap();
        fs::write(farm.join("kernel/sched/fair.c"), "zero\none\ntwo\nthree\n").unwrap();
        fs::write(farm.join("kernel/sched/new.c"), "a\nb\n").unwrap();
        std::os::unix::fs::symlink("/nowhere", farm.join("kernel/sched/core.c")).unwrap();
        let tree = Tree {
            name: "t".to_string(),
            root,
            release: "6.12.0".to_string(),
            patches: vec![],
            config: None,
        };
        let added = added(&tree, &library(dir.path())).unwrap();
        let expected = [("kernel/sched/fair.c", vec![1, 4]), ("kernel/sched/new.c", vec![1, 2])];
        assert_eq!(added, expected.map(|(file, lines)| (file.to_string(), lines)).into());
    }
}
