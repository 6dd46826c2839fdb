//! The moments at which the engine asks a scheduling class, named as the kernel names them.

use crate::counters::Counters;
pub use crate::pages::{Hint, Part};
use crate::topology::Cpu;
use crate::world::{NohzKick, TaskId, World};
use workload::Policy;

/// Why a CPU is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Select {
    /// A new task (`SD_BALANCE_FORK`), forked on this CPU.
    Fork(Cpu),
    /// A task that execs (`SD_BALANCE_EXEC`).
    Exec,
    /// A woken task (`SD_BALANCE_WAKE`).
    Wake {
        /// CPU on which the wake-up happens.
        cpu: Cpu,
        /// Whether the waker said that it is about to sleep (`WF_SYNC`).
        sync: bool,
        /// The task that wakes, unless a timer does.
        waker: Option<TaskId>,
    },
}

/// Why a task joins a run queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enqueue {
    /// It is new.
    New,
    /// It woke up on this CPU.
    Wakeup {
        /// Whether it last ran on another.
        migrated: bool,
    },
    /// It moved from another queue.
    Moved,
}

/// Why a task leaves a run queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dequeue {
    /// It sleeps.
    Sleep,
    /// It exits.
    Exit,
    /// It moves to another queue.
    Move,
}

/// What a task's hinting faults came to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Faulted {
    /// Pages of any size that it faulted on.
    pub faults: f64,
    /// Those that moved.
    pub moved: f64,
    /// Bytes that moved.
    pub moved_bytes: f64,
    /// What that takes at the bandwidth of the slower node of each two, in ns.
    pub moved_ns: f64,
}

/// A scheduling class. The engine calls it at the kernel's own moments; the class keeps `nr_running` and its
/// own queues, and asks for more through [`World::requests`].
pub trait Class {
    /// `sched_fork`: a task exists; `parent` runs on the CPU it was forked on.
    fn fork(&mut self, w: &mut World, task: TaskId, parent: Option<TaskId>);
    /// `select_task_rq`: the CPU for `task`, an allowed one. The CPU that it last ran on may be offline, and none may be
    /// allowed; then [`World::select_fallback_rq`] knows one.
    fn select_cpu(&mut self, w: &mut World, task: TaskId, why: Select) -> Cpu;
    /// `migrate_task_rq`: a task that is not queued is about to be queued on another CPU.
    fn migrate(&mut self, w: &mut World, task: TaskId);
    /// `enqueue_task` on the task's CPU.
    fn enqueue(&mut self, w: &mut World, task: TaskId, why: Enqueue);
    /// `dequeue_task` from the task's CPU.
    fn dequeue(&mut self, w: &mut World, task: TaskId, why: Dequeue);
    /// `ttwu_runnable`: whether `task`, which is to be woken, is still on its queue; it is runnable again then.
    fn requeue(&mut self, w: &mut World, task: TaskId) -> bool;
    /// `sched_yield` by the running task of `cpu`.
    fn yield_task(&mut self, w: &mut World, cpu: Cpu, task: TaskId);
    /// `set_user_nice`.
    fn reweight(&mut self, w: &mut World, task: TaskId, nice: i8);
    /// `sched_setattr` with a slice of its own, in ns; 0 for the default.
    fn set_slice(&mut self, w: &mut World, task: TaskId, slice_ns: u64);
    /// `task_dead`.
    fn dead(&mut self, w: &mut World, task: TaskId);
    /// `check_preempt_curr`: whether `task`, just queued, preempts the running task of its CPU.
    fn preempts(&mut self, w: &mut World, task: TaskId) -> bool;
    /// `put_prev_task`: the running task of `cpu` stops running.
    fn put_prev(&mut self, w: &mut World, cpu: Cpu, task: TaskId);
    /// `pick_next_task`: the next to run, taken as running (`set_next_task`).
    fn pick_next(&mut self, w: &mut World, cpu: Cpu) -> Option<TaskId>;
    /// `task_tick` and the balancing that hangs on it, on a running or an idle CPU; whether the CPU must choose again.
    fn tick(&mut self, w: &mut World, cpu: Cpu) -> bool;
    /// `newidle_balance`: nothing is left to run; whether something was pulled.
    fn newidle(&mut self, w: &mut World, cpu: Cpu) -> bool;
    /// The CPU goes idle; `tick_stopped` as with nohz.
    fn idle(&mut self, w: &mut World, cpu: Cpu, tick_stopped: bool);
    /// `nohz_idle_balance`, by a kicked CPU.
    fn nohz_balance(&mut self, w: &mut World, cpu: Cpu, kick: NohzKick);
    /// `partition_sched_domains`: `w.topo` is new because `cpu` came online, `online`, or goes offline. Before 6.10 its
    /// tasks have left a CPU that goes; from then on they are about to, by `put_prev`, `pick_next` and
    /// `dequeue` in turn.
    fn rebuild_domains(&mut self, w: &mut World, cpu: Cpu, online: bool);
    /// The stopper of `cpu` wakes to take the running task off: for that moment it is one more that can run (`add_nr_running`).
    fn stopper_wakes(&mut self, w: &World, cpu: Cpu);
    /// The stopper's work for a pushed task: moves the running or queued task of `from` that may go; whether one did.
    fn push(&mut self, w: &mut World, from: Cpu, to: Cpu) -> bool;
    /// When the class next wants to be called by [`Class::timer`], in ns; `u64::MAX` without a timer.
    fn timer_ns(&self) -> u64 {
        crate::events::NEVER
    }
    /// The time of [`Class::timer_ns`] has come.
    fn timer(&mut self, _: &mut World) {}
    /// `sched_setscheduler` with a policy of the fair class. A class that knows no such policies treats all tasks alike.
    fn set_policy(&mut self, _: &mut World, _: TaskId, _: Policy) {}
    /// `task` faulted on pages that NUMA balancing had unmapped; what that came to.
    fn hinting_faults(&mut self, _: &mut World, _: TaskId, _: &[Hint]) -> Faulted {
        Faulted::default()
    }
    /// The task, which does not run, is queued on another CPU for the sake of its memory (`migrate_task_to`).
    fn numa_move(&mut self, _: &mut World, _: TaskId, _: Cpu) {}
    /// At the end of a run: sets what the class itself has counted.
    fn count(&self, _: &mut Counters) {}
    /// From now on a governor listens to changes of utilisation (`cpufreq_add_update_util_hook`). A class that does not
    /// track it has nothing to say.
    fn watch_util(&mut self) {}
    /// Moves the CPUs whose utilisation was brought up to date since the last call to `changed`
    /// (`cpufreq_update_util`), in order, some perhaps more than once.
    fn take_util_changes(&mut self, changed: &mut Vec<Cpu>) {
        changed.clear();
    }
    /// What the tasks of `cpu` use of it, 1024 for a CPU, as governors have it (`cpu_util_cfs`, from 6.5 on `cpu_util_cfs_boost`).
    fn util(&self, _cpu: Cpu) -> u64 {
        0
    }
    /// Whether the queue of `cpu` was busy without a break as long as load tracking remembers.
    fn saturated(&self, _cpu: Cpu) -> bool {
        false
    }
}
