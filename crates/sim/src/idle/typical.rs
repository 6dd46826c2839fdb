//! The interval that a CPU is typically idle for (`get_typical_interval()` of cpuidle's menu governor).

const INTERVALS: usize = 8;
/// Intervals that differ by less than this much (standard deviation, in us) count as regular.
const REGULAR_US: u64 = 20;

/// A CPU's last idle periods.
#[derive(Debug, Clone, Default)]
pub struct Intervals {
    us: [u32; INTERVALS],
    next: usize,
    /// Sum of the intervals.
    sum: u64,
    /// Sum of their squares.
    squares: u64,
}

/// Which intervals count as outliers when there is no pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outliers {
    /// The longest.
    Longest,
    /// The one farthest from the average (from 6.15 on).
    Farthest,
}

impl Intervals {
    /// Notes an idle period that ended.
    pub fn note(&mut self, idle_ns: u64) {
        let new = (idle_ns / 1000).min(u64::from(u32::MAX / 4));
        let old = u64::from(std::mem::replace(&mut self.us[self.next], new as u32));
        self.sum = self.sum + new - old;
        self.squares = self.squares + new * new - old * old;
        self.next = (self.next + 1) % INTERVALS;
    }

    /// Whether each was shorter than a us, or there was none.
    pub fn are_zero(&self) -> bool {
        self.sum == 0
    }

    /// The typical interval in us, or `None` where the last ones have no pattern: outliers are left out until at most a quarter
    /// is gone.
    pub fn typical_us(&self, outliers: Outliers) -> Option<u64> {
        let (mut count, mut sum, mut squares) = (INTERVALS as u64, self.sum, self.squares);
        // Those above the first and below the second remain.
        let mut bounds = (-1, i64::from(u32::MAX));
        loop {
            let average = per(sum, count)?;
            let variance = per(squares, count)?.saturating_sub(average * average);
            let enough = count * 4 >= 3 * INTERVALS as u64;
            if (average * average > 36 * variance && enough) || variance <= REGULAR_US * REGULAR_US
            {
                return Some(average);
            }
            if count * 4 <= 3 * INTERVALS as u64 {
                return None;
            }
            let (min, max) = self.extremes(bounds);
            let average = average as i64;
            if outliers == Outliers::Farthest && average - min > max - average {
                bounds.0 = min;
            } else {
                bounds.1 = max;
            }
            (count, sum, squares) = self.between(bounds);
        }
    }

    fn remaining(&self, bounds: (i64, i64)) -> impl Iterator<Item = i64> {
        let us = self.us.iter().map(|&us| i64::from(us));
        us.filter(move |us| bounds.0 < *us && *us < bounds.1)
    }

    fn extremes(&self, bounds: (i64, i64)) -> (i64, i64) {
        self.remaining(bounds).fold((i64::MAX, 0), |(min, max), us| (min.min(us), max.max(us)))
    }

    /// How many remain, their sum and the sum of their squares.
    fn between(&self, bounds: (i64, i64)) -> (u64, u64, u64) {
        self.remaining(bounds).fold((0, 0, 0), |(count, sum, squares), us| {
            let us = us as u64;
            (count + 1, sum + us, squares + us * us)
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn typical(us: [u64; 8], outliers: Outliers) -> Option<u64> {
        let mut intervals = Intervals::default();
        us.into_iter().for_each(|us| intervals.note(us * 1000));
        intervals.typical_us(outliers)
    }

    #[test]
    fn regular_intervals_are_typical_and_the_longest_are_left_out() {
        assert_eq!(typical([3; 8], Outliers::Longest), Some(3));
        assert_eq!(typical([3, 3, 3, 900_000, 3, 3, 800_000, 3], Outliers::Longest), Some(3));
        assert_eq!(typical([3, 3, 9_000, 900_000, 3, 3, 800_000, 3], Outliers::Longest), None);
    }

    #[test]
    fn the_farthest_may_be_the_shortest() {
        let us = [5_000, 5_000, 5_010, 3, 4, 5_000, 4_990, 5_000];
        assert_eq!(typical(us, Outliers::Longest), None);
        assert_eq!(typical(us, Outliers::Farthest), Some(5_000));
        let us = [10, 5_000, 90, 70_000, 900, 1_000_000, 300, 40_000];
        assert_eq!(typical(us, Outliers::Longest), None);
        assert_eq!(typical(us, Outliers::Farthest), None);
        assert_eq!(typical([0; 8], Outliers::Longest), Some(0));
    }
}
