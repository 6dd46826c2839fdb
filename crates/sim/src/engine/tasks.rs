//! Tasks coming to life, waking up and moving.
//!
//! Where a task goes that is new or wakes is the core's business. Counters and the trace hear of each move here and nowhere
//! else, but for those that a balancer makes.

use super::Sim;
use super::core::Core;
use super::cpu::Step;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Doing, Phase, State, Task, TaskId};
use machine::CpuSet;
use machine::costs::{Target, Work};
use workload::{ProgramId, Spawn};

impl<K: Core, T: Trace> Sim<'_, K, T> {
    pub(super) fn add_task(&mut self, new: Task) -> TaskId {
        let task = TaskId(self.w.tasks.len() as u32);
        let (program, parent, nice) = (new.program, new.parent, new.nice);
        self.progress.active += u32::from(!new.daemon);
        let group = self.group_of(program, parent);
        // Without one of another's, an address space of its own.
        let mm = if new.mm == u32::MAX { task.0 } else { new.mm };
        self.w.tasks.push(Task { mm, group, ..new });
        if let Some(uclamp) = &mut self.w.uclamp {
            uclamp.fork(parent);
        }
        self.timeline.events.add_slot();
        let name = &self.setup.workload.programs[program.0 as usize].name;
        self.trace.created(self.w.now_ns, task, name, &self.w.tasks[task.index()].allowed);
        if nice != 0 {
            self.trace.nice(self.w.now_ns, task, nice);
        }
        K::created(self, task, parent);
        task
    }

    /// The group of a new task: that of its program, else its parent's.
    fn group_of(&self, program: ProgramId, parent: Option<TaskId>) -> u32 {
        match self.setup.groups.get(program.index()) {
            None | Some(0) => parent.map_or(0, |p| self.w.tasks[p.index()].group),
            Some(&own) => own,
        }
    }

    /// A task of the start: asleep on a random CPU that it may use, its timer running.
    pub(super) fn spawn(&mut self, spawn: &Spawn) {
        let possible = CpuSet::first_n(self.w.topo.nr_cpus);
        let affinity = spawn.affinity.as_ref().map_or(possible, |set| self.affinity_of(set));
        let affinity = K::cpuset(self, self.group_of(spawn.program, None), affinity);
        let allowed = &affinity & &self.w.topo.online_set;
        let nth = self.draws.start.below(allowed.len() as u64) as usize;
        let cpu = allowed.iter().nth(nth).unwrap_or(0) as Cpu;
        let task = self.add_task(Task {
            nice: spawn.nice,
            daemon: spawn.daemon,
            affinity,
            ..Task::new(spawn.program, cpu, allowed)
        });
        let wake_ns = spawn.first_wake_ns + self.draws.start.below(spawn.within_ns + 1);
        self.start_timer(task, wake_ns);
    }

    /// `fork`: the child, a thread if it shares the address space, is queued where the class wants it.
    pub(super) fn fork(
        &mut self,
        cpu: Cpu,
        parent: TaskId,
        program: ProgramId,
        thread: bool,
    ) -> Step {
        let group = self.group_of(program, Some(parent));
        let p = &self.w.tasks[parent.index()];
        let affinity = match group == p.group {
            true => p.affinity.clone(),
            false => K::cpuset(self, group, p.affinity.clone()),
        };
        let allowed = &affinity & &self.w.topo.online_set;
        let child = self.add_task(Task {
            nice: p.nice,
            daemon: p.daemon,
            client: p.client,
            parent: Some(parent),
            mm: if thread { p.mm } else { u32::MAX },
            forked_on: (!thread).then_some(cpu),
            affinity,
            ..Task::new(program, cpu, allowed)
        });
        let p = &mut self.w.tasks[parent.index()];
        p.children += 1;
        p.loading = Some(child);
        K::start(self, child, cpu, parent)
    }

    /// `vfork`: sleeps until the last child has loaded a program or is gone.
    pub(super) fn wait_exec(&mut self, task: TaskId) -> Step {
        match self.w.tasks[task.index()].loading {
            Some(_) => self.block(task, State::Loading),
            None => self.next_op(task),
        }
    }

    /// The parent of `task`, if it may wait for it to load its first program.
    fn awaits(&self, task: TaskId) -> Option<TaskId> {
        let parent = self.w.tasks[task.index()].parent?;
        (self.w.tasks[parent.index()].loading == Some(task)).then_some(parent)
    }

    /// `task` is on the CPU where it loads a program. A parent that waits for that is woken from there.
    pub(super) fn loads_program(&mut self, task: TaskId) {
        let Some(parent) = self.awaits(task) else { return };
        match self.w.tasks[parent.index()].state {
            State::Loading => self.w.tasks[task.index()].doing = Doing::Loaded,
            _ => self.w.tasks[parent.index()].loading = None,
        }
    }

    /// `mm_release`: the program is loaded, so that the address space is the parent's alone again.
    pub(super) fn has_loaded(&mut self, cpu: Cpu, task: TaskId) -> Step {
        self.w.tasks[task.index()].doing = Doing::Nothing;
        self.let_parent_go_on(cpu, task);
        Step::Again
    }

    /// Wakes the parent of `task` where it waits for it to load a program (`complete_vfork_done`).
    pub(super) fn let_parent_go_on(&mut self, cpu: Cpu, task: TaskId) {
        let Some(parent) = self.awaits(task) else { return };
        let p = &mut self.w.tasks[parent.index()];
        p.loading = None;
        if p.state == State::Loading {
            self.wake(parent, cpu, Some(task), false);
        }
    }

    pub(super) fn start_timer(&mut self, task: TaskId, at_ns: u64) {
        let cpu = self.w.tasks[task.index()].cpu;
        self.timeline.sleepers[cpu as usize].push((at_ns, task));
        self.set_alarm(task, at_ns);
    }

    /// An interrupt will wake `task`, which idle CPUs do not know of beforehand unless it is a timer's.
    pub(super) fn set_alarm(&mut self, task: TaskId, at_ns: u64) {
        let t = &mut self.w.tasks[task.index()];
        t.timer_cpu = t.cpu;
        self.timeline.events.set(self.timeline.slots.task(task), at_ns);
    }

    /// A sleep is over: the timer's or the device's interrupt on the CPU where it was started wakes the task.
    pub(super) fn timer_event(&mut self, task: TaskId) {
        let cpu = self.w.tasks[task.index()].timer_cpu;
        self.here = cpu;
        self.timeline.sleepers[cpu as usize].retain(|s| s.1 != task);
        if self.w.cpus[cpu as usize].phase == Phase::Running {
            self.settle(cpu);
            self.w.charge(cpu, self.w.hw.tick_cycles);
        }
        self.wake(task, cpu, None, false);
        // What is due on this CPU at once, leaving a polling idle state above all, needs no event of its own.
        self.cpu_event(cpu);
    }

    /// `try_to_wake_up` on `cpu`, by `waker` or by an interrupt.
    pub(super) fn wake(&mut self, task: TaskId, cpu: Cpu, waker: Option<TaskId>, sync: bool) {
        K::wake(self, task, cpu, waker, sync);
    }

    /// A task that slept can run from now on.
    pub(super) fn runnable_again(&mut self, task: TaskId) {
        let t = &mut self.w.tasks[task.index()];
        self.progress.active += u32::from(!t.daemon && t.state != State::Sleeping);
        t.state = State::Runnable;
        t.queued_ns = self.w.now_ns;
        t.woken = true;
    }

    /// A woken task was queued on `target` by something on `cpu`.
    pub(super) fn count_wakeup(&mut self, task: TaskId, cpu: Cpu, target: Cpu, onto_idle: bool) {
        self.w.counters.wakeups += 1;
        self.trace.wakeup(self.w.now_ns, task, cpu, target);
        self.tell_runnable(target);
        let distance = self.w.topo.distance(cpu, target);
        self.w.counters.wakeups_by_distance[distance as usize] += 1;
        self.charge_wakeup(task, cpu, target, onto_idle);
    }

    /// What a wake-up takes on both CPUs: the waker has the lines of the task and of its queue from `target`, and the task has them back.
    fn charge_wakeup(&mut self, task: TaskId, cpu: Cpu, target: Cpu, onto_idle: bool) {
        let (topo, hw) = (self.w.topo, self.w.hw);
        let to = match (cpu == target, topo.share_cache(cpu, target), onto_idle) {
            (true, ..) => Target::Same,
            (false, true, true) => Target::Idle,
            (false, true, false) => Target::Busy,
            (false, false, true) => Target::FarIdle,
            (false, false, false) => Target::FarBusy,
        };
        let wake = *hw.channel(self.w.tasks[task.index()].sleeps_in).wake(to);
        let by_task = self.w.cpus[cpu as usize].phase == Phase::Running;
        if to == Target::Busy && by_task {
            self.w.hold_queue(cpu, target, hw.kernel.queue.held);
            self.w.write_queue(target, cpu);
        }
        let lines = wake.woken.lines;
        let fetch = self.w.travel(target, cpu, lines, lines * self.w.hw.line_ratio);
        let mut woken_cycles = self.w.kernel_cycles(wake.woken.instructions);
        if by_task {
            self.w.charge_work(cpu, target, wake.waker);
        } else if cpu == target {
            woken_cycles += self.w.kernel_cycles(wake.waker.instructions);
        }
        let t = &mut self.w.tasks[task.index()];
        t.fetch.add(fetch);
        t.woken_cycles += woken_cycles;
    }

    /// `cpu` has forked a child onto `target`.
    pub(super) fn charge_fork(&mut self, cpu: Cpu, target: Cpu) {
        if cpu != target {
            self.w.charge_work(cpu, target, Work::lines(self.w.hw.kernel.fork_elsewhere));
        }
    }

    /// `task` gives up its parent's memory on `cpu`: if it was forked on another, that takes `more`.
    pub(super) fn leave_parent(&mut self, cpu: Cpu, task: TaskId, more: Work) {
        let from = self.w.tasks[task.index()].forked_on.take();
        if let Some(from) = from.filter(|&from| from != cpu) {
            self.w.charge_work(cpu, from, more);
        }
    }

    /// Notes the CPU of a task that is not queued.
    pub(super) fn place(&mut self, task: TaskId, target: Cpu) {
        let from = self.w.tasks[task.index()].cpu;
        if from != target {
            let distance = self.w.topo.distance(from, target);
            self.w.counters.placements_by_distance[distance as usize] += 1;
            self.w.tasks[task.index()].cpu = target;
            self.trace.migrate(self.w.now_ns, task, from, target);
        }
    }
}
