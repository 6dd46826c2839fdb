//! Working through code and data: the same lines in the same order each time.

use super::{FETCH_OVERLAP, LOAD_OVERLAP, Memory, STORE_OVERLAP};
use crate::hypervisor::core::At;
use cache::{Chase, Kind, Walk};
use workload::kvm::Path;

/// Lines that a path touches beside its own code and data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extra {
    pub(crate) walk: Walk,
    pub(crate) kind: Kind,
}

/// A path that is being worked through.
#[derive(Debug, Clone)]
pub(crate) struct PathRun {
    code: Chase,
    data: Chase,
    cycles: f64,
    /// Touches of this time through, in order: `at` of `touches`; those of code, of data and of the extras.
    at: u32,
    touches: u32,
    extras: [Option<Extra>; 2],
}

impl PathRun {
    /// A path whose code starts at line `code`, with data of its own.
    pub(crate) fn new(path: &Path, code: u64, memory: &mut Memory<'_>) -> PathRun {
        let data_lines = memory.costs.lines(path.data_kib);
        let data = memory.region(data_lines);
        let seed = memory.draws.below(1 << 32);
        let code_lines = memory.costs.lines(path.code_kib);
        PathRun {
            code: Chase::new(code, code_lines, memory.sampling, seed),
            data: Chase::new(data, data_lines, memory.sampling, seed),
            cycles: path.cycles,
            at: 0,
            touches: 0,
            extras: [None; 2],
        }
    }

    /// Starts from the beginning, touching `extras` as well.
    pub(crate) fn begin(&mut self, extras: [Option<Extra>; 2]) {
        self.extras = extras;
        let more: u32 = extras.iter().flatten().map(|e| e.walk.lines()).sum();
        self.touches = self.code.lines() + self.data.lines() + more;
        self.at = 0;
    }

    /// Goes on until `until_ns` or the end; whether it got to the end.
    pub(crate) fn run(&mut self, at: &mut At<'_>, until_ns: f64) -> bool {
        let each = self.cycles / f64::from(self.touches.max(1));
        if self.touches == 0 {
            at.compute(self.cycles);
        }
        while self.at < self.touches {
            if at.thread.now_ns >= until_ns {
                return false;
            }
            at.compute(each);
            self.touch(at);
            self.at += 1;
        }
        true
    }

    /// One touch. Code and data alternate in proportion; extras come last. Whether it cost nothing.
    fn touch(&mut self, at: &mut At<'_>) -> bool {
        let (code, data) = (self.code.lines(), self.data.lines());
        let own = code + data;
        if self.at < own {
            let share = |n: u32| u64::from(n) * u64::from(data) / u64::from(own);
            if share(self.at + 1) == share(self.at) {
                return at.access(self.code.next_line(), Kind::Fetch, FETCH_OVERLAP);
            }
            let (kind, overlap) = match self.at % 4 {
                0 => (Kind::Write, STORE_OVERLAP),
                _ => (Kind::Read, LOAD_OVERLAP),
            };
            return at.access(self.data.next_line(), kind, overlap);
        }
        let mut left = self.at - own;
        for extra in self.extras.iter_mut().flatten() {
            if left < extra.walk.lines() {
                let overlap = if extra.kind == Kind::Write { STORE_OVERLAP } else { LOAD_OVERLAP };
                return at.access(extra.walk.line(left), extra.kind, overlap);
            }
            left -= extra.walk.lines();
        }
        true
    }

    /// The whole path at once, `cycles` of work apart; whether it cost nothing.
    pub(crate) fn touch_all(&mut self, at: &mut At<'_>) -> bool {
        let mut free = true;
        self.begin([None; 2]);
        while self.at < self.touches {
            free &= self.touch(at);
            self.at += 1;
        }
        free
    }
}
