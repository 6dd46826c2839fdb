//! What of an experiment guests can run: variants on real kernels, workloads as programs.

use super::groups::of_tasks;
use super::realise::Realised;
use super::script;
use crate::ExperimentError;
use crate::engine::EngineError;
use crate::programs::program_of;
use crate::run::Cell;
use definition::file::{SchedulerKind, VariantEntry, WorkloadEntry};
use definition::{ExperimentFile, Plan};
use kernel::Version;
use machine::CpuSet;
use results::{Engine, MetricInfo};
use std::path::Path;
use vm::board::Board;
use vm::boot::Limits;
use vm::programs::Program;
use vm::sched_ext::Scheduler;
use vm::session::GuestRun;
use vm::{Accel, Cache, KernelImage, VmError};

/// How guests run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where kernels, QEMU and programs are.
    pub cache: Cache,
    /// Release that boots instead of the variants' own.
    pub release: Option<Version>,
    /// The kernel that boots for all variants without a source, instead of a fetched one.
    pub given: Option<KernelImage>,
    /// By variant: the kernel that was built from its source, where it has one.
    pub own: Vec<Option<KernelImage>>,
    /// By variant: its sched_ext scheduler, where it has one and its kernel can load it.
    pub schedulers: Vec<Option<Scheduler>>,
    /// What executes the guests' instructions.
    pub accel: Accel,
    /// Words for every guest's command line.
    pub append: String,
    /// How long a boot with its runs may take.
    pub limits: Limits,
    /// Boots of each kind, over which the runs are spread.
    pub boots: u32,
}

impl Options {
    /// The engine, as in results.
    pub fn engine(&self) -> Engine {
        Engine::Vm(self.accel)
    }
}

/// An experiment that guests can run.
#[derive(Debug)]
pub struct Bench {
    /// The experiment as it runs: without what guests cannot run, releases as they boot.
    pub plan: Plan,
    /// What is left out, and what programs do otherwise than the modelled workloads: a sentence each.
    pub notes: Vec<String>,
    /// By variant of `plan`.
    pub(super) variants: Vec<Realised>,
    /// By workload of `plan`.
    pub(super) programs: Vec<Program>,
    pub(super) jobs: Vec<Cell<()>>,
    /// By job: the control group in which its program begins.
    pub(super) groups: Vec<Option<String>>,
}

impl Bench {
    /// Names of workload and variant of each cell, in the order of the file.
    pub fn cells(&self) -> impl Iterator<Item = (&str, &str)> {
        (0..self.jobs.len()).map(|job| self.names(job))
    }

    /// Whether tasks of `workload` are bound to CPUs in a guest.
    pub fn is_bound(&self, workload: &str) -> bool {
        let at = self.plan.file.workloads.iter().position(|w| w.name == workload);
        at.is_some_and(|at| self.programs[at].is_bound())
    }

    /// By variant of the plan: how guests have it.
    pub fn variants(&self) -> &[Realised] {
        &self.variants
    }

    /// What of `plan` guests can run.
    ///
    /// # Errors
    /// An experiment of which nothing is left, with the reasons, and a workload that cannot be built.
    pub fn of(plan: Plan, options: &Options) -> Result<Bench, ExperimentError> {
        let mut notes = Vec::new();
        let refused = |field: &str, reason: EngineError| ExperimentError::Refused {
            file: plan.path.clone(),
            field: field.to_string(),
            reason: Box::new(reason),
        };
        let own = |v: usize| options.own.get(v).and_then(Option::as_ref).or(options.given.as_ref());
        let scheduler = |v: usize| options.schedulers.get(v).and_then(Option::as_ref);
        let (cache, release) = (&options.cache, options.release);
        let variants: Vec<Option<Realised>> = (0..plan.file.variants.len())
            .map(|v| match Realised::of(&plan, v, cache, release, own(v), scheduler(v)) {
                Ok(realised) => Some(realised),
                Err(reason) => {
                    notes.push(format!(
                        "variant `{}` is left out: {reason}",
                        plan.file.variants[v].name
                    ));
                    None
                }
            })
            .collect();
        if let [None, others @ ..] = &variants[..]
            && let Some(next) = others.iter().position(Option::is_some)
        {
            let next = &plan.file.variants[1 + next].name;
            notes.push(format!("variant `{next}` is the baseline in its place"));
        }
        let programs = programs(&plan, &mut notes).map_err(|e| refused("machine", e.into()))?;
        let file = filtered(&plan.file, &variants, &programs);
        if file.variants.is_empty() || file.workloads.is_empty() {
            return Err(refused("engine vm", EngineError::Nothing(notes.join("; "))));
        }
        let variants: Vec<Realised> = variants.into_iter().flatten().collect();
        let programs: Vec<Program> = programs.into_iter().flatten().collect();
        // Mechanisms are resolved with the variants' own releases; from here on those count that boot.
        let kernels = variants
            .iter()
            .map(|v| v.boot.kernel.model().map_err(|e| refused("kernel", e.into())))
            .collect::<Result<_, _>>()?;
        let plan = Plan { file, kernels, ..plan };
        let (jobs, groups) = jobs(&plan, &programs)?.into_iter().unzip();
        Ok(Bench { plan, notes, variants, programs, jobs, groups })
    }

    /// The scripts of a run of the job at `job`.
    pub(super) fn script(&self, job: usize, slowed: u32) -> GuestRun {
        let of = &self.jobs[job];
        let (program, variant) = (&self.programs[of.workload], &self.variants[of.variant]);
        script::run(program, variant, self.groups[job].as_deref(), slowed)
    }
}

/// By workload: its program, where guests can run it.
fn programs(plan: &Plan, notes: &mut Vec<String>) -> Result<Vec<Option<Program>>, VmError> {
    let board = Board::of(&plan.machine, false)?;
    let read = |file: &str| std::fs::read_to_string(plan.folder().join(file));
    let guest_cpus = |set: CpuSet| -> CpuSet {
        board.cpus().filter(|&(_, cpu)| set.contains(cpu)).map(|(n, _)| n.0 as usize).collect()
    };
    let program = |entry: &WorkloadEntry| {
        let name = &entry.name;
        match program_of(entry, &read, &guest_cpus) {
            Ok(program) => {
                let said = program.notes.iter().chain(&program.guest_notes);
                notes.extend(said.map(|note| format!("workload `{name}`: {note}")));
                Some(program)
            }
            Err(reason) => {
                notes.push(format!("workload `{name}` is left out: {reason}"));
                None
            }
        }
    };
    Ok(plan.file.workloads.iter().map(program).collect())
}

/// The file without what is left out. Variants have the release that boots, and name it.
fn filtered(
    file: &ExperimentFile,
    variants: &[Option<Realised>],
    programs: &[Option<Program>],
) -> ExperimentFile {
    let mut out = file.clone();
    let kept = out.variants.drain(..).zip(variants).filter_map(|(mut entry, realised)| {
        let realised = realised.as_ref()?;
        let kernel = &realised.boot.kernel;
        entry.kernel = Version::new(kernel.version.0, kernel.version.1);
        let scheduler = realised.scheduler.as_ref();
        let scheduler = scheduler.map_or(String::new(), |s| format!(", {} {}", s.name, s.version));
        entry.title = format!("{} ({}{scheduler})", entry.title, kernel.release);
        name_version(&mut entry, realised);
        Some(entry)
    });
    out.variants = kept.collect();
    let names: Vec<String> = out.variants.iter().map(|v| v.name.clone()).collect();
    let mut kept = Vec::new();
    for (mut entry, program) in out.workloads.drain(..).zip(programs) {
        if let Some(wanted) = &mut entry.variants {
            wanted.retain(|name| names.contains(name));
        }
        let runs_somewhere = entry.variants.as_ref().is_none_or(|wanted| !wanted.is_empty());
        if program.is_some() && runs_somewhere {
            kept.push(entry);
        }
    }
    out.workloads = kept;
    out
}

/// Names the version of the crate that the file left to the registry, so that the results say what ran.
fn name_version(entry: &mut VariantEntry, realised: &Realised) {
    if let (Some(entry), Some(scheduler)) = (&mut entry.scheduler, &realised.scheduler)
        && matches!(entry.kind(Path::new("")), Some(SchedulerKind::Crate(_)))
    {
        entry.version = Some(scheduler.version.clone());
    }
}

/// A cell, and the control group in which its program begins.
type Begun = (Cell<()>, Option<String>);

/// The cells, with the metrics that the programs give, and the control groups in which they begin.
fn jobs(plan: &Plan, programs: &[Program]) -> Result<Vec<Begun>, ExperimentError> {
    let mut jobs = Vec::new();
    for (w, entry) in plan.file.workloads.iter().enumerate() {
        let built = plan.workload(entry, &plan.machine);
        let built = built.map_err(|reason| ExperimentError::Refused {
            file: plan.path.clone(),
            field: format!("workload `{}`", entry.name),
            reason: Box::new(reason.into()),
        })?;
        let names = programs[w].output.names();
        let all = built.workload.metrics.iter().map(MetricInfo::from);
        let metrics: Vec<MetricInfo> = all.filter(|info| names.contains(&info.name)).collect();
        for variant in plan.file.variants_of(w) {
            let ignored = built.ignored.clone();
            let cell = Cell { workload: w, variant, metrics: metrics.clone(), ignored, job: () };
            jobs.push((cell, group(plan, (w, variant))?));
        }
    }
    Ok(jobs)
}

/// The control group in which the program of a workload begins: its own, or that of its tasks' names. Parts have theirs in the script.
fn group(plan: &Plan, (w, v): (usize, usize)) -> Result<Option<String>, ExperimentError> {
    let entry = &plan.file.workloads[w];
    let [part] = entry.parts.as_slice() else { return Ok(None) };
    let groups = plan.file.groups(v);
    if part.group.is_some() || groups.iter().all(|group| group.tasks.is_empty()) {
        return Ok(part.group.clone());
    }
    let field = format!("workload `{}`, variant `{}`", entry.name, plan.file.variants[v].name);
    let alone = WorkloadEntry { background: Some(false), ..entry.clone() };
    let built =
        plan.workload(&alone, &plan.machine).map_err(|reason| ExperimentError::Refused {
            file: plan.path.clone(),
            field: field.clone(),
            reason: Box::new(reason.into()),
        })?;
    let names = built.workload.programs.into_iter().map(|p| p.name).collect();
    of_tasks(&groups, &names).map_err(|found| ExperimentError::Field {
        file: plan.path.clone(),
        field: format!("{field}: groups"),
        found,
        expected: "one for all of them: a program begins in one group".to_string(),
    })
}
