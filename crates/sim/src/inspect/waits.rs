//! How long tasks wait: for a CPU, for a queue, for their timer.
//!
//! **The bound of a wait.** EEVDF serves a task of weight `w` among tasks of weight `W` within about two requests of its own in
//! virtual time: one until it is eligible, as it may have had up to a request more than its share, and one until its deadline. In
//! real time that is `2 * slice * W / w`; on top of it comes one request of each other task, of which none is cut off before its end
//! (`slice * n`). A tick is how late the kernel notices. CFS keeps within that with its latency for a slice. `W`, `n` and the slice
//! are the largest that the task saw while it waited. In a group, `W / w` is the product over the queues from the root's to the task's,
//! and a task waits for two requests in each of them. All of it twice, and [`SLACK_NS`] for what else a CPU does.
//!
//! **What is no wait.** Time that tasks of higher classes have the CPU, which fair ones cannot get, and time without quota. For that
//! there is a bound of its own: a group's CPUs may have gone on for a tick beyond a quota, which takes `cpus * tick / quota` periods to
//! earn, and two periods more are one under way and one until all CPUs get some.

use super::ranks::Ranks;
use super::requests::Requests;
use super::{Broken, Seen, Sight};
use crate::source::Queued;
use crate::topology::Cpu;
use std::collections::{BTreeMap, BTreeSet};

/// What a CPU may do beside its queue: interrupts, the stopper, steps of hotplug.
const SLACK_NS: u64 = 50_000_000;
/// How much longer than the bound a wait has to be.
const TIMES: f64 = 2.0;
/// How long a task that can run may be in no queue: on its way to a CPU that has to leave its idle state.
const ABSENT_NS: u64 = 20_000_000;
/// The same for a task of a higher class, whose queue is not told: others of such classes may go before it, and it may have used up
/// what it has of a period.
const ABSENT_ABOVE_NS: u64 = 300_000_000;
/// How late a timer may be.
const LATE_NS: u64 = 20_000_000;
/// A wait in a queue.
#[derive(Debug, Clone, Copy, Default)]
struct Wait {
    since_ns: u64,
    /// The largest `W / w`, tasks and request beside it.
    share: f64,
    tasks: u64,
    slice_ns: u64,
    bound_ns: u64,
    /// When it was last looked at, where, and what higher classes had had there.
    seen_ns: u64,
    cpu: Cpu,
    above_ns: u64,
    /// What of it is no wait.
    excused_ns: u64,
    throttled_ns: Option<u64>,
}

impl Wait {
    /// The task waits on `cpu`, or has waited there until now.
    fn goes_on(&mut self, now_ns: u64, cpu: Cpu, ranks: &Ranks, throttled: bool) {
        let above_ns = ranks.had_ns(now_ns, cpu.into());
        match (throttled, self.cpu == cpu) {
            (true, _) => self.excused_ns += now_ns - self.seen_ns,
            (false, true) => self.excused_ns += above_ns - self.above_ns,
            (false, false) => {}
        }
        (self.seen_ns, self.cpu, self.above_ns) = (now_ns, cpu, above_ns);
    }
}

/// The waits of all tasks, by pid.
#[derive(Debug, Default)]
pub(super) struct TaskWaits {
    waits: BTreeMap<i64, Wait>,
    absent: BTreeMap<i64, u64>,
    due: BTreeMap<i64, u64>,
    /// Whether there is a task without quota.
    some_throttled: bool,
    /// The longest wait in terms of its bound.
    pub(super) nearest: f64,
    /// The longest wait for quota in terms of its bound.
    pub(super) nearest_throttled: f64,
}

impl TaskWaits {
    pub(super) fn expects_timer(&mut self, pid: i64, at_ns: u64) {
        self.due.insert(pid, at_ns);
    }

    pub(super) fn woken(&mut self, pid: i64) {
        self.due.remove(&pid);
        self.absent.remove(&pid);
    }

    /// A queue as it is after a turn: a group that has quota for less than the time between two looks at all queues has had some.
    pub(super) fn saw(&mut self, queued: &[Queued]) {
        if !self.some_throttled {
            return;
        }
        for task in queued.iter().filter(|q| q.throttled == 0) {
            if let Some(wait) = self.waits.get_mut(&task.pid) {
                wait.throttled_ns = None;
            }
        }
    }

    /// Since when `pid` waits.
    pub(super) fn since_ns(&self, pid: i64) -> Option<u64> {
        self.waits.get(&pid).map(|wait| wait.since_ns)
    }

    /// `pid` runs; what is wrong with how long that took.
    pub(super) fn runs(
        &mut self,
        now_ns: u64,
        pid: i64,
        ranks: &Ranks,
        yielded: &BTreeSet<i64>,
    ) -> Option<String> {
        self.absent.remove(&pid);
        let mut wait = self.waits.remove(&pid)?;
        wait.goes_on(now_ns, wait.cpu, ranks, wait.throttled_ns.is_some());
        let wrong = self.too_long(now_ns, pid, &wait, yielded)?;
        Some(format!("task {pid} {wrong}"))
    }

    fn too_long(
        &mut self,
        now_ns: u64,
        pid: i64,
        wait: &Wait,
        yielded: &BTreeSet<i64>,
    ) -> Option<String> {
        if yielded.contains(&pid) || wait.bound_ns == 0 {
            return None;
        }
        let waited_ns = now_ns.saturating_sub(wait.since_ns).saturating_sub(wait.excused_ns);
        self.nearest = self.nearest.max(waited_ns as f64 / wait.bound_ns as f64);
        (waited_ns > wait.bound_ns).then(|| {
            let ms = |ns: u64| ns as f64 / 1e6;
            format!(
                "waited {:.3} ms for a CPU, expected at most {:.3} ms: its weight is 1 in {:.1} of its queue of {}, slice {:.3} ms",
                ms(waited_ns), ms(wait.bound_ns), wait.share, wait.tasks, ms(wait.slice_ns)
            )
        })
    }

    /// All queues have been looked at.
    pub(super) fn look(
        &mut self,
        sight: &Sight<'_>,
        cpus: &[Seen],
        (tick_ns, requests, ranks): (u64, &mut Requests, &Ranks),
        yielded: &BTreeSet<i64>,
        pids: &mut dyn Iterator<Item = i64>,
    ) -> Option<Broken> {
        let mut before = std::mem::take(&mut self.waits);
        let mut here: BTreeSet<i64> = ranks.running().collect();
        self.some_throttled = false;
        for &cpu in &sight.topo.online {
            let seen = &cpus[usize::from(cpu)];
            here.extend(seen.queued.iter().filter(|q| q.delayed == 0).map(|q| q.pid));
            let tasks = seen.queued.len() as u64;
            let slice_ns = seen.queued.iter().map(|q| requests.ns(q)).max().unwrap_or(0);
            for task in seen.waiting() {
                let now_ns = sight.now_ns;
                let first = Wait { since_ns: now_ns, seen_ns: now_ns, ..Wait::default() };
                let mut wait = before.remove(&task.pid).unwrap_or(first);
                wait.goes_on(now_ns, cpu, ranks, task.throttled != 0);
                self.some_throttled |= task.throttled != 0;
                if let Some(what) = self.throttled(sight, task, &mut wait, tick_ns) {
                    return Some(sight.broken("throttled", what));
                }
                // One request for each queue from the root's down.
                let share = task.parts as f64 / 1024.0 * f64::from(task.depth);
                wait.share = wait.share.max(share);
                wait.tasks = wait.tasks.max(tasks);
                wait.slice_ns = wait.slice_ns.max(slice_ns);
                let turn_ns = (wait.slice_ns + tick_ns) as f64;
                let turns = 2.0 * wait.share + wait.tasks as f64;
                wait.bound_ns = SLACK_NS + (TIMES * turn_ns * turns) as u64;
                self.waits.insert(task.pid, wait);
                if let Some(wrong) = self.too_long(sight.now_ns, task.pid, &wait, yielded) {
                    let what = format!("{} on CPU {cpu} {wrong}", sight.name(task.pid));
                    return Some(sight.broken("starvation", what));
                }
            }
        }
        self.lost(sight, &here, pids)
    }

    /// What is wrong with how long the group of `task` has been without quota.
    fn throttled(
        &mut self,
        sight: &Sight<'_>,
        task: &Queued,
        wait: &mut Wait,
        tick_ns: u64,
    ) -> Option<String> {
        if task.throttled == 0 {
            wait.throttled_ns = None;
            return None;
        }
        let long_ns = sight.now_ns - *wait.throttled_ns.get_or_insert(sight.now_ns);
        let debt = (sight.topo.nr_cpus as u64 * tick_ns).div_ceil(task.quota_ns.max(1));
        let bound_ns = SLACK_NS + task.period_ns * (2 + debt);
        self.nearest_throttled = self.nearest_throttled.max(long_ns as f64 / bound_ns as f64);
        let ms = |ns: u64| ns as f64 / 1e6;
        (long_ns > bound_ns).then(|| {
            format!(
                "{} has been without quota for {:.3} ms, expected at most {:.3} ms with {:.3} ms of {:.3} ms",
                sight.name(task.pid), ms(long_ns), ms(bound_ns), ms(task.quota_ns), ms(task.period_ns)
            )
        })
    }

    /// Tasks that can run and are nowhere, and those that nobody has woken in time.
    fn lost(
        &mut self,
        sight: &Sight<'_>,
        here: &BTreeSet<i64>,
        pids: &mut dyn Iterator<Item = i64>,
    ) -> Option<Broken> {
        let now_ns = sight.now_ns;
        for pid in pids {
            let Some(subject) = (sight.subject)(pid) else { continue };
            let ms = |ns: u64| (now_ns - ns) as f64 / 1e6;
            if !subject.runnable || here.contains(&pid) {
                self.absent.remove(&pid);
            } else {
                let since_ns = *self.absent.entry(pid).or_insert(now_ns);
                let most_ns = if subject.higher { ABSENT_ABOVE_NS } else { ABSENT_NS };
                if now_ns - since_ns > most_ns {
                    let what = format!(
                        "{} can run and is in no queue for {:.3} ms",
                        sight.name(pid),
                        ms(since_ns)
                    );
                    return Some(sight.broken("lost task", what));
                }
            }
            let due_ns = self.due.get(&pid).copied().filter(|_| subject.sleeping);
            if let Some(due_ns) = due_ns.filter(|due| due + LATE_NS < now_ns) {
                let what = format!(
                    "{} sleeps, though its timer was due {:.3} ms ago",
                    sight.name(pid),
                    ms(due_ns)
                );
                return Some(sight.broken("lost timer", what));
            }
        }
        None
    }
}
