use super::*;
use std::fs;
use tempfile::TempDir;

/// A sysfs of `files`, given as paths below `sys/devices/system` and contents.
fn sysfs(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join("sys/devices/system").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }
    dir
}

const FOUR_CPUS: &[(&str, &str)] = &[
    ("cpu/present", "0-3"),
    ("cpu/online", "0-2"),
    ("cpu/possible", "0-7"),
    ("cpu/cpu0/topology/core_cpus_list", "0,2"),
    ("cpu/cpu1/topology/thread_siblings_list", "1"),
    ("cpu/cpu2/topology/core_cpus_list", "0,2"),
    ("cpu/cpu0/topology/physical_package_id", "3"),
    ("cpu/cpu1/topology/physical_package_id", "-1"),
    ("cpu/cpu2/topology/physical_package_id", "3"),
    ("cpu/cpu3/node1/x", ""),
    ("node/node0/cpulist", "0,2"),
    ("node/node0/distance", "10 21"),
    ("node/node0/meminfo", "Node 0 MemTotal:       1024 kB\nNode 0 MemFree: 1 kB"),
    ("node/node1/cpulist", "1"),
    ("node/node1/distance", "21 10"),
    ("cpu/cpu0/cache/index0/level", "1"),
    ("cpu/cpu0/cache/index0/type", "Data"),
    ("cpu/cpu0/cache/index0/size", "48K"),
    ("cpu/cpu0/cache/index0/coherency_line_size", "64"),
    ("cpu/cpu0/cache/index0/shared_cpu_list", "0,2"),
    ("cpu/cpu0/topology/core_id", "7"),
    ("cpu/cpu0/topology/die_id", "-1"),
    ("cpu/cpu0/cpu_capacity", "512"),
    ("cpu/smt/control", "off"),
    ("cpu/cpu0/cpufreq/cpuinfo_min_freq", "800000"),
    ("cpu/cpu0/cpufreq/cpuinfo_max_freq", "2000000"),
    ("cpu/cpu0/cpufreq/related_cpus", "0 2"),
    ("cpu/cpu0/cpufreq/scaling_driver", "acpi-cpufreq"),
    ("cpu/cpu0/cpufreq/scaling_available_frequencies", "2000000 800000 "),
    ("cpu/cpu2/cpufreq/cpuinfo_min_freq", "800000"),
    ("cpu/cpu2/cpufreq/cpuinfo_max_freq", "2000000"),
    ("cpu/cpu2/cpufreq/related_cpus", "0 2"),
    ("cpu/cpu2/acpi_cppc/highest_perf", "255"),
    ("cpu/cpu2/acpi_cppc/nominal_perf", "120"),
    ("cpu/cpu2/acpi_cppc/lowest_nonlinear_perf", "80"),
    ("cpu/cpu2/acpi_cppc/lowest_perf", "20"),
    ("cpu/cpu2/acpi_cppc/nominal_freq", "0"),
    ("cpu/cpu0/cpuidle/state0/name", "POLL"),
    ("cpu/cpu0/cpuidle/state0/latency", "0"),
    ("cpu/cpu0/cpuidle/state0/residency", "0"),
    ("cpu/cpu0/cpuidle/state1/name", "C1"),
    ("cpu/cpu0/cpuidle/state1/latency", "2"),
    ("cpu/cpu0/cpuidle/state1/residency", "3"),
    ("cpu/cpu0/cpuidle/state1/desc", "ACPI FFH MWAIT 0x0"),
];

/// What is said of `files` with one file set to `text`.
fn unknown_with(files: &[(&str, &str)], file: &str, text: &str) -> String {
    let dir = sysfs(files);
    let path = dir.path().join("sys/devices/system").join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    read(dir.path(), Arch::X86).unwrap().unknown.join("\n")
}

#[test]
fn reads_cpus_cores_packages_and_nodes() {
    let dir = sysfs(FOUR_CPUS);
    let m = read(dir.path(), Arch::X86).unwrap();
    let shape: Vec<_> = m.cpus.iter().map(|c| (c.core, c.thread, c.package, c.node)).collect();
    assert_eq!(shape, [(0, 0, 3, 0), (1, 0, 1, 1), (0, 1, 3, 0), (2, 0, 1, 1)]);
    assert_eq!(m.online.to_string(), "0-2");
    assert_eq!(m.nodes[1].cpus.to_string(), "1,3");
    assert_eq!(m.nodes[0].distances, [10, 21]);
    assert_eq!((m.nodes[0].memory_kib, m.nodes[1].memory_kib), (Some(1024), None));
    assert_eq!((m.caches[0].size_kib, m.caches[0].line_bytes), (Some(48), Some(64)));
    assert_eq!(m.idle_states[1].exit_latency_ns, 2000);
    assert_eq!(m.idle_states[1].target_residency_ns, 3000);
    assert_eq!([m.idle_states[0].mwait, m.idle_states[1].mwait], [false, true]);
}

#[test]
fn reads_frequencies_capacities_and_ids() {
    let dir = sysfs(FOUR_CPUS);
    let m = read(dir.path(), Arch::X86).unwrap();
    let ids = m.cpus[0].ids;
    assert_eq!((ids.core, ids.die, ids.cluster), (Some(7), None, None));
    assert_eq!((m.cpus[0].capacity, m.cpus[1].capacity), (Some(512), None));
    assert_eq!(m.smt_control.as_deref(), Some("off"));
    let [policy] = m.policies.as_slice() else { panic!("{:?}", m.policies) };
    assert_eq!((policy.cpus.to_string().as_str(), policy.min_khz), ("0,2", 800_000));
    assert_eq!(policy.available_khz, [2_000_000, 800_000]);
    let [cppc] = m.cppc.as_slice() else { panic!("{:?}", m.cppc) };
    assert_eq!((cppc.cpus.to_string().as_str(), cppc.highest_perf), ("2", 255));
    assert_eq!((cppc.nominal_mhz, cppc.reference_perf), (None, None));
}

#[test]
fn reads_the_small_cores_of_the_big_core_study() {
    let files = |siblings: &'static str| {
        sysfs(&[
            ("cpu/present", "0-3"),
            ("cpu/online", "0-2"),
            ("cpu/cpu0/topology/core_cpus", "7"),
            ("cpu/cpu1/topology/core_cpus", "7"),
            ("cpu/cpu2/topology/core_cpus", "7"),
            ("cpu/cpu0/small_core_siblings", "0,2"),
            ("cpu/cpu1/small_core_siblings", "1"),
            ("cpu/cpu2/small_core_siblings", siblings),
        ])
    };
    let m = read(files("0,2").path(), Arch::Powerpc).unwrap();
    assert_eq!(m.small_core_siblings(2).unwrap().to_string(), "0,2");
    assert_eq!(m.thread_groups[0].groups.len(), 2);
    assert!(!m.unknown.iter().any(|u| u.starts_with("ibm,thread-groups")), "{:?}", m.unknown);
    for (bad, wanted) in [("1-2", "small cores without common CPUs"), ("2-3", "of its core")] {
        let unknown = read(files(bad).path(), Arch::Powerpc).unwrap().unknown.join("\n");
        assert!(unknown.contains(wanted), "{unknown}");
    }
}

/// Kernels before 2.6.25 have masks alone, and no list of online CPUs.
#[test]
fn reads_old_kernels() {
    let dir = sysfs(&[
        ("cpu/cpu0/topology/thread_siblings", "00000000,00000005"),
        ("cpu/cpu1/online", "1"),
        ("cpu/cpu2/topology/thread_siblings", "00000000,00000005"),
        ("cpu/cpu3/online", "0"),
        ("cpu/cpu0/cache/index0/level", "1"),
        ("cpu/cpu0/cache/index0/type", "Unified"),
        ("cpu/cpu0/cache/index0/shared_cpu_map", "0"),
        ("node/node0/cpumap", "00000003"),
        ("node/node1/cpumap", "0000000e"),
    ]);
    let m = read(dir.path(), Arch::X86).unwrap();
    assert_eq!(m.online.to_string(), "0-2");
    assert_eq!(m.core_cpus(0).to_string(), "0,2");
    // An empty map: the threads of the core share it.
    assert_eq!(m.caches[0].cpus.to_string(), "0,2");
    assert_eq!((m.node_cpus(0).to_string().as_str(), m.cpus[2].node), ("0-1", 1));
    assert_eq!(m.nodes[1].distances, [20, 10]);
    let unknown = m.unknown.join("\n");
    for wanted in
        ["CPUs 1 of NUMA node 1: an earlier", "Distances of", "Who shares caches of CPUs 0"]
    {
        assert!(unknown.contains(wanted), "{wanted}: {unknown}");
    }
}

#[test]
fn packages_with_one_id_are_told_apart_by_their_lists() {
    let dir = sysfs(&[
        ("cpu/present", "0-1"),
        ("cpu/cpu0/topology/core_siblings", "1"),
        ("cpu/cpu1/topology/core_siblings", "2"),
        ("cpu/cpu0/topology/physical_package_id", "5"),
        ("cpu/cpu1/topology/physical_package_id", "5"),
    ]);
    let m = read(dir.path(), Arch::X86).unwrap();
    assert_eq!((m.cpus[0].package, m.cpus[1].package), (0, 1));
}

#[test]
fn says_what_sysfs_leaves_open() {
    let dir = sysfs(FOUR_CPUS);
    let unknown = read(dir.path(), Arch::X86).unwrap().unknown.join("\n");
    for wanted in [
        "CPUs 4-7: possible but not present",
        "Core and package of CPUs 3:",
        "Number of the package of CPUs 1:",
        "Hardware ids of CPUs 0-3:",
        "Caches of CPUs 1-3:",
    ] {
        assert!(unknown.contains(wanted), "{wanted}: {unknown}");
    }
}

#[test]
fn makes_do_without_topology_caches_and_nodes() {
    let dir = sysfs(&[("cpu/present", "0-1")]);
    let m = read(dir.path(), Arch::X86).unwrap();
    assert_eq!((m.cpus.len(), m.cores().len(), m.nodes.len()), (2, 2, 1));
    assert!(m.caches.is_empty() && m.idle_states.is_empty());
    assert!(m.unknown.iter().any(|u| u.starts_with("NUMA nodes")), "{:?}", m.unknown);
}

#[test]
fn an_odd_file_is_noted_and_left_out() {
    for (file, text, wanted) in [
        (
            "cpu/online",
            "0-9",
            "cpu/online: found `0-9`, expected at least one of the present CPUs 0-3",
        ),
        ("cpu/online", "", "cpu/online: found ``, expected at least one of the present CPUs 0-3"),
        ("cpu/present", "x", "cpu/present: found `x`, expected a CPU list"),
        ("cpu/possible", "x", "cpu/possible: found `x`, expected a CPU list"),
        ("cpu/cpu0/topology/core_cpus_list", "1", "core_cpus_list: found `1`, expected CPU 0"),
        ("cpu/cpu0/topology/core_cpus_list", "0-1", "expected cores without common CPUs"),
        ("cpu/cpu0/topology/physical_package_id", "-7", "found -7, expected -1 to 2^32 - 1"),
        (
            "cpu/cpu0/cache/index0/size",
            "48",
            "index0/size: found `48`, expected a size such as 32K",
        ),
        ("cpu/cpu0/cache/index0/type", "Trace", "found `Trace`, expected Data, Instruction"),
        ("cpu/cpu0/cache/index0/shared_cpu_list", "2", "found `2`, expected CPU 0"),
        ("cpu/cpu0/cpuidle/state1/latency", "soon", "found `soon`, expected a number"),
        ("node/node1/distance", "10", "node1/distance: found `10`, expected 2 numbers"),
        ("cpu/cpu0/topology/thread_siblings", "g", "found `g`, expected a CPU mask such as"),
        ("cpu/cpu0/cpufreq/cpuinfo_max_freq", "1", "found 1 kHz, below the 800000 of"),
        ("cpu/cpu0/cpufreq/related_cpus", "1 2", "found `1 2`, expected CPU 0"),
        (
            "cpu/cpu0/cpufreq/scaling_available_frequencies",
            "1 x",
            "found x, expected numbers in kHz",
        ),
        ("cpu/cpu2/acpi_cppc/nominal_perf", "x", "nominal_perf: found `x`, expected a number"),
        ("node/node0/meminfo", "Node 0 MemTotal: 5 MB", "expected MemTotal in kB"),
    ] {
        let unknown = unknown_with(FOUR_CPUS, file, text);
        let note = unknown.lines().find(|line| line.contains(wanted));
        let note = note.unwrap_or_else(|| panic!("{file}: {unknown}"));
        assert!(note.starts_with("sys/devices/system/"), "{note}");
        assert!(note.ends_with("; it is left out."), "{note}");
    }
    let empty = tempfile::tempdir().unwrap();
    let error = read(empty.path(), Arch::X86).unwrap_err().to_string();
    assert!(
        error.ends_with("sys/devices/system/cpu: found no CPU, expected at least one"),
        "{error}"
    );
    let error = read(sysfs(&[("cpu/present", "0-8192")]).path(), Arch::X86).unwrap_err();
    assert!(error.to_string().contains("CPUs below 8192"), "{error}");
    let error = read(sysfs(&[("cpu/cpu8192/online", "1")]).path(), Arch::X86).unwrap_err();
    assert!(error.to_string().contains("found cpu8192, expected CPUs below 8192"), "{error}");
}

/// CPU 2 is offline and lists itself nowhere, as a kernel leaves it in a cpuset's sandbox; CPU 1 contradicts CPU 0.
#[test]
fn contradicting_masks_leave_cpus_alone() {
    let dir = sysfs(&[
        ("cpu/present", "0-3"),
        ("cpu/online", "0-1,3"),
        ("cpu/cpu0/topology/thread_siblings", "9"),
        ("cpu/cpu1/topology/thread_siblings", "3"),
        ("cpu/cpu2/topology/thread_siblings", "8"),
        ("cpu/cpu3/topology/thread_siblings", "9"),
    ]);
    let m = read(dir.path(), Arch::X86).unwrap();
    assert_eq!(m.core_cpus(0).to_string(), "0,3");
    assert_eq!((m.core_cpus(1).len(), m.core_cpus(2).len()), (1, 1));
    let unknown = m.unknown.join("\n");
    for wanted in ["found a core of CPUs 0-1 and one of 0,3", "found `3`, expected CPU 2"] {
        assert!(unknown.contains(wanted), "{wanted}: {unknown}");
    }
}

/// Files of kernels before 2.6.16, and of CPUs that are away.
#[test]
fn empty_files_count_as_absent() {
    let dir = sysfs(&[
        ("cpu/cpu0/online", ""),
        ("cpu/cpu1/online", ""),
        ("cpu/cpu0/topology/core_id", ""),
        ("cpu/cpu0/cache/index0/level", "1"),
        ("cpu/cpu0/cache/index0/type", "Data"),
        ("cpu/cpu0/cache/index0/size", ""),
        ("cpu/cpu0/cache/index0/shared_cpu_map", "1"),
        ("node/node0/cpumap", "3"),
        ("node/node0/distance", ""),
        ("node/node0/meminfo", ""),
    ]);
    let m = read(dir.path(), Arch::Other).unwrap();
    assert_eq!((m.online.to_string().as_str(), m.cpus[0].ids.core), ("0-1", None));
    assert_eq!((m.caches[0].size_kib, m.nodes[0].memory_kib), (None, None));
    let unknown = m.unknown.join("\n");
    assert!(unknown.contains("Online CPUs: sysfs does not tell them"), "{unknown}");
    assert!(!unknown.contains("left out"), "{unknown}");
}

/// Node 0 is offline: no directory of it, CPUs link to it, and the row of node 1 has a number for it.
#[test]
fn offline_nodes_are_those_that_cpus_link_to() {
    let files = &[
        ("cpu/present", "0-3"),
        ("cpu/cpu0/node0/x", ""),
        ("cpu/cpu2/node0/x", ""),
        ("node/online", "1"),
        ("node/possible", "0-1"),
        ("node/node1/cpumap", "a"),
        ("node/node1/distance", "21 10"),
    ];
    let m = read(sysfs(files).path(), Arch::X86).unwrap();
    assert_eq!(m.nodes.iter().map(|n| n.id).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(
        (m.node_cpus(0).to_string(), m.node_cpus(1).to_string()),
        ("0,2".into(), "1,3".into())
    );
    assert_eq!(
        (m.nodes[0].distances.as_slice(), m.nodes[1].distances.as_slice()),
        (&[10, 21][..], &[21, 10][..])
    );
    assert!(m.unknown.iter().any(|u| u.starts_with("NUMA node 0: sysfs has no directory")));
}

/// More and fewer distances than nodes, nodes of memory alone, holes in their numbers, and a node without lists.
#[test]
fn nodes_need_not_be_regular() {
    let files = &[
        ("cpu/present", "0-1"),
        ("node/node0/cpulist", "0-1"),
        ("node/node0/distance", "10 20 30 40"),
        ("node/node4/cpulist", ""),
        ("node/node4/distance", "30 10"),
        ("node/node9/meminfo", "Node 9 MemTotal: 1 kB"),
    ];
    let m = read(sysfs(files).path(), Arch::X86).unwrap();
    assert_eq!(m.nodes.iter().map(|n| n.cpus.len()).collect::<Vec<_>>(), [2, 0, 0]);
    assert_eq!(m.nodes[0].distances, [10, 20, 20]);
    let unknown = m.unknown.join("\n");
    for wanted in [
        "node0/distance: found `10 20 30 40`, expected 3 numbers",
        "node4/distance: found `30 10`, expected 3 numbers",
        "Distances of NUMA nodes: sysfs lacks some",
        "CPUs of NUMA node 9: sysfs does not list them",
    ] {
        assert!(unknown.contains(wanted), "{wanted}: {unknown}");
    }
}

/// Books and drawers of s390, whose packages have lists and no numbers.
#[test]
fn reads_books_and_drawers() {
    let dir = sysfs(&[
        ("cpu/present", "0-2"),
        ("cpu/cpu0/topology/core_siblings", "1"),
        ("cpu/cpu1/topology/core_siblings", "2"),
        ("cpu/cpu2/topology/core_siblings", "4"),
        ("cpu/cpu0/topology/physical_package_id", "-1"),
        ("cpu/cpu0/topology/book_id", "1"),
        ("cpu/cpu1/topology/book_id", "1"),
        ("cpu/cpu2/topology/book_id", "1"),
        ("cpu/cpu0/topology/drawer_id", "4"),
        ("cpu/cpu1/topology/drawer_id", "4"),
        ("cpu/cpu2/topology/drawer_id", "3"),
        ("cpu/cpu0/polarization", "horizontal"),
    ]);
    let m = read(dir.path(), Arch::Other).unwrap();
    assert_eq!(m.cpus.iter().map(|c| c.package).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(m.book_cpus(0).unwrap().to_string(), "0-1");
    assert_eq!(
        (m.book_cpus(2).unwrap().to_string(), m.drawer_cpus(1).unwrap().to_string()),
        ("2".into(), "0-1".into())
    );
}

/// Indices with holes, levels beyond 3, maps that are missing, empty or another CPU's, and masks of CPUs that do not
/// exist.
#[test]
fn caches_need_not_be_regular() {
    let dir = sysfs(&[
        ("cpu/present", "0-1"),
        ("cpu/possible", "0-1"),
        ("cpu/cpu0/topology/thread_siblings", "3"),
        ("cpu/cpu1/topology/thread_siblings", "3"),
        ("cpu/cpu0/cache/index2/level", "2"),
        ("cpu/cpu0/cache/index2/type", "Unified"),
        ("cpu/cpu0/cache/index2/shared_cpu_map", "f"),
        ("cpu/cpu0/cache/index3/level", "4"),
        ("cpu/cpu0/cache/index3/type", "Unified"),
        ("cpu/cpu0/cache/index3/shared_cpu_map", "0"),
        ("cpu/cpu0/cache/index5/level", "1"),
        ("cpu/cpu0/cache/index5/type", "Data"),
        ("cpu/cpu1/cache/index0/level", "1"),
        ("cpu/cpu1/cache/index0/type", "Data"),
        ("cpu/cpu1/cache/index0/shared_cpu_map", "1"),
        ("cpu/cpu1/cache/index1/type", "Data"),
        ("cpu/cpu1/cache/index1/shared_cpu_map", "2"),
    ]);
    let m = read(dir.path(), Arch::X86).unwrap();
    let caches: Vec<_> = m.caches.iter().map(|c| (c.level, c.cpus.to_string())).collect();
    assert_eq!(caches, [(2, "0-1".to_string()), (4, "0-1".to_string())]);
    let unknown = m.unknown.join("\n");
    for wanted in [
        "shared_cpu_map: CPUs 2-3 do not exist",
        "cpu0/cache/index5/shared_cpu_map: found no such file",
        "found `0`, expected CPU 1",
        "cpu1/cache/index1/level: found no level",
        "Who shares caches of CPUs 0:",
    ] {
        assert!(unknown.contains(wanted), "{wanted}: {unknown}");
    }
}

#[test]
fn many_odd_files_are_counted() {
    let mut files = vec![("cpu/present".to_string(), "0-29")];
    files.extend((0..30).map(|cpu| (format!("cpu/cpu{cpu}/topology/core_id"), "?")));
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let unknown = read(sysfs(&files).path(), Arch::X86).unwrap().unknown.join("\n");
    assert!(unknown.contains("10 more files of sysfs are odd"), "{unknown}");
}

#[test]
fn reads_this_computer() {
    let (Some(arch), true) =
        (arch_named(std::env::consts::ARCH), Path::new("/sys/devices/system/cpu").exists())
    else {
        println!("skipped: no sysfs of a known architecture");
        return;
    };
    let m = read(Path::new("/"), arch).unwrap();
    assert_eq!(m.name, "host");
    assert!(m.online.is_subset(&m.possible()) && !m.online.is_empty());
    assert!(m.cpus.iter().all(|c| m.nodes.iter().any(|n| n.id == c.node)));
}
