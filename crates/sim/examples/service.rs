//! A service of 50,000 requests a second under 6.12 on 64 CPUs, for callgrind: `docs/speed.md` has the instructions of a request.
//! With a number as argument, tasks are in a group below as many others.

#[path = "../benches/shared/levels.rs"]
mod levels;
#[path = "../tests/model/machines.rs"]
mod machines;
#[path = "../benches/shared/service_load.rs"]
mod service_load;

use kernel::{Kernel, Version};
use service_load::{CPUS, PER_S, params};
use sim::Scenario;
use workload::service::{self, Costs};

fn main() {
    let machine = machines::smt(CPUS, 1);
    let costs = Costs::of(&machine.constants).expect("costs");
    let params = params(None);
    let seconds = params.warmup_s + params.seconds;
    let workload = service::build(&params, &costs).expect("a workload");
    let kernel = Kernel::new(Version::new(6, 12));
    let scenario = Scenario::in_setting(&machine, &kernel, workload, &levels::setting());
    let run = scenario.expect("a runnable scenario").run(1).expect("a run");
    println!("{} requests, {} wake-ups", PER_S * seconds, run.counters.wakeups);
}
