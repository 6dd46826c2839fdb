//! How long the requests of tasks are.
//!
//! A request is the slice, with two exceptions. The request at hand stays as long as it is when the slice changes. And where a task's
//! weight changes while it is off its queue, as a nice value changes it, 6.12 keeps the deadline of the request at hand in virtual
//! time, so the request is longer by as much as the task got heavier. Both hold until it has been served.

use crate::source::Queued;
use std::collections::BTreeMap;

/// What CFS takes turns in at most: `sched_latency_ns` with 8 CPUs or more.
const CFS_SLICE_NS: u64 = 24_000_000;
/// The longest base slice that 6.12 has by itself.
const BASE_SLICE_NS: u64 = 3_000_000;
/// The weight of nice value 0 on 64 bits (`NICE_0_LOAD`).
const NICE_0: u64 = 1 << 20;

/// A task's weight and slice, and the request that was at hand when one of them changed.
#[derive(Debug, Clone, Copy)]
struct Known {
    weight: u64,
    slice_ns: u64,
    /// It lasts up to a run time.
    request_ns: u64,
    until_ns: u64,
}

impl Known {
    fn request_ns(&self, sum_exec_ns: u64) -> u64 {
        if sum_exec_ns < self.until_ns { self.request_ns.max(self.slice_ns) } else { self.slice_ns }
    }
}

/// The requests of all tasks.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// By pid.
    known: BTreeMap<i64, Known>,
    /// The longest slice of any task so far. That of a new one, which may have changed since, was no longer.
    longest_ns: u64,
}

impl Requests {
    /// The request of `task`, in ns.
    pub(super) fn ns(&mut self, task: &Queued) -> u64 {
        let slice_ns = if task.slice_ns == 0 { CFS_SLICE_NS } else { task.slice_ns };
        let weight = task.weight;
        self.longest_ns = self.longest_ns.max(slice_ns);
        // It was new with the weight and the slice that tasks have by default.
        let new_ns = self.longest_ns.max(BASE_SLICE_NS);
        let new = Known { weight: NICE_0, slice_ns: new_ns, request_ns: 0, until_ns: 0 };
        let known = self.known.entry(task.pid).or_insert(new);
        if (known.weight, known.slice_ns) != (weight, slice_ns) {
            let before_ns = known.request_ns(task.sum_exec_ns);
            let request_ns = (before_ns * weight).div_ceil(known.weight.max(1));
            let until_ns = task.sum_exec_ns + request_ns;
            *known = Known { weight, slice_ns, request_ns, until_ns };
        }
        known.request_ns(task.sum_exec_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn task(weight: u64, slice_ms: u64, ran_ms: u64) -> Queued {
        let (slice_ns, sum_exec_ns) = (slice_ms * MS, ran_ms * MS);
        Queued { pid: 7, weight: weight * NICE_0, slice_ns, sum_exec_ns, ..Queued::default() }
    }

    #[test]
    fn the_request_at_hand_outlasts_a_change() {
        let mut requests = Requests::default();
        // Ten times heavier and with a short slice before anybody looked.
        assert_eq!(requests.ns(&task(10, 1, 0)), 10 * BASE_SLICE_NS);
        assert_eq!(requests.ns(&task(10, 1, 29)), 10 * BASE_SLICE_NS);
        assert_eq!(requests.ns(&task(10, 1, 30)), MS);
        // Lighter again, then twice as heavy.
        assert_eq!(requests.ns(&task(5, 1, 121)), MS);
        assert_eq!(requests.ns(&task(10, 1, 130)), 2 * MS);
        assert_eq!(requests.ns(&task(10, 4, 131)), 4 * MS);
        assert_eq!(requests.ns(&task(10, 4, 140)), 4 * MS);
    }
}
