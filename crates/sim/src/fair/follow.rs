//! The class behind a kernel that has already decided: a trace says who runs where, and the class keeps what follows from that.
//!
//! Queues, load averages, idle cores, and whom a task wakes are kept as in a run. Only choices are not the class's: the next task is
//! told, and nothing is balanced. What a trace does not tell is done at each tick, as a kernel does it every few.

use super::Fair;
use super::LlcState;
use super::balance::groups::idle_scan;
use super::place::idle_sibling::llc_level;
use super::place::wakeup::WakeUp;
use super::queue::cfs_rq::CfsRq;
use super::queue::entity::Entity;
use super::queue::ids::EntityId;
use super::queue::rq::RunQueue;
use super::rules::ScanLimit;
use crate::class::Enqueue;
use crate::topology::Cpu;
use crate::world::{TaskId, World};

/// More partners than any last-level cache has CPUs.
const MANY: u32 = 1 << 12;
/// A load that no queue has.
const HUGE: u64 = 1 << 32;
/// Ticks between two looks at the load of idle CPUs (`LOAD_AVG_PERIOD`, in ms).
const BLOCKED_MS: u64 = 32;

/// What a choice is made of besides queues and idle CPUs, where a trace does not tell it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Supposed {
    /// The waker's CPU has less load than the previous one.
    LessLoadHere,
    /// It has more.
    MoreLoadHere,
    /// The search of the LLC finds no CPU in time.
    NoSearch,
    /// It looks at every CPU.
    WholeSearch,
    /// Waker and woken task wake many others by turns (`wake_wide`).
    ManyPartners,
    /// They wake one and the same.
    OnePartner,
    /// The waker's count of partners was halved once less.
    HalvedLess,
    /// It was halved once more.
    HalvedMore,
}

/// What a question may change: tasks, caches, and the queues of the waker's and the previous CPU.
struct Saved {
    entities: Vec<(TaskId, Entity)>,
    queues: Vec<(Cpu, CfsRq, RunQueue)>,
    llcs: Vec<LlcState>,
}

impl Fair {
    /// `task`, which is queued on `cpu`, runs there.
    pub(crate) fn told_next(&mut self, w: &mut World, cpu: Cpu, task: TaskId) {
        self.rqs[cpu as usize].put = None;
        self.queues[cpu as usize].put = None;
        self.set_next_task(w, cpu, task);
    }

    /// A task of another class joins the queue of `cpu`.
    pub(crate) fn told_other(&mut self, w: &mut World, cpu: Cpu, joins: bool) {
        match joins {
            true => self.add_nr_running(w, cpu),
            false => self.sub_nr_running(w, cpu),
        }
    }

    /// A task of another class wakes up on its CPU or comes there.
    pub(crate) fn told_woken(&mut self, w: &World, task: TaskId, why: Enqueue) {
        if matches!(why, Enqueue::Wakeup { .. }) {
            let cpu = w.tasks[task.index()].cpu;
            self.rqs[cpu as usize].end_of_idle(w.now_ns, w.jiffies());
        }
    }

    /// Whether `cpu` has tasks of this class.
    pub(crate) fn has_tasks(&self, cpu: Cpu) -> bool {
        self.queues[cpu as usize].nr_queued > 0
    }

    /// Tasks that the class has on the queue of `cpu`, the running one included.
    pub(crate) fn told_queued(&self, cpu: Cpu) -> Vec<TaskId> {
        let rq = &self.queues[cpu as usize];
        let waiting = rq.waiting().iter().map(|&(_, id)| id);
        let queued = waiting.chain(rq.curr).filter(|&id| self.entities[id].on_rq);
        queued.filter_map(EntityId::task).collect()
    }

    /// What `task` remembers of wake-ups.
    pub(crate) fn told_memory(&mut self, task: TaskId, flips: u32, recent: Cpu) {
        let entity = &mut self.entities[task.index()];
        (entity.wakee_flips, entity.recent_used_cpu) = (flips, recent);
    }

    /// `cpu` has nothing to run.
    pub(crate) fn told_idle(&mut self, w: &World, cpu: Cpu) {
        self.rqs[cpu as usize].idle_since_ns = Some(w.now_ns);
        self.update_idle_core(w, cpu);
    }

    /// A tick on all CPUs: averages grow older, and so does what searches know of an LLC's utilisation.
    pub(crate) fn told_tick(&mut self, w: &mut World) {
        let topo = w.topo;
        let blocked = w.jiffies().is_multiple_of(w.ms_to_jiffies(BLOCKED_MS));
        for &cpu in &topo.online {
            if self.queues[cpu as usize].curr.is_some() {
                self.task_tick(w, cpu);
                self.cpu_load_update_active(w, cpu);
            } else if blocked {
                self.update_blocked_averages(w, cpu);
                self.cpu_load_update_idle(w, cpu);
            }
        }
        for (at, llc) in topo.llcs.iter().enumerate() {
            let Some(&first) = llc.cpus.first() else { continue };
            let chain = &topo.domains[first as usize];
            let Some(level) = llc_level(chain) else { continue };
            let util = llc.cpus.iter().map(|&cpu| self.cpu_util(w, cpu)).sum();
            let cpus = llc.cpus.len() as u64;
            self.llcs[at].nr_idle_scan = idle_scan(cpus, util, chain[level].imbalance_pct);
        }
    }

    /// Where `task` goes; with something `supposed`, where it would go then. Nothing but the work of searching stays of the question.
    pub(crate) fn told_choice(
        &mut self,
        w: &mut World,
        task: TaskId,
        wake: WakeUp,
        supposed: &[Supposed],
    ) -> Cpu {
        let saved = self.saved(task, wake);
        supposed.iter().for_each(|&one| self.suppose(w, task, wake, one));
        let chosen = self.select_wake(w, task, wake);
        self.restore(saved);
        chosen
    }

    fn suppose(&mut self, w: &World, task: TaskId, wake: WakeUp, supposed: Supposed) {
        let llc = w.topo.llc_of[wake.prev as usize];
        let here = w.topo.llc_of[wake.cpu as usize];
        match supposed {
            Supposed::LessLoadHere | Supposed::MoreLoadHere => {
                let less = supposed == Supposed::LessLoadHere;
                for (cpu, light) in [(wake.cpu, less), (wake.prev, !less)] {
                    let avg = &mut self.queues[cpu as usize].avg;
                    let load = if light { 0 } else { HUGE };
                    (avg.load_avg, avg.runnable_avg) = (load, load);
                }
            }
            Supposed::ManyPartners | Supposed::OnePartner => {
                let many = supposed == Supposed::ManyPartners;
                let flips = |of: u32| if many { of } else { 0 };
                self.entities[task.index()].wakee_flips = flips(MANY);
                if let Some(waker) = wake.waker {
                    self.entities[waker.index()].wakee_flips = flips(MANY * MANY);
                }
            }
            Supposed::HalvedLess | Supposed::HalvedMore => {
                if let Some(waker) = wake.waker {
                    let flips = &mut self.entities[waker.index()].wakee_flips;
                    let less = supposed == Supposed::HalvedLess;
                    *flips = if less { flips.saturating_mul(2) } else { *flips / 2 };
                }
            }
            Supposed::NoSearch | Supposed::WholeSearch => {
                let whole = supposed == Supposed::WholeSearch;
                for llc in [llc, here] {
                    self.llcs[llc as usize].nr_idle_scan = if whole { HUGE } else { 0 };
                }
                let rq = &mut self.rqs[wake.cpu as usize];
                (rq.avg_idle_ns, rq.wake_avg_idle_ns) = if whole { (HUGE, HUGE) } else { (0, 0) };
            }
        }
    }

    /// Whether how far a search goes depends on more than a trace tells.
    pub(crate) fn limits_searches(&self) -> bool {
        self.rules.scan_limit != ScanLimit::None
    }

    fn saved(&self, task: TaskId, wake: WakeUp) -> Saved {
        let entity = |task: TaskId| (task, self.entities[task.index()].clone());
        let queue =
            |cpu: Cpu| (cpu, self.queues[cpu as usize].clone(), self.rqs[cpu as usize].clone());
        Saved {
            entities: wake.waker.into_iter().chain([task]).map(entity).collect(),
            queues: [wake.cpu, wake.prev].map(queue).into(),
            llcs: self.llcs.clone(),
        }
    }

    fn restore(&mut self, saved: Saved) {
        saved.entities.into_iter().for_each(|(task, e)| self.entities[task.index()] = e);
        for (cpu, cfs, rq) in saved.queues {
            (self.queues[cpu as usize], self.rqs[cpu as usize]) = (cfs, rq);
        }
        self.llcs = saved.llcs;
    }
}
