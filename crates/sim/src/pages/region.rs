//! One region of a task's memory: how many of its bytes lie on each node, and how many on none yet.

use super::Part;
use super::hints::{Hint, Hints, Reach};
use super::scan::Scan;

/// What the kernel hands out, where it has no larger pages for it.
pub(crate) const PAGE_BYTES: f64 = 4096.0;
/// A transparent huge page of 4 KiB pages (`HPAGE_PMD_SIZE`).
const HUGE_BYTES: f64 = 512.0 * PAGE_BYTES;

#[derive(Debug, Clone)]
pub(super) struct Region {
    pub(super) bytes: f64,
    /// Size of its pages: huge where one fits (`transparent_hugepage=always`, as Debian builds its kernels).
    pub(super) page_bytes: f64,
    untouched_bytes: f64,
    /// By node.
    on: Box<[f64]>,
    /// Where NUMA balancing runs: what it unmapped.
    hints: Option<Hints>,
}

impl Region {
    pub(super) fn new(bytes: f64, nodes: usize, balanced: bool) -> Region {
        let page_bytes = if bytes >= HUGE_BYTES { HUGE_BYTES } else { PAGE_BYTES };
        Region {
            bytes,
            page_bytes,
            untouched_bytes: bytes,
            on: vec![0.0; nodes].into(),
            hints: balanced.then(|| Hints::new(nodes)),
        }
    }

    /// Whether pages are yet to be touched.
    pub(super) fn has_room(&self) -> bool {
        self.untouched_bytes > 0.0
    }

    /// Bytes of pages that so many touches of lines, evenly spread, touch for the first time.
    pub(super) fn first_touched(&self, touches: f64) -> f64 {
        if touches <= 0.0 || !self.has_room() {
            return 0.0;
        }
        let of_page = touches * self.page_bytes / self.bytes;
        self.whole(self.untouched_bytes * -libm::expm1(-of_page))
    }

    /// Bytes of pages that going on through the region for `bytes` touches for the first time.
    pub(super) fn first_swept(&self, bytes: f64) -> f64 {
        self.whole(bytes.min(self.untouched_bytes))
    }

    /// All that is left, where that would be less than a page.
    fn whole(&self, bytes: f64) -> f64 {
        if bytes > 0.0 && self.untouched_bytes - bytes < self.page_bytes.min(PAGE_BYTES) {
            return self.untouched_bytes;
        }
        bytes
    }

    /// `bytes` that were not touched lie evenly on the `count` nodes that are `named` from now on.
    pub(super) fn place(&mut self, named: impl Fn(usize) -> bool, count: usize, bytes: f64) {
        if bytes <= 0.0 {
            return;
        }
        self.untouched_bytes -= bytes;
        let each = bytes / count as f64;
        (0..self.on.len()).filter(|&node| named(node)).for_each(|node| self.add(node, each));
        if self.untouched_bytes <= 0.0 {
            self.settle();
        }
    }

    fn add(&mut self, node: usize, bytes: f64) {
        self.on[node] += bytes;
        if let Some(hints) = &mut self.hints {
            hints.placed(node, bytes);
        }
    }

    /// Bytes of pages that have been touched.
    pub(super) fn touched_bytes(&self) -> f64 {
        self.bytes - self.untouched_bytes
    }

    /// So many touches as what they reach.
    pub(super) fn evenly(&self, touches: f64) -> Reach {
        Reach::Evenly(if self.bytes > 0.0 { touches * self.page_bytes / self.bytes } else { 0.0 })
    }

    /// So many bytes of going through as what they reach.
    pub(super) fn onwards(&self, bytes: f64) -> Reach {
        Reach::Onwards(if self.bytes > 0.0 { bytes / self.bytes } else { 0.0 })
    }

    /// Whether a scan leaves it alone because it is new; notes when a scan first sees it (`vma->numab_state`).
    pub(super) fn waits(&mut self, scan: &Scan) -> bool {
        let (Some(hints), Some(wait)) = (&mut self.hints, scan.new_waits) else { return false };
        if hints.next_scan == 0 {
            hints.next_scan = scan.jiffies + wait;
        }
        scan.seq > 0 && scan.jiffies < hints.next_scan
    }

    /// Unmaps what is there of so many bytes from `at` on, but what lies on the node to `skip`; bytes.
    pub(super) fn unmap(&mut self, at: f64, bytes: f64, skip: Option<u16>) -> f64 {
        let (from, to) = (at / self.bytes, (at + bytes) / self.bytes);
        self.hints.as_mut().map_or(0.0, |hints| hints.unmap(from, to, skip))
    }

    /// Faults on what is unmapped and was reached from a CPU of node `here`.
    pub(super) fn take_hints(&mut self, part: Part, here: u16, reach: Reach, out: &mut Vec<Hint>) {
        let page_bytes = self.page_bytes;
        let reached = match reach {
            Reach::Evenly(touches) => touches > 0.0,
            Reach::Onwards(part) => part > 0.0,
        };
        let Some(hints) = self.hints.as_mut().filter(|h| reached && h.has_unmapped()) else {
            return;
        };
        hints.fault(here, reach, PAGE_BYTES, |node, last, bytes| {
            out.push(Hint { part, node, last, bytes, page_bytes });
        });
    }

    /// Pages on which a CPU of node `to` has just faulted move there.
    pub(super) fn migrate(&mut self, from: usize, to: u16, bytes: f64) {
        self.on[from] -= bytes;
        self.on[usize::from(to)] += bytes;
        if let Some(hints) = &mut self.hints {
            hints.moved(from, to, bytes);
        }
    }

    /// All has been touched: what rounding left over goes to the node that has most, so that no byte is lost.
    fn settle(&mut self) {
        self.untouched_bytes = 0.0;
        let most = (0..self.on.len()).max_by(|&a, &b| self.on[a].total_cmp(&self.on[b]));
        if let Some(most) = most {
            let others: f64 = (0..self.on.len()).filter(|&n| n != most).map(|n| self.on[n]).sum();
            self.add(most, self.bytes - others - self.on[most]);
            self.on[most] = self.bytes - others;
        }
    }

    /// Part of it on `node`, where new pages go to `goal`.
    pub(super) fn share_to_one(&self, goal: usize, node: usize) -> f64 {
        if node != goal {
            return self.part(node);
        }
        // What is nowhere else: all of it, to the last bit, where nothing is.
        let others = (0..self.on.len()).filter(|&n| n != goal).map(|n| self.part(n));
        1.0 - others.sum::<f64>()
    }

    /// Part of it on `node`, where this part of new pages goes there.
    pub(super) fn share_to_each(&self, node: usize, of_new: f64) -> f64 {
        if self.bytes <= 0.0 {
            return of_new;
        }
        self.part(node) + self.untouched_bytes / self.bytes * of_new
    }

    fn part(&self, node: usize) -> f64 {
        if self.bytes > 0.0 { self.on[node] / self.bytes } else { 0.0 }
    }

    /// Bytes of pages that are yet to be touched.
    #[cfg(test)]
    pub(super) fn untouched_bytes(&self) -> f64 {
        self.untouched_bytes
    }

    #[cfg(test)]
    pub(super) fn hints(&self) -> Option<&Hints> {
        self.hints.as_ref()
    }

    /// Bytes on `node`.
    #[cfg(test)]
    pub(super) fn on(&self, node: usize) -> f64 {
        self.on[node]
    }
}
