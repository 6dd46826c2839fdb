//! Who runs next on a CPU, and for how long.
//!
//! A task's moments (it wakes, runs, sleeps, moves) are [`hierarchy`]'s, which goes from the task's own queue up to that of its
//! CPU. On each queue, [`entity`] puts entities on and takes them off, and counts what the running one has had
//! (`update_curr`); it asks [`cfs`] up to 6.5 and [`eevdf`] from 6.6 on where an entity stands, who comes next and who
//! preempts whom. [`cfs_rq`] is the queue, [`rq`] what balancing remembers of a CPU, [`ids`] numbers entities and queues.
//! [`group`] divides a group's weight among CPUs, [`bandwidth`] its quota. [`weight`] has the weights of nice levels.
//!
//! A queue's order changes only here. Averages change through `track`, called before a task's weight counts on the queue
//! or stops to; the number of runnable tasks through `balance`, whose sums follow it.

pub(super) mod adopt;
pub(super) mod bandwidth;
mod cfs;
pub(super) mod cfs_rq;
mod eevdf;
pub(super) mod entity;
pub(super) mod group;
mod hierarchy;
pub(super) mod ids;
pub(super) mod rq;
pub(super) mod weight;
