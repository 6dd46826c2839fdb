//! Choice of idle state by expected idle time, as cpuidle's menu governor makes it.

use machine::IdleState;

const INTERVALS: usize = 8;
/// Intervals that differ by less than this much (standard deviation, in us) count as regular.
const REGULAR_US: u64 = 20;

/// One CPU's memory of its last idle periods (`get_typical_interval`).
#[derive(Debug, Clone, Default)]
pub struct IdleHistory {
    intervals_us: [u32; INTERVALS],
    next: usize,
    /// Sum of the intervals.
    sum: u64,
    /// Sum of their squares.
    squares: u64,
}

impl IdleHistory {
    /// Notes an idle period that ended.
    pub fn note(&mut self, idle_ns: u64) {
        let new = (idle_ns / 1000).min(u64::from(u32::MAX / 4));
        let old = u64::from(std::mem::replace(&mut self.intervals_us[self.next], new as u32));
        self.sum = self.sum + new - old;
        self.squares = self.squares + new * new - old * old;
        self.next = (self.next + 1) % INTERVALS;
    }

    /// The typical interval in us, or `None` where the last ones have no pattern. Outliers are left out from
    /// the top until at most a quarter is gone.
    pub fn typical_us(&self) -> Option<u64> {
        let (mut left, mut count) = (self.intervals_us, INTERVALS as u64);
        let (mut sum, mut squares) = (self.sum, self.squares);
        loop {
            let average = per(sum, count)?;
            let variance = per(squares, count)?.saturating_sub(average * average);
            let regular = average * average > 36 * variance && count * 4 >= 3 * INTERVALS as u64;
            if regular || variance <= REGULAR_US * REGULAR_US {
                return Some(average);
            }
            let max = left.iter().fold(0, |max, &us| us.max(max));
            if count * 4 <= 3 * INTERVALS as u64 || max == 0 {
                return None;
            }
            // Without a branch, which irregular intervals would mispredict.
            let mut longest = 0;
            for us in &mut left {
                let out = *us == max;
                longest += u64::from(out);
                *us = if out { 0 } else { *us };
            }
            let max = u64::from(max);
            (count, sum) = (count - longest, sum - longest * max);
            squares -= longest * max * max;
        }
    }
}

/// `sum / count`, by divisors that the compiler knows: division is what the search would spend its time on.
fn per(sum: u64, count: u64) -> Option<u64> {
    match count {
        8 => Some(sum / 8),
        7 => Some(sum / 7),
        6 => Some(sum / 6),
        _ => sum.checked_div(count),
    }
}

/// The deepest of `states` that pays within `expected_ns`; 0 is always possible.
pub fn choose(states: &[IdleState], expected_ns: u64) -> usize {
    states.iter().rposition(|s| s.target_residency_ns <= expected_ns).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_intervals_are_typical_and_outliers_are_left_out() {
        let mut h = IdleHistory::default();
        (0..8).for_each(|_| h.note(3_000));
        assert_eq!(h.typical_us(), Some(3));
        h.note(900_000_000);
        assert_eq!(h.typical_us(), Some(3));
    }

    #[test]
    fn irregular_intervals_have_no_type() {
        let mut h = IdleHistory::default();
        for us in [10, 5_000, 90, 70_000, 900, 1_000_000, 300, 40_000] {
            h.note(us * 1000);
        }
        assert_eq!(h.typical_us(), None);
    }

    #[test]
    fn chooses_the_deepest_that_pays() {
        let state = |residency| IdleState {
            name: String::new(),
            exit_latency_ns: 0,
            target_residency_ns: residency,
        };
        let states = [state(0), state(10_000), state(20_000)];
        assert_eq!(choose(&states, 3_000), 0);
        assert_eq!(choose(&states, 15_000), 1);
        assert_eq!(choose(&states, u64::MAX), 2);
    }
}
