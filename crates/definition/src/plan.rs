//! What an experiment file names: its machine, its kernels, its workloads.

use crate::error::DefinitionError;
use crate::file::{ExperimentFile, FrequencyEntry, PrefetchEntry, VariantEntry, WorkloadEntry};
use crate::{folder_of, replay};
use kernel::Kernel;
use machine::costs::{CostTable, CostsError};
use machine::{Machine, costs};
use setting::{Hierarchy, Prefetch, Setting};
use std::path::Path;
use std::sync::Arc;
use workload::rtapp::Built;
use workload::together::{self, Part};
use workload::{BuildError, Target, background};

/// An experiment with its machine and kernels.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What was asked for.
    pub file: ExperimentFile,
    /// The experiment file, for errors; files that workloads name are relative to its folder.
    pub path: String,
    /// The machine, all CPUs online.
    pub machine: Machine,
    /// By variant: its kernel.
    pub kernels: Vec<Kernel>,
}

/// The table of costs that the experiment `path` calls `costs`.
fn table(costs: &str, path: &str) -> Result<Arc<CostTable>, DefinitionError> {
    let wrong = |reason: CostsError| DefinitionError::Costs {
        file: path.to_string(),
        reason: Box::new(reason),
    };
    costs::find(costs, folder_of(Path::new(path))).map_err(wrong)
}

impl Plan {
    /// Finds the machine and the kernels of `file`, which errors call `path`.
    ///
    /// # Errors
    /// A machine that cannot be read, mechanisms that do not exist or that the release does not know.
    pub fn new(file: ExperimentFile, path: &str) -> Result<Plan, DefinitionError> {
        let mut machine = machine::resolve(&file.machine).map_err(|reason| {
            DefinitionError::Machine { file: path.to_string(), reason: Box::new(reason) }
        })?;
        if let Some(constants) = &file.constants {
            let by = format!("set by experiment `{}`", file.name);
            constants.apply(&mut machine, &by).map_err(|reason| DefinitionError::Constants {
                file: path.to_string(),
                reason: Box::new(reason),
            })?;
        }
        if let Some(costs) = &file.costs {
            machine.costs = Some(table(costs, path)?);
        }
        let kernel = |v: &VariantEntry| {
            kernel_of(v).map_err(|reason| DefinitionError::Kernel {
                file: path.to_string(),
                variant: v.name.clone(),
                reason: Box::new(reason),
            })
        };
        let kernels = file.variants.iter().map(kernel).collect::<Result<_, _>>()?;
        let plan = Plan { file, path: path.to_string(), machine, kernels };
        plan.check_cpusets()?;
        Ok(plan)
    }

    /// Refuses cpusets that the machine cannot have. A tree's own code says itself what it takes.
    fn check_cpusets(&self) -> Result<(), DefinitionError> {
        let all = self.file.variants.iter().enumerate();
        for (at, _) in all.filter(|(_, v)| v.source.is_none()) {
            let groups = self.file.groups(at);
            if groups.is_empty() {
                continue;
            }
            let online = self.machine_of(at)?.online;
            Hierarchy::of(&groups, &self.machine.possible(), &online).map_err(|e| {
                DefinitionError::Field {
                    file: self.path.clone(),
                    field: self.file.group_field(at, &e.path, &e.file),
                    found: e.found,
                    expected: e.expected,
                }
            })?;
        }
        Ok(())
    }

    /// The machine as variant `at` has it when runs start.
    ///
    /// # Errors
    /// An SMT mode that the machine does not have.
    pub fn machine_of(&self, at: usize) -> Result<Machine, DefinitionError> {
        let variant = &self.file.variants[at];
        match variant.smt {
            None => Ok(self.machine.clone()),
            Some(smt) => self.machine.with_smt(smt).map_err(|e| DefinitionError::Smt {
                file: self.path.clone(),
                variant: variant.name.clone(),
                reason: e,
            }),
        }
    }

    /// Seed of run `run` under variant `variant`: the same for all variants, unless a variant has its own.
    pub fn seed(&self, variant: usize, run: u32) -> u64 {
        let base = self.file.variants[variant].seed.unwrap_or(self.file.seed());
        base.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(u64::from(run))
    }

    /// What variant `at` sets around its workloads.
    pub fn setting(&self, at: usize) -> Setting {
        let variant = &self.file.variants[at];
        Setting {
            hotplug: variant.hotplug.iter().flat_map(|e| e.steps()).collect(),
            frequency: variant.frequency.as_ref().map(FrequencyEntry::frequency),
            prefetch: (variant.prefetch.as_ref())
                .map_or_else(Prefetch::default, PrefetchEntry::prefetch),
            groups: self.file.groups(at),
            numa_balancing: variant.numa_balancing.unwrap_or(true),
        }
    }

    /// The folder of the experiment file, to which the files that workloads name are relative.
    pub fn folder(&self) -> &Path {
        folder_of(Path::new(&self.path))
    }

    /// The workload of `entry` with the background, at the costs of `machine`.
    ///
    /// # Errors
    /// Constants that the machine lacks, parameters that cannot be, files that cannot be read.
    pub fn workload(&self, entry: &WorkloadEntry, machine: &Machine) -> Result<Built, BuildError> {
        let read = |file: &str| std::fs::read_to_string(self.folder().join(file));
        let target = Target {
            constants: &machine.constants,
            online: machine.online.clone(),
            // The model has no deadline class, and variants share their workloads.
            deadlines: self.file.variants.iter().all(|v| v.source.is_some()),
            read: &read,
            replay: &|params| replay::build(params, self.folder(), &self.machine),
        };
        let mut built = built(entry, &target)?;
        // What a trace recorded had its own background.
        let is_whole = built.workload.has_kernel_work;
        if entry.background.unwrap_or(!is_whole) {
            let clock_khz = machine.constants.value("nominal_khz")?;
            let background = self.file.background();
            background::add(
                &mut built.workload,
                &background,
                machine.online.clone(),
                clock_khz / 1e3,
            )?;
        }
        Ok(built)
    }
}

/// What runs, alone or together, without a background.
fn built(entry: &WorkloadEntry, target: &Target) -> Result<Built, BuildError> {
    if let [part] = entry.parts.as_slice() {
        let mut built = part.benchmark.build(target)?;
        if let Some(group) = &part.group {
            together::in_group(&mut built.workload, group);
        }
        return Ok(built);
    }
    let mut ignored = vec![];
    let mut parts = vec![];
    for part in &entry.parts {
        let built = part.benchmark.build(target)?;
        ignored.extend(built.ignored);
        let (name, group) = (part.name.clone(), part.group.clone());
        parts.push(Part { name, group, measured: part.measured, workload: built.workload });
    }
    Ok(Built { workload: together::together(&parts)?, ignored })
}

fn kernel_of(variant: &VariantEntry) -> Result<Kernel, kernel::KernelError> {
    let mut kernel = Kernel::new(variant.kernel);
    kernel.hz = variant.hz.unwrap_or(Kernel::DEFAULT_HZ);
    for (name, &on) in &variant.mechanisms {
        kernel = kernel.with_named(name, on)?;
    }
    Ok(kernel)
}
