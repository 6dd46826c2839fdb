//! One set-associative cache with least-recently-used replacement: tags in a flat array, each set's most recent first.

use crate::CacheError;

/// A line's number: its address over the line size.
pub type Line = u32;

/// The highest line number: an entry keeps two bits beside it, and the number behind stands for an empty place.
pub const MAX_LINE: Line = (u32::MAX >> 2) - 1;

/// Nothing is here.
const EMPTY: u32 = u32::MAX;
const DIRTY: u32 = 1;
/// Brought by the prefetch engine and not touched since.
const PREFETCHED: u32 = 2;
const FLAGS: u32 = 2;

/// The shape of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Its name in errors.
    pub name: &'static str,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Lines of a set.
    pub ways: u32,
    /// Bytes of a line.
    pub line_bytes: u32,
}

impl Geometry {
    /// Number of sets.
    ///
    /// # Errors
    /// [`CacheError::Geometry`] where that is no power of two, or there is none.
    pub fn sets(&self) -> Result<u32, CacheError> {
        let refuse = |field, found, expected| {
            Err(CacheError::Geometry { cache: self.name, field, found, expected })
        };
        if !(1..=64).contains(&self.ways) {
            return refuse("ways", u64::from(self.ways), "1 to 64");
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

/// A line that went out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evicted {
    /// Its number.
    pub line: Line,
    /// Whether it was written to.
    pub dirty: bool,
    /// Whether the prefetch engine brought it and nothing has touched it since.
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

/// What a touch found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Whether the prefetch engine had brought the line, and this is the first touch of it.
    pub prefetched: bool,
}

/// A cache.
#[derive(Debug, Clone)]
pub struct Cache {
    entries: Box<[u32]>,
    ways: usize,
    mask: u32,
}

impl Cache {
    /// An empty cache with one of `sampled` of the sets of `geometry`.
    ///
    /// # Errors
    /// [`CacheError::Geometry`], and [`CacheError::Sampling`] where no set would be left.
    pub fn new(geometry: &Geometry, sampled: u32) -> Result<Cache, CacheError> {
        let sets = geometry.sets()?;
        if !sampled.is_power_of_two() || sampled > sets {
            return Err(CacheError::Sampling { found: sampled, most: sets });
        }
        let (sets, ways) = (sets / sampled, geometry.ways as usize);
        Ok(Cache {
            entries: vec![EMPTY; sets as usize * ways].into_boxed_slice(),
            ways,
            mask: sets - 1,
        })
    }

    /// Number of sets.
    pub fn sets(&self) -> usize {
        self.mask as usize + 1
    }

    /// Lines that it has room for.
    pub fn capacity(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    fn set(&mut self, line: Line) -> &mut [u32] {
        let at = (line & self.mask) as usize * self.ways;
        &mut self.entries[at..at + self.ways]
    }

    /// Looks for `line`; found, it becomes its set's most recent one, and dirty where `write`.
    #[inline]
    pub fn touch(&mut self, line: Line, write: bool) -> Option<Hit> {
        let set = self.set(line);
        let at = set.iter().position(|&e| e >> FLAGS == line)?;
        let entry = set[at];
        set.copy_within(0..at, 1);
        set[0] = (entry & !PREFETCHED) | u32::from(write);
        Some(Hit { prefetched: entry & PREFETCHED != 0 })
    }

    /// Puts `line`, which must not be there, in as its set's most recent one; the set's least recent one goes.
    #[inline]
    pub fn insert(&mut self, line: Line, dirty: bool, prefetched: bool) -> Option<Evicted> {
        let set = self.set(line);
        let last = set.len() - 1;
        let out = set[last];
        set.copy_within(0..last, 1);
        set[0] = (line << FLAGS) | u32::from(dirty) | (u32::from(prefetched) << 1);
        (out != EMPTY).then(|| Evicted::of(out))
    }

    /// Takes `line` out, if it is there.
    #[inline]
    pub fn remove(&mut self, line: Line) -> Option<Evicted> {
        let set = self.set(line);
        let at = set.iter().position(|&e| e >> FLAGS == line)?;
        let entry = set[at];
        let last = set.len() - 1;
        set.copy_within(at + 1.., at);
        set[last] = EMPTY;
        Some(Evicted::of(entry))
    }

    /// Whether `line` is there; changes nothing.
    #[inline]
    pub fn holds(&self, line: Line) -> bool {
        let at = (line & self.mask) as usize * self.ways;
        self.entries[at..at + self.ways].iter().any(|&e| e >> FLAGS == line)
    }

    /// The line at place `at` of the directory, which goes set by set, in each from the most recent; `None` where the
    /// place is empty or there is none.
    pub fn at(&self, at: usize) -> Option<Line> {
        self.entries.get(at).filter(|&&e| e != EMPTY).map(|e| e >> FLAGS)
    }

    /// The most recent line of set `set`.
    pub fn most_recent(&self, set: usize) -> Option<Line> {
        self.at(set * self.ways)
    }

    /// The lines that are there.
    pub fn lines(&self) -> impl Iterator<Item = Line> {
        self.entries.iter().filter(|&&e| e != EMPTY).map(|e| e >> FLAGS)
    }
}
