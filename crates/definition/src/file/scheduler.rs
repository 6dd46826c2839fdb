//! A scheduler of the class sched_ext that guests of a variant load before each run.

use crate::folder_of;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::path::{Path, PathBuf};

/// How the crates of the scheduler's project begin.
const CRATES: &str = "scx_";
/// How files of BPF objects end.
const OBJECT: &str = ".o";

/// `scheduler = "scx_rusty"`, or a table that also has a version and options.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchedulerEntry {
    /// A crate, or a file relative to the experiment file or below `~`.
    pub program: String,
    /// The crate's version; the newest of the registry where absent.
    pub version: Option<String>,
    /// Arguments of the program.
    pub options: Vec<String>,
}

/// What a scheduler is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchedulerKind {
    /// A crate of the registry.
    Crate(String),
    /// A program that loads it.
    Program(PathBuf),
    /// A BPF object that holds its `sched_ext_ops`.
    Object(PathBuf),
}

/// The table.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    options: Vec<String>,
}

impl SchedulerEntry {
    /// What it is, with files as `folder` has them; `None` for a word that names neither.
    pub fn kind(&self, folder: &Path) -> Option<SchedulerKind> {
        let program = self.program.as_str();
        let is_word = |text: &str| {
            text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        if !program.contains('/') && !program.ends_with(OBJECT) {
            let is_crate =
                program.strip_prefix(CRATES).is_some_and(|n| !n.is_empty() && is_word(n));
            return is_crate.then(|| SchedulerKind::Crate(program.to_string()));
        }
        let path = match (program.strip_prefix("~/"), std::env::home_dir()) {
            (Some(below), Some(home)) => home.join(below),
            _ => folder.join(program),
        };
        Some(match program.ends_with(OBJECT) {
            true => SchedulerKind::Object(path),
            false => SchedulerKind::Program(path),
        })
    }

    /// What it is, for people: `scheduler scx_rusty 1.1.4 --perf 0`.
    pub fn set(&self) -> String {
        let words = [Some(&self.program), self.version.as_ref()].into_iter().flatten();
        let words: Vec<&str> = words.chain(&self.options).map(String::as_str).collect();
        format!("scheduler {}", words.join(" "))
    }

    /// What is wrong with it, in the experiment `file`: the field, what was found and what was expected.
    pub(super) fn wrong(&self, file: &str) -> Option<(&'static str, String, &'static str)> {
        let found = || format!("`{}`", self.program);
        let path = match self.kind(folder_of(Path::new(file))) {
            None => {
                let expected = "a crate `scx_NAME`, or a path with a `/` to a program or to a BPF object `*.o`";
                return Some(("scheduler", found(), expected));
            }
            Some(SchedulerKind::Crate(_)) => None,
            Some(SchedulerKind::Program(path) | SchedulerKind::Object(path)) => Some(path),
        };
        if let Some(path) = &path {
            if !path.is_file() {
                return Some(("scheduler", found(), "a file that is there"));
            }
            if let Some(version) = &self.version {
                let expected = "none: a file is what it is, only crates have versions";
                return Some(("scheduler.version", format!("`{version}`"), expected));
            }
            if self.program.ends_with(OBJECT) && !self.options.is_empty() {
                let expected = "none: a BPF object takes no arguments";
                return Some(("scheduler.options", self.options.join(" "), expected));
            }
        }
        let is_version = |v: &str| {
            v.starts_with(|c: char| c.is_ascii_digit())
                && v.chars().all(|c| c.is_ascii_alphanumeric() || ".+-".contains(c))
        };
        if let Some(version) = self.version.as_ref().filter(|v| !is_version(v)) {
            return Some(("scheduler.version", format!("`{version}`"), "one such as 1.1.4"));
        }
        let odd = |option: &&String| option.is_empty() || option.contains(char::is_control);
        let odd = self.options.iter().find(odd)?;
        Some(("scheduler.options", format!("{odd:?}"), "arguments on one line, none empty"))
    }
}

impl Serialize for SchedulerEntry {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.version.is_none() && self.options.is_empty() {
            return to.serialize_str(&self.program);
        }
        let SchedulerEntry { program, version, options } = self.clone();
        Table { program, version, options }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for SchedulerEntry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<SchedulerEntry, D::Error> {
        from.deserialize_any(Either)
    }
}

/// Reads a word or the table; one of its own, so that an error names the table's field.
struct Either;

impl<'de> Visitor<'de> for Either {
    type Value = SchedulerEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scheduler's name or path, or a table with `program`")
    }

    fn visit_str<E: Error>(self, program: &str) -> Result<SchedulerEntry, E> {
        Ok(SchedulerEntry { program: program.to_string(), version: None, options: vec![] })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SchedulerEntry, A::Error> {
        let Table { program, version, options } =
            Table::deserialize(MapAccessDeserializer::new(map))?;
        Ok(SchedulerEntry { program, version, options })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExperimentFile;

    const GOOD: &str = include_str!("../../../../experiments/sched-ext.toml");
    const RUSTY: &str = "scheduler = \"scx_rusty\"";

    fn changed(to: &str, file: &str) -> Result<ExperimentFile, String> {
        assert!(GOOD.contains(RUSTY), "the shipped experiment no longer holds `{RUSTY}`");
        ExperimentFile::parse(&GOOD.replacen(RUSTY, to, 1), file).map_err(|e| e.to_string())
    }

    fn scheduler(file: &ExperimentFile) -> &SchedulerEntry {
        file.variants[1].scheduler.as_ref().unwrap()
    }

    #[test]
    fn a_word_and_a_table_come_back_as_they_were() {
        let table = "scheduler = { program = \"scx_rusty\", version = \"1.1.4\", options = [\"--perf\", \"0\"] }";
        for to in [RUSTY, table] {
            let file = changed(to, "x.toml").unwrap();
            let again = toml::to_string(&file).unwrap();
            assert_eq!(ExperimentFile::parse(&again, "x.toml").unwrap(), file);
            let json = serde_json::to_string(&file).unwrap();
            assert_eq!(serde_json::from_str::<ExperimentFile>(&json).unwrap(), file);
        }
        let file = changed(table, "x.toml").unwrap();
        assert_eq!(scheduler(&file).set(), "scheduler scx_rusty 1.1.4 --perf 0");
        let kind = scheduler(&file).kind(Path::new("/e")).unwrap();
        assert_eq!(kind, SchedulerKind::Crate("scx_rusty".to_string()));
    }

    #[test]
    fn files_are_relative_to_the_experiment() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["own", "own.bpf.o"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let experiment = dir.path().join("x.toml").display().to_string();
        let kind = |word: &str| {
            let file = changed(&format!("scheduler = \"{word}\""), &experiment).unwrap();
            scheduler(&file).kind(dir.path()).unwrap()
        };
        assert_eq!(kind("./own"), SchedulerKind::Program(dir.path().join("./own")));
        assert_eq!(kind("own.bpf.o"), SchedulerKind::Object(dir.path().join("own.bpf.o")));
        for (to, expected) in [
            (
                "{ program = \"./own\", version = \"1.0\" }",
                "scheduler.version: found `1.0`, expected none: a file",
            ),
            (
                "{ program = \"own.bpf.o\", options = [\"-v\"] }",
                "scheduler.options: found -v, expected none: a BPF object",
            ),
        ] {
            let error = changed(&format!("scheduler = {to}"), &experiment).unwrap_err();
            assert!(error.contains(expected), "{to}: {error}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        for (to, expected) in [
            ("\"rusty\"", "variant `rusty`: scheduler: found `rusty`, expected a crate `scx_NAME`"),
            ("\"scx_Rusty\"", "scheduler: found `scx_Rusty`, expected a crate"),
            ("\"scx_\"", "scheduler: found `scx_`, expected a crate"),
            ("\"./nowhere\"", "scheduler: found `./nowhere`, expected a file that is there"),
            ("\"nowhere.bpf.o\"", "found `nowhere.bpf.o`, expected a file that is there"),
            ("{ program = \"scx_rusty\", versoin = \"1\" }", "unknown field `versoin`"),
            ("{ version = \"1.1.4\" }", "missing field `program`"),
            ("7", "expected a scheduler's name or path"),
            (
                "{ program = \"scx_rusty\", version = \"--git x\" }",
                "scheduler.version: found `--git x`, expected one such as 1.1.4",
            ),
            (
                "{ program = \"scx_rusty\", options = [\"a\\nb\"] }",
                "scheduler.options: found \"a\\nb\", expected arguments on one line",
            ),
        ] {
            let error = changed(&format!("scheduler = {to}"), "x.toml").unwrap_err();
            assert!(error.starts_with("x.toml: ") && error.contains(expected), "{to}: {error}");
        }
    }
}
