//! Which rules a kernel has outside its scheduling class, its frequency drivers and its governors (`kernel/sched/core.c`,
//! `kernel/cpu.c`). The fair class's are in `fair::rules`, those of frequency in `cpufreq::rules`.

use kernel::levels::REBUILDS_AT_ONCE_SINCE;
use kernel::{Kernel, Version};

/// The rules of one kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CoreRules {
    /// Domains are built while a CPU is still on its way out (6.10).
    pub(crate) rebuilds_at_once: bool,
    /// `sched_setaffinity` keeps CPUs that are offline (`cpuset_cpus_allowed` of the top cpuset, 6.2).
    pub(crate) affinity_keeps_offline: bool,
    /// Tasks may have utilisation clamps (5.3).
    pub(crate) uclamp: bool,
    /// What packets read of a route lies on one line with its count of references (`dst_entry::__refcnt`, up to 6.3).
    pub(crate) reads_counted_line: bool,
}

impl CoreRules {
    pub(crate) fn new(kernel: &Kernel) -> CoreRules {
        let from = |major, minor| kernel.version >= Version::new(major, minor);
        CoreRules {
            rebuilds_at_once: kernel.version >= REBUILDS_AT_ONCE_SINCE,
            affinity_keeps_offline: from(6, 2),
            uclamp: from(5, 3),
            reads_counted_line: !from(6, 4),
        }
    }
}
