//! schedutil's boost for tasks that wake up from I/O.

use crate::cpufreq::{CAPACITY_SCALE, CAPACITY_SHIFT, Driver};

/// What a CPU's boost starts with from 5.2 on (`IOWAIT_BOOST_MIN`).
const BOOST_MIN: u64 = CAPACITY_SCALE / 8;

/// The boost's rules under one kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Where it starts, by 1024 of the maximum.
    min: u64,
    tick_ns: u64,
}

impl Rules {
    pub(crate) fn new(driver: &Driver, tick_ns: u64) -> Rules {
        let min = if driver.rules().iowait_boost_min {
            BOOST_MIN
        } else {
            CAPACITY_SCALE * driver.min_khz() / driver.max_khz()
        };
        Rules { min, tick_ns }
    }
}

/// One CPU's boost.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IowaitBoost {
    /// By 1024 of the maximum.
    boost: u64,
    /// Asked for since the last change of frequency.
    pending: bool,
    last_update_ns: u64,
}

impl IowaitBoost {
    /// `sugov_iowait_boost`: a wake-up from I/O doubles the boost, once a frequency choice.
    pub(crate) fn request(&mut self, rules: &Rules, now_ns: u64, iowait: bool) {
        let stale = self.boost != 0 && self.reset(rules, now_ns, iowait);
        self.last_update_ns = now_ns;
        if stale || !iowait || self.pending {
            return;
        }
        self.pending = true;
        self.boost = if self.boost == 0 { rules.min } else { (2 * self.boost).min(CAPACITY_SCALE) };
    }

    /// `sugov_iowait_apply`: the boost as utilisation of a CPU of capacity `max`; it halves where nobody asked.
    pub(crate) fn apply(&mut self, rules: &Rules, now_ns: u64, max: u64) -> u64 {
        if self.boost == 0 || self.reset(rules, now_ns, false) {
            return 0;
        }
        if !self.pending {
            self.boost >>= 1;
            if self.boost < rules.min {
                self.boost = 0;
                return 0;
            }
        }
        self.pending = false;
        (self.boost * max) >> CAPACITY_SHIFT
    }

    /// `sugov_iowait_reset`: a CPU without an update for more than a tick starts again.
    fn reset(&mut self, rules: &Rules, now_ns: u64, iowait: bool) -> bool {
        if now_ns.saturating_sub(self.last_update_ns) <= rules.tick_ns {
            return false;
        }
        self.boost = if iowait { rules.min } else { 0 };
        self.pending = iowait;
        true
    }
}
