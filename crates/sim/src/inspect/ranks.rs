//! Classes above the fair one: how long they keep a CPU from its fair tasks, and that nobody goes before them.
//!
//! A task that is outranked, by class or by real-time priority, is interrupted at once. There are two reasons why one may go on. The
//! server of fair tasks has up to 50 ms of each second (from 6.8 on); before it, a class of real time that has used up its time does
//! not count as queued. And a CPU may be slow to leave the kernel. So nobody goes on for longer than [`BOUND_NS`].

use super::{Broken, Seen, Sight};
use crate::topology::Cpu;

/// The server's 50 ms, and a tick of the slowest kernel.
const BOUND_NS: u64 = 60_000_000;

/// What is known of a CPU.
#[derive(Debug, Clone, Copy, Default)]
struct Rank {
    /// Time that tasks of higher classes had, without that of the one that runs since a time.
    had_ns: u64,
    since_ns: Option<u64>,
    /// Since when the running task is outranked.
    outranked_ns: Option<u64>,
    running: i64,
}

/// All CPUs.
#[derive(Debug)]
pub(super) struct Ranks {
    cpus: Vec<Rank>,
    /// The longest time for which somebody was outranked in terms of the bound.
    pub(super) nearest: f64,
}

impl Ranks {
    pub(super) fn new(cpus: usize) -> Ranks {
        Ranks { cpus: vec![Rank::default(); cpus], nearest: 0.0 }
    }

    /// `pid`, whose class is above the fair one or not, runs on `cpu`.
    pub(super) fn runs(&mut self, now_ns: u64, cpu: usize, pid: i64, higher: bool) {
        let had_ns = self.had_ns(now_ns, cpu);
        let rank = &mut self.cpus[cpu];
        (rank.had_ns, rank.running) = (had_ns, pid);
        rank.since_ns = higher.then_some(now_ns);
    }

    /// How much of the time of `cpu` tasks of higher classes had so far.
    pub(super) fn had_ns(&self, now_ns: u64, cpu: usize) -> u64 {
        let rank = &self.cpus[cpu];
        rank.had_ns + rank.since_ns.map_or(0, |since| now_ns.saturating_sub(since))
    }

    /// Tasks that run.
    pub(super) fn running(&self) -> impl Iterator<Item = i64> {
        self.cpus.iter().map(|rank| rank.running)
    }

    /// The queue of `cpu` was looked at.
    pub(super) fn check(&mut self, sight: &Sight<'_>, cpu: Cpu, seen: &Seen) -> Option<Broken> {
        let rank = &mut self.cpus[usize::from(cpu)];
        if seen.sums.outranked == 0 || sight.switching {
            rank.outranked_ns = None;
            return None;
        }
        let long_ns = sight.now_ns - *rank.outranked_ns.get_or_insert(sight.now_ns);
        self.nearest = self.nearest.max(long_ns as f64 / BOUND_NS as f64);
        if long_ns <= BOUND_NS {
            return None;
        }
        let what = format!(
            "CPU {cpu}: {} runs though tasks of higher classes or priorities have waited there for {:.3} ms, expected at most {:.3} ms",
            sight.name(rank.running),
            long_ns as f64 / 1e6,
            BOUND_NS as f64 / 1e6
        );
        Some(sight.broken("priority", what))
    }
}
