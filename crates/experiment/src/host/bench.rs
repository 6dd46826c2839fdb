//! What of an experiment this computer can run, and its runs from the first setting to the last that is put back.

use super::jobs::Job;
use super::plan::Options;
use super::realise::{HostRealiseError, Realised, Running};
use super::record::{Recorder, Tally};
use super::trial::Trial;
use super::turns::{Task, Turns};
use crate::ExperimentError;
use crate::engine::EngineError;
use crate::group_stats;
use crate::journal::Journal;
use crate::run::{Cell, Progress, collect};
use definition::Plan;
use host::facts::Facts;
use host::{Computer, HostError};
use machine::CpuSet;
use results::store::TEMPORARY_PREFIX;
use results::{Computer as Described, Fact, Results, Run};
use sim::rng::{Purpose, Stream};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// Facts that differ from boot to boot whatever is compared.
const OF_A_MOMENT: [&str; 2] = ["boot-id", "swap-used"];

/// What a bench says while it runs.
#[derive(Debug)]
pub enum Told<'a> {
    /// The baseline against itself.
    Trial(&'a Trial),
    /// How far the trial is, of so many runs.
    Trying(usize, usize),
    /// How far it is.
    Progress(Progress),
}

/// An experiment that this computer can run.
#[derive(Debug)]
pub struct Bench {
    /// The experiment.
    pub plan: Plan,
    /// What differs from what the file says, a sentence each.
    pub notes: Vec<String>,
    /// What is known to spoil results here, a sentence each.
    pub warnings: Vec<String>,
    facts: Facts,
    machine: machine::Machine,
    /// By variant of the plan; none for those of another boot.
    pub(super) variants: Vec<Option<Realised>>,
    pub(super) jobs: Vec<Job>,
    pub(super) cells: Vec<Cell<()>>,
    pub(super) work: tempfile::TempDir,
}

impl Bench {
    /// What of `plan` this computer can run. Nothing is changed.
    ///
    /// # Errors
    /// Everything that a variant or workload asks for and this computer, boot or user does not have, by name.
    pub fn of(plan: Plan, options: &Options) -> Result<Bench, ExperimentError> {
        let refused = |field: String, reason: EngineError| ExperimentError::Refused {
            file: plan.path.clone(),
            field,
            reason: Box::new(reason),
        };
        let computer = |reason| refused("engine host".to_owned(), reason);
        // What a killed run left would look like something that this computer lacks.
        Computer::take(&options.root, &options.journal).map_err(|e| computer(e.into()))?;
        let facts = Facts::read(&options.root).map_err(|e| computer(e.into()))?;
        let machine = machine::resolve(machine::HOST)
            .map_err(|e| computer(EngineError::Reported(e.to_string())))?;
        let running = Running::of(&facts, machine).map_err(|e| computer(e.into()))?;
        let realised = |at: usize| {
            let name = &plan.file.variants[at].name;
            if !options.only.is_empty() && !options.only.contains(name) {
                return Ok(None);
            }
            let of = running.realise(&plan, at, options);
            of.map(Some).map_err(|e| refused(format!("variant `{name}`"), e.into()))
        };
        let variants: Vec<Option<Realised>> =
            (0..plan.file.variants.len()).map(realised).collect::<Result<_, _>>()?;
        let work = tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempdir();
        let work =
            work.map_err(|e| computer(EngineError::Reported(format!("temporary directory: {e}"))))?;
        let of = |(at, entry)| {
            let files = work.path().join(format!("files-{at}"));
            Job::of(&plan, entry, options, &files)
        };
        let jobs: Vec<Job> =
            plan.file.workloads.iter().enumerate().map(of).collect::<Result<_, _>>()?;
        let warnings = facts.warnings(&options.root, None).into_iter().map(|w| w.text).collect();
        let bench = Bench {
            notes: notes(&plan, &running, &variants, &jobs),
            cells: cells(&plan, &variants, &jobs),
            machine: running.machine,
            warnings,
            facts,
            variants,
            jobs,
            work,
            plan,
        };
        bench.check(options)?;
        Ok(bench)
    }

    /// Looks for what only workload and variant together lack.
    fn check(&self, options: &Options) -> Result<(), ExperimentError> {
        for cell in &self.cells {
            let launched = self.launch(cell, options, None).and_then(|l| Ok(l.check()?));
            launched.map_err(|reason| self.refused(cell, reason.into()))?;
        }
        Ok(())
    }

    fn refused(&self, cell: &Cell<()>, reason: EngineError) -> ExperimentError {
        let (workload, variant) = self.names(cell);
        ExperimentError::Refused {
            file: self.plan.path.clone(),
            field: format!("workload `{workload}`, variant `{variant}`"),
            reason: Box::new(reason),
        }
    }

    pub(super) fn names(&self, cell: &Cell<()>) -> (&str, &str) {
        let file = &self.plan.file;
        (&file.workloads[cell.workload].name, &file.variants[cell.variant].name)
    }

    pub(super) fn launch(
        &self,
        cell: &Cell<()>,
        options: &Options,
        all: Option<&CpuSet>,
    ) -> Result<host::Launch, HostRealiseError> {
        let Some(realised) = &self.variants[cell.variant] else {
            return Err(HostError::Interrupted.into());
        };
        let job = &self.jobs[cell.workload];
        let online = &self.machine.online - &realised.offline;
        if !(&job.bound - &online).is_empty() {
            return Err(HostRealiseError::Field {
                field: "cpus",
                found: job.bound.to_string(),
                expected: format!("some of {online}, which are online"),
            });
        }
        job.launch(realised, options, all, self.work.path())
    }

    /// What tells this boot from others, for journals of runs.
    pub fn boot(&self) -> String {
        ["kernel", "kernel-build", "boot-id"]
            .map(|name| self.facts.get(name).unwrap_or_default())
            .join(" ")
    }

    /// Makes the trial and all runs that `journal` lacks, and puts back what it set, whatever happens.
    ///
    /// # Errors
    /// A run that fails, a setting that the kernel refuses, and what could not be put back.
    pub fn run(
        &self,
        options: &Options,
        journal: Option<&Journal>,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Told),
    ) -> Result<Results, ExperimentError> {
        let computer = Computer::take(&options.root, &options.journal);
        let mut computer = computer.map_err(|e| self.failed(e.into()))?;
        let ran = self.run_on(&mut computer, options, journal, stop, tell);
        let undone = computer.undo_from(0).map_err(|e| self.failed(e.into()));
        match (ran, undone) {
            (Ok(results), Ok(())) => Ok(results),
            (Err(reason), Ok(())) | (Ok(_), Err(reason)) => Err(reason),
            (Err(reason), Err(left)) => {
                Err(self.failed(EngineError::Reported(format!("{reason}\n{left}"))))
            }
        }
    }

    fn run_on(
        &self,
        computer: &mut Computer,
        options: &Options,
        journal: Option<&Journal>,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Told),
    ) -> Result<Results, ExperimentError> {
        let with_events = self.variants.iter().flatten().any(|v| v.scheduler.is_some());
        let recorder = Recorder::find(
            computer,
            &self.machine,
            group_stats::paths(&self.plan.file),
            with_events,
            options.wakeups,
        );
        let recorder = recorder.map_err(|e| self.failed(e))?;
        let pinned = self.keep_away();
        let mut turns = Turns {
            bench: self,
            options,
            base: computer.changes(),
            computer,
            recorder: &recorder,
            stop,
            all: pinned.as_ref().map(|_| &self.machine.online),
            current: None,
            tally: Tally::default(),
        };
        let mut stream = Stream::new(self.plan.file.seed(), Purpose::Order);
        turns.trial(&mut stream, tell)?;
        let runs = turns.blocks(&mut stream, journal, tell)?;
        let spoiled = turns.tally.warnings();
        let mut results = self.collect(&recorder, runs);
        results.computers = vec![self.described(&recorder, spoiled, pinned)];
        Ok(results)
    }

    fn failed(&self, reason: EngineError) -> ExperimentError {
        ExperimentError::Refused {
            file: self.plan.path.clone(),
            field: "engine host".to_owned(),
            reason: Box::new(reason),
        }
    }

    /// Binds this process to a CPU that no command may use, where one is left; gives it.
    fn keep_away(&self) -> Option<usize> {
        let mut used = CpuSet::default();
        for cell in &self.cells {
            let own = self.variants[cell.variant].as_ref().and_then(|v| v.host.cpus.as_ref());
            let bound = &self.jobs[cell.workload].bound;
            let cpus = own.or(Some(bound).filter(|b| !b.is_empty()))?;
            used = &used | cpus;
        }
        let gone =
            self.variants.iter().flatten().fold(CpuSet::default(), |all, v| &all | &v.offline);
        // Siblings of used threads share their core.
        let near = used.iter().fold(used.clone(), |all, cpu| &all | &self.machine.core_cpus(cpu));
        let left = |taken: &CpuSet| (&(&self.machine.online - taken) - &gone).iter().last();
        let cpu = left(&near).or_else(|| left(&used))?;
        host::launch::bind_self(cpu).then_some(cpu)
    }

    fn collect(&self, recorder: &Recorder, runs: BTreeMap<Task, Run>) -> Results {
        let tasks: Vec<Task> = runs.keys().copied().collect();
        let counters = (recorder.schema(), vec![]);
        let runs = runs.into_values().collect();
        let mut results =
            collect(&self.plan, results::Engine::Host, counters, &self.cells, &tasks, runs);
        // Runs that went on until they were precise are more than the file says.
        for (c, cell) in self.cells.iter().enumerate() {
            let made = tasks.iter().filter(|task| task.0 == c).count() as u32;
            results.experiment.workloads[cell.workload].runs = made;
        }
        results
    }

    fn described(
        &self,
        recorder: &Recorder,
        spoiled: Vec<String>,
        pinned: Option<usize>,
    ) -> Described {
        let ran = |(at, v): (usize, &Option<Realised>)| {
            v.as_ref().map(|_| self.plan.file.variants[at].name.clone())
        };
        let fact = |(name, value): (String, String)| Fact { name, value };
        let of_every_boot = |(name, _): &(String, String)| !OF_A_MOMENT.contains(&name.as_str());
        let all = self.facts.values().into_iter().filter(of_every_boot);
        let mut facts: Vec<Fact> = all.map(fact).collect();
        if let Some(cpu) = pinned {
            facts
                .push(fact(("harness".to_owned(), format!("on CPU {cpu}, which no command used"))));
        }
        let missing = recorder.missing.iter().map(|line| format!("not counted: {line}"));
        Described {
            variants: self.variants.iter().enumerate().filter_map(ran).collect(),
            facts,
            warnings: self.warnings.iter().cloned().chain(spoiled).chain(missing).collect(),
        }
    }
}

/// Cells of the variants that this boot runs.
fn cells(plan: &Plan, variants: &[Option<Realised>], jobs: &[Job]) -> Vec<Cell<()>> {
    let workloads = 0..plan.file.workloads.len();
    let all = workloads.flat_map(|w| plan.file.variants_of(w).into_iter().map(move |v| (w, v)));
    let here = all.filter(|&(_, v)| variants[v].is_some());
    let cell = |(workload, variant): (usize, usize)| Cell {
        workload,
        variant,
        metrics: jobs[workload].metrics.clone(),
        ignored: vec![],
        job: (),
    };
    here.map(cell).collect()
}

/// Where this computer is not what the file names.
fn notes(
    plan: &Plan,
    running: &Running,
    variants: &[Option<Realised>],
    jobs: &[Job],
) -> Vec<String> {
    let mut notes = Vec::new();
    let here = plan.file.variants.iter().zip(variants).filter(|(_, of)| of.is_some());
    let other = here.map(|(v, _)| v).find(|v| v.kernel != running.version);
    if let Some(other) = other {
        notes.push(format!(
            "the file names kernel {}; {} runs, and all variants run on it",
            other.kernel, running.release
        ));
    }
    if plan.file.machine != machine::HOST {
        let (own, named) = (running.machine.online.len(), plan.machine.online.len());
        notes.push(format!(
            "the file names {} with {named} CPUs; this computer has {own}, and the host engine runs on it",
            plan.file.machine
        ));
    }
    for (entry, job) in plan.file.workloads.iter().zip(jobs) {
        notes.extend(job.notes.iter().map(|note| format!("workload `{}`: {note}", entry.name)));
    }
    for v in plan.file.variants.iter().filter(|v| !v.command_line().is_empty()) {
        notes.push(format!("variant `{}`: guest.append is for guests; host.command_line says what this boot must have", v.name));
    }
    notes
}
