//! A kernel tree whose own scheduler a variant runs.

use kernel::Version;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use tree::Sanitizer;

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
    /// A `.config` whose options about the scheduler are taken over, relative to the experiment file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_file: Option<PathBuf>,
    /// Options of the tree's configuration that differ from schedscape's: `HZ_1000 = true`, `NR_CPUS = 64`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, ConfigValue>,
    /// Sanitizers that it is compiled with.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub sanitize: BTreeSet<Sanitizer>,
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

/// What a sysctl is set to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SysctlValue {
    /// A number.
    Number(i64),
    /// Several numbers, or a word.
    Text(String),
}

impl fmt::Display for SysctlValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SysctlValue::Number(number) => number.fmt(f),
            SysctlValue::Text(text) => text.fmt(f),
        }
    }
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
    /// The source package of `release`, as it is.
    pub fn of(release: Version) -> SourceEntry {
        SourceEntry {
            kernel: Some(release),
            tree: None,
            commit: None,
            patch: Patches::default(),
            config_file: None,
            config: BTreeMap::new(),
            sanitize: BTreeSet::new(),
        }
    }

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

    /// Whether its configuration switches on what ours leaves off.
    pub fn has(&self, option: &str) -> bool {
        self.config.get(option) == Some(&ConfigValue::Switch(true))
    }

    /// Lines for a `.config`.
    pub fn config_lines(&self) -> Vec<String> {
        let line = |(name, value): (&String, &ConfigValue)| match value {
            ConfigValue::Switch(true) => format!("CONFIG_{name}=y"),
            ConfigValue::Switch(false) => format!("# CONFIG_{name} is not set"),
            ConfigValue::Number(n) => format!("CONFIG_{name}={n}"),
        };
        let sanitizers = self.sanitize.iter().map(|sanitizer| sanitizer.config_line());
        self.config.iter().map(line).chain(sanitizers).collect()
    }

    /// What it is, as `kernel=6.12`, in the order of the file.
    pub fn set(&self) -> Vec<String> {
        let kernel = self.kernel.map(|version| format!("source {version}"));
        let tree = self.tree.iter().map(|tree| format!("tree {tree}"));
        let commit = self.commit.iter().map(|commit| format!("commit {commit}"));
        let patches = self.patch.files().iter().map(|p| format!("patch {}", p.display()));
        let file = self.config_file.iter().map(|file| format!("configuration {}", file.display()));
        let config = file.chain(self.config_lines());
        kernel.into_iter().chain(tree).chain(commit).chain(patches).chain(config).collect()
    }

    /// What is wrong with it: the field, what was found and what was expected.
    pub(super) fn wrong(&self) -> Option<(&'static str, String, &'static str)> {
        let on = self.config.iter().filter(|(_, value)| **value != ConfigValue::Switch(false));
        for (option, _) in on {
            if let Some(expected) = tree::expected_without(option) {
                return Some(("source.config", format!("`{option}`"), expected));
            }
        }
        let (found, expected) = self.wrong_place()?;
        Some(("source", found, expected))
    }

    fn wrong_place(&self) -> Option<(String, &'static str)> {
        match (&self.kernel, &self.tree, &self.commit) {
            (None, None, _) => Some(("neither kernel nor tree".into(), "one of them")),
            (Some(_), Some(_), _) => Some(("kernel and tree".into(), "one of them")),
            (Some(_), None, Some(_)) => Some(("a commit without a tree".into(), "a tree with it")),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ExperimentFile;

    const GOOD: &str = include_str!("../../../../experiments/my-patch.toml");

    fn changed(from: &str, to: &str) -> Result<Vec<ExperimentFile>, String> {
        assert!(GOOD.contains(from), "the shipped experiment no longer holds `{from}`");
        ExperimentFile::parse_each(&GOOD.replacen(from, to, 1), "x.toml").map_err(|e| e.to_string())
    }

    #[test]
    fn the_release_is_that_of_the_source() {
        let files = changed("title = \"6.12\"", "").unwrap();
        assert_eq!(files.len(), 3);
        let variant = &files[0].variants[1];
        assert_eq!(variant.kernel, kernel::Version::new(6, 12));
        let source = variant.source.as_ref().unwrap();
        assert_eq!(source.patch.files().len(), 1);
        let again = toml::to_string(&files[0]).unwrap();
        assert_eq!(ExperimentFile::parse(&again, "x.toml").unwrap(), files[0]);
        let json = serde_json::to_string(&files[0]).unwrap();
        assert_eq!(serde_json::from_str::<ExperimentFile>(&json).unwrap(), files[0]);
    }

    #[test]
    fn options_become_lines_of_a_configuration() {
        let with = "source = { kernel = \"6.12\", config = { NUMA = false, PREEMPT_NONE = true, NR_CPUS = 64 } }";
        let files = changed("source = { kernel = \"6.12\" }", with).unwrap();
        let lines = files[0].variants[0].source.as_ref().unwrap().config_lines();
        let expected = ["CONFIG_NR_CPUS=64", "# CONFIG_NUMA is not set", "CONFIG_PREEMPT_NONE=y"];
        assert_eq!(lines, expected);
        let with = "source = { kernel = \"6.12\", sanitize = [\"undefined\", \"address\"] }";
        let files = changed("source = { kernel = \"6.12\" }", with).unwrap();
        let lines = files[0].variants[0].source.as_ref().unwrap().config_lines();
        assert_eq!(lines, ["CONFIG_SCHEDSCAPE_ADDRESS=y", "CONFIG_SCHEDSCAPE_UNDEFINED=y"]);
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let base = "source = { kernel = \"6.12\" }";
        for (to, expected) in [
            (
                "source = { kernel = \"6.12\", config = { NUMA_BALANCING = true } }",
                "variant `base`: source.config: found `NUMA_BALANCING`, expected none: it follows the pages",
            ),
            (
                "source = { kernel = \"6.12\", config = { SCHED_CLASS_EXT = true } }",
                "source.config: found `SCHED_CLASS_EXT`, expected none: its schedulers are programs of BPF",
            ),
            (
                "source = { kernel = \"6.12\", config = { ENERGY_MODEL = true } }",
                "source.config: found `ENERGY_MODEL`, expected none: no machine says",
            ),
            ("source = { }", "variant `base`: source: found neither kernel nor tree"),
            ("source = { kernel = \"6.12\", tree = \"x\" }", "source: found kernel and tree"),
            ("source = { kernel = \"6.12\", commit = \"x\" }", "found a commit without a tree"),
            ("source = { tree = \"/nowhere\" }", "source.tree: found"),
            ("source = { kernel = \"6.12\", sanitize = [\"thread\"] }", "unknown variant `thread`"),
            ("source = { kernel = \"6.12\", ptch = \"x\" }", "unknown field `ptch`"),
            (
                "kernel = \"6.1\"\nsource = { kernel = \"6.12\" }",
                "kernel: found 6.1, expected 6.12",
            ),
            ("", "variant `base`: kernel: found none, expected a release, or a source"),
            (
                "source = { kernel = \"6.12\" }\nmechanisms = { wa-weight = false }",
                "mechanisms: found `wa-weight`",
            ),
        ] {
            let error = changed(base, to).unwrap_err();
            assert!(error.starts_with("x.toml: ") && error.contains(expected), "{to}: {error}");
        }
        let topology = "source = { kernel = \"6.12\" }\nmechanisms = { sched-cluster = false }";
        assert!(changed(base, topology).is_ok());
    }
}
