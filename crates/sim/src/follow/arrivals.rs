//! Woken tasks between the choice of their CPU and the record that they are queued there.
//!
//! The waker's CPU marks the other one (`ttwu_pending`) or queues the task itself some time after the choice, and writes `sched_wakeup`
//! some time after that. What another CPU sees in between is in no record, so a choice that depends on it is asked both ways.

use super::Follower;
use crate::fair::WakeUp;
use crate::topology::Cpu;
use crate::world::{Phase, TaskId};

impl Follower<'_> {
    /// `by` has just chosen `cpu` for a woken task, and has not recorded anything since.
    pub fn just_chosen(&mut self, by: Cpu, cpu: Cpu) {
        self.chosen[by as usize] = Some(cpu);
    }

    /// `by` has gone on.
    pub fn went_on(&mut self, by: Cpu) {
        self.chosen[by as usize] = None;
    }

    /// Whether `task` would go elsewhere than to `cpu` if others saw arrivals earlier or later than the records have them.
    pub(super) fn depends_on_arrivals(&mut self, task: TaskId, up: WakeUp, cpu: Cpu) -> bool {
        let unmarked = self.perhaps_unmarked(up.cpu);
        for &idle in &unmarked {
            let c = &mut self.w.cpus[idle as usize];
            c.curr = None;
            c.phase = Phase::Idle { since_ns: self.w.now_ns, state: 0 };
        }
        let later =
            !unmarked.is_empty() && self.fair.told_choice(&mut self.w, task, up, &[]) != cpu;
        unmarked.into_iter().for_each(|idle| self.show(idle));
        let coming = self.coming[up.cpu as usize].len() as u32;
        self.w.cpus[up.cpu as usize].nr_running += coming;
        let earlier = coming > 0 && self.fair.told_choice(&mut self.w, task, up, &[]) != cpu;
        self.w.cpus[up.cpu as usize].nr_running -= coming;
        later || earlier
    }

    /// CPUs with nothing but a task that a CPU other than `here` has just chosen them for.
    fn perhaps_unmarked(&self, here: Cpu) -> Vec<Cpu> {
        let others = self.chosen.iter().enumerate().filter(|&(by, _)| by != here as usize);
        let mut cpus: Vec<Cpu> = others.filter_map(|(_, chosen)| *chosen).collect();
        cpus.retain(|&c| self.running[c as usize].is_none() && self.coming[c as usize].len() == 1);
        cpus
    }
}
