//! Machines built from the model's public fields.

use machine::{Arch, Cpu, CpuSet, IdleState, Machine, Node, OsIds};

/// `cores` SMT cores of `threads` threads without thread groups, one node, costs as on the catalog's POWER9.
pub fn smt(cores: u32, threads: u32) -> Machine {
    let cpus = (0..cores * threads)
        .map(|c| Cpu {
            hw_id: c,
            core: c / threads,
            thread: c % threads,
            cluster: None,
            die: 0,
            package: 0,
            node: 0,
            ids: OsIds::default(),
            capacity: None,
        })
        .collect::<Vec<_>>();
    let possible = CpuSet::first_n(cpus.len());
    let state = |name: &str, exit_latency_ns, target_residency_ns| IdleState {
        name: name.to_string(),
        exit_latency_ns,
        target_residency_ns,
        mwait: false,
    };
    Machine {
        name: format!("smt{threads}x{cores}"),
        title: "SMT cores on one node".to_string(),
        arch: Arch::Powerpc,
        cpus,
        online: possible.clone(),
        caches: Vec::new(),
        nodes: vec![Node { id: 0, cpus: possible, memory_kib: None, distances: vec![10] }],
        thread_groups: Vec::new(),
        idle_states: vec![state("snooze", 0, 0), state("stop0_lite", 1_000, 10_000)],
        policies: Vec::new(),
        cppc: Vec::new(),
        vendor: None,
        smt_control: None,
        costs: None,
        firmware: None,
        constants: power9().constants,
        unknown: Vec::new(),
    }
}

/// The catalog's POWER9 with big cores.
pub fn power9() -> Machine {
    machine::catalog::load("power9-big-core").expect("the catalog holds it")
}
