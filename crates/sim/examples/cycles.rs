//! Wake-run-sleep cycles under 6.12 on 16 and on 64 CPUs, three runs each, for callgrind: `docs/speed.md` has the instructions of one.
//! With a number as argument, tasks are in a group below as many others.

#[path = "../benches/shared/levels.rs"]
mod levels;
#[path = "../tests/model/machines.rs"]
mod machines;
#[path = "../benches/shared/run_sleep.rs"]
mod run_sleep;

use kernel::{Kernel, Version};
use run_sleep::run_sleep;
use sim::Scenario;

/// Cycles in one run, about.
const CYCLES: f64 = 20_000.0;

fn main() {
    let setting = levels::setting();
    let mut cycles = 0;
    for cpus in [16, 64] {
        let machine = machines::smt(cpus / 4, 4);
        let kernel = Kernel::new(Version::new(6, 12));
        let workload = run_sleep(&machine, CYCLES);
        let scenario = Scenario::in_setting(&machine, &kernel, workload, &setting);
        let scenario = scenario.expect("a runnable scenario");
        cycles +=
            (1..=3).map(|seed| scenario.run(seed).expect("a run").counters.wakeups).sum::<u64>();
    }
    println!("{cycles} cycles");
}
