//! One set in S: caches with that many fewer sets, and programs that touch that many fewer lines.
//!
//! A line whose number is a multiple of S keeps its place: its number over S, in a cache with a S-th of the sets. Lines
//! in between are not looked at; what happens to a sampled line stands for S. Caches never let lines of different sets
//! meet, so that a sampled set sees what it would see in the whole; what is sampled is which sets are looked at.

use crate::CacheError;
use crate::set_associative::Line;

/// One set in so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    shift: u32,
}

impl Sampling {
    /// Every set.
    pub const ALL: Sampling = Sampling { shift: 0 };
    /// The most that is left out: an L1 of 64 sets keeps two.
    pub const MOST: u32 = 32;

    /// One set in `sets`.
    ///
    /// # Errors
    /// [`CacheError::Sampling`] where that is no power of two or more than [`Sampling::MOST`].
    pub fn one_in(sets: u32) -> Result<Sampling, CacheError> {
        if !sets.is_power_of_two() || sets > Sampling::MOST {
            return Err(CacheError::Sampling { found: sets, most: Sampling::MOST });
        }
        Ok(Sampling { shift: sets.trailing_zeros() })
    }

    /// Lines that a sampled one stands for.
    pub fn factor(self) -> u32 {
        1 << self.shift
    }

    /// Sampled lines below line `line`: those with a number in `[0, line)` that is a multiple of the factor.
    pub fn below(self, line: u64) -> u64 {
        line.div_ceil(u64::from(self.factor()))
    }

    /// The sampled lines of a region of `lines` lines from line `first`: the first of them and their number.
    pub fn region(self, first: u64, lines: u64) -> (Line, u32) {
        let (from, to) = (self.below(first), self.below(first + lines));
        (from as Line, (to - from) as u32)
    }
}
