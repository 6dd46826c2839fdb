//! Address streams: sequential walks, and pointer chases in an order that no prefetcher can predict.

use crate::sampling::Sampling;
use crate::set_associative::Line;

/// Walks a region line by line, over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walk {
    first: Line,
    lines: u32,
    at: u32,
}

impl Walk {
    /// The sampled lines of a region of `lines` lines from `first`.
    pub fn new(first: u64, lines: u64, sampling: Sampling) -> Walk {
        let (first, lines) = sampling.region(first, lines);
        Walk { first, lines, at: 0 }
    }

    /// Number of sampled lines per lap.
    pub fn lines(&self) -> u32 {
        self.lines
    }

    /// The next line; in an empty region, the line at its start.
    #[inline]
    pub fn next_line(&mut self) -> Line {
        let line = self.first + self.at;
        self.at += 1;
        if self.at >= self.lines {
            self.at = 0;
        }
        line
    }

    /// The line `at` lines after the start, wrapping around.
    #[inline]
    pub fn line(&self, at: u32) -> Line {
        self.first + at % self.lines.max(1)
    }
}

/// A pointer chase: touches each line of a region once per lap, in an order that looks random.
///
/// The order comes from a linear congruential generator over the next power of two. Its numbers are mixed, because their low
/// bits alternate. Numbers beyond the region are skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chase {
    first: Line,
    lines: u32,
    mask: u32,
    half: u32,
    state: u32,
}

impl Chase {
    /// The sampled lines of a region of `lines` lines from `first`, in an order that depends on `seed`.
    pub fn new(first: u64, lines: u64, sampling: Sampling, seed: u64) -> Chase {
        let (first, lines) = sampling.region(first, lines);
        let mask = lines.max(1).next_power_of_two() - 1;
        let half = (mask.count_ones() / 2).max(1);
        Chase { first, lines, mask, half, state: (seed as u32) & mask }
    }

    /// Number of sampled lines per lap.
    pub fn lines(&self) -> u32 {
        self.lines
    }

    /// The next line; in an empty region, the line at its start.
    #[inline]
    pub fn next_line(&mut self) -> Line {
        if self.lines == 0 {
            return self.first;
        }
        loop {
            // Full period: the increment is odd and the multiplier is 1 modulo 4.
            self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) & self.mask;
            let mixed = self.mixed();
            if mixed < self.lines {
                return self.first + mixed;
            }
        }
    }

    /// A permutation of the numbers up to the mask: each step is invertible.
    #[inline]
    fn mixed(&self) -> u32 {
        let mut x = self.state;
        x ^= x >> self.half;
        x = x.wrapping_mul(0x9e37_79b1) & self.mask;
        x ^= x >> self.half;
        x = x.wrapping_mul(0x85eb_ca77) & self.mask;
        x ^ (x >> self.half)
    }
}
