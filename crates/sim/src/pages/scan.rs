//! Going through the memory of an address space and unmapping it (the loop of `task_numa_work`).

use super::region::Region;
use super::{Pages, TaskPages};
use crate::world::TaskId;

/// Memory that a scan unmaps (`sysctl_numa_balancing_scan_size`).
pub(crate) const SCAN_BYTES: f64 = 256.0 * 1024.0 * 1024.0;
/// How much it passes over at most for that, in scan sizes.
const PASSED_OVER: f64 = 8.0;

/// A scan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scan {
    /// Where it begins, in bytes from the start of the address space (`mm->numa_scan_offset`); then where it ended.
    pub(crate) offset_bytes: f64,
    /// How often it came to the end (`mm->numa_scan_seq`).
    pub(crate) seq: u32,
    /// The node whose pages it leaves mapped.
    pub(crate) skip: Option<u16>,
    /// Now, in ticks.
    pub(crate) jiffies: u64,
    /// Ticks for which memory that it sees for the first time is left alone, after the first time round.
    pub(crate) new_waits: Option<u64>,
    /// What it unmapped.
    pub(crate) unmapped_bytes: f64,
    /// Entries of page tables that this took.
    pub(crate) unmapped_entries: f64,
}

impl Pages {
    /// Bytes of the task's memory that have been touched (`get_mm_rss`).
    pub(crate) fn touched_bytes(&self, task: TaskId) -> f64 {
        let regions = self.of(task).map(|t| t.regions.iter().map(Region::touched_bytes).sum());
        regions.unwrap_or(0.0)
    }

    /// Scans the memory of tasks that are one address space, in the order of `members`.
    pub(crate) fn scan(&mut self, members: &[TaskId], scan: &mut Scan) {
        let (mut left, mut passed) = (SCAN_BYTES, 0.0);
        let size = |t: &TaskPages| t.regions.iter().map(|r| r.bytes).sum::<f64>();
        let all: f64 = members.iter().filter_map(|&t| self.of(t)).map(size).sum();
        if scan.offset_bytes >= all {
            scan.seq += 1;
            scan.offset_bytes = 0.0;
        }
        let mut end = 0.0;
        for &task in members {
            let Some(Some(found)) = self.tasks.get_mut(task.index()) else { continue };
            // What has a policy of its own is left alone (`vma_policy_mof`).
            let migrates = found.used.placement.is_default();
            for region in &mut found.regions {
                let start = end;
                end += region.bytes;
                if !migrates || scan.offset_bytes >= end || region.waits(scan) {
                    continue;
                }
                scan.offset_bytes = scan.offset_bytes.max(start);
                while scan.offset_bytes < end {
                    let bytes = left.min(end - scan.offset_bytes).max(1.0);
                    let unmapped = region.unmap(scan.offset_bytes - start, bytes, scan.skip);
                    scan.unmapped_bytes += unmapped;
                    scan.unmapped_entries += unmapped / region.page_bytes;
                    left -= if unmapped > 0.0 { bytes } else { 0.0 };
                    passed += bytes;
                    // To the end exactly, whatever a sum would round to.
                    let is_last = scan.offset_bytes + bytes >= end;
                    scan.offset_bytes = if is_last { end } else { scan.offset_bytes + bytes };
                    if left < 1.0 || passed >= PASSED_OVER * SCAN_BYTES {
                        return;
                    }
                }
            }
        }
        scan.seq += 1;
        scan.offset_bytes = 0.0;
    }
}
