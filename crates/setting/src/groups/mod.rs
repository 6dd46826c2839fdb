//! Control groups of cgroup v2, which tasks begin in which, and what their files say.
//!
//! A [`Group`] is text, as it is written to a kernel. [`CpuFiles`] is what the text says to the controllers cpu and cpuset, by the
//! kernel's own rules; [`Hierarchy`] is all groups with their parents and the CPUs that cpusets leave them.

mod files;
mod hierarchy;
mod words;

pub use files::{CpuFiles, FILES, Partition, Weight};
pub use hierarchy::{Hierarchy, Place};

/// What the kernel would refuse of a group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}.{file}: found {found}, expected {expected}")]
pub struct GroupError {
    /// The group's path.
    pub path: String,
    /// The file.
    pub file: String,
    /// What is written to it.
    pub found: String,
    /// What the kernel takes.
    pub expected: String,
}

/// A control group: a directory of cgroup v2 with what is written to its files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Group {
    /// Its path below the root, such as `web/db`.
    pub path: String,
    /// Patterns for the names of tasks that begin in it; `*` stands for any letters.
    pub tasks: Vec<String>,
    /// Files of the kernel, such as `cpu.max`, and what is written to them, in this order.
    pub files: Vec<(String, String)>,
    /// Whether its tasks share a cookie of core scheduling.
    pub core_cookie: bool,
    /// Whether its tasks are a session, with an autogroup of its own.
    pub session: bool,
}

/// The place in `groups` of the group in which a task called `name` begins; none where it begins in that of its parent. Of several
/// patterns that match, the longest counts, and of equally long ones that of the first group.
pub fn group_of(groups: &[Group], name: &str) -> Option<usize> {
    let all = groups.iter().enumerate().flat_map(|(at, g)| g.tasks.iter().map(move |t| (at, t)));
    let matching = all.filter(|(_, pattern)| matches(pattern, name));
    matching.rev().max_by_key(|(_, pattern)| pattern.len()).map(|(at, _)| at)
}

/// Whether `pattern` stands for `name`.
pub fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(after) = name.strip_prefix(head) else { return false };
    (0..=after.len()).filter(|&at| after.is_char_boundary(at)).any(|at| matches(rest, &after[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_letters() {
        let yes =
            [("*", ""), ("a", "a"), ("a*", "a"), ("a*c", "abbc"), ("*b*", "abc"), ("ö*", "öa")];
        let no = [("a", "ab"), ("", "a"), ("a*c", "ab"), ("b*", "ab"), ("a*b*c", "acb")];
        for (pattern, name) in yes {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in no {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn the_longest_pattern_counts_and_then_the_first_group() {
        let group = |path: &str, tasks: &[&str]| Group {
            path: path.to_string(),
            tasks: tasks.iter().map(|t| t.to_string()).collect(),
            ..Group::default()
        };
        let groups =
            [group("rest", &["*"]), group("web", &["hack*", "nginx"]), group("x", &["ngin*"])];
        let of = |name| group_of(&groups, name);
        assert_eq!([of("hackbench"), of("nginx"), of("nginy"), of("sh")], [1, 1, 2, 0].map(Some));
        assert_eq!(group_of(&groups[1..], "sh"), None);
    }
}
