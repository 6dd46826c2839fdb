//! From what partitions measured to metrics and counters.

use super::Hypervisor;
use super::core::Core;
use super::partition::{Measured, PartitionState};
use crate::SimError;
use crate::counters::Prefetching;
use workload::kvm::{Of, PartitionProgram, PartitionReading};
use workload::stream::KERNELS;
use workload::{Metric, Reading};

/// A sysbench run that took so much longer than the median one is an outlier.
const OUTLIER: f64 = 1.1;

/// The value of `metric`.
pub(super) fn read(
    h: &Hypervisor,
    metric: &Metric,
    partitions: &[PartitionState],
) -> Result<f64, SimError> {
    let none = || SimError::NoTimes { metric: metric.name.clone() };
    let Reading::Partitions(reading) = metric.reading else { return Err(none()) };
    let seconds = h.partitions.params.seconds;
    let sum = |of: fn(&Measured) -> f64| partitions.iter().map(|g| of(&g.measured)).sum::<f64>();
    let all = |of: fn(&Measured) -> &Vec<f64>| -> Vec<f64> {
        partitions.iter().flat_map(|g| of(&g.measured).iter().copied()).collect()
    };
    match reading {
        PartitionReading::SysbenchMibPerS => Ok(sum(|m| m.written_mib) / seconds),
        PartitionReading::SysbenchMs(of) => {
            taken(all(|m| &m.durations_ns), of).map(|ns| ns / 1e6).ok_or_else(none)
        }
        PartitionReading::SysbenchOutliers => outliers(all(|m| &m.durations_ns)).ok_or_else(none),
        PartitionReading::RequestsPerS => Ok(sum(|m| m.responses_ns.len() as f64) / seconds),
        PartitionReading::ResponseMs(of) => {
            taken(all(|m| &m.responses_ns), of).map(|ns| ns / 1e6).ok_or_else(none)
        }
        PartitionReading::StreamBest(kernel) => {
            stream(h, partitions, kernel, best).ok_or_else(none)
        }
        PartitionReading::StreamMean(kernel) => {
            stream(h, partitions, kernel, mean).ok_or_else(none)
        }
        PartitionReading::LoadNs => {
            let vcpus = vcpus_of(h, |p| matches!(p, PartitionProgram::Chase(_)));
            let loads = sum(|m| m.loads);
            (loads > 0.0).then(|| seconds * 1e9 * vcpus / loads).ok_or_else(none)
        }
        PartitionReading::IdleUs(of) => {
            taken(all(|m| &m.idle_ns), of).map(|ns| ns / 1e3).ok_or_else(none)
        }
    }
}

fn vcpus_of(h: &Hypervisor, which: fn(&PartitionProgram) -> bool) -> f64 {
    let partitions = h.partitions.params.partitions.iter().filter(|g| which(&g.program));
    f64::from(partitions.map(|g| g.count * g.vcpus).sum::<u32>())
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

fn best(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

fn taken(mut times: Vec<f64>, of: Of) -> Option<f64> {
    if times.is_empty() {
        return None;
    }
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    let mean = mean(&times);
    Some(match of {
        Of::Mean => mean,
        Of::Median if times.len().is_multiple_of(2) => (times[middle - 1] + times[middle]) / 2.0,
        Of::Median => times[middle],
        Of::Least => times[0],
        Of::Most => times[times.len() - 1],
        Of::Deviation => {
            let squares: f64 = times.iter().map(|t| (t - mean) * (t - mean)).sum();
            libm::sqrt(squares / (times.len() as f64 - 1.0).max(1.0))
        }
    })
}

fn outliers(times: Vec<f64>) -> Option<f64> {
    let median = taken(times.clone(), Of::Median)?;
    let late = times.iter().filter(|&&t| t > OUTLIER * median).count();
    Some(100.0 * late as f64 / times.len() as f64)
}

/// STREAM's figure of a kernel, in MB/s: in each run of the program `of` the times of its passes but the first, then the
/// mean over runs and partitions.
fn stream(
    h: &Hypervisor,
    partitions: &[PartitionState],
    kernel: u8,
    of: fn(&[f64]) -> f64,
) -> Option<f64> {
    let (_, bytes) = KERNELS.get(usize::from(kernel))?;
    let mut figures = Vec::new();
    for (partition, &entry) in partitions.iter().zip(&h.partitions.entries) {
        let Some(PartitionProgram::Stream(p)) =
            h.partitions.params.partition(entry).map(|g| &g.program)
        else {
            continue;
        };
        let megabytes = p.array_mib * 1024.0 * 1024.0 / 8.0 * bytes / 1e6;
        let passes = &partition.measured.passes_ns[usize::from(kernel)];
        let runs = passes.chunks_exact(p.passes as usize).map(|run| of(&run[1..]));
        figures.extend(runs.map(|ns| megabytes / (ns / 1e9)));
    }
    (!figures.is_empty()).then(|| mean(&figures))
}

/// What caches and engines counted, over all cores, in lines: a sampled one counts for all that it stands for.
pub(super) fn counters(h: &Hypervisor, cores: &[Core], entries: u64) -> Prefetching {
    let factor = u64::from(h.sampling.factor());
    let sum = |of: fn(&Core) -> u64| cores.iter().map(of).sum::<u64>();
    Prefetching {
        guest_entries: entries,
        logs: sum(|c| c.engine.counters().logs),
        logs_aborted: sum(|c| c.engine.counters().aborted),
        lines_logged: factor * sum(|c| c.engine.counters().logged),
        restores: sum(|c| c.engine.counters().restores),
        restores_stopped: sum(|c| c.engine.counters().stopped),
        lines_from_memory: factor * sum(|c| c.engine.counters().from_memory),
        lines_from_l3: factor * sum(|c| c.engine.counters().from_l3),
        lines_present: factor * sum(|c| c.engine.counters().present),
        lines_useful: factor * sum(|c| c.useful),
        lines_useless: factor * sum(|c| c.caches.useless_prefetches()),
        accesses_simulated: sum(|c| c.accesses),
    }
}
