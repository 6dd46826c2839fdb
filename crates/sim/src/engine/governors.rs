//! Governors while a run lasts: they listen to changes of utilisation and ask for P-states (`cpufreq_update_util`).

use super::Sim;
use crate::class::Class;
use crate::cpufreq::{
    Conservative, CpuTimes, FrequencyError, Limits, Ondemand, Schedutil, Update, Util, fixed_khz,
    freq_scale,
};
use crate::scenario::Governed;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::Phase;
use setting::Governor;

/// The governor of one policy.
#[derive(Debug)]
enum State {
    /// It looks at nothing.
    Fixed,
    Ondemand(Ondemand),
    Conservative(Conservative),
    Schedutil(Schedutil),
}

/// One policy.
#[derive(Debug)]
pub(super) struct Policy {
    state: State,
    limits: Limits,
    /// When a governor that samples does so next.
    pub(super) next_sample_ns: u64,
}

/// All policies of a machine.
#[derive(Debug)]
pub(super) struct Governors<'a> {
    governed: &'a Governed,
    pub(super) policies: Vec<Policy>,
    /// CPUs whose utilisation changed, while they are gone through.
    changed: Vec<Cpu>,
    times: Vec<CpuTimes>,
    /// By CPU: `APERF` and `MPERF` at the last tick.
    seen: Vec<(u64, u64)>,
}

impl<'a> Governors<'a> {
    /// Policies that start at their lowest frequency, or the one that their governor is fixed to.
    pub(super) fn new(
        governed: &'a Governed,
        tick_ns: u64,
        first_sample_ns: u64,
    ) -> Result<Governors<'a>, FrequencyError> {
        let policy = |cpus: &[Cpu]| {
            let driver = &governed.driver;
            let limits = driver.limits(start_khz(governed));
            let times = vec![CpuTimes::default(); cpus.len()];
            let state = match governed.governor {
                Governor::Performance | Governor::Powersave => State::Fixed,
                Governor::Ondemand => {
                    State::Ondemand(Ondemand::start(governed.ondemand, tick_ns, 0, &times)?)
                }
                Governor::Conservative => State::Conservative(Conservative::start(
                    governed.conservative,
                    tick_ns,
                    0,
                    limits.cur_khz,
                    &times,
                )?),
                Governor::Schedutil => {
                    let cpus = cpus.len().max(1);
                    let rate_us = governed.rate_limit_us;
                    State::Schedutil(Schedutil::start(driver, cpus, rate_us, tick_ns)?)
                }
            };
            Ok(Policy { state, limits, next_sample_ns: first_sample_ns })
        };
        Ok(Governors {
            governed,
            policies: governed.policies.iter().map(|p| policy(p)).collect::<Result<_, _>>()?,
            changed: Vec::with_capacity(16),
            times: Vec::new(),
            seen: vec![(0, 0); governed.policy_of.len()],
        })
    }
}

/// What policies ask for at the start.
pub(super) fn start_khz(governed: &Governed) -> u64 {
    let limits = governed.driver.limits(governed.driver.min_khz());
    fixed_khz(governed.governor, &governed.driver, &limits).unwrap_or(limits.min_khz)
}

impl<C: Class, T: Trace> Sim<'_, C, T> {
    /// Lets governors hear of what changed.
    pub(super) fn govern(&mut self) {
        let Some(mut governors) = self.governors.take() else { return };
        let mut changed = std::mem::take(&mut governors.changed);
        self.class.take_util_changes(&mut changed);
        for &cpu in &changed {
            self.update_util(&mut governors, cpu);
        }
        governors.changed = changed;
        self.governors = Some(governors);
    }

    /// One update of one CPU's utilisation.
    fn update_util(&mut self, governors: &mut Governors, cpu: Cpu) {
        let governed = governors.governed;
        let at = governed.policy_of[cpu as usize] as usize;
        let cpus = &governed.policies[at];
        let now = self.w.now_ns;
        let policy = &mut governors.policies[at];
        let limits = policy.limits;
        let wanted = match &mut policy.state {
            State::Fixed => None,
            State::Schedutil(schedutil) => {
                let c = &mut self.w.cpus[cpu as usize];
                let update = Update {
                    now_ns: now,
                    cpu: cpus.iter().position(|&c| c == cpu).unwrap_or(0),
                    iowait: std::mem::take(&mut c.woken_from_io),
                    idle_calls: c.idle_calls,
                    invariant: governed.max_freq_ratio.is_some(),
                };
                let (class, topo, uclamp) = (&self.class, self.w.topo, &self.w.uclamp);
                schedutil.update(update, &limits, &governed.driver, |at| {
                    let cpu = cpus[at];
                    let max = topo.capacity[cpu as usize];
                    let util = Util::new(class.util(cpu).min(max), max);
                    match uclamp.as_ref().map(|u| u.of(cpu)) {
                        Some((uclamp_min, uclamp_max)) => Util { uclamp_min, uclamp_max, ..util },
                        None => util,
                    }
                })
            }
            State::Ondemand(_) | State::Conservative(_) if now < policy.next_sample_ns => None,
            State::Ondemand(_) | State::Conservative(_) => {
                governors.times.clear();
                governors.times.extend(cpus.iter().map(|&cpu| self.w.times_of(cpu)));
                let decision = match &mut policy.state {
                    State::Ondemand(g) => {
                        g.sample(now, &governors.times, &limits, &governed.driver)
                    }
                    State::Conservative(g) => {
                        g.sample(now, &governors.times, &limits, &governed.driver)
                    }
                    State::Fixed | State::Schedutil(_) => return,
                };
                policy.next_sample_ns = now + decision.next_sample_in_ns;
                Some(decision.khz)
            }
        };
        if let Some(khz) = wanted.filter(|&khz| khz != limits.cur_khz) {
            policy.limits.cur_khz = khz;
            self.w.counters.frequency_changes += 1;
            for &cpu in cpus {
                self.trace.frequency(now, cpu, khz as u32);
                self.ask_clock(cpu, khz as u32);
            }
        }
    }

    /// `arch_scale_freq_tick`: the share of the highest clock that the CPU had since its last tick.
    pub(super) fn scale_freq_tick(&mut self, cpu: Cpu) {
        let (Some(governors), Some(clocks)) = (&mut self.governors, &mut self.clocks) else {
            return;
        };
        let Some(ratio) = governors.governed.max_freq_ratio else { return };
        let now = clocks.counters(cpu, self.w.now_ns);
        let seen = &mut governors.seen[cpu as usize];
        let (aperf, mperf) = (now.aperf - seen.0, now.mperf - seen.1);
        *seen = (now.aperf, now.mperf);
        // A CPU that slept all the time since keeps what it had.
        if let Some(scale) = freq_scale(aperf, mperf, ratio) {
            self.w.pelt_clocks[cpu as usize].set_scale(self.w.now_ns, scale);
        }
    }
}

impl crate::world::World<'_> {
    /// How long `cpu` was idle since the start. Waiting for I/O is idle time, as `io_is_busy` is off.
    fn times_of(&self, cpu: Cpu) -> CpuTimes {
        let c = &self.cpus[cpu as usize];
        let now_idle_ns = match c.phase {
            Phase::Idle { since_ns, .. } => self.now_ns - since_ns,
            Phase::Offline | Phase::Waking | Phase::Running => 0,
        };
        CpuTimes { idle_ns: c.idle_total_ns + now_idle_ns, iowait_ns: 0, nice_ns: 0 }
    }
}
