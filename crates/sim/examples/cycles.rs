//! Wake-run-sleep cycles under 6.12 on 16 and on 64 CPUs, three runs each, for callgrind: `docs/speed.md` has the instructions of one.
//! With a number as argument, tasks are in a group below as many others.

#[path = "../tests/model/machines.rs"]
mod machines;
#[path = "../benches/shared/run_sleep.rs"]
mod run_sleep;

use kernel::{Kernel, Version};
use run_sleep::run_sleep;
use setting::{Group, Setting};
use sim::Scenario;

/// Cycles in one run, about.
const CYCLES: f64 = 20_000.0;

/// Groups in each other, `levels` deep, the last with all tasks.
fn groups(levels: usize) -> Vec<Group> {
    let path = |level: usize| (1..=level).map(|l| format!("g{l}")).collect::<Vec<_>>().join("/");
    let group = |level: usize| {
        let tasks = if level == levels { vec!["*".to_string()] } else { Vec::new() };
        Group { path: path(level), tasks, ..Group::default() }
    };
    (1..=levels).map(group).collect()
}

fn main() {
    let levels = std::env::args().nth(1).map_or(0, |n| n.parse().expect("a number of groups"));
    let setting = Setting { groups: groups(levels), ..Setting::default() };
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
