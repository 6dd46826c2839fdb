//! Names of CPUs that describe their place in the machine.

use kernel::Domains;
use machine::{CacheKind, Machine, ThreadGroupProperty};

/// Names by CPU, such as `CPU 3 · small core 1,3,5,7 · L2 0-7 · node 0 · SMT 1,3,5,7 · CACHE 0-7`: its number, its small core
/// or core, its caches and node, and its sched domains from the lowest up, if known. Leaves out what a CPU does not share.
pub fn cpu_names(machine: &Machine, domains: Option<&Domains>) -> Vec<String> {
    (0..machine.cpus.len()).map(|cpu| name(machine, domains, cpu)).collect()
}

fn name(machine: &Machine, domains: Option<&Domains>, cpu: usize) -> String {
    let mut parts = vec![format!("CPU {cpu}")];
    let core = match machine.thread_group(cpu, ThreadGroupProperty::L1) {
        Some(small) => ("small core", small),
        None => ("core", machine.core_cpus(cpu)),
    };
    if core.1.len() > 1 {
        parts.push(format!("{} {}", core.0, core.1));
    }
    for cache in &machine.caches {
        if cache.level > 1
            && cache.kind != CacheKind::Instruction
            && cache.cpus.contains(cpu)
            && cache.cpus.len() > 1
        {
            parts.push(format!("L{} {}", cache.level, cache.cpus));
        }
    }
    parts.push(format!("node {}", machine.cpus[cpu].node));
    for domain in domains.iter().flat_map(|d| &d.by_cpu[cpu]) {
        parts.push(format!("{} {}", domain.name, domain.span));
    }
    parts.join(" \u{b7} ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::{Kernel, Version};

    #[test]
    fn names_say_what_cpus_share() {
        let machine = machine::catalog::load("power9-big-core").unwrap();
        let domains = kernel::build(&machine, &Kernel::new(Version::new(6, 12))).unwrap();
        let names = cpu_names(&machine, Some(&domains));
        assert_eq!(names.len(), machine.cpus.len());
        assert!(
            names[3].starts_with("CPU 3 \u{b7} small core 1,3,5,7 \u{b7} L2 0-7 \u{b7} "),
            "{}",
            names[3]
        );
        assert!(names[3].contains("node 0 \u{b7} SMT 1,3,5,7"), "{}", names[3]);
    }
}
