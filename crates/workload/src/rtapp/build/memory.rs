//! `mem` and `memrun` as work with memory touches.
//!
//! A thread has one working set: what its events touch of all their buffers, taken to be gone through evenly. Buffers
//! shared by `ref` are each thread's own here.

use super::thread::Thread;
use crate::placement::Placement;
use crate::program::{MemoryUse, Op, Work};
use crate::rtapp::ast::{Access, Action, MemRun, RtApp, Task};
use std::collections::BTreeMap;

/// Bytes of a cache line. Assumed: what most machines have.
const LINE_BYTES: f64 = 64.0;
/// Bytes that `memset` writes a core cycle when all is in the L1. Assumed: one 16-byte store.
const MEMSET_BYTES_PER_CYCLE: f64 = 16.0;
/// Core cycles of a byte that `memrun` reads or writes by itself. Assumed: one access.
const BYTE_CYCLES: f64 = 1.0;
/// Core cycles from pointer to pointer in the L1. Assumed: its latency.
const HOP_CYCLES: f64 = 4.0;
/// Misses in flight where a prefetcher can follow. Assumed.
const PREFETCHED: f64 = 8.0;

/// What an event does to memory.
struct Touches {
    cycles: f64,
    /// Lines touched, in all.
    lines: f64,
    overlap: f64,
    /// Distinct bytes touched, in whole lines where pointers are far apart.
    set_bytes: f64,
}

impl Touches {
    /// `memset` of so many bytes, as often through the buffer as that takes.
    fn memset(bytes: u32, buffer: u32) -> Touches {
        Touches {
            cycles: f64::from(bytes) / MEMSET_BYTES_PER_CYCLE,
            lines: f64::from(bytes) / LINE_BYTES,
            overlap: PREFETCHED,
            set_bytes: f64::from(bytes.min(buffer)),
        }
    }

    fn memrun(run: &MemRun) -> Touches {
        let count = f64::from(run.count);
        match run.access {
            Access::Read | Access::Write => Touches {
                cycles: count * BYTE_CYCLES,
                lines: count / LINE_BYTES,
                overlap: PREFETCHED,
                set_bytes: f64::from(run.count.min(run.size)),
            },
            Access::Chase { stride, random } => {
                let (pointers, stride) = ((run.size / stride.max(1)).max(1), f64::from(stride));
                // Pointers in a row share lines; in bit-reversed order none follows its neighbour.
                let lines = if random { 1.0 } else { (stride / LINE_BYTES).min(1.0) };
                Touches {
                    cycles: count * HOP_CYCLES,
                    lines: count * lines,
                    overlap: if random { 1.0 } else { PREFETCHED },
                    set_bytes: f64::from(run.count.min(pointers)) * stride.min(LINE_BYTES),
                }
            }
        }
    }

    fn of(action: &Action, app: &RtApp) -> Option<Touches> {
        match action {
            Action::Mem { bytes } => Some(Touches::memset(*bytes, app.global.mem_buffer_size)),
            Action::MemRun(run) => Some(Touches::memrun(run)),
            _ => None,
        }
    }
}

/// Bytes that a thread of `task` touches: `mem` events share a buffer, and so do `memrun` events of one kind and `ref`.
pub(super) fn working_set_bytes(app: &RtApp, task: &Task) -> f64 {
    let mut buffers: BTreeMap<(u8, Option<&str>, usize), f64> = BTreeMap::new();
    let events = task.phases.iter().flat_map(|phase| &phase.events);
    for (nth, event) in events.enumerate() {
        let Some(touches) = Touches::of(&event.action, app) else { continue };
        let buffer = match &event.action {
            Action::MemRun(run) => {
                let kind = match run.access {
                    Access::Read => 1,
                    Access::Write => 2,
                    Access::Chase { .. } => 3,
                };
                let shared = run.shared.as_deref();
                (kind, shared, if shared.is_some() { 0 } else { nth })
            }
            _ => (0, None, 0),
        };
        let most = buffers.entry(buffer).or_insert(0.0);
        *most = most.max(touches.set_bytes);
    }
    buffers.values().sum()
}

/// Adds the steps of `action`, and one that ends the touches: other work has none.
pub(super) fn event(t: &mut Thread<'_>, app: &RtApp, action: &Action) {
    let touches = Touches::of(action, app).filter(|touches| touches.cycles > 0.0);
    let Some(Touches { cycles, lines, overlap, .. }) = touches else { return };
    let rest = MemoryUse {
        working_set_bytes: t.working_set_bytes.max(1.0),
        touches_per_kcycle: 0.0,
        overlap: 1.0,
        stream_bytes_per_kcycle: 0.0,
        stream_set_bytes: 0.0,
        placement: Placement::Default,
    };
    let touches_per_kcycle = lines * 1000.0 / cycles;
    let used = MemoryUse { touches_per_kcycle, overlap, ..rest };
    t.ops.extend([Op::Memory(used), Op::Compute(Work::fixed(cycles)), Op::Memory(rest)]);
}
