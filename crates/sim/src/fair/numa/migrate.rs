//! Moving a task to the node it prefers, or changing its place with another's (`task_numa_migrate`).
//!
//! The search reads queues as they are; nothing moves here. The engine is asked to move one task, or two, after the
//! event. That a CPU is taken by another search that is under way (`numa_migrate_on`) does not occur: each is answered
//! before the next event.

use crate::fair::Fair;
use crate::fair::balance::numa::placing;
use crate::topology::Cpu;
use crate::world::{Request, TaskId, World};
use kernel::SdFlags;

/// An improvement below which tasks do not change places (`SMALLIMP`), in thousandths of faults.
const SMALL_IMPROVEMENT: i64 = 30;

/// How busy a node is (`enum numa_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeType {
    HasSpare,
    FullyBusy,
    Overloaded,
}

/// What a node looks like (`struct numa_stats`).
#[derive(Debug, Clone, Copy)]
struct NodeStats {
    load: i64,
    runnable: u64,
    util: u64,
    capacity: u64,
    running: u64,
    weight: u64,
    kind: NodeType,
    idle_cpu: Option<Cpu>,
}

/// A search for a place (`struct task_numa_env`).
struct Env {
    task: TaskId,
    src_cpu: Cpu,
    src: u16,
    dst: u16,
    imb_numa_nr: u32,
    imbalance_pct: u64,
    src_stats: NodeStats,
    dst_stats: NodeStats,
    /// What the task gains on the destination, in thousandths of its faults.
    gain: i64,
    best: Option<Best>,
}

/// The best place so far.
#[derive(Debug, Clone, Copy)]
struct Best {
    cpu: Cpu,
    /// The task there that would come back.
    task: Option<TaskId>,
    gain: i64,
}

impl Env {
    fn best_gain(&self) -> i64 {
        self.best.map_or(0, |b| b.gain)
    }

    /// `load_too_imbalanced`: nodes would differ more than they do if so much load moved to the destination.
    fn too_imbalanced(&self, load: i64) -> bool {
        let capacity = |s: &NodeStats| i128::from(s.capacity);
        let apart = |src: i64, dst: i64| {
            let (src, dst) = (i128::from(src), i128::from(dst));
            (dst * capacity(&self.src_stats) - src * capacity(&self.dst_stats)).abs()
        };
        let (src, dst) = (self.src_stats.load, self.dst_stats.load);
        apart(src - load, dst + load) > apart(src, dst)
    }
}

impl Fair {
    /// `numa_migrate_preferred`: now and then, a task tries to go where it prefers to be.
    pub(super) fn numa_migrate_preferred(&mut self, w: &mut World, task: TaskId) {
        let Some(numa) = &mut self.numa else { return };
        let t = &mut numa.tasks[task.index()];
        let Some(preferred) = t.preferred else { return };
        t.migrate_retry = w.jiffies() + w.hz.min(w.ms_to_jiffies(t.scan_period_ms) / 16);
        let cpu = w.tasks[task.index()].cpu;
        if numa.node(cpu) != preferred {
            self.task_numa_migrate(w, task, cpu, preferred);
        }
    }

    /// `task_numa_migrate`: a place on the preferred node, or else on another.
    fn task_numa_migrate(&mut self, w: &mut World, task: TaskId, cpu: Cpu, preferred: u16) {
        let topo = w.topo;
        let lowest = topo.domains[cpu as usize].iter().find(|d| d.flags.contains(SdFlags::NUMA));
        let Some(numa) = &mut self.numa else { return };
        let src = numa.node(cpu);
        let Some(domain) = lowest else {
            numa.set_preferred(cpu, task, src);
            return;
        };
        let others = (0..numa.cpus.len() as u16).filter(|&n| n != src && n != preferred);
        let others: Vec<u16> = others.filter(|&n| !numa.cpus[usize::from(n)].is_empty()).collect();
        self.update_h_load(w, self.queue_of(task.into(), cpu));
        let imbalance_pct = 100 + (domain.imbalance_pct - 100) / 2;
        let src_stats = self.update_numa_stats(w, imbalance_pct, src, None);
        let mut env = Env {
            task,
            src_cpu: cpu,
            src,
            dst: preferred,
            imb_numa_nr: domain.imb_numa_nr,
            imbalance_pct,
            src_stats,
            dst_stats: self.update_numa_stats(w, imbalance_pct, preferred, Some(task)),
            gain: self.gain(task, src, preferred),
            best: None,
        };
        self.task_numa_find_cpu(w, &mut env);
        // Without a group, what the group would gain is 0, which is reason enough to look at every node.
        for node in others {
            if env.best.is_some() {
                break;
            }
            env.dst = node;
            env.gain = self.gain(task, src, node);
            env.dst_stats = self.update_numa_stats(w, env.imbalance_pct, node, Some(task));
            self.task_numa_find_cpu(w, &mut env);
        }
        match env.best {
            Some(Best { cpu: to, task: Some(other), .. }) => {
                w.requests.push(Request::NumaSwap { task, from: cpu, other, to });
            }
            Some(Best { cpu: to, task: None, .. }) => {
                w.requests.push(Request::NumaMove { task, from: cpu, to });
            }
            None => {}
        }
    }

    /// What `task` gains on node `to`, in thousandths of its faults.
    fn gain(&self, task: TaskId, from: u16, to: u16) -> i64 {
        let Some(numa) = &self.numa else { return 0 };
        let t = &numa.tasks[task.index()];
        t.weight(to) - t.weight(from)
    }

    fn preferred(&self, task: TaskId) -> Option<u16> {
        self.numa.as_ref()?.tasks.get(task.index())?.preferred
    }

    /// `update_numa_stats`, with an idle CPU for the task that is to come.
    fn update_numa_stats(
        &self,
        w: &World,
        imbalance_pct: u64,
        node: u16,
        comes: Option<TaskId>,
    ) -> NodeStats {
        let mut s = NodeStats {
            load: 0,
            runnable: 0,
            util: 0,
            capacity: 0,
            running: 0,
            weight: 0,
            kind: NodeType::FullyBusy,
            idle_cpu: None,
        };
        let cpus = self.numa.iter().flat_map(|n| &n.cpus[usize::from(node)]);
        let mut idle_core = None;
        for &cpu in cpus.filter(|&&c| w.topo.online_set.contains(c as usize)) {
            s.load += self.cpu_load(cpu) as i64;
            s.runnable += self.queues[cpu as usize].avg.runnable_avg;
            s.util += self.cpu_util(w, cpu);
            s.capacity += w.topo.capacity[cpu as usize];
            s.running += u64::from(w.cpus[cpu as usize].nr_running);
            s.weight += 1;
            let usable = comes.is_some_and(|task| w.idle_cpu(cpu) && w.allowed(task, cpu));
            if usable && idle_core.is_none() {
                s.idle_cpu = s.idle_cpu.or(Some(cpu));
                let siblings = &w.topo.smt[cpu as usize];
                let has_idle_cores = self.llcs[w.topo.llc_of[cpu as usize] as usize].has_idle_cores;
                let idle = siblings.iter().all(|&c| w.idle_cpu(c));
                idle_core = (siblings.len() > 1 && has_idle_cores && idle).then_some(cpu);
            }
        }
        s.idle_cpu = idle_core.or(s.idle_cpu);
        s.kind = self.numa_classify(imbalance_pct, &s);
        s
    }

    /// `numa_classify` (5.7); before, no node was known to have spare capacity.
    fn numa_classify(&self, pct: u64, s: &NodeStats) -> NodeType {
        if !self.rules.numa_spare {
            return NodeType::FullyBusy;
        }
        let (by_util, by_runnable) = (s.util * pct, s.runnable * 100);
        let overused = s.capacity * 100 < by_util || s.capacity * pct < by_runnable;
        let spare = s.capacity * 100 > by_util && s.capacity * pct > by_runnable;
        match s.running.cmp(&s.weight) {
            std::cmp::Ordering::Greater if overused => NodeType::Overloaded,
            std::cmp::Ordering::Less => NodeType::HasSpare,
            _ if spare => NodeType::HasSpare,
            _ => NodeType::FullyBusy,
        }
    }

    /// `task_numa_find_cpu`: an idle CPU of the destination where that leaves no imbalance, else the best of its CPUs.
    fn task_numa_find_cpu(&mut self, w: &World, env: &mut Env) {
        let may_move = match env.dst_stats.kind {
            NodeType::HasSpare => {
                let (src, dst) =
                    (env.src_stats.running.saturating_sub(1), env.dst_stats.running + 1);
                let imbalance = dst.saturating_sub(src) as i64;
                let weight = env.dst_stats.weight;
                let left = placing(&self.rules, imbalance, src, (dst, weight), env.imb_numa_nr);
                if let (0, Some(cpu)) = (left, env.dst_stats.idle_cpu) {
                    env.best = Some(Best { cpu, task: None, gain: 0 });
                    return;
                }
                left == 0
            }
            NodeType::FullyBusy | NodeType::Overloaded => {
                !env.too_imbalanced(self.task_h_load(w, env.task) as i64)
            }
        };
        let cpus = self.numa.iter().flat_map(|n| &n.cpus[usize::from(env.dst)]).copied();
        let usable = |&c: &Cpu| w.topo.online_set.contains(c as usize) && w.allowed(env.task, c);
        let cpus: Vec<Cpu> = cpus.filter(usable).collect();
        for cpu in cpus {
            if self.task_numa_compare(w, env, cpu, may_move) {
                break;
            }
        }
    }

    /// `task_numa_compare`: what a move to `cpu`, or a change of places with its task, would give; whether the search ends.
    fn task_numa_compare(&mut self, w: &World, env: &mut Env, cpu: Cpu, may_move: bool) -> bool {
        let Some(cur) = w.cpus[cpu as usize].curr else {
            if may_move && env.gain >= env.best_gain() {
                return self.assign(w, env, cpu, None, env.gain, may_move);
            }
            return false;
        };
        if cur == env.task {
            return true;
        }
        let comes_home = self.preferred(cur) == Some(env.src);
        let best_comes_home =
            env.best.and_then(|b| b.task).map(|best| self.preferred(best) == Some(env.src));
        let worse = best_comes_home == Some(true) && !comes_home && self.rules.numa_spare;
        // Among tasks without a group, none is punished while there is room.
        if !w.allowed(cur, env.src_cpu) || worse || env.dst_stats.kind == NodeType::HasSpare {
            return false;
        }
        let mut gain = env.gain + self.gain(cur, env.dst, env.src);
        if self.rules.numa_spare {
            gain -= if self.preferred(cur) == Some(env.dst) { gain / 16 } else { 0 };
            gain += if comes_home { gain / 8 } else { 0 };
        }
        if may_move && env.gain > gain && env.gain > env.best_gain() {
            return self.assign(w, env, cpu, None, env.gain, may_move);
        }
        if self.rules.numa_spare && comes_home && best_comes_home == Some(false) {
            return self.assign(w, env, cpu, Some(cur), gain, may_move);
        }
        let least = if self.rules.numa_moves_early { SMALL_IMPROVEMENT } else { 0 };
        if gain < least || gain <= env.best_gain() + least / 2 {
            return false;
        }
        self.update_h_load(w, self.queue_of(cur.into(), cpu));
        let load = self.task_h_load(w, env.task) as i64 - self.task_h_load(w, cur) as i64;
        if load != 0 && env.too_imbalanced(load) {
            return false;
        }
        self.assign(w, env, cpu, Some(cur), gain, may_move)
    }

    /// `task_numa_assign`: the best place so far; whether it is good enough to end the search (5.7).
    fn assign(
        &self,
        w: &World,
        env: &mut Env,
        cpu: Cpu,
        task: Option<TaskId>,
        gain: i64,
        may_move: bool,
    ) -> bool {
        let cpu = match task {
            None => env.dst_stats.idle_cpu.unwrap_or(cpu),
            Some(_) => cpu,
        };
        env.best = Some(Best { cpu, task, gain });
        let home = task.is_some_and(|t| self.preferred(t) == Some(env.src));
        let ends = match task {
            None => may_move && w.idle_cpu(cpu),
            Some(_) => !may_move && home,
        };
        self.rules.numa_spare && ends
    }
}
