//! hackbench: groups of senders and receivers; each sender writes to each receiver of its group, over and over.
//!
//! As rt-tests' program does it (`strace -f -c hackbench -g 1 -l 10 -f 5`: 10 clones, 250 + 13 writes, 250 + 12 reads,
//! 10 polls): the main task makes a socket pair or a pipe for each receiver, forks a group's receivers and then its
//! senders; every child writes one byte to say that it is ready and polls a pipe; when all are ready the main task
//! writes a byte into that pipe, which wakes all who poll, and waits for the children. Time runs from that byte on.

use crate::program::{Metric, Op, Program, ProgramId, Queue, QueueId, Reading, Work, Workload};
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use machine::constants::{Constants, MissingConstant};
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "hackbench";
/// Bytes of a line that a message's data is counted in.
const LINE_BYTES: u32 = 64;

/// Command-line options, and what is around the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Groups (`-g`).
    pub groups: u16,
    /// Messages from each sender to each receiver of its group (`-l`).
    pub loops: u32,
    /// Senders, and as many receivers, of a group (`-f`).
    pub fds: u16,
    /// Bytes of a message (`-s`).
    pub datasize: u32,
    /// Pipes (`-p`) instead of Unix sockets.
    pub pipe: bool,
    /// Threads (`-T`) instead of processes.
    #[serde(default)]
    pub threads: bool,
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
        Ok(Costs { user_cycles: constants.value("message_user_cycles")? })
    }
}

/// The metric's name.
pub const SECONDS: &str = "seconds";

/// Builds the workload.
pub fn build(params: &Params, costs: &Costs) -> Result<Workload, WorkloadError> {
    check::within(NAME, "groups", params.groups, 1..=1000, "1 to 1000")?;
    check::within(NAME, "fds", params.fds, 1..=100, "1 to 100")?;
    check::within(NAME, "loops", params.loops, 1..=10_000_000, "1 to 10000000")?;
    check::within(NAME, "datasize", params.datasize, 1..=4096, "1 to 4096")?;
    let queues = u32::from(params.groups) * u32::from(params.fds);
    check::within(NAME, "groups", queues, 1..=20_000, "at most 20000 receivers in all")?;
    let mut w = Workload::default();
    let (begun, end) = (w.mark(), w.mark());
    let tasks = 2 * queues;
    let ready = w.pipe();
    let go = w.barrier(tasks + 1);
    let user = Op::Compute(Work::fixed(costs.user_cycles));
    let begin = [user.clone(), Op::Send(ready), Op::Barrier(go)];
    let start = if params.threads { Op::Clone } else { Op::Fork };
    let mut main = Vec::new();
    for _ in 0..params.groups {
        let ends = receivers(&mut w, params, &begin, user.clone());
        main.extend(ends.iter().map(|(program, _)| start(*program)));
        let mut ops = begin.to_vec();
        ops.extend(ends.iter().flat_map(|&(_, queue)| [user.clone(), Op::Send(queue)]));
        ops.push(Op::Loop { to: begin.len() as u16, times: params.loops });
        let sender = w.program(NAME, ops);
        main.extend((0..params.fds).map(|_| start(sender)));
    }
    let to = main.len() as u16;
    main.extend([
        Op::Receive(ready),
        Op::Loop { to, times: tasks },
        Op::Mark(begun),
        Op::Barrier(go),
        Op::WaitChildren,
        Op::Mark(end),
        Op::Stop,
    ]);
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, params.cpus.clone());
    w.metrics.push(Metric {
        name: SECONDS.to_string(),
        unit: "s".to_string(),
        better: Better::Lower,
        reading: Reading::Seconds { from: begun, to: end, scale: 1.0 },
    });
    Ok(w)
}

/// A group's receivers, each with its queue.
fn receivers(
    w: &mut Workload,
    params: &Params,
    begin: &[Op],
    user: Op,
) -> Vec<(ProgramId, QueueId)> {
    let lines = params.datasize.div_ceil(LINE_BYTES) as u16;
    let queue = if params.pipe {
        Queue::pipe(params.datasize, lines)
    } else {
        Queue::socket(params.datasize, lines)
    };
    let receiver = |_| {
        let queue = w.queue(queue);
        let mut ops = begin.to_vec();
        let times = params.loops * u32::from(params.fds);
        ops.extend([user.clone(), Op::Receive(queue), Op::Loop { to: begin.len() as u16, times }]);
        (w.program(NAME, ops), queue)
    };
    (0..params.fds).map(receiver).collect()
}
