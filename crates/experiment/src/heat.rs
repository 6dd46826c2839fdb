//! One run watched CPU by CPU: how busy each was, in equal slices of time. No store holds it; the simulator runs the run again.

use crate::ExperimentError;
use crate::engine::{SimEngine, SimJob};
use crate::plan::Plan;
use sim::Trace;
use sim::topology::Cpu;
use sim::world::TaskId;

/// Most slices of a run. Where a run outlasts them, slices are joined two by two, so that a run has at least half as many.
pub const MOST_SLICES: usize = 320;
/// Length of a slice before any are joined.
const FIRST_SLICE_NS: u64 = 1000;

/// How busy CPUs were over one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// Length of a slice, in ns.
    pub slice_ns: u64,
    /// Length of the run, in ns.
    pub end_ns: u64,
    /// By CPU number and slice: the share of the slice in which the CPU ran a task, from 0 to 1. The last slice's share is
    /// of what the run has of it.
    pub busy: Vec<Vec<f64>>,
    /// Metrics of the run in the workload's order: those of the stored run, if it was the same.
    pub metrics: Vec<f64>,
}

/// Run `run` of workload `workload` under variant `variant`, both by their places in the file.
///
/// # Errors
/// What the plan refuses, a run that fails, and workloads of guests, whose runs are not watched.
pub fn heat(
    plan: &Plan,
    workload: usize,
    variant: usize,
    run: u32,
) -> Result<Heat, ExperimentError> {
    let failed = |reason: String| ExperimentError::Run {
        workload: plan.file.workloads[workload].name.clone(),
        variant: plan.file.variants[variant].name.clone(),
        run,
        reason,
    };
    let job = plan.prepare_cell(&SimEngine, workload, variant)?;
    let SimJob::Machine(scenario) = &job.engine_job else {
        return Err(failed("a host's runs with its guests are not watched".to_string()));
    };
    let mut busy = Busy::new(plan.machine.cpus.len());
    let seed = plan.seed(variant, run);
    let result = scenario.run_traced(seed, &mut busy).map_err(|e| failed(e.to_string()))?;
    Ok(busy.heat(result.end_ns, result.metrics))
}

/// Adds up busy time.
struct Busy {
    slice_ns: u64,
    /// By CPU: when the task that runs there began.
    since_ns: Vec<Option<u64>>,
    /// By CPU and slice.
    busy_ns: Vec<Vec<u64>>,
}

impl Busy {
    fn new(cpus: usize) -> Busy {
        Busy {
            slice_ns: FIRST_SLICE_NS,
            since_ns: vec![None; cpus],
            busy_ns: vec![vec![0; MOST_SLICES]; cpus],
        }
    }

    /// Joins slices until `at_ns` is in one.
    fn reach(&mut self, at_ns: u64) {
        while at_ns > self.slice_ns * MOST_SLICES as u64 {
            self.slice_ns *= 2;
            for slices in &mut self.busy_ns {
                for at in 0..MOST_SLICES / 2 {
                    slices[at] = slices[2 * at] + slices[2 * at + 1];
                }
                slices[MOST_SLICES / 2..].fill(0);
            }
        }
    }

    fn add(&mut self, cpu: usize, mut from_ns: u64, to_ns: u64) {
        self.reach(to_ns);
        while from_ns < to_ns {
            let slice = from_ns / self.slice_ns;
            let end_ns = to_ns.min((slice + 1) * self.slice_ns);
            self.busy_ns[cpu][slice as usize] += end_ns - from_ns;
            from_ns = end_ns;
        }
    }

    fn heat(mut self, end_ns: u64, metrics: Vec<f64>) -> Heat {
        self.reach(end_ns);
        for cpu in 0..self.since_ns.len() {
            if let Some(from_ns) = self.since_ns[cpu] {
                self.add(cpu, from_ns, end_ns);
            }
        }
        let slices = end_ns.div_ceil(self.slice_ns) as usize;
        let length_ns = |at: usize| (end_ns - at as u64 * self.slice_ns).min(self.slice_ns);
        let shares = |busy_ns: &Vec<u64>| {
            let share = |(at, &ns): (usize, &u64)| ns as f64 / length_ns(at) as f64;
            busy_ns.iter().take(slices).enumerate().map(share).collect()
        };
        let busy = self.busy_ns.iter().map(shares).collect();
        Heat { slice_ns: self.slice_ns, end_ns, busy, metrics }
    }
}

impl Trace for Busy {
    fn switch(&mut self, at_ns: u64, cpu: Cpu, _previous: Option<TaskId>, next: Option<TaskId>) {
        let cpu = usize::from(cpu);
        if let Some(from_ns) = self.since_ns[cpu].take() {
            self.add(cpu, from_ns, at_ns);
        }
        self.since_ns[cpu] = next.map(|_| at_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExperimentFile;

    #[test]
    fn busy_time_is_kept_when_slices_are_joined() {
        let mut busy = Busy::new(2);
        busy.add(0, 500, 2_500);
        busy.add(1, 0, 100);
        let end_ns = 3 * FIRST_SLICE_NS * MOST_SLICES as u64;
        busy.since_ns[1] = Some(end_ns - 1000);
        let heat = busy.heat(end_ns, vec![]);
        assert_eq!(heat.slice_ns, 4 * FIRST_SLICE_NS);
        assert_eq!(heat.busy[0].len(), MOST_SLICES * 3 / 4);
        assert_eq!((heat.busy[0][0], heat.busy[0][1]), (0.5, 0.0));
        assert_eq!((heat.busy[1][0], heat.busy[1].last()), (0.025, Some(&0.25)));
    }

    #[test]
    fn the_last_slice_counts_what_the_run_has_of_it() {
        let mut busy = Busy::new(1);
        busy.since_ns[0] = Some(0);
        let heat = busy.heat(1_500, vec![]);
        assert_eq!(heat.busy, [[1.0, 1.0]]);
    }

    #[test]
    fn a_watched_run_is_the_stored_one() {
        let text = include_str!("../../../experiments/power9-big-core.toml")
            .replace("runs = 100", "runs = 1")
            .replace("seconds = 10", "seconds = 0.05")
            .replace("loops_run = 25000", "loops_run = 200");
        let plan = Plan::new(ExperimentFile::parse(&text, "x.toml").unwrap(), "x.toml").unwrap();
        let results = plan.run(&SimEngine, 1, &|_| {}).unwrap();
        let heat = heat(&plan, 0, 1, 0).unwrap();
        assert_eq!(heat.metrics, results.workloads[0].variants[1].runs[0].metrics);
        assert_eq!(heat.busy.len(), 16);
        let shares: Vec<f64> = heat.busy.concat();
        assert!(shares.iter().all(|s| (0.0..=1.0).contains(s)));
        let of_slice = |at: usize| heat.busy[..8].iter().map(|cpu| cpu[at]).sum::<f64>();
        let most = (0..heat.busy[0].len()).map(of_slice).fold(0.0, f64::max);
        assert!((1.9..3.0).contains(&most), "two threads on a big core: {most}");
    }
}
