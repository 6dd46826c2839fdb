//! What happens when: the event queue, whose slot is whose, and timers by the CPU that they will interrupt.
//!
//! [`Slots`] is laid out once: CPUs, users, packages, hotplug, then tasks, which come while a run lasts. It turns an
//! owner into a slot, and a slot that is due back into its owner. A slot holds at most one event. `sleepers` repeats
//! the timers of sleeping tasks by CPU, so that a CPU that goes idle knows when it will be interrupted; devices are not
//! among them, as nobody knows of their interrupts beforehand.
//!
//! Nothing is set or handled here: owners set their events (`arm`, `set_alarm`, `arm_hotplug`, ...), `tasks` and
//! `hotplug` keep `sleepers`, and `Sim::event` hands each event to its owner. `crate::events` orders them, also those
//! at the same time.

use crate::events::Events;
use crate::topology::Cpu;
use crate::world::TaskId;

/// Whose event a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// The next thing that a CPU does.
    Cpu(Cpu),
    /// A user's request.
    User(u32),
    /// The end of a slot of a package's firmware.
    Package(usize),
    /// The next hotplug step.
    Hotplug,
    /// A timer of the scheduler's core itself.
    Core,
    /// A task's timer, or the device that it waits for.
    Task(TaskId),
}

/// The layout of the event queue: a slot for each CPU, user and package, one for hotplug where there are steps, one for a
/// timer of the scheduler's core where it has one, and last one for each task, as tasks are added while a run lasts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slots {
    first_user: u32,
    first_package: u32,
    hotplug: u32,
    core: u32,
    first_task: u32,
}

impl Slots {
    pub(super) fn new(
        cpus: usize,
        users: usize,
        packages: usize,
        hotplug: bool,
        core: bool,
    ) -> Slots {
        let first_user = cpus as u32;
        let first_package = first_user + users as u32;
        let hotplug_slot = first_package + packages as u32;
        let core_slot = hotplug_slot + u32::from(hotplug);
        let first_task = core_slot + u32::from(core);
        Slots { first_user, first_package, hotplug: hotplug_slot, core: core_slot, first_task }
    }

    /// Slots before those of tasks.
    pub(super) fn fixed(self) -> usize {
        self.first_task as usize
    }

    pub(super) fn cpu(self, cpu: Cpu) -> u32 {
        u32::from(cpu)
    }

    pub(super) fn user(self, user: u32) -> u32 {
        self.first_user + user
    }

    pub(super) fn package(self, package: usize) -> u32 {
        self.first_package + package as u32
    }

    /// The slot of hotplug steps, where there are some.
    pub(super) fn hotplug(self) -> u32 {
        self.hotplug
    }

    /// The slot of the scheduler's core, where it has a timer.
    pub(super) fn core(self) -> u32 {
        self.core
    }

    pub(super) fn task(self, task: TaskId) -> u32 {
        self.first_task + task.0
    }

    /// Whose slot this is; CPUs and tasks, which most events are of, are told first.
    #[inline]
    pub(super) fn of(self, slot: u32) -> Slot {
        if slot < self.first_user {
            Slot::Cpu(slot as Cpu)
        } else if slot >= self.first_task {
            Slot::Task(TaskId(slot - self.first_task))
        } else if slot < self.first_package {
            Slot::User(slot - self.first_user)
        } else if slot < self.hotplug {
            Slot::Package((slot - self.first_package) as usize)
        } else if slot < self.core {
            Slot::Hotplug
        } else {
            Slot::Core
        }
    }
}

/// What is due, and when.
#[derive(Debug)]
pub(super) struct Timeline {
    pub(super) events: Events,
    pub(super) slots: Slots,
    /// The next hotplug step.
    pub(super) next_step: usize,
    /// By CPU: sleeping tasks whose timers are on it.
    pub(super) sleepers: Vec<Vec<(u64, TaskId)>>,
}

impl Timeline {
    pub(super) fn new(slots: Slots, nr_cpus: usize, seed: u64) -> Timeline {
        Timeline {
            events: Events::new(slots.fixed(), seed),
            slots,
            next_step: 0,
            sleepers: vec![Vec::with_capacity(8); nr_cpus],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_is_told_back_as_what_it_was_made_for() {
        for (hotplug, core) in [(false, false), (true, false), (false, true), (true, true)] {
            let slots = Slots::new(4, 3, 2, hotplug, core);
            let mut all: Vec<(u32, Slot)> = Vec::new();
            all.extend((0..4).map(|c| (slots.cpu(c), Slot::Cpu(c))));
            all.extend((0..3).map(|u| (slots.user(u), Slot::User(u))));
            all.extend((0..2).map(|p| (slots.package(p), Slot::Package(p))));
            all.extend(hotplug.then_some((slots.hotplug(), Slot::Hotplug)));
            all.extend(core.then_some((slots.core(), Slot::Core)));
            assert_eq!(slots.fixed(), all.len());
            all.extend((0..3).map(|t| (slots.task(TaskId(t)), Slot::Task(TaskId(t)))));
            for (at, &(slot, whose)) in all.iter().enumerate() {
                assert_eq!((slot as usize, slots.of(slot)), (at, whose));
            }
        }
    }
}
