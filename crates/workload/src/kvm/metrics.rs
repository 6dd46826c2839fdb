//! What partitions measure.

use super::{Params, PartitionProgram};
use crate::program::{Metric, Reading};
use crate::stream::KERNELS;
use stats::Better;

/// What is taken of a run's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Mean.
    Mean,
    /// Median.
    Median,
    /// Shortest.
    Least,
    /// Longest.
    Most,
    /// Standard deviation.
    Deviation,
}

/// How a metric is read off the partitions of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionReading {
    /// What all sysbench partitions wrote, in MiB a second.
    SysbenchMibPerS,
    /// Times of whole sysbench runs, of all partitions, in ms.
    SysbenchMs(Of),
    /// Share of sysbench runs that took a tenth longer than the median one or more, in percent.
    SysbenchOutliers,
    /// Answered requests a second.
    RequestsPerS,
    /// Response times, in ms.
    ResponseMs(Of),
    /// STREAM's figure of a kernel, by number: from its best pass, in MB/s.
    StreamBest(u8),
    /// The same from the mean of its passes.
    StreamMean(u8),
    /// Time of a load of a chase, in ns.
    LoadNs,
    /// Time from an idle partition's timer to the end of its work, in us.
    IdleUs(Of),
}

fn metric(name: &str, unit: &str, better: Better, reading: PartitionReading) -> Metric {
    Metric {
        name: name.to_string(),
        unit: unit.to_string(),
        better,
        reading: Reading::Partitions(reading),
    }
}

/// The metrics of what the partitions run, the main ones first: idle partitions count only where nobody else does.
pub(super) fn metrics(params: &Params) -> Vec<Metric> {
    use Better::{Higher, Lower};
    let runs =
        |which: fn(&PartitionProgram) -> bool| params.partitions.iter().any(|g| which(&g.program));
    let mut out = Vec::new();
    if runs(|p| matches!(p, PartitionProgram::ApacheBench(_))) {
        out.push(metric("requests_per_s", "requests/s", Higher, PartitionReading::RequestsPerS));
        for (name, of) in [
            ("mean", Of::Mean),
            ("median", Of::Median),
            ("min", Of::Least),
            ("max", Of::Most),
            ("sd", Of::Deviation),
        ] {
            let name = format!("response_{name}_ms");
            out.push(metric(&name, "ms", Lower, PartitionReading::ResponseMs(of)));
        }
    }
    if runs(|p| matches!(p, PartitionProgram::Stream(_))) {
        for (at, (kernel, _)) in (0..).zip(KERNELS) {
            let name = crate::stream::metric_name(kernel);
            out.push(metric(&name, "MB/s", Higher, PartitionReading::StreamBest(at)));
        }
        for (at, (kernel, _)) in (0..).zip(KERNELS) {
            let name = format!("{kernel}_mean_mb_per_s");
            out.push(metric(&name, "MB/s", Higher, PartitionReading::StreamMean(at)));
        }
    }
    if runs(|p| matches!(p, PartitionProgram::Chase(_))) {
        out.push(metric("load_ns", "ns", Lower, PartitionReading::LoadNs));
    }
    if runs(|p| matches!(p, PartitionProgram::SysbenchMemory(_))) {
        let reading = PartitionReading::SysbenchMibPerS;
        out.push(metric("sysbench_mib_per_s", "MiB/s", Higher, reading));
        for (name, of) in [("mean", Of::Mean), ("sd", Of::Deviation), ("max", Of::Most)] {
            let name = format!("duration_{name}_ms");
            out.push(metric(&name, "ms", Lower, PartitionReading::SysbenchMs(of)));
        }
        let reading = PartitionReading::SysbenchOutliers;
        out.push(metric("duration_outliers", "% of runs", Lower, reading));
    }
    if out.is_empty() {
        out.push(metric("idle_mean_us", "us", Lower, PartitionReading::IdleUs(Of::Mean)));
    }
    out
}
