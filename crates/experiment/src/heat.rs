//! One run watched CPU by CPU, in equal slices of time: how busy each was and, where something governs clocks, how fast it ran and
//! what packages took. No store holds it; the simulator runs the run again.

mod slices;

use crate::ExperimentError;
use crate::again::again_at;
use crate::engine::EngineError;
use definition::Plan;
use results::heat::{Clocks, Heat};
use sim::Trace;
use sim::topology::Cpu;
use sim::world::TaskId;
use slices::Slices;

/// Run `run` of workload `workload` under variant `variant`, both by their places in the file.
///
/// # Errors
/// What the plan refuses, a run that fails, workloads of partitions, whose runs are not watched, and a variant with a source, for which
/// there is [`crate::source::watched`].
pub fn heat(
    plan: &Plan,
    workload: usize,
    variant: usize,
    run: u32,
) -> Result<Heat, ExperimentError> {
    let partitions = || ExperimentError::Run {
        workload: plan.file.workloads[workload].name.clone(),
        variant: plan.file.variants[variant].name.clone(),
        run,
        reason: Box::new(EngineError::Partitions),
    };
    let again = again_at(plan, workload, variant, run)?.ok_or_else(partitions)?;
    let mut watch = Watch::new(again.nr_cpus());
    let result = again.run(&mut watch)?;
    Ok(watch.heat(result.end_ns, result.metrics))
}

/// Adds up time, cycles and energy.
pub(crate) struct Watch {
    busy: Slices,
    /// Busy time times its clock, in kHz.
    cycles: Slices,
    /// By CPU: up to when the task that runs there is counted.
    since_ns: Vec<Option<u64>>,
    /// By CPU: its clock; `None` where nothing governs clocks.
    khz: Vec<Option<u32>>,
    power: Slices,
    /// By package: up to when it is counted, and what it takes since.
    watts: Vec<(u64, f64)>,
}

impl Watch {
    pub(crate) fn new(cpus: usize) -> Watch {
        Watch {
            busy: Slices::new(cpus),
            cycles: Slices::new(cpus),
            since_ns: vec![None; cpus],
            khz: vec![None; cpus],
            power: Slices::new(0),
            watts: Vec::new(),
        }
    }

    /// Counts what runs on `cpu` up to now.
    fn count(&mut self, cpu: usize, at_ns: u64) {
        let Some(from_ns) = self.since_ns[cpu].take() else { return };
        self.busy.add(cpu, from_ns, at_ns, 1.0);
        if let Some(khz) = self.khz[cpu] {
            self.cycles.add(cpu, from_ns, at_ns, f64::from(khz));
        }
    }

    pub(crate) fn heat(mut self, end_ns: u64, metrics: Vec<f64>) -> Heat {
        (0..self.since_ns.len()).for_each(|cpu| self.count(cpu, end_ns));
        for (package, &(from_ns, watts)) in self.watts.iter().enumerate() {
            self.power.add(package, from_ns, end_ns, watts);
        }
        let busy = self.busy.means(end_ns);
        let is_governed = self.khz.iter().any(Option::is_some);
        let clocks = is_governed.then(|| self.clocks(end_ns));
        Heat { slice_ns: self.busy.slice_ns, end_ns, busy, clocks, metrics }
    }

    fn clocks(&mut self, end_ns: u64) -> Clocks {
        let mean = |cycles: f64, busy: f64| (busy > 0.0).then(|| cycles / busy);
        self.cycles.reach(end_ns);
        let slices = end_ns.div_ceil(self.busy.slice_ns) as usize;
        let row = |(cycles, busy): (&Vec<f64>, &Vec<f64>)| {
            cycles.iter().zip(busy).take(slices).map(|(c, b)| mean(*c, *b)).collect()
        };
        let khz = self.cycles.sums.iter().zip(&self.busy.sums).map(row).collect();
        let sums = |of: &Slices| of.sums.iter().map(|row| row.iter().sum()).collect::<Vec<f64>>();
        let (cycles, busy_ns) = (sums(&self.cycles), sums(&self.busy));
        Clocks {
            khz,
            cpu_khz: cycles.iter().zip(&busy_ns).map(|(c, b)| mean(*c, *b)).collect(),
            mean_khz: mean(cycles.iter().sum(), busy_ns.iter().sum()),
            watts: self.power.means(end_ns),
            energy_j: sums(&self.power).iter().map(|sum| sum / 1e9).collect(),
        }
    }
}

impl Trace for Watch {
    fn switch(&mut self, at_ns: u64, cpu: Cpu, _previous: Option<TaskId>, next: Option<TaskId>) {
        let cpu = usize::from(cpu);
        self.count(cpu, at_ns);
        self.since_ns[cpu] = next.map(|_| at_ns);
    }

    fn clock(&mut self, at_ns: u64, cpu: Cpu, khz: u32) {
        let cpu = usize::from(cpu);
        let runs = self.since_ns[cpu].is_some();
        self.count(cpu, at_ns);
        self.since_ns[cpu] = runs.then_some(at_ns);
        self.khz[cpu] = Some(khz);
    }

    fn power(&mut self, at_ns: u64, package: usize, watts: f64) {
        while self.watts.len() <= package {
            self.watts.push((at_ns, 0.0));
            self.power.grow();
        }
        let (from_ns, before) = std::mem::replace(&mut self.watts[package], (at_ns, watts));
        self.power.add(package, from_ns, at_ns, before);
    }
}

#[cfg(test)]
mod tests;
