//! Single decisions, from the state that a kernel had when it made them.
//!
//! [`Fair::adopt`] takes over the kernel's queues, tasks and caches. Each other function asks for one decision and leaves behind
//! what making it changes, so state is adopted anew before the next.

use super::Fair;
use super::balance::env::{CpuIdle, Env};
use super::queue::adopt::task_of;
use super::queue::entity::Entity;
use super::queue::ids::{EntityId, QueueId};
use crate::class::Select;
use crate::source::{Decision, QueueState, why};
use crate::topology::Cpu;
use crate::world::{Phase, TaskId, World};

impl Fair {
    /// Takes over the state of `decision`. Tasks are numbered by their pids.
    pub(crate) fn adopt(&mut self, w: &mut World, decision: &Decision) {
        for seen in &decision.tasks {
            let at = seen.pid as usize;
            if self.entities.tasks.len() <= at {
                self.entities.tasks.resize(at + 1, Entity::default());
            }
            self.entities[at] = Entity::seen(&seen.state);
        }
        for (cpu, seen) in decision.queues.iter().enumerate() {
            let waiting = seen.waiting.iter().rev().filter_map(|&pid| task_of(pid));
            let (entities, eevdf) = (&self.entities, self.rules.eevdf);
            let keyed = |id: EntityId| (entities[id].key(eevdf), id);
            let waiting = waiting.map(EntityId::from).map(keyed).collect();
            self.queues[cpu].adopt(&seen.state, waiting);
            self.rqs[cpu].adopt(&seen.state);
            self.adopt_cpu(w, cpu as Cpu, &seen.state);
        }
    }

    fn adopt_cpu(&mut self, w: &mut World, cpu: Cpu, state: &QueueState) {
        // A CPU that a task is on its way to is not idle, and has none.
        let pending = (state.wakeup_pending != 0).then_some(TaskId(0));
        let curr = task_of(state.current_task).or(pending);
        let c = &mut w.cpus[cpu as usize];
        c.curr = curr;
        c.phase = match curr {
            Some(_) => Phase::Running,
            None => Phase::Idle { since_ns: state.idle_since_ns, state: state.idle_state as usize },
        };
        let tasks = state.nr_running;
        while w.cpus[cpu as usize].nr_running < tasks {
            self.add_nr_running(w, cpu);
        }
        while w.cpus[cpu as usize].nr_running > tasks {
            self.sub_nr_running(w, cpu);
        }
        self.sums.touch(cpu);
        let topo = w.topo;
        for (level, domain) in topo.domains[cpu as usize].iter().enumerate() {
            let imbalanced = state.imbalanced >> level & 1 != 0;
            self.sums.set_imbalanced(domain.groups[0].state, imbalanced);
            self.rqs[cpu as usize].domains[level].avg_scan_cost_ns = state.avg_scan_cost_ns;
        }
        let llc = &mut self.llcs[topo.llc_of[cpu as usize] as usize];
        llc.has_idle_cores = state.llc_idle_cores != 0;
        llc.nr_busy_cpus = state.llc_busy;
        llc.nr_idle_scan = state.llc_scan.into();
    }

    /// A CPU for the task.
    pub(crate) fn decide_cpu(&mut self, w: &mut World, decision: &Decision) -> Option<Cpu> {
        let question = &decision.question;
        let cpu = question.cpu as Cpu;
        let reason = match question.why {
            why::IS_NEW => Select::Fork(cpu),
            why::EXECS => Select::Exec,
            kind => Select::Wake {
                cpu,
                sync: kind == why::WAKES_SYNC,
                waker: task_of(question.current_task),
            },
        };
        Some(self.select_task_rq(w, task_of(question.task)?, reason))
    }

    /// The task that runs next on `cpu`, whether or not it is delayed.
    pub(crate) fn decide_task(&mut self, cpu: Cpu) -> Option<TaskId> {
        let q = QueueId::root(cpu);
        let running = self.queues[q.index()].curr;
        if self.rules.eevdf {
            return self.pick_eevdf(q, running)?.task();
        }
        if let Some(running) = running.filter(|&t| self.entities[t].on_rq) {
            self.put_in_order(q, running);
        }
        self.cfs_pick(q)?.task()
    }

    /// The running task of `cpu`, if it is a fair one.
    pub(crate) fn running_on(&self, cpu: Cpu) -> Option<TaskId> {
        self.running_task(cpu)
    }

    /// Whether `task`, just queued, preempts.
    pub(crate) fn decide_preemption(&mut self, w: &World, task: TaskId) -> bool {
        self.check_preempt_wakeup(w, task)
    }

    /// Whether it is the turn of `cpu` to balance its domain at `level`.
    pub(crate) fn decide_turn(&self, w: &World, cpu: Cpu, level: usize, idle: u32) -> bool {
        let topo = w.topo;
        self.should_we_balance(
            w,
            &Env::new(&topo.domains[cpu as usize][level], level, cpu, kind(idle)),
        )
    }

    /// The first CPU of the busiest group, and the CPU of its busiest queue.
    pub(crate) fn decide_source(
        &mut self,
        w: &mut World,
        cpu: Cpu,
        level: usize,
        idle: u32,
    ) -> (Option<Cpu>, Option<Cpu>) {
        let topo = w.topo;
        let domain = &topo.domains[cpu as usize][level];
        // Sums that are kept know no task on its way.
        let mut env = Env::new(domain, level, cpu, kind(idle));
        env.whole = false;
        let Some(group) = self.find_busiest_group(w, &mut env) else { return (None, None) };
        let group = &domain.groups[group];
        (group.cpus.first().copied(), self.find_busiest_queue(w, &env, group))
    }
}

/// `enum cpu_idle_type`, numbered as a question has it.
fn kind(idle: u32) -> CpuIdle {
    match idle {
        0 => CpuIdle::Idle,
        1 => CpuIdle::Busy,
        _ => CpuIdle::NewlyIdle,
    }
}
