//! The clusters study's loop: two threads, one of which loads a word while the other increments another word of the
//! same cache line, so many times each; bound to CPUs from outside (`taskset -c 0,4`). Time runs from before the first
//! thread is made to after the last has ended.

use crate::program::{Metric, Op, Program, Reading, Workload};
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use machine::constants::{Constants, MissingConstant};
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "false-sharing";

/// What is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Rounds of each thread (0xfffffff in the study).
    pub rounds: u32,
    /// CPUs it is bound to; all where absent.
    pub cpus: Option<CpuSet>,
}

/// What the program's steps cost on a machine, beside its system calls and the line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Core cycles of a round that has the line in its L1.
    pub round_cycles: f64,
}

impl Costs {
    /// From the constants of a machine.
    pub fn of(constants: &Constants) -> Result<Costs, MissingConstant> {
        Ok(Costs { round_cycles: constants.value("contend_round_cycles")? })
    }
}

/// The metric's name.
pub const SECONDS: &str = "seconds";

/// Builds the workload.
pub fn build(params: &Params, costs: &Costs) -> Result<Workload, WorkloadError> {
    check::within(NAME, "rounds", params.rounds, 1..=u32::MAX, "at least 1")?;
    let mut w = Workload::default();
    let line = w.line();
    let (start, end) = (w.mark(), w.mark());
    let mut thread = |write| {
        let rounds = f64::from(params.rounds);
        let contend = Op::Contend { line, rounds, cycles: costs.round_cycles, write };
        Op::Clone(w.program(NAME, vec![contend]))
    };
    let (loads, increments) = (thread(false), thread(true));
    let main = vec![Op::Mark(start), loads, increments, Op::WaitChildren, Op::Mark(end), Op::Stop];
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, params.cpus.clone());
    w.metrics.push(Metric {
        name: SECONDS.to_string(),
        unit: "s".to_string(),
        better: Better::Lower,
        reading: Reading::Seconds { from: start, to: end, scale: 1.0 },
    });
    Ok(w)
}
