//! What the inspector is shown.

use super::Sourced;
use crate::engine::Sim;
use crate::inspect::{Sight, Subject};
use crate::source::{Ended, Source};
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{State, TaskId};

impl<S: Source, T: Trace> Sim<'_, Sourced<'_, S>, T> {
    /// A turn of `cpu` has ended.
    pub(super) fn inspect(&mut self, cpu: Cpu, ended: &Ended) {
        let Some(mut inspector) = self.core.inspector.take() else { return };
        let subject = |pid: i64| {
            let task = self.core.task(pid)?;
            let t = &self.w.tasks[task.index()];
            // A fork waits in the kernel while CPUs or cpusets change.
            let forks = self.core.halves[task.index()].forks.is_some();
            Some(Subject {
                name: &self.setup.workload.programs[t.program.index()].name,
                runnable: t.state == State::Runnable && !forks,
                sleeping: t.state == State::Sleeping,
                higher: !self.core.halves[task.index()].policy.is_fair(),
            })
        };
        let sums = |cpu: Cpu, queued: &mut _| self.core.source.sums(cpu.into(), queued);
        let pids = || self.core.halves.iter().map(|half| half.pid);
        let sight = Sight {
            now_ns: self.w.now_ns,
            topo: self.w.topo,
            switching: self.core.switching.is_some(),
            subject: &subject,
            sums: &sums,
        };
        let broken = inspector.turn_ended(&sight, cpu, ended, &mut pids());
        self.core.inspector = Some(inspector);
        if let Some(broken) = broken {
            self.core.failure.get_or_insert(broken.into());
        }
    }

    /// `task` sleeps until its timer wakes it.
    pub(super) fn expects_timer(&mut self, task: TaskId, at_ns: u64) {
        let pid = self.core.pid(task);
        if let Some(inspector) = &mut self.core.inspector {
            inspector.expects_timer(pid, at_ns);
        }
    }

    /// `task` asks for an affinity.
    pub(super) fn asks_for_affinity(&mut self, task: TaskId) {
        let (pid, switching) = (self.core.pid(task), self.core.switching.is_some());
        if let Some(inspector) = &mut self.core.inspector {
            inspector.asks_for_affinity(pid, switching);
        }
    }

    /// `task` yields.
    pub(super) fn yields(&mut self, task: TaskId) {
        let pid = self.core.pid(task);
        if let Some(inspector) = &mut self.core.inspector {
            inspector.yields(pid);
        }
    }

    /// The kernel moves `task` to a CPU outside of its affinity, which it may where no CPU of that is left.
    pub(super) fn inspect_broken_affinity(&mut self, task: TaskId, to: Cpu) {
        let Some(inspector) = &self.core.inspector else { return };
        // A cpuset counts before an affinity, and a task's mask in the kernel has both.
        if self.core.halves[task.index()].group != 0 {
            return;
        }
        let t = &self.w.tasks[task.index()];
        let name = &self.setup.workload.programs[t.program.index()].name;
        let mut left = &t.affinity & &self.w.topo.online_set;
        // A CPU on its way out or in may not take tasks any more, or not yet.
        if let Some(step) = self.step_at_hand() {
            left.remove(usize::from(step.cpu));
        }
        let who = (self.core.pid(task), name.as_str());
        let broken = inspector.affinity(self.w.now_ns, who, to, &t.affinity, &left);
        if let Some(broken) = broken {
            self.core.failure.get_or_insert(broken.into());
        }
    }
}
