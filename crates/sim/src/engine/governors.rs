//! Governors while a run lasts: they listen to changes of utilisation and ask for P-states (`cpufreq_update_util`).
//!
//! The class notes whose utilisation changed; after each event every governor concerned hears of it once for each change.
//! What it asks for goes to the clocks, which take their time. One that samples lets a worker do so ([`super::kworkers`]).
//! Which governor it is matters to `crate::cpufreq` alone.
//! Where a kernel's own governors govern, they ask by themselves ([`Sim::requested`]).

use super::Sim;
use super::core::Core;
use crate::cpufreq::governor::{self, Answer, CpuTimes, Govern, Seen, Start};
use crate::cpufreq::{FrequencyError, Limits, Util, freq_scale};
use crate::setup::Governed;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::Phase;

/// One policy.
#[derive(Debug)]
struct Policy {
    governor: Box<dyn Govern>,
    limits: Limits,
}

/// All policies of a machine.
#[derive(Debug)]
pub(super) struct Governors<'a> {
    governed: &'a Governed,
    policies: Vec<Policy>,
    /// CPUs whose utilisation changed, while they are gone through.
    changed: Vec<Cpu>,
    /// By CPU: `APERF` and `MPERF` at the last tick.
    seen: Vec<(u64, u64)>,
    /// When governors that sample do so first.
    #[cfg(test)]
    pub(super) first_sample_ns: u64,
}

impl<'a> Governors<'a> {
    /// Policies that start at their lowest frequency, or the one that their governor is fixed to.
    pub(super) fn new(
        governed: &'a Governed,
        tick_ns: u64,
        first_sample_ns: u64,
    ) -> Result<Governors<'a>, FrequencyError> {
        let driver = &governed.driver;
        let policy = |cpus: &[Cpu]| {
            let lowest_khz = driver.limits(driver.min_khz()).min_khz;
            let mut limits = driver.limits(lowest_khz);
            let start = Start {
                driver,
                limits,
                cpus: cpus.len(),
                tunables: &governed.tunables,
                tick_ns,
                first_sample_ns,
            };
            let governor = governor::start(governed.governor, &start)?;
            limits.cur_khz = governor.start_khz(driver, &limits);
            Ok(Policy { governor, limits })
        };
        Ok(Governors {
            governed,
            policies: governed.policies.iter().map(|p| policy(p)).collect::<Result<_, _>>()?,
            changed: Vec::with_capacity(16),
            seen: vec![(0, 0); governed.policy_of.len()],
            #[cfg(test)]
            first_sample_ns,
        })
    }

    /// Nobody but the core governs: what is left here is frequency invariance.
    pub(super) fn of_core(governed: &'a Governed) -> Governors<'a> {
        Governors {
            governed,
            policies: Vec::new(),
            changed: Vec::new(),
            seen: vec![(0, 0); governed.policy_of.len()],
            #[cfg(test)]
            first_sample_ns: 0,
        }
    }

    /// Whether they govern, and not the core.
    pub(super) fn govern(&self) -> bool {
        !self.policies.is_empty()
    }

    /// What policies ask for at the start, in kHz; a machine has at least one, and all alike.
    pub(super) fn start_khz(&self) -> u32 {
        let lowest = || self.governed.driver.min_khz() as u32;
        self.policies.first().map_or_else(lowest, |p| p.limits.cur_khz as u32)
    }
}

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// Lets governors hear of what something on CPU `here` changed.
    pub(super) fn govern(&mut self, here: Cpu) {
        let Some(mut governors) = self.frequency.governors.take() else { return };
        let mut changed = std::mem::take(&mut governors.changed);
        self.core.take_util_changes(&mut changed);
        for &cpu in &changed {
            self.update_util(&mut governors, cpu, here);
        }
        governors.changed = changed;
        self.frequency.governors = Some(governors);
    }

    /// One update of one CPU's utilisation, by something on `here`. Neither of the drivers here lets a CPU set the clock of
    /// another policy (`dvfs_possible_from_any_cpu`).
    fn update_util(&mut self, governors: &mut Governors, cpu: Cpu, here: Cpu) {
        let iowait = std::mem::take(&mut self.w.cpus[cpu as usize].woken_from_io);
        match self.ask(governors, cpu, here, iowait, |governor, seen| governor.update(seen)) {
            Answer::Nothing => {}
            Answer::Khz(khz) => self.change(governors, cpu, khz),
            Answer::Work => self.kworkers.queue_work(here),
        }
    }

    /// A worker on `here` does what the governor of `cpu` left to it.
    pub(super) fn governor_work(&mut self, cpu: Cpu, here: Cpu) {
        let Some(mut governors) = self.frequency.governors.take() else { return };
        let work = |governor: &mut dyn Govern, seen: &Seen| governor.work(seen);
        if let Some(khz) = self.ask(&mut governors, cpu, here, false, work) {
            self.change(&mut governors, cpu, khz);
        }
        self.frequency.governors = Some(governors);
    }

    /// Lets the governor of `cpu` answer to what can be seen now from `here`.
    fn ask<A>(
        &mut self,
        governors: &mut Governors,
        cpu: Cpu,
        here: Cpu,
        iowait: bool,
        question: impl FnOnce(&mut dyn Govern, &Seen) -> A,
    ) -> A {
        let governed = governors.governed;
        let at = governed.policy_of[cpu as usize] as usize;
        let cpus = &governed.policies[at];
        let policy = &mut governors.policies[at];
        let (core, w) = (&self.core, &self.w);
        let seen = Seen {
            now_ns: w.now_ns,
            cpu: cpus.iter().position(|&c| c == cpu).unwrap_or(0),
            can_update: cpus.contains(&here),
            iowait,
            idle_calls: w.cpus[cpu as usize].idle_calls,
            invariant: governed.max_freq_ratio.is_some(),
            limits: policy.limits,
            driver: &governed.driver,
            util: &|at| {
                let cpu = cpus[at];
                let max = w.topo.capacity[cpu as usize];
                let util = Util::new(core.util(cpu).min(max), max);
                match core.clamps(w, cpu) {
                    Some((uclamp_min, uclamp_max)) => Util { uclamp_min, uclamp_max, ..util },
                    None => util,
                }
            },
            times: &|at| w.times_of(cpus[at]),
        };
        question(policy.governor.as_mut(), &seen)
    }

    /// The policy of `cpu` is to have another frequency.
    fn change(&mut self, governors: &mut Governors, cpu: Cpu, khz: u64) {
        let at = governors.governed.policy_of[cpu as usize] as usize;
        let limits = &mut governors.policies[at].limits;
        if std::mem::replace(&mut limits.cur_khz, khz) == khz {
            return;
        }
        for (at, &cpu) in governors.governed.policies[at].iter().enumerate() {
            self.requested(cpu, khz as u32, at == 0);
        }
    }

    /// The governor of a CPU asks for a P-state; `of_policy` for one CPU of those of the policy, which all ask for it.
    pub(super) fn requested(&mut self, cpu: Cpu, khz: u32, of_policy: bool) {
        self.w.counters.frequency_changes += u64::from(of_policy);
        self.trace.frequency(self.w.now_ns, cpu, khz);
        self.ask_clock(cpu, khz);
    }

    /// `arch_scale_freq_tick`: the share of the highest clock that the CPU had since its last tick.
    pub(super) fn scale_freq_tick(&mut self, cpu: Cpu) {
        let (Some(governors), Some(clocks)) =
            (&mut self.frequency.governors, &mut self.frequency.clocks)
        else {
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
            self.core.invariant(cpu, scale);
        }
    }
}

impl crate::world::World<'_> {
    /// How long `cpu` was idle since the start. Waiting for I/O is idle time, as `io_is_busy` is off. So is leaving an idle state: the
    /// clock stops in the interrupt or at the end of the idle loop (`tick_nohz_stop_idle`).
    fn times_of(&self, cpu: Cpu) -> CpuTimes {
        let c = &self.cpus[cpu as usize];
        let now_idle_ns = match c.phase {
            Phase::Idle { since_ns, .. } => self.now_ns - since_ns,
            Phase::Waking => self.now_ns - c.settled_ns,
            Phase::Offline | Phase::Running => 0,
        };
        CpuTimes { idle_ns: c.idle_total_ns + now_idle_ns, iowait_ns: 0, nice_ns: 0 }
    }
}
