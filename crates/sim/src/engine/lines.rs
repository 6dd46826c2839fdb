//! Lines that several running tasks fight for.
//!
//! `pace` says which line the task of a CPU uses from now on, or that it uses none (`use_line`). The CPU leaves its old
//! line first and joins the new one then. Each time the other users of that line are settled, slowed down, aimed and
//! armed, if their rivals make a difference to them (`rivals_changed`). What a core cycle costs on top is the hand-over
//! from the nearest rival (`line_ns`); two readers are not rivals.
//!
//! The CPU itself is slowed down by `pace` afterwards. Lines of messages and mutexes are charged where they move, in
//! `queues` and `sync`.

use super::Sim;
use super::core::Core;
use crate::topology::Cpu;
use crate::trace::Trace;
use workload::LineId;

/// A CPU whose running task uses a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LineUser {
    pub(super) cpu: Cpu,
    /// Core cycles of a round.
    pub(super) cycles: f64,
    pub(super) write: bool,
}

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// The task that runs on `cpu` now uses this line, or none. Who uses the same line gains or loses a rival.
    pub(super) fn use_line(&mut self, cpu: Cpu, used: Option<(LineId, LineUser)>) {
        let before = self.memory.paces[cpu as usize].line;
        let line = used.map(|u| u.0);
        if before.is_some() && before != line {
            self.memory.paces[cpu as usize].line = None;
            self.memory.paces[cpu as usize].line_ns = 0.0;
        }
        if let Some(left) = before.filter(|_| before != line) {
            self.memory.lines[left.0 as usize].retain(|u| u.cpu != cpu);
            self.rivals_changed(left, cpu);
        }
        let Some((line, user)) = used else { return };
        let users = &mut self.memory.lines[line.0 as usize];
        match users.iter_mut().find(|u| u.cpu == cpu) {
            Some(same) if *same == user => return,
            Some(other) => *other = user,
            None => users.push(user),
        }
        self.memory.paces[cpu as usize].line = Some(line);
        self.memory.paces[cpu as usize].line_ns = self.line_ns(line, user);
        self.rivals_changed(line, cpu);
    }

    /// What a core cycle of `user` costs beyond itself: the line comes from the nearest CPU with a rival.
    fn line_ns(&self, line: LineId, user: LineUser) -> f64 {
        let rivals = self.memory.lines[line.0 as usize].iter();
        let nearest = rivals
            .filter(|r| r.cpu != user.cpu && (r.write || user.write))
            .map(|r| self.w.hw.handover_ns(self.w.topo.distance(user.cpu, r.cpu)))
            .min_by(f64::total_cmp);
        nearest.map_or(0.0, |ns| self.setup.contend_transfers * ns / user.cycles)
    }

    /// The users of `line` but `cpu` go on at another speed.
    fn rivals_changed(&mut self, line: LineId, cpu: Cpu) {
        for i in 0..self.memory.lines[line.0 as usize].len() {
            let user = self.memory.lines[line.0 as usize][i];
            let line_ns = self.line_ns(line, user);
            if user.cpu != cpu && self.memory.paces[user.cpu as usize].line_ns != line_ns {
                self.settle(user.cpu);
                self.memory.paces[user.cpu as usize].line_ns = line_ns;
                self.slow_down(user.cpu);
                self.aim(user.cpu);
                self.arm(user.cpu);
            }
        }
    }
}
