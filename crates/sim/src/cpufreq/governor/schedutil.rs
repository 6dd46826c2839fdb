//! The schedutil governor (`kernel/sched/cpufreq_schedutil.c`).
//!
//! Utilisation of a shared policy's CPUs is read when the frequency is chosen, however old: since 4.18 only the boost
//! for I/O goes stale after a tick.

use super::iowait::{IowaitBoost, Rules as IowaitRules};
use super::{Answer, Govern, Seen, Start};
use crate::cpufreq::rules::{Headroom, Rules};
use crate::cpufreq::{Driver, FrequencyError, Relation, Util, within};
use setting::Tunable;

/// The governor with what is set of its tunables.
pub(super) fn govern(start: &Start) -> Result<Box<dyn Govern>, FrequencyError> {
    let default_us = start.driver.transition_delay_us();
    let rate_limit_us = start.tunables.get(Tunable::RateLimitUs).unwrap_or(default_us);
    let cpus = start.cpus.max(1);
    Ok(Box::new(Schedutil::start(start.driver, cpus, rate_limit_us, start.tick_ns)?))
}

/// The governor of one policy.
#[derive(Debug, Clone)]
pub(crate) struct Schedutil {
    rules: Rules,
    iowait: IowaitRules,
    boosts: Box<[IowaitBoost]>,
    rate_limit_ns: u64,
    last_change_ns: u64,
    next_khz: u64,
    /// What `next_khz` was rounded from. Both start at 0, so that a CPU that was never used keeps the frequency that
    /// the policy started with.
    cached_raw_khz: u64,
    saved_idle_calls: u64,
}

impl Schedutil {
    /// Starts for a policy of `cpus` CPUs (`sugov_start`); `rate_limit_us` is the driver's
    /// [`transition_delay_us`](Driver::transition_delay_us) unless somebody set another.
    ///
    /// # Errors
    /// A policy without CPUs; a rate limit beyond 32 bits.
    pub(crate) fn start(
        driver: &Driver,
        cpus: usize,
        rate_limit_us: u64,
        tick_ns: u64,
    ) -> Result<Schedutil, FrequencyError> {
        let most = u64::from(u32::MAX);
        within("rate_limit_us", rate_limit_us, 0..=most)?;
        within("CPUs of a policy", cpus as u64, 1..=most)?;
        Ok(Schedutil {
            rules: *driver.rules(),
            iowait: IowaitRules::new(driver, tick_ns),
            boosts: vec![IowaitBoost::default(); cpus].into(),
            rate_limit_ns: rate_limit_us * 1000,
            last_change_ns: 0,
            next_khz: 0,
            cached_raw_khz: 0,
            saved_idle_calls: 0,
        })
    }

    /// Utilisation and capacity of the CPU that needs most (`sugov_next_freq_shared`), and whether a clamp that
    /// lets it slow down at once caps it.
    fn effective(&mut self, now_ns: u64, util_of: &dyn Fn(usize) -> Util) -> (u64, u64, bool) {
        let (mut most, mut of, mut capped) = (0, 1, false);
        for cpu in 0..self.boosts.len() {
            let mut util = util_of(cpu);
            if !self.rules.uclamp {
                util = Util::new(util.util, util.max);
            }
            let boost = self.boosts[cpu].apply(&self.iowait, now_ns, util.max);
            let wanted = self.perf(&util, boost);
            if wanted * of > util.max * most {
                (most, of) = (wanted, util.max);
            }
            capped |= self.rules.uclamp_strict && util.is_capped();
        }
        (most, of, capped)
    }

    /// What one CPU needs by its capacity (`effective_cpu_util` with what schedutil makes of it).
    fn perf(&self, util: &Util, boost: u64) -> u64 {
        if self.rules.headroom == Headroom::BeforeClamps {
            let wanted = with_quarter(util.util.min(util.max).max(boost));
            return wanted.min(util.uclamp_max).min(util.max).max(util.uclamp_min);
        }
        let boost = if self.rules.uclamp_strict && boost != 0 { util.clamp(boost) } else { boost };
        util.clamp(util.util).min(util.max).max(boost)
    }

    /// `get_next_freq` before the driver rounds.
    fn raw_khz(&self, reference_khz: u64, util: u64, max: u64) -> Option<u64> {
        match self.rules.headroom {
            Headroom::Frequency => (with_quarter(reference_khz) * util).checked_div(max),
            Headroom::Utilisation => (reference_khz * with_quarter(util)).checked_div(max),
            Headroom::BeforeClamps => (reference_khz * util).checked_div(max),
        }
    }

    /// A CPU that was not idle since the last choice keeps its frequency, as its utilisation is likely to be on
    /// its way up (`sugov_cpu_is_busy`, `sugov_hold_freq`). Some releases from 5.11 on keep utilisation instead.
    fn holds(&mut self, idle_calls: u64) -> bool {
        std::mem::replace(&mut self.saved_idle_calls, idle_calls) == idle_calls
    }

    /// `sugov_update_single_freq`, `sugov_update_shared`. Utilisation is asked for only once the rate limit allows a change.
    fn next_khz(&mut self, seen: &Seen) -> Option<u64> {
        let now_ns = seen.now_ns;
        self.boosts.get_mut(seen.cpu)?.request(&self.iowait, now_ns, seen.iowait);
        // `sugov_should_update_freq`.
        if !seen.can_update || now_ns.saturating_sub(self.last_change_ns) < self.rate_limit_ns {
            return None;
        }
        let (limits, driver) = (&seen.limits, seen.driver);
        let cached = self.cached_raw_khz;
        let reference_khz = driver.reference_khz(seen.invariant, limits.cur_khz);
        let shared = self.boosts.len() > 1;
        let (util, max, capped) = self.effective(now_ns, seen.util);
        let raw_khz = self.raw_khz(reference_khz, util, max)?;
        let mut next_khz = self.next_khz;
        if raw_khz != cached {
            self.cached_raw_khz = raw_khz;
            next_khz = driver.resolve(raw_khz, limits, Relation::Low);
        }
        if !shared && !capped && self.holds(seen.idle_calls) && next_khz < self.next_khz {
            next_khz = self.next_khz;
            self.cached_raw_khz = cached;
        }
        if next_khz == self.next_khz {
            return None;
        }
        (self.next_khz, self.last_change_ns) = (next_khz, now_ns);
        Some(next_khz)
    }
}

impl Govern for Schedutil {
    fn update(&mut self, seen: &Seen) -> Answer {
        self.next_khz(seen).map_or(Answer::Nothing, Answer::Khz)
    }
}

/// `map_util_perf`.
fn with_quarter(value: u64) -> u64 {
    value + (value >> 2)
}
