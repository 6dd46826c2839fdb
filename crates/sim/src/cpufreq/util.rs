//! The utilisation that schedutil goes by.

/// A CPU's utilisation and what bounds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Util {
    /// Utilisation of the fair class, before clamps.
    pub(crate) util: u64,
    /// The CPU's capacity, 1024 for the largest.
    pub(crate) max: u64,
    /// Lower clamp of the queue, 0 for none.
    pub(crate) uclamp_min: u64,
    /// Upper clamp of the queue, 1024 for none.
    pub(crate) uclamp_max: u64,
}

impl Util {
    /// Utilisation without clamps.
    pub(crate) fn new(util: u64, max: u64) -> Util {
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
