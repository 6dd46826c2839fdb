//! From a record's bytes to an event, by the formats that its file carries.

use super::bytes::Endian;
use super::format::{Field, Format};
use super::states::States;
use crate::Comm;
use crate::event::{Context, IDLE_EXIT, Kind, MAX_PID, Task, WakeMemory};
use kernel::priority::DEFAULT_PRIO;
use machine::MAX_CPUS;
use std::collections::BTreeMap;

/// What a record is.
#[derive(Debug)]
pub(super) enum Decoded {
    /// A record that timelines show, its CPU's context, and the task that ran there.
    Event(Kind, Context, u32),
    /// A record of another event.
    Other,
    /// Bytes that are no record of the event that they name.
    Damaged,
}

/// Knows the records of a file.
#[derive(Debug)]
pub(super) struct Decoder {
    pub endian: Endian,
    /// By `common_type`.
    plans: Vec<Option<Plan>>,
}

/// How to decode the records of one event.
#[derive(Debug)]
struct Plan {
    name: String,
    /// Records that timelines do not show.
    skipped: u64,
    common: Common,
    shape: Shape,
}

/// What every record has.
#[derive(Debug, Clone, Copy)]
struct Common {
    flags: Option<Field>,
    preempt_count: Option<Field>,
    pid: Option<Field>,
}

/// The fields of a task.
#[derive(Debug, Clone, Copy)]
struct TaskFields {
    comm: Field,
    pid: Field,
    prio: Option<Field>,
}

#[derive(Debug, Clone, Copy)]
enum Woken {
    Waking,
    Wakeup,
    New,
}

/// The fields of the events that timelines show.
#[derive(Debug)]
enum Shape {
    Switch { prev: TaskFields, state: Option<Field>, states: States, next: TaskFields },
    Woken { how: Woken, task: TaskFields, target: Option<Field> },
    Migrate { task: TaskFields, from: Field, to: Field },
    Frequency { khz: Field, cpu: Field },
    Idle { state: Field, cpu: Field },
    PlaceAsked { previous: Field, flags: Field, memory: Option<(Field, Field)> },
    PlaceAnswered { cpu: Field },
    Other,
}

impl Shape {
    /// The shape of a format that has the fields of its event.
    fn of(format: &Format) -> Option<Shape> {
        let field = |name: &str| format.field(name);
        let task = |comm: &str, pid: &str, prio: &str| {
            Some(TaskFields { comm: field(comm)?, pid: field(pid)?, prio: field(prio) })
        };
        let woken = |how| {
            let task = task("comm", "pid", "prio")?;
            Some(Shape::Woken { how, task, target: field("target_cpu") })
        };
        match format.name.as_str() {
            "sched_switch" => Some(Shape::Switch {
                prev: task("prev_comm", "prev_pid", "prev_prio")?,
                state: field("prev_state"),
                states: States::of(&format.print),
                next: task("next_comm", "next_pid", "next_prio")?,
            }),
            "sched_waking" => woken(Woken::Waking),
            "sched_wakeup" => woken(Woken::Wakeup),
            "sched_wakeup_new" => woken(Woken::New),
            "sched_migrate_task" => Some(Shape::Migrate {
                task: task("comm", "pid", "prio")?,
                from: field("orig_cpu")?,
                to: field("dest_cpu")?,
            }),
            "cpu_frequency" => {
                Some(Shape::Frequency { khz: field("state")?, cpu: field("cpu_id")? })
            }
            "cpu_idle" => Some(Shape::Idle { state: field("state")?, cpu: field("cpu_id")? }),
            "place_asked" => Some(Shape::PlaceAsked {
                previous: field("previous")?,
                flags: field("flags")?,
                memory: field("flips").zip(field("recent")),
            }),
            "place_answered" => Some(Shape::PlaceAnswered { cpu: field("cpu")? }),
            _ => None,
        }
    }
}

/// A record's bytes and their order.
#[derive(Clone, Copy)]
struct Record<'a> {
    bytes: &'a [u8],
    endian: Endian,
}

impl Record<'_> {
    fn number(self, field: Field) -> Option<i64> {
        field.number(self.bytes, self.endian)
    }

    fn pid(self, field: Field) -> Option<u32> {
        u32::try_from(self.number(field)?).ok().filter(|&pid| pid <= MAX_PID)
    }

    fn cpu(self, field: Field) -> Option<u32> {
        u32::try_from(self.number(field)?).ok().filter(|&cpu| (cpu as usize) < MAX_CPUS)
    }

    fn task(self, fields: &TaskFields) -> Option<Task> {
        let comm = fields.comm.comm(self.bytes, self.endian)?;
        let prio = match fields.prio {
            Some(prio) => i32::try_from(self.number(prio)?).ok()?,
            None => DEFAULT_PRIO,
        };
        Some(Task { comm, pid: self.pid(fields.pid)?, prio })
    }

    /// What happened; the CPU stands for one that an old kernel does not name.
    fn kind(self, shape: &Shape, on_cpu: u32) -> Option<Kind> {
        Some(match shape {
            Shape::Switch { prev, state, states, next } => Kind::Switch {
                prev: self.task(prev)?,
                prev_state: states.state(match state {
                    Some(state) => self.number(*state)?,
                    None => 0,
                }),
                next: self.task(next)?,
            },
            Shape::Woken { how, task, target } => {
                let task = self.task(task)?;
                let target = match target {
                    Some(target) => self.cpu(*target)?,
                    None => on_cpu,
                };
                match how {
                    Woken::Waking => Kind::Waking { task, target },
                    Woken::Wakeup => Kind::Wakeup { task, target },
                    Woken::New => Kind::WakeupNew { task, target },
                }
            }
            Shape::Migrate { task, from, to } => {
                Kind::Migrate { task: self.task(task)?, from: self.cpu(*from)?, to: self.cpu(*to)? }
            }
            Shape::Frequency { khz, cpu } => {
                Kind::Frequency { cpu: self.cpu(*cpu)?, khz: self.number(*khz)? as u32 }
            }
            Shape::Idle { state, cpu } => {
                let state = Some(self.number(*state)? as u32).filter(|&s| s != IDLE_EXIT);
                Kind::Idle { cpu: self.cpu(*cpu)?, state }
            }
            Shape::PlaceAsked { previous, flags, memory } => Kind::PlaceAsked {
                previous: self.cpu(*previous)?,
                flags: self.number(*flags)? as u32,
                memory: match memory {
                    Some((flips, recent)) => Some(WakeMemory {
                        flips: self.number(*flips)? as u32,
                        recent: self.cpu(*recent)?,
                    }),
                    None => None,
                },
            },
            Shape::PlaceAnswered { cpu } => Kind::PlaceAnswered { cpu: self.cpu(*cpu)? },
            Shape::Other => return None,
        })
    }
}

impl Decoder {
    /// Knows the records of these formats.
    pub(super) fn new(endian: Endian, formats: &[Format]) -> Decoder {
        let mut plans = Vec::new();
        for format in formats {
            let at = usize::from(format.id);
            if plans.len() <= at {
                plans.resize_with(at + 1, || None);
            }
            plans[at] = Some(Plan {
                name: format.name.clone(),
                skipped: 0,
                common: Common {
                    flags: format.field("common_flags"),
                    preempt_count: format.field("common_preempt_count"),
                    pid: format.field("common_pid"),
                },
                shape: Shape::of(format).unwrap_or(Shape::Other),
            });
        }
        Decoder { endian, plans }
    }

    /// Decodes a record of a CPU. `common_type` is its first two bytes in every format.
    pub(super) fn decode(&mut self, bytes: &[u8], on_cpu: u32) -> Decoded {
        let endian = self.endian;
        let plan = endian.at(bytes, 0, 2).and_then(|id| self.plans.get_mut(id as usize)?.as_mut());
        let Some(plan) = plan else { return Decoded::Damaged };
        if matches!(plan.shape, Shape::Other) {
            plan.skipped += 1;
            return Decoded::Other;
        }
        let record = Record { bytes, endian };
        let byte = |field: Option<Field>| field.and_then(|f| record.number(f)).unwrap_or(0) as u8;
        let context = Context {
            flags: byte(plan.common.flags),
            preempt_count: byte(plan.common.preempt_count),
        };
        let pid = plan.common.pid.map_or(Some(0), |pid| record.pid(pid));
        match record.kind(&plan.shape, on_cpu).zip(pid) {
            Some((kind, pid)) => Decoded::Event(kind, context, pid),
            None => Decoded::Damaged,
        }
    }

    /// Records that were skipped, by name of their event.
    pub(super) fn skipped(&self) -> BTreeMap<String, u64> {
        let mut skipped = BTreeMap::new();
        for plan in self.plans.iter().flatten().filter(|p| p.skipped > 0) {
            *skipped.entry(plan.name.clone()).or_default() += plan.skipped;
        }
        skipped
    }
}

/// Names of tasks by thread ID.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: rustc_hash::FxHashMap<u32, Comm>,
    /// By CPU: the last answer.
    last: Vec<(u32, Comm)>,
}

impl Names {
    /// The lines `PID NAME` of `saved_cmdlines`.
    pub(super) fn saved(text: &str) -> Names {
        let line = |line: &str| {
            let (pid, name) = line.split_once(' ')?;
            Some((pid.trim().parse().ok()?, Comm::new(name)))
        };
        Names { names: text.lines().filter_map(line).collect(), last: Vec::new() }
    }

    /// A task has this name from now on.
    pub(super) fn set(&mut self, pid: u32, comm: Comm) {
        self.names.insert(pid, comm);
        self.last.clear();
    }

    /// A new task has its parent's name.
    pub(super) fn inherit(&mut self, pid: u32, parent: u32) {
        if pid != parent
            && let Some(&comm) = self.names.get(&parent)
        {
            self.set(pid, comm);
        }
    }

    /// Learns the name of a task, also a new one.
    pub(super) fn follow(&mut self, task: &Task) {
        if task.pid != 0 && self.names.get(&task.pid) != Some(&task.comm) {
            self.set(task.pid, task.comm);
        }
    }

    /// Learns the name of a task that has none.
    pub(super) fn learn(&mut self, task: &Task) {
        self.names.entry(task.pid).or_insert(task.comm);
    }

    /// The name of the task that runs on a CPU, as the kernel's text has it.
    pub(super) fn of(&mut self, pid: u32, cpu: u32) -> Comm {
        let cpu = cpu as usize;
        if cpu >= self.last.len() {
            self.last.resize(cpu + 1, (0, Comm::new("<idle>")));
        }
        if self.last[cpu].0 != pid {
            let comm = match pid {
                0 => Comm::new("<idle>"),
                pid => self.names.get(&pid).copied().unwrap_or_else(|| Comm::new("<...>")),
            };
            self.last[cpu] = (pid, comm);
        }
        self.last[cpu].1
    }
}
