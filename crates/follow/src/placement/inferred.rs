//! Wake-ups of any trace, without probes.
//!
//! `try_to_wake_up` records `sched_waking`, chooses a CPU, and records `sched_migrate_task` if that is not the task's last one. It runs
//! with interrupts off, so whatever else its CPU records next is later: without a move before, the last CPU was chosen. What the trace
//! leaves open is counted apart:
//!
//! * **`WF_SYNC`** is not recorded. The model is asked both ways.
//! * **What a task remembers** from before the trace is unknown: at its first wake-up its recent CPU, and always how often it changed
//!   whom it wakes (`wake_wide`).
//! * **Affinity** is not recorded. A task that never left a CPU may be bound to it. `kworker/3:1` is.
//! * **No choice** is made for a task that has not left its CPU's queue (`ttwu_runnable`), which the trace does not tell where the
//!   departure is delayed (`DELAY_DEQUEUE`), nor for one that its CPU is just switching from (`p->on_cpu`, `ttwu_queue_wakelist`).

use super::follow::{Closed, Open, State, named};
use super::{Count, Difference, FirstPass, Ground, Placements};
use kernel::MechanismId;
use sim::follow::{Answer, Leaves, Wake};
use std::collections::HashMap;
use trace::inspect::is_of_one_cpu;
use trace::{Comm, Context, TraceError};
use trace::{Event, Kind, Sink, Task};

/// A CPU needs at most so long to finish a switch that it has recorded (`finish_task`).
const SWITCHING_NS: u64 = 5_000;

/// A wake-up for which a CPU was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The woken task.
    pub pid: u32,
    /// The CPU on which the task last ran.
    pub previous: u32,
    /// The model's choice.
    pub model: u32,
    /// Tasks on the queue of the model's choice, and woken ones on their way to it.
    pub queued: u32,
    /// Whether the trace determines what the choice is made from.
    pub is_determined: bool,
}

/// What is known of a task.
#[derive(Default)]
struct Known {
    /// The CPU on which it was when the trace first tells of it.
    first_cpu: u32,
    /// It was seen on two CPUs.
    moved: bool,
    /// It was made within the trace, or has been woken.
    remembered: bool,
    /// When it last left its CPU, asleep.
    left_ns: u64,
    /// Determined wake-ups, until the task moves.
    held: Count,
    differs: Vec<Difference>,
}

/// An open question: the answers that the trace does not exclude.
#[derive(Clone, Copy)]
struct Asked {
    /// With `WF_SYNC`.
    sync: Answer,
    remembered: bool,
    perhaps_queued: bool,
}

/// Takes a trace and compares its wake-ups.
pub struct Inferred<'a> {
    state: State<'a>,
    delays: bool,
    tasks: HashMap<u32, Known>,
    /// By CPU: when it last had nothing to run.
    idled_ns: Vec<u64>,
    /// By CPU, beside the question that is open there.
    asked: Vec<Option<Asked>>,
    /// By names of waker and woken: wake-ups as they would be without and with `WF_SYNC`.
    pairs: HashMap<(Comm, Comm), [Count; 2]>,
    /// By the same names: wake-ups in which the two ways differ, and how many fit without and with it. Whatever else is unknown.
    evidence: HashMap<(Comm, Comm), [u64; 2]>,
    found: Placements,
    choices: Vec<Choice>,
}

impl<'a> Inferred<'a> {
    /// `ground` has the machine and the kernel of the trace, `first` has read it before; `bound` has the tasks that may not use all CPUs, where
    /// that is known.
    pub fn new(
        ground: &'a Ground,
        first: &'a FirstPass,
        bound: Vec<(u32, machine::CpuSet)>,
    ) -> Inferred<'a> {
        let cpus = ground.topology().nr_cpus;
        Inferred {
            state: State::new(ground, first, bound),
            delays: ground.has(MechanismId::DelayDequeue),
            tasks: HashMap::new(),
            idled_ns: vec![0; cpus],
            asked: vec![None; cpus],
            pairs: HashMap::new(),
            evidence: HashMap::new(),
            found: Placements::default(),
            choices: Vec::new(),
        }
    }

    /// What was found.
    pub fn finish(mut self) -> Placements {
        for [without, with] in self.pairs.into_values() {
            self.found.by_sync.add(if with.same_cpu > without.same_cpu { with } else { without });
        }
        for known in self.tasks.into_values() {
            self.found.perhaps_bound.add(known.held);
        }
        Placements { repairs: self.state.repairs(), ..self.found }
    }

    /// Names of wakers and woken tasks whose wake-ups are synchronous (`WF_SYNC`), as far as their CPUs show it; in order.
    pub fn synchronous(&self) -> Vec<(String, String)> {
        let is = |(_, [without, with]): &(_, &[u64; 2])| with > without;
        let name = |comm: &Comm| String::from_utf8_lossy(comm.as_bytes()).into_owned();
        let pairs = self.evidence.iter().filter(is);
        let mut pairs: Vec<_> = pairs.map(|((a, b), _)| (name(a), name(b))).collect();
        pairs.sort();
        pairs
    }

    /// The choices that the last event settled.
    pub fn settled(&self) -> &[Choice] {
        &self.choices
    }

    /// Whether two CPUs share their last-level cache.
    pub(super) fn share_cache(&self, a: u32, b: u32) -> bool {
        self.state.topology().share_cache(a as u16, b as u16)
    }

    fn known(&mut self, pid: u32, cpu: u32) -> &mut Known {
        let new = || Known { first_cpu: cpu, ..Known::default() };
        self.tasks.entry(pid).or_insert_with(new)
    }

    /// The task of `pid` is on `cpu`.
    fn seen(&mut self, pid: u32, cpu: u32) {
        let known = self.known(pid, cpu);
        if !known.moved && known.first_cpu != cpu {
            known.moved = true;
            let (held, differs) = (known.held, std::mem::take(&mut known.differs));
            known.held = Count::default();
            self.found.determined.add(held);
            differs.into_iter().for_each(|d| self.found.differs(|| d));
        }
    }

    /// `sched_waking`: asks where the task goes, if a CPU is chosen at all.
    fn waking(&mut self, event: &Event, task: &Task, previous: u32) {
        let follower = self.state.at(event.at_ns);
        if follower.is_queued(task.pid) || follower.is_bound(task.pid) {
            return;
        }
        if is_of_one_cpu(&task.comm) {
            return follower.sent(named(task), previous as u16);
        }
        self.seen(task.pid, previous);
        let delays = self.delays;
        let idled_ns = self.idled_ns[previous as usize];
        let known = self.known(task.pid, previous);
        let (left_ns, remembered) = (known.left_ns, known.remembered);
        known.remembered = true;
        // Since it left, the CPU always had something else to run.
        let delayed = delays && left_ns > 0 && idled_ns < left_ns;
        let perhaps_queued = delayed || event.at_ns < left_ns + SWITCHING_NS;
        self.state.ask(event, task, previous, true);
        let Some(sync) = self.state.open(event.cpu).map(|open| open.answer) else { return };
        self.state.ask(event, task, previous, false);
        self.asked[event.cpu as usize] = Some(Asked { sync, remembered, perhaps_queued });
    }

    /// Closes the question that is open on `cpu`: the task goes to `kernel`.
    fn close(&mut self, cpu: u32, at_ns: u64, kernel: u32) {
        let asked = self.asked[cpu as usize].take();
        let sync = asked.is_some_and(|asked| self.is_sync(cpu, asked, kernel));
        let closed = self.state.close(cpu, at_ns, kernel, sync);
        if let (Some(asked), Some(closed)) = (asked, closed) {
            self.note(at_ns, asked, closed);
        }
    }

    /// Whether the wake-up is taken to be synchronous: by where it goes, or else as those before it between the same names. What tasks
    /// remember depends on it, too.
    fn is_sync(&self, cpu: u32, asked: Asked, kernel: u32) -> bool {
        let Some(open) = self.state.open(cpu) else { return false };
        let fits = [open.answer.cpu, asked.sync.cpu].map(|model| u32::from(model) == kernel);
        match fits {
            [true, false] => false,
            [false, true] => true,
            _ => self.evidence.get(&pair(open)).is_some_and(|[without, with]| with > without),
        }
    }

    fn note(&mut self, at_ns: u64, asked: Asked, closed: Closed) {
        let topology = self.state.topology();
        let one = closed.count(topology, closed.model());
        let plain = closed.open.answer;
        let found = &mut self.found;
        if asked.perhaps_queued {
            return found.perhaps_queued.add(one);
        } else if closed.raced || asked.sync.by_arrival {
            return found.raced.add(one);
        }
        let (by_load, by_search) =
            (plain.by_load || asked.sync.by_load, plain.by_search || asked.sync.by_search);
        let by_sync = plain.cpu != asked.sync.cpu;
        if by_sync {
            let fits = self.evidence.entry(pair(&closed.open)).or_default();
            fits[0] += u64::from(closed.model() == closed.kernel);
            fits[1] += u64::from(u32::from(asked.sync.cpu) == closed.kernel);
        }
        let remembered = asked.remembered && !plain.by_partners && !asked.sync.by_partners;
        let is_determined = remembered && !by_load && !by_search && !by_sync;
        self.choices.push(choice(&closed, is_determined));
        if is_determined {
            self.determined(at_ns, one, &closed);
        } else if !remembered {
            found.by_memory.add(one);
        } else if by_load {
            found.by_load.add(one);
        } else if by_search {
            found.by_search.add(one);
        } else {
            let with = closed.count(topology, asked.sync.cpu.into());
            let pair = self.pairs.entry(pair(&closed.open)).or_default();
            pair[0].add(one);
            pair[1].add(with);
        }
    }

    fn determined(&mut self, at_ns: u64, one: Count, closed: &Closed) {
        let wake = &closed.open.wake;
        let differs = (closed.model() != closed.kernel).then(|| closed.difference(at_ns, None));
        let known = self.known(wake.task.pid, wake.previous.into());
        if known.moved {
            self.found.determined.add(one);
            differs.into_iter().for_each(|d| self.found.differs(|| d));
        } else {
            known.held.add(one);
            known.differs.extend(differs);
        }
    }

    /// Whatever `event` is, it comes after the choice that its CPU was making.
    fn answer(&mut self, event: &Event) {
        let (at_ns, cpu) = (event.at_ns, event.cpu);
        if let Some(wake) = self.state.asked(cpu).copied() {
            let chosen = match event.kind {
                Kind::Migrate { task, to, .. } if task.pid == wake.task.pid => to,
                Kind::Wakeup { task, target } if task.pid == wake.task.pid => target,
                _ => wake.previous.into(),
            };
            self.close(cpu, at_ns, chosen);
        }
        // The target's CPU may take the task before the waker's CPU records anything.
        let arrives = match event.kind {
            Kind::Wakeup { task, target } => Some((task.pid, target)),
            Kind::Switch { next, .. } if next.pid != 0 => Some((next.pid, cpu)),
            _ => None,
        };
        if let Some((pid, on)) = arrives {
            if let Some(waker_cpu) = self.state.asked_about(pid) {
                self.close(waker_cpu, at_ns, on);
            }
            self.seen(pid, on);
        }
    }
}

impl Sink for Inferred<'_> {
    fn event(&mut self, event: &Event) -> Result<(), TraceError> {
        self.state.check(event)?;
        self.choices.clear();
        // Probes come between a wake-up and its move.
        if let Kind::PlaceAsked { .. } | Kind::PlaceAnswered { .. } = event.kind {
            return Ok(());
        }
        self.answer(event);
        match event.kind {
            Kind::Waking { task, target } => {
                self.waking(event, &task, target);
            }
            Kind::WakeupNew { task, target } => {
                let new = Known { first_cpu: target, remembered: true, ..Known::default() };
                self.tasks.insert(task.pid, new);
            }
            Kind::Migrate { task, to, .. } => self.seen(task.pid, to),
            Kind::Switch { prev, prev_state, next } => {
                if prev.pid != 0 && super::follow::leaves(prev_state) == Leaves::Sleeps {
                    self.known(prev.pid, event.cpu).left_ns = event.at_ns;
                }
                if next.pid == 0 {
                    self.idled_ns[event.cpu as usize] = event.at_ns;
                }
            }
            _ => {}
        }
        self.state.take(event);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        Ok(())
    }
}

fn choice(closed: &Closed, is_determined: bool) -> Choice {
    let Wake { task, previous, .. } = closed.open.wake;
    let model = closed.model();
    let (tasks, coming) = closed.queues[model as usize];
    let queued = tasks + coming;
    Choice { pid: task.pid, previous: previous.into(), model, queued, is_determined }
}

/// Names of who wakes and who is woken; all interrupts have one name, but for soft ones on top of a task, which may be its own.
fn pair(open: &Open) -> (Comm, Comm) {
    let is_interrupt = open.context.flags & Context::HARDIRQ != 0 || open.waker.1 == 0;
    let waker = if is_interrupt { Comm::new("interrupt") } else { open.waker.0 };
    (waker, open.task)
}
