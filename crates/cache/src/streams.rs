//! The core's hardware prefetcher: it follows sequential misses.

use crate::sampling::Sampling;
use crate::set_associative::Line;

/// Number of streams that a core follows at a time.
const STREAMS: usize = 16;

/// The streams that a core's prefetcher follows.
#[derive(Debug, Clone)]
pub struct Streams {
    /// The lines expected next, most recent stream first.
    next: [Line; STREAMS],
    /// Lines of each stream so far, and how many of them the core waited for.
    seen: [f64; STREAMS],
    waited: [f64; STREAMS],
    ramp_lines: f64,
    factor: f64,
}

impl Streams {
    /// Starts without streams. The core waits for the first `ramp_lines` lines of a stream, at least for one.
    pub fn new(ramp_lines: f64, sampling: Sampling) -> Streams {
        Streams {
            next: [Line::MAX; STREAMS],
            seen: [0.0; STREAMS],
            waited: [0.0; STREAMS],
            ramp_lines: ramp_lines.max(1.0),
            factor: f64::from(sampling.factor()),
        }
    }

    /// Records a miss. Returns the number of lines that the core waits for. A sampled line stands for several lines, and the
    /// core does not wait for those that a stream predicts. The result is negative if the second line of a stream shows that
    /// lines counted at the first were predicted.
    #[inline]
    pub fn miss(&mut self, line: Line) -> f64 {
        let found = self.next.iter().position(|&n| n == line);
        let at = found.unwrap_or(STREAMS - 1);
        let (before, waited) = match found {
            Some(at) => (self.seen[at], self.waited[at]),
            None => (0.0, 0.0),
        };
        let seen = before + self.factor;
        let total = if found.is_some() { self.ramp_lines.min(seen) } else { seen };
        for ahead in (0..at).rev() {
            self.next[ahead + 1] = self.next[ahead];
            self.seen[ahead + 1] = self.seen[ahead];
            self.waited[ahead + 1] = self.waited[ahead];
        }
        self.next[0] = line.wrapping_add(1);
        self.seen[0] = seen;
        self.waited[0] = total;
        total - waited
    }

    /// Whether `line` is the next of an established stream, which arrives without waiting.
    #[inline]
    pub fn foresees(&self, line: Line) -> bool {
        let at = self.next.iter().position(|&n| n == line);
        at.is_some_and(|at| self.seen[at] >= self.ramp_lines)
    }

    /// Forgets all streams, because something else runs on the core.
    pub fn forget(&mut self) {
        self.next = [Line::MAX; STREAMS];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waited(lines: &[Line], ramp: f64, factor: u32) -> Vec<f64> {
        let mut streams = Streams::new(ramp, Sampling::one_in(factor).unwrap());
        lines.iter().map(|&line| streams.miss(line)).collect()
    }

    #[test]
    fn the_core_waits_for_the_first_lines_of_a_stream() {
        assert_eq!(waited(&[7, 8, 9, 10, 11], 3.0, 1), [1.0, 1.0, 1.0, 0.0, 0.0]);
        assert_eq!(waited(&[7, 9, 3, 5], 3.0, 1), [1.0; 4], "no line in order");
    }

    #[test]
    fn sampled_lines_come_to_the_same_sum() {
        assert_eq!(waited(&[7, 8, 9], 3.0, 8), [8.0, -5.0, 0.0]);
        assert_eq!(waited(&[7, 8, 9], 12.0, 8), [8.0, 4.0, 0.0]);
        assert_eq!(waited(&[7, 9], 3.0, 8), [8.0, 8.0]);
    }

    #[test]
    fn sixteen_streams_are_followed_and_a_switch_forgets_them() {
        let mut streams = Streams::new(1.0, Sampling::ALL);
        let start = |n: u32| n * 1000;
        (0..17).for_each(|n| _ = streams.miss(start(n)));
        assert_eq!(streams.miss(start(0) + 1), 1.0, "the least recent of 17 is gone");
        assert_eq!(streams.miss(start(16) + 1), 0.0);
        streams.forget();
        assert_eq!(streams.miss(start(16) + 2), 1.0);
    }
}
