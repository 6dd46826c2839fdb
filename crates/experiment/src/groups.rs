//! Control groups: names of tasks that exist.

use crate::ExperimentError;
use definition::Plan;
use definition::file::WorkloadEntry;
use machine::Machine;
use setting::matches;
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
