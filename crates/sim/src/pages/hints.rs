//! Pages of a region that NUMA balancing has unmapped, so that who touches them next faults (`change_prot_numa`).
//!
//! A page remembers on which node the CPU was that faulted on it last (`folio_xchg_last_cpupid`); who it was is the task
//! itself, as nobody else has its memory.

use super::Part;

/// Pages that a task faulted on, all alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hint {
    /// Of which of its regions.
    pub part: Part,
    /// Where they lie.
    pub node: u16,
    /// The node of the CPU that faulted on them before.
    pub last: Option<u16>,
    /// How much they are, in bytes.
    pub bytes: f64,
    /// Bytes of a page: a fault for each.
    pub page_bytes: f64,
}

/// How a stretch of work came to pages.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reach {
    /// So many touches of each page in the mean, at random.
    Evenly(f64),
    /// So much of the region, from where it was.
    Onwards(f64),
}

#[derive(Debug, Clone)]
pub(super) struct Hints {
    nodes: usize,
    /// Bytes by node and by node of the last fault, where there was none in the last column.
    pages: Box<[f64]>,
    /// What of them is unmapped.
    unmapped: Box<[f64]>,
    /// What of them was when a scan last came by: going on through the region meets it evenly.
    to_meet: Box<[f64]>,
    /// What of them the scan has not come to in this round.
    ahead: Box<[f64]>,
    /// Part of the region that it has passed.
    passed: f64,
    unmapped_bytes: f64,
    /// Tick before which a scan passes the region over; 0 where none has seen it.
    pub(super) next_scan: u64,
}

impl Hints {
    pub(super) fn new(nodes: usize) -> Hints {
        let none = || vec![0.0; nodes * (nodes + 1)].into_boxed_slice();
        Hints {
            nodes,
            pages: none(),
            unmapped: none(),
            to_meet: none(),
            ahead: none(),
            passed: 0.0,
            unmapped_bytes: 0.0,
            next_scan: 0,
        }
    }

    fn cell(&self, node: usize, last: Option<u16>) -> usize {
        node * (self.nodes + 1) + last.map_or(self.nodes, usize::from)
    }

    /// `bytes` of new pages lie on `node`.
    pub(super) fn placed(&mut self, node: usize, bytes: f64) {
        let cell = self.cell(node, None);
        self.pages[cell] += bytes;
        self.ahead[cell] += bytes * (1.0 - self.passed);
    }

    /// A scan goes from part `from` of the region to part `to`: unmaps what is there, as far as it is mapped and not on the node to
    /// `skip`; bytes.
    pub(super) fn unmap(&mut self, from: f64, to: f64, skip: Option<u16>) -> f64 {
        if from <= 0.0 {
            self.ahead.copy_from_slice(&self.pages);
        }
        self.passed = to;
        let part = if to < 1.0 { (to - from) / (1.0 - from) } else { 1.0 };
        let mut bytes = 0.0;
        for node in 0..self.nodes {
            let skipped = skip.is_some_and(|s| usize::from(s) == node);
            for cell in node * (self.nodes + 1)..(node + 1) * (self.nodes + 1) {
                let mapped = (self.pages[cell] - self.unmapped[cell]).max(0.0);
                let come_to = self.ahead[cell] * part;
                self.ahead[cell] -= come_to;
                let more = if skipped { 0.0 } else { mapped.min(come_to) };
                self.unmapped[cell] += more;
                self.to_meet[cell] = self.unmapped[cell];
                bytes += more;
            }
        }
        self.unmapped_bytes += bytes;
        bytes
    }

    pub(super) fn has_unmapped(&self) -> bool {
        self.unmapped_bytes > 0.0
    }

    /// Work on a CPU of node `here` reached pages: those that were unmapped fault, and are mapped again.
    /// All of them do where they are less than `least_bytes`.
    pub(super) fn fault(
        &mut self,
        here: u16,
        reach: Reach,
        least_bytes: f64,
        mut tell: impl FnMut(u16, Option<u16>, f64),
    ) {
        let whole = self.unmapped_bytes < least_bytes;
        let mut left = 0.0;
        for node in 0..self.nodes {
            for column in 0..=self.nodes {
                let cell = node * (self.nodes + 1) + column;
                let unmapped = self.unmapped[cell];
                let bytes = match reach {
                    _ if whole => unmapped,
                    Reach::Evenly(touches) => unmapped * -libm::expm1(-touches),
                    Reach::Onwards(part) => unmapped.min(self.to_meet[cell] * part),
                };
                self.unmapped[cell] -= bytes;
                left += self.unmapped[cell];
                if bytes > 0.0 {
                    self.change(cell, self.cell(node, Some(here)), bytes);
                    let last = (column < self.nodes).then_some(column as u16);
                    tell(node as u16, last, bytes);
                }
            }
        }
        self.unmapped_bytes = left;
    }

    /// `bytes` on which a CPU of node `to` has just faulted have moved there.
    pub(super) fn moved(&mut self, from: usize, to: u16, bytes: f64) {
        let (old, new) = (self.cell(from, Some(to)), self.cell(to.into(), Some(to)));
        self.change(old, new, bytes);
    }

    /// `bytes` that are mapped change from one cell to another: those that the scan has passed, before others.
    fn change(&mut self, old: usize, new: usize, bytes: f64) {
        let passed = (self.pages[old] - self.ahead[old]).max(0.0);
        let ahead = (bytes - passed).clamp(0.0, self.ahead[old]);
        self.pages[old] = (self.pages[old] - bytes).max(0.0);
        self.pages[new] += bytes;
        self.ahead[old] -= ahead;
        self.ahead[new] += ahead;
    }

    #[cfg(test)]
    pub(super) fn on(&self, node: usize) -> f64 {
        self.pages[node * (self.nodes + 1)..(node + 1) * (self.nodes + 1)].iter().sum()
    }

    #[cfg(test)]
    pub(super) fn unmapped_bytes(&self) -> f64 {
        self.unmapped_bytes
    }
}
