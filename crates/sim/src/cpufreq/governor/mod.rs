//! Governors: who chooses the frequency of a policy. One module and one row of [`start`] each; names and tunables that a
//! user may set are in the `setting` crate's table.
//!
//! A governor starts with its policy and hears of every change of utilisation of the policy's CPUs
//! (`cpufreq_update_util`). It sees of them what [`Seen`] shows and answers with a frequency, or with nothing. The driver
//! has the last word on what is set. Governors that sample by busy time share [`dbs`]; schedutil's boost for I/O is
//! [`iowait`]'s.

mod conservative;
mod dbs;
mod fixed;
mod iowait;
mod ondemand;
mod schedutil;

#[cfg(test)]
pub(super) mod testing {
    pub(crate) use super::conservative::{Conservative, ConservativeTunables};
    pub(crate) use super::dbs::{Decision, Sampler, sampling_rate_us};
    pub(crate) use super::fixed::Fixed;
    pub(crate) use super::iowait::{IowaitBoost, Rules};
    pub(crate) use super::ondemand::{Ondemand, OndemandTunables};
    pub(crate) use super::schedutil::Schedutil;
}

pub(crate) use dbs::CpuTimes;

use super::{Driver, FrequencyError, Limits, Util};
use setting::{Governor, Tunables};
use std::fmt::Debug;

/// What a governor starts with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start<'a> {
    pub(crate) driver: &'a Driver,
    /// The policy at the start.
    pub(crate) limits: Limits,
    /// CPUs of the policy.
    pub(crate) cpus: usize,
    /// What somebody set; the rest is as the governor has it.
    pub(crate) tunables: &'a Tunables,
    pub(crate) tick_ns: u64,
    /// When a governor that samples does so first.
    pub(crate) first_sample_ns: u64,
}

/// An update of utilisation, and what can be seen of the policy then.
pub(crate) struct Seen<'a> {
    /// When, by the clock of the run queue.
    pub(crate) now_ns: u64,
    /// Which of the policy's CPUs, from 0.
    pub(crate) cpu: usize,
    /// Whether the policy's clock may be set from the CPU on which this happens (`cpufreq_this_cpu_can_update`).
    pub(crate) can_update: bool,
    /// Whether a task wakes up after waiting for I/O (`SCHED_CPUFREQ_IOWAIT`).
    pub(crate) iowait: bool,
    /// How often the CPU was idle (`tick_nohz_get_idle_calls_cpu`).
    pub(crate) idle_calls: u64,
    /// Whether utilisation is frequency-invariant (`arch_scale_freq_invariant`).
    pub(crate) invariant: bool,
    pub(crate) limits: Limits,
    pub(crate) driver: &'a Driver,
    /// Utilisation of one of the policy's CPUs, however old.
    pub(crate) util: &'a dyn Fn(usize) -> Util,
    /// Idle time of one of the policy's CPUs.
    pub(crate) times: &'a dyn Fn(usize) -> CpuTimes,
}

/// What a governor makes of an update of utilisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Nothing,
    /// The frequency in kHz to change to, at once.
    Khz(u64),
    /// A worker of the CPU on which this happens is to do the governor's [`work`](Govern::work).
    Work,
}

/// The governor of one policy.
pub(crate) trait Govern: Debug {
    /// What the policy asks for at the start, in kHz; the lowest frequency until the governor has seen something.
    fn start_khz(&self, _driver: &Driver, limits: &Limits) -> u64 {
        limits.min_khz
    }

    /// An update of utilisation.
    fn update(&mut self, seen: &Seen) -> Answer;

    /// What a worker does that an update asked for: the frequency in kHz to change to, if any.
    fn work(&mut self, _seen: &Seen) -> Option<u64> {
        None
    }
}

/// Whether `governor` lets workers of the CPUs do its work.
pub(crate) fn has_work(governor: Governor) -> bool {
    matches!(governor, Governor::Ondemand | Governor::Conservative)
}

/// Starts `governor`. The table of governors: a row each.
///
/// # Errors
/// A tunable that the kernel does not take.
pub(crate) fn start(governor: Governor, start: &Start) -> Result<Box<dyn Govern>, FrequencyError> {
    match governor {
        Governor::Performance => Ok(Box::new(fixed::Fixed::Highest)),
        Governor::Powersave => Ok(Box::new(fixed::Fixed::Lowest)),
        Governor::Ondemand => ondemand::govern(start),
        Governor::Conservative => conservative::govern(start),
        Governor::Schedutil => schedutil::govern(start),
    }
}
