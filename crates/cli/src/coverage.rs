//! `schedscape run --coverage`: which lines of the sources ran, and whether those of patches did.

use crate::Failure;
use crate::output::write_whole;
use crate::sources::tree;
use definition::Plan;
use experiment::counts_of;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tree::Library;
use tree::coverage::{Coverage, added};
use vm::Cache;

/// Runs that count, and the directory for what they counted.
pub struct Counting {
    counts: TempDir,
    to: PathBuf,
}

impl Counting {
    /// For files in `to`.
    pub fn new(to: &Path) -> Result<Counting, Failure> {
        std::fs::create_dir_all(to).map_err(|e| format!("--coverage: {}: {e}", to.display()))?;
        Ok(Counting { counts: tempfile::tempdir()?, to: to.to_owned() })
    }

    /// Where replicas write.
    pub fn counts(&self) -> &Path {
        self.counts.path()
    }

    /// Writes a file for each variant, and tells of patches.
    pub fn tell(
        &self,
        plan: &Plan,
        cache: &Cache,
        libraries: &[Option<Library>],
    ) -> Result<(), Failure> {
        for (at, (variant, library)) in plan.file.variants.iter().zip(libraries).enumerate() {
            let Some((source, library)) = variant.source.as_ref().zip(library.as_ref()) else {
                continue;
            };
            let (boots, runs) = counts_of(self.counts(), at);
            let boots = Coverage::read(library, &boots)?;
            let runs = Coverage::read(library, &runs)?;
            let info = boots.plus(&runs).lcov(library, &variant.name);
            write_whole(&self.to.join(format!("{}.info", variant.name)), &info)?;
            let tree = tree(plan.folder(), cache, source)?;
            if !tree.patches.is_empty() {
                let told = told(&added(&tree, library)?, &boots, &runs);
                anstream::eprint!("coverage: variant `{}`: {told}", variant.name);
            }
        }
        Ok(())
    }
}

/// How much of what a patch adds ran, and what did not.
fn told(added: &BTreeMap<String, Vec<u32>>, boots: &Coverage, runs: &Coverage) -> String {
    let lines = added.iter().flat_map(|(file, lines)| lines.iter().map(move |line| (file, *line)));
    let all = boots.plus(runs);
    let coded: Vec<_> = lines.filter(|(file, line)| all.count(file, *line).is_some()).collect();
    let ran = |of: &Coverage, file: &str, line: u32| of.count(file, line).is_some_and(|n| n > 0);
    let missed: Vec<_> = coded.iter().filter(|(file, line)| !ran(runs, file, *line)).collect();
    let (count, executed) = (coded.len(), coded.len() - missed.len());
    let mut text = match (count, executed) {
        (0, _) => "the compiler makes no code of the lines of kernel/sched that your change adds\n"
            .to_string(),
        (_, 0) => format!(
            "your change was never executed by this experiment: 0 of {count} lines with code that it adds\n"
        ),
        (_, _) => {
            format!("{executed} of {count} lines with code that your change adds were executed\n")
        }
    };
    for (file, line) in missed {
        let booted = if ran(boots, file, *line) { " in runs, only in boots" } else { "" };
        let _ = writeln!(text, "  {file}:{line} was not executed{booted}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coverage(lines: &[(u32, u64)]) -> Coverage {
        Coverage([("fair.c".to_string(), lines.iter().copied().collect())].into())
    }

    #[test]
    fn lines_that_a_patch_adds_are_told_apart() {
        let added = BTreeMap::from([("fair.c".to_string(), vec![1, 2, 3, 4])]);
        let boots = coverage(&[(2, 0), (3, 5), (4, 5)]);
        let text = told(&added, &boots, &coverage(&[(2, 0), (3, 0), (4, 7)]));
        let expected = "1 of 3 lines with code that your change adds were executed\n  \
                        fair.c:2 was not executed\n  fair.c:3 was not executed in runs, only in boots\n";
        assert_eq!(text, expected);
        let text = told(&added, &boots, &coverage(&[(2, 0)]));
        assert!(text.starts_with("your change was never executed by this experiment"), "{text}");
        let text = told(&added, &Coverage::default(), &Coverage::default());
        assert!(text.starts_with("the compiler makes no code"), "{text}");
    }
}
