//! Hosts and partitions that the tests share.

use kernel::{Kernel, Version};
use machine::{CpuSet, Machine};
use setting::{Prefetch, Setting};
use sim::hypervisor::Hypervisor;
use sim::{Counters, RunResult};
use workload::background::{self, Background};
use workload::kvm::{
    self, ApacheBench, Chase, Idle, Params, Partition, PartitionProgram, Path, Stream,
    SysbenchMemory,
};

pub fn power8() -> Machine {
    machine::catalog::load("power8-16core").expect("the catalog holds it")
}

/// A machine with the first `cores` cores of another.
pub fn cores(machine: &Machine, cores: usize) -> Machine {
    let mut small = machine.clone();
    let cpus = CpuSet::first_n(cores * 8);
    small.cpus.truncate(cores * 8);
    small.online = cpus.clone();
    small.nodes.iter_mut().for_each(|n| n.cpus = &n.cpus & &cpus);
    small.caches.retain_mut(|c| {
        c.cpus = &c.cpus & &cpus;
        !c.cpus.is_empty()
    });
    small
}

pub fn path(code_kib: f64, data_kib: f64, cycles: f64) -> Path {
    Path { code_kib, data_kib, cycles }
}

pub fn chase(working_set_kib: f64) -> PartitionProgram {
    PartitionProgram::Chase(Chase { working_set_kib, load_cycles: 2.0 })
}

pub fn sysbench() -> PartitionProgram {
    PartitionProgram::SysbenchMemory(SysbenchMemory {
        block_kib: 1.0,
        total_mib: 8.0,
        word_cycles: 2.0,
        event: path(6.0, 4.0, 1500.0),
    })
}

pub fn apache() -> PartitionProgram {
    PartitionProgram::ApacheBench(ApacheBench {
        connections: 40,
        request: path(160.0, 48.0, 160e3),
        client: path(64.0, 24.0, 60e3),
        connection_kib: 4.0,
        page_kib: 11.0,
    })
}

pub fn stream(array_mib: f64) -> PartitionProgram {
    PartitionProgram::Stream(Stream { array_mib, passes: 3, element_cycles: 1.0 })
}

pub fn idle() -> PartitionProgram {
    PartitionProgram::Idle(Idle { period_ms: 2.0, work: path(16.0, 8.0, 40e3) })
}

pub fn partition(count: u32, vcpus: u32, program: PartitionProgram) -> Partition {
    Partition { count, vcpus, program }
}

pub fn params(partitions: Vec<Partition>) -> Params {
    Params {
        warmup_s: 0.03,
        seconds: 0.05,
        one_set_in: 8,
        subcores_per_core: 1,
        threads_per_vcore: 1,
        partitions,
    }
}

/// Which parts of the engine the host uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logs {
    Nothing,
    L2,
    L2AndL3,
}

pub fn kernel(logs: Logs) -> Kernel {
    let kernel = Kernel::new(Version::new(4, 18));
    let with = |k: Kernel, name: &str, on| k.with_named(name, on).expect("a mechanism");
    let kernel = with(kernel, "l2-prefetch-engine", logs != Logs::Nothing);
    with(kernel, "l3-prefetch-engine", logs == Logs::L2AndL3)
}

pub fn hypervisor(
    machine: &Machine,
    params: &Params,
    logs: Logs,
    prefetch: Prefetch,
) -> Result<Hypervisor, String> {
    let mut w = kvm::build(params, &kvm::Costs).map_err(|e| e.to_string())?;
    let quiet = Background {
        kthread_period_ms: 100.0,
        kthread_burst_us: 40.0,
        daemons: 2,
        daemon_period_ms: 20.0,
        daemon_burst_us: 100.0,
    };
    background::add(&mut w, &quiet, machine.online.clone(), 3520.0).map_err(|e| e.to_string())?;
    let setting = Setting { prefetch, ..Setting::default() };
    Hypervisor::new(machine, &kernel(logs), w, &setting).map_err(|e| e.to_string())
}

pub fn run(machine: &Machine, params: &Params, logs: Logs) -> RunResult {
    let h = hypervisor(machine, params, logs, Prefetch::default()).expect("a host");
    h.run(1).expect("a run")
}

/// The metric called `name` of a run of `params`.
pub fn metric(params: &Params, run: &RunResult, name: &str) -> f64 {
    let w = kvm::build(params, &kvm::Costs).expect("a workload");
    let at = w.metrics.iter().position(|m| m.name == name).expect("a metric");
    run.metrics[at]
}

pub fn counter(run: &RunResult, name: &str) -> u64 {
    let at = Counters::schema().iter().position(|c| c.name == name).expect("a counter");
    run.counters.values()[at]
}
