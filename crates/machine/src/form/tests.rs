use super::cpus::{has_clusters, has_dies};
use super::*;
use crate::files::{Files as Source, Memory};
use crate::model::{Cppc, FrequencyPolicy, IdleState, Origin};
use crate::testing::machines;
use crate::{Arch, catalog, sysfs};
use proptest::prelude::*;

fn power9() -> Machine {
    catalog::load("power9-big-core").unwrap()
}

fn text_of(machine: &Machine, path: &str) -> Option<String> {
    let mut found = files(machine).into_iter().filter(|(p, _)| p.ends_with(path));
    let text = found.next().map(|(_, text)| text.trim_end_matches('\n').to_string());
    assert!(found.next().is_none(), "{path} is ambiguous");
    text
}

#[test]
fn big_cores_are_printed_as_the_kernel_shows_them() {
    let machine = power9().with_smt(4).unwrap();
    for (path, expected) in [
        ("system/cpu/online", "0-3,8-11"),
        ("system/cpu/offline", "4-7,12-15"),
        ("system/cpu/possible", "0-15"),
        ("cpu/cpu9/online", "1"),
        ("cpu/cpu12/online", "0"),
        ("cpu9/topology/core_cpus", "0f00"),
        ("cpu9/topology/thread_siblings_list", "8-11"),
        ("cpu9/topology/package_cpus_list", "0-3,8-11"),
        ("cpu9/topology/die_id", "-1"),
        ("cpu9/small_core_siblings", "9,11"),
        ("cpu9/cache/index0/type", "Data"),
        ("cpu9/cache/index1/type", "Instruction"),
        ("cpu9/cache/index0/shared_cpu_list", "9,11"),
        ("node0/cpumap", "0f0f"),
        ("node0/distance", "10"),
    ] {
        assert_eq!(text_of(&machine, path).as_deref(), Some(expected), "{path}");
    }
    for path in ["cpu12/topology/core_id", "cpu12/cache/index0/type", "cpu9/topology/cluster_id"] {
        assert_eq!(text_of(&machine, path), None, "{path}");
    }
}

/// The catalog's documents say more than the kernel sees.
#[test]
fn caches_of_the_catalog_are_not_printed() {
    let machine = power9();
    let caches = machine.caches.iter().filter(|c| c.cpus.contains(0));
    assert!(caches.clone().any(|c| c.origin == crate::Origin::Catalog));
    let seen = caches.filter(|c| c.origin == crate::Origin::Firmware).count();
    let printed = files(&machine);
    let levels = printed.iter().filter(|(p, _)| p.contains("cpu0/cache/") && p.ends_with("/level"));
    assert_eq!(levels.count(), seen);
}

#[test]
fn one_thread_group_makes_no_small_cores() {
    let mut machine = power9();
    machine.thread_groups.retain(|tg| tg.core == 0);
    for tg in &mut machine.thread_groups {
        tg.groups = vec![CpuSet::first_n(8)];
    }
    assert_eq!(text_of(&machine, "cpu0/small_core_siblings"), None);
}

#[test]
fn a_missing_cluster_is_what_each_architecture_prints() {
    let mut machine = power9();
    let show = |machine: &Machine| {
        let file = |name: &str| text_of(machine, &format!("cpu3/topology/{name}"));
        [file("cluster_id"), file("cluster_cpus_list"), file("die_id")]
    };
    let texts = |t: [Option<&str>; 3]| t.map(|t| t.map(String::from));
    assert_eq!(show(&machine), texts([None, None, Some("-1")]));
    machine.arch = Arch::X86;
    assert_eq!(show(&machine), texts([Some("65535"), Some("0-7"), Some("0")]));
    machine.arch = Arch::Arm64;
    assert_eq!(show(&machine), texts([Some("-1"), Some("3"), None]));
    machine.cpus.iter_mut().for_each(|c| c.cluster = Some(c.core));
    machine.cpus[3].ids.cluster = Some(56);
    assert_eq!(show(&machine), texts([Some("56"), Some("0-7"), None]));
}

#[test]
fn frequencies_and_idle_states_are_printed() {
    let mut machine = power9().with_online("0-3".parse().unwrap()).unwrap();
    let cpus: CpuSet = "2-5".parse().unwrap();
    machine.policies = vec![FrequencyPolicy {
        cpus: cpus.clone(),
        driver: Some("powernv-cpufreq".to_string()),
        min_khz: 2_300_000,
        max_khz: 3_800_000,
        base_khz: None,
        available_khz: vec![3_800_000, 2_300_000],
    }];
    machine.cppc = vec![Cppc {
        cpus,
        highest_perf: 255,
        nominal_perf: 200,
        lowest_nonlinear_perf: 100,
        lowest_perf: 50,
        reference_perf: None,
        nominal_mhz: Some(2400),
        lowest_mhz: None,
    }];
    machine.idle_states = vec![IdleState {
        name: "stop0".to_string(),
        exit_latency_ns: 2000,
        target_residency_ns: 20_000,
        mwait: false,
    }];
    for (path, expected) in [
        ("cpufreq/policy2/related_cpus", Some("2 3 4 5")),
        ("cpufreq/policy2/affected_cpus", Some("2 3")),
        ("cpufreq/policy2/scaling_available_frequencies", Some("3800000 2300000 ")),
        ("cpufreq/policy2/base_frequency", None),
        ("cpu3/acpi_cppc/nominal_freq", Some("2400")),
        ("cpu3/acpi_cppc/lowest_freq", None),
        ("cpu4/acpi_cppc/nominal_freq", None),
        ("cpu0/cpuidle/state0/residency", Some("20")),
        ("cpu4/cpuidle/state0/residency", None),
    ] {
        assert_eq!(text_of(&machine, path).as_deref(), expected, "{path}");
    }
}

#[test]
fn lines_are_those_of_grep() {
    let text = print(&power9());
    assert!(text.starts_with("/sys/devices/system/cpu/cpu0/"), "{text}");
    assert!(text.contains("/sys/devices/system/cpu/online:0-15\n"), "{text}");
    assert!(!text.contains("offline:\n"), "{text}");
    let at = |part: &str| text.find(part).unwrap();
    assert!(at("/cpu2/topology/core_id:") < at("/cpu10/topology/core_id:"));
}

#[test]
fn numbers_of_nodes_are_listed_as_cpus_are() {
    assert_eq!(number_list([8, 0, 1, 255].into_iter()), "0-1,8,255");
    assert_eq!(number_list([1, u32::MAX].into_iter()), "1,4294967295");
    assert_eq!(number_list([].into_iter()), "");
}

/// The machine by the files of `machine` alone.
fn read_back(machine: &Machine) -> Machine {
    let files = files(machine).into_iter().map(|(path, text)| (path, Some(text.into_bytes())));
    let memory = Source::Memory(Memory::new(&machine.name, files));
    sysfs::read_files(&memory, machine.arch, &machine.name).unwrap()
}

/// What the kernel's files can say of a CPU: sets of online CPUs, numbers, capacity.
fn seen_of(machine: &Machine, cpu: usize) -> impl PartialEq + std::fmt::Debug {
    let online = machine.online.clone();
    let c = &machine.cpus[cpu];
    let sets = [
        Some(machine.core_cpus(cpu)),
        machine.cluster_cpus(cpu).filter(|_| has_clusters(machine.arch)),
        Some(machine.die_cpus(cpu)).filter(|_| has_dies(machine.arch)),
        Some(machine.package_cpus(cpu)),
        Some(machine.node_cpus(cpu)),
    ]
    .map(|set| set.map(|set| (set & &online).to_string()));
    let hw_id = (machine.arch == Arch::Powerpc).then_some(c.hw_id);
    // Where the others of a core are offline, nothing tells that its small core is not the whole.
    let whole = machine.core_cpus(cpu) & online;
    let small = machine.small_core_siblings(cpu).filter(|small| *small != whole);
    let cppc = machine.cppc.iter().find(|p| p.cpus.contains(cpu));
    let cppc = cppc.map(|levels| Cppc { cpus: CpuSet::EMPTY, ..levels.clone() });
    (sets, c.package, c.node, c.capacity, hw_id, small, cppc)
}

/// What the kernel's files can say of caches, nodes, clocks and idle states.
fn seen_of_all(machine: &Machine) -> impl PartialEq + std::fmt::Debug {
    let online = machine.online.clone();
    let caches = machine.caches.iter().filter(|c| c.origin == Origin::Firmware);
    let mut caches: Vec<_> = caches
        .map(|c| (c.level, c.kind, c.size_kib, c.line_bytes, c.ways, &c.cpus & &online))
        .filter(|c| !c.5.is_empty())
        .collect();
    caches.sort();
    let nodes = machine.nodes.iter();
    let nodes: Vec<_> =
        nodes.map(|n| (n.id, &n.cpus & &online, n.memory_kib, n.distances.clone())).collect();
    let us = |ns: u64| ns / 1000;
    let idle = machine.idle_states.iter();
    let idle: Vec<_> =
        idle.map(|s| (s.name.clone(), us(s.exit_latency_ns), us(s.target_residency_ns))).collect();
    let policies = machine.policies.clone();
    (
        machine.online.clone(),
        machine.cpus.len(),
        caches,
        nodes,
        idle,
        policies,
        machine.smt_control.clone(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A machine of up to 1024 CPUs, written out as files and read again, is the same as far as files can tell, and
    /// prints the same files.
    #[test]
    fn files_read_back_as_the_same_machine(machine in machines()) {
        let read = read_back(&machine);
        prop_assert_eq!(seen_of_all(&read), seen_of_all(&machine));
        for cpu in machine.online.iter() {
            prop_assert_eq!(seen_of(&read, cpu), seen_of(&machine, cpu), "CPU {}", cpu);
        }
        let shown = |machine: &Machine| -> Vec<(String, String)> {
            let all = files(machine).into_iter();
            all.filter(|(path, _)| !path.ends_with("/small_core_siblings")).collect()
        };
        prop_assert_eq!(shown(&read), shown(&machine));
    }
}

proptest! {
    #[test]
    fn natural_order_compares_numbers_by_value(a in 0u32..5000, b in 0u32..5000) {
        let key = |n: u32| natural_key(&format!("cpu{n}/topology"));
        prop_assert_eq!(key(a).cmp(&key(b)), a.cmp(&b));
    }
}
