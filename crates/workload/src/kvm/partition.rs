//! What a partition is and runs.

use super::NAME;
use crate::{WorkloadError, check};
use serde::{Deserialize, Serialize};

/// Partitions of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Partition {
    /// How many of them.
    pub count: u32,
    /// Virtual CPUs of each.
    pub vcpus: u32,
    /// What they run.
    pub program: PartitionProgram,
}

/// What a partition runs.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionProgram {
    /// `sysbench --test=memory`.
    SysbenchMemory(SysbenchMemory),
    /// `ab` against an Apache in the same partition.
    ApacheBench(ApacheBench),
    /// STREAM.
    Stream(Stream),
    /// Nothing but its own housekeeping.
    Idle(Idle),
    /// A pointer chase.
    Chase(Chase),
}

/// Code and data that something works through, and how long that takes with all of it in the L1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Instructions, in KiB.
    pub code_kib: f64,
    /// Data of the vcpu's own, in KiB.
    pub data_kib: f64,
    /// Core cycles.
    pub cycles: f64,
}

/// `sysbench --test=memory --num-threads=VCPUS run`: every thread writes a block word by word, again and again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SysbenchMemory {
    /// The block (`--memory-block-size`), in KiB.
    pub block_kib: f64,
    /// What all threads write until a run is over and the next begins (`--memory-total-size`), in MiB.
    pub total_mib: f64,
    /// Core cycles of a word of 8 bytes.
    pub word_cycles: f64,
    /// What comes with a block: the event, its statistics.
    pub event: Path,
}

/// `ab -c CONNECTIONS http://localhost/`: a client on the first vcpu, workers on the others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApacheBench {
    /// Requests in flight (`-c`).
    pub connections: u32,
    /// A worker's part of a request, kernel included.
    pub request: Path,
    /// The client's part, kernel included.
    pub client: Path,
    /// Data of each connection, which both touch, in KiB.
    pub connection_kib: f64,
    /// The page, which workers read, in KiB.
    pub page_kib: f64,
}

/// STREAM: copy, scale, add, triad, all threads together, one a vcpu.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Each of the three arrays, in MiB.
    pub array_mib: f64,
    /// Passes of which the first is not counted and the best is STREAM's figure (`NTIMES`).
    pub passes: u32,
    /// Core cycles of an element in any kernel, memory apart.
    pub element_cycles: f64,
}

/// An idle partition: each vcpu wakes now and then.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Idle {
    /// Mean time asleep, in ms.
    pub period_ms: f64,
    /// What it does then.
    pub work: Path,
}

/// A pointer chase: every load waits for the one before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chase {
    /// What each vcpu goes through, line by line in no order, in KiB.
    pub working_set_kib: f64,
    /// Core cycles of a load beside its wait.
    pub load_cycles: f64,
}

impl Path {
    fn check(&self) -> Result<(), WorkloadError> {
        check::within(NAME, "code_kib", self.code_kib, 0.0..=1e6, "0 to 1e6")?;
        check::within(NAME, "data_kib", self.data_kib, 0.0..=1e6, "0 to 1e6")?;
        check::within(NAME, "cycles", self.cycles, 10.0..=1e9, "10 to 1e9")
    }
}

impl Partition {
    /// Refuses what cannot be.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        check::within(NAME, "guest.count", self.count, 1..=64, "1 to 64")?;
        check::within(NAME, "guest.vcpus", self.vcpus, 1..=64, "1 to 64")?;
        match &self.program {
            PartitionProgram::SysbenchMemory(p) => {
                check::within(NAME, "block_kib", p.block_kib, 0.125..=1e6, "0.125 to 1e6")?;
                check::within(NAME, "total_mib", p.total_mib, 0.001..=1e9, "0.001 to 1e9")?;
                check::within(NAME, "word_cycles", p.word_cycles, 0.01..=1e6, "0.01 to 1e6")?;
                p.event.check()
            }
            PartitionProgram::ApacheBench(p) => {
                let vcpus = "at least 2 with apache_bench: the client has one of its own";
                check::within(NAME, "guest.vcpus", self.vcpus, 2..=64, vcpus)?;
                check::within(NAME, "connections", p.connections, 1..=100_000, "1 to 100000")?;
                check::within(NAME, "connection_kib", p.connection_kib, 0.0..=1e4, "0 to 1e4")?;
                check::within(NAME, "page_kib", p.page_kib, 0.0..=1e5, "0 to 1e5")?;
                p.request.check()?;
                p.client.check()
            }
            PartitionProgram::Stream(p) => {
                check::within(NAME, "array_mib", p.array_mib, 0.01..=1e6, "0.01 to 1e6")?;
                check::within(NAME, "passes", p.passes, 2..=10_000, "2 to 10000")?;
                check::within(NAME, "element_cycles", p.element_cycles, 0.01..=1e6, "0.01 to 1e6")
            }
            PartitionProgram::Idle(p) => {
                check::within(NAME, "period_ms", p.period_ms, 0.01..=1e6, "0.01 to 1e6")?;
                p.work.check()
            }
            PartitionProgram::Chase(p) => {
                let set = p.working_set_kib;
                check::within(NAME, "working_set_kib", set, 0.125..=1e7, "0.125 to 1e7")?;
                check::within(NAME, "load_cycles", p.load_cycles, 0.01..=1e6, "0.01 to 1e6")
            }
        }
    }
}

/// A partition as it stands in the file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    count: u32,
    vcpus: u32,
    sysbench_memory: Option<SysbenchMemory>,
    apache_bench: Option<ApacheBench>,
    stream: Option<Stream>,
    idle: Option<Idle>,
    chase: Option<Chase>,
}

impl TryFrom<Fields> for Partition {
    type Error = String;
    fn try_from(f: Fields) -> Result<Partition, String> {
        let given = [
            f.sysbench_memory.map(PartitionProgram::SysbenchMemory),
            f.apache_bench.map(PartitionProgram::ApacheBench),
            f.stream.map(PartitionProgram::Stream),
            f.idle.map(PartitionProgram::Idle),
            f.chase.map(PartitionProgram::Chase),
        ];
        let mut given: Vec<PartitionProgram> = given.into_iter().flatten().collect();
        let found = given.len();
        match given.pop() {
            Some(program) if found == 1 => {
                Ok(Partition { count: f.count, vcpus: f.vcpus, program })
            }
            _ => Err(format!(
                "guest: program: found {found} of them, expected exactly one of `sysbench_memory`, \
                 `apache_bench`, `stream`, `idle`, `chase`"
            )),
        }
    }
}

impl From<Partition> for Fields {
    fn from(g: Partition) -> Fields {
        let mut fields = Fields {
            count: g.count,
            vcpus: g.vcpus,
            sysbench_memory: None,
            apache_bench: None,
            stream: None,
            idle: None,
            chase: None,
        };
        match g.program {
            PartitionProgram::SysbenchMemory(p) => fields.sysbench_memory = Some(p),
            PartitionProgram::ApacheBench(p) => fields.apache_bench = Some(p),
            PartitionProgram::Stream(p) => fields.stream = Some(p),
            PartitionProgram::Idle(p) => fields.idle = Some(p),
            PartitionProgram::Chase(p) => fields.chase = Some(p),
        }
        fields
    }
}
