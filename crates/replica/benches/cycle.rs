//! Host time for one simulated wake-run-sleep cycle under a tree's code and under the model, by machine size, and of the boot.
//!
//! `SCHEDSCAPE_LIBRARY` names the library, as `schedscape kernel build` leaves it in the cache; without it there is nothing to
//! measure.

use kernel::{Kernel, Version};
use sim::{NoTrace, Scenario};
use std::time::Instant;
use workload::{Op, Spawn, Spread, Work, Workload};
#[path = "../../sim/tests/model/machines.rs"]
mod machines;
/// Cycles in one run, about.
const CYCLES: f64 = 200_000.0;

/// The workload of the simulator's own bench: three tasks for every four CPUs run for 10 us and sleep for 10 us on average.
fn run_sleep(machine: &machine::Machine) -> Workload {
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
    w.spawns.push(spawn(stop, (CYCLES / tasks as f64 * 30_000.0) as u64));
    w
}
fn main() {
    let Ok(library) = std::env::var("SCHEDSCAPE_LIBRARY") else {
        println!("skipped: no SCHEDSCAPE_LIBRARY");
        return;
    };
    for cpus in [4u32, 16, 64, 256] {
        let machine = machines::smt(cpus / 4, 4);
        let kernel = Kernel::new(Version::new(6, 12));
        let scenario =
            Scenario::new(&machine, &kernel, run_sleep(&machine)).expect("a runnable scenario");
        let shape = tree::Shape::of(&machine, &kernel).expect("a runnable scenario");
        let out = replica::forked(|| {
            let t = Instant::now();
            let source = replica::boot(library.as_ref(), &shape).expect("a runnable scenario");
            let boot = t.elapsed();
            let t = Instant::now();
            let r = scenario.run_source(source, 1, &mut NoTrace).expect("a runnable scenario");
            let ran = t.elapsed();
            let t = Instant::now();
            let m = scenario.run(1).expect("a runnable scenario");
            let model = t.elapsed();
            format!(
                "{cpus}: boot {boot:?} {:.0} ns a cycle, {} wakeups, model {:.0} ns {} wakeups\n",
                ran.as_nanos() as f64 / r.counters.wakeups as f64,
                r.counters.wakeups,
                model.as_nanos() as f64 / m.counters.wakeups as f64,
                m.counters.wakeups,
            )
            .into_bytes()
        });
        match out {
            Ok(b) => print!("{}", String::from_utf8_lossy(&b)),
            Err(e) => println!("{cpus}: {e}"),
        }
    }
}
