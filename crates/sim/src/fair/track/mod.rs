//! How much of a CPU tasks and queues use: PELT averages and the estimate that outlives a sleep.
//!
//! [`load`] brings averages up to date (`update_load_avg`) before anything reads or changes them, and attaches them to a
//! queue or detaches them as tasks come and go. The sums themselves are `crate::pelt`'s. [`util_est`] remembers what a
//! task used in its last activations. [`propagate`] tells queues above of tasks that join a group's queue or leave it.
//!
//! Every change of a queue's average passes through here, because two others live on it: balancing's sums
//! (`GroupSums::touch`) and governors (`Class::take_util_changes`). Nothing here places, moves or orders tasks.

mod load;
mod propagate;
pub(super) mod util_est;
