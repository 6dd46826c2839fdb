//! Trees by name, and their libraries, in a directory of the cache.
//!
//! Each tree has a directory: `tree.toml` says what it is, `farm` and `out` are the build's, `library.so` is its last result and
//! `library.toml` what that was made of. A build of something that did not change reads files and starts no program but the compiler,
//! for its version.

use crate::build::{Build, Library};
use crate::lock::Lock;
use crate::seed::Seed;
use crate::tools::check_tools;
use crate::{TreeError, content, make, missing_tools};
use kernel::Version;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;

const TREE: &str = "tree.toml";

/// A tree that has a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// Its name.
    pub name: String,
    /// Where it is checked out or unpacked.
    pub root: PathBuf,
    /// The release that its Makefile tells.
    pub release: String,
    /// Patches, in order.
    #[serde(default)]
    pub patches: Vec<PathBuf>,
    /// A `.config` that says how the scheduler is configured; without one, schedscape's own choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<PathBuf>,
}

impl Tree {
    /// The release as the model has it.
    ///
    /// # Errors
    /// A release that is none.
    pub fn version(&self) -> Result<Version, TreeError> {
        self.release.parse().map_err(|_| TreeError::found(&self.name, &self.release, "a release"))
    }
}

/// The trees in a directory.
#[derive(Debug, Clone)]
pub struct Trees {
    dir: PathBuf,
}

impl Trees {
    /// Those in `dir`, which need not exist yet.
    pub fn new(dir: &Path) -> Trees {
        Trees { dir: dir.to_owned() }
    }

    /// Gives the tree at `root` with `patches`, and with what `config` says of the scheduler, a name. Nothing is built.
    ///
    /// # Errors
    /// A name that is taken or cannot be a directory's, a directory without a kernel, a patch that cannot be read.
    pub fn add(
        &self,
        name: &str,
        root: &Path,
        patches: &[PathBuf],
        config: Option<&Path>,
    ) -> Result<Tree, TreeError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
            return Err(TreeError::found("--name", name, "letters, digits, -, _, . and +"));
        }
        if self.dir.join(name).join(TREE).is_file() {
            return Err(TreeError::found(
                name,
                "a tree of this name",
                "a new name, or `kernel remove` first",
            ));
        }
        Seed::read(config)?;
        let tree = Tree {
            name: name.to_string(),
            root: real(root)?,
            release: release(root)?,
            patches: patches.iter().map(|p| real(p)).collect::<Result<_, _>>()?,
            config: config.map(real).transpose()?,
        };
        tree.version()?;
        let dir = self.dir.join(name);
        std::fs::create_dir_all(&dir).map_err(TreeError::io(&dir))?;
        write(&dir.join(TREE), &tree)?;
        Ok(tree)
    }

    /// The tree at `root` with `patches` and `config`, under a name that is made of `base` and these, whether it has been there
    /// before or not.
    ///
    /// # Errors
    /// As [`Trees::add`].
    pub fn unnamed(
        &self,
        base: &str,
        root: &Path,
        patches: &[PathBuf],
        config: Option<&Path>,
    ) -> Result<Tree, TreeError> {
        let root = real(root)?;
        let patches = patches.iter().map(|p| real(p)).collect::<Result<Vec<_>, _>>()?;
        let config = config.map(real).transpose()?;
        let all = [&root].into_iter().chain(&patches).chain(&config).map(|p| p.to_string_lossy());
        let digits = content::short(&all.collect::<Vec<_>>().join("\n"));
        let plain: String = (base.chars())
            .map(|c| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '-' })
            .collect();
        let name = format!("{plain}-{digits}");
        let _lock = Lock::take(&self.dir, &name, &|_| {})?;
        match self.get(&name) {
            Ok(tree) if (&tree.root, &tree.patches, &tree.config) == (&root, &patches, &config) => {
                return Ok(tree);
            }
            Ok(_) => self.forget(&name)?,
            Err(_) => {}
        }
        self.add(&name, &root, &patches, config.as_deref())
    }

    /// The files of `commit` of the repository at `root` that a scheduler's build may read, or the `whole` tree, in a directory of the
    /// cache. The repository is not written to.
    ///
    /// # Errors
    /// A commit that does not exist, and what `git` and `tar` say.
    pub fn commit(&self, root: &Path, commit: &str, whole: bool) -> Result<PathBuf, TreeError> {
        let git = || {
            let mut git = Command::new("git");
            git.arg("-C").arg(root);
            git
        };
        let wanted = format!("{commit}^{{commit}}");
        let what = format!("git rev-parse {commit}");
        let full = make::run(git().args(["rev-parse", "--verify", &wanted]), &what)?;
        let full = full.trim();
        let name = if whole { format!("{full}-whole") } else { full.to_owned() };
        let dir = self.dir.join("commits").join(&name);
        let _lock = Lock::take(&self.dir, &name, &|_| {})?;
        if dir.join("Makefile").is_file() {
            return Ok(dir);
        }
        let partial = self.dir.join("commits").join(format!("{name}.partial"));
        if partial.exists() {
            std::fs::remove_dir_all(&partial).map_err(TreeError::io(&partial))?;
        }
        std::fs::create_dir_all(&partial).map_err(TreeError::io(&partial))?;
        let archive = partial.join("archive.tar");
        let mut make_archive = git();
        make_archive.args(["archive", "--format=tar", "-o"]).arg(&archive).args([full, "--", "."]);
        // Kconfig reads all directories, and no more of these than its own files.
        let partly = ["drivers", "fs", "net", "sound", "Documentation", "arch"];
        for folder in partly.into_iter().filter(|_| !whole) {
            for end in ["c", "h", "S", "dts", "dtsi", "rst", "yaml", "json", "txt"] {
                let keep = folder == "arch" && end == "h";
                if !keep {
                    make_archive.arg(format!(":(exclude){folder}/*.{end}"));
                }
            }
        }
        make::run(&mut make_archive, &format!("git archive {commit}"))?;
        let mut unpack = Command::new("tar");
        unpack.arg("-xf").arg(&archive).arg("-C").arg(&partial);
        make::run(&mut unpack, "tar")?;
        std::fs::remove_file(&archive).map_err(TreeError::io(&archive))?;
        std::fs::rename(&partial, &dir).map_err(TreeError::io(&dir))?;
        Ok(dir)
    }

    /// All, by name.
    ///
    /// # Errors
    /// A directory that cannot be read.
    pub fn list(&self) -> Result<Vec<Tree>, TreeError> {
        if !self.dir.exists() {
            return Ok(vec![]);
        }
        let mut names: Vec<String> = Vec::new();
        for entry in std::fs::read_dir(&self.dir).map_err(TreeError::io(&self.dir))? {
            let entry = entry.map_err(TreeError::io(&self.dir))?;
            if entry.path().join(TREE).is_file() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort();
        names.iter().map(|name| self.get(name)).collect()
    }

    /// The one called `name`.
    ///
    /// # Errors
    /// No such tree.
    pub fn get(&self, name: &str) -> Result<Tree, TreeError> {
        let file = self.dir.join(name).join(TREE);
        if !file.is_file() {
            return Err(TreeError::found(
                name,
                "no tree of this name",
                "one that `schedscape kernel list` shows",
            ));
        }
        let text = std::fs::read_to_string(&file).map_err(TreeError::io(&file))?;
        toml::from_str(&text)
            .map_err(|e| TreeError::found(file.display(), e, "what `kernel add` wrote"))
    }

    /// Forgets the tree called `name` and all that was built of it. The tree itself stays.
    ///
    /// # Errors
    /// No such tree, or files that cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), TreeError> {
        self.get(name)?;
        let _lock = Lock::take(&self.dir, name, &|_| {})?;
        self.forget(name)
    }

    fn forget(&self, name: &str) -> Result<(), TreeError> {
        let dir = self.dir.join(name);
        std::fs::remove_dir_all(&dir).map_err(TreeError::io(&dir))
    }

    /// Builds the library of `tree`, or finds it built, with `config` as the last lines of its configuration. `say` hears what
    /// is done. Another process that builds the same tree is waited for.
    ///
    /// # Errors
    /// Missing programs, a patch that does not apply, an option that the configuration does not take, what the compiler says.
    pub fn build(
        &self,
        tree: &Tree,
        config: &[String],
        say: &dyn Fn(&str),
    ) -> Result<Library, TreeError> {
        check_tools(missing_tools())?;
        let build = Build::new(tree, self.dir.join(&tree.name), config)?;
        let _lock = Lock::take(&self.dir, &tree.name, say)?;
        match build.found()? {
            Some(library) => Ok(library),
            None => build.make(say),
        }
    }
}

fn real(path: &Path) -> Result<PathBuf, TreeError> {
    std::fs::canonicalize(path).map_err(TreeError::io(path))
}

pub(crate) fn write(file: &Path, what: &impl Serialize) -> Result<(), TreeError> {
    let text = toml::to_string(what)
        .map_err(|e| TreeError::found(file.display(), e, "what TOML can hold"))?;
    let partial = file.with_extension("partial");
    std::fs::write(&partial, text).map_err(TreeError::io(&partial))?;
    std::fs::rename(&partial, file).map_err(TreeError::io(file))
}

/// The release of the tree at `root`.
///
/// # Errors
/// A directory that is no kernel tree.
pub fn release_of(root: &Path) -> Result<Version, TreeError> {
    let text = release(root)?;
    text.parse().map_err(|_| TreeError::found(root.display(), &text, "a release"))
}

/// What the tree's Makefile says: `6.12.107`, with the words behind it left out.
fn release(root: &Path) -> Result<String, TreeError> {
    let file = root.join("Makefile");
    let text = std::fs::read_to_string(&file).map_err(TreeError::io(&file))?;
    let number = |key: &str| {
        let line =
            text.lines().take(20).find(|l| l.split('=').next().is_some_and(|k| k.trim() == key))?;
        line.split_once('=')?.1.trim().parse::<u32>().ok()
    };
    match (number("VERSION"), number("PATCHLEVEL"), number("SUBLEVEL")) {
        (Some(version), Some(patch), Some(sub)) if root.join("kernel/sched/fair.c").is_file() => {
            Ok(format!("{version}.{patch}.{sub}"))
        }
        _ => Err(TreeError::found(
            root.display(),
            "no kernel tree",
            "a directory with a kernel's Makefile and kernel/sched",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(dir: &Path, makefile: &str) {
        std::fs::create_dir_all(dir.join("kernel/sched")).unwrap();
        std::fs::write(dir.join("kernel/sched/fair.c"), "").unwrap();
        std::fs::write(dir.join("Makefile"), makefile).unwrap();
    }

    const MAKEFILE: &str = "# SPDX\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 107\nEXTRAVERSION =\n";

    #[test]
    fn trees_are_added_listed_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        kernel(&dir.path().join("linux"), MAKEFILE);
        let trees = Trees::new(&dir.path().join("cache"));
        assert_eq!(trees.list().unwrap(), []);
        let tree = trees.add("mine", &dir.path().join("linux"), &[], None).unwrap();
        assert_eq!(
            (tree.release.as_str(), tree.version().unwrap()),
            ("6.12.107", Version::new(6, 12))
        );
        assert_eq!(trees.list().unwrap(), std::slice::from_ref(&tree));
        assert_eq!(trees.get("mine").unwrap(), tree);
        let again =
            trees.add("mine", &dir.path().join("linux"), &[], None).unwrap_err().to_string();
        assert!(again.contains("a tree of this name"), "{again}");
        trees.remove("mine").unwrap();
        assert!(trees.get("mine").is_err());
        assert!(dir.path().join("linux/Makefile").is_file());
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let trees = Trees::new(&dir.path().join("cache"));
        kernel(&dir.path().join("other"), "all:\n");
        let error = trees.add("x", &dir.path().join("other"), &[], None).unwrap_err().to_string();
        assert!(error.contains("no kernel tree"), "{error}");
        assert!(trees.add("../x", &dir.path().join("other"), &[], None).is_err());
        assert!(trees.add("x", &dir.path().join("nowhere"), &[], None).is_err());
    }
}
