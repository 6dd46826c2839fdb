//! From an experiment file to jobs.

use crate::ExperimentError;
use crate::engine::Engine;
use crate::file::{ExperimentFile, FrequencyEntry, PrefetchEntry, VariantEntry, WorkloadEntry};
use crate::power;
use crate::results::MetricInfo;
use crate::store::folder_of;
use kernel::Kernel;
use machine::Machine;
use sim::Setting;
use sim::hypervisor::Prefetch;
use std::path::Path;
use workload::rtapp::{Built, Ignored};
use workload::{Target, background};

/// An experiment with its machine and kernels.
#[derive(Debug)]
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

/// A workload under a variant, ready to run.
#[derive(Debug)]
pub(crate) struct Job<J> {
    /// Its place in the file.
    pub(crate) workload: usize,
    /// Its variant's.
    pub(crate) variant: usize,
    pub(crate) metrics: Vec<MetricInfo>,
    pub(crate) ignored: Vec<Ignored>,
    pub(crate) engine_job: J,
}

impl Plan {
    /// Resolves the machine and the kernels of `file`, which errors call `path`.
    pub fn new(file: ExperimentFile, path: &str) -> Result<Plan, ExperimentError> {
        let refused = |field: String, reason: String| ExperimentError::Refused {
            file: path.to_string(),
            field,
            reason,
        };
        let mut machine = machine::resolve(&file.machine)
            .map_err(|e| refused("machine".to_string(), e.to_string()))?;
        if let Some(constants) = &file.constants {
            constants
                .apply(&mut machine, &format!("set by experiment `{}`", file.name))
                .map_err(|e| refused("constants".to_string(), e))?;
        }
        let kernels = file
            .variants
            .iter()
            .map(|v| {
                kernel_of(v).map_err(|e| refused(format!("variant `{}`", v.name), e.to_string()))
            })
            .collect::<Result<_, _>>()?;
        Ok(Plan { file, path: path.to_string(), machine, kernels })
    }

    /// The machine as variant `at` has it.
    pub fn machine_of(&self, at: usize) -> Result<Machine, ExperimentError> {
        let variant = &self.file.variants[at];
        match variant.smt {
            None => Ok(self.machine.clone()),
            Some(smt) => self.machine.with_smt(smt).map_err(|e| ExperimentError::Refused {
                file: self.path.clone(),
                field: format!("variant `{}`", variant.name),
                reason: e.to_string(),
            }),
        }
    }

    /// Seed of a run: the same for all variants, unless a variant has its own.
    pub(crate) fn seed(&self, variant: usize, run: u32) -> u64 {
        let base = self.file.variants[variant].seed.unwrap_or(self.file.seed);
        base.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(u64::from(run))
    }

    pub(crate) fn prepare<E: Engine>(
        &self,
        engine: &E,
    ) -> Result<Vec<Job<E::Job>>, ExperimentError> {
        let mut jobs = Vec::new();
        for w in 0..self.file.workloads.len() {
            for v in self.file.variants_of(w) {
                jobs.push(self.prepare_cell(engine, w, v)?);
            }
        }
        Ok(jobs)
    }

    /// The workload at `w` under the variant at `v`.
    pub(crate) fn prepare_cell<E: Engine>(
        &self,
        engine: &E,
        w: usize,
        v: usize,
    ) -> Result<Job<E::Job>, ExperimentError> {
        let (entry, variant) = (&self.file.workloads[w], &self.file.variants[v]);
        let machine = self.machine_of(v)?;
        let refused = |reason: String| ExperimentError::Refused {
            file: self.path.clone(),
            field: format!("workload `{}`, variant `{}`", entry.name, variant.name),
            reason,
        };
        let Built { workload, ignored } = self.workload(entry, &machine).map_err(refused)?;
        if !variant.command_line().is_empty() {
            return Err(refused(
                "guest.append: found words for a command line, expected none: a model has no command line"
                    .to_string(),
            ));
        }
        let setting = Setting {
            hotplug: variant.hotplug.iter().flat_map(|e| e.steps()).collect(),
            frequency: variant.frequency.as_ref().map(FrequencyEntry::frequency),
            prefetch: (variant.prefetch.as_ref())
                .map_or_else(Prefetch::default, PrefetchEntry::prefetch),
        };
        let mut metrics: Vec<MetricInfo> = workload.metrics.iter().map(MetricInfo::from).collect();
        if setting.frequency.is_some() {
            metrics.extend(power::metrics(metrics.first()));
        }
        let engine_job =
            engine.prepare(&machine, &self.kernels[v], workload, &setting).map_err(refused)?;
        Ok(Job { workload: w, variant: v, metrics, ignored, engine_job })
    }

    /// The folder of the experiment file, to which the files that workloads name are relative.
    pub(crate) fn folder(&self) -> &Path {
        folder_of(Path::new(&self.path))
    }

    /// The workload of `entry` with the background, at the costs of `machine`.
    pub(crate) fn workload(
        &self,
        entry: &WorkloadEntry,
        machine: &Machine,
    ) -> Result<Built, String> {
        let read = |file: &str| std::fs::read_to_string(self.folder().join(file));
        let target =
            Target { constants: &machine.constants, online: machine.online.clone(), read: &read };
        let mut built = entry.benchmark.build(&target).map_err(|e| e.to_string())?;
        if entry.background.unwrap_or(true) {
            let clock_khz = machine.constants.value("nominal_khz").map_err(|e| e.to_string())?;
            let background = &self.file.background;
            background::add(
                &mut built.workload,
                background,
                machine.online.clone(),
                clock_khz / 1e3,
            )
            .map_err(|e| e.to_string())?;
        }
        Ok(built)
    }
}

fn kernel_of(variant: &VariantEntry) -> Result<Kernel, kernel::KernelError> {
    let mut kernel = Kernel::new(variant.kernel);
    kernel.hz = variant.hz.unwrap_or(Kernel::DEFAULT_HZ);
    for (name, &on) in &variant.mechanisms {
        kernel = kernel.with_named(name, on)?;
    }
    Ok(kernel)
}
