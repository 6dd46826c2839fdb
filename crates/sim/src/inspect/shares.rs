//! Shares of CPU time: tasks that have a CPU to themselves get its time by their weights, and those of a group the group's time.
//!
//! An epoch lasts as long as the same tasks with the same weights are in a queue. Within it a task of weight `w` among `W` has to get
//! `w / W` of what all got. At both of its ends a task may be ahead or behind by two requests, to which the kernel limits its lag, or
//! by ticks, at which it is noticed that a request is over: so it may be off by four of both, and a tick for what is not charged yet.
//! Each of the others may go before it once, for a request or until the tick that ends it, which is longer than a short request: light
//! tasks with slices below a tick get much more than their share for a while.

use super::requests::Requests;
use super::{Broken, Seen, Sight};
use std::collections::BTreeSet;

/// A task in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    group: u32,
    pid: i64,
    weight: u64,
    ran_ns: u64,
}

/// Tasks and what they had got when the epoch began.
#[derive(Debug, Default)]
struct Epoch {
    since_ns: u64,
    /// By group and pid.
    tasks: Vec<Part>,
    slice_ns: u64,
}

/// By CPU.
#[derive(Debug)]
pub(super) struct Shares {
    epochs: Vec<Epoch>,
    scratch: Vec<Part>,
    /// The largest distance in terms of what is allowed.
    pub(super) nearest: f64,
}

impl Shares {
    pub(super) fn new(cpus: usize) -> Shares {
        let epochs = (0..cpus).map(|_| Epoch::default()).collect();
        Shares { epochs, scratch: Vec::new(), nearest: 0.0 }
    }

    /// The epoch of `cpu` is over.
    pub(super) fn forget(&mut self, cpu: usize) {
        self.epochs[cpu].tasks.clear();
    }

    /// Since when the queue of `cpu` has had the same tasks.
    pub(super) fn since_ns(&self, cpu: usize) -> Option<u64> {
        let epoch = &self.epochs[cpu];
        (!epoch.tasks.is_empty()).then_some(epoch.since_ns)
    }

    /// A turn of `cpu` has ended with this queue.
    pub(super) fn check(
        &mut self,
        sight: &Sight<'_>,
        cpu: usize,
        seen: &Seen,
        (tick_ns, requests): (u64, &mut Requests),
        yielded: &BTreeSet<i64>,
    ) -> Option<Broken> {
        let now = &mut self.scratch;
        now.clear();
        now.extend(seen.queued.iter().map(|q| Part {
            group: q.group,
            pid: q.pid,
            weight: q.weight,
            ran_ns: q.sum_exec_ns,
        }));
        now.sort_unstable();
        let epoch = &mut self.epochs[cpu];
        if seen.queued.iter().any(|q| q.delayed != 0) {
            epoch.tasks.clear();
            return None;
        }
        let same =
            |(a, b): (&Part, &Part)| (a.group, a.pid, a.weight) == (b.group, b.pid, b.weight);
        if epoch.tasks.len() != now.len() || !epoch.tasks.iter().zip(now.iter()).all(same) {
            std::mem::swap(&mut epoch.tasks, now);
            (epoch.slice_ns, epoch.since_ns) = (0, sight.now_ns);
            return None;
        }
        if now.len() < 2 || seen.queued.iter().any(|q| yielded.contains(&q.pid)) {
            return None;
        }
        let slice_ns = seen.queued.iter().map(|q| requests.ns(q)).max().unwrap_or(0);
        epoch.slice_ns = epoch.slice_ns.max(slice_ns);
        let mut at = 0;
        while at < now.len() {
            let end = at + now[at..].iter().take_while(|p| p.group == now[at].group).count();
            let parts = (&epoch.tasks[at..end], &now[at..end]);
            let found = among(sight, cpu, parts, (epoch.slice_ns, tick_ns), &mut self.nearest);
            if found.is_some() {
                return found;
            }
            at = end;
        }
        None
    }
}

/// The same tasks of one queue at the begin of an epoch and now.
fn among(
    sight: &Sight<'_>,
    cpu: usize,
    (then, now): (&[Part], &[Part]),
    (slice_ns, tick_ns): (u64, u64),
    nearest: &mut f64,
) -> Option<Broken> {
    let turns = 4 + now.len() as u64;
    let allowed = (turns * (slice_ns + tick_ns) + tick_ns) as f64;
    let got = |at: usize| now[at].ran_ns.saturating_sub(then[at].ran_ns) as f64;
    let all: f64 = (0..now.len()).map(got).sum();
    let weight: f64 = then.iter().map(|t| t.weight as f64).sum();
    for (at, task) in then.iter().enumerate() {
        let due = all * task.weight as f64 / weight;
        let off = (got(at) - due).abs();
        *nearest = nearest.max(off / allowed);
        if off > allowed {
            let ms = |ns: f64| ns / 1e6;
            let what = format!(
                "CPU {cpu}: {} got {:.3} ms of {:.3} ms with {} others, expected {:.3} ms by its weight, at most {:.3} ms off",
                sight.name(task.pid),
                ms(got(at)),
                ms(all),
                now.len() - 1,
                ms(due),
                ms(allowed)
            );
            return Some(sight.broken("shares", what));
        }
    }
    None
}
