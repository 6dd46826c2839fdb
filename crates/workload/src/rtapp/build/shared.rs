//! What threads share, by name.

use crate::program::{BarrierId, CondId, LockId, Queue, QueueId, QueueKind, TimerId, Workload};
use crate::rtapp::ast::{Action, RtApp};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that events name, made when it is first asked for.
pub(super) struct Shared<'a> {
    locks: BTreeMap<&'a str, LockId>,
    conds: BTreeMap<&'a str, CondId>,
    semaphores: BTreeMap<&'a str, QueueId>,
    timers: BTreeMap<&'a str, TimerId>,
    barriers: BTreeMap<&'a str, BarrierId>,
    /// Threads that come to each barrier, as rt-app counts them: once for each event.
    parties: BTreeMap<&'a str, u32>,
    /// Timers that some event has in absolute mode, which then holds for all.
    absolute: BTreeSet<(usize, &'a str)>,
}

/// Whether each thread has its own timer of that name.
pub(super) fn is_unique(timer: &str) -> bool {
    timer.starts_with("unique")
}

impl<'a> Shared<'a> {
    pub(super) fn new(app: &'a RtApp) -> Shared<'a> {
        let (mut parties, mut absolute) = (BTreeMap::new(), BTreeSet::new());
        for (nth, task) in app.tasks.iter().enumerate() {
            for event in task.phases.iter().flat_map(|phase| &phase.events) {
                match &event.action {
                    Action::Barrier { name } => {
                        *parties.entry(name.as_str()).or_insert(0) += task.instances;
                    }
                    Action::Timer(timer) if timer.absolute => {
                        absolute.insert((owner(nth, &timer.name), timer.name.as_str()));
                    }
                    _ => {}
                }
            }
        }
        Shared {
            locks: BTreeMap::new(),
            conds: BTreeMap::new(),
            semaphores: BTreeMap::new(),
            timers: BTreeMap::new(),
            barriers: BTreeMap::new(),
            parties,
            absolute,
        }
    }

    pub(super) fn lock(&mut self, w: &mut Workload, name: &'a str) -> LockId {
        *self.locks.entry(name).or_insert_with(|| w.lock())
    }

    pub(super) fn cond(&mut self, w: &mut Workload, name: &'a str) -> CondId {
        *self.conds.entry(name).or_insert_with(|| w.cond())
    }

    /// A semaphore: a queue whose messages are its count.
    pub(super) fn semaphore(&mut self, w: &mut Workload, name: &'a str) -> QueueId {
        let queue = Queue::unbounded(QueueKind::Futex);
        *self.semaphores.entry(name).or_insert_with(|| w.queue(queue))
    }

    pub(super) fn timer(&mut self, w: &mut Workload, name: &'a str) -> TimerId {
        *self.timers.entry(name).or_insert_with(|| w.timer())
    }

    /// All timers that threads share.
    pub(super) fn timers(&self) -> impl Iterator<Item = TimerId> {
        self.timers.values().copied()
    }

    /// A barrier; it needs at least the thread that asks.
    pub(super) fn barrier(&mut self, w: &mut Workload, name: &'a str) -> BarrierId {
        let parties = self.parties.get(name).map_or(1, |&parties| parties.max(1));
        *self.barriers.entry(name).or_insert_with(|| w.barrier(parties))
    }

    /// Whether the timer that task number `nth` calls `name` is absolute.
    pub(super) fn is_absolute(&self, nth: usize, name: &str) -> bool {
        self.absolute.contains(&(owner(nth, name), name))
    }
}

/// Whose timer a name is: the task's, or everyone's.
fn owner(nth: usize, timer: &str) -> usize {
    if is_unique(timer) { nth } else { usize::MAX }
}
