//! The clock by which load is tracked (`rq->clock_pelt`, 5.1 and later).
//!
//! It runs at the share of the highest clock that the CPU has (`arch_scale_freq_capacity`), so that work counts and not
//! the time that it takes; while the CPU is idle it catches up with the time.

/// One run queue's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PeltClock {
    /// What it showed at `at_ns`, in ns.
    clock_ns: u64,
    at_ns: u64,
    /// Idle time that a queue did not have, as it is never idle at the highest clock (`lost_idle_time`).
    lost_ns: u64,
    idle: bool,
    /// Share of the highest clock, 1024 for all of it (`arch_freq_scale`).
    scale: u64,
}

impl PeltClock {
    /// An idle queue's, at the highest clock until the first tick says otherwise.
    pub(crate) fn new() -> PeltClock {
        PeltClock { clock_ns: 0, at_ns: 0, lost_ns: 0, idle: true, scale: 1024 }
    }

    /// What it shows, in ns (`rq_clock_pelt`).
    pub(crate) fn read(&self, now_ns: u64) -> u64 {
        self.raw(now_ns) - self.lost_ns
    }

    fn raw(&self, now_ns: u64) -> u64 {
        match self.idle {
            true => now_ns,
            false => self.clock_ns + (((now_ns - self.at_ns) * self.scale) >> 10),
        }
    }

    /// From now on the CPU has another share of the highest clock.
    pub(crate) fn set_scale(&mut self, now_ns: u64, scale: u64) {
        (self.clock_ns, self.at_ns) = (self.raw(now_ns), now_ns);
        self.scale = scale;
    }

    /// The CPU turns idle or busy. A queue that is `saturated` would not be idle at the highest clock either: it loses
    /// the time by which its clock is late (`update_idle_rq_clock_pelt`).
    pub(crate) fn switch(&mut self, now_ns: u64, idle: bool, saturated: bool) {
        (self.clock_ns, self.at_ns) = (self.raw(now_ns), now_ns);
        if idle && !self.idle && saturated {
            self.lost_ns += now_ns - self.clock_ns;
        }
        self.idle = idle;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_counts_by_the_clock_and_idle_time_catches_up() {
        let mut clock = PeltClock::new();
        clock.set_scale(0, 512);
        clock.switch(1_000, false, false);
        assert_eq!(clock.read(3_000), 2_000);
        clock.switch(3_000, true, false);
        assert_eq!(clock.read(3_000), 3_000);
        clock.switch(4_000, false, false);
        assert_eq!(clock.read(6_000), 5_000);
    }

    #[test]
    fn a_saturated_queue_loses_the_time_by_which_it_is_late() {
        let mut clock = PeltClock::new();
        clock.set_scale(0, 512);
        clock.switch(1_000, false, false);
        clock.switch(3_000, true, true);
        assert_eq!(clock.read(3_000), 2_000);
        assert_eq!(clock.read(3_500), 2_500);
    }
}
