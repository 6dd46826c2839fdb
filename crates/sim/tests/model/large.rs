//! A machine of as many CPUs as a kernel can be built for.

use crate::machines::power9;
use kernel::{Kernel, Version};
use machine::{MAX_CPUS, Machine};
use sim::Scenario;
use std::fmt::Write;
use workload::{Op, Spawn, Work, Workload};

const SOCKETS: usize = 16;

/// An x86 machine of 16 sockets, 256 cores each, two threads a core, a node a socket.
fn largest() -> Machine {
    let mut spec =
        format!("-M q35 -cpu EPYC -smp {MAX_CPUS},sockets={SOCKETS},cores=256,threads=2");
    for node in 0..SOCKETS {
        let (first, last) = (node * 512, node * 512 + 511);
        write!(spec, " -numa node,nodeid={node},cpus={first}-{last}").expect("text");
    }
    let shape = machine::qemu::read(&spec).expect("a machine");
    Machine { constants: power9().constants, idle_states: power9().idle_states, ..shape }
}

#[test]
fn the_largest_machine_has_domains_and_runs() {
    let machine = largest();
    let kernel = Kernel::new(Version::new(6, 12));
    let domains = kernel::build(&machine, &kernel).expect("domains");
    let last: Vec<(&str, String, usize)> = domains.by_cpu[MAX_CPUS - 1]
        .iter()
        .map(|d| (d.name, d.span.to_string(), d.groups.len()))
        .collect();
    // QEMU's EPYC has an L3 for each four cores.
    let expected = [
        ("SMT", "8190-8191", 2),
        ("MC", "8184-8191", 4),
        ("PKG", "7680-8191", 64),
        ("NUMA", "0-8191", 16),
    ];
    assert_eq!(last, expected.map(|(name, span, groups)| (name, span.to_string(), groups)));

    let mut w = Workload::default();
    let work = w.program("work", vec![Op::Compute(Work::fixed(1e6))]);
    let mut ops = vec![Op::Fork(work); 64];
    ops.extend([Op::WaitChildren, Op::Stop]);
    let parent = w.program("parent", ops);
    w.spawns.push(Spawn { affinity: Some("8000".parse().expect("a CPU")), ..Spawn::new(parent) });
    let result = Scenario::new(&machine, &kernel, w).expect("a scenario").run(1).expect("a run");
    assert!(result.end_ns > 100_000, "{}", result.end_ns);
}
