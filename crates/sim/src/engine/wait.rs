//! Lists of sleeping tasks, first come, first woken. A task waits for one thing at a time, so the link is in the task.
//!
//! A list changes its two ends and `next_waiter`, nothing else of a task. Whoever pushes a task also puts it to sleep,
//! and whoever pops one wakes it: `queues` and `sync`.

use crate::world::{Task, TaskId};

/// One list.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WaitList {
    first: Option<TaskId>,
    last: Option<TaskId>,
}

impl WaitList {
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn push(&mut self, tasks: &mut [Task], task: TaskId) {
        tasks[task.index()].next_waiter = None;
        match self.last.replace(task) {
            Some(last) => tasks[last.index()].next_waiter = Some(task),
            None => self.first = Some(task),
        }
    }

    pub(super) fn pop(&mut self, tasks: &mut [Task]) -> Option<TaskId> {
        let first = self.first?;
        self.first = tasks[first.index()].next_waiter.take();
        if self.first.is_none() {
            self.last = None;
        }
        Some(first)
    }
}
