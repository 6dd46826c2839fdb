//! A machine of as many CPUs as a kernel can be built for.

use kernel::{Kernel, Version};
use machine::MAX_CPUS;
use std::fmt::Write;

const SOCKETS: usize = 16;

/// An x86 machine of 16 sockets, 256 cores each, two threads a core, a node a socket.
fn largest() -> machine::Machine {
    let mut spec =
        format!("-M q35 -cpu EPYC -smp {MAX_CPUS},sockets={SOCKETS},cores=256,threads=2");
    for node in 0..SOCKETS {
        let (first, last) = (node * 512, node * 512 + 511);
        write!(spec, " -numa node,nodeid={node},cpus={first}-{last}").expect("text");
    }
    machine::qemu::read(&spec).expect("a machine")
}

#[test]
fn the_largest_machine_has_domains() {
    let domains = kernel::build(&largest(), &Kernel::new(Version::new(6, 12))).expect("domains");
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
}
