//! Who has how many bytes on which node.
//!
//! A task has two regions: its working set, whose pages are touched evenly at random, and the buffer through which it
//! streams from end to end. A page lies on no node until it is touched; then its task's placement says where it goes
//! (`alloc_pages_mpol`): to the node of the CPU, to some nodes in turn, or to the nearest of some. Pages are numbers of
//! bytes for each node here; none is followed by itself.
//!
//! The engine begins a task's memory and touches it as work is accounted for; `engine::working_sets` asks what a miss
//! takes and `engine::bandwidth` where bytes come from. Nothing here costs time.

mod hints;
mod region;
mod scan;

use crate::hardware::Memory;
use crate::world::TaskId;
pub use hints::Hint;
pub(crate) use region::PAGE_BYTES;
use region::Region;
pub(crate) use scan::{SCAN_BYTES, Scan};
use workload::{MemoryUse, Placement};

/// Which of a task's regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The working set.
    Set,
    /// What is streamed through.
    Stream,
}

/// The memory of one task.
#[derive(Debug, Clone)]
struct TaskPages {
    used: MemoryUse,
    regions: [Region; 2],
}

/// The memory of all tasks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pages {
    /// By node: its number.
    node_ids: Vec<u32>,
    /// By node of the CPU and node of the memory, row by row, in ns.
    latency_ns: Vec<f64>,
    tasks: Vec<Option<TaskPages>>,
    /// Whether NUMA balancing unmaps pages.
    balanced: bool,
}

/// Where new pages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// To one node.
    One(usize),
    /// Evenly to all nodes that the placement names, so many.
    Each(usize),
}

impl Pages {
    /// `balanced` is whether NUMA balancing unmaps pages.
    pub(crate) fn new(memory: &Memory, balanced: bool) -> Pages {
        Pages {
            node_ids: memory.node_ids.clone(),
            latency_ns: memory.latency_ns.clone(),
            tasks: Vec::new(),
            balanced,
        }
    }

    fn nodes(&self) -> usize {
        self.node_ids.len()
    }

    /// From now on `task` uses memory like this: what it had before is given back unless it goes on with it.
    pub(crate) fn begin(&mut self, task: TaskId, used: &MemoryUse) {
        if self.tasks.len() <= task.index() {
            self.tasks.resize_with(task.index() + 1, || None);
        }
        let (nodes, balanced) = (self.nodes(), self.balanced);
        let slot = &mut self.tasks[task.index()];
        if slot.as_ref().is_some_and(|t| t.used.is_same_memory(used)) {
            return;
        }
        let stream_bytes = match used.stream_bytes_per_kcycle > 0.0 {
            true => used.stream_set_bytes.max(region::PAGE_BYTES),
            false => used.stream_set_bytes,
        };
        let region = |bytes| Region::new(bytes, nodes, balanced);
        let regions = [region(used.working_set_bytes), region(stream_bytes)];
        *slot = Some(TaskPages { used: *used, regions });
    }

    /// The address space of `task` is gone.
    pub(crate) fn end(&mut self, task: TaskId) {
        if let Some(slot) = self.tasks.get_mut(task.index()) {
            *slot = None;
        }
    }

    fn of(&self, task: TaskId) -> Option<&TaskPages> {
        self.tasks.get(task.index())?.as_ref()
    }

    /// `task` touched lines of its working set on a CPU of node `here`, and streamed so many bytes.
    pub(crate) fn touch(&mut self, task: TaskId, here: u16, touches: f64, stream_bytes: f64) {
        let Some(found) = self.of(task).filter(|t| t.regions.iter().any(Region::has_room)) else {
            return;
        };
        let placement = found.used.placement;
        let goal = self.goal(placement, here);
        let named = |node: usize| placement.nodes().contains(self.node_ids[node]);
        let Some(Some(found)) = self.tasks.get_mut(task.index()) else { return };
        let [set, stream] = &mut found.regions;
        let (of_set, of_stream) = (set.first_touched(touches), stream.first_swept(stream_bytes));
        for (region, bytes) in [(set, of_set), (stream, of_stream)] {
            match goal {
                Goal::One(goal) => region.place(|node| node == goal, 1, bytes),
                Goal::Each(count) => region.place(named, count, bytes),
            }
        }
    }

    /// What of that were touches of pages that are unmapped: one after the other into `hints`, and mapped again.
    pub(crate) fn take_hints(
        &mut self,
        task: TaskId,
        here: u16,
        (touches, stream_bytes): (f64, f64),
        hints: &mut Vec<Hint>,
    ) {
        let Some(Some(found)) = self.tasks.get_mut(task.index()).filter(|_| self.balanced) else {
            return;
        };
        let [set, stream] = &mut found.regions;
        let (evenly, onwards) = (set.evenly(touches), stream.onwards(stream_bytes));
        set.take_hints(Part::Set, here, evenly, hints);
        stream.take_hints(Part::Stream, here, onwards, hints);
    }

    /// Pages on which a CPU of node `to` has just faulted move there (`migrate_misplaced_folio`).
    pub(crate) fn migrate(&mut self, task: TaskId, part: Part, from: u16, to: u16, bytes: f64) {
        if let Some(Some(found)) = self.tasks.get_mut(task.index()) {
            found.regions[part as usize].migrate(from.into(), to, bytes);
        }
    }

    /// Where pages go that a CPU of node `here` touches first.
    fn goal(&self, placement: Placement, here: u16) -> Goal {
        let named = |&node: &usize| placement.nodes().contains(self.node_ids[node]);
        match placement {
            Placement::Default => Goal::One(here.into()),
            Placement::Interleave(_) => Goal::Each((0..self.nodes()).filter(named).count().max(1)),
            Placement::Bind(_) => {
                let far = |&node: &usize| self.latency_ns[usize::from(here) * self.nodes() + node];
                let all = (0..self.nodes()).filter(named);
                Goal::One(all.min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(here.into()))
            }
        }
    }

    /// Which part of what `task` touches in a region lies on `node`, for a CPU of node `here`: pages that are yet to be
    /// touched count where they would go.
    pub(crate) fn share(&self, task: TaskId, part: Part, here: u16, node: usize) -> f64 {
        let Some(found) = self.of(task) else { return f64::from(node == usize::from(here)) };
        let region = &found.regions[part as usize];
        match self.goal(found.used.placement, here) {
            Goal::One(goal) => region.share_to_one(goal, node),
            Goal::Each(count) => {
                let named = found.used.placement.nodes().contains(self.node_ids[node]);
                region.share_to_each(node, if named { 1.0 / count as f64 } else { 0.0 })
            }
        }
    }

    /// What a miss in the working set of `task` takes a CPU of node `here` in the mean, in ns.
    pub(crate) fn mean_latency_ns(&self, task: TaskId, here: u16) -> f64 {
        let nodes = self.nodes();
        let row = &self.latency_ns[usize::from(here) * nodes..][..nodes];
        let shares = row.iter().enumerate();
        shares.map(|(node, ns)| self.share(task, Part::Set, here, node) * ns).sum()
    }
}

#[cfg(test)]
mod tests;
