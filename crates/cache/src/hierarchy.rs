//! The caches of one POWER8 core: L1I, L1D, L2 and the local L3.
//!
//! The L1D is write-through, and stores do not allocate in it. The L2 includes both L1s. The L3 is a victim cache: it takes
//! what the L2 evicts, and a hit moves the line back up.

use crate::CacheError;
use crate::set_associative::{Cache, Evicted, Geometry, Line};

/// The kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Instructions.
    Fetch,
    /// A load.
    Read,
    /// A store.
    Write,
}

/// Where a line was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The L1.
    L1,
    /// The L2.
    L2,
    /// The local L3.
    L3,
    /// Memory, or a cache beyond the local L3.
    Memory,
}

impl Level {
    /// Number of levels.
    pub const COUNT: usize = 4;
}

/// The result of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Where the line was found.
    pub level: Level,
    /// Lines that it caused to be written back to memory.
    pub writebacks: u32,
    /// Whether the prefetch engine had put the line there.
    pub prefetched: bool,
}

/// The shapes of a core's caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// L1 instructions.
    pub l1i: Geometry,
    /// L1 data.
    pub l1d: Geometry,
    /// L2.
    pub l2: Geometry,
    /// Local L3.
    pub l3: Geometry,
}

/// The caches of one core.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    l1i: Cache,
    l1d: Cache,
    l2: Cache,
    l3: Cache,
    /// Lines that the engine restored and that were evicted untouched.
    useless: u64,
}

impl Hierarchy {
    /// Creates empty caches with one in `sampled` of their sets.
    ///
    /// # Errors
    /// As [`Cache::new`].
    pub fn new(shape: &Shape, sampled: u32) -> Result<Hierarchy, CacheError> {
        Ok(Hierarchy {
            l1i: Cache::new(&shape.l1i, sampled)?,
            l1d: Cache::new(&shape.l1d, sampled)?,
            l2: Cache::new(&shape.l2, sampled)?,
            l3: Cache::new(&shape.l3, sampled)?,
            useless: 0,
        })
    }

    /// Accesses `line`.
    #[inline]
    pub fn access(&mut self, line: Line, kind: Kind) -> Access {
        let hit = Access { level: Level::L1, writebacks: 0, prefetched: false };
        let write = match kind {
            Kind::Fetch if self.l1i.touch(line, false).is_some() => return hit,
            Kind::Read if self.l1d.touch(line, false).is_some() => return hit,
            Kind::Fetch | Kind::Read => false,
            Kind::Write => {
                self.l1d.touch(line, false);
                true
            }
        };
        let below = self.below_l1(line, write);
        match kind {
            Kind::Fetch => _ = self.l1i.insert(line, false, false),
            Kind::Read => _ = self.l1d.insert(line, false, false),
            Kind::Write => {}
        }
        below
    }

    fn below_l1(&mut self, line: Line, write: bool) -> Access {
        if let Some(hit) = self.l2.touch(line, write) {
            return Access { level: Level::L2, writebacks: 0, prefetched: hit.prefetched };
        }
        let (level, dirty, prefetched) = match self.l3.remove(line) {
            Some(found) => (Level::L3, found.dirty, found.useless),
            None => (Level::Memory, false, false),
        };
        let writebacks = self.fill_l2(line, write || dirty, false);
        Access { level, writebacks, prefetched }
    }

    /// Puts `line` into the L2 and the evicted line into the L3. Returns the number of lines written back to memory.
    fn fill_l2(&mut self, line: Line, dirty: bool, prefetched: bool) -> u32 {
        let Some(out) = self.l2.insert(line, dirty, prefetched) else { return 0 };
        self.useless += u64::from(out.useless);
        self.l1d.remove(out.line);
        self.l1i.remove(out.line);
        self.fill_l3(out.line, out.dirty, false)
    }

    fn fill_l3(&mut self, line: Line, dirty: bool, prefetched: bool) -> u32 {
        let Some(Evicted { dirty, useless, .. }) = self.l3.insert(line, dirty, prefetched) else {
            return 0;
        };
        self.useless += u64::from(useless);
        u32::from(dirty)
    }

    /// Restores `line` to the L2 for the engine. Returns where it came from and the number of lines written back to memory;
    /// `None` if the L2 already has the line.
    pub(crate) fn prefetch_l2(&mut self, line: Line) -> Option<(Level, u32)> {
        if self.l2.holds(line) {
            return None;
        }
        let (level, dirty) = match self.l3.remove(line) {
            Some(found) => (Level::L3, found.dirty),
            None => (Level::Memory, false),
        };
        Some((level, self.fill_l2(line, dirty, true)))
    }

    /// Restores `line` to the L3 for the engine. Returns the number of lines written back to memory; `None` if the L3 or the L2
    /// already has the line.
    pub(crate) fn prefetch_l3(&mut self, line: Line) -> Option<u32> {
        if self.l2.holds(line) || self.l3.holds(line) {
            return None;
        }
        Some(self.fill_l3(line, false, true))
    }

    /// The L2.
    pub fn l2(&self) -> &Cache {
        &self.l2
    }

    /// The local L3.
    pub fn l3(&self) -> &Cache {
        &self.l3
    }

    /// The L1 data cache.
    pub fn l1d(&self) -> &Cache {
        &self.l1d
    }

    /// The L1 instruction cache.
    pub fn l1i(&self) -> &Cache {
        &self.l1i
    }

    /// Lines that the engine brought and that went out untouched.
    pub fn useless_prefetches(&self) -> u64 {
        self.useless
    }
}
