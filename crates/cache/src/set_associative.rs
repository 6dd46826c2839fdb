//! A set-associative cache with LRU replacement. Tags are in a flat array, the most recent of each set first.
//!
//! Every set has places for [`MAX_WAYS`] lines; places beyond its ways stay empty. Searching and moving all places at once is
//! faster than stopping early.

use crate::CacheError;
use wide::u32x8;

/// Number of a cache line: its address divided by the line size.
pub type Line = u32;

/// The highest line number. An entry has two more bits, and the next number marks an empty place.
pub const MAX_LINE: Line = (u32::MAX >> 2) - 1;

/// The largest number of ways: all places of a set are examined at once.
const MAX_WAYS: usize = 8;

/// An empty place.
const EMPTY: u32 = u32::MAX;
const DIRTY: u32 = 1;
/// Restored by the prefetch engine and not touched since.
const PREFETCHED: u32 = 2;
const FLAGS: u32 = 2;

/// The shape of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Its name in errors.
    pub name: &'static str,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Lines per set.
    pub ways: u32,
    /// Bytes per line.
    pub line_bytes: u32,
}

impl Geometry {
    /// Number of sets.
    ///
    /// # Errors
    /// [`CacheError::Geometry`] if it is 0 or not a power of two.
    pub fn sets(&self) -> Result<u32, CacheError> {
        let refuse = |field, found, expected| {
            Err(CacheError::Geometry { cache: self.name, field, found, expected })
        };
        if !(1..=MAX_WAYS as u32).contains(&self.ways) {
            return refuse("ways", u64::from(self.ways), "1 to 8");
        }
        if !self.line_bytes.is_power_of_two() {
            return refuse("line_bytes", u64::from(self.line_bytes), "a power of two");
        }
        let set_bytes = u64::from(self.ways) * u64::from(self.line_bytes);
        let sets = self.size_bytes / set_bytes;
        if !self.size_bytes.is_multiple_of(set_bytes) || !sets.is_power_of_two() || sets > 1 << 24 {
            return refuse("size_bytes", self.size_bytes, "a power of two of sets, at most 2^24");
        }
        Ok(sets as u32)
    }
}

/// An evicted line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evicted {
    /// Its number.
    pub line: Line,
    /// Whether it was written to.
    pub dirty: bool,
    /// Whether the prefetch engine restored it and nothing touched it since.
    pub useless: bool,
}

impl Evicted {
    fn of(entry: u32) -> Evicted {
        Evicted {
            line: entry >> FLAGS,
            dirty: entry & DIRTY != 0,
            useless: entry & PREFETCHED != 0,
        }
    }
}

/// The result of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Whether this is the first touch of a line that the prefetch engine restored.
    pub prefetched: bool,
}

/// A set, its most recent line first.
type Set = u32x8;

/// A cache.
#[derive(Debug, Clone)]
pub struct Cache {
    sets: Box<[Set]>,
    ways: usize,
    mask: u32,
}

/// The place of `line`; [`MAX_WAYS`] or more if the set does not have it.
#[inline]
fn place(set: &Set, line: Line) -> usize {
    let same = (*set & u32x8::splat(!(DIRTY | PREFETCHED))).simd_eq(u32x8::splat(line << FLAGS));
    same.to_bitmask().trailing_zeros() as usize
}

/// By place: the places after it, which stay unchanged when it moves to the front.
const BEHIND: [[u32; MAX_WAYS]; MAX_WAYS] = {
    let mut behind = [[0; MAX_WAYS]; MAX_WAYS];
    let mut at = 0;
    while at < MAX_WAYS {
        let mut to = at + 1;
        while to < MAX_WAYS {
            behind[at][to] = u32::MAX;
            to += 1;
        }
        at += 1;
    }
    behind
};

/// By place: the places before it, which stay unchanged when it is removed.
const BEFORE: [[u32; MAX_WAYS]; MAX_WAYS] = {
    let mut before = [[0; MAX_WAYS]; MAX_WAYS];
    let mut at = 0;
    while at < MAX_WAYS {
        let mut to = 0;
        while to < at {
            before[at][to] = u32::MAX;
            to += 1;
        }
        at += 1;
    }
    before
};

/// Moves the lines before place `at` back by one and puts `entry` first.
#[inline]
fn to_front(set: &mut Set, at: usize, entry: u32) {
    let [a, b, c, d, e, f, g, _] = set.to_array();
    let moved = u32x8::new([entry, a, b, c, d, e, f, g]);
    let behind = u32x8::new(BEHIND[at % MAX_WAYS]);
    *set = behind.bitselect(*set, moved);
}

impl Cache {
    /// Creates an empty cache with one in `sampled` of the sets of `geometry`.
    ///
    /// # Errors
    /// [`CacheError::Geometry`], and [`CacheError::Sampling`] if no set would be left.
    pub fn new(geometry: &Geometry, sampled: u32) -> Result<Cache, CacheError> {
        let sets = geometry.sets()?;
        if !sampled.is_power_of_two() || sampled > sets {
            return Err(CacheError::Sampling { found: sampled, most: sets });
        }
        let sets = sets / sampled;
        Ok(Cache {
            sets: vec![u32x8::splat(EMPTY); sets as usize].into_boxed_slice(),
            ways: geometry.ways as usize,
            mask: sets - 1,
        })
    }

    /// Number of sets.
    pub fn sets(&self) -> usize {
        self.sets.len()
    }

    /// Number of lines that fit.
    pub fn capacity(&self) -> usize {
        self.sets.len() * self.ways
    }

    #[inline]
    fn set(&mut self, line: Line) -> &mut Set {
        &mut self.sets[(line & self.mask) as usize]
    }

    /// Looks for `line`. If found, it becomes the most recent of its set, and dirty if `write`.
    #[inline]
    pub fn touch(&mut self, line: Line, write: bool) -> Option<Hit> {
        let set = self.set(line);
        let at = place(set, line);
        let entry = *set.as_array().get(at)?;
        to_front(set, at, (entry & !PREFETCHED) | u32::from(write));
        Some(Hit { prefetched: entry & PREFETCHED != 0 })
    }

    /// Inserts `line`, which must not be in the cache, as the most recent of its set. Returns the line that this evicts.
    #[inline]
    pub fn insert(&mut self, line: Line, dirty: bool, prefetched: bool) -> Option<Evicted> {
        let last = self.ways - 1;
        let set = self.set(line);
        let out = set.as_array()[last];
        to_front(set, last, (line << FLAGS) | u32::from(dirty) | (u32::from(prefetched) << 1));
        (out != EMPTY).then(|| Evicted::of(out))
    }

    /// Removes `line`, if the cache has it.
    #[inline]
    pub fn remove(&mut self, line: Line) -> Option<Evicted> {
        let set = self.set(line);
        let at = place(set, line);
        let entry = *set.as_array().get(at)?;
        let [_, b, c, d, e, f, g, h] = set.to_array();
        let moved = u32x8::new([b, c, d, e, f, g, h, EMPTY]);
        let before = u32x8::new(BEFORE[at % MAX_WAYS]);
        *set = before.bitselect(*set, moved);
        Some(Evicted::of(entry))
    }

    /// Whether the cache has `line`. Does not change the LRU order.
    #[inline]
    pub fn holds(&self, line: Line) -> bool {
        place(&self.sets[(line & self.mask) as usize], line) < MAX_WAYS
    }

    /// The line at entry `at` of the directory, which lists the sets in order, each from the most recent line. `None` if the
    /// entry is empty or does not exist.
    pub fn at(&self, at: usize) -> Option<Line> {
        let entry = self.sets.get(at / self.ways)?.as_array()[at % self.ways];
        (entry != EMPTY).then_some(entry >> FLAGS)
    }

    /// The most recent line of set `set`.
    pub fn most_recent(&self, set: usize) -> Option<Line> {
        self.at(set * self.ways)
    }

    /// All lines in the cache.
    pub fn lines(&self) -> impl Iterator<Item = Line> {
        self.sets.iter().flat_map(|s| s.to_array()).filter(|&e| e != EMPTY).map(|e| e >> FLAGS)
    }
}
