//! What runs counted: means by variant, and the families of counters that pictures show.

use crate::runs::{Results, VariantRuns, WorkloadResults};
use machine::distance::Distance;

/// A counter's mean over the runs of each variant.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterMeans {
    /// The counter's place in [`Results::counters`].
    pub counter: usize,
    /// By variant; `None` for one without runs.
    pub means: Vec<Option<f64>>,
}

impl CounterMeans {
    /// Whether no run counted anything.
    pub fn is_zero(&self) -> bool {
        self.means.iter().all(|mean| mean.is_none_or(|mean| mean == 0.0))
    }
}

/// The means of every counter of the schema, in its order.
pub fn means(results: &Results, workload: &WorkloadResults) -> Vec<CounterMeans> {
    let of = |counter: usize| CounterMeans {
        counter,
        means: workload.variants.iter().map(|v| mean(v, counter)).collect(),
    };
    (0..results.counters.len()).map(of).collect()
}

/// The counter of what a guest's kernel log says went wrong.
pub const SPLATS: &str = "kernel_splats";

/// How many runs of `variant` there are with something in the kernel's log that went wrong, and how many in all; none where that is not
/// counted.
pub fn splatted(results: &Results, variant: &VariantRuns) -> Option<(usize, usize)> {
    let counter = results.counter(SPLATS)?;
    let bad = variant.runs.iter().filter(|r| r.counters.get(counter).is_some_and(|&n| n > 0));
    Some((bad.count(), variant.runs.len()))
}

/// Mean of the counter at `counter` over a variant's runs.
pub fn mean(variant: &VariantRuns, counter: usize) -> Option<f64> {
    let values: Vec<f64> =
        variant.runs.iter().filter_map(|r| r.counters.get(counter)).map(|&n| n as f64).collect();
    stats::amean(&values)
}

/// Mean number of wake-ups by distance from the waking CPU, the nearest first; `None` where the engine does not count
/// them or the variant has no runs.
pub fn wakeups_by_distance(
    results: &Results,
    variant: &VariantRuns,
) -> Option<Vec<(Distance, f64)>> {
    let mean = |distance: Distance| {
        let at = results.counter(&format!("ttwu_{}", distance.name()))?;
        Some((distance, self::mean(variant, at)?))
    };
    Distance::ALL.into_iter().map(mean).collect()
}

/// Mean running time in ns by number of busy threads on the pipeline, from 1.
pub fn run_ns_by_busy(results: &Results, variant: &VariantRuns) -> Vec<(usize, f64)> {
    let mean = |k: usize| {
        let at = results.counter(&format!("run_ns_{k}_busy"))?;
        Some((k, self::mean(variant, at)?))
    };
    (1..).map_while(mean).collect()
}

/// Mean number of wake-ups by wait: upper end in us of each bin that the engine counts (the last bin's, which holds all that
/// is longer, is twice its lower end), and the number.
pub fn wakeups_by_wait(results: &Results, variant: &VariantRuns) -> Vec<(f64, f64)> {
    let bins = results.counters.iter().enumerate().filter_map(|(at, counter)| {
        let bin = counter.name.strip_prefix("wakeup_latency_")?.strip_suffix("_us")?;
        let (low, high) = bin.split_once('_')?;
        let end = match high.parse::<f64>() {
            Ok(high) => high + 1.0,
            Err(_) => 2.0 * low.parse::<f64>().ok()?,
        };
        Some((end, self::mean(variant, at)?))
    });
    bins.collect()
}
