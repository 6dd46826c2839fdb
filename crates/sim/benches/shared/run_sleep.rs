//! The workload of the benches of a wake-run-sleep cycle, by the model and by a tree's code.

use machine::Machine;
use workload::{Op, Spawn, Spread, Work, Workload};

/// Tasks that run for 10 us and sleep for 10 us on average, three for every four CPUs: often enough the CPU
/// of a waking task is taken, and the wake-up searches. About `cycles` cycles in one run.
pub fn run_sleep(machine: &Machine, cycles: f64) -> Workload {
    let mut w = Workload::default();
    let cycles_per_us = machine.constants.value("nominal_khz").expect("a clock") / 1e3;
    let run = Work::fixed(10.0 * cycles_per_us);
    let sleep = Op::Sleep { mean_ns: 10_000.0, spread: Spread::Exponential };
    let cycle = w.program("cycle", vec![Op::Compute(run), sleep, Op::Loop { to: 0, times: 0 }]);
    let stop = w.program("stop", vec![Op::Stop]);
    let tasks = machine.cpus.len() * 3 / 4;
    let spawn =
        |program, first_wake_ns| Spawn { first_wake_ns, within_ns: 20_000, ..Spawn::new(program) };
    w.spawns.extend((0..tasks).map(|_| spawn(cycle, 0)));
    w.spawns.push(spawn(stop, (cycles / tasks as f64 * 30_000.0) as u64));
    w
}
