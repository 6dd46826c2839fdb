//! How long tasks ran and waited, each and by name.

use super::spread::{Recorded, Spread};
use crate::Comm;
use serde::Serialize;
use std::collections::HashMap;

/// All tasks of one name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The name.
    pub name: String,
    /// How many tasks had it.
    pub tasks: usize,
    /// Times on a CPU, from one switch to the next.
    pub run: Spread,
    /// Times on a queue, woken or preempted, until they ran.
    pub delay: Spread,
    /// Times from a wake-up until they ran.
    pub latency: Spread,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskFigures {
    /// Its name.
    pub name: String,
    /// Its thread ID.
    pub pid: u32,
    /// How often it ran.
    pub runs: u64,
    /// How long in all.
    pub run_ns: u64,
    /// How long it waited on queues.
    pub delay_ns: u64,
    /// The longest wait.
    pub longest_delay_ns: u64,
    /// How often it was woken.
    pub wakeups: u64,
}

#[derive(Debug)]
struct Times {
    run: Recorded,
    delay: Recorded,
    latency: Recorded,
}

/// A task's sums.
#[derive(Debug, Default)]
struct Sums {
    runs: u64,
    run_ns: u64,
    delay_ns: u64,
    longest_delay_ns: u64,
    wakeups: u64,
    /// The name under which it ran last.
    comm: Comm,
}

/// Everything by name and by task.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    by_name: HashMap<Comm, Times>,
    by_pid: HashMap<u32, Sums>,
}

impl Tasks {
    fn of(&mut self, pid: u32, comm: Comm) -> (&mut Times, &mut Sums) {
        let new =
            || Times { run: Recorded::new(), delay: Recorded::new(), latency: Recorded::new() };
        let sums = self.by_pid.entry(pid).or_default();
        sums.comm = comm;
        (self.by_name.entry(comm).or_insert_with(new), sums)
    }

    pub(super) fn ran(&mut self, pid: u32, comm: Comm, ns: u64) {
        let (times, sums) = self.of(pid, comm);
        times.run.add(ns);
        sums.runs += 1;
        sums.run_ns += ns;
    }

    pub(super) fn waited(&mut self, pid: u32, comm: Comm, ns: u64) {
        let (times, sums) = self.of(pid, comm);
        times.delay.add(ns);
        sums.delay_ns += ns;
        sums.longest_delay_ns = sums.longest_delay_ns.max(ns);
    }

    pub(super) fn woke(&mut self, pid: u32, comm: Comm, ns: u64) {
        let (times, sums) = self.of(pid, comm);
        times.latency.add(ns);
        sums.wakeups += 1;
    }

    /// Groups and tasks, those that ran longest first.
    pub(super) fn finish(self, names: &HashMap<u32, Comm>) -> (Vec<Group>, Vec<TaskFigures>) {
        let mut members: HashMap<Comm, usize> = HashMap::new();
        for (pid, sums) in &self.by_pid {
            *members.entry(names.get(pid).copied().unwrap_or(sums.comm)).or_default() += 1;
        }
        let group = |(comm, times): (&Comm, &Times)| Group {
            name: name_of(comm),
            tasks: members.get(comm).copied().unwrap_or(0),
            run: times.run.spread(),
            delay: times.delay.spread(),
            latency: times.latency.spread(),
        };
        let mut groups: Vec<Group> = self.by_name.iter().map(group).collect();
        groups.sort_by(|a, b| (b.run.total_ns, &a.name).cmp(&(a.run.total_ns, &b.name)));
        let task = |(&pid, sums): (&u32, &Sums)| TaskFigures {
            name: name_of(&sums.comm),
            pid,
            runs: sums.runs,
            run_ns: sums.run_ns,
            delay_ns: sums.delay_ns,
            longest_delay_ns: sums.longest_delay_ns,
            wakeups: sums.wakeups,
        };
        let mut tasks: Vec<TaskFigures> = self.by_pid.iter().map(task).collect();
        tasks.sort_by(|a, b| (b.run_ns, a.pid).cmp(&(a.run_ns, b.pid)));
        (groups, tasks)
    }
}

pub(super) fn name_of(comm: &Comm) -> String {
    String::from_utf8_lossy(comm.as_bytes()).into_owned()
}
