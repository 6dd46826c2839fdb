//! What the host itself does to the caches of a core.

use super::core::{At, Thread};
use super::programs::{FETCH_OVERLAP, LOAD_OVERLAP, Memory, STORE_OVERLAP};
use cache::{Kind, Walk};

/// A CPU of the host.
#[derive(Debug)]
pub(super) struct HostCpu {
    pub(super) cpu: u16,
    /// Where the host's code and data lie that this CPU goes through, round and round, and where it is.
    lines: Walk,
    at: u32,
    /// Lines that are still to be touched, less than one.
    owed: f64,
    lines_per_ns: f64,
    pub(super) thread: Thread,
    /// The vcore whose partition is on the CPU, and since when.
    pub(super) inside: Option<(u32, f64)>,
}

impl HostCpu {
    pub(super) fn new(cpu: usize, thread: Thread, memory: &mut Memory<'_>) -> HostCpu {
        let lines = memory.costs.lines(memory.costs.host_kib);
        let first = memory.region(lines);
        HostCpu {
            cpu: cpu as u16,
            lines: Walk::new(first, lines, memory.sampling),
            at: 0,
            owed: 0.0,
            lines_per_ns: memory.costs.host_lines_per_ns / f64::from(memory.sampling.factor()),
            thread,
            inside: None,
        }
    }

    /// The host works for `ns`: it touches lines of its own. Their latencies are in what its work costs.
    pub(super) fn works(&mut self, at: &mut At<'_>, ns: f64) {
        self.owed += ns * self.lines_per_ns;
        while self.owed >= 1.0 {
            let (kind, overlap) = match self.at % 4 {
                0 | 1 => (Kind::Fetch, FETCH_OVERLAP),
                2 => (Kind::Read, LOAD_OVERLAP),
                _ => (Kind::Write, STORE_OVERLAP),
            };
            at.access(self.lines.line(self.at), kind, overlap);
            self.at = (self.at + 1) % self.lines.lines().max(1);
            self.owed -= 1.0;
        }
    }
}
