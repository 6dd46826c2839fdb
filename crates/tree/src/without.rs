//! Options of a tree's configuration whose effect cannot exist here, with what is missing.
//!
//! They compile, some of them even run, and would change nothing that anybody measures. So who asks for one is told why not.

/// Options without `CONFIG_`, and what none without them is expected for.
const WITHOUT: [(&str, &str); 8] = [
    (
        "NUMA_BALANCING",
        "none: it follows the pages that tasks fault on, and tasks here have no pages",
    ),
    (
        "NUMA_BALANCING_DEFAULT_ENABLED",
        "none: it follows the pages that tasks fault on, and tasks here have no pages",
    ),
    ("SCHED_CLASS_EXT", "none: its schedulers are programs of BPF, which is not here"),
    ("BPF_SYSCALL", "none: nobody loads programs of BPF"),
    (
        "ENERGY_MODEL",
        "none: no machine says what its CPUs draw at which clock, so there are no perf domains",
    ),
    ("RT_GROUP_SCHED", "none: workloads have no real-time tasks"),
    ("CGROUP_CPUACCT", "none: its files are of cgroup v1, and groups are of v2"),
    ("CPU_ISOLATION", "none: it goes by words of a command line, which there is none of"),
];

/// What is expected instead of `option`, without `CONFIG_`, where its effect cannot exist.
pub fn expected_without(option: &str) -> Option<&'static str> {
    WITHOUT.iter().find(|(name, _)| *name == option).map(|(_, expected)| *expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_has_one_reason() {
        for (at, (name, expected)) in WITHOUT.iter().enumerate() {
            assert!(WITHOUT[..at].iter().all(|(other, _)| other != name), "{name}");
            assert!(expected.starts_with("none: "), "{name}");
        }
        assert!(expected_without("NUMA_BALANCING").is_some_and(|e| e.contains("pages")));
        assert_eq!(expected_without("PSI"), None);
    }
}
