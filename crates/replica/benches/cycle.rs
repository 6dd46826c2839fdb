//! Host time for one simulated wake-run-sleep cycle under a tree's code and under the model, by machine size, and of the boot.
//!
//! `SCHEDSCAPE_LIBRARY` names the library, as `schedscape kernel build` leaves it in the cache; without it there is nothing to
//! measure.

#[path = "../../sim/tests/model/machines.rs"]
mod machines;
#[path = "../../sim/benches/shared/run_sleep.rs"]
mod run_sleep;

use kernel::{Kernel, Version};
use run_sleep::run_sleep;
use sim::{NoTrace, Scenario};
use std::time::Instant;

/// Cycles in one run, about.
const CYCLES: f64 = 200_000.0;

fn main() {
    let Ok(library) = std::env::var("SCHEDSCAPE_LIBRARY") else {
        println!("skipped: no SCHEDSCAPE_LIBRARY");
        return;
    };
    for cpus in [4u32, 16, 64, 256] {
        let machine = machines::smt(cpus / 4, 4);
        let kernel = Kernel::new(Version::new(6, 12));
        let scenario = Scenario::new(&machine, &kernel, run_sleep(&machine, CYCLES))
            .expect("a runnable scenario");
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
