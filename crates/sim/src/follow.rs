//! The model behind a real kernel: a trace says what the kernel did, and the model is asked what it would have done at each wake-up.
//!
//! [`Follower`] is told who runs where, who sleeps, who is queued and who moves, and keeps the fair class's state as a run would: queues,
//! load averages, idle cores, whom a task woke last. At a wake-up it says where its rules send the task, from this state; then it is
//! told where the kernel sent it. So an error of one choice does not carry over to the next.
//!
//! A trace does not tell everything. Load averages begin at 0 and follow the trace's times, ticks come when they would, and an LLC's
//! utilisation is known to searches one tick later. Where such a value decides, an [`Answer`] says so: the same rules are asked again
//! as if it were otherwise, and give another CPU. Affinity is that of [`Follower::bind`], or all CPUs.

mod arrivals;
mod ground;

pub use ground::Ground;

use crate::class::{Class, Dequeue, Enqueue, Select};
use crate::engine::world;
use crate::fair::{Fair, Supposed, WakeUp};
use crate::topology::Cpu;
use crate::world::{Phase, State, Task, TaskId, World};
use kernel::MechanismId;
use kernel::priority::{DEFAULT_PRIO, FAIR_PRIORITIES, nice_of};
use machine::CpuSet;
use std::collections::HashMap;
use workload::ProgramId;

/// A task as a trace names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// Its pid; 0 is the idle task.
    pub pid: u32,
    /// Its priority as the kernel counts: 120 for nice 0, less than 100 for real time.
    pub priority: i32,
}

/// How a task leaves its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaves {
    /// It stays on the queue.
    Runnable,
    /// It sleeps.
    Sleeps,
    /// It is gone.
    Exits,
}

/// A wake-up as the kernel saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wake {
    /// The woken task.
    pub task: Named,
    /// The pid of who runs on the CPU on which it happens; 0 where that CPU is idle.
    pub waker: u32,
    /// That CPU.
    pub cpu: Cpu,
    /// The CPU on which the task last ran.
    pub previous: Cpu,
    /// Whether the waker is about to sleep (`WF_SYNC`).
    pub sync: bool,
}

/// Where the model sends a woken task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The CPU.
    pub cpu: Cpu,
    /// Whether loads decide, which the trace does not tell exactly (`wake_affine_weight`).
    pub by_load: bool,
    /// Whether it depends on how far the search may look (`SIS_UTIL`, `SIS_PROP`).
    pub by_search: bool,
    /// Whether it depends on how often waker and woken task changed whom they wake (`wake_wide`), of which a trace tells only its own
    /// part.
    pub by_partners: bool,
    /// Whether it depends on when the kernel last halved the waker's count of them (`wakee_flip_decay_ts`), once a second, which no
    /// probe tells.
    pub by_halving: bool,
    /// Whether it depends on a woken task that is just on its way to its CPU.
    pub by_arrival: bool,
}

/// What is known of a task besides what the class keeps.
#[derive(Debug, Clone, Copy)]
struct Known {
    fair: bool,
    queued: bool,
}

/// The state behind a trace.
pub struct Follower<'a> {
    w: World<'a>,
    fair: Fair,
    ids: HashMap<u32, TaskId>,
    bound: HashMap<u32, CpuSet>,
    known: Vec<Known>,
    /// By CPU: the running task, idle ones left out.
    running: Vec<Option<TaskId>>,
    /// By CPU: woken tasks that are on their way to it.
    coming: Vec<Vec<TaskId>>,
    /// By CPU: which one it has chosen for a task that it wakes, until it records something else.
    chosen: Vec<Option<Cpu>>,
    repairs: u64,
}

impl<'a> Follower<'a> {
    /// All CPUs idle, at `now_ns`.
    pub fn new(ground: &'a Ground, now_ns: u64) -> Follower<'a> {
        let setup = &ground.0.setup;
        let tick_ns = 1_000_000_000 / u64::from(setup.kernel.hz);
        let cpus = setup.topo.nr_cpus;
        let mut follower = Follower {
            w: world(setup, 0, tick_ns, 0),
            // Lags say whether a departure is delayed. A trace does not tell them, and no choice of a CPU needs them.
            fair: Fair::new(
                &setup.topo,
                &setup.kernel.clone().with(MechanismId::DelayDequeue, false),
            ),
            ids: HashMap::new(),
            bound: HashMap::new(),
            known: Vec::new(),
            running: vec![None; cpus],
            coming: vec![Vec::new(); cpus],
            chosen: vec![None; cpus],
            repairs: 0,
        };
        follower.w.advance(now_ns);
        // Idle tasks wake others too, from interrupts.
        for cpu in 0..cpus {
            follower.add(cpu as Cpu, None, DEFAULT_PRIO, false);
        }
        follower
    }

    /// How often the trace said something that did not fit the state: a task ran that was not queued there, or a CPU went idle that
    /// had tasks. Both happen at the start, and where records are lost.
    pub fn repairs(&self) -> u64 {
        self.repairs
    }

    /// By CPU: tasks on its queue, the running one included, and woken ones that are on their way to it.
    pub fn queues(&self) -> Vec<(u32, u32)> {
        let coming = self.coming.iter().map(|coming| coming.len() as u32);
        self.w.cpus.iter().map(|c| c.nr_running).zip(coming).collect()
    }

    /// `task` was running on `cpu` before the trace began.
    pub fn ran_before(&mut self, cpu: Cpu, task: Named) {
        let task = self.known(task, cpu);
        if !self.known[task.index()].queued && self.running[cpu as usize].is_none() {
            self.enqueue(task, Enqueue::Wakeup { migrated: false });
            self.make_run(cpu, task);
        }
    }

    /// The task of `pid` may use only `cpus`.
    pub fn bind(&mut self, pid: u32, cpus: CpuSet) {
        self.bound.insert(pid, cpus);
    }

    /// Whether the task of `pid` may use one CPU only.
    pub fn is_bound(&self, pid: u32) -> bool {
        self.bound.get(&pid).is_some_and(|cpus| cpus.len() == 1)
    }

    /// Whether the task of `pid` is on a queue, running or not.
    pub fn is_queued(&self, pid: u32) -> bool {
        self.ids.get(&pid).is_some_and(|task| self.known[task.index()].queued)
    }

    /// Goes on to `now_ns`, with the ticks on the way.
    pub fn advance(&mut self, now_ns: u64) {
        while self.w.next_tick_ns() <= now_ns {
            self.w.advance(self.w.next_tick_ns());
            self.fair.told_tick(&mut self.w);
        }
        self.w.advance(now_ns.max(self.w.now_ns));
        self.w.requests.clear();
        self.w.notes.clear();
    }

    /// `sched_switch` on `cpu`.
    pub fn switch(&mut self, cpu: Cpu, previous: Named, leaves: Leaves, next: Named) {
        if previous.pid != 0 {
            let task = self.known(previous, cpu);
            self.make_run(cpu, task);
            self.put(cpu, task, leaves);
            if leaves == Leaves::Exits {
                self.ids.remove(&previous.pid);
            }
        }
        match next.pid {
            0 => self.go_idle(cpu),
            _ => {
                let task = self.known(next, cpu);
                self.make_run(cpu, task);
            }
        }
    }

    /// `sched_wakeup_new`: the task of pid `parent`, which runs on `at`, has a child on the queue of `cpu`.
    pub fn forked(&mut self, child: Named, parent: u32, at: Cpu, cpu: Cpu) {
        let parent = (parent != 0).then(|| self.of_pid(parent, at));
        self.ids.remove(&child.pid);
        let task = self.add(at, parent, child.priority, true);
        self.register(child.pid, task);
        self.w.tasks[task.index()].cpu = cpu;
        self.enqueue(task, Enqueue::New);
    }

    /// `sched_wakeup`: a woken task is on the queue of `cpu`, unless it never left it.
    pub fn woken(&mut self, task: Named, cpu: Cpu) {
        let task = self.known(task, cpu);
        self.arrives(task);
        if self.known[task.index()].queued {
            return;
        }
        let from = self.w.tasks[task.index()].cpu;
        self.set_off(task, cpu);
        self.enqueue(task, Enqueue::Wakeup { migrated: from != cpu });
    }

    /// `sched_migrate_task`.
    pub fn moved(&mut self, task: Named, to: Cpu) {
        let task = self.known(task, to);
        match self.known[task.index()].queued {
            true => self.requeue(task, to),
            false => self.set_off(task, to),
        }
    }

    /// What the task of `pid` remembers: how often it changed whom it wakes, and the CPU that it used before the last one.
    pub fn remembers(&mut self, pid: u32, flips: u32, recent: Cpu) {
        if let Some(&task) = self.ids.get(&pid) {
            self.fair.told_memory(task, flips, recent);
        }
    }

    /// `sched_waking`: a task that may use one CPU only goes there, and no class is asked.
    pub fn waking(&mut self, task: Named) {
        let only = self.bound.get(&task.pid).filter(|cpus| cpus.len() == 1);
        if let Some(cpu) = only.and_then(CpuSet::first) {
            self.sent(task, cpu as Cpu);
        }
    }

    /// The kernel sends a woken task to `cpu`; until it is queued there, the CPU is not idle.
    pub fn sent(&mut self, task: Named, cpu: Cpu) {
        let task = self.known(task, cpu);
        if !self.known[task.index()].queued {
            self.coming[cpu as usize].push(task);
            self.show(cpu);
        }
    }

    /// Where the model sends the task. Nothing stays of the question.
    pub fn answer(&mut self, wake: &Wake) -> Answer {
        let (task, up) = self.question(wake);
        let mut answer =
            |supposed: &[Supposed]| self.fair.told_choice(&mut self.w, task, up, supposed);
        let cpu = answer(&[]);
        let loads = [Supposed::LessLoadHere, Supposed::MoreLoadHere];
        let searches = [Supposed::NoSearch, Supposed::WholeSearch];
        let by_load = loads.iter().any(|&one| answer(&[one]) != cpu);
        let mut by_search = searches.iter().any(|&one| answer(&[one]) != cpu);
        if !by_load && !by_search {
            let both = loads.iter().flat_map(|&l| searches.map(|s| [l, s]));
            by_search = both.into_iter().any(|two| answer(&two) != cpu);
        }
        let partners = [Supposed::ManyPartners, Supposed::OnePartner];
        let by_partners = partners.iter().any(|&one| answer(&[one]) != cpu);
        let halvings = [Supposed::HalvedLess, Supposed::HalvedMore];
        let by_halving = by_partners && halvings.iter().any(|&one| answer(&[one]) != cpu);
        let by_search = by_search && self.fair.limits_searches();
        let by_arrival = self.depends_on_arrivals(task, up, cpu);
        Answer { cpu, by_load, by_search, by_partners, by_halving, by_arrival }
    }

    /// The wake-up has happened: the model keeps whom the waker woke, and what searching tells of idle cores.
    pub fn noted(&mut self, wake: &Wake) {
        let (task, up) = self.question(wake);
        let why = Select::Wake { cpu: up.cpu, sync: up.sync, waker: up.waker };
        self.fair.select_cpu(&mut self.w, task, why);
    }

    fn question(&mut self, wake: &Wake) -> (TaskId, WakeUp) {
        let task = self.known(wake.task, wake.previous);
        if !self.known[task.index()].queued {
            self.set_off(task, wake.previous);
        }
        let waker = match wake.waker {
            0 => TaskId(wake.cpu.into()),
            pid => self.of_pid(pid, wake.cpu),
        };
        let Wake { cpu, previous: prev, sync, .. } = *wake;
        (task, WakeUp { cpu, prev, sync, waker: Some(waker) })
    }

    /// The task of this name; one that was not seen before sleeps, and last ran on `cpu`.
    fn known(&mut self, named: Named, cpu: Cpu) -> TaskId {
        let fair = FAIR_PRIORITIES.contains(&named.priority);
        let Some(&task) = self.ids.get(&named.pid) else {
            let task = self.add(cpu, None, named.priority, fair);
            self.register(named.pid, task);
            return task;
        };
        let nice = nice_of(named.priority);
        let known = self.known[task.index()];
        if known.fair != fair {
            if known.queued {
                self.leave(task, Dequeue::Move);
            }
            self.known[task.index()].fair = fair;
            if known.queued {
                self.enqueue(task, Enqueue::Moved);
            }
        }
        if fair && self.w.tasks[task.index()].nice != nice {
            self.fair.reweight(&mut self.w, task, nice);
            self.w.tasks[task.index()].nice = nice;
        }
        task
    }

    /// The task of `pid`, whose priority nothing has told yet if it was not seen before.
    fn of_pid(&mut self, pid: u32, cpu: Cpu) -> TaskId {
        match self.ids.get(&pid) {
            Some(&task) => task,
            None => self.known(Named { pid, priority: DEFAULT_PRIO }, cpu),
        }
    }

    fn add(&mut self, cpu: Cpu, parent: Option<TaskId>, priority: i32, fair: bool) -> TaskId {
        let task = TaskId(self.w.tasks.len() as u32);
        let mut new = Task::new(ProgramId(0), cpu, self.w.topo.online_set.clone());
        new.nice = nice_of(priority);
        self.w.tasks.push(new);
        self.known.push(Known { fair, queued: false });
        self.fair.fork(&mut self.w, task, parent);
        task
    }

    fn register(&mut self, pid: u32, task: TaskId) {
        self.ids.insert(pid, task);
        if let Some(cpus) = self.bound.get(&pid) {
            self.w.tasks[task.index()].allowed = cpus & &self.w.topo.online_set;
        }
    }

    /// A task that is not queued is to be queued on `cpu`.
    fn set_off(&mut self, task: TaskId, cpu: Cpu) {
        if self.w.tasks[task.index()].cpu == cpu {
            return;
        }
        if self.known[task.index()].fair {
            self.fair.migrate(&mut self.w, task);
        }
        self.w.tasks[task.index()].cpu = cpu;
    }

    /// A queued task is on the queue of `cpu` from now on.
    fn requeue(&mut self, task: TaskId, cpu: Cpu) {
        if self.w.tasks[task.index()].cpu != cpu {
            self.leave(task, Dequeue::Move);
            self.w.tasks[task.index()].cpu = cpu;
            self.enqueue(task, Enqueue::Moved);
        }
    }

    /// A woken task is on its way no more.
    fn arrives(&mut self, task: TaskId) {
        for cpu in 0..self.coming.len() {
            if self.coming[cpu].contains(&task) {
                self.coming[cpu].retain(|&t| t != task);
                self.show(cpu as Cpu);
            }
        }
    }

    fn enqueue(&mut self, task: TaskId, why: Enqueue) {
        let cpu = self.w.tasks[task.index()].cpu;
        self.known[task.index()].queued = true;
        self.w.tasks[task.index()].state = State::Runnable;
        match self.known[task.index()].fair {
            true => self.fair.enqueue(&mut self.w, task, why),
            false => self.fair.told_other(&mut self.w, cpu, true),
        }
    }

    fn leave(&mut self, task: TaskId, why: Dequeue) {
        let cpu = self.w.tasks[task.index()].cpu;
        if self.running[cpu as usize] == Some(task) && why == Dequeue::Move {
            self.put(cpu, task, Leaves::Runnable);
        }
        self.known[task.index()].queued = false;
        match self.known[task.index()].fair {
            true => self.fair.dequeue(&mut self.w, task, why),
            false => self.fair.told_other(&mut self.w, cpu, false),
        }
    }

    /// `task` runs on `cpu`, whatever was there.
    fn make_run(&mut self, cpu: Cpu, task: TaskId) {
        if self.running[cpu as usize] == Some(task) {
            return;
        }
        if let Some(other) = self.running[cpu as usize] {
            self.repairs += 1;
            self.put(cpu, other, Leaves::Sleeps);
        }
        self.arrives(task);
        let known = self.known[task.index()];
        let elsewhere = self.w.tasks[task.index()].cpu != cpu;
        if !known.queued {
            self.repairs += 1;
            self.set_off(task, cpu);
            self.enqueue(task, Enqueue::Wakeup { migrated: elsewhere });
        } else if elsewhere {
            self.repairs += 1;
            self.requeue(task, cpu);
        }
        if known.fair {
            self.fair.told_next(&mut self.w, cpu, task);
        }
        self.running[cpu as usize] = Some(task);
        self.show(cpu);
    }

    /// The running task of `cpu` stops running.
    fn put(&mut self, cpu: Cpu, task: TaskId, leaves: Leaves) {
        let fair = self.known[task.index()].fair;
        match leaves {
            Leaves::Runnable => {}
            Leaves::Sleeps => self.leave(task, Dequeue::Sleep),
            Leaves::Exits => self.leave(task, Dequeue::Exit),
        }
        self.running[cpu as usize] = None;
        if fair {
            self.fair.put_prev(&mut self.w, cpu, task);
        }
        if leaves != Leaves::Runnable {
            self.w.tasks[task.index()].state = State::Sleeping;
        }
        if fair && leaves == Leaves::Exits {
            self.fair.dead(&mut self.w, task);
        }
        self.show(cpu);
    }

    fn go_idle(&mut self, cpu: Cpu) {
        if let Some(task) = self.running[cpu as usize] {
            self.repairs += 1;
            self.put(cpu, task, Leaves::Sleeps);
        }
        // Records of them are missing: a kernel goes idle only when nothing is queued.
        for task in self.fair.told_queued(cpu) {
            self.repairs += 1;
            self.leave(task, Dequeue::Sleep);
        }
        self.show(cpu);
        self.fair.told_idle(&self.w, cpu);
    }

    /// Lets the class see what runs on `cpu`.
    fn show(&mut self, cpu: Cpu) {
        let coming = self.coming[cpu as usize].first().copied();
        let c = &mut self.w.cpus[cpu as usize];
        c.curr = self.running[cpu as usize].or(coming);
        c.phase = match c.curr {
            Some(_) => Phase::Running,
            None => Phase::Idle { since_ns: self.w.now_ns, state: 0 },
        };
    }
}
