//! All groups with their parents, and the CPUs that cpusets leave to each.

use super::{CpuFiles, Group, GroupError, Partition};
use machine::CpuSet;

/// A group in its hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its path below the root, such as `web/db`.
    pub path: String,
    /// Place of the group above it, which comes before it; none below the root.
    pub parent: Option<usize>,
    /// What its files say.
    pub files: CpuFiles,
    /// CPUs that its tasks may use (`cpuset.cpus.effective`); empty only where partitions below it have them all.
    pub cpus: CpuSet,
}

/// Control groups in the order in which they are written, those above first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    /// The groups, at the places that [`super::group_of`] gives.
    pub groups: Vec<Place>,
    /// CPUs that tasks of the root group may use: those that no partition has.
    pub root_cpus: CpuSet,
}

impl Hierarchy {
    /// `groups`, those above first, on a machine with the `possible` CPUs, some of them `online`.
    ///
    /// # Errors
    /// What the kernel refuses ([`Group::cpu_files`]), CPUs that the machine does not have (`update_cpumask`), and partitions that the kernel
    /// would make invalid (`update_parent_effective_cpumask`; it then shows why in `cpuset.cpus.partition`).
    pub fn of(
        groups: &[Group],
        possible: &CpuSet,
        online: &CpuSet,
    ) -> Result<Hierarchy, GroupError> {
        let mut places: Vec<Place> = Vec::with_capacity(groups.len());
        for group in groups {
            let files = group.cpu_files()?;
            if let Some(cpus) = files.cpus.as_ref().filter(|cpus| !cpus.is_subset(possible)) {
                let expected = format!("CPUs of the machine, which has {possible}");
                return Err(group.error("cpuset.cpus", format!("`{cpus}`"), &expected));
            }
            let above = group.path.rsplit_once('/').map(|(above, _)| above);
            let parent = above.and_then(|above| places.iter().position(|p| p.path == above));
            let (path, cpus) = (group.path.clone(), CpuSet::EMPTY);
            places.push(Place { path, parent, files, cpus });
        }
        let mut all = Hierarchy { groups: places, root_cpus: CpuSet::EMPTY };
        for (at, group) in groups.iter().enumerate() {
            let found = format!("{:?}", all.groups[at].files.partition).to_lowercase();
            let refuse = |why| group.error("cpuset.cpus.partition", format!("`{found}`"), why);
            all.partition(at).map_err(refuse)?;
        }
        all.settle(online);
        let is_member = |p: &Place| p.files.partition == Partition::Member;
        for (group, place) in groups.iter().zip(&all.groups) {
            let mut siblings = all.groups.iter().filter(|p| p.parent == place.parent);
            let has_tasks = place.parent.is_none() || siblings.any(is_member);
            if has_tasks && all.left_to(place.parent).is_empty() {
                let expected = "partitions that leave a CPU to the group above: it has tasks";
                let found = format!("`{}`", place.files.cpus.clone().unwrap_or_default());
                return Err(group.error("cpuset.cpus", found, expected));
            }
        }
        Ok(all)
    }

    /// Whether some group has CPUs of its own or clamps them.
    pub fn has_cpusets(&self) -> bool {
        self.groups.iter().any(|group| group.files.cpus.is_some())
    }

    /// Gives each group the CPUs that it has while `online` are (`update_cpumasks_hier`): those of `cpuset.cpus` that the group above has, or
    /// all of those where that leaves none. A partition takes its CPUs from the group above.
    pub fn settle(&mut self, online: &CpuSet) {
        self.root_cpus = online.clone();
        for (is_partition, at) in self.partitions_first() {
            let parent = self.groups[at].parent;
            let above = self.left_to(parent).clone();
            let own = self.groups[at].files.cpus.as_ref().map(|cpus| cpus & &above);
            let own = own.filter(|cpus| !cpus.is_empty());
            if let (true, Some(own)) = (is_partition, &own) {
                match parent {
                    Some(parent) => self.groups[parent].cpus = &above - own,
                    None => self.root_cpus = &above - own,
                }
            }
            self.groups[at].cpus = own.unwrap_or(above);
        }
    }

    /// Groups, those above first, and of the children of one group partitions first.
    fn partitions_first(&self) -> Vec<(bool, usize)> {
        let is_partition = |at: usize| self.groups[at].files.partition != Partition::Member;
        let depth = |at: usize| self.groups[at].path.matches('/').count();
        let mut all: Vec<(bool, usize)> =
            (0..self.groups.len()).map(|at| (is_partition(at), at)).collect();
        all.sort_by_key(|&(partition, at)| (depth(at), !partition, at));
        all
    }

    /// CPUs of the group at `parent`, or of the root.
    fn left_to(&self, parent: Option<usize>) -> &CpuSet {
        parent.map_or(&self.root_cpus, |parent| &self.groups[parent].cpus)
    }

    /// Why the group at `at` cannot be the partition that it asks for.
    fn partition(&self, at: usize) -> Result<(), &'static str> {
        let place = &self.groups[at];
        if place.files.partition == Partition::Member {
            return Ok(());
        }
        let Some(cpus) = &place.files.cpus else {
            return Err("`member` without `cpuset.cpus`: a partition has CPUs of its own");
        };
        let above = place.parent.map(|parent| self.groups[parent].files.partition);
        if above == Some(Partition::Member) {
            return Err("`member` below a group that is no partition root");
        }
        let mut siblings = self.groups.iter().filter(|g| g.parent == place.parent);
        let shares = siblings
            .any(|g| g != place && g.files.cpus.as_ref().is_some_and(|c| c.intersects(cpus)));
        match shares {
            true => Err(
                "`member` beside a group that has some of its CPUs: a partition's are exclusive",
            ),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(path: &str, cpus: &str, partition: &str) -> Group {
        let files = [("cpuset.cpus", cpus), ("cpuset.cpus.partition", partition)];
        let written = files.iter().filter(|(_, text)| !text.is_empty());
        Group {
            path: path.to_string(),
            files: written.map(|(file, text)| (file.to_string(), text.to_string())).collect(),
            ..Group::default()
        }
    }

    fn all(groups: &[(&str, &str, &str)]) -> Result<Hierarchy, String> {
        let groups: Vec<Group> = groups.iter().map(|(a, b, c)| group(a, b, c)).collect();
        let cpus = CpuSet::first_n(8);
        Hierarchy::of(&groups, &cpus, &cpus).map_err(|e| e.to_string())
    }

    fn cpus(all: &Hierarchy) -> Vec<String> {
        let own = all.groups.iter().map(|g| g.cpus.to_string());
        own.chain([all.root_cpus.to_string()]).collect()
    }

    #[test]
    fn a_cpuset_is_what_the_group_above_has_of_it() {
        let found = all(&[
            ("web", "0-3", ""),
            ("web/db", "", ""),
            ("web/db/log", "2-5", ""),
            ("web/www", "6-7", ""),
            ("x", "", ""),
        ])
        .unwrap();
        assert_eq!(cpus(&found), ["0-3", "0-3", "2-3", "0-3", "0-7", "0-7"]);
        let parents: Vec<_> = found.groups.iter().map(|g| g.parent).collect();
        assert_eq!(parents, [None, Some(0), Some(1), Some(0), None]);
        assert!(found.has_cpusets());
    }

    #[test]
    fn a_partition_takes_its_cpus_away() {
        let groups = [
            ("a", "", ""),
            ("batch", "4-7", "root"),
            ("batch/one", "4-5", "isolated"),
            ("batch/rest", "", ""),
        ];
        let mut found = all(&groups).unwrap();
        assert_eq!(cpus(&found), ["0-3", "6-7", "4-5", "6-7", "0-3"]);
        // A partition without a CPU that is online has those of the group above.
        found.settle(&CpuSet::first_n(4));
        assert_eq!(cpus(&found), ["0-3", "0-3", "0-3", "0-3", "0-3"]);
        // One that has no tasks may give them all away.
        let found = all(&[("a", "4-7", "root"), ("a/b", "4-7", "root")]).unwrap();
        assert_eq!(cpus(&found), ["", "4-7", "0-3"]);
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let refused = |groups: &[(&str, &str, &str)]| all(groups).unwrap_err();
        for (found, expected) in [
            (
                refused(&[("web", "4-8", "")]),
                "web.cpuset.cpus: found `4-8`, expected CPUs of the machine, which has 0-7",
            ),
            (
                refused(&[("web", "", "root")]),
                "web.cpuset.cpus.partition: found `root`, expected `member` without `cpuset.cpus`",
            ),
            (
                refused(&[("a", "0-3", ""), ("a/b", "0-1", "isolated")]),
                "a/b.cpuset.cpus.partition: found `isolated`, expected `member` below a group",
            ),
            (
                refused(&[("a", "0-3", "root"), ("b", "3-4", "")]),
                "a.cpuset.cpus.partition: found `root`, expected `member` beside a group",
            ),
            (
                refused(&[("a", "0-7", "root")]),
                "a.cpuset.cpus: found `0-7`, expected partitions that leave a CPU",
            ),
            (
                refused(&[("a", "4-7", "root"), ("a/b", "4-7", "root"), ("a/c", "", "")]),
                "a/b.cpuset.cpus: found `4-7`, expected partitions that leave a CPU",
            ),
        ] {
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
