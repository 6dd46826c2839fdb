//! Control groups: `[[group]]` of all variants, `[variant.groups.web]` of one.

use serde::{Deserialize, Serialize};
use setting::Group;
use std::collections::BTreeMap;

/// Controllers whose files may be written to. The hierarchy itself is made by schedscape.
const CONTROLLERS: [&str; 2] = ["cpu.", "cpuset."];
/// Longest path of a group in bytes.
const LONGEST: usize = 200;

/// A control group of all variants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupTable {
    /// Its path below the root, such as `web/db`; what is above has a table of its own.
    pub path: String,
    /// What it is.
    #[serde(flatten)]
    pub entry: GroupEntry,
}

/// A control group of cgroup v2: tasks that begin in it, and what is written to files of the kernel.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupEntry {
    /// Names of tasks as timelines have them; `*` stands for any letters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<String>,
    /// Its tasks share a cookie of core scheduling: they run on sibling threads at the same time, and nobody else does.
    #[serde(default, skip_serializing_if = "is_off")]
    pub core_cookie: bool,
    /// Its tasks are a session, which shares CPUs with other sessions.
    #[serde(default, skip_serializing_if = "is_off")]
    pub session: bool,
    /// Files and what is written to them. All other fields are files.
    #[serde(flatten)]
    pub files: BTreeMap<String, Word>,
}

/// What is written to a file, or files whose names go on: `cpu.max` is the same in quotes and without.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Word {
    /// A number.
    Number(i64),
    /// A number with a fraction, such as a clamp in per cent.
    Fraction(f64),
    /// Joined by commas, such as CPUs.
    List(Vec<Word>),
    /// The kernel's own words.
    Text(String),
    /// The rest of names.
    Below(BTreeMap<String, Word>),
}

impl GroupEntry {
    /// Files with what is written to them, in the order of their names.
    pub fn writes(&self) -> Vec<(String, String)> {
        let mut all = vec![];
        add(&mut all, "", &self.files);
        all.sort();
        all
    }
}

fn is_off(switch: &bool) -> bool {
    !switch
}

fn text(word: &Word) -> String {
    match word {
        Word::Number(number) => number.to_string(),
        Word::Fraction(number) => number.to_string(),
        Word::Text(text) => text.clone(),
        Word::List(words) => words.iter().map(text).collect::<Vec<_>>().join(","),
        Word::Below(_) => String::new(),
    }
}

fn add(all: &mut Vec<(String, String)>, start: &str, files: &BTreeMap<String, Word>) {
    for (name, word) in files {
        let name = format!("{start}{name}");
        match word {
            Word::Below(files) => add(all, &format!("{name}."), files),
            word => all.push((name, text(word))),
        }
    }
}

/// The groups of `tables` with what `own` says otherwise, file by file, and those that only `own` has.
pub(super) fn merged(
    tables: &[GroupTable],
    own: &BTreeMap<String, GroupEntry>,
) -> BTreeMap<String, GroupEntry> {
    let flat = |entry: &GroupEntry| GroupEntry {
        files: entry.writes().into_iter().map(|(file, text)| (file, Word::Text(text))).collect(),
        ..entry.clone()
    };
    let mut all: BTreeMap<String, GroupEntry> =
        tables.iter().map(|table| (table.path.clone(), flat(&table.entry))).collect();
    for (path, entry) in own {
        let entry = flat(entry);
        let group = all.entry(path.clone()).or_default();
        group.files.extend(entry.files);
        group.core_cookie |= entry.core_cookie;
        group.session |= entry.session;
        if !entry.tasks.is_empty() {
            group.tasks = entry.tasks;
        }
    }
    all
}

/// What is wrong with `tables` whatever variants add: the field, what was found and what was expected.
pub(super) fn wrong_tables(tables: &[GroupTable]) -> Option<(String, String, &'static str)> {
    let paths: Vec<&str> = tables.iter().map(|table| table.path.as_str()).collect();
    for (at, path) in paths.iter().enumerate() {
        let refuse = |found: String, expected| Some(("group: path".to_string(), found, expected));
        if !is_path(path) {
            return refuse(format!("`{path}`"), PATH);
        }
        if paths[..at].contains(path) {
            return refuse(format!("`{path}` twice"), "each path once");
        }
        if let Some((above, _)) = path.rsplit_once('/')
            && !paths.contains(&above)
        {
            let found = format!("`{path}` without `{above}`");
            return refuse(found, "a [[group]] for the group above, too");
        }
    }
    None
}

/// What a path is.
const PATH: &str = "names joined by `/`, such as `web/db`, of at most 200 bytes";

fn is_path(path: &str) -> bool {
    path.len() <= LONGEST && path.split('/').all(|part| !["", ".", ".."].contains(&part))
}

/// The groups of `entries` and all that are above them, those above first.
pub(super) fn all(entries: &BTreeMap<String, GroupEntry>) -> Vec<Group> {
    let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
    for (path, entry) in entries {
        for (at, _) in path.match_indices('/') {
            groups.entry(&path[..at]).or_default();
        }
        let group = Group {
            path: String::new(),
            tasks: entry.tasks.clone(),
            files: entry.writes(),
            core_cookie: entry.core_cookie,
            session: entry.session,
        };
        groups.insert(path, group);
    }
    groups.into_iter().map(|(path, group)| Group { path: path.to_string(), ..group }).collect()
}

/// What is wrong with `entries`: the path, the field below it, what was found and what was expected.
pub(super) fn wrong(
    entries: &BTreeMap<String, GroupEntry>,
    has: impl Fn(&str) -> bool,
) -> Option<(String, &'static str, String, &'static str)> {
    let uses_cpu =
        entries.values().flat_map(GroupEntry::writes).any(|(f, _)| f.starts_with("cpu."));
    let has_effect = entries.values().any(|e| !e.files.is_empty() || e.core_cookie || e.session);
    for (path, entry) in entries {
        if !is_path(path) {
            return Some((String::new(), "", format!("`{path}`"), PATH));
        }
        for (file, _) in entry.writes() {
            if !CONTROLLERS.iter().any(|c| file.starts_with(c)) {
                let expected = "`tasks`, `core_cookie`, `session`, or a file of the controllers cpu and cpuset, such as `cpu.max`";
                return Some((path.clone(), "", format!("`{file}`"), expected));
            }
        }
        if !has_effect {
            let expected =
                "a file such as `cpu.weight`, `core_cookie` or `session` in one of the groups";
            return Some((path.clone(), "", "tasks alone".to_string(), expected));
        }
        if entry.core_cookie && !has("SCHED_CORE") {
            let expected = "none without `config = { SCHED_CORE = true }` in the source";
            return Some((path.clone(), "core_cookie", "true".to_string(), expected));
        }
        if entry.session && !has("SCHED_AUTOGROUP") {
            let expected = "none without `config = { SCHED_AUTOGROUP = true }` in the source";
            return Some((path.clone(), "session", "true".to_string(), expected));
        }
        if entry.session && uses_cpu {
            let expected = "none beside groups with files of cpu: the kernel has autogroups for tasks of the root group";
            return Some((path.clone(), "session", "true".to_string(), expected));
        }
        if !entry.tasks.is_empty() {
            let below = format!("{path}/");
            if let Some(other) = entries.keys().find(|other| other.starts_with(&below)) {
                let found = format!("some, with `{other}` below");
                let expected = "none: a group of cgroup v2 has tasks or groups with controllers";
                return Some((path.clone(), "tasks", found, expected));
            }
        }
    }
    None
}

/// What a variant's groups are, for people.
pub(super) fn set(entries: &BTreeMap<String, GroupEntry>) -> Vec<String> {
    let line = |(path, entry): (&String, &GroupEntry)| {
        let writes: Vec<String> =
            entry.writes().iter().map(|(file, word)| format!("{file}={word}")).collect();
        let cookie = if entry.core_cookie { " core_cookie" } else { "" };
        let session = if entry.session { " session" } else { "" };
        let (tasks, writes) = (entry.tasks.join(", "), writes.join(", "));
        format!("group {path} [{tasks}]{cookie}{session} {writes}")
    };
    entries.iter().map(line).map(|l| l.trim_end().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use crate::ExperimentFile;
    use setting::Group;

    const GOOD: &str = include_str!("../../../../experiments/my-patch.toml");

    fn with(groups: &str) -> Result<ExperimentFile, String> {
        let from = "source = { kernel = \"6.12\" }";
        let text = GOOD.replacen(from, &format!("{from}\n{groups}"), 1);
        let files = ExperimentFile::parse_each(&text, "x.toml").map_err(|e| e.to_string())?;
        Ok(files.into_iter().next().unwrap())
    }

    fn group(path: &str, tasks: &[&str], files: &[(&str, &str)]) -> Group {
        let text = |(a, b): &(&str, &str)| (a.to_string(), b.to_string());
        Group {
            path: path.to_string(),
            tasks: tasks.iter().map(|t| t.to_string()).collect(),
            files: files.iter().map(text).collect(),
            ..Group::default()
        }
    }

    #[test]
    fn groups_above_are_made_and_come_first() {
        let text = "[variant.groups.\"web/db\"]\ncpu.weight = 200\n\"cpu.max\" = \"50000 100000\"\ntasks = [\"a*\"]\n\
                    [variant.groups.b]\ntasks = [\"*\"]\n";
        let file = with(text).unwrap();
        let files = [("cpu.max", "50000 100000"), ("cpu.weight", "200")];
        let expected =
            [group("b", &["*"], &[]), group("web", &[], &[]), group("web/db", &["a*"], &files)];
        assert_eq!(file.groups(0), expected);
        let again = toml::to_string(&file).unwrap();
        assert_eq!(ExperimentFile::parse(&again, "x.toml").unwrap(), file);
        let json = serde_json::to_string(&file).unwrap();
        assert_eq!(serde_json::from_str::<ExperimentFile>(&json).unwrap(), file);
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        for (text, expected) in [
            ("[variant.groups.web]\ntaks = [\"a\"]", "groups.web: found `taks`, expected `tasks`"),
            ("[variant.groups.web]\ntaks = \"a\"", "groups.web: found `taks`, expected `tasks`"),
            ("[variant.groups.web]\n\"memory.max\" = 1", "groups.web: found `memory.max`"),
            ("[variant.groups.web]\ntasks = [\"a\"]", "groups.web: found tasks alone"),
            (
                "[variant.groups.a]\ncore_cookie = true",
                "groups.a.core_cookie: found true, expected none without",
            ),
            (
                "[variant.groups.a]\nsession = true",
                "groups.a.session: found true, expected none without",
            ),
            ("[variant.groups.\"a//b\"]\ncpu.weight = 1", "groups: found `a//b`"),
            (
                "[variant.groups.a]\ntasks = [\"x\"]\n[variant.groups.\"a/b\"]\ncpu.weight = 1\ntasks = [\"y\"]",
                "groups.a.tasks: found some, with `a/b` below",
            ),
        ] {
            let error = with(text).unwrap_err();
            assert!(error.starts_with("x.toml: ") && error.contains(expected), "{text}: {error}");
        }
    }
}
