//! Per-entity load tracking in the kernel's integer arithmetic (`kernel/sched/pelt.c`, 4.18).
//!
//! Time counts in periods of 1024 x 1024 ns; a period's contribution halves after 32 periods.

use std::sync::LazyLock;

/// Periods after which a contribution has halved (`LOAD_AVG_PERIOD`).
pub const HALF_LIFE_PERIODS: u64 = 32;
/// Largest sum (`LOAD_AVG_MAX`): 1024 x (1 + y + y^2 + …) as the kernel's rounding gives it.
pub const LOAD_AVG_MAX: u64 = 47742;

/// `y^n` x 2^32 for n below 32, rounded as in the kernel's table (`runnable_avg_yN_inv`): towards zero from
/// `2^32 - 1` at n = 0.
static DECAY: LazyLock<[u64; 32]> = LazyLock::new(|| {
    let mut table = [0; 32];
    for (n, entry) in table.iter_mut().enumerate() {
        let y_n = libm::exp2(-(n as f64) / HALF_LIFE_PERIODS as f64);
        *entry = (y_n * 4_294_967_295.0) as u64;
    }
    table
});

/// `value` after `periods` (`decay_load`).
pub fn decay_load(value: u64, periods: u64) -> u64 {
    if periods > HALF_LIFE_PERIODS * 63 {
        return 0;
    }
    let halved = value >> (periods / HALF_LIFE_PERIODS);
    ((u128::from(halved) * u128::from(DECAY[(periods % HALF_LIFE_PERIODS) as usize])) >> 32) as u64
}

/// The sums of one entity or run queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pelt {
    /// Clock of the last update, in ns; 0 for an entity that is attached nowhere.
    pub last_update_ns: u64,
    /// Decayed time on the run queue or asleep after it, weighted for a run queue.
    pub load_sum: u64,
    /// Up to 5.6 the same, while queued only; from 5.7 on decayed time x runnable tasks x 1024.
    pub runnable_sum: u64,
    /// Decayed running time x 1024.
    pub util_sum: u64,
    /// Part of the current period, in us of 1024 ns.
    pub period_contrib: u64,
    /// Load average: weight x share of time.
    pub load_avg: u64,
    /// Up to 5.6 load average of what is queued; from 5.7 on average number of runnable tasks x 1024.
    pub runnable_avg: u64,
    /// Utilisation, 1024 for always running.
    pub util_avg: u64,
}

impl Pelt {
    /// Shorter stretches wait for the next update.
    pub const UNIT_NS: u64 = 1024;

    /// The largest sum at this point of the period (`LOAD_AVG_MAX - 1024 + period_contrib`).
    pub fn divider(&self) -> u64 {
        LOAD_AVG_MAX - 1024 + self.period_contrib
    }

    /// Brings the sums to `now_ns` (`___update_load_sum`); `load` and `runnable` are the weights that counted
    /// since the last update (1 or 0 for an entity; from 5.7 on `runnable` is tasks x 1024), `running` whether it ran. Returns whether a period ended,
    /// which is when averages change.
    #[inline]
    pub fn update_sum(&mut self, now_ns: u64, load: u64, runnable: u64, running: bool) -> bool {
        let Some(delta_ns) = now_ns.checked_sub(self.last_update_ns) else {
            self.last_update_ns = now_ns;
            return false;
        };
        let delta = delta_ns / Pelt::UNIT_NS;
        if delta == 0 {
            return false;
        }
        self.last_update_ns += delta * Pelt::UNIT_NS;
        let delta_all = delta + self.period_contrib;
        let ends = delta_all >= 1024;
        let contrib = if ends { self.end_periods(delta_all) } else { delta };
        self.period_contrib = delta_all % 1024;
        if load != 0 {
            self.load_sum += load * contrib;
            self.runnable_sum += runnable * contrib;
            self.util_sum += if running { contrib << 10 } else { 0 };
        }
        ends
    }

    /// Lets the sums decay over the periods that end; what the stretch up to now counts. Few updates end a period.
    #[inline(never)]
    fn end_periods(&mut self, delta_all: u64) -> u64 {
        let periods = delta_all / 1024;
        self.load_sum = decay_load(self.load_sum, periods);
        self.runnable_sum = decay_load(self.runnable_sum, periods);
        self.util_sum = decay_load(self.util_sum, periods);
        segments(periods, 1024 - self.period_contrib, delta_all % 1024)
    }

    /// Averages from sums (`___update_load_avg`); `load` is the entity's weight, 1 for a run queue; `runnable` is
    /// the same up to 5.6, and 1 later.
    pub fn update_avg(&mut self, load: u64, runnable: u64) {
        let divider = self.divider();
        self.load_avg = load * self.load_sum / divider;
        self.runnable_avg = runnable * self.runnable_sum / divider;
        self.util_avg = self.util_sum / divider;
    }
}

/// Contribution of a stretch that crosses period ends (`__accumulate_pelt_segments`): `first` us of the old
/// period, whole periods, `last` us of the new one.
fn segments(periods: u64, first: u64, last: u64) -> u64 {
    let whole = LOAD_AVG_MAX - decay_load(LOAD_AVG_MAX, periods) - 1024;
    decay_load(first, periods) + whole + last
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD_NS: u64 = 1 << 20;

    fn run(pelt: &mut Pelt, periods: u64, on: bool) {
        for _ in 0..periods {
            let now = pelt.last_update_ns + PERIOD_NS;
            pelt.update_sum(now, u64::from(on), u64::from(on), on);
        }
        pelt.update_avg(1024, 1024);
    }

    /// The kernel's table begins `0xffffffff, 0xfa83b2da, 0xf5257d14` and ends `0x82cd8698`.
    #[test]
    fn the_table_is_the_kernels() {
        assert_eq!(DECAY[..3], [0xffff_ffff, 0xfa83_b2da, 0xf525_7d14]);
        assert_eq!(DECAY[31], 0x82cd_8698);
    }

    #[test]
    fn always_running_saturates_at_the_weight() {
        let mut p = Pelt { last_update_ns: PERIOD_NS, ..Pelt::default() };
        run(&mut p, 400, true);
        assert!((1022..=1024).contains(&p.util_avg), "{p:?}");
        assert!((1022..=1024).contains(&p.load_avg), "{p:?}");
        assert!(p.load_sum.abs_diff(p.divider()) < 32, "{p:?}");
    }

    #[test]
    fn half_is_left_after_32_periods() {
        let mut p = Pelt { last_update_ns: PERIOD_NS, ..Pelt::default() };
        run(&mut p, 400, true);
        let full = p.util_avg;
        run(&mut p, 32, false);
        assert!(p.util_avg.abs_diff(full / 2) <= 2, "{p:?}");
    }

    /// A task that runs `on` of `on + off` periods settles around that share of 1024.
    #[test]
    fn a_duty_cycle_settles_at_its_share() {
        let mut p = Pelt { last_update_ns: PERIOD_NS, ..Pelt::default() };
        let mut seen = 0;
        for cycle in 0..200 {
            run(&mut p, 1, true);
            let high = p.util_avg;
            run(&mut p, 3, false);
            if cycle >= 100 {
                seen += (high + p.util_avg) / 2;
            }
        }
        assert!((seen / 100).abs_diff(256) < 12, "{}", seen / 100);
    }

    /// Since 5.7 (`__update_load_avg_se`, `__update_load_avg_cfs_rq`): after n periods from nothing an average is
    /// `1 - y^n` of its limit, `y^32` being a half: weight for load, tasks x 1024 for runnable time.
    #[test]
    fn averages_close_half_of_the_gap_in_32_periods() {
        for (weight, tasks) in [(1024, 1), (335, 1), (88_761, 3)] {
            let mut p = Pelt { last_update_ns: PERIOD_NS, ..Pelt::default() };
            for halves in 1..=5 {
                for _ in 0..HALF_LIFE_PERIODS {
                    let now = p.last_update_ns + PERIOD_NS;
                    p.update_sum(now, 1, tasks << 10, true);
                }
                p.update_avg(weight, 1);
                let near = |found: u64, limit: u64| {
                    let expected = limit - (limit >> halves);
                    // Table and sums lose up to 3 of 1024, and a unit is what an average rounds away.
                    found.abs_diff(expected) <= 1 + limit * 3 / 1024
                };
                assert!(near(p.load_avg, weight), "{weight}, {halves}: {p:?}");
                assert!(near(p.runnable_avg, tasks * 1024), "{tasks}, {halves}: {p:?}");
                assert!(near(p.util_avg, 1024), "{halves}: {p:?}");
            }
        }
    }

    /// What waits has runnable time and load without utilisation; what has no load has nothing.
    #[test]
    fn waiting_counts_as_load_and_not_as_use() {
        let mut p = Pelt { last_update_ns: PERIOD_NS, ..Pelt::default() };
        p.update_sum(33 * PERIOD_NS, 1, 1 << 10, false);
        p.update_avg(1024, 1);
        assert_eq!((p.load_avg, p.util_avg), (p.runnable_avg, 0));
        assert!(p.load_avg.abs_diff(512) <= 3, "{p:?}");
        let mut idle = Pelt { last_update_ns: PERIOD_NS, ..Pelt::default() };
        idle.update_sum(33 * PERIOD_NS, 0, 1 << 10, true);
        assert_eq!((idle.load_sum, idle.runnable_sum, idle.util_sum), (0, 0, 0));
    }

    /// One long step equals many short ones, but for the rounding of each decay.
    #[test]
    fn steps_can_be_joined() {
        let start = Pelt { last_update_ns: PERIOD_NS, load_sum: 20_000, ..Pelt::default() };
        let (mut one, mut many) = (start, start);
        one.update_sum(PERIOD_NS + 50 * PERIOD_NS, 1, 1, true);
        for i in 1..=200 {
            many.update_sum(PERIOD_NS + i * PERIOD_NS / 4, 1, 1, true);
        }
        assert!(one.load_sum.abs_diff(many.load_sum) < 64, "{one:?} {many:?}");
        assert_eq!(one.period_contrib, many.period_contrib);
    }

    /// A burst of 20 us leaves nothing in the average; one of 100 us leaves 2 for 32 ms.
    #[test]
    fn short_bursts_leave_little() {
        let after = |burst_us: u64| {
            let mut p = Pelt { last_update_ns: PERIOD_NS, ..Pelt::default() };
            p.update_sum(PERIOD_NS + burst_us * 1024, 1, 1, true);
            p.update_sum(PERIOD_NS * 2, 0, 0, false);
            p.update_avg(1024, 1024);
            p.load_avg
        };
        assert_eq!(after(20), 0);
        assert_eq!(after(100), 2);
    }
}
