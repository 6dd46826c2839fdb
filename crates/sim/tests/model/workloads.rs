//! The benchmarks with the costs of a machine, and scenarios of them.

use kernel::{Kernel, Version};
use machine::{CpuSet, Machine};
use sim::Scenario;
use workload::background::{self, Background};
use workload::{Better, Metric, Op, Reading, Spawn, Workload, ebizzy, sched_pipe};

/// Linux 4.18, with both of the big-core study's mechanisms if `big_core`.
pub fn kernel(big_core: bool) -> Kernel {
    Kernel::new(Version::new(4, 18))
        .with_named("small-core-smt", big_core)
        .and_then(|k| k.with_named("big-core-cache", big_core))
        .expect("known mechanisms")
}

pub fn scenario(machine: &Machine, workload: Workload) -> Scenario {
    Scenario::new(machine, &kernel(true), workload).expect("a scenario that can run")
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
    let costs = ebizzy::Costs {
        record_cycles: constant(machine, "ebizzy_record_cycles"),
        copy_bytes_per_cycle: constant(machine, "copy_bytes_per_cycle"),
        first_touch_cycles_per_byte: constant(machine, "first_touch_cycles_per_byte"),
    };
    ebizzy::build(&params, &costs).expect("possible parameters")
}

/// `perf bench sched pipe` on `cpus`, or everywhere.
pub fn pipe(machine: &Machine, loops: u32, cpus: Option<&str>) -> Workload {
    let params = sched_pipe::Params {
        loops,
        loops_run: loops,
        cpus: cpus.map(|c| c.parse().expect("a CPU list")),
    };
    let costs = sched_pipe::Costs { user_cycles: constant(machine, "pipe_user_cycles") };
    sched_pipe::build(&params, &costs).expect("possible parameters")
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
    background::add(&mut workload, &background, machine.online, cycles_per_us)
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
