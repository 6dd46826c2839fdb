//! From a message `FtraceEvent` to what happened, and what other events are called.

use super::window::{Input, Window};
use crate::event::{IDLE_EXIT, Kind, MAX_PID};
use crate::perfetto::schema::{FtraceEvent, FtraceKind, Migrate, Switch, Wakeup};
use crate::{Comm, Task, TaskState, TraceError};
use kernel::priority::DEFAULT_PRIO;
use machine::MAX_CPUS;
use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Seek};

/// Most kinds of other events that are counted apart. Perfetto has some 600.
const MOST_KINDS: usize = 10_000;
/// `FtraceEvent`'s fields that are no events.
const OWN: [u32; 3] = [1, 2, 5];

/// What an event says.
#[derive(Debug)]
pub(super) struct Found {
    pub kind: Kind,
    /// `common_flags`.
    pub flags: u8,
    /// The task that ran.
    pub pid: Option<u32>,
}

/// What is in an event; `None` if it lacks something or has values that no record has.
pub(super) fn found(event: &FtraceEvent) -> Option<Found> {
    let kind = kind(event.event.as_ref()?)?;
    // A new task does not announce itself: systing puts it where the running task should be.
    let told =
        event.pid.filter(|&pid| !matches!(&kind, Kind::WakeupNew { task, .. } if task.pid == pid));
    if told.is_some_and(|pid| pid > MAX_PID) {
        return None;
    }
    Some(Found { kind, flags: event.common_flags.unwrap_or(0) as u8, pid: told })
}

fn kind(event: &FtraceKind) -> Option<Kind> {
    Some(match event {
        FtraceKind::SchedSwitch(switch) => {
            let Switch { prev_comm, prev_pid, prev_prio, prev_state, .. } = switch;
            Kind::Switch {
                prev: task(prev_comm.as_deref(), *prev_pid, *prev_prio)?,
                prev_state: TaskState(prev_state.unwrap_or(0) as u16),
                next: task(switch.next_comm.as_deref(), switch.next_pid, switch.next_prio)?,
            }
        }
        FtraceKind::SchedWaking(wakeup) => {
            let (task, target) = woken(wakeup)?;
            Kind::Waking { task, target }
        }
        FtraceKind::SchedWakeup(wakeup) => {
            let (task, target) = woken(wakeup)?;
            Kind::Wakeup { task, target }
        }
        FtraceKind::SchedWakeupNew(wakeup) => {
            let (task, target) = woken(wakeup)?;
            Kind::WakeupNew { task, target }
        }
        FtraceKind::SchedMigrateTask(Migrate { comm, pid, prio, orig_cpu, dest_cpu }) => {
            Kind::Migrate {
                task: task(comm.as_deref(), *pid, *prio)?,
                from: cpu(orig_cpu.map(i64::from))?,
                to: cpu(dest_cpu.map(i64::from))?,
            }
        }
        FtraceKind::CpuFrequency(power) => {
            Kind::Frequency { cpu: cpu(power.cpu_id.map(i64::from))?, khz: power.state? }
        }
        FtraceKind::CpuIdle(power) => {
            let state = Some(power.state?).filter(|&state| state != IDLE_EXIT);
            Kind::Idle { cpu: cpu(power.cpu_id.map(i64::from))?, state }
        }
    })
}

fn task(comm: Option<&[u8]>, pid: Option<i32>, prio: Option<i32>) -> Option<Task> {
    let pid = u32::try_from(pid?).ok().filter(|&pid| pid <= MAX_PID)?;
    Some(Task {
        comm: Comm::from_bytes(comm.unwrap_or(&[])),
        pid,
        prio: prio.unwrap_or(DEFAULT_PRIO),
    })
}

fn woken(wakeup: &Wakeup) -> Option<(Task, u32)> {
    let Wakeup { comm, pid, prio, target_cpu } = wakeup;
    Some((task(comm.as_deref(), *pid, *prio)?, cpu(target_cpu.map(i64::from))?))
}

fn cpu(number: Option<i64>) -> Option<u32> {
    u32::try_from(number?).ok().filter(|&cpu| (cpu as usize) < MAX_CPUS)
}

/// Counts events that timelines do not show, and damage.
#[derive(Debug, Default)]
pub(super) struct Others {
    pub records: u64,
    pub damaged: u64,
    by_field: HashMap<u32, u64>,
}

impl Others {
    /// Counts an event by the number of its field.
    pub(super) fn count<R: Read + Seek>(
        &mut self,
        mut event: Window,
        input: &mut Input<R>,
    ) -> Result<(), TraceError> {
        self.records += 1;
        while let Some(key) = event.key(input)? {
            if !OWN.contains(&key.number) {
                if self.by_field.len() < MOST_KINDS || self.by_field.contains_key(&key.number) {
                    *self.by_field.entry(key.number).or_default() += 1;
                }
                break;
            }
            event.skip(key, input)?;
        }
        Ok(())
    }

    /// The counts by name; the file tells names of events that only its kernel knows.
    pub(super) fn by_name(&self, generic: &BTreeMap<u32, String>) -> BTreeMap<String, u64> {
        let name = |number: u32| match NAMES.iter().find(|(field, _)| *field == number) {
            Some((_, name)) => (*name).to_string(),
            None => match generic.get(&number) {
                Some(name) => name.clone(),
                None => format!("event {number} of Perfetto's schema"),
            },
        };
        let mut by_name = BTreeMap::new();
        for (&number, &records) in &self.by_field {
            *by_name.entry(name(number)).or_default() += records;
        }
        by_name
    }
}

/// Fields of `FtraceEvent` that recordings of schedulers have beside those that timelines show
/// (`protos/perfetto/trace/ftrace/ftrace_event.proto`).
const NAMES: [(u32, &str); 34] = [
    (3, "print"),
    (12, "cpu_frequency_limits"),
    (14, "clock_enable"),
    (15, "clock_disable"),
    (16, "clock_set_rate"),
    (18, "sched_blocked_reason"),
    (19, "sched_cpu_hotplug"),
    (21, "ipi_entry"),
    (22, "ipi_exit"),
    (23, "ipi_raise"),
    (24, "softirq_entry"),
    (25, "softirq_exit"),
    (26, "softirq_raise"),
    (36, "irq_handler_entry"),
    (37, "irq_handler_exit"),
    (57, "workqueue_execute_end"),
    (58, "workqueue_execute_start"),
    (59, "workqueue_queue_work"),
    (67, "cgroup_attach_task"),
    (113, "suspend_resume"),
    (235, "task_newtask"),
    (236, "task_rename"),
    (237, "sched_process_exec"),
    (238, "sched_process_exit"),
    (239, "sched_process_fork"),
    (240, "sched_process_free"),
    (241, "sched_process_hang"),
    (242, "sched_process_wait"),
    (327, "events that Perfetto does not know"),
    (329, "sys_enter"),
    (330, "sys_exit"),
    (353, "sched_pi_setprio"),
    (421, "sched_cpu_util_cfs"),
    (487, "sched_switch_with_ctrs"),
];
