//! Control groups of a variant in a guest: the kernel's own, made before a run and gone after it.

use setting::{Group, group_of};
use std::collections::BTreeSet;

/// Where a guest has them.
pub(super) const CGROUPS: &str = "/sys/fs/cgroup";

/// What makes `groups`, those above first, and writes to their files; and what takes them away.
pub(super) fn scripts(groups: &[Group]) -> (String, String) {
    if groups.is_empty() {
        return (String::new(), String::new());
    }
    let files = groups.iter().flat_map(|group| &group.files);
    let controllers: BTreeSet<&str> =
        files.filter_map(|(file, _)| Some(file.split_once('.')?.0)).collect();
    let controllers = Vec::from_iter(controllers).join(" ");
    let mut before = format!("groups_on '' {controllers} || exit 1\n");
    for group in groups {
        let path = quoted(&group.path);
        before.push_str(&format!("mkdir {CGROUPS}/{path} || exit 1\n"));
        let below = format!("{}/", group.path);
        if groups.iter().any(|other| other.path.starts_with(&below)) {
            before.push_str(&format!("groups_on {path} {controllers} || exit 1\n"));
        }
    }
    for group in groups {
        for (file, text) in &group.files {
            let words = [&group.path, file, text].map(|word| quoted(word)).join(" ");
            before.push_str(&format!("group_write {words} || exit 1\n"));
        }
    }
    let paths: Vec<String> = groups.iter().map(|group| quoted(&group.path)).collect();
    let mut after = format!("group_stats {} > \"$out/groups\"\n", paths.join(" "));
    for path in paths.iter().rev() {
        after.push_str(&format!("group_remove {path} || exit 1\n"));
    }
    (before, after)
}

/// What begins a program in the group `path`.
pub(super) fn join(path: &str) -> String {
    let file = quoted(&format!("{CGROUPS}/{path}/cgroup.procs"));
    // 0 is who writes it.
    format!("echo 0 > {file} || exit 1\n")
}

/// A word of a shell that means itself.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The group in which a program begins whose tasks have these `names`; the error says of which several they would be.
pub(crate) fn of_tasks(
    groups: &[Group],
    names: &BTreeSet<String>,
) -> Result<Option<String>, String> {
    let of: BTreeSet<Option<usize>> = names.iter().map(|name| group_of(groups, name)).collect();
    match of.len() {
        0 | 1 => Ok(of.into_iter().flatten().next().map(|at| groups[at].path.clone())),
        _ => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Err(format!("several for the tasks {}", names.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(path: &str, files: &[(&str, &str)]) -> Group {
        let text = |(a, b): &(&str, &str)| (a.to_string(), b.to_string());
        Group {
            path: path.to_string(),
            files: files.iter().map(text).collect(),
            ..Group::default()
        }
    }

    #[test]
    fn groups_are_made_from_above_and_go_from_below() {
        let groups = [
            group("web", &[("cpuset.cpus", "0-1")]),
            group("web/db", &[("cpu.max", "5000 10000"), ("cpu.weight", "200")]),
        ];
        let (before, after) = scripts(&groups);
        let expected = "groups_on '' cpu cpuset || exit 1\n\
                        mkdir /sys/fs/cgroup/'web' || exit 1\n\
                        groups_on 'web' cpu cpuset || exit 1\n\
                        mkdir /sys/fs/cgroup/'web/db' || exit 1\n\
                        group_write 'web' 'cpuset.cpus' '0-1' || exit 1\n\
                        group_write 'web/db' 'cpu.max' '5000 10000' || exit 1\n\
                        group_write 'web/db' 'cpu.weight' '200' || exit 1\n";
        assert_eq!(before, expected);
        let expected = "group_stats 'web' 'web/db' > \"$out/groups\"\n\
                        group_remove 'web/db' || exit 1\ngroup_remove 'web' || exit 1\n";
        assert_eq!(after, expected);
        assert_eq!(scripts(&[]), (String::new(), String::new()));
        assert_eq!(join("a'b"), "echo 0 > '/sys/fs/cgroup/a'\\''b/cgroup.procs' || exit 1\n");
    }

    #[test]
    fn all_tasks_of_a_program_begin_in_one_group() {
        let mut groups = [group("a", &[]), group("b", &[])];
        groups[0].tasks = vec!["ngin*".to_string()];
        let names = |all: &[&str]| all.iter().map(|n| n.to_string()).collect::<BTreeSet<_>>();
        assert_eq!(of_tasks(&groups, &names(&["nginx"])), Ok(Some("a".to_string())));
        assert_eq!(of_tasks(&groups, &names(&["sh"])), Ok(None));
        let both = of_tasks(&groups, &names(&["nginx", "sh"])).unwrap_err();
        assert_eq!(both, "several for the tasks nginx, sh");
    }
}
