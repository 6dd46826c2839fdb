//! An observer that keeps its own account of who runs where and notes what cannot be.

use machine::CpuSet;
use sim::Trace;
use sim::topology::Cpu;
use sim::world::TaskId;
use std::collections::{BTreeMap, VecDeque};
use workload::{LockId, QueueId};

/// What is known of one task.
pub struct Seen {
    pub program: String,
    pub allowed: CpuSet,
    pub exited: bool,
    pub ran_ns: u64,
    /// Times it was put on a CPU, and how long it waited for that in all.
    pub switches: u32,
    pub waited_ns: u64,
    ready_ns: Option<u64>,
    cpu: Option<Cpu>,
    since_ns: Option<u64>,
}

/// The account.
pub struct Watch {
    pub tasks: Vec<Seen>,
    pub wrong: Vec<String>,
    pub sent: u64,
    pub received: u64,
    /// By queue: when the messages in it were written.
    queued: BTreeMap<QueueId, VecDeque<u64>>,
    /// CPUs that are offline from one point in time to another.
    pub offline: Vec<(Cpu, u64, u64)>,
    pub fullest: BTreeMap<QueueId, usize>,
    holders: BTreeMap<LockId, TaskId>,
    running: Vec<Option<TaskId>>,
    last_ns: u64,
}

impl Watch {
    pub fn new(nr_cpus: usize) -> Watch {
        Watch {
            tasks: Vec::new(),
            wrong: Vec::new(),
            sent: 0,
            received: 0,
            queued: BTreeMap::new(),
            offline: Vec::new(),
            fullest: BTreeMap::new(),
            holders: BTreeMap::new(),
            running: vec![None; nr_cpus],
            last_ns: 0,
        }
    }

    fn check(&mut self, holds: bool, at_ns: u64, what: impl FnOnce() -> String) {
        if !holds {
            self.wrong.push(format!("{at_ns} ns: {}", what()));
        }
    }

    fn time(&mut self, at_ns: u64) {
        self.check(at_ns >= self.last_ns, at_ns, || "time went back".to_string());
        self.last_ns = at_ns;
    }

    /// Nothing but leaving happens on a CPU that is offline.
    fn comes(&mut self, at_ns: u64, task: TaskId, cpu: Cpu) {
        let gone =
            |&(c, from_ns, to_ns): &(Cpu, u64, u64)| c == cpu && from_ns < at_ns && at_ns < to_ns;
        let offline = self.offline.iter().any(gone);
        self.check(!offline, at_ns, || format!("{task:?} comes to the offline CPU {cpu}"));
    }

    fn runs(&mut self, at_ns: u64, task: Option<TaskId>) {
        let runs = task.is_none_or(|t| self.running.contains(&Some(t)));
        self.check(runs, at_ns, || format!("{task:?} acts while it does not run"));
    }

    /// Counts what still runs at the end.
    pub fn finish(&mut self, end_ns: u64) {
        for task in &mut self.tasks {
            task.ran_ns += task.since_ns.take().map_or(0, |since| end_ns - since);
        }
    }
}

impl Trace for Watch {
    fn created(&mut self, at_ns: u64, task: TaskId, program: &str, allowed: &CpuSet) {
        self.time(at_ns);
        assert_eq!(task.index(), self.tasks.len());
        let program = program.to_string();
        let seen = Seen {
            program,
            allowed: allowed.clone(),
            exited: false,
            ran_ns: 0,
            switches: 0,
            waited_ns: 0,
            ready_ns: None,
            cpu: None,
            since_ns: None,
        };
        self.tasks.push(seen);
    }

    fn exited(&mut self, at_ns: u64, task: TaskId) {
        self.time(at_ns);
        let twice = self.tasks[task.index()].exited;
        self.check(!twice, at_ns, || format!("{task:?} exits twice"));
        self.tasks[task.index()].exited = true;
    }

    fn allowed(&mut self, at_ns: u64, task: TaskId, allowed: &CpuSet) {
        self.time(at_ns);
        self.tasks[task.index()].allowed = allowed.clone();
    }

    fn switch(&mut self, at_ns: u64, cpu: Cpu, previous: Option<TaskId>, next: Option<TaskId>) {
        self.time(at_ns);
        let there = self.running[cpu as usize];
        self.check(there == previous, at_ns, || {
            format!("CPU {cpu} switches from {previous:?}, but {there:?} ran there")
        });
        if let Some(task) = previous {
            let seen = &mut self.tasks[task.index()];
            seen.ran_ns += seen.since_ns.take().map_or(0, |since| at_ns - since);
            seen.ready_ns = Some(at_ns);
        }
        self.running[cpu as usize] = next;
        let Some(task) = next else { return };
        self.comes(at_ns, task, cpu);
        let seen = &mut self.tasks[task.index()];
        let (exited, allowed) = (seen.exited, seen.allowed.contains(cpu as usize));
        let elsewhere = seen.since_ns.replace(at_ns).is_some();
        seen.switches += 1;
        seen.waited_ns += seen.ready_ns.take().map_or(0, |since| at_ns - since);
        let belongs = *seen.cpu.get_or_insert(cpu) == cpu;
        self.check(!exited, at_ns, || format!("{task:?} runs after its exit"));
        self.check(allowed, at_ns, || format!("{task:?} may not run on CPU {cpu}"));
        self.check(!elsewhere, at_ns, || format!("{task:?} runs on two CPUs"));
        self.check(belongs, at_ns, || format!("{task:?} runs on CPU {cpu} without a move there"));
    }

    fn wakeup(&mut self, at_ns: u64, task: TaskId, _by: Cpu, target: Cpu) {
        self.time(at_ns);
        self.comes(at_ns, task, target);
        self.tasks[task.index()].ready_ns = Some(at_ns);
        let awake = self.tasks[task.index()].since_ns.is_some();
        self.check(!awake, at_ns, || format!("{task:?} is woken while it runs"));
        let belongs = self.tasks[task.index()].cpu.is_none_or(|c| c == target);
        self.check(belongs, at_ns, || format!("{task:?} wakes on CPU {target} without a move"));
    }

    fn sent(&mut self, at_ns: u64, task: Option<TaskId>, queue: QueueId, queued: usize) {
        self.time(at_ns);
        self.runs(at_ns, task);
        self.sent += 1;
        let messages = self.queued.entry(queue).or_default();
        messages.push_back(at_ns);
        let same = messages.len() == queued;
        let fullest = self.fullest.entry(queue).or_default();
        *fullest = queued.max(*fullest);
        self.check(same, at_ns, || format!("{queue:?} counts {queued} messages"));
    }

    fn received(&mut self, at_ns: u64, task: TaskId, queue: QueueId, written_ns: u64) {
        self.time(at_ns);
        self.runs(at_ns, Some(task));
        self.received += 1;
        let first = self.queued.entry(queue).or_default().pop_front();
        self.check(first == Some(written_ns), at_ns, || {
            format!("{task:?} reads of {written_ns} ns from {queue:?}, first is {first:?}")
        });
    }

    fn locked(&mut self, at_ns: u64, task: TaskId, lock: LockId) {
        self.time(at_ns);
        self.runs(at_ns, Some(task));
        let holder = self.holders.insert(lock, task);
        self.check(holder.is_none(), at_ns, || format!("{task:?} takes {lock:?} of {holder:?}"));
    }

    fn unlocked(&mut self, at_ns: u64, task: TaskId, lock: LockId) {
        self.time(at_ns);
        let holder = self.holders.remove(&lock);
        self.check(holder == Some(task), at_ns, || {
            format!("{task:?} lets go of {lock:?} of {holder:?}")
        });
    }

    fn migrate(&mut self, at_ns: u64, task: TaskId, from: Cpu, to: Cpu) {
        self.time(at_ns);
        self.comes(at_ns, task, to);
        let seen = &mut self.tasks[task.index()];
        let was_there = seen.cpu.replace(to).is_none_or(|c| c == from);
        let running = seen.since_ns.is_some();
        self.check(was_there, at_ns, || format!("{task:?} leaves CPU {from}, where it was not"));
        self.check(!running, at_ns, || format!("{task:?} moves while it runs"));
    }
}
