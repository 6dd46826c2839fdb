//! On which CPU a task runs that wakes up, is new, or execs (`select_task_rq_fair`).
//!
//! A waking task goes the fast way. [`wakeup`] chooses a target: the waker's CPU or the one where the task last ran, by
//! what wake-affine makes of the two. [`idle_sibling`] then looks for an idle CPU that shares the target's cache, near
//! first, and falls back to the target itself. A task that is new or execs goes the slow way: [`idlest`] walks down the
//! domains from the highest that balances so, at each level into the idlest group; up to 5.4 groups are compared by
//! load, from 5.5 on by their types ([`idlest_class`]).
//!
//! Placement reads queues, averages and what balancing sums up, and writes what wake-ups remember: whom a task wakes,
//! its recent CPU, whether an LLC may have an idle core, what a search costs. It charges the CPU on which the wake-up
//! happens for every CPU that a search looks at; fork and exec charge the CPU of the task. It moves no task: the engine puts the task on the CPU that it gets back.

pub(super) mod idle_sibling;
mod idlest;
mod idlest_class;
pub(super) mod wakeup;
