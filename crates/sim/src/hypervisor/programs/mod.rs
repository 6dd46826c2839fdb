//! What vcpus run: each touches its lines until it is told to stop, and goes on where it stopped.

mod apache;
mod chase;
mod idle;
mod path;
mod stream;
mod sysbench;

pub(crate) use chase::Chaser;
pub(crate) use path::PathRun;

use super::core::At;
use super::costs::Costs;
use super::partition::PartitionState;
use crate::rng::Stream;
use apache::{Client, Worker};
use cache::Sampling;
use idle::Sleeper;
use stream::StreamThread;
use sysbench::SysbenchThread;
use workload::kvm::PartitionProgram;

/// Misses in flight: of instructions, of loads that know their addresses, of stores. Assumed.
pub(crate) const FETCH_OVERLAP: f64 = 1.5;
pub(crate) const LOAD_OVERLAP: f64 = 2.0;
pub(crate) const STORE_OVERLAP: f64 = 8.0;

/// Why a vcpu stopped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Stop {
    /// Time is up.
    Time,
    /// It has nothing to do before so many ns, infinite where only a kick ends that (`H_CEDE`).
    Cede(f64),
}

/// Memory in which a run places what its programs touch: one region behind the other, random gaps between.
#[derive(Debug)]
pub(crate) struct Memory<'a> {
    pub(crate) costs: &'a Costs,
    pub(crate) sampling: Sampling,
    pub(crate) draws: &'a mut Stream,
    next_line: u64,
}

/// Gaps between regions are up to so many lines: a set of the L3 and its neighbours meet any of them.
const GAP_LINES: u64 = 8192;

impl<'a> Memory<'a> {
    pub(crate) fn new(costs: &'a Costs, sampling: Sampling, draws: &'a mut Stream) -> Memory<'a> {
        Memory { costs, sampling, draws, next_line: 0 }
    }

    /// A region of so many lines: its first.
    pub(crate) fn region(&mut self, lines: u64) -> u64 {
        let first = self.next_line + self.draws.below(GAP_LINES);
        self.next_line = first + lines;
        first
    }

    /// Lines behind the last region.
    pub(crate) fn end(&self) -> u64 {
        self.next_line
    }
}

/// A vcpu's program.
#[derive(Debug)]
pub(crate) enum Program {
    Sysbench(SysbenchThread),
    Client(Client),
    Worker(Worker),
    Stream(StreamThread),
    Idle(Sleeper),
    Chase(Chaser),
}

impl Program {
    /// The program of vcpu `vcpu` of a partition.
    pub(crate) fn new(
        of: &PartitionProgram,
        vcpu: u32,
        vcpus: u32,
        partition: &PartitionState,
        memory: &mut Memory<'_>,
    ) -> Program {
        match of {
            PartitionProgram::SysbenchMemory(p) => {
                Program::Sysbench(SysbenchThread::new(p, partition, memory))
            }
            PartitionProgram::ApacheBench(p) if vcpu == 0 => {
                Program::Client(Client::new(p, partition, memory))
            }
            PartitionProgram::ApacheBench(p) => Program::Worker(Worker::new(p, partition, memory)),
            PartitionProgram::Stream(p) => {
                Program::Stream(StreamThread::new(p, vcpu, vcpus, partition, memory))
            }
            PartitionProgram::Idle(p) => Program::Idle(Sleeper::new(p, partition, memory)),
            PartitionProgram::Chase(p) => {
                let first = memory.region(memory.costs.lines(p.working_set_kib));
                Program::Chase(Chaser::new(p, first, memory))
            }
        }
    }

    /// Goes on until `until_ns`.
    pub(crate) fn run(
        &mut self,
        vcpu: u32,
        at: &mut At<'_>,
        partition: &mut PartitionState,
        until_ns: f64,
    ) -> Stop {
        match self {
            Program::Sysbench(p) => p.run(at, partition, until_ns),
            Program::Client(p) => p.run(at, partition, until_ns),
            Program::Worker(p) => p.run(vcpu, at, partition, until_ns),
            Program::Stream(p) => p.run(at, partition, until_ns),
            Program::Idle(p) => p.run(at, partition, until_ns),
            Program::Chase(p) => {
                let loads = p.run(at, until_ns);
                partition.note_loads(at.thread.now_ns, loads);
                Stop::Time
            }
        }
    }
}
