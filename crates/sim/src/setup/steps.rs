//! Quantities that steps with memory use, contended lines and devices can have.

use crate::SimError;
use machine::Node;
use workload::{MemoryUse, Nodes, Op, Program, Workload};

/// The first step of `workload` that cannot be.
pub(super) fn check(workload: &Workload, nodes: &[Node]) -> Result<(), SimError> {
    for program in &workload.programs {
        for op in &program.ops {
            match op {
                Op::Memory(used) => memory(program, used, nodes)?,
                Op::Contend { rounds, cycles, line, .. } => {
                    hold(program, "contend: rounds", *rounds, *rounds >= 0.0, "0 or more")?;
                    hold(program, "contend: cycles", *cycles, *cycles > 0.0, "more than 0")?;
                    let known = line.0 < workload.lines;
                    hold(
                        program,
                        "contend: line",
                        f64::from(line.0),
                        known,
                        "a line of the workload",
                    )?;
                }
                Op::Io { device, service_ns, .. } => {
                    hold(program, "io: service_ns", *service_ns, *service_ns >= 0.0, "0 or more")?;
                    let known = device.index() < workload.devices.len();
                    let number = f64::from(device.0);
                    hold(program, "io: device", number, known, "a device of the workload")?;
                }
                Op::Portion(part) => hold(program, "portion", *part, *part >= 0.0, "0 or more")?,
                Op::SpinBarrier { spin_cycles, .. } => {
                    let cycles = *spin_cycles;
                    hold(program, "barrier: spin_cycles", cycles, cycles >= 0.0, "0 or more")?;
                }
                Op::Take { pool, .. } | Op::Refill(pool) => {
                    let known = pool.index() < workload.pools.len();
                    hold(program, "pool", f64::from(pool.0), known, "a pool of the workload")?;
                }
                Op::Connect(id) => {
                    let known = id.0 < workload.connections;
                    hold(
                        program,
                        "connect",
                        f64::from(id.0),
                        known,
                        "a connection of the workload",
                    )?;
                }
                Op::Draw(_) | Op::Begin(_) | Op::Ask { .. } | Op::Answer => {}
                Op::Compute(_) | Op::RunFor(_) | Op::SpinUntilSet(_) | Op::WorkWhileSet { .. } => {}
                Op::Loop { .. }
                | Op::LoopWhileSet { .. }
                | Op::SkipIf { .. }
                | Op::Yield
                | Op::Sleep { .. } => {}
                Op::TimerWait { .. }
                | Op::WaitChildren
                | Op::WaitExec
                | Op::Send(_)
                | Op::Receive(_) => {}
                Op::Lock(_) | Op::Unlock(_) | Op::Wait { .. } | Op::Signal(_) => {}
                Op::Broadcast(_) | Op::Barrier(_) | Op::Reply | Op::Fork(_) | Op::Clone(_) => {}
                Op::Exec | Op::SetAffinity(_) | Op::SetNice(_) | Op::SetSlice(_) => {}
                Op::SetPolicy(_)
                | Op::SetUtilClamp { .. }
                | Op::SetFlag(..)
                | Op::Stamp
                | Op::Record { .. } => {}
                Op::Mark(_) | Op::Stop => {}
            }
        }
    }
    Ok(())
}

fn memory(program: &Program, used: &MemoryUse, nodes: &[Node]) -> Result<(), SimError> {
    let set = used.working_set_bytes;
    hold(program, "memory: working_set_bytes", set, set >= 1.0, "1 or more")?;
    for (field, value) in [
        ("memory: touches_per_kcycle", used.touches_per_kcycle),
        ("memory: stream_bytes_per_kcycle", used.stream_bytes_per_kcycle),
        ("memory: stream_set_bytes", used.stream_set_bytes),
    ] {
        hold(program, field, value, value >= 0.0, "0 or more")?;
    }
    let named = used.placement.nodes();
    if named != Nodes::ALL && !named.iter().all(|n| nodes.iter().any(|node| node.id == n)) {
        return Err(SimError::Step {
            program: program.name.clone(),
            field: "memory: placement",
            found: used.placement.to_string(),
            expected: "nodes that the machine has",
        });
    }
    hold(program, "memory: overlap", used.overlap, used.overlap >= 1.0, "1 or more")
}

fn hold(
    program: &Program,
    field: &'static str,
    found: f64,
    holds: bool,
    expected: &'static str,
) -> Result<(), SimError> {
    if holds && found.is_finite() {
        return Ok(());
    }
    let program = program.name.clone();
    Err(SimError::Step { program, field, found: found.to_string(), expected })
}
