//! The model held against a kernel's code, decision by decision.
//!
//! A library tells each decision of its fair class with the state that it was made from. The model takes that state over, decides, and
//! the two answers are compared. So a difference is one of this decision's rule: it does not come from what happened before.
//!
//! Not compared are decisions that the model has no state for: a task or a queue of a class that it does not know, and a queue within a
//! group that the model would not have chosen, which is a difference of the group.

mod agreement;

pub use agreement::{Agreement, Count, Difference, Kind};

use crate::engine::world;
use crate::fair::Fair;
use crate::setup::Setup;
use crate::source::{Decision, decision, why};
use crate::topology::Cpu;
use crate::world::{Task, TaskId, World};
use machine::CpuSet;
use workload::ProgramId;

/// Asks the model what a kernel was asked.
pub(crate) struct Judge<'a> {
    w: World<'a>,
    fair: Fair,
    /// By task: the words of the mask that `allowed` was made of.
    masks: Vec<Vec<u64>>,
    agreement: Agreement,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(setup: &'a Setup) -> Judge<'a> {
        let tick_ns = 1_000_000_000 / u64::from(setup.kernel.hz);
        Judge {
            w: world(setup, 0, tick_ns, 0),
            fair: Fair::new(&setup.topo, &setup.kernel),
            masks: Vec::new(),
            agreement: Agreement::default(),
        }
    }

    /// What was compared so far.
    pub(crate) fn finish(self) -> Agreement {
        self.agreement
    }

    /// Decides as the kernel did, and compares.
    pub(crate) fn judge(&mut self, made: &Decision) {
        let question = &made.question;
        let Some(kind) = kind(made) else { return };
        self.adopt(made);
        let (cpu, level) = (question.cpu as Cpu, question.level as usize);
        if question.decision >= decision::TURN && level >= self.w.topo.domains[cpu as usize].len() {
            return;
        }
        let model: i64 = match question.decision {
            decision::CPU => self.fair.decide_cpu(&mut self.w, made).map_or(-1, i64::from),
            decision::TASK => self.fair.decide_task(cpu).map_or(0, |task| task.0.into()),
            decision::PREEMPTION => {
                let task = TaskId(question.task as u32);
                if self.fair.running_on(cpu).is_none() {
                    return;
                }
                self.fair.decide_preemption(&self.w, task).into()
            }
            decision::TURN => self.fair.decide_turn(&self.w, cpu, level, question.idle).into(),
            _ => {
                let (group, queue) =
                    self.fair.decide_source(&mut self.w, cpu, level, question.idle);
                let number = |cpu: Option<Cpu>| cpu.map_or(-1, i64::from);
                match question.decision {
                    decision::GROUP => number(group),
                    _ if number(group) != i64::from(question.group) => return,
                    _ => number(queue),
                }
            }
        };
        self.agreement.note(kind, made, model);
    }

    fn adopt(&mut self, made: &Decision) {
        let w = &mut self.w;
        w.now_ns = made.question.now_ns;
        w.jiffies = made.question.jiffies;
        w.requests.clear();
        w.notes.clear();
        for seen in &made.tasks {
            let at = seen.pid as usize;
            while w.tasks.len() <= at {
                w.tasks.push(Task::new(ProgramId(0), 0, CpuSet::EMPTY));
                self.masks.push(Vec::new());
            }
            if self.masks[at] != seen.mask {
                self.masks[at].clone_from(&seen.mask);
                let bits = seen.mask.iter().enumerate().flat_map(|(i, &word)| {
                    (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| i * 64 + bit)
                });
                w.tasks[at].allowed = &bits.collect::<CpuSet>() & &w.topo.online_set;
            }
            w.tasks[at].cpu = seen.state.cpu as Cpu;
        }
        self.fair.adopt(w, made);
    }
}

/// What is compared; nothing where the kernel's answer says something else.
fn kind(made: &Decision) -> Option<Kind> {
    let preempting = made.within == Some(decision::PREEMPTION);
    Some(match made.question.decision {
        decision::CPU => match made.question.why {
            why::IS_NEW => Kind::Fork,
            why::EXECS => Kind::Exec,
            _ => Kind::Wakeup,
        },
        // Within a preemption it is asked whether the woken task would be picked.
        decision::TASK if preempting => return None,
        decision::TASK => Kind::Pick,
        decision::PREEMPTION => Kind::Preemption,
        decision::TURN => Kind::Turn,
        decision::GROUP => Kind::Group,
        decision::QUEUE => Kind::Queue,
        _ => return None,
    })
}
