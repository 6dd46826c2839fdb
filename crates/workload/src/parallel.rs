//! Fork-join loops as an OpenMP code has them: a team of threads, a loop that the schedule divides, a barrier at its end.
//!
//! As libgomp does it (GCC 12, `libgomp/team.c`, `iter.c`, `config/linux/{wait.h,bar.c}`): the threads of a team wait at a dock between
//! parallel regions; the first thread does what is serial, meets them there, and all run the loop's body. `static` gives each thread its
//! part at the start; under `dynamic` and `guided` threads take chunks from a counter that they share. All meet at the team's barrier. At both,
//! a thread looks for `GOMP_SPINCOUNT` turns whether all have come, then sleeps in a futex; who comes last always asks the kernel to wake.
//! By default that is 300,000 turns, and 100 if libgomp has more threads than it may use CPUs. libgomp takes 100,000 turns to be a
//! millisecond, and so does this model; on x86 a turn takes what `pause` takes.
//!
//! Iterations' work rises evenly from the first to the last, as in a loop over a triangle. A thread's memory is its own: nothing that one
//! thread wrote is fetched by another.

mod schedule;

pub use crate::clock_costs::ClockCosts as Costs;
use crate::footprint::Footprint;
use crate::program::{
    BarrierId, HistogramId, MarkId, Metric, Op, Pool, PoolId, Program, Reading, Since, Work,
    Workload,
};
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
pub use schedule::Schedule;
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "parallel";
/// `gomp_spin_count_var` where nothing says how threads wait.
const SPIN_COUNT: u64 = 300_000;
/// `gomp_throttled_spin_count_var`.
const THROTTLED_SPIN_COUNT: u64 = 100;
/// Turns in a us, as libgomp estimates them (`initialize_env`).
const SPINS_PER_US: f64 = 100.0;
/// Percentiles of the time of a loop.
const PERCENTS: [f64; 2] = [50.0, 99.0];

/// Where threads are bound (`OMP_PROC_BIND`), with a place for each of `cpus`, in the order of their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bind {
    /// One place after the other.
    Close,
    /// As far apart as they can be.
    Spread,
}

/// What is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Threads of the team (`OMP_NUM_THREADS`).
    pub threads: u16,
    /// Loops, one after the other.
    pub loops: u32,
    /// Iterations of each.
    pub iterations: u32,
    /// Mean work of an iteration, in us of a thread alone at the nominal clock.
    pub iteration_us: f64,
    /// How much the last iteration is above that mean, and the first below: 0 to 1 of it.
    #[serde(default)]
    pub imbalance: f64,
    /// Who gets which iterations (`OMP_SCHEDULE`).
    pub schedule: Schedule,
    /// Work of the first thread alone between two loops, in us.
    #[serde(default)]
    pub serial_us: f64,
    /// Turns of looking before a thread sleeps (`GOMP_SPINCOUNT`); libgomp's default where absent.
    pub spin_count: Option<u64>,
    /// How threads are bound; free where absent.
    pub bind: Option<Bind>,
    /// Memory of a thread.
    pub memory: Option<Footprint>,
    /// CPUs of the team; all where absent.
    pub cpus: Option<CpuSet>,
}

/// Time of all loops.
pub const SECONDS: &str = "seconds";
/// Percent of the threads' time that they are at barriers, starting and ending loops.
pub const BARRIER_PERCENT: &str = "barrier_percent";

/// Turns that each of `threads` looks before it sleeps, where they may use so many CPUs and `GOMP_SPINCOUNT` may be given.
pub(crate) fn spins(threads: usize, usable: usize, given: Option<u64>) -> u64 {
    let spins = given.unwrap_or(SPIN_COUNT);
    if threads > usable { spins.min(THROTTLED_SPIN_COUNT) } else { spins }
}

/// Core cycles of so many turns.
pub(crate) fn spin_cycles(spins: u64, costs: &Costs) -> f64 {
    spins as f64 / SPINS_PER_US * costs.cycles_per_us
}

impl Params {
    fn check(&self) -> Result<(), WorkloadError> {
        check::within(NAME, "threads", self.threads, 1..=1024, "1 to 1024")?;
        check::within(NAME, "loops", self.loops, 1..=10_000_000, "1 to 10000000")?;
        check::within(NAME, "iterations", self.iterations, 1..=1_000_000_000, "1 to 1e9")?;
        check::within(NAME, "iteration_us", self.iteration_us, 1e-4..=1e7, "1e-4 to 1e7")?;
        check::within(NAME, "imbalance", self.imbalance, 0.0..=1.0, "0 to 1")?;
        check::work_us(NAME, "serial_us", self.serial_us)?;
        if let Some(memory) = &self.memory {
            memory.check(NAME)?;
        }
        if self.bind.is_some() && self.cpus.as_ref().is_none_or(CpuSet::is_empty) {
            return Err(WorkloadError {
                program: NAME,
                field: "cpus",
                found: "none".to_string(),
                expected: "the CPUs that threads are bound to",
            });
        }
        Ok(())
    }

    /// Turns that a thread looks, on a machine whose CPUs `online` it may use as far as `cpus` says so.
    fn spins(&self, online: &CpuSet) -> u64 {
        let usable = self.cpus.as_ref().map_or(online.len(), |cpus| (cpus & online).len());
        spins(self.threads.into(), usable, self.spin_count)
    }

    /// The CPU that thread `nth` is bound to, if it is (`gomp_team_start`).
    pub fn place(&self, nth: u16) -> Option<usize> {
        let (bind, cpus) = (self.bind?, self.cpus.as_ref()?);
        let (nth, threads) = (usize::from(nth), usize::from(self.threads));
        let part = |of: usize, by: usize| (of / by, of % by);
        let at = match bind {
            _ if threads > cpus.len() => {
                // The first places get one thread more.
                let (each, more) = part(threads, cpus.len());
                let full = more * (each + 1);
                if nth < full { nth / (each + 1) } else { more + (nth - full) / each }
            }
            Bind::Close => nth,
            Bind::Spread => {
                let (each, more) = part(cpus.len(), threads);
                nth * each + nth.min(more)
            }
        };
        cpus.iter().nth(at)
    }

    /// The loop's iterations with their work.
    fn pool(&self, costs: &Costs) -> Pool {
        let mean = self.iteration_us * costs.cycles_per_us;
        Pool {
            iterations: self.iterations,
            first_cycles: mean * (1.0 - self.imbalance),
            last_cycles: mean * (1.0 + self.imbalance),
            chunks: self.schedule.chunks(self.threads),
        }
    }
}

/// What a team shares.
#[derive(Debug, Clone, Copy)]
struct Team {
    dock: BarrierId,
    end: BarrierId,
    spin_cycles: f64,
    waits: HistogramId,
    pool: PoolId,
}

/// Builds the workload for a machine whose CPUs `online` are.
pub fn build(params: &Params, costs: &Costs, online: &CpuSet) -> Result<Workload, WorkloadError> {
    params.check()?;
    let mut w = Workload::default();
    let parties = u32::from(params.threads);
    let team = Team {
        dock: w.barrier(parties),
        end: w.barrier(parties),
        spin_cycles: spin_cycles(params.spins(online), costs),
        waits: w.histogram(None),
        pool: w.pool(params.pool(costs)),
    };
    let (begun, end, times) = (w.mark(), w.mark(), w.histogram(None));
    let mut main = Vec::new();
    for nth in 1..params.threads {
        let mut ops = team.begin(params, costs, nth);
        let to = ops.len() as u16;
        ops.extend(team.wait(team.dock));
        ops.extend(team.body(params, costs, nth, ops.len()));
        ops.extend(team.wait(team.end));
        ops.push(Op::Loop { to, times: params.loops });
        main.push(Op::Clone(w.program(NAME, ops)));
    }
    main.extend(team.begin(params, costs, 0));
    main.push(Op::Mark(begun));
    let to = main.len() as u16;
    main.push(Op::Refill(team.pool));
    if params.serial_us > 0.0 {
        main.push(Op::Compute(Work::fixed(params.serial_us * costs.cycles_per_us)));
    }
    main.extend([Op::Stamp, Op::Begin(Since::Stamp)]);
    main.extend(team.wait(team.dock));
    main.extend(team.body(params, costs, 0, main.len()));
    main.extend(team.wait(team.end));
    main.push(Op::Record { histogram: times, since: Since::Request });
    main.extend([Op::Loop { to, times: params.loops }, Op::Mark(end), Op::Stop]);
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, params.cpus.clone());
    metrics(&mut w, params, times, team.waits, (begun, end));
    Ok(w)
}

impl Team {
    /// How thread `nth` begins: bound, with its memory, and at the dock, where the first region lets all go on.
    fn begin(&self, params: &Params, costs: &Costs, nth: u16) -> Vec<Op> {
        let bind = params.place(nth).map(|cpu| Op::SetAffinity(CpuSet::single(cpu)));
        let memory = params.memory.map(|memory| memory.begin(costs.cycles_per_us));
        let dock = Op::SpinBarrier { barrier: self.dock, spin_cycles: self.spin_cycles };
        bind.into_iter().chain(memory).chain([dock]).collect()
    }

    /// Meets the others, and notes how long that took.
    fn wait(&self, barrier: BarrierId) -> [Op; 3] {
        [
            Op::Stamp,
            Op::SpinBarrier { barrier, spin_cycles: self.spin_cycles },
            Op::Record { histogram: self.waits, since: Since::Stamp },
        ]
    }

    /// What thread `nth` does of a loop, in a program that has `at` steps before.
    fn body(&self, params: &Params, costs: &Costs, nth: u16, at: usize) -> Vec<Op> {
        let pool = params.pool(costs);
        match params.schedule.parts(params.iterations, params.threads, nth) {
            Some(parts) => {
                let cycles: f64 = parts.map(|part| pool.cycles(part.start, part.end)).sum();
                vec![Op::Compute(Work::fixed(cycles))]
            }
            None => vec![
                Op::Take { pool: self.pool, steps: 2 },
                Op::Portion(1.0),
                Op::Loop { to: at as u16, times: 0 },
            ],
        }
    }
}

fn metrics(
    w: &mut Workload,
    params: &Params,
    times: HistogramId,
    waits: HistogramId,
    (from, to): (MarkId, MarkId),
) {
    let metric = |name: &str, unit: &str, reading| Metric {
        name: name.to_string(),
        unit: unit.to_string(),
        better: Better::Lower,
        reading,
    };
    w.metrics.push(metric(SECONDS, "s", Reading::Seconds { from, to, scale: 1.0 }));
    w.metrics.extend(Metric::latencies("loop", times, &PERCENTS));
    let parties = f64::from(params.threads);
    let waiting = Reading::PercentOfTime { histogram: waits, parties, from, to };
    w.metrics.push(metric(BARRIER_PERCENT, "%", waiting));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(threads: u16, cpus: &str, bind: Option<Bind>) -> Params {
        Params {
            threads,
            loops: 1,
            iterations: 10,
            iteration_us: 1.0,
            imbalance: 0.0,
            schedule: Schedule::Static { chunk: None },
            serial_us: 0.0,
            spin_count: None,
            bind,
            memory: None,
            cpus: Some(cpus.parse().expect("a CPU list")),
        }
    }

    fn places(threads: u16, cpus: &str, bind: Bind) -> Vec<usize> {
        let params = params(threads, cpus, Some(bind));
        (0..threads).filter_map(|nth| params.place(nth)).collect()
    }

    #[test]
    fn threads_are_bound_as_openmp_says() {
        assert_eq!(places(3, "0-7", Bind::Close), [0, 1, 2]);
        assert_eq!(places(3, "0-7", Bind::Spread), [0, 3, 6]);
        assert_eq!(places(4, "0-3,8-11", Bind::Spread), [0, 2, 8, 10]);
        for bind in [Bind::Close, Bind::Spread] {
            assert_eq!(places(5, "4,6", bind), [4, 4, 4, 6, 6]);
        }
        assert_eq!(params(2, "0-7", None).place(0), None);
    }

    #[test]
    fn threads_that_have_to_share_cpus_look_for_less() {
        let online = CpuSet::first_n(16);
        let spins = |threads, spin_count| {
            Params { spin_count, ..params(threads, "0-3", None) }.spins(&online)
        };
        assert_eq!((spins(4, None), spins(5, None)), (300_000, 100));
        assert_eq!((spins(4, Some(40)), spins(5, Some(40))), (40, 40));
    }

    #[test]
    fn binding_needs_cpus() {
        let params = Params { cpus: None, ..params(2, "0", Some(Bind::Close)) };
        let error = build(&params, &Costs { cycles_per_us: 1e3 }, &CpuSet::first_n(4)).unwrap_err();
        let expected = "parallel: cpus: found none, expected the CPUs that threads are bound to";
        assert_eq!(error.to_string(), expected);
    }
}
