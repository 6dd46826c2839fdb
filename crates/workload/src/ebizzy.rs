//! ebizzy 0.3: threads that each allocate a buffer, copy a chunk into it, search it and free it, over and over.
//!
//! As the program does it: the main thread allocates and writes the chunks, starts the threads, which spin on
//! `threads_go`, sets it, sleeps for the run time, clears it and joins. Its random number is `state *= constant`
//! from a state of 0, so every thread copies chunk 0 and looks for key 0 in every round. Threads share nothing
//! that they write.

use crate::program::{Metric, Op, Program, Reading, Spread, Work, Workload};
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use machine::constants::{Constants, MissingConstant};
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "ebizzy";

/// Command-line options, and what is around the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Threads (`-t`).
    pub threads: u16,
    /// Run time in seconds (`-S`).
    pub seconds: f64,
    /// Chunk size in bytes (`-s`).
    pub chunk_bytes: u32,
    /// Number of chunks (`-n`).
    pub chunks: u32,
    /// CPUs it is bound to (`taskset -c`); all where absent.
    pub cpus: Option<CpuSet>,
}

/// What the program's steps cost on a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Cycles of a record apart from its copy: malloc, binary search, free.
    pub record_cycles: f64,
    /// Bytes that a copy moves a cycle when all is in L1.
    pub copy_bytes_per_cycle: f64,
    /// Cycles to write one byte of a fresh chunk, page faults included.
    pub first_touch_cycles_per_byte: f64,
}

impl Costs {
    /// From the constants of a machine.
    pub fn of(constants: &Constants) -> Result<Costs, MissingConstant> {
        Ok(Costs {
            record_cycles: constants.value("ebizzy_record_cycles")?,
            copy_bytes_per_cycle: constants.value("copy_bytes_per_cycle")?,
            first_touch_cycles_per_byte: constants.value("first_touch_cycles_per_byte")?,
        })
    }
}

/// The metric's name.
pub const RECORDS_PER_S: &str = "records_per_s";

/// Builds the workload.
pub fn build(params: &Params, costs: &Costs) -> Result<Workload, WorkloadError> {
    check::within(NAME, "threads", params.threads, 1..=1024, "1 to 1024")?;
    check::seconds(NAME, "seconds", params.seconds)?;
    let bytes = params.chunk_bytes;
    check::within(NAME, "chunk_bytes", bytes, 8..=u32::MAX, "at least one record of 8 bytes")?;
    check::within(NAME, "chunks", params.chunks, 1..=u32::MAX, "at least 1")?;
    let mut w = Workload::default();
    let go = w.flag();
    let records = w.counter();
    let (start, end) = (w.mark(), w.mark());
    let copy_cycles = f64::from(params.chunk_bytes) / costs.copy_bytes_per_cycle;
    let thread = w.program(
        NAME,
        vec![
            Op::SpinUntilSet(go),
            Op::WorkWhileSet {
                flag: go,
                unit_cycles: costs.record_cycles + copy_cycles,
                counter: records,
            },
        ],
    );
    let chunk_bytes = f64::from(params.chunk_bytes) * f64::from(params.chunks);
    let touch = Work {
        cycles: chunk_bytes * costs.first_touch_cycles_per_byte,
        spread: Spread::LogNormal(0.2),
    };
    let mut main = vec![Op::Compute(touch)];
    main.extend((0..params.threads).map(|_| Op::Clone(thread)));
    main.extend([
        Op::Mark(start),
        Op::SetFlag(go, true),
        Op::Sleep { mean_ns: params.seconds * 1e9, spread: Spread::Fixed },
        Op::SetFlag(go, false),
        Op::Mark(end),
        Op::WaitChildren,
        Op::Stop,
    ]);
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, params.cpus.clone());
    w.metrics.push(Metric {
        name: RECORDS_PER_S.to_string(),
        unit: "records/s".to_string(),
        better: Better::Higher,
        reading: Reading::UnitsPerSecond { counter: records, from: start, to: end },
    });
    Ok(w)
}
