//! What NUMA balancing did, where a variant says whether it is on.

use definition::ExperimentFile;
use sim::counters::NumaBalancing;
use std::collections::BTreeMap;
use workload::Counter;

/// What is counted besides the rest; nothing where no variant has `numa_balancing`.
pub(crate) fn schema(file: &ExperimentFile) -> Vec<Counter> {
    let counts = file.variants.iter().any(|v| v.numa_balancing.is_some());
    if counts { NumaBalancing::schema() } else { Vec::new() }
}

/// The values in the order of [`schema`] from lines of `/proc/vmstat`; what the kernel does not count is 0.
pub(crate) fn values(file: &ExperimentFile, vmstat: &BTreeMap<String, u64>) -> Vec<u64> {
    let of = |counter: Counter| vmstat.get(&counter.name).copied().unwrap_or(0);
    schema(file).into_iter().map(of).collect()
}
