//! What is counted around a run, and what of it spoils a comparison.

use crate::engine::EngineError;
use crate::group_stats::{self, Stats};
use crate::guests::events;
use crate::schedstat;
use host::computer::GROUPS;
use host::noise::{Available, Snapshot, Sources};
use host::perf::Counters;
use host::process::Process;
use host::wakeups::{Pairs, Wakeups};
use host::{Computer, Ended, HostError, scheduler};
use kernel::recorded::schedstat::Schedstat;
use machine::Machine;
use machine::distance::{Distance, Distances};
use setting::KernelFile;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use vm::session::numbers;
use workload::Counter;

const SCHEDSTAT: &str = "/proc/schedstat";
/// Switches on what `/proc/schedstat` counts.
const SCHED_SCHEDSTATS: &str = "kernel.sched_schedstats";

/// All that is read around runs.
pub(super) struct Recorder {
    sources: Sources,
    available: Available,
    pub(super) perf: Counters,
    /// Whether the kernel counts for its schedulers.
    schedstat: Option<Distances>,
    with_events: bool,
    /// Paths of control groups.
    groups: BTreeSet<String>,
    /// Wake-ups of commands, where they are wanted, and how far CPUs are from one another.
    wakeups: Option<(Wakeups, Distances)>,
    /// What cannot be counted here and why, a line each.
    pub(super) missing: Vec<String>,
}

/// What was read before a run.
pub(super) struct Before {
    snapshot: Snapshot,
    schedstat: Option<Schedstat>,
    events: BTreeMap<String, u64>,
    groups: Stats,
    wakeups: Pairs,
    /// Share of all CPUs' time that somebody used in the rest before the run.
    pub(super) busy: f64,
}

impl Recorder {
    /// Finds out what this computer, which is `machine`, counts; what control `groups` do; events of the class sched_ext if `with_events`, and each command's
    /// own wake-ups if `with_wakeups`.
    ///
    /// # Errors
    /// A kernel whose files are not of their form.
    pub(super) fn find(
        computer: &mut Computer,
        machine: &Machine,
        groups: BTreeSet<String>,
        with_events: bool,
        with_wakeups: bool,
    ) -> Result<Recorder, EngineError> {
        let sources = Sources::find(&computer.path("/"));
        let available = Available::of(&sources.read()?);
        let perf = Counters::find();
        let mut missing = sources.not_here();
        missing.extend(perf.missing.iter().cloned());
        let schedstat = match schedstats(computer) {
            Ok(()) => Some(Distances::new(machine)),
            Err(reason) => {
                missing.push(format!("wake-ups, balancing, run delay: {reason}"));
                None
            }
        };
        let wakeups = match with_wakeups {
            true => Some((Wakeups::begin(computer)?, Distances::new(machine))),
            false => None,
        };
        Ok(Recorder { sources, available, perf, schedstat, with_events, groups, wakeups, missing })
    }

    /// What is counted, in the order of values.
    pub(super) fn schema(&self) -> Vec<Counter> {
        let busy = Counter::of_unit(
            "busy_before",
            "ppm",
            "time that all CPUs worked in the rest before the run",
        );
        let mut all = vec![busy];
        all.extend(self.available.counters());
        all.extend(self.perf.schema());
        if self.schedstat.is_some() {
            all.extend(schedstat::schema());
        }
        all.extend(events().map(|(counter, _)| counter).filter(|_| self.with_events));
        all.extend(group_stats::schema(&self.groups));
        if self.wakeups.is_some() {
            all.extend(Distance::ALL.iter().map(|d| of_command(*d)));
        }
        all
    }

    /// Rests for a while and reads everything.
    ///
    /// # Errors
    /// What cannot be read any more.
    pub(super) fn before(
        &self,
        computer: &Computer,
        rest: Duration,
    ) -> Result<Before, EngineError> {
        let resting = self.sources.read()?;
        std::thread::sleep(rest);
        let snapshot = self.sources.read()?;
        let busy = host::noise::busy_share(&resting, &snapshot);
        let events = scheduler::events(computer)?.into_iter().collect();
        let wakeups = self.wakeups()?;
        let (schedstat, groups) = (self.schedstat(computer)?, self.groups(computer));
        Ok(Before { busy, snapshot, schedstat, events, groups, wakeups })
    }

    /// The values of a run that `ended`, in the order of [`Recorder::schema`], and what spoils it.
    ///
    /// # Errors
    /// What cannot be read any more.
    pub(super) fn after(
        &self,
        computer: &Computer,
        before: &Before,
        ended: &Ended,
    ) -> Result<(Vec<u64>, Vec<Spoiled>), EngineError> {
        let snapshot = self.sources.read()?;
        let schedstat = self.schedstat(computer)?;
        let noise = snapshot.since(&before.snapshot);
        let own_ns = (ended.user + ended.sys).as_nanos() as u64;
        let mut values = vec![(before.busy * 1e6).round() as u64];
        values.extend(self.available.values(&noise, own_ns)?);
        values.extend(&ended.counters);
        if let (Some(distances), Some(now), Some(old)) =
            (&self.schedstat, &schedstat, &before.schedstat)
        {
            values.extend(schedstat::values(&now.since(old), noise.context_switches, distances));
        }
        if self.with_events {
            let now: BTreeMap<String, u64> = scheduler::events(computer)?.into_iter().collect();
            let of =
                |all: &BTreeMap<String, u64>, name: &String| all.get(name).copied().unwrap_or(0);
            values.extend(
                events().map(|(_, name)| of(&now, &name).saturating_sub(of(&before.events, &name))),
            );
        }
        values.extend(group_stats::values(&self.groups, &before.groups, &self.groups(computer)));
        if let Some((_, distances)) = &self.wakeups {
            values.extend(by_distance(&self.wakeups()?, &before.wakeups, distances));
        }
        let cpu_time = ended.wall.as_nanos() as f64 * snapshot.cpus().len() as f64;
        let share = |ns: u64| ns as f64 / cpu_time.max(1.0);
        let spoiled = [
            (before.busy > BUSY, Spoiled::Busy),
            (share(noise.steal_ns) > STEAL && noise.steal_ns >= LEAST_NS, Spoiled::Steal),
            (
                share(noise.other_cpu_ns(own_ns)) > OTHERS
                    && noise.other_cpu_ns(own_ns) >= LEAST_NS,
                Spoiled::Others,
            ),
            (noise.throttles.is_some_and(|n| n > 0), Spoiled::Throttled),
        ];
        let spoiled = spoiled.into_iter().filter(|(is, _)| *is).map(|(_, what)| what).collect();
        Ok((values, spoiled))
    }

    /// Counts the wake-ups of `process` from now on, where they are wanted.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub(super) fn follow(&self, process: Process) -> Result<(), HostError> {
        self.wakeups.as_ref().map_or(Ok(()), |(wakeups, _)| wakeups.follow(process))
    }

    fn wakeups(&self) -> Result<Pairs, HostError> {
        self.wakeups.as_ref().map_or(Ok(Pairs::new()), |(wakeups, _)| wakeups.read())
    }

    /// What the groups that are there have counted so far.
    fn groups(&self, computer: &Computer) -> Stats {
        let of = |path: &String| {
            let file = computer.path(&format!("{GROUPS}/{path}/cpu.stat"));
            Some((path.clone(), numbers(&std::fs::read_to_string(file).ok()?)))
        };
        self.groups.iter().filter_map(of).collect()
    }

    fn schedstat(&self, computer: &Computer) -> Result<Option<Schedstat>, EngineError> {
        if self.schedstat.is_none() {
            return Ok(None);
        }
        let path = computer.path(SCHEDSTAT);
        let text =
            std::fs::read_to_string(&path).map_err(|source| HostError::Io { path, source })?;
        Ok(Some(Schedstat::parse(&text).map_err(|e| EngineError::Reported(e.to_string()))?))
    }
}

/// The counter of a command's wake-ups that landed so far from the waking CPU.
fn of_command(distance: Distance) -> Counter {
    let help = "wake-ups of the command that landed so far from the waking CPU (tracepoints)";
    Counter::number(&format!("command_ttwu_{}", distance.name()), help)
}

/// By distance: how many pairs of CPUs `now` has that `before` has not.
fn by_distance(now: &Pairs, before: &Pairs, distances: &Distances) -> [u64; Distance::COUNT] {
    let mut out = [0; Distance::COUNT];
    for (&(waker, target), &count) in now {
        let old = before.get(&(waker, target)).copied().unwrap_or(0);
        out[distances.between(waker, target) as usize] += count.saturating_sub(old);
    }
    out
}

/// Shares of all CPUs' time from which on a run counts as spoiled, for steal and others if it is more than a few steps of 10 ms, in
/// which the kernel counts.
const BUSY: f64 = 0.05;
const STEAL: f64 = 0.01;
const OTHERS: f64 = 0.05;
const LEAST_NS: u64 = 50_000_000;

/// Makes the kernel count for `/proc/schedstat`, and sees that it does.
fn schedstats(computer: &mut Computer) -> Result<(), String> {
    let path = computer.path(SCHEDSTAT);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    Schedstat::parse(&text).map_err(|e| e.to_string())?;
    let switch = KernelFile::sysctl(SCHED_SCHEDSTATS, 1);
    computer.set(&switch).map_err(|e| e.to_string())
}

/// What makes a run's figures doubtful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spoiled {
    Busy,
    Steal,
    Others,
    Throttled,
}

impl Spoiled {
    /// It in words, after a number of runs.
    fn words(self) -> &'static str {
        match self {
            Spoiled::Busy => "began while other load used more than 5 % of all CPUs",
            Spoiled::Steal => "lost more than 1 % of their CPUs' time to a hypervisor (steal)",
            Spoiled::Others => {
                "shared the computer with others that used more than 5 % of all CPUs"
            }
            Spoiled::Throttled => "were slowed by heat",
        }
    }
}

/// How often what happened, of how many runs.
#[derive(Debug, Default)]
pub(super) struct Tally {
    runs: usize,
    spoiled: BTreeMap<Spoiled, usize>,
}

impl Tally {
    pub(super) fn add(&mut self, spoiled: &[Spoiled]) {
        self.runs += 1;
        spoiled.iter().for_each(|&what| *self.spoiled.entry(what).or_default() += 1);
    }

    /// A line for each.
    pub(super) fn warnings(&self) -> Vec<String> {
        let line =
            |(what, n): (&Spoiled, &usize)| format!("{n} of {} runs {}", self.runs, what.words());
        self.spoiled.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_spoiled_runs_is_counted() {
        let mut tally = Tally::default();
        tally.add(&[]);
        tally.add(&[Spoiled::Steal]);
        tally.add(&[Spoiled::Steal, Spoiled::Throttled]);
        let expected = [
            "2 of 3 runs lost more than 1 % of their CPUs' time to a hypervisor (steal)",
            "1 of 3 runs were slowed by heat",
        ];
        assert_eq!(tally.warnings(), expected);
    }
}
