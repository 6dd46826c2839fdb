//! Who runs next on a CPU, and for how long.
//!
//! [`entity`] puts tasks on queues and takes them off, and counts what the running one has had (`update_curr`); it asks
//! [`cfs`] up to 6.5 and [`eevdf`] from 6.6 on where a task stands, who comes next and who preempts whom. [`rq`] is the
//! queue: tasks in order, and next to them what balancing remembers of the CPU. [`weight`] has the weights of nice
//! levels.
//!
//! A queue's order changes only here. Averages change through `track`, called before a task's weight counts on the queue
//! or stops to; the number of runnable tasks through `balance`, whose sums follow it.

pub(super) mod adopt;
mod cfs;
mod eevdf;
pub(super) mod entity;
pub(super) mod rq;
pub(super) mod weight;
