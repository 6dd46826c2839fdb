//! Partitions: what KVM HV on POWER runs as LPARs. Virtual CPUs in virtual cores, and the programs that run in them. The
//! experiment file calls one a `guest`; elsewhere here a guest is a kernel in QEMU.
//!
//! A partition's program is no list of steps: what it costs comes from the lines that it touches, one by one, which
//! `sim::hypervisor` follows. On the host each vcore is a thread that QEMU starts; it runs its vcpus until they all cede
//! (`H_CEDE`), and then sleeps until one is kicked. The amounts of work and the footprints below are assumed, and an
//! experiment file gives them.

mod metrics;
mod partition;

pub use metrics::{Of, PartitionReading};
pub use partition::{
    ApacheBench, Chase, Idle, Partition, PartitionProgram, Path, Stream, SysbenchMemory,
};

use crate::program::{FlagId, Op, Program, Queue, QueueId, QueueKind, Spawn, Work, Workload};
use crate::{WorkloadError, check};
use serde::{Deserialize, Serialize};

pub(crate) const NAME: &str = "kvm";
/// Cycles that QEMU takes until it starts the threads of its vcpus, and from one to the next. Assumed.
const START_CYCLES: f64 = 2e6;
const THREAD_CYCLES: f64 = 2e5;
/// When the first QEMU starts, and how far apart partitions start, in ns. Assumed.
const FIRST_PARTITION_NS: u64 = 2_000_000;
const PARTITION_WITHIN_NS: u64 = 4_000_000;

/// Hardware threads of a core: what a vcore has at most, over the subcores.
pub const THREADS_PER_CORE: u32 = 8;

/// What is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Simulated time before anything is measured, in s.
    pub warmup_s: f64,
    /// Time measured, in s.
    pub seconds: f64,
    /// One set of each cache in so many is simulated: 1, 2, 4 .. 32.
    pub one_set_in: u32,
    /// Subcores of each host core (`subcores-per-core`): 1, 2 or 4.
    pub subcores_per_core: u32,
    /// Virtual CPUs of a vcore: 1 as QEMU's `-smp 8` has it, up to the hardware threads of a subcore.
    pub threads_per_vcore: u32,
    /// The partitions.
    #[serde(rename = "guest")]
    pub partitions: Vec<Partition>,
}

/// What the workload's steps cost on a machine: nothing that its partitions do not say.
pub use crate::no_costs::NoCosts as Costs;

/// One vcore: which partition's, and how host and partition reach each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vcore {
    /// The partition, by number; partitions of one entry count one by one.
    pub partition: u32,
    /// Its first vcpu among those of the partition, and how many it has.
    pub first_vcpu: u32,
    /// Number of vcpus.
    pub vcpus: u32,
    /// Set to make the thread leave the partition and sleep.
    pub ceded: FlagId,
    /// A message wakes the thread.
    pub kicks: QueueId,
}

/// The partitions of a workload and their vcores.
#[derive(Debug, Clone, PartialEq)]
pub struct Partitions {
    /// As given.
    pub params: Params,
    /// By partition: its entry in the parameters.
    pub entries: Vec<u32>,
    /// All vcores. The program of vcore `n` is program `first_program + n`.
    pub vcores: Vec<Vcore>,
    /// Program of the first vcore.
    pub first_program: u16,
}

impl Params {
    /// The partition of entry `entry`.
    pub fn partition(&self, entry: u32) -> Option<&Partition> {
        self.partitions.get(entry as usize)
    }

    /// Number of partitions.
    fn total(&self) -> u32 {
        self.partitions.iter().map(|g| g.count).sum()
    }
}

fn one_of(
    field: &'static str,
    found: u32,
    possible: &[u32],
    expected: &'static str,
) -> Result<(), WorkloadError> {
    if possible.contains(&found) {
        return Ok(());
    }
    Err(WorkloadError { program: NAME, field, found: found.to_string(), expected })
}

fn checked(params: &Params) -> Result<(), WorkloadError> {
    check::window(NAME, params.warmup_s, params.seconds)?;
    let subcores = params.subcores_per_core;
    one_of("subcores_per_core", subcores, &[1, 2, 4], "1, 2 or 4")?;
    let samplings = &[1, 2, 4, 8, 16, 32];
    one_of("one_set_in", params.one_set_in, samplings, "1, 2, 4, 8, 16 or 32")?;
    let threads = params.threads_per_vcore;
    let expected = "1 to the hardware threads of a subcore (8 of a core over subcores_per_core)";
    check::within(NAME, "threads_per_vcore", threads, 1..=THREADS_PER_CORE / subcores, expected)?;
    let partitions: u64 = params.partitions.iter().map(|g| u64::from(g.count)).sum();
    check::within(NAME, "guest", partitions, 1..=64, "1 to 64 partitions in all")?;
    params.partitions.iter().try_for_each(Partition::check)
}

/// Builds the workload: a QEMU for each partition, which starts a thread for each vcore.
pub fn build(params: &Params, _: &Costs) -> Result<Workload, WorkloadError> {
    checked(params)?;
    let mut w = Workload::default();
    let mut partitions = Partitions {
        params: params.clone(),
        entries: Vec::with_capacity(params.total() as usize),
        vcores: Vec::new(),
        first_program: 0,
    };
    for (entry, partition) in params.partitions.iter().enumerate() {
        for _ in 0..partition.count {
            let number = partitions.entries.len() as u32;
            partitions.entries.push(entry as u32);
            let firsts = (0..partition.vcpus).step_by(params.threads_per_vcore as usize);
            partitions.vcores.extend(firsts.map(|first_vcpu| Vcore {
                partition: number,
                first_vcpu,
                vcpus: params.threads_per_vcore.min(partition.vcpus - first_vcpu),
                ceded: w.flag(),
                kicks: w.queue(Queue::unbounded(QueueKind::Futex)),
            }));
        }
    }
    for vcore in &partitions.vcores {
        w.program("CPU/KVM", vcore_steps(vcore));
    }
    for number in 0..partitions.entries.len() as u32 {
        let mut ops = vec![Op::Exec, Op::Compute(Work::fixed(START_CYCLES))];
        let own = partitions.vcores.iter().enumerate().filter(|(_, v)| v.partition == number);
        for (n, _) in own {
            let thread = crate::ProgramId(partitions.first_program + n as u16);
            ops.extend([Op::Clone(thread), Op::Compute(Work::fixed(THREAD_CYCLES))]);
        }
        ops.push(Op::WaitChildren);
        w.programs.push(Program { name: "qemu-system-ppc64".to_string(), ops });
        let qemu = crate::ProgramId(w.programs.len() as u16 - 1);
        w.spawns.push(Spawn {
            first_wake_ns: FIRST_PARTITION_NS + u64::from(number) * PARTITION_WITHIN_NS,
            within_ns: PARTITION_WITHIN_NS,
            ..Spawn::new(qemu)
        });
    }
    w.metrics = metrics::metrics(params);
    w.partitions = Some(partitions);
    Ok(w)
}

/// The thread of a vcore: in the partition until all vcpus have ceded, then asleep until one is kicked.
fn vcore_steps(vcore: &Vcore) -> Vec<Op> {
    vec![
        Op::SpinUntilSet(vcore.ceded),
        Op::SetFlag(vcore.ceded, false),
        Op::Receive(vcore.kicks),
        Op::Loop { to: 0, times: 0 },
    ]
}
