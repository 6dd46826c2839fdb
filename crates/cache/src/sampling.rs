//! Set sampling: simulate one set in S, with caches of S times fewer sets and programs that touch S times fewer lines.
//!
//! Only lines whose number is a multiple of S are simulated. Such a line becomes its number divided by S, in a cache with one
//! S-th of the sets, and stands for S lines. Lines of different sets never meet in a cache, so a sampled set sees what it would
//! see in the whole cache.

use crate::CacheError;
use crate::set_associative::Line;

/// Which share of the sets is simulated: one in a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    shift: u32,
}

impl Sampling {
    /// Every set.
    pub const ALL: Sampling = Sampling { shift: 0 };
    /// The largest S: an L1 of 64 sets keeps two.
    pub const MOST: u32 = 32;

    /// One set in `sets`.
    ///
    /// # Errors
    /// [`CacheError::Sampling`] if `sets` is not a power of two or exceeds [`Sampling::MOST`].
    pub fn one_in(sets: u32) -> Result<Sampling, CacheError> {
        if !sets.is_power_of_two() || sets > Sampling::MOST {
            return Err(CacheError::Sampling { found: sets, most: Sampling::MOST });
        }
        Ok(Sampling { shift: sets.trailing_zeros() })
    }

    /// Number of lines that a sampled line stands for.
    pub fn factor(self) -> u32 {
        1 << self.shift
    }

    /// Number of sampled lines below `line`: multiples of the factor in `[0, line)`.
    pub fn below(self, line: u64) -> u64 {
        line.div_ceil(u64::from(self.factor()))
    }

    /// The sampled lines of a region of `lines` lines starting at `first`: the first one and their number.
    pub fn region(self, first: u64, lines: u64) -> (Line, u32) {
        let (from, to) = (self.below(first), self.below(first + lines));
        (from as Line, (to - from) as u32)
    }
}
