//! The busy share of a policy's CPUs, which ondemand and conservative go by (`cpufreq_governor.c`).

use super::{Answer, Govern, Seen};
use crate::cpufreq::{Driver, FrequencyError, Limits, within};
use std::fmt::Debug;

/// One CPU's time since the start, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CpuTimes {
    /// Idle while no task waits for I/O (`get_cpu_idle_time_us`).
    pub(crate) idle_ns: u64,
    /// Idle while a task that last ran here waits for I/O (`get_cpu_iowait_time_us`).
    pub(crate) iowait_ns: u64,
    /// Running tasks of positive nice (`CPUTIME_NICE`).
    pub(crate) nice_ns: u64,
}

/// The shortest sampling period, in us: two ticks (`CPUFREQ_DBS_MIN_SAMPLING_INTERVAL`).
pub(crate) fn min_sampling_rate_us(tick_ns: u64) -> u64 {
    2 * tick_ns / 1000
}

/// The sampling period that a governor starts with, in us (`cpufreq_dbs_governor_init`, 4.14 on).
pub(crate) fn sampling_rate_us(driver: &Driver, tick_ns: u64) -> u64 {
    min_sampling_rate_us(tick_ns).max(driver.transition_delay_us())
}

/// Refuses a sampling period that `sampling_rate_store` refuses.
pub(super) fn check_sampling_rate(found: u64, tick_ns: u64) -> Result<(), FrequencyError> {
    within("sampling_rate_us", found, min_sampling_rate_us(tick_ns).max(1)..=u64::from(u32::MAX))
}

/// What a governor that samples wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The frequency from now on, `cur_khz` where nothing changes.
    pub(crate) khz: u64,
    /// Time until the next sample. The kernel takes it at the first scheduler event (enqueue, tick) after that
    /// (`dbs_update_util_handler`), so idle CPUs are not sampled. 0 is possible where the higher part of a biased
    /// frequency rounds to nothing.
    pub(crate) next_sample_in_ns: u64,
}

/// What a governor makes of a sample.
pub(crate) trait Sampler: Debug {
    /// A sample of the times of the policy's CPUs, always in the same order.
    fn sample(
        &mut self,
        now_ns: u64,
        times: &[CpuTimes],
        limits: &Limits,
        driver: &Driver,
    ) -> Decision;
}

/// A governor that samples when its time has come (`struct policy_dbs_info`).
#[derive(Debug)]
pub(super) struct Sampled<S> {
    sampler: S,
    next_sample_ns: u64,
    /// A worker is to take the sample and has not yet (`work_in_progress`).
    in_progress: bool,
    /// Room for a sample.
    times: Vec<CpuTimes>,
}

impl<S> Sampled<S> {
    /// Of `cpus` CPUs, first at `first_sample_ns`.
    pub(super) fn new(sampler: S, cpus: usize, first_sample_ns: u64) -> Sampled<S> {
        let times = vec![CpuTimes::default(); cpus];
        Sampled { sampler, next_sample_ns: first_sample_ns, in_progress: false, times }
    }
}

impl<S: Sampler> Govern for Sampled<S> {
    /// `dbs_update_util_handler`: the period counts from here, however long the worker waits.
    fn update(&mut self, seen: &Seen) -> Answer {
        if !seen.can_update || self.in_progress || seen.now_ns < self.next_sample_ns {
            return Answer::Nothing;
        }
        self.next_sample_ns = seen.now_ns;
        self.in_progress = true;
        Answer::Work
    }

    /// `dbs_work_handler`.
    fn work(&mut self, seen: &Seen) -> Option<u64> {
        for (cpu, times) in self.times.iter_mut().enumerate() {
            *times = (seen.times)(cpu);
        }
        let decision = self.sampler.sample(seen.now_ns, &self.times, &seen.limits, seen.driver);
        self.next_sample_ns += decision.next_sample_in_ns;
        self.in_progress = false;
        Some(decision.khz)
    }
}

/// Which of a CPU's time is busy.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accounting {
    pub(super) io_is_busy: bool,
    pub(super) ignore_nice_load: bool,
}

/// What a sample found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sample {
    /// The largest busy share of the policy's CPUs, in %.
    pub(super) load: u64,
    /// Whole periods that every CPU that was idle for more than two of them missed.
    pub(super) idle_periods: Option<u64>,
}

/// One CPU at the last sample (`struct cpu_dbs_info`).
#[derive(Debug, Clone, Copy)]
struct Cpu {
    update_us: u64,
    idle_us: u64,
    nice_ns: u64,
    /// Busy share of the last sample, 0 once it was used for a second one.
    load: u64,
}

/// The CPUs of a policy.
#[derive(Debug, Clone)]
pub(super) struct Loads {
    cpus: Box<[Cpu]>,
    accounting: Accounting,
}

impl Loads {
    /// `cpufreq_dbs_governor_start` at `now_ns`.
    pub(super) fn start(now_ns: u64, times: &[CpuTimes], accounting: Accounting) -> Loads {
        let cpu = |t: &CpuTimes| Cpu {
            update_us: now_ns / 1000,
            idle_us: idle_us(t, accounting),
            nice_ns: t.nice_ns,
            load: 0,
        };
        Loads { cpus: times.iter().map(cpu).collect(), accounting }
    }

    /// `dbs_update`; `period_us` is the sampling period with the governor's multiplier.
    pub(super) fn update(&mut self, now_ns: u64, times: &[CpuTimes], period_us: u64) -> Sample {
        let mut sample = Sample { load: 0, idle_periods: None };
        for (cpu, times) in self.cpus.iter_mut().zip(times) {
            let (load, idle) = cpu.update(now_ns, times, period_us, self.accounting);
            sample.load = sample.load.max(load);
            if idle > 2 * period_us {
                let periods = idle / period_us;
                sample.idle_periods =
                    Some(sample.idle_periods.map_or(periods, |least| least.min(periods)));
            }
        }
        sample
    }
}

impl Cpu {
    /// Busy share in % and idle time in us since the last sample.
    fn update(
        &mut self,
        now_ns: u64,
        times: &CpuTimes,
        period_us: u64,
        accounting: Accounting,
    ) -> (u64, u64) {
        let (now_us, total_us) = (now_ns / 1000, idle_us(times, accounting));
        let elapsed = now_us.saturating_sub(self.update_us);
        // Idle time that is counted in ticks can go back a little; that is no idle time.
        let mut idle = total_us.saturating_sub(self.idle_us);
        if accounting.ignore_nice_load {
            idle += times.nice_ns.saturating_sub(self.nice_ns) / 1000;
        }
        (self.update_us, self.idle_us, self.nice_ns) = (now_us, total_us, times.nice_ns);
        let load = if elapsed == 0 {
            self.load
        } else if idle > 2 * period_us && self.load != 0 {
            // A task that wakes up after a long sleep starts as it was before, once.
            std::mem::take(&mut self.load)
        } else {
            self.load = 100 * elapsed.saturating_sub(idle) / elapsed;
            self.load
        };
        (load, idle)
    }
}

/// `get_cpu_idle_time` in us.
fn idle_us(times: &CpuTimes, accounting: Accounting) -> u64 {
    let iowait_ns = if accounting.io_is_busy { 0 } else { times.iowait_ns };
    times.idle_ns / 1000 + iowait_ns / 1000
}
