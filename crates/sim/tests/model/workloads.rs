//! The benchmarks with the costs of a machine, and scenarios of them.

use kernel::{Kernel, Version};
use machine::{CpuSet, Machine};
use setting::Setting;
use sim::Scenario;
use workload::background::{self, Background};
use workload::rtapp::Built;
use workload::{
    Benchmark, Better, BuildError, MemoryUse, Metric, Op, Placement, Reading, Spawn, Target, Work,
    Workload, ebizzy, hackbench, netperf, sched_pipe, tbench,
};

/// Linux 4.18, with both of the big-core study's mechanisms if `big_core`.
pub fn kernel(big_core: bool) -> Kernel {
    Kernel::new(Version::new(4, 18))
        .with_named("small-core-smt", big_core)
        .and_then(|k| k.with_named("big-core-cache", big_core))
        .expect("known mechanisms")
}

/// A release without switches.
pub fn release(version: &str) -> Kernel {
    Kernel::new(version.parse().expect("a release"))
}

/// Releases on both sides of the changes of the fair class.
pub const RELEASES: [&str; 9] =
    ["4.18", "5.5", "5.11", "5.14", "5.18", "6.1", "6.6", "6.12", "6.19"];

pub fn scenario(machine: &Machine, workload: Workload) -> Scenario {
    Scenario::new(machine, &kernel(true), workload).expect("a scenario that can run")
}

/// The same without NUMA balancing.
pub fn unbalanced(machine: &Machine, workload: Workload) -> Scenario {
    let setting = Setting { numa_balancing: false, ..Setting::default() };
    Scenario::in_setting(machine, &kernel(true), workload, &setting).expect("a scenario")
}

fn constant(machine: &Machine, name: &str) -> f64 {
    machine.constants.value(name).expect("a constant of the machine")
}

/// ebizzy on `cpus`, or everywhere.
pub fn ebizzy(machine: &Machine, threads: u16, seconds: f64, cpus: Option<&str>) -> Workload {
    let params = ebizzy::Params {
        threads,
        seconds,
        chunk_bytes: 4096,
        chunks: 10,
        cpus: cpus.map(|c| c.parse().expect("a CPU list")),
    };
    let costs = ebizzy::Costs::of(&machine.constants).expect("costs");
    ebizzy::build(&params, &costs).expect("possible parameters")
}

/// `perf bench sched pipe` on `cpus`, or everywhere.
pub fn pipe(machine: &Machine, loops: u32, cpus: Option<&str>) -> Workload {
    let params = sched_pipe::Params {
        loops,
        loops_run: loops,
        cpus: cpus.map(|c| c.parse().expect("a CPU list")),
    };
    let costs = sched_pipe::Costs::of(&machine.constants).expect("costs");
    sched_pipe::build(&params, &costs).expect("possible parameters")
}

/// A benchmark that names no file, built for a machine.
pub fn build(machine: &Machine, benchmark: &Benchmark) -> Result<Built, BuildError> {
    let read = |_: &str| Err(std::io::Error::other("no files here"));
    let (constants, online) = (&machine.constants, machine.online.clone());
    benchmark.build(&Target {
        constants,
        online,
        deadlines: false,
        read: &read,
        replay: &workload::no_traces,
    })
}

/// A benchmark with the costs of a machine.
pub fn benchmark(machine: &Machine, benchmark: Benchmark) -> Workload {
    build(machine, &benchmark).expect("possible parameters").workload
}

pub fn tbench_on(machine: &Machine, clients: u16, warmup_s: f64, seconds: f64) -> Workload {
    let params = tbench::Params { clients, warmup_s, seconds, cpus: None };
    benchmark(machine, Benchmark::Tbench(params))
}

/// hackbench with threads and pipes or processes and sockets, everywhere.
pub fn hackbench(machine: &Machine, groups: u16, fds: u16, loops: u32, pipe: bool) -> Workload {
    let threads = pipe;
    let params = hackbench::Params { groups, loops, fds, datasize: 100, pipe, threads, cpus: None };
    benchmark(machine, Benchmark::Hackbench(params))
}

/// So many pairs of netperf on `cpus`, or everywhere.
pub fn netperf(machine: &Machine, pairs: u16, cpus: Option<&str>) -> Workload {
    let cpus = cpus.map(|c| c.parse().expect("a CPU list"));
    let params = netperf::Params { pairs, warmup_s: 0.01, seconds: 0.2, cpus };
    benchmark(machine, Benchmark::Netperf(params))
}

/// Tasks that run `ops`, each its own program, asleep until time 0, on a workload that has been prepared.
pub fn tasks(w: &mut Workload, name: &str, number: usize, ops: &[Op], affinity: Option<CpuSet>) {
    let program = w.program(name, ops.to_vec());
    w.spawns
        .extend((0..number).map(|_| Spawn { affinity: affinity.clone(), ..Spawn::new(program) }));
}

/// Stops the run at `at_ns`.
pub fn stop_at(w: &mut Workload, at_ns: u64) {
    let stop = w.program("stop", vec![Op::Stop]);
    w.spawns.push(Spawn { first_wake_ns: at_ns, ..Spawn::new(stop) });
}

/// `workload` on a server that is otherwise idle but not silent.
pub fn with_background(machine: &Machine, mut workload: Workload) -> Workload {
    let background = Background {
        kthread_period_ms: 100.0,
        kthread_burst_us: 40.0,
        daemons: 8,
        daemon_period_ms: 50.0,
        daemon_burst_us: 150.0,
    };
    let cycles_per_us = constant(machine, "nominal_khz") / 1e3;
    background::add(&mut workload, &background, machine.online.clone(), cycles_per_us)
        .expect("a possible background");
    workload
}

/// A task on CPU `a` and one on CPU `b` that pass a message to and fro; the metric is the time in seconds.
pub fn bound_pair(a: usize, b: usize, times: u32) -> Workload {
    let mut w = Workload::default();
    let (there, back) = (w.pipe(), w.pipe());
    let (from, to) = (w.mark(), w.mark());
    let first = vec![
        Op::Mark(from),
        Op::Send(there),
        Op::Receive(back),
        Op::Loop { to: 1, times },
        Op::Mark(to),
        Op::Stop,
    ];
    let second = vec![Op::Receive(there), Op::Send(back), Op::Loop { to: 0, times }];
    for (cpu, ops, first_wake_ns) in [(a, first, 1_000_000), (b, second, 0)] {
        let program = w.program("pair", ops);
        let affinity = Some(CpuSet::single(cpu));
        w.spawns.push(Spawn { affinity, first_wake_ns, ..Spawn::new(program) });
    }
    w.metrics.push(Metric {
        name: "seconds".to_string(),
        unit: "s".to_string(),
        better: Better::Lower,
        reading: Reading::Seconds { from, to, scale: 1.0 },
    });
    w
}

/// The loop of the clusters study: a task on CPU `reader` loads from a line while one on CPU `writer` stores to it.
/// The metric is the reader's time in seconds.
pub fn false_sharing(
    machine: &Machine,
    reader: usize,
    writer: Option<usize>,
    rounds: f64,
) -> Workload {
    let mut w = Workload::default();
    let (line, from, to) = (w.line(), w.mark(), w.mark());
    let cycles = constant(machine, "contend_round_cycles");
    let contend = |write| Op::Contend { line, rounds, cycles, write };
    let reads = vec![Op::Mark(from), contend(false), Op::Mark(to), Op::Stop];
    let writes = vec![contend(true)];
    let spawned = [(Some(reader), reads), (writer, writes)];
    for (cpu, ops) in spawned.into_iter().filter_map(|(cpu, ops)| Some((cpu?, ops))) {
        let program = w.program("false-sharing", ops);
        let affinity = Some(CpuSet::single(cpu));
        w.spawns.push(Spawn { affinity, first_wake_ns: 1_000_000, ..Spawn::new(program) });
    }
    w.metrics.push(Metric {
        name: "seconds".to_string(),
        unit: "s".to_string(),
        better: Better::Lower,
        reading: Reading::Seconds { from, to, scale: 1.0 },
    });
    w
}

/// A task that warms a working set on CPU 0, takes it to each of `others` in turn and then streams itself, while streams
/// on `others` want more than any node has. The metric is its time in seconds.
pub fn memory_tour(others: &[usize]) -> Workload {
    let mut w = Workload::default();
    let (from, to) = (w.mark(), w.mark());
    let used = MemoryUse {
        working_set_bytes: 768.0 * 1024.0,
        touches_per_kcycle: 30.0,
        overlap: 1.5,
        stream_bytes_per_kcycle: 1_000.0,
        stream_set_bytes: 768.0 * 1024.0,
        placement: Placement::Default,
    };
    let work = Op::Compute(Work::fixed(2e6));
    let mut ops = vec![Op::Memory(used), Op::Mark(from), work.clone()];
    ops.extend(others.iter().flat_map(|&cpu| [Op::SetAffinity(CpuSet::single(cpu)), work.clone()]));
    let streams = MemoryUse { stream_bytes_per_kcycle: 1e6, touches_per_kcycle: 0.0, ..used };
    ops.extend([Op::Memory(streams), work, Op::Mark(to), Op::Stop]);
    let endless = Op::Compute(Work::fixed(1e5));
    let stream =
        w.program("stream", vec![Op::Memory(streams), endless, Op::Loop { to: 1, times: 0 }]);
    let tour = w.program("tour", ops);
    let spawn = |program, cpu: usize, first_wake_ns| Spawn {
        affinity: Some(CpuSet::single(cpu)),
        first_wake_ns,
        ..Spawn::new(program)
    };
    w.spawns.extend(others.iter().map(|&cpu| spawn(stream, cpu, 0)));
    w.spawns.push(spawn(tour, 0, 1_000_000));
    w.metrics.push(Metric {
        name: "seconds".to_string(),
        unit: "s".to_string(),
        better: Better::Lower,
        reading: Reading::Seconds { from, to, scale: 1.0 },
    });
    w
}
