//! Control groups: which one a task begins in. What they do is the kernel's.

use super::Sourced;
use crate::SimError;
use crate::engine::Sim;
use crate::source::Source;
use crate::trace::Trace;
use crate::world::TaskId;

impl<S: Source, T: Trace> Sim<'_, Sourced<'_, S>, T> {
    /// A task that has just been made, and sleeps, goes to its group.
    pub(super) fn join_group(&mut self, task: TaskId, group: u32) {
        if group == 0 {
            return;
        }
        if let Err(reason) = self.core.source.join(self.core.pid(task), group) {
            self.core.failure = Some(SimError::Source { reason });
        }
    }

    /// The group of a child that `parent` is about to fork, and what the call says: 0 where it is the parent's.
    pub(super) fn group_of_child(&self, child: TaskId, parent: TaskId) -> (u32, u32) {
        let program = self.w.tasks[child.index()].program.index();
        let own = self.setup.groups.get(program).copied().unwrap_or(0);
        let inherited = self.core.halves[parent.index()].group;
        match own {
            0 => (inherited, 0),
            own if own == inherited => (own, 0),
            own => (own, own),
        }
    }
}
