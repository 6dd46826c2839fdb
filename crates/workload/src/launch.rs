//! How a benchmark comes to life: a shell forks, the child binds itself and execs.

use crate::program::{Op, Program, ProgramId, Spawn, Spread, Work, Workload};
use machine::CpuSet;

/// Cycles that a shell spends between two commands: it prints, reads its script and expands a line.
/// Assumed: about 0.3 ms at 3.8 GHz.
const SHELL_CYCLES: f64 = 1.2e6;
/// Cycles from exec to `main`: loading and dynamic linking. Assumed: about 0.5 ms at 3.8 GHz.
const START_CYCLES: f64 = 2.0e6;
/// Earliest time the shell acts, so that the background has left its traces by then.
const FIRST_WAKE_NS: u64 = 300_000_000;
/// Tasks that were started before wake within so long before that.
const LONG_SINCE_NS: u64 = 10_000_000;
/// The shell acts at any point of a second of this length, so that runs meet ticks and timers at any phase.
const WITHIN_NS: u64 = 100_000_000;

/// When what the shell starts is up, where that is little.
pub(crate) const STARTED_NS: u64 = 500_000_000;

/// From exec to `main`.
const START: Op = Op::Compute(Work { cycles: START_CYCLES, spread: Spread::LogNormal(0.2) });

/// A program that a forked child execs: loading and linking, then its own steps, whose loops count from the first of them.
pub(crate) fn executed(ops: &[Op]) -> Vec<Op> {
    let start = [Op::Exec, START];
    let own = ops.iter().map(|op| op.shifted(start.len() as u16));
    start.iter().cloned().chain(own).collect()
}

/// Runs a program in a child and waits for it, by `fork`: a subshell, and what git starts.
pub(crate) fn command(program: ProgramId) -> [Op; 2] {
    [Op::Fork(program), Op::WaitChildren]
}

/// Starts a program in a child by `vfork`: the parent sleeps until the program is loaded. make (`posix_spawn`), dash and gcc start
/// all programs so (`strace -f` of make 4.3, dash 0.5.12 and gcc 12).
pub(crate) fn start(program: ProgramId) -> [Op; 2] {
    [Op::Fork(program), Op::WaitExec]
}

/// The same, and waits for it.
pub(crate) fn run(program: ProgramId) -> [Op; 3] {
    [Op::Fork(program), Op::WaitExec, Op::WaitChildren]
}

/// A task of a benchmark that was started long before, with no trace left of how: it wakes on a random CPU before the shell acts.
pub(crate) fn long_since(program: ProgramId, cpus: Option<CpuSet>) -> Spawn {
    Spawn {
        affinity: cpus,
        first_wake_ns: FIRST_WAKE_NS - LONG_SINCE_NS,
        within_ns: LONG_SINCE_NS,
        ..Spawn::new(program)
    }
}

/// Adds a shell that starts `program` once, bound to `cpus` as `taskset` does it: fork, exec of taskset,
/// `sched_setaffinity`, exec of the program.
pub(crate) fn from_shell(w: &mut Workload, program: Program, cpus: Option<CpuSet>) {
    let mut ops = vec![Op::Exec, START];
    if let Some(cpus) = cpus {
        ops.extend([Op::SetAffinity(cpus), Op::Exec, START]);
    }
    // The program's own steps follow; its loops count from its own first step.
    let offset = ops.len() as u16;
    ops.extend(program.ops.iter().map(|op| op.shifted(offset)));

    let child = w.program(&program.name, ops);
    let shell = w.program(
        "bash",
        vec![
            Op::Compute(Work { cycles: SHELL_CYCLES, spread: Spread::LogNormal(0.3) }),
            Op::Fork(child),
            Op::WaitChildren,
        ],
    );
    w.spawns.push(Spawn {
        first_wake_ns: FIRST_WAKE_NS,
        within_ns: WITHIN_NS,
        ..Spawn::new(shell)
    });
}
