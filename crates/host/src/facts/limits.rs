//! What this process itself may use: `/proc/self/cgroup`, the control groups above it, `/proc/self/status`.

use super::files;
use machine::CpuSet;
use std::path::Path;

/// Where control groups are mounted.
const MOUNT: &str = "sys/fs/cgroup";

/// CPU time that a control group may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Quota {
    /// The file that says so, below the root.
    pub(super) file: String,
    /// Time in a period, in us.
    pub(super) quota_us: u64,
    /// The period, in us.
    pub(super) period_us: u64,
}

/// Quotas of this process's control group and of those above it, the innermost first.
pub(super) fn quotas(root: &Path) -> Vec<Quota> {
    let own = files::text(root, "proc/self/cgroup").unwrap_or_default();
    own.lines()
        .filter_map(hierarchy)
        .flat_map(|(controllers, group)| {
            match controllers {
                // Beside the old hierarchies, the new one is mounted one level below.
                "" => of_groups(root, &[MOUNT.to_string(), format!("{MOUNT}/unified")], group, max),
                joined if joined.split(',').any(|c| c == "cpu") => {
                    let mounts = [format!("{MOUNT}/{joined}"), format!("{MOUNT}/cpu")];
                    of_groups(root, &mounts, group, cfs_quota)
                }
                _ => Vec::new(),
            }
        })
        .collect()
}

/// Controllers and group of a line such as `4:cpu,cpuacct:/a/b`; the new hierarchy's line is `0::/a/b`.
fn hierarchy(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once(':')?;
    rest.split_once(':')
}

/// The quotas of `group` and those above it below the first of `mounts` that has any.
fn of_groups(
    root: &Path,
    mounts: &[String],
    group: &str,
    read: fn(&Path, &str) -> Option<Quota>,
) -> Vec<Quota> {
    // A group outside the part that is mounted here starts with `..`: of it, only the mounted part can be read.
    let parts: Vec<&str> = group.split('/').filter(|part| !part.is_empty()).collect();
    let parts = if parts.contains(&"..") { Vec::new() } else { parts };
    let below = |mount: &String| -> Vec<Quota> {
        let groups = (0..=parts.len()).rev().map(|depth| parts[..depth].iter());
        let dirs = groups.map(|parts| parts.fold(mount.clone(), |dir, part| dir + "/" + part));
        dirs.filter_map(|dir| read(root, &dir)).collect()
    };
    mounts.iter().map(below).find(|quotas| !quotas.is_empty()).unwrap_or_default()
}

/// `cpu.max`: `max 100000`, or a quota and a period in us.
fn max(root: &Path, dir: &str) -> Option<Quota> {
    let file = format!("{dir}/cpu.max");
    let text = files::text(root, &file)?;
    let (quota, period) = text.split_once(' ')?;
    Some(Quota { quota_us: quota.parse().ok()?, period_us: period.trim().parse().ok()?, file })
}

/// The same of the old hierarchy, in two files; a quota of -1 is none.
fn cfs_quota(root: &Path, dir: &str) -> Option<Quota> {
    let file = format!("{dir}/cpu.cfs_quota_us");
    let quota_us = files::number(root, &file)?;
    let period_us = files::number(root, &format!("{dir}/cpu.cfs_period_us"))?;
    Some(Quota { file, quota_us, period_us })
}

/// CPUs that this process may run on, by affinity and cpuset (`Cpus_allowed_list`).
pub(super) fn allowed(root: &Path) -> Option<CpuSet> {
    let status = files::text(root, "proc/self/status")?;
    files::field(&status, "Cpus_allowed_list")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tree::Tree;

    fn told(tree: &Tree) -> Vec<(String, u64)> {
        quotas(tree.root()).into_iter().map(|q| (q.file, q.quota_us)).collect()
    }

    #[test]
    fn quotas_of_groups_above_count_too() {
        let tree = Tree::new(&[
            ("proc/self/cgroup", "0::/a/b/c\n"),
            ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/a/b/c/cpu.max", "50000 100000\n"),
        ]);
        let inner = ("sys/fs/cgroup/a/b/c/cpu.max".to_string(), 50_000);
        let outer = ("sys/fs/cgroup/a/cpu.max".to_string(), 150_000);
        assert_eq!(told(&tree), [inner, outer]);
        // In a container, the group of the container looks like the root.
        tree.write("proc/self/cgroup", "0::/../x\n");
        tree.write("sys/fs/cgroup/cpu.max", "1000 100000");
        assert_eq!(told(&tree), [("sys/fs/cgroup/cpu.max".to_string(), 1000)]);
    }

    #[test]
    fn the_old_hierarchy_has_quotas_in_files_of_its_own() {
        let tree = Tree::new(&[
            ("proc/self/cgroup", "9:name=systemd:/\n4:cpu,cpuacct:/a\n0::/\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "20000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"),
        ]);
        let quota = "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us".to_string();
        assert_eq!(told(&tree), [(quota, 20_000)]);
    }

    #[test]
    fn affinity_is_read_from_the_process() {
        let tree = Tree::new(&[("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-1,4\n")]);
        assert_eq!(allowed(tree.root()).unwrap().to_string(), "0-1,4");
        assert_eq!(allowed(Tree::new(&[]).root()), None);
    }
}
