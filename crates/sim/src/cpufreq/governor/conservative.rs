//! The conservative governor (`cpufreq_conservative.c`): up and down in steps.

use super::dbs::{
    Accounting, CpuTimes, Decision, Loads, Sample, Sampled, Sampler, check_sampling_rate,
    sampling_rate_us,
};
use super::{Govern, Start};
use crate::cpufreq::{Driver, FrequencyError, Limits, Relation, within};
use setting::Tunable;

/// A step, in kHz, where the share of the maximum is less than one (`DEF_FREQUENCY_STEP`).
const SMALLEST_STEP_KHZ: u64 = 5;

/// What `/sys/devices/system/cpu/cpufreq/conservative` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConservativeTunables {
    /// Busy share in % above which the frequency goes up, above `down_threshold` to 100.
    pub(crate) up_threshold: u64,
    /// Busy share in % below which it goes down, 1 to below `up_threshold`.
    pub(crate) down_threshold: u64,
    /// A step in % of the policy's maximum, 0 (stay) to 100.
    pub(crate) freq_step: u64,
    /// Sampling period in us, at least two ticks.
    pub(crate) sampling_rate_us: u64,
    /// Samples for a step down, 1 to 10.
    pub(crate) sampling_down_factor: u64,
    /// Whether tasks of positive nice count as idle.
    pub(crate) ignore_nice_load: bool,
}

impl ConservativeTunables {
    /// What the governor starts with (`cs_init`).
    pub(crate) fn new(driver: &Driver, tick_ns: u64) -> ConservativeTunables {
        ConservativeTunables {
            up_threshold: 80,
            down_threshold: 20,
            freq_step: 5,
            sampling_rate_us: sampling_rate_us(driver, tick_ns),
            sampling_down_factor: 1,
            ignore_nice_load: false,
        }
    }

    fn check(&self, tick_ns: u64) -> Result<(), FrequencyError> {
        within("up_threshold", self.up_threshold, 2..=100)?;
        within("down_threshold", self.down_threshold, 1..=self.up_threshold - 1)?;
        within("freq_step", self.freq_step, 0..=100)?;
        check_sampling_rate(self.sampling_rate_us, tick_ns)?;
        within("sampling_down_factor", self.sampling_down_factor, 1..=10)
    }
}

/// The governor with what is set of its tunables.
pub(super) fn govern(start: &Start) -> Result<Box<dyn Govern>, FrequencyError> {
    let mut tunables = ConservativeTunables::new(start.driver, start.tick_ns);
    let set = |tunable, value: &mut u64| *value = start.tunables.get(tunable).unwrap_or(*value);
    set(Tunable::SamplingRateUs, &mut tunables.sampling_rate_us);
    set(Tunable::UpThreshold, &mut tunables.up_threshold);
    set(Tunable::DownThreshold, &mut tunables.down_threshold);
    let times = vec![CpuTimes::default(); start.cpus];
    let cur_khz = start.limits.cur_khz;
    let conservative = Conservative::start(tunables, start.tick_ns, 0, cur_khz, &times)?;
    Ok(Box::new(Sampled::new(conservative, start.cpus, start.first_sample_ns)))
}

/// The governor of one policy.
#[derive(Debug, Clone)]
pub(crate) struct Conservative {
    tunables: ConservativeTunables,
    loads: Loads,
    /// Where the steps are, between the driver's frequencies.
    requested_khz: u64,
    down_skip: u64,
}

impl Conservative {
    /// Starts at `now_ns` and `cur_khz` with the times of the policy's CPUs (`cs_start`).
    ///
    /// # Errors
    /// A tunable that the kernel does not take.
    pub(crate) fn start(
        tunables: ConservativeTunables,
        tick_ns: u64,
        now_ns: u64,
        cur_khz: u64,
        times: &[CpuTimes],
    ) -> Result<Conservative, FrequencyError> {
        tunables.check(tick_ns)?;
        // Waiting for I/O is idle time to this governor.
        let accounting =
            Accounting { io_is_busy: false, ignore_nice_load: tunables.ignore_nice_load };
        let loads = Loads::start(now_ns, times, accounting);
        Ok(Conservative { tunables, loads, requested_khz: cur_khz, down_skip: 0 })
    }

    /// The next frequency, where the sample asks for another.
    fn step(&mut self, sample: Sample, limits: &Limits, driver: &Driver) -> Option<u64> {
        if self.tunables.freq_step == 0 {
            return None;
        }
        if self.requested_khz > limits.max_khz || self.requested_khz < limits.min_khz {
            self.requested_khz = limits.cur_khz;
        }
        let step = match self.tunables.freq_step * limits.max_khz / 100 {
            0 => SMALLEST_STEP_KHZ,
            step => step,
        };
        let down = |from: u64, by: u64| from.saturating_sub(by).max(limits.min_khz);
        // Periods that were missed while idle count as steps down. Mainline up to 6.12 takes them whatever the
        // load; a fix that stable releases of 2026 carry asks for a load below `down_threshold`.
        let requested = match sample.idle_periods {
            Some(periods) => down(self.requested_khz, periods.saturating_mul(step)),
            None => self.requested_khz,
        };
        if sample.load > self.tunables.up_threshold {
            self.down_skip = 0;
            self.requested_khz = (requested + step).min(limits.max_khz);
            return Some(driver.resolve(self.requested_khz, limits, Relation::High));
        }
        self.down_skip += 1;
        if self.down_skip < self.tunables.sampling_down_factor {
            return None;
        }
        self.down_skip = 0;
        if sample.load < self.tunables.down_threshold {
            self.requested_khz = down(requested, step);
            return Some(driver.resolve(self.requested_khz, limits, Relation::Low));
        }
        None
    }
}

impl Sampler for Conservative {
    /// `cs_dbs_update`; `times` are those of the same CPUs in the same order as at the start.
    fn sample(
        &mut self,
        now_ns: u64,
        times: &[CpuTimes],
        limits: &Limits,
        driver: &Driver,
    ) -> Decision {
        let sample = self.loads.update(now_ns, times, self.tunables.sampling_rate_us);
        let khz = self.step(sample, limits, driver).unwrap_or(limits.cur_khz);
        Decision { khz, next_sample_in_ns: self.tunables.sampling_rate_us * 1000 }
    }
}
