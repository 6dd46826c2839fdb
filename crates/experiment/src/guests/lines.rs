//! Runs whose cache lines and instructions QEMU's plugin counts.
//!
//! The programs are those of other runs. A mark before and one after each ask the plugin for what all CPUs counted so far.

use super::bench::{Bench, Options};
use super::boots::{Ground, Told};
use super::counters::{counters, schema};
use super::realise::Boot;
use crate::ExperimentError;
use crate::engine::EngineError;
use machine::distance::{Distance, Distances};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use vm::plugin::{Counts, Kind, Snapshot, Watching, snapshots};
use vm::programs::Program;
use vm::session::{Answer, GuestRun, Heard};

/// Snapshots of a run: at its start and at its end.
const SNAPSHOTS: usize = 2;

/// How guests are watched.
#[derive(Debug, Clone, Copy)]
pub struct Counting {
    /// What the plugin counts.
    pub watching: Watching,
    /// Seconds of this computer that make a guest's second.
    pub slowed: u32,
}

/// A run that was counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counted {
    /// What the program measured, by name.
    pub values: BTreeMap<String, f64>,
    /// What the scheduler counted, by name.
    pub scheduler: BTreeMap<String, u64>,
    /// Instructions of the kernel.
    pub kernel_instructions: u64,
    /// Instructions of programs.
    pub user_instructions: u64,
    /// Reads of lines that another CPU wrote, by its distance.
    pub reads: [u64; Distance::COUNT],
    /// Atomic operations on lines that others have, by distance.
    pub atomics: [u64; Distance::COUNT],
    /// Plain writes of such lines, for which the CPU does not wait.
    pub writes: [u64; Distance::COUNT],
    /// Barriers that had to wait for such writes, by the distances of the writes of their CPU.
    pub store_waits: [f64; Distance::COUNT],
}

impl Counted {
    /// Takes what one CPU counted.
    fn add(&mut self, cpu: u32, counts: &Counts, distances: &Distances) {
        self.kernel_instructions += counts.kernel_instructions;
        self.user_instructions += counts.user_instructions;
        let mut writes = [0; Distance::COUNT];
        for (&(kind, from), &lines) in &counts.lines {
            let distance = distances.between(from as usize, cpu as usize) as usize;
            match kind {
                Kind::Read => self.reads[distance] += lines,
                Kind::Atomic | Kind::AtomicUpgrade => self.atomics[distance] += lines,
                Kind::Upgrade | Kind::Write => writes[distance] += lines,
            }
        }
        let all: u64 = writes.iter().sum();
        for (distance, &lines) in writes.iter().enumerate() {
            self.writes[distance] += lines;
            if all > 0 {
                self.store_waits[distance] += counts.store_waits as f64 * lines as f64 / all as f64;
            }
        }
    }

    /// Lines that CPUs waited for, by distance.
    pub fn stalls(&self) -> [f64; Distance::COUNT] {
        std::array::from_fn(|at| (self.reads[at] + self.atomics[at]) as f64 + self.store_waits[at])
    }
}

/// A cell of a bench, and one of its runs.
type Task = (usize, u32);

impl Bench {
    /// Makes all runs in guests that the plugin watches: by cell, in the order of the file.
    ///
    /// # Errors
    /// All that can happen to a guest, a run that fails, and a clock that guests cannot have.
    pub fn count(
        &self,
        options: &Options,
        counting: Counting,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Told),
    ) -> Result<Vec<Vec<Counted>>, ExperimentError> {
        let mut ground = self.ground(options)?;
        ground.worker = options.cache.worker(self.arch()?).map_err(|e| self.failed(e))?;
        let boots: BTreeSet<&Boot> = self.variants.iter().map(|v| &v.boot).collect();
        let mut all: Vec<Vec<Counted>> = self.jobs.iter().map(|_| Vec::new()).collect();
        for (at, boot) in boots.iter().enumerate() {
            let tasks: Vec<Task> = (self.tasks())
                .filter(|task| self.variants[self.jobs[task.0].variant].boot == **boot)
                .collect();
            let number = (at + 1, boots.len());
            let counted =
                self.count_in(&mut ground, (boot, number), counting, &tasks, stop, tell)?;
            for (task, counted) in tasks.iter().zip(counted) {
                all[task.0].push(counted);
            }
        }
        Ok(all)
    }

    fn arch(&self) -> Result<vm::Arch, ExperimentError> {
        Ok(self.board(false).map_err(|e| self.failed(e))?.arch())
    }

    /// Boots one guest that makes the runs `tasks`.
    fn count_in(
        &self,
        ground: &mut Ground,
        (boot, (number, of)): (&Boot, (usize, usize)),
        counting: Counting,
        tasks: &[Task],
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Told),
    ) -> Result<Vec<Counted>, ExperimentError> {
        let failed = |e| self.failed(e);
        let stock = self.board(boot.plain).map_err(failed)?;
        let words = boot.append.strip_prefix(stock.append).unwrap_or(&boot.append).to_string();
        let board = stock.slowed(counting.slowed).map_err(failed)?;
        let append = format!("{} {words}", board.append).trim().to_string();
        let boot = Boot { append, ..boot.clone() };
        let work = tempfile::Builder::new().prefix(results::store::TEMPORARY_PREFIX).tempdir();
        let work = work.map_err(vm::VmError::io(&std::env::temp_dir())).map_err(failed)?;
        let out = work.path().join("lines");
        ground.watch(counting.watching, &out).map_err(failed)?;
        tell(Told::Boot { number, of, boot: &boot, machine: &board.spec() });

        let program = |&(j, _): &Task| &self.programs[self.jobs[j].workload];
        let programs: Vec<&Program> = tasks.iter().map(program).collect();
        let run = |task: &Task| self.script(task.0, counting.slowed);
        let runs: Vec<GuestRun> =
            tasks.iter().map(|task| GuestRun { counted: true, ..run(task) }).collect();
        let mut answers: Vec<Option<Result<Box<Answer>, String>>> = vec![None; tasks.len()];
        let mut hear = |heard| -> Result<(), vm::VmError> {
            if let Heard::Run(at, answer) = heard
                && let Some(place) = answers.get_mut(at)
            {
                *place = Some(answer);
                tell(Told::Counted { run: at + 1, of: tasks.len() });
            }
            Ok(())
        };
        ground.session(&boot, &board, &programs, &runs, stop, &mut hear).map_err(failed)?;
        let text = std::fs::read_to_string(&out).map_err(vm::VmError::io(&out)).map_err(failed)?;
        let all = snapshots(&text);
        let all = all.map_err(|reason| self.reported(tasks.first(), reason))?;
        if all.len() != SNAPSHOTS * tasks.len() {
            let expected = SNAPSHOTS * tasks.len();
            let reason = format!("found {} snapshots, expected {expected}", all.len());
            return Err(self.reported(tasks.first(), reason));
        }
        let mut counted = Vec::new();
        for ((task, answer), of) in tasks.iter().zip(answers).zip(all.chunks(SNAPSHOTS)) {
            let missing = || Err("the guest sent nothing".to_string());
            let counts = answer
                .unwrap_or_else(missing)
                .and_then(|answer| self.counted(*task, &answer, of, &ground.distances));
            counted.push(counts.map_err(|reason| self.reported(Some(task), reason))?);
        }
        Ok(counted)
    }

    fn reported(&self, task: Option<&Task>, reason: String) -> ExperimentError {
        let (workload, variant) = task.map_or(("", ""), |task| self.names(task.0));
        ExperimentError::Run {
            workload: workload.to_string(),
            variant: variant.to_string(),
            run: task.map_or(0, |task| task.1),
            reason: Box::new(EngineError::Reported(reason)),
        }
    }

    fn counted(
        &self,
        task: Task,
        answer: &Answer,
        of: &[Snapshot],
        distances: &Distances,
    ) -> Result<Counted, String> {
        let values = self.programs[self.jobs[task.0].workload].values(&answer.stdout)?;
        let names = schema(false).into_iter().map(|counter| counter.name);
        let mut counted = Counted {
            values: values.into_iter().collect(),
            scheduler: names.zip(counters(answer, distances, false)).collect(),
            ..Counted::default()
        };
        if let [start, end] = of {
            for (cpu, counts) in end.by_cpu_since(start) {
                counted.add(cpu, &counts, distances);
            }
        }
        Ok(counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_has_a_distance() {
        let machine = machine::catalog::load("kunpeng920-2node").unwrap();
        let distances = Distances::new(&machine);
        let text = "snapshot 0\ncpu 0 0 10 0 0 0\nsnapshot 1\ncpu 0 0 110 7 6 0\n\
                    lines 0 0 read 3 5\nlines 0 0 atomic 4 2\nlines 0 0 atomic_upgrade 4 1\n\
                    lines 0 0 upgrade 3 3\nlines 0 0 write 24 6\n\
                    cpu 24 2 50 0 4 0\nlines 24 2 read 0 8\n";
        let all = snapshots(text).unwrap();
        let mut counted = Counted::default();
        for (cpu, counts) in all[1].by_cpu_since(&all[0]) {
            counted.add(cpu, &counts, &distances);
        }
        assert_eq!((counted.kernel_instructions, counted.user_instructions), (150, 7));
        let stalls = counted.stalls();
        let of = |distance: Distance| stalls[distance as usize];
        // Six waits for three writes within the cluster and six to the other node.
        assert_eq!(of(Distance::Cluster), 5.0 + 2.0);
        assert_eq!(of(Distance::Llc), 3.0);
        // CPU 24 waited for no write whose line anybody else had.
        assert_eq!(of(Distance::Package), 4.0 + 8.0);
    }
}
