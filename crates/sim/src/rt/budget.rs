//! What real-time tasks may have of a CPU: 950 ms of each second (`sched_rt_runtime_us`, and the fair server's complement of it).

/// `sched_rt_period_us`.
const PERIOD_NS: u64 = 1_000_000_000;
/// `sched_rt_runtime_us`.
const RUNTIME_NS: u64 = 950_000_000;

/// One CPU's account.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Budget {
    period: u64,
    used_ns: u64,
}

impl Budget {
    /// Tasks ran for `ran_ns` until now. What exceeds a period's part is owed by the next (`do_sched_rt_period_timer`).
    pub(super) fn charge(&mut self, now_ns: u64, ran_ns: u64) {
        self.settle(now_ns);
        self.used_ns += ran_ns;
    }

    fn settle(&mut self, now_ns: u64) {
        let period = now_ns / PERIOD_NS;
        let over = period - self.period;
        self.used_ns = self.used_ns.saturating_sub(over.saturating_mul(RUNTIME_NS));
        self.period = period;
    }

    /// Whether this period's part is used up.
    pub(super) fn is_used_up(&mut self, now_ns: u64) -> bool {
        self.settle(now_ns);
        self.used_ns >= RUNTIME_NS
    }

    /// The end of the period, if its part is used up.
    pub(super) fn refill_ns(&self, now_ns: u64) -> Option<u64> {
        let is_now = now_ns / PERIOD_NS == self.period;
        (is_now && self.used_ns >= RUNTIME_NS).then_some((self.period + 1) * PERIOD_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_its_part_and_pays_what_it_exceeded() {
        let mut budget = Budget::default();
        budget.charge(940_000_000, 940_000_000);
        assert!(!budget.is_used_up(940_000_000) && budget.refill_ns(940_000_000).is_none());
        budget.charge(954_000_000, 14_000_000);
        assert_eq!(budget.refill_ns(954_000_000), Some(PERIOD_NS));
        // 4 ms are owed.
        assert!(!budget.is_used_up(PERIOD_NS));
        budget.charge(PERIOD_NS + 946_000_000, 946_000_000);
        assert!(budget.is_used_up(PERIOD_NS + 946_000_000));
    }
}
