//! The ondemand governor (`cpufreq_ondemand.c`): above a threshold the maximum at once, below it a frequency
//! proportional to load.
//!
//! Of the two handlers of `powersave_bias` it has the generic one; AMD's frequency sensitivity
//! (`amd_freq_sensitivity.c`), a module that reads counters of Family 16h, is left out.

use super::dbs::{
    Accounting, CpuTimes, Decision, Loads, Sampled, Sampler, check_sampling_rate, sampling_rate_us,
};
use super::{Govern, Start};
use crate::cpufreq::{Driver, FrequencyError, Limits, Relation, Table, within};
use setting::Tunable;

/// `up_threshold` where idle time is counted in us (`MICRO_FREQUENCY_UP_THRESHOLD`: ticks stop when idle).
pub(crate) const UP_THRESHOLD_FINE: u64 = 95;

/// What `/sys/devices/system/cpu/cpufreq/ondemand` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OndemandTunables {
    /// Busy share in % above which the frequency is the maximum, 1 to 100.
    pub(crate) up_threshold: u64,
    /// Sampling period in us, at least two ticks.
    pub(crate) sampling_rate_us: u64,
    /// Periods between samples while at the maximum, 1 to 100000.
    pub(crate) sampling_down_factor: u64,
    /// Whether tasks of positive nice count as idle.
    pub(crate) ignore_nice_load: bool,
    /// Whether idle time with I/O outstanding counts as busy; false on AMD (`od_should_io_be_busy`).
    pub(crate) io_is_busy: bool,
    /// Part of the frequency to save, in 1/1000, 0 to 1000.
    pub(crate) powersave_bias: u64,
}

impl OndemandTunables {
    /// What the governor starts with on AMD where ticks stop when idle (`od_init`).
    pub(crate) fn amd(driver: &Driver, tick_ns: u64) -> OndemandTunables {
        OndemandTunables {
            up_threshold: UP_THRESHOLD_FINE,
            sampling_rate_us: sampling_rate_us(driver, tick_ns),
            sampling_down_factor: 1,
            ignore_nice_load: false,
            io_is_busy: false,
            powersave_bias: 0,
        }
    }

    fn check(&self, tick_ns: u64) -> Result<(), FrequencyError> {
        within("up_threshold", self.up_threshold, 1..=100)?;
        check_sampling_rate(self.sampling_rate_us, tick_ns)?;
        within("sampling_down_factor", self.sampling_down_factor, 1..=100_000)?;
        within("powersave_bias", self.powersave_bias, 0..=1000)
    }
}

/// The governor with what is set of its tunables.
pub(super) fn govern(start: &Start) -> Result<Box<dyn Govern>, FrequencyError> {
    let mut tunables = OndemandTunables::amd(start.driver, start.tick_ns);
    let set = |tunable, value: &mut u64| *value = start.tunables.get(tunable).unwrap_or(*value);
    set(Tunable::SamplingRateUs, &mut tunables.sampling_rate_us);
    set(Tunable::UpThreshold, &mut tunables.up_threshold);
    set(Tunable::PowersaveBias, &mut tunables.powersave_bias);
    let times = vec![CpuTimes::default(); start.cpus];
    let ondemand = Ondemand::start(tunables, start.tick_ns, 0, &times)?;
    Ok(Box::new(Sampled::new(ondemand, start.cpus, start.first_sample_ns)))
}

/// The lower of two frequencies that a biased one is the average of.
#[derive(Debug, Clone, Copy)]
struct LowPart {
    khz: u64,
    high_us: u64,
    low_us: u64,
}

/// The governor of one policy.
#[derive(Debug, Clone)]
pub(crate) struct Ondemand {
    tunables: OndemandTunables,
    loads: Loads,
    rate_mult: u64,
    /// What is left of the period after its higher part.
    low_next: Option<LowPart>,
}

impl Ondemand {
    /// Starts at `now_ns` with the times of the policy's CPUs (`cpufreq_dbs_governor_start`).
    ///
    /// # Errors
    /// A tunable that the kernel does not take.
    pub(crate) fn start(
        tunables: OndemandTunables,
        tick_ns: u64,
        now_ns: u64,
        times: &[CpuTimes],
    ) -> Result<Ondemand, FrequencyError> {
        tunables.check(tick_ns)?;
        let accounting = Accounting {
            io_is_busy: tunables.io_is_busy,
            ignore_nice_load: tunables.ignore_nice_load,
        };
        let loads = Loads::start(now_ns, times, accounting);
        Ok(Ondemand { tunables, loads, rate_mult: 1, low_next: None })
    }

    /// `od_update`.
    fn update(
        &mut self,
        now_ns: u64,
        times: &[CpuTimes],
        limits: &Limits,
        driver: &Driver,
    ) -> (u64, Option<LowPart>) {
        let period_us = self.tunables.sampling_rate_us * self.rate_mult;
        let load = self.loads.update(now_ns, times, period_us).load;
        if load > self.tunables.up_threshold {
            if limits.cur_khz < limits.max_khz {
                self.rate_mult = self.tunables.sampling_down_factor;
            }
            self.increase(limits, driver)
        } else {
            self.rate_mult = 1;
            let range = driver.max_khz() - driver.min_khz();
            let next = driver.min_khz() + load * range / 100;
            let (next, low) = self.biased(next, limits, driver, Relation::Low);
            (driver.resolve(next, limits, Relation::Closest), low)
        }
    }

    /// `dbs_freq_increase`.
    fn increase(&self, limits: &Limits, driver: &Driver) -> (u64, Option<LowPart>) {
        if self.tunables.powersave_bias == 0 {
            return (driver.resolve(limits.max_khz, limits, Relation::High), None);
        }
        let (next, low) = self.biased(limits.max_khz, limits, driver, Relation::High);
        (driver.resolve(next, limits, Relation::Low), low)
    }

    /// `generic_powersave_bias_target`, with the products of the kernel's 32 bits: the frequency to set first, and
    /// the lower one that makes the average right. Drivers without a table are not biased.
    fn biased(
        &self,
        next_khz: u64,
        limits: &Limits,
        driver: &Driver,
        relation: Relation,
    ) -> (u64, Option<LowPart>) {
        let Some(table) = driver.table().filter(|_| self.tunables.powersave_bias != 0) else {
            return (next_khz, None);
        };
        let resolve = |khz, relation| entry(table, khz, limits, relation);
        let wanted = resolve(next_khz, relation);
        let average = wanted - (mul_u32(wanted, self.tunables.powersave_bias) / 1000).min(wanted);
        let (low, high) = (resolve(average, Relation::High), resolve(average, Relation::Low));
        if low >= high {
            return (low, None);
        }
        let rate_us = self.tunables.sampling_rate_us;
        let part = mul_u32(average.saturating_sub(low), rate_us) + (high - low) / 2;
        let high_us = (part / (high - low)).min(rate_us);
        (high, Some(LowPart { khz: low, high_us, low_us: rate_us - high_us }))
    }
}

impl Sampler for Ondemand {
    /// `od_dbs_update`; `times` are those of the same CPUs in the same order as at the start.
    fn sample(
        &mut self,
        now_ns: u64,
        times: &[CpuTimes],
        limits: &Limits,
        driver: &Driver,
    ) -> Decision {
        if let Some(low) = self.low_next.take().filter(|low| low.high_us > 0) {
            let khz = driver.resolve(low.khz, limits, Relation::High);
            return Decision { khz, next_sample_in_ns: low.low_us * 1000 };
        }
        let (khz, low) = self.update(now_ns, times, limits, driver);
        self.low_next = low;
        let delay_us = match low {
            Some(low) => low.high_us,
            None => self.tunables.sampling_rate_us * self.rate_mult,
        };
        Decision { khz, next_sample_in_ns: delay_us * 1000 }
    }
}

fn entry(table: &Table, khz: u64, limits: &Limits, relation: Relation) -> u64 {
    table.resolve(khz, limits.min_khz, limits.max_khz, relation)
}

/// A product as `unsigned int` holds it.
fn mul_u32(a: u64, b: u64) -> u64 {
    a.wrapping_mul(b) & u64::from(u32::MAX)
}
