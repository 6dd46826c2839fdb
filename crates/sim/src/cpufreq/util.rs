//! The utilisation that schedutil goes by.

use kernel::Version;

/// A CPU's averages of the fair class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CfsUtil {
    /// `cfs_rq->avg.util_avg`.
    pub util_avg: u64,
    /// Estimated utilisation of what is queued, 0 where the kernel runs without `UTIL_EST`.
    pub util_est: u64,
    /// `cfs_rq->avg.runnable_avg`, 1024 for each runnable task.
    pub runnable_avg: u64,
}

impl CfsUtil {
    /// What schedutil sees of a CPU of capacity `max` (`cpu_util_cfs`; from 6.5 on `cpu_util_cfs_boost`, for which
    /// waiting counts as well).
    pub fn for_frequency(self, version: Version, max: u64) -> u64 {
        let boosted = version >= Version::new(6, 5);
        let runnable = if boosted { self.runnable_avg } else { 0 };
        self.util_avg.max(runnable).max(self.util_est).min(max)
    }
}

/// A CPU's utilisation and what bounds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Util {
    /// Utilisation of the fair class ([`CfsUtil::for_frequency`]), before clamps.
    pub util: u64,
    /// The CPU's capacity, 1024 for the largest.
    pub max: u64,
    /// Lower clamp of the queue, 0 for none.
    pub uclamp_min: u64,
    /// Upper clamp of the queue, 1024 for none.
    pub uclamp_max: u64,
}

impl Util {
    /// Utilisation without clamps.
    pub fn new(util: u64, max: u64) -> Util {
        Util { util, max, uclamp_min: 0, uclamp_max: super::CAPACITY_SCALE }
    }

    /// `uclamp_rq_util_with`.
    pub(super) fn clamp(&self, util: u64) -> u64 {
        if self.uclamp_min >= self.uclamp_max {
            return self.uclamp_min;
        }
        util.clamp(self.uclamp_min, self.uclamp_max)
    }

    /// `uclamp_rq_is_capped`.
    pub(super) fn is_capped(&self) -> bool {
        self.uclamp_max != super::CAPACITY_SCALE && self.util >= self.uclamp_max
    }
}
