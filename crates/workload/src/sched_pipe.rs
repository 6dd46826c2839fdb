//! `perf bench sched pipe`: two processes and two pipes; each writes four bytes and sleeps until four come back.
//!
//! As the program does it: the parent forks; the child reads then writes, the parent writes then reads, `loops`
//! times each; the parent waits for the child. Time runs from before the fork to after the wait.

use crate::program::{Metric, Op, Program, Reading, Work, Workload};
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use machine::constants::{Constants, MissingConstant};
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "sched-pipe";

/// Command-line options, and what is around the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Rounds that the result stands for (`-l`, 1,000,000 by default).
    pub loops: u32,
    /// Rounds that are run; the time is scaled to `loops`.
    pub loops_run: u32,
    /// CPUs it is bound to; all where absent.
    pub cpus: Option<CpuSet>,
}

/// What the program's steps cost on a machine, beside its system calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Cycles in user space between two system calls.
    pub user_cycles: f64,
}

impl Costs {
    /// From the constants of a machine.
    pub fn of(constants: &Constants) -> Result<Costs, MissingConstant> {
        Ok(Costs { user_cycles: constants.value("pipe_user_cycles")? })
    }
}

/// The metric's name.
pub const SECONDS: &str = "seconds";

/// Builds the workload.
pub fn build(params: &Params, costs: &Costs) -> Result<Workload, WorkloadError> {
    check::within(NAME, "loops", params.loops, 1..=u32::MAX, "at least 1")?;
    check::within(NAME, "loops_run", params.loops_run, 1..=params.loops, "1 to `loops`")?;
    let mut w = Workload::default();
    let (to_child, to_parent) = (w.pipe(), w.pipe());
    let (start, end) = (w.mark(), w.mark());
    let user = Op::Compute(Work::fixed(costs.user_cycles));
    let times = params.loops_run;
    let child = w.program(
        NAME,
        vec![user.clone(), Op::Receive(to_child), Op::Send(to_parent), Op::Loop { to: 0, times }],
    );
    let parent = vec![
        Op::Mark(start),
        Op::Fork(child),
        user,
        Op::Send(to_child),
        Op::Receive(to_parent),
        Op::Loop { to: 2, times },
        Op::WaitChildren,
        Op::Mark(end),
        Op::Stop,
    ];
    launch::from_shell(
        &mut w,
        Program { name: NAME.to_string(), ops: parent },
        params.cpus.clone(),
    );
    w.metrics.push(Metric {
        name: SECONDS.to_string(),
        unit: "s".to_string(),
        better: Better::Lower,
        reading: Reading::Seconds {
            from: start,
            to: end,
            scale: f64::from(params.loops) / f64::from(params.loops_run),
        },
    });
    Ok(w)
}
