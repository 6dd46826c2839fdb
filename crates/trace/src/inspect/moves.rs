//! Moves of tasks from CPU to CPU: why, how far, and who goes back and forth between last-level caches.

use super::tasks::name_of;
use crate::Comm;
use machine::Machine;
use machine::distance::{Distance, Distances};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// A return within this time is ping-pong.
const PING_PONG_NS: u64 = 10_000_000;

/// Why a task moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It is woken elsewhere (`select_task_rq`).
    WakeUp,
    /// The CPU that it goes to takes it (`load_balance`, `sched_balance_newidle`).
    Pulled,
    /// A CPU's stopper moves it: active balancing, a new affinity, or `migrate_task_to`.
    Stopper,
    /// Another CPU moves it: nohz balancing for others, a CPU that goes offline.
    Other,
}

/// All moves.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Moves {
    /// New tasks.
    pub forks: u64,
    /// By reason, then by distance: how many.
    pub by_reason: BTreeMap<Reason, BTreeMap<&'static str, u64>>,
    /// Tasks that most often came back to a last-level cache within 10 ms, most often first.
    pub ping_pong: Vec<PingPong>,
}

/// A task that goes back and forth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PingPong {
    /// Its name.
    pub name: String,
    /// Its thread ID.
    pub pid: u32,
    /// How often it ran in another last-level cache than before.
    pub crossings: u64,
    /// How often that was the one that it had left within 10 ms.
    pub returns: u64,
}

/// What a task remembers of caches.
#[derive(Debug, Clone, Copy)]
struct Cached {
    cache: usize,
    /// The cache before, and when it was left.
    left: Option<(usize, u64)>,
    crossings: u64,
    returns: u64,
}

/// Follows moves.
#[derive(Debug)]
pub(super) struct Mover {
    /// By CPU: its last-level cache, by the first CPU of it.
    cache_of: Vec<usize>,
    moves: Moves,
    cached: HashMap<u32, Cached>,
}

impl Mover {
    pub(super) fn new(machine: &Machine) -> Mover {
        let distances = Distances::new(machine);
        let first = |cpu: usize| {
            (0..cpu).find(|&other| distances.between(other, cpu) <= Distance::Llc).unwrap_or(cpu)
        };
        Mover {
            cache_of: (0..machine.cpus.len()).map(first).collect(),
            moves: Moves::default(),
            cached: HashMap::new(),
        }
    }

    pub(super) fn forked(&mut self) {
        self.moves.forks += 1;
    }

    pub(super) fn moved(&mut self, reason: Reason, distance: Distance) {
        let of = self.moves.by_reason.entry(reason).or_default();
        *of.entry(distance.name()).or_default() += 1;
    }

    /// The task `pid` begins to run on `cpu`.
    pub(super) fn runs(&mut self, pid: u32, cpu: usize, at_ns: u64) {
        let cache = self.cache_of[cpu];
        let new = Cached { cache, left: None, crossings: 0, returns: 0 };
        let own = self.cached.entry(pid).or_insert(new);
        if own.cache != cache {
            own.crossings += 1;
            let returns = own.left.is_some_and(|(left, when_ns)| {
                left == cache && at_ns.saturating_sub(when_ns) <= PING_PONG_NS
            });
            own.returns += u64::from(returns);
            own.left = Some((own.cache, at_ns));
            own.cache = cache;
        }
    }

    pub(super) fn finish(mut self, names: &HashMap<u32, Comm>) -> Moves {
        let of = |(&pid, own): (&u32, &Cached)| PingPong {
            name: names.get(&pid).map_or_else(String::new, name_of),
            pid,
            crossings: own.crossings,
            returns: own.returns,
        };
        let mut all: Vec<PingPong> =
            self.cached.iter().filter(|(_, own)| own.returns > 0).map(of).collect();
        all.sort_by(|a, b| (b.returns, a.pid).cmp(&(a.returns, b.pid)));
        self.moves.ping_pong = all;
        self.moves
    }
}
