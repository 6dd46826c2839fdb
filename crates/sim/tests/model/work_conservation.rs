//! No CPU stays idle for long while another has tasks waiting that could run there.

use crate::machines;
use crate::watch::Watch;
use crate::workloads::{RELEASES, release};
use proptest::prelude::*;
use sim::Scenario;
use workload::{Op, Spawn, Spread, Work, Workload};

const RUN_NS: u64 = 2_000_000_000;

/// What a run of `tasks` came to.
struct Used {
    /// Share of all CPU time that tasks used.
    used: f64,
    /// Share of that in which a task had its core to itself.
    alone: f64,
}

/// `tasks` on a machine of `cores` cores of `threads` threads: each works for ever,
/// or sleeps for `sleep_us` after every 2 ms.
fn used(version: &str, (cores, threads): (u32, u32), tasks: u32, sleep_us: u32, seed: u64) -> Used {
    let machine = machines::smt(cores, threads);
    let mut w = Workload::default();
    let mut ops = vec![Op::Compute(Work::fixed(2e6))];
    if sleep_us > 0 {
        let mean_ns = f64::from(sleep_us) * 1e3;
        ops.push(Op::Sleep { mean_ns, spread: Spread::Exponential });
    }
    ops.push(Op::Loop { to: 0, times: 0 });
    let program = w.program("works", ops);
    // Like threads of a program that one task starts.
    let mut main: Vec<Op> = (0..tasks).map(|_| Op::Fork(program)).collect();
    main.extend([Op::Sleep { mean_ns: RUN_NS as f64, spread: Spread::Fixed }, Op::Stop]);
    let main = w.program("main", main);
    w.spawns.push(Spawn::new(main));
    let scenario = Scenario::new(&machine, &release(version), w).expect("a scenario");
    let mut watch = Watch::new(machine.cpus.len());
    let result = scenario.run_traced(seed, &mut watch).expect("a run");
    watch.finish(result.end_ns);
    let ran_ns: u64 = watch.tasks.iter().map(|t| t.ran_ns).sum();
    Used {
        used: ran_ns as f64 / (machine.cpus.len() as u64 * result.end_ns) as f64,
        alone: result.counters.run_ns_by_busy[1] as f64 / ran_ns as f64,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// With at least as many endless tasks as CPUs hardly any time is lost; balancing takes its time to spread them.
    #[test]
    fn busy_machines_are_busy_everywhere(
        version in prop::sample::select(RELEASES.to_vec()),
        shape in prop::sample::select(vec![(1u32, 2u32), (2, 2), (4, 1), (2, 4), (8, 2)]),
        more in 0u32..9,
        seed in any::<u64>(),
    ) {
        let cpus = shape.0 * shape.1;
        let found = used(version, shape, cpus + more, 0, seed).used;
        prop_assert!(found > 0.93, "{version}: {found} of {shape:?} with {} tasks", cpus + more);
    }

    /// Tasks that sleep little leave little idle when there are twice as many as CPUs.
    #[test]
    fn waiting_tasks_find_idle_cpus(
        version in prop::sample::select(RELEASES.to_vec()),
        shape in prop::sample::select(vec![(2u32, 2u32), (4, 1), (2, 4), (8, 2)]),
        seed in any::<u64>(),
    ) {
        let found = used(version, shape, 2 * shape.0 * shape.1, 100, seed).used;
        prop_assert!(found > 0.90, "{version}: {found} of {shape:?}");
    }
}

/// As many tasks as cores get a core each from 5.5 on, where groups count tasks.
#[test]
fn as_many_tasks_as_cores_do_not_share() {
    for version in ["5.11", "6.1", "6.6", "6.12"] {
        let found = used(version, (4, 4), 4, 0, 1).alone;
        assert!(found > 0.95, "{version}: {found}");
    }
}
