//! Moving tasks between CPUs: at ticks, before a CPU goes idle, and for idle CPUs without a tick.
//!
//! [`load_balance`] says when a domain is due and makes one attempt: find the busiest group, its busiest queue
//! ([`source`]), and detach tasks up to the imbalance ([`detach`]); after failures the stopper pushes a running task.
//! [`newidle`] does the same for a CPU about to go idle, while its idle time pays for it; [`nohz`] for idle CPUs whose
//! tick is stopped. [`env`] is one attempt's state (`struct lb_env`).
//!
//! Which group is the busiest is decided by load up to 5.4 ([`busiest`]). From 5.5 on each group has a type
//! ([`classes`]), [`groups`] picks the busiest, and [`imbalance`] says what should leave it. What a group's CPUs come to
//! is summed up once and kept until one of them changes ([`sums`], [`counts`]): whoever changes a queue's load, or its
//! number of tasks, has to say so (`touch`, `add_nr_running`). [`asym`] and [`numa`] hold the rules of CPUs that are
//! preferred and of NUMA domains.
//!
//! Tasks move through `dequeue` and `enqueue` of the class only, and a CPU that got one is told by a request; the engine
//! answers requests after the event, so nothing here runs a task.

mod asym;
pub(super) mod busiest;
pub(super) mod classes;
mod counts;
mod detach;
pub(super) mod env;
pub(super) mod groups;
mod imbalance;
mod load_balance;
pub(super) mod newidle;
pub(super) mod nohz;
pub(super) mod numa;
mod source;
pub(super) mod sums;
