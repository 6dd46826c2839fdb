//! A kernel tree whose own scheduler a variant runs.

use kernel::Version;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// `source = { … }`: a distribution's source package of a release, or a tree, both with patches or without.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceEntry {
    /// A release whose source package is fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Version>,
    /// A tree: a directory, relative to the experiment file, or below `~`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// A commit of the tree, if not what is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Patches in order, relative to the experiment file.
    #[serde(default, skip_serializing_if = "Patches::is_empty")]
    pub patch: Patches,
    /// Options of the tree's configuration that differ from schedscape's: `HZ_1000 = true`, `NR_CPUS = 64`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, ConfigValue>,
}

/// What a configuration's option is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ConfigValue {
    /// `y`, or not set.
    Switch(bool),
    /// A number.
    Number(i64),
}

/// One patch or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Patches {
    /// `patch = "a.patch"`.
    One(PathBuf),
    /// `patch = ["a.patch", "b.patch"]`.
    Series(Vec<PathBuf>),
}

impl Default for Patches {
    fn default() -> Patches {
        Patches::Series(vec![])
    }
}

impl Patches {
    /// The files, as the experiment names them.
    pub fn files(&self) -> &[PathBuf] {
        match self {
            Patches::One(file) => std::slice::from_ref(file),
            Patches::Series(files) => files,
        }
    }

    fn is_empty(&self) -> bool {
        self.files().is_empty()
    }
}

impl SourceEntry {
    /// The tree's directory, if it names one.
    pub fn root(&self, folder: &Path) -> Option<PathBuf> {
        let tree = self.tree.as_deref()?;
        Some(match (tree.strip_prefix("~/"), std::env::home_dir()) {
            (Some(below), Some(home)) => home.join(below),
            _ => folder.join(tree),
        })
    }

    /// Patches as files that can be opened.
    pub fn patches(&self, folder: &Path) -> Vec<PathBuf> {
        self.patch.files().iter().map(|file| folder.join(file)).collect()
    }

    /// Lines for a `.config`.
    pub fn config_lines(&self) -> Vec<String> {
        let line = |(name, value): (&String, &ConfigValue)| match value {
            ConfigValue::Switch(true) => format!("CONFIG_{name}=y"),
            ConfigValue::Switch(false) => format!("# CONFIG_{name} is not set"),
            ConfigValue::Number(n) => format!("CONFIG_{name}={n}"),
        };
        self.config.iter().map(line).collect()
    }

    /// What it is, as `kernel=6.12`, in the order of the file.
    pub fn set(&self) -> Vec<String> {
        let kernel = self.kernel.map(|version| format!("source {version}"));
        let tree = self.tree.iter().map(|tree| format!("tree {tree}"));
        let commit = self.commit.iter().map(|commit| format!("commit {commit}"));
        let patches = self.patch.files().iter().map(|p| format!("patch {}", p.display()));
        let config = self.config_lines().into_iter();
        kernel.into_iter().chain(tree).chain(commit).chain(patches).chain(config).collect()
    }

    /// What is wrong with it: found and expected.
    pub(super) fn wrong(&self) -> Option<(String, &'static str)> {
        match (&self.kernel, &self.tree, &self.commit) {
            (None, None, _) => Some(("neither kernel nor tree".into(), "one of them")),
            (Some(_), Some(_), _) => Some(("kernel and tree".into(), "one of them")),
            (Some(_), None, Some(_)) => Some(("a commit without a tree".into(), "a tree with it")),
            _ => None,
        }
    }
}
