//! Boots and the runs in them.

use super::bench::{Bench, Options};
use super::counters::{counters, schema};
use super::realise::Boot;
use crate::ExperimentError;
use crate::engine::EngineError;
use crate::group_stats::{self, Stats};
use crate::journal::Journal;
use crate::numa_stats;
use crate::run::{Progress, collect};
use machine::Machine;
use machine::distance::Distances;
use results::store::TEMPORARY_PREFIX;
use results::{Results, Run};
use sim::rng::{Purpose, Stream};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use vm::board::Board;
use vm::firmware::described;
use vm::pinning::{Pinning, pages_in_words};
use vm::plugin::Watching;
use vm::programs::Program;
use vm::qemu::Qemu;
use vm::sched_ext::{Outcome, Scheduler};
use vm::session::{Answer, GuestRun, Heard, Session};
use vm::shown::in_words;
use vm::splats::Splat;
use vm::{Accel, Trial, VmError, Workers};
use workload::Counter;

/// A run: its cell and number.
type Task = (usize, u32);

/// What a bench says while it runs.
#[derive(Debug)]
pub enum Told<'a> {
    /// A guest boots.
    Boot {
        /// Its number, from 1.
        number: usize,
        /// Boots in all.
        of: usize,
        /// What boots.
        boot: &'a Boot,
        /// QEMU's arguments for the machine.
        machine: &'a str,
    },
    /// What guests cannot show of the machine, a line each.
    Lost(&'a str),
    /// A kernel's log says that something went wrong, which it has not said under this variant before.
    Splat {
        /// The variant that ran.
        variant: &'a str,
        /// The report.
        splat: &'a Splat,
    },
    /// A variant's scheduler was loaded, ran and was unloaded, for the first time with this workload.
    Scheduler {
        /// The variant that ran.
        variant: &'a str,
        /// What it ran.
        workload: &'a str,
        /// Its scheduler, with name and version.
        scheduler: &'a Scheduler,
        /// What came of it.
        outcome: &'a Outcome,
    },
    /// How far it is.
    Progress(Progress),
    /// A run that was watched is done.
    Counted {
        /// Its number in its boot, from 1.
        run: usize,
        /// Runs of the boot.
        of: usize,
    },
}

/// All that boots share.
pub(super) struct Ground<'a> {
    options: &'a Options,
    qemu: Qemu,
    tree: PathBuf,
    pub(super) workers: Workers,
    /// QEMU's arguments for what executes guests.
    pub(super) accel: Vec<String>,
    /// This computer, where guests run on its processor.
    host: Option<Machine>,
    pub(super) distances: Distances,
}

impl Ground<'_> {
    /// Boots a guest that makes `runs` of `programs`, and hands what comes of each to `hear`.
    pub(super) fn session<E: From<VmError>>(
        &self,
        boot: &Boot,
        board: &Board,
        programs: &[&Program],
        runs: &[GuestRun],
        stop: &AtomicBool,
        hear: &mut dyn FnMut(Heard) -> Result<(), E>,
    ) -> Result<(), E> {
        let machine = [&board.arguments[..], &self.accel].concat();
        // Why they are not bound was said before.
        let pinning = self.pinning(&self.described(board)?).and_then(Result::ok);
        let append = format!("{} {}", boot.append, self.options.append);
        let session = Session {
            kernel: &boot.kernel,
            tree: &self.tree,
            workers: &self.workers,
            programs,
            machine: &machine,
            edits: board.edits(),
            append: append.trim(),
            pinning: pinning.as_ref(),
            limits: self.options.limits,
        };
        session.run(&self.qemu, runs, stop, hear)
    }

    /// From here on the plugin watches guests, and writes what it counts to the file `out`.
    pub(super) fn watch(&mut self, watching: Watching, out: &Path) -> Result<(), VmError> {
        self.accel = watching.arguments(&self.options.cache.plugin()?, out, None);
        Ok(())
    }

    /// The machine that a guest's firmware describes.
    /// Where the CPUs of `guest` run, under KVM; the error says why they are not bound.
    fn pinning(&self, guest: &Machine) -> Option<Result<Pinning, String>> {
        self.host.as_ref().map(|host| Pinning::of(guest, host))
    }

    /// What guests cannot show of a machine, and under KVM, what they have of this computer.
    pub(super) fn in_words(&self, board: &Board, guest: &Machine) -> String {
        let lost = in_words(board, guest);
        let Some(pinning) = self.pinning(guest) else { return lost };
        let bound = match pinning {
            Ok(pinning) => pinning.in_words(),
            Err(reason) => {
                format!("its CPUs are not bound: {reason}. This computer's scheduler moves them")
            }
        };
        format!("{lost}Under KVM:\n  {bound}\n  {}\n", pages_in_words())
    }

    pub(super) fn described(&self, board: &Board) -> Result<Machine, VmError> {
        let work = tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempdir();
        let work = work.map_err(VmError::io(&std::env::temp_dir()))?;
        described(board, &self.qemu, work.path())
    }
}

/// What is done, and who wants to know.
struct Done<'a> {
    runs: BTreeMap<Task, Run>,
    journal: Option<&'a Journal>,
    progress: Progress,
    left: Vec<u32>,
    /// By variant: reports of kernels that were told.
    said: BTreeSet<(String, String)>,
    /// Cells whose schedulers were told.
    loaded: BTreeSet<usize>,
    tell: &'a mut dyn FnMut(Told),
}

impl Bench {
    /// What is counted in every run.
    fn schema(&self) -> Vec<Counter> {
        let groups = group_stats::schema(&group_stats::paths(&self.plan.file));
        let numa = numa_stats::schema(&self.plan.file);
        schema(self.has_schedulers()).into_iter().chain(groups).chain(numa).collect()
    }

    /// Runs everything that `journal` lacks and adds each run to it.
    ///
    /// # Errors
    /// All that can happen to a guest, a run that fails, and a journal that cannot be written.
    pub fn run(
        &self,
        options: &Options,
        journal: Option<&Journal>,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Told),
    ) -> Result<Results, ExperimentError> {
        let mut done = self.begin(journal, tell);
        let groups = self.groups(options.boots, &done.runs);
        let ground = self.ground(options)?;
        if let Some((boot, _)) = groups.first() {
            (done.tell)(Told::Lost(&self.lost(boot, &ground).map_err(|e| self.failed(e))?));
        }
        for (at, (boot, tasks)) in groups.iter().enumerate() {
            let board = self.board(boot.plain).map_err(|e| self.failed(e))?;
            let machine = board.spec();
            (done.tell)(Told::Boot { number: at + 1, of: groups.len(), boot, machine: &machine });
            self.boot(&ground, boot, &board, tasks, stop, &mut done)?;
        }
        let tasks: Vec<Task> = self.tasks().collect();
        let runs = tasks.iter().filter_map(|task| done.runs.remove(task)).collect();
        let engine = options.engine();
        Ok(collect(&self.plan, engine, (self.schema(), vec![]), &self.jobs, &tasks, runs))
    }

    /// Whether a variant has a sched_ext scheduler.
    pub(super) fn has_schedulers(&self) -> bool {
        self.variants.iter().any(|v| v.scheduler.is_some())
    }

    fn runs(&self, job: usize) -> u32 {
        self.plan.file.workloads[self.jobs[job].workload].runs
    }

    pub(super) fn tasks(&self) -> impl Iterator<Item = Task> + '_ {
        (0..self.jobs.len()).flat_map(|j| (0..self.runs(j)).map(move |run| (j, run)))
    }

    /// Names of a cell's workload and variant.
    pub(super) fn names(&self, job: usize) -> (&str, &str) {
        let job = &self.jobs[job];
        let file = &self.plan.file;
        (&file.workloads[job.workload].name, &file.variants[job.variant].name)
    }

    fn begin<'a>(&self, journal: Option<&'a Journal>, tell: &'a mut dyn FnMut(Told)) -> Done<'a> {
        let kept = self.tasks().filter_map(|task| {
            let (workload, variant) = self.names(task.0);
            Some((task, journal?.run((workload, variant), task.1, None)?.clone()))
        });
        let runs: BTreeMap<Task, Run> = kept.collect();
        let mut left: Vec<u32> = (0..self.jobs.len()).map(|j| self.runs(j)).collect();
        runs.keys().for_each(|task| left[task.0] -= 1);
        let progress = Progress {
            runs: runs.len(),
            runs_in_all: self.tasks().count(),
            cells: left.iter().filter(|&&n| n == 0).count(),
            cells_in_all: self.jobs.len(),
            resumed: runs.len(),
        };
        tell(Told::Progress(progress));
        Done { runs, journal, progress, left, said: BTreeSet::new(), loaded: BTreeSet::new(), tell }
    }

    /// Boots in a random order, round by round, each with its runs in a random order. They do not depend on what a
    /// journal has already, but for the runs themselves.
    fn groups(&self, boots: u32, have: &BTreeMap<Task, Run>) -> Vec<(Boot, Vec<Task>)> {
        let mut stream = Stream::new(self.plan.file.seed(), Purpose::Order);
        let kinds: BTreeSet<&Boot> = self.variants.iter().map(|v| &v.boot).collect();
        let mut out = Vec::new();
        for round in 0..boots.max(1) {
            let mut kinds: Vec<&Boot> = kinds.iter().copied().collect();
            stream.shuffle(&mut kinds);
            for boot in kinds {
                let own = |&(j, run): &Task| {
                    self.variants[self.jobs[j].variant].boot == *boot && run % boots.max(1) == round
                };
                let mut tasks: Vec<Task> = self.tasks().filter(own).collect();
                stream.shuffle(&mut tasks);
                tasks.retain(|task| !have.contains_key(task));
                if !tasks.is_empty() {
                    out.push((boot.clone(), tasks));
                }
            }
        }
        out
    }

    pub(super) fn board(&self, plain: bool) -> Result<Board, VmError> {
        Board::of(&self.plan.machine, plain)
    }

    /// What the guests lack; all boots but those without thread groups and clusters are alike.
    fn lost(&self, boot: &Boot, ground: &Ground) -> Result<String, VmError> {
        let board = self.board(boot.plain)?;
        Ok(ground.in_words(&board, &ground.described(&board)?))
    }

    pub(super) fn failed(&self, error: VmError) -> ExperimentError {
        ExperimentError::Refused {
            file: self.plan.path.clone(),
            field: "engine vm".to_string(),
            reason: Box::new(error.into()),
        }
    }

    pub(super) fn ground<'a>(&self, options: &'a Options) -> Result<Ground<'a>, ExperimentError> {
        let failed = |e| self.failed(e);
        let board = self.board(false).map_err(failed)?;
        let arch = board.arch();
        let wants_worker = |p: &Program| p.files.iter().any(|(_, file)| file.is_ours());
        let wants_it = self.has_schedulers() || self.programs.iter().any(wants_worker);
        let workers = match wants_it {
            true => options.cache.workers(arch).map_err(failed)?,
            false => Workers::default(),
        };
        let qemu = Qemu::find(&options.cache, arch).map_err(failed)?;
        let tree = options.cache.guest(arch).map_err(failed)?;
        let host = match options.accel {
            Accel::Kvm => Some(machine::resolve("host").map_err(|e| failed(e.into()))?),
            Accel::Tcg | Accel::Counted { .. } => None,
        };
        let kernel = &self.variants[0].boot.kernel;
        let trial = Trial { qemu: &qemu, kernel, programs: &tree };
        let accel = vm::accel_arguments(options.accel, trial).map_err(failed)?;
        Ok(Ground {
            options,
            qemu,
            tree,
            workers,
            accel,
            host,
            distances: Distances::new(&hardware(&self.plan.machine, &board)),
        })
    }

    fn boot(
        &self,
        ground: &Ground,
        boot: &Boot,
        board: &Board,
        tasks: &[Task],
        stop: &AtomicBool,
        done: &mut Done,
    ) -> Result<(), ExperimentError> {
        let program = |&(j, _): &Task| &self.programs[self.jobs[j].workload];
        let programs: Vec<&Program> = tasks.iter().map(program).collect();
        let runs: Vec<GuestRun> = tasks.iter().map(|task| self.script(task.0, 1)).collect();
        let ended = ground.session(boot, board, &programs, &runs, stop, &mut |heard| match heard {
            Heard::Note(_) => Ok(()),
            Heard::Run(at, answer) => match tasks.get(at) {
                Some(&task) => self.keep(task, *answer, ground, done).map_err(Ended::Run),
                None => Ok(()),
            },
        });
        ended.map_err(|ended| match ended {
            Ended::Run(e) => e,
            Ended::Guest(e) => self.failed(e),
        })
    }

    /// Takes what came of a run.
    fn keep(
        &self,
        task: Task,
        answer: Result<Answer, String>,
        ground: &Ground,
        done: &mut Done,
    ) -> Result<(), ExperimentError> {
        let (workload, variant) = self.names(task.0);
        let failed = |reason| ExperimentError::Run {
            workload: workload.to_string(),
            variant: variant.to_string(),
            run: task.1,
            reason: Box::new(EngineError::Reported(reason)),
        };
        let answer = answer.map_err(failed)?;
        for splat in &answer.splats {
            if done.said.insert((variant.to_string(), splat.title.clone())) {
                (done.tell)(Told::Splat { variant, splat });
            }
        }
        let scheduler = self.variants[self.jobs[task.0].variant].scheduler.as_ref();
        if let Some((scheduler, outcome)) = scheduler.zip(answer.scheduler.as_ref())
            && done.loaded.insert(task.0)
        {
            (done.tell)(Told::Scheduler { variant, workload, scheduler, outcome });
        }
        let run = self.measured(task, &answer, ground).map_err(failed)?;
        if let Some(journal) = done.journal {
            journal.keep((workload, variant), &run, None)?;
        }
        done.runs.insert(task, run);
        done.left[task.0] -= 1;
        done.progress.runs += 1;
        done.progress.cells += usize::from(done.left[task.0] == 0);
        (done.tell)(Told::Progress(done.progress));
        Ok(())
    }

    fn measured(&self, task: Task, answer: &Answer, ground: &Ground) -> Result<Run, String> {
        let job = &self.jobs[task.0];
        let values = self.programs[job.workload].values(&answer.stdout)?;
        let value = |name: &String| {
            let found = values.iter().find(|(n, _)| n == name).map(|(_, value)| *value);
            found.ok_or_else(|| format!("found no {name} in what it printed"))
        };
        let metrics = job.metrics.iter().map(|info| value(&info.name)).collect::<Result<_, _>>()?;
        let single_times = vec![vec![]; job.metrics.len()];
        let mut counters = counters(answer, &ground.distances, self.has_schedulers());
        let groups = group_stats::paths(&self.plan.file);
        counters.extend(group_stats::values(&groups, &Stats::new(), &answer.groups));
        counters.extend(numa_stats::values(&self.plan.file, &answer.vmstat));
        let seed = self.plan.seed(job.variant, task.1);
        Ok(Run { run: task.1, seed, metrics, single_times, counters })
    }
}

/// Why a boot ended early.
enum Ended {
    Run(ExperimentError),
    Guest(VmError),
}

impl From<VmError> for Ended {
    fn from(error: VmError) -> Ended {
        Ended::Guest(error)
    }
}

/// The machine as its hardware is, whatever firmware tells, in the guest's order of CPUs.
fn hardware(machine: &Machine, board: &Board) -> Machine {
    machine.reordered(&board.order).unwrap_or_else(|| machine.clone())
}
