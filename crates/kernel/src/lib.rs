//! Kernel versions, mechanisms, and the sched domains a kernel builds from a machine.
