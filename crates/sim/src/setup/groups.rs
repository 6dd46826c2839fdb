//! Control groups: which one the tasks of a program begin in, and what the model makes of their files.

use crate::SimError;
use crate::fair::{Group, Quota, weight_of_nice};
use kernel::{Kernel, Version};
use machine::{CpuSet, Machine};
use setting::{FILES, Hierarchy, Partition, Place, Weight};
use workload::{Program, Workload};

/// Earlier releases average what is runnable in a group apart from its load.
const MODELLED_SINCE: Version = Version::new(5, 7);

/// All groups as the model has them, in the order of the setting.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ModelGroups {
    /// As the fair class takes them.
    pub(crate) class: Vec<Group>,
    /// CPUs that each leaves its tasks; empty where no group has a cpuset.
    pub(crate) cpus: Vec<CpuSet>,
}

impl ModelGroups {
    /// What the files of `groups` say to the model of `kernel`.
    ///
    /// # Errors
    /// What the kernel would refuse, and what the model does not have: [`SimError::Groups`].
    pub(crate) fn new(
        machine: &Machine,
        kernel: &Kernel,
        groups: &[setting::Group],
    ) -> Result<ModelGroups, SimError> {
        let Some(first) = groups.first() else { return Ok(ModelGroups::default()) };
        groups.iter().try_for_each(|group| check_files(group, kernel))?;
        if kernel.version < MODELLED_SINCE {
            let found = format!("a group under kernel {}", kernel.version);
            return Err(refused(&first.path, found, "5.7 or newer, or a kernel's `source`"));
        }
        let possible = CpuSet::first_n(machine.cpus.len());
        let all = Hierarchy::of(groups, &possible, &machine.online)
            .map_err(|e| refused(&format!("{}.{}", e.path, e.file), e.found, &e.expected))?;
        for (group, place) in groups.iter().zip(&all.groups) {
            check_place(&group.path, place)?;
        }
        let cpus = match all.has_cpusets() {
            true => all.groups.iter().map(|place| place.cpus.clone()).collect(),
            false => Vec::new(),
        };
        Ok(ModelGroups { class: all.groups.iter().map(class_of).collect(), cpus })
    }

    /// Whether a group has a quota.
    pub(crate) fn has_quotas(&self) -> bool {
        self.class.iter().any(|group| group.quota.is_some())
    }

    /// What `group`, by its place from 1 on, leaves of `set`: all that it has, where that is nothing (`cpuset_cpus_allowed`).
    pub(crate) fn allowed(&self, group: u32, set: &CpuSet) -> CpuSet {
        let own = (group as usize).checked_sub(1).and_then(|at| self.cpus.get(at));
        let Some(own) = own else { return set.clone() };
        let both = set & own;
        if both.is_empty() { own.clone() } else { both }
    }
}

fn refused(field: &str, found: String, expected: &str) -> SimError {
    SimError::Groups { field: field.to_string(), found, expected: expected.to_string() }
}

/// Whether the model of `kernel` has all files of `group`.
fn check_files(group: &setting::Group, kernel: &Kernel) -> Result<(), SimError> {
    let field = |file: &str| format!("{}.{file}", group.path);
    if let Some(name) = group.beyond() {
        let files: Vec<&str> = FILES.iter().map(|(file, _)| *file).collect();
        let expected = format!("it with a source only: the model has {}", files.join(", "));
        return Err(refused(&field(name), "some".to_string(), &expected));
    }
    let release = (kernel.version.major, kernel.version.minor);
    if let Some((file, (major, minor))) = group.newer_than(release) {
        let expected = format!("{major}.{minor} or newer, which brought it");
        return Err(refused(&field(file), format!("kernel {}", kernel.version), &expected));
    }
    Ok(())
}

/// Whether the model has what the files of the group at `path` say.
fn check_place(path: &str, place: &Place) -> Result<(), SimError> {
    let files = &place.files;
    if files.partition != Partition::Member {
        let found = format!("`{:?}`", files.partition).to_lowercase();
        let expected = "`member` without a source: the model's domains are the machine's";
        return Err(refused(&format!("{path}.cpuset.cpus.partition"), found, expected));
    }
    if files.uclamp_min.is_some() || files.uclamp_max.is_some() {
        let expected = "none: the model clamps tasks, not groups";
        return Err(refused(&format!("{path}.cpu.uclamp"), "a clamp".to_string(), expected));
    }
    Ok(())
}

fn class_of(place: &Place) -> Group {
    let files = &place.files;
    let shares = match files.weight {
        // `sched_weight_from_cgroup`.
        Some(Weight::Cgroup(weight)) => (u64::from(weight) * 1024 + 50) / 100,
        Some(Weight::Nice(nice)) => weight_of_nice(nice),
        None => 1024,
    };
    Group {
        above: place.parent.map_or(0, |parent| parent + 1),
        shares,
        idle: files.is_idle,
        quota: files.quota_us.map(|us| Quota {
            quota_ns: us * 1000,
            period_ns: files.period_us * 1000,
            burst_ns: files.burst_us * 1000,
        }),
    }
}

/// By program: the group in which its tasks begin, by its place from 1 on; 0 for their parent's. A group that the workload names
/// comes before one whose pattern its tasks match.
pub(super) fn groups_of(workload: &Workload, groups: &[setting::Group]) -> Vec<u32> {
    if groups.is_empty() {
        return vec![];
    }
    let of = |(at, program): (usize, &Program)| {
        let named = workload.groups.get(at).and_then(Option::as_deref);
        let place = match named {
            Some(path) => groups.iter().position(|group| group.path == path),
            None => setting::group_of(groups, &program.name),
        };
        place.map_or(0, |at| at as u32 + 1)
    };
    workload.programs.iter().enumerate().map(of).collect()
}
