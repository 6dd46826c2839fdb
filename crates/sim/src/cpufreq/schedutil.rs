//! The schedutil governor (`kernel/sched/cpufreq_schedutil.c`).
//!
//! Utilisation of a shared policy's CPUs is read when the frequency is chosen, however old: since 4.18 only the boost
//! for I/O goes stale after a tick.

use super::iowait::{IowaitBoost, Rules as IowaitRules};
use super::{Driver, FrequencyError, Limits, Relation, Util};
use kernel::Version;

/// Where the quarter goes that keeps the tipping point at 80 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Headroom {
    /// To the frequency (`map_util_freq` up to 5.10, from memory). It differs from the next by rounding only.
    Frequency,
    /// To utilisation after clamps (`map_util_perf`).
    Utilisation,
    /// To utilisation before clamps (`sugov_effective_cpu_perf`, 6.8).
    BeforeClamps,
}

/// An update of utilisation (`cpufreq_update_util`).
#[derive(Debug, Clone, Copy)]
pub struct Update {
    /// When, by the clock of the run queue.
    pub now_ns: u64,
    /// Which of the policy's CPUs, from 0.
    pub cpu: usize,
    /// Whether a task wakes up after waiting for I/O (`SCHED_CPUFREQ_IOWAIT`).
    pub iowait: bool,
    /// How often the CPU was idle (`tick_nohz_get_idle_calls_cpu`).
    pub idle_calls: u64,
    /// Whether utilisation is frequency-invariant (`arch_scale_freq_invariant`).
    pub invariant: bool,
}

/// The governor of one policy.
#[derive(Debug, Clone)]
pub struct Schedutil {
    headroom: Headroom,
    /// Clamps count (5.3).
    uclamp: bool,
    /// Clamps bound the boost as well, and a capped CPU may slow down while busy (5.18, from memory).
    uclamp_strict: bool,
    iowait: IowaitRules,
    boosts: Box<[IowaitBoost]>,
    rate_limit_ns: u64,
    last_change_ns: u64,
    next_khz: u64,
    /// What `next_khz` was rounded from. Both start at 0, so that a CPU that was never used keeps the frequency that
    /// the policy started with.
    cached_raw_khz: u64,
    saved_idle_calls: u64,
    limits_changed: bool,
}

impl Schedutil {
    /// Starts for a policy of `cpus` CPUs (`sugov_start`); `rate_limit_us` is the driver's
    /// [`transition_delay_us`](Driver::transition_delay_us) unless somebody set another.
    ///
    /// # Errors
    /// A policy without CPUs; a rate limit beyond 32 bits.
    pub fn start(
        driver: &Driver,
        cpus: usize,
        rate_limit_us: u64,
        tick_ns: u64,
    ) -> Result<Schedutil, FrequencyError> {
        let most = u64::from(u32::MAX);
        super::within("rate_limit_us", rate_limit_us, 0..=most)?;
        super::within("CPUs of a policy", cpus as u64, 1..=most)?;
        let since = |major, minor| driver.version() >= Version::new(major, minor);
        let headroom = if since(6, 8) {
            Headroom::BeforeClamps
        } else if since(5, 11) {
            Headroom::Utilisation
        } else {
            Headroom::Frequency
        };
        Ok(Schedutil {
            headroom,
            uclamp: since(5, 3),
            uclamp_strict: since(5, 18),
            iowait: IowaitRules::new(driver, tick_ns),
            boosts: vec![IowaitBoost::default(); cpus].into(),
            rate_limit_ns: rate_limit_us * 1000,
            last_change_ns: 0,
            next_khz: 0,
            cached_raw_khz: 0,
            saved_idle_calls: 0,
            limits_changed: false,
        })
    }

    /// The policy's limits changed (`sugov_limits`): the next update chooses whatever the rate limit says.
    pub fn limits_changed(&mut self) {
        self.limits_changed = true;
    }

    /// The frequency in kHz to change to, if any (`sugov_update_single_freq`, `sugov_update_shared`).
    /// `util_of` gives the utilisation of the policy's CPUs, and is asked only once the rate limit allows a change.
    pub fn update(
        &mut self,
        update: Update,
        limits: &Limits,
        driver: &Driver,
        mut util_of: impl FnMut(usize) -> Util,
    ) -> Option<u64> {
        let now_ns = update.now_ns;
        self.boosts.get_mut(update.cpu)?.request(&self.iowait, now_ns, update.iowait);
        let force = std::mem::take(&mut self.limits_changed);
        if !force && now_ns.saturating_sub(self.last_change_ns) < self.rate_limit_ns {
            return None;
        }
        let cached = self.cached_raw_khz;
        let reference_khz = driver.reference_khz(update.invariant, limits.cur_khz);
        let shared = self.boosts.len() > 1;
        let (util, max, capped) = self.effective(now_ns, &mut util_of);
        let raw_khz = self.raw_khz(reference_khz, util, max)?;
        let mut next_khz = self.next_khz;
        if raw_khz != cached || force {
            self.cached_raw_khz = raw_khz;
            next_khz = driver.resolve(raw_khz, limits, Relation::Low);
        }
        if !shared && !capped && self.holds(update.idle_calls) && next_khz < self.next_khz && !force
        {
            next_khz = self.next_khz;
            self.cached_raw_khz = cached;
        }
        if next_khz == self.next_khz {
            return None;
        }
        (self.next_khz, self.last_change_ns) = (next_khz, now_ns);
        Some(next_khz)
    }

    /// Utilisation and capacity of the CPU that needs most (`sugov_next_freq_shared`), and whether a clamp that
    /// lets it slow down at once caps it.
    fn effective(
        &mut self,
        now_ns: u64,
        util_of: &mut impl FnMut(usize) -> Util,
    ) -> (u64, u64, bool) {
        let (mut most, mut of, mut capped) = (0, 1, false);
        for cpu in 0..self.boosts.len() {
            let mut util = util_of(cpu);
            if !self.uclamp {
                util = Util::new(util.util, util.max);
            }
            let boost = self.boosts[cpu].apply(&self.iowait, now_ns, util.max);
            let wanted = self.perf(&util, boost);
            if wanted * of > util.max * most {
                (most, of) = (wanted, util.max);
            }
            capped |= self.uclamp_strict && util.is_capped();
        }
        (most, of, capped)
    }

    /// What one CPU needs by its capacity (`effective_cpu_util` with what schedutil makes of it).
    fn perf(&self, util: &Util, boost: u64) -> u64 {
        if self.headroom == Headroom::BeforeClamps {
            let wanted = with_quarter(util.util.min(util.max).max(boost));
            return wanted.min(util.uclamp_max).min(util.max).max(util.uclamp_min);
        }
        let boost = if self.uclamp_strict && boost != 0 { util.clamp(boost) } else { boost };
        util.clamp(util.util).min(util.max).max(boost)
    }

    /// `get_next_freq` before the driver rounds.
    fn raw_khz(&self, reference_khz: u64, util: u64, max: u64) -> Option<u64> {
        match self.headroom {
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
}

/// `map_util_perf`.
fn with_quarter(value: u64) -> u64 {
    value + (value >> 2)
}
