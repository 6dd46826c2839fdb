//! Control groups: names of tasks that exist, and files that the model has.

use crate::ExperimentError;
use crate::engine::EngineError;
use definition::Plan;
use definition::file::WorkloadEntry;
use kernel::Kernel;
use machine::Machine;
use setting::{FILES, Group, GroupError, Partition, matches};
use std::collections::BTreeSet;
use workload::{Benchmark, BuildError};

/// Refuses names of tasks for control groups that no workload of their variant has. `plan` has all workloads of its file.
///
/// # Errors
/// The first such name, and workloads that cannot be built.
pub fn check_groups(plan: &Plan) -> Result<(), ExperimentError> {
    for (v, variant) in plan.file.variants.iter().enumerate() {
        let groups = plan.file.groups(v);
        if groups.iter().all(|group| group.tasks.is_empty()) {
            continue;
        }
        let machine = plan.machine_of(v)?;
        let mut names = BTreeSet::new();
        for (w, entry) in plan.file.workloads.iter().enumerate() {
            if plan.file.variants_of(w).contains(&v) {
                names.extend(tasks(plan, entry, &machine).map_err(|reason| {
                    ExperimentError::Refused {
                        file: plan.path.clone(),
                        field: format!("workload `{}`, variant `{}`", entry.name, variant.name),
                        reason: Box::new(reason.into()),
                    }
                })?);
            }
        }
        for group in groups {
            let unknown = |pattern: &&String| !names.iter().any(|name| matches(pattern, name));
            if let Some(pattern) = group.tasks.iter().find(unknown) {
                let all: Vec<&str> = names.iter().map(String::as_str).collect();
                return Err(ExperimentError::Field {
                    file: plan.path.clone(),
                    field: format!("variant `{}`: groups.{}.tasks", variant.name, group.path),
                    found: format!("`{pattern}`"),
                    expected: format!("a pattern for one of the tasks {}", all.join(", ")),
                });
            }
        }
    }
    Ok(())
}

/// Names of a workload's tasks.
fn tasks(plan: &Plan, entry: &WorkloadEntry, machine: &Machine) -> Result<Vec<String>, BuildError> {
    // No model has the steps of a command, but it has a name.
    if let Some(Benchmark::Command(params)) = entry.alone() {
        return Ok(vec![params.task().to_owned()]);
    }
    let built = plan.workload(entry, machine)?;
    Ok(built.workload.programs.into_iter().map(|p| p.name).collect())
}

/// Refuses files and words of `groups` that the model of `kernel` does not have.
pub(crate) fn modelled(groups: &[Group], kernel: &Kernel) -> Result<(), EngineError> {
    let release = (kernel.version.major, kernel.version.minor);
    for group in groups {
        let refuse = |file: &str, found: String, expected: String| {
            let (path, file) = (format!("groups.{}", group.path), file.to_string());
            Err(EngineError::Group(GroupError { path, file, found, expected }))
        };
        if let Some(name) = group.beyond() {
            let files: Vec<&str> = FILES.iter().map(|(file, _)| *file).collect();
            let expected = format!("it with a source only: the model has {}", files.join(", "));
            return refuse(name, "some".to_string(), expected);
        }
        if let Some((file, (major, minor))) = group.newer_than(release) {
            let expected = format!("{major}.{minor} or newer, which brought it");
            return refuse(file, format!("kernel {}", kernel.version), expected);
        }
        let partition = group.cpu_files().map_err(EngineError::Group)?.partition;
        if partition != Partition::Member {
            let found = format!("`{partition:?}`").to_lowercase();
            let expected = "`member` without a source: the model's domains are the machine's";
            return refuse("cpuset.cpus.partition", found, expected.to_string());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Version;

    fn refused(files: &[(&str, &str)], release: (u16, u16)) -> Option<String> {
        let text = |(a, b): &(&str, &str)| (a.to_string(), b.to_string());
        let files = files.iter().map(text).collect();
        let group = Group { path: "web".to_string(), files, ..Group::default() };
        let kernel = Kernel::new(Version::new(release.0, release.1));
        modelled(&[group], &kernel).err().map(|e| e.to_string())
    }

    #[test]
    fn what_the_model_has_not_is_refused_by_name() {
        let taken = [("cpu.weight", "200"), ("cpu.max", "max"), ("cpuset.cpus", "0-1")];
        assert_eq!(refused(&taken, (6, 12)), None);
        assert_eq!(refused(&[("cpuset.cpus.partition", "member")], (6, 12)), None);
        for (file, text, release, expected) in [
            (
                "cpuset.mems",
                "0",
                (6, 12),
                "groups.web.cpuset.mems: found some, expected it with a source only",
            ),
            (
                "cpu.idle",
                "1",
                (5, 10),
                "groups.web.cpu.idle: found kernel 5.10, expected 5.15 or newer",
            ),
            (
                "cpuset.cpus.partition",
                "root",
                (6, 12),
                "groups.web.cpuset.cpus.partition: found `root`, expected `member` without a source",
            ),
        ] {
            let error = refused(&[(file, text)], release).unwrap_or_default();
            assert!(error.starts_with(expected), "{error}");
        }
        let group = Group { core_cookie: true, ..Group::default() };
        let kernel = Kernel::new(Version::new(6, 12));
        let error = modelled(&[group], &kernel).unwrap_err().to_string();
        assert!(error.contains("core_cookie: found some"), "{error}");
    }
}
