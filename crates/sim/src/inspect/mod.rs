//! What a scheduler has to keep, checked while a kernel tree's code runs.
//!
//! After each turn the inspector looks at the queue of that turn's CPU, and about once a millisecond at all of them. It keeps no
//! state of the kernel's and changes nothing, so a run that is inspected is the same run.
//!
//! | invariant | module |
//! |---|---|
//! | a queue's sums and counts are those of its tasks | `sums` |
//! | a task that can run is in a queue, and runs within a bound | `waits` |
//! | tasks that share a CPU get its time by their weights | `shares` |
//! | no CPU is idle for long while a task waits that may run there | `idle` |
//! | nobody runs for long before a task of a higher class or real-time priority | `ranks` |
//! | a task runs where it may | here |
//!
//! Control groups have queues of their own. Sums are checked in each, shares among the tasks of each: what groups get beside each other
//! is not checked, as their weights on a CPU follow the load that they have on others. Bounds of waits take the weights of all queues
//! above a task as they are. A task whose group has used up its quota waits for that, not for a CPU.

mod idle;
mod ranks;
mod requests;
mod shares;
mod sums;
mod waits;

use crate::source::{Ended, Event, Queued, Sums, Waits};
use crate::topology::{Cpu, Topology};
use idle::Idle;
use machine::CpuSet;
use ranks::Ranks;
use requests::Requests;
use serde::{Deserialize, Serialize};
use shares::Shares;
use std::collections::BTreeSet;
use waits::TaskWaits;

/// An invariant that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{invariant}: at {:.6} ms: {what}", *at_ns as f64 / 1e6)]
pub struct Broken {
    /// Its name, one of [`INVARIANTS`].
    pub invariant: &'static str,
    /// When that was seen, in the run's time.
    pub at_ns: u64,
    /// What was found, and expected.
    pub what: String,
}

/// Names of what is checked.
pub const INVARIANTS: [&str; 11] = [
    "counts",
    "sums",
    "load",
    "affinity",
    "starvation",
    "lost task",
    "lost timer",
    "shares",
    "work conservation",
    "priority",
    "throttled",
];

/// How near a run came to the bounds: the largest share of each, and what newly idle balancing did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Margins {
    /// A task's wait in terms of its bound.
    pub starvation: f64,
    /// How long somebody ran before a task of higher rank, in terms of the bound.
    #[serde(default)]
    pub priority: f64,
    /// How long a group without quota waited for some, in terms of its bound.
    #[serde(default)]
    pub throttled: f64,
    /// A share of CPU time: its distance from what weights give in terms of what is allowed.
    pub shares: f64,
    /// How long a CPU was idle beside a queue in terms of its bound.
    pub idle: f64,
    /// How often a CPU that went idle left a task waiting that it could have had, and how often it took one.
    pub left: u64,
    /// How often it took one.
    pub pulled: u64,
}

impl Margins {
    /// The nearest of both.
    pub fn worst(self, other: Margins) -> Margins {
        Margins {
            starvation: self.starvation.max(other.starvation),
            priority: self.priority.max(other.priority),
            throttled: self.throttled.max(other.throttled),
            shares: self.shares.max(other.shares),
            idle: self.idle.max(other.idle),
            left: self.left + other.left,
            pulled: self.pulled + other.pulled,
        }
    }
}

/// A task of the workload, as the engine knows it.
pub(crate) struct Subject<'a> {
    pub(crate) name: &'a str,
    /// By its program it can run.
    pub(crate) runnable: bool,
    /// It waits for a timer or a device.
    pub(crate) sleeping: bool,
    /// Its class is above the fair one.
    pub(crate) higher: bool,
}

/// What there is to see.
pub(crate) struct Sight<'a> {
    pub(crate) now_ns: u64,
    pub(crate) topo: &'a Topology,
    /// A step of hotplug is under way.
    pub(crate) switching: bool,
    /// A task by its pid; none for kernel threads.
    pub(crate) subject: &'a dyn Fn(i64) -> Option<Subject<'a>>,
    /// A queue, and what is in it.
    pub(crate) sums: &'a dyn Fn(Cpu, &mut Vec<Queued>) -> Sums,
}

impl Sight<'_> {
    fn broken(&self, invariant: &'static str, what: String) -> Broken {
        Broken { invariant, at_ns: self.now_ns, what }
    }

    /// A task for people.
    fn name(&self, pid: i64) -> String {
        match (self.subject)(pid) {
            Some(subject) => format!("task {pid} `{}`", subject.name),
            None => format!("kernel thread {pid}"),
        }
    }
}

/// A CPU as it was last seen.
#[derive(Debug, Default)]
struct Seen {
    /// It waits for another CPU, so its queue may be half changed.
    spins: bool,
    sums: Sums,
    queued: Vec<Queued>,
}

impl Seen {
    /// Tasks that wait for the CPU, if not for their group's quota first.
    fn waiting(&self) -> impl Iterator<Item = &Queued> {
        self.queued.iter().filter(|q| q.running == 0 && q.delayed == 0)
    }
}

/// Checks a run.
pub(crate) struct Inspector {
    tick_ns: u64,
    cpus: Vec<Seen>,
    waits: TaskWaits,
    shares: Shares,
    requests: Requests,
    idle: Idle,
    ranks: Ranks,
    /// Tasks that gave up their turn at some time: what they get then is their own doing.
    yielded: BTreeSet<i64>,
    /// Tasks whose affinity the engine may have wrong.
    unsure: BTreeSet<i64>,
    /// What an event showed, until the turn that it was in ends.
    heard: Option<Broken>,
    next_look_ns: u64,
    looks: u64,
}

/// All queues are looked at so often, on average.
const LOOK_NS: u64 = 1_000_000;

impl Inspector {
    /// One for a machine of `cpus` with this length of a tick.
    pub(crate) fn new(cpus: usize, tick_ns: u64) -> Inspector {
        Inspector {
            tick_ns,
            cpus: (0..cpus).map(|_| Seen::default()).collect(),
            waits: TaskWaits::default(),
            shares: Shares::new(cpus),
            requests: Requests::default(),
            idle: Idle::new(cpus),
            ranks: Ranks::new(cpus),
            yielded: BTreeSet::new(),
            unsure: BTreeSet::new(),
            heard: None,
            next_look_ns: 0,
            looks: 0,
        }
    }

    pub(crate) fn margins(&self) -> Margins {
        Margins {
            starvation: self.waits.nearest,
            priority: self.ranks.nearest,
            throttled: self.waits.nearest_throttled,
            shares: self.shares.nearest,
            idle: self.idle.nearest,
            left: self.idle.left,
            pulled: self.idle.pulled,
        }
    }

    /// `pid` sleeps until a timer wakes it.
    pub(crate) fn expects_timer(&mut self, pid: i64, at_ns: u64) {
        self.waits.expects_timer(pid, at_ns);
    }

    /// `pid` asks for an affinity; while a CPU comes or goes, the kernel may refuse it where the engine does not.
    pub(crate) fn asks_for_affinity(&mut self, pid: i64, switching: bool) {
        match switching {
            true => self.unsure.insert(pid),
            false => self.unsure.remove(&pid),
        };
    }

    /// `pid` yields.
    pub(crate) fn yields(&mut self, pid: i64) {
        self.yielded.insert(pid);
    }

    /// Something happened in a turn; `higher` says whether a task's class is above the fair one.
    pub(crate) fn heard(&mut self, now_ns: u64, event: &Event, higher: &dyn Fn(i64) -> bool) {
        match *event {
            Event::Switch { cpu, previous, next } => {
                self.idle.switched(now_ns, cpu as usize, previous, next);
                self.ranks.runs(now_ns, cpu as usize, next, higher(next));
                if let Some(what) = self.waits.runs(now_ns, next, &self.ranks, &self.yielded) {
                    self.heard = Some(Broken { invariant: "starvation", at_ns: now_ns, what });
                }
            }
            Event::Waking { pid, .. } => self.idle.waking(pid),
            Event::Wakeup { pid, .. } => {
                self.idle.woken(pid);
                self.waits.woken(pid);
            }
            Event::Migrate { pid, to, pushed: false } => self.idle.migrated(pid, to as usize),
            _ => {}
        }
    }

    /// A turn of `cpu` has ended; `pids` are the workload's tasks.
    pub(crate) fn turn_ended(
        &mut self,
        sight: &Sight<'_>,
        cpu: Cpu,
        ended: &Ended,
        pids: &mut dyn Iterator<Item = i64>,
    ) -> Option<Broken> {
        let at = usize::from(cpu);
        self.cpus[at].spins = ended.waits == Waits::Spins;
        if let Some(broken) = self.heard.take() {
            return Some(broken);
        }
        if ended.waits == Waits::Off || ended.waits == Waits::Spins {
            self.shares.forget(at);
            self.idle.turn_ended(at);
            return None;
        }
        let higher = (sight.subject)(ended.current).is_some_and(|subject| subject.higher);
        self.ranks.runs(sight.now_ns, at, ended.current, higher);
        let found = self.look(sight, at).or_else(|| self.place(sight, cpu, ended));
        let found = found.or_else(|| self.ranks.check(sight, cpu, &self.cpus[at]));
        let found = found.or_else(|| {
            let (tick_ns, requests) = (self.tick_ns, &mut self.requests);
            self.shares.check(sight, at, &self.cpus[at], (tick_ns, requests), &self.yielded)
        });
        let found = found.or_else(|| {
            let since_ns = self.shares.since_ns(at)?;
            sums::averages(sight, at, &self.cpus[at], since_ns)
        });
        let newly_idle = self.idle.turn_ended(at) && ended.waits == Waits::Idle;
        let found = found.or_else(|| self.newly_idle(sight, cpu, newly_idle));
        found.or_else(|| self.look_at_all(sight, pids))
    }

    /// Looks at one queue, and whether its sums are right.
    fn look(&mut self, sight: &Sight<'_>, cpu: usize) -> Option<Broken> {
        let seen = &mut self.cpus[cpu];
        seen.sums = (sight.sums)(cpu as Cpu, &mut seen.queued);
        self.waits.saw(&seen.queued);
        sums::check(sight, cpu, seen)
    }

    /// A task in user mode is where it may be.
    fn place(&self, sight: &Sight<'_>, cpu: Cpu, ended: &Ended) -> Option<Broken> {
        let running = self.cpus[usize::from(cpu)].queued.first().filter(|q| q.running != 0)?;
        if ended.waits != Waits::User || running.may_use(cpu.into()) {
            return None;
        }
        let all = (0..sight.topo.nr_cpus).filter(|&cpu| running.may_use(cpu));
        let (name, may) = (sight.name(running.pid), all.collect::<CpuSet>());
        Some(sight.broken("affinity", format!("{name} runs on CPU {cpu}, expected one of {may}")))
    }

    /// What to say of a task that was moved `to` a CPU that it may not use, while it may use others.
    pub(crate) fn affinity(
        &self,
        at_ns: u64,
        (pid, name): (i64, &str),
        to: Cpu,
        affinity: &CpuSet,
        left: &CpuSet,
    ) -> Option<Broken> {
        if left.is_empty() || self.unsure.contains(&pid) {
            return None;
        }
        let what = format!(
            "`{name}`, which may use CPUs {affinity}, was put on CPU {to}, expected one of {left}, which are online"
        );
        Some(Broken { invariant: "affinity", at_ns, what })
    }

    fn newly_idle(&mut self, sight: &Sight<'_>, cpu: Cpu, is_so: bool) -> Option<Broken> {
        if !is_so || sight.switching {
            return None;
        }
        let topo = sight.topo;
        let llc = &topo.llcs[topo.llc_of[usize::from(cpu)] as usize].cpus;
        for &other in llc.iter().filter(|&&other| other != cpu) {
            if !self.cpus[usize::from(other)].spins {
                let found = self.look(sight, other.into());
                if found.is_some() {
                    return found;
                }
            }
        }
        self.idle.went_idle(sight, cpu, &self.cpus, &self.waits)
    }

    /// Everything, if it is time.
    fn look_at_all(
        &mut self,
        sight: &Sight<'_>,
        pids: &mut dyn Iterator<Item = i64>,
    ) -> Option<Broken> {
        if sight.now_ns < self.next_look_ns {
            return None;
        }
        // Never in step with what tasks do.
        self.looks += 1;
        let part = self.looks.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
        self.next_look_ns = sight.now_ns + LOOK_NS * (512 + part) / 1024;
        for &cpu in &sight.topo.online {
            if !self.cpus[usize::from(cpu)].spins {
                let found = self.look(sight, cpu.into());
                if found.is_some() {
                    return found;
                }
            }
        }
        let with = (self.tick_ns, &mut self.requests, &self.ranks);
        let found = self.waits.look(sight, &self.cpus, with, &self.yielded, pids);
        found.or_else(|| self.idle.look(sight, &self.cpus))
    }
}

#[cfg(test)]
mod tests;
