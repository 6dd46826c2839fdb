use crate::devicetree::read;
use crate::devicetree::testing::{Dt, seed};
use crate::model::{CacheKind, Machine};
use proptest::prelude::*;

/// CPU node `number` with MPIDR `reg` and phandle `number + 1`.
fn cpu(number: u32, reg: u32) -> Dt {
    Dt::node(&format!("cpu@{reg:x}"))
        .text("device_type", "cpu")
        .text("compatible", "arm,cortex-a72")
        .text("enable-method", "psci")
        .cells("reg", &[reg])
        .cells("phandle", &[number + 1])
}

fn cpus(count: u32) -> Vec<Dt> {
    (0..count).map(|number| cpu(number, number)).collect()
}

fn memory(address: u32, mib: u32) -> Dt {
    Dt::node(&format!("memory@{address:x}"))
        .text("device_type", "memory")
        .cells("reg", &[0, address, 0, mib << 20])
}

fn with(parent: Dt, children: impl IntoIterator<Item = Dt>) -> Dt {
    children.into_iter().fold(parent, Dt::child)
}

/// A machine of `cpus`, with `map` if any.
fn tree(cpus: Vec<Dt>, map: Option<Dt>) -> Dt {
    let node = Dt::node("cpus").cells("#address-cells", &[1]).cells("#size-cells", &[0]);
    Dt::node("")
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[2])
        .child(with(with(node, cpus), map))
}

/// Node `name` that names CPU `number`.
fn names(name: &str, number: u32) -> Dt {
    Dt::node(name).cells("cpu", &[number + 1])
}

/// Cluster `name` of a core for each of `numbers`.
fn cluster(name: &str, numbers: std::ops::Range<u32>) -> Dt {
    let cores = numbers.enumerate().map(|(i, number)| names(&format!("core{i}"), number));
    with(Dt::node(name), cores)
}

fn map(children: impl IntoIterator<Item = Dt>) -> Option<Dt> {
    Some(with(Dt::node("cpu-map"), children))
}

fn machine(tree: &Dt) -> Machine {
    read(&tree.blob(), "t.dtb").unwrap()
}

fn error(tree: &Dt) -> String {
    read(&tree.blob(), "t.dtb").unwrap_err().to_string()
}

/// Core, cluster and package of each CPU.
fn places(m: &Machine) -> Vec<(u32, Option<u32>, u32)> {
    m.cpus.iter().map(|c| (c.core, c.cluster, c.package)).collect()
}

fn says(m: &Machine, start: &str) -> bool {
    m.unknown.iter().any(|u| u.starts_with(start))
}

#[test]
fn sockets_are_packages_and_their_clusters_are_apart() {
    let sockets = [("socket0", 0), ("socket1", 4)].map(|(name, first)| {
        let clusters =
            [cluster("cluster0", first..first + 2), cluster("cluster1", first + 2..first + 4)];
        with(Dt::node(name), clusters)
    });
    let m = machine(&tree(cpus(8), map(sockets)));
    let expected = (0..8u32).map(|c| (c, Some(c / 2 * 2), c / 4)).collect::<Vec<_>>();
    assert_eq!(places(&m), expected);
    let ids: Vec<_> = m.cpus.iter().map(|c| (c.ids.core, c.ids.cluster)).collect();
    assert_eq!(ids[5..], [(Some(1), Some(0)), (Some(0), Some(1)), (Some(1), Some(1))]);
    assert_eq!((m.cpus[7].die, m.cpus[7].capacity), (4, Some(1024)));
}

#[test]
fn threads_of_a_core_count_from_0() {
    let core = |i: u32| {
        let threads = [names("thread0", i), names("thread1", i + 2)];
        with(Dt::node(&format!("core{i}")), threads)
    };
    let m = machine(&tree(cpus(4), map([with(Dt::node("cluster0"), [core(0), core(1)])])));
    let found: Vec<_> = m.cpus.iter().map(|c| (c.core, c.thread, c.cluster)).collect();
    assert_eq!(found, [(0, 0, Some(0)), (1, 0, Some(0)), (0, 1, Some(0)), (1, 1, Some(0))]);
}

/// Linux 6.12 numbers the inner clusters 0 and 1 in each outer one, so that they fall together.
#[test]
fn clusters_in_clusters_are_merged_as_linux_does() {
    let outer = [("cluster0", 0), ("cluster1", 4)].map(|(name, first)| {
        let inner =
            [cluster("cluster0", first..first + 2), cluster("cluster1", first + 2..first + 4)];
        with(Dt::node(name), inner)
    });
    let m = machine(&tree(cpus(8), map(outer)));
    assert_eq!(m.cluster_cpus(0).unwrap().to_string(), "0-1,4-5");
    assert_eq!(m.core_cpus(0).to_string(), "0,4");
    assert!(says(&m, "Clusters in clusters: Linux numbers"), "{:?}", m.unknown);
}

#[test]
fn without_a_whole_map_each_cpu_is_a_core() {
    let flat: Vec<_> = (0..4u32).map(|c| (c, None, 0)).collect();
    let none = machine(&tree(cpus(4), None));
    assert_eq!(places(&none), flat);
    assert!(says(&none, "Cores, clusters and packages: the device tree has no cpu-map"));
    assert_eq!(none.cpus[2].ids.core, Some(2));
    // The gap in the numbers hides cluster2.
    let gap = map([cluster("cluster0", 0..2), cluster("cluster2", 2..4)]);
    let gap = machine(&tree(cpus(4), gap));
    assert_eq!(places(&gap), flat);
    assert!(says(&gap, "Cores, clusters and packages: the cpu-map leaves out CPUs 2-3"));
}

#[test]
fn refuses_maps_that_break_the_binding() {
    let fail = |children: Vec<Dt>| error(&tree(cpus(2), map(children)));
    let in_cluster = |core: Dt| vec![Dt::node("cluster0").child(core)];
    assert_eq!(
        fail(vec![names("core0", 0)]),
        "t.dtb: /cpus/cpu-map/core0: found a core outside of clusters, expected a core in a cluster"
    );
    let beside = cluster("cluster0", 0..1).child(cluster("cluster0", 1..2));
    assert!(fail(vec![beside]).contains("found a core beside clusters"));
    let both = names("core0", 0).child(names("thread0", 1));
    assert!(fail(in_cluster(both)).contains("found both threads and a CPU"));
    assert!(fail(in_cluster(Dt::node("core0"))).contains("core0: found no cpu"));
    assert!(fail(in_cluster(names("core0", 7))).contains("core0 cpu: found phandle 0x8"));
    let twice = vec![cluster("cluster0", 0..1), cluster("cluster1", 0..1)];
    assert!(fail(twice).contains("found CPU 0 (/cpus/cpu@0) again, expected each CPU once"));
    let deep =
        (0..40).fold(cluster("cluster0", 0..1), |inner, _| Dt::node("cluster0").child(inner));
    assert!(fail(vec![deep]).contains("expected at most 16 clusters inside one another"));
}

#[test]
fn numbers_the_boot_cpu_first_and_leaves_out_what_cannot_run() {
    let mut blob = tree(
        vec![
            cpu(0, 0x100),
            cpu(1, 0x101).text("status", "fail-broken"),
            cpu(2, 0),
            cpu(3, 1).text("status", "disabled"),
        ],
        None,
    )
    .blob();
    blob[28..32].copy_from_slice(&0u32.to_be_bytes());
    let m = read(&blob, "t.dtb").unwrap();
    let ids: Vec<_> = m.cpus.iter().map(|c| c.hw_id).collect();
    // A disabled CPU waits to be started; a failed one is none.
    assert_eq!(ids, [0, 0x100, 1]);
    assert!(says(&m, "CPU of /cpus/cpu@101: its status is fail"));

    blob[28..32].copy_from_slice(&9u32.to_be_bytes());
    let m = read(&blob, "t.dtb").unwrap();
    assert_eq!(m.cpus[0].hw_id, 0x100);
    assert!(says(&m, "Boot CPU: the device tree does not mark it"));

    let bare = Dt::node("cpu@1").text("device_type", "cpu").cells("reg", &[1]);
    let m = machine(&tree(vec![cpu(0, 0), bare], None));
    assert_eq!(m.cpus.len(), 1);
    assert!(says(&m, "CPU of /cpus/cpu@1: without enable-method"));
}

#[test]
fn packs_mpidr_and_refuses_what_is_none() {
    let wide = |high: u32, low: u32| cpu(0, 0).cells("reg", &[high, low]);
    let m = machine(&tree(vec![wide(0x12, 0x03_0201)], None));
    assert_eq!(m.cpus[0].hw_id, 0x1203_0201);
    let wrong = error(&tree(vec![wide(0, 0x8000_0000)], None));
    assert!(wrong.contains("cpu@0 reg: found 0x80000000, expected bits 0-23 and 32-39"), "{wrong}");
    let twice = error(&tree(vec![cpu(0, 5), cpu(1, 5)], None));
    assert!(twice.contains("found MPIDR 0x5, also at /cpus/cpu@5, expected each CPU once"));
}

fn cache(name: &str, phandle: u32, level: u32, kib: u32) -> Dt {
    Dt::node(name)
        .text("compatible", "cache")
        .cells("phandle", &[phandle])
        .cells("cache-level", &[level])
        .bytes("cache-unified", &[])
        .cells("cache-size", &[kib << 10])
        .cells("cache-line-size", &[64])
        .cells("cache-sets", &[1024])
}

#[test]
fn cpus_share_caches_whose_nodes_their_chains_reach() {
    let l1 = |number: u32| {
        let l2 = 0x20 + number / 2;
        let node = cpu(number, number).cells("next-level-cache", &[l2]);
        let node = node.cells("d-cache-size", &[64 << 10]).cells("i-cache-size", &[32 << 10]);
        node.cells("d-cache-line-size", &[64]).cells("d-cache-sets", &[256])
    };
    let l2 = |i: u32| {
        cache(&format!("l2-cache{i}"), 0x20 + i, 2, 512).cells("next-level-cache", &[0x30])
    };
    let nodes: Vec<Dt> = (0..4).map(l1).chain([l2(0), l2(1), cache("l3", 0x30, 3, 4096)]).collect();
    let m = machine(&tree(nodes, map([cluster("cluster0", 0..2), cluster("cluster1", 2..4)])));
    let shape: Vec<_> = m
        .caches
        .iter()
        .map(|c| (c.level, c.kind, c.size_kib, c.ways, c.cpus.to_string()))
        .collect();
    use CacheKind::{Data, Instruction, Unified};
    let mut expected = Vec::new();
    expected.extend((0..4).map(|c| (1, Instruction, Some(32), None, c.to_string())));
    expected.extend((0..4).map(|c| (1, Data, Some(64), Some(4), c.to_string())));
    expected.extend(["0-1", "2-3"].map(|c| (2, Unified, Some(512), Some(8), c.to_string())));
    expected.push((3, Unified, Some(4096), Some(64), "0-3".to_string()));
    expected.sort_by_key(|(level, kind, ..)| (*level, *kind));
    assert_eq!(shape, expected);
    assert!(!m.unknown.iter().any(|u| u.contains("aches of CPUs")), "{:?}", m.unknown);
}

#[test]
fn says_where_cpus_tell_no_caches() {
    let nodes =
        vec![cpu(0, 0).cells("next-level-cache", &[0x20]), cpu(1, 1), cache("l2", 0x20, 2, 512)];
    let m = machine(&tree(nodes, None));
    let shape: Vec<_> =
        m.caches.iter().map(|c| (c.level, c.size_kib, c.cpus.to_string())).collect();
    let own = |level, kib| (level, kib, "0".to_string());
    assert_eq!(shape, [own(1, None), own(1, None), own(2, Some(512))]);
    assert!(says(&m, "Caches of CPUs 1: the device tree names none"));
    assert!(says(&m, "First-level caches of CPUs 0: the CPU nodes tell nothing"));
}

fn distances(m: &Machine) -> Vec<Vec<u32>> {
    m.nodes.iter().map(|n| n.distances.clone()).collect()
}

fn numa(cells: &[u32]) -> Dt {
    let cpus = (0..4).map(|c| cpu(c, c).cells("numa-node-id", &[c / 2])).collect();
    tree(cpus, None)
        .child(memory(0x4000_0000, 512).cells("numa-node-id", &[0]))
        .child(memory(0x8000_0000, 1024).cells("numa-node-id", &[1]))
        .child(
            Dt::node("distance-map")
                .text("compatible", "numa-distance-map-v1")
                .cells("distance-matrix", cells),
        )
}

#[test]
fn reads_nodes_memory_and_distances() {
    let m = machine(&numa(&[0, 0, 10, 0, 1, 15, 1, 1, 10]));
    let nodes: Vec<_> = m.nodes.iter().map(|n| (n.cpus.to_string(), n.memory_kib)).collect();
    assert_eq!(nodes, [("0-1".to_string(), Some(512 << 10)), ("2-3".to_string(), Some(1 << 20))]);
    assert_eq!(distances(&m), [[10, 15], [15, 10]]);
    assert_eq!((m.cpus[1].package, m.cpus[2].package), (0, 1));
    // The way back has a distance of its own where it follows.
    assert_eq!(distances(&machine(&numa(&[0, 1, 15, 1, 0, 30]))), [[10, 15], [30, 10]]);
    assert_eq!(distances(&machine(&numa(&[1, 0, 30, 0, 1, 15]))), [[10, 15], [15, 10]]);
    let far = error(&numa(&[0, 1, 10]));
    assert!(
        far.contains("found distance 10 from node 0 to 1, expected 10 for a node itself"),
        "{far}"
    );
    assert!(error(&numa(&[0, 1])).contains("expected entries of two nodes and a distance"));
    assert!(error(&numa(&[0, 1024, 20])).contains("expected nodes below 1024"));
    // A node that only the map names exists all the same.
    assert_eq!(machine(&numa(&[2, 0, 40])).nodes.len(), 3);
}

#[test]
fn memory_outside_of_nodes_turns_numa_off() {
    let m = machine(&numa(&[0, 1, 15]).child(memory(0xc000_0000, 256)));
    assert_eq!((m.nodes.len(), m.nodes[0].memory_kib), (1, Some(1792 << 10)));
    assert_eq!(m.nodes[0].cpus.to_string(), "0-3");
    assert!(says(&m, "NUMA nodes: a memory node lacks numa-node-id"));
}

/// Two small and two large CPUs; the large ones are twice as fast by the clock and half again by instruction.
fn big_little(values: [u32; 4], clocked: bool) -> Dt {
    let table = |name: &str, phandle: u32, hz: u32| {
        let turbo = Dt::node("opp-turbo").cells("opp-hz", &[1, 0]).bytes("turbo-mode", &[]);
        let points = [Dt::node("opp-1").cells("opp-hz", &[0, hz]), turbo];
        with(Dt::node(name).cells("phandle", &[phandle]), points)
    };
    let cpus = (0..4).map(|c| {
        let node = cpu(c, c).cells("operating-points-v2", &[0x40 + c / 2]);
        let node = if clocked { node } else { cpu(c, c) };
        match values[c as usize] {
            0 => node,
            value => node.cells("capacity-dmips-mhz", &[value]),
        }
    });
    let clusters = map([cluster("cluster0", 0..2), cluster("cluster1", 2..4)]);
    tree(cpus.collect(), clusters).child(table("opps-small", 0x40, 1_000_000_000)).child(table(
        "opps-large",
        0x41,
        2_000_000_000,
    ))
}

fn capacities(m: &Machine) -> Vec<u32> {
    m.cpus.iter().map(|c| c.capacity.unwrap()).collect()
}

#[test]
fn capacities_are_normalised_with_the_clocks() {
    let both = machine(&big_little([400, 400, 600, 600], true));
    assert_eq!(capacities(&both), [341, 341, 1024, 1024]);
    assert!(says(
        &both,
        "Frequencies: the CPUs' highest operating points lie between 1000 and 2000"
    ));
    let plain = machine(&big_little([400, 400, 600, 600], false));
    assert_eq!(capacities(&plain), [682, 682, 1024, 1024]);
    assert!(says(&plain, "Capacities: they are capacity-dmips-mhz alone"));
    let partial = machine(&big_little([400, 0, 600, 600], true));
    assert_eq!(capacities(&partial), [1024; 4]);
    assert!(says(&partial, "Capacities: capacity-dmips-mhz is not in every CPU node"));
}

#[test]
fn idle_states_come_behind_wfi() {
    let state = Dt::node("cpu-sleep-0")
        .text("compatible", "arm,idle-state")
        .cells("phandle", &[0x50])
        .cells("entry-latency-us", &[40])
        .cells("exit-latency-us", &[100])
        .cells("min-residency-us", &[150]);
    let cluster = Dt::node("cluster-sleep-0-very-long")
        .cells("phandle", &[0x51])
        .cells("wakeup-latency-us", &[700])
        .cells("min-residency-us", &[1000]);
    let off = Dt::node("off").text("status", "disabled").cells("phandle", &[0x52]);
    let states = with(Dt::node("idle-states"), [state, cluster, off]);
    let first = cpu(0, 0).cells("cpu-idle-states", &[0x50, 0x51, 0x52]);
    let m = machine(&tree(vec![first, cpu(1, 1)], None).child(states));
    let found: Vec<_> = m
        .idle_states
        .iter()
        .map(|s| (s.name.as_str(), s.exit_latency_ns, s.target_residency_ns))
        .collect();
    let expected = [
        ("WFI", 1000, 1000),
        ("cpu-sleep-0", 140_000, 150_000),
        ("cluster-sleep-0", 700_000, 1_000_000),
    ];
    assert_eq!(found, expected);
    assert!(says(&m, "Idle states: those of CPUs 1 differ"));
    assert!(says(
        &machine(&tree(cpus(1), None)),
        "Idle states: cpu-idle-states is not in the node of CPU 0"
    ));
}

#[test]
fn seeds_for_fuzzing_are_machines() {
    let sockets = ["socket0", "socket1"].into_iter().zip([0, 2]);
    let sockets =
        sockets.map(|(name, first)| Dt::node(name).child(cluster("cluster0", first..first + 2)));
    let chained = vec![cpu(0, 0).cells("next-level-cache", &[9]), cache("l2", 9, 2, 512)];
    let trees = [
        ("arm64-flat", tree(cpus(2), None)),
        ("arm64-sockets", tree(cpus(4), map(sockets))),
        ("arm64-caches", tree(chained, None)),
        ("arm64-numa", numa(&[0, 0, 10, 0, 1, 15, 1, 1, 10])),
        ("arm64-big-little", big_little([400, 400, 600, 600], true)),
    ];
    for (name, tree) in trees {
        machine(&tree);
        seed("fdt", name, &tree.blob());
    }
}

proptest! {
    #[test]
    fn any_map_of_sockets_clusters_and_cores_reads_back(
        shape in prop::collection::vec(prop::collection::vec(1u32..4, 1..4), 1..4),
    ) {
        let mut next = 0;
        let mut expected = Vec::new();
        let mut sockets = Vec::new();
        for (package, clusters) in (0u32..).zip(&shape) {
            let mut socket = Dt::node(&format!("socket{package}"));
            for (id, &cores) in clusters.iter().enumerate() {
                socket = socket.child(cluster(&format!("cluster{id}"), next..next + cores));
                expected.extend((next..next + cores).map(|c| (c, Some(next), package)));
                next += cores;
            }
            sockets.push(socket);
        }
        let m = machine(&tree(cpus(next), map(sockets)));
        prop_assert_eq!(places(&m), expected);
    }

    #[test]
    fn arbitrary_cells_never_panic(
        property in prop::sample::select(&[
            "reg", "phandle", "next-level-cache", "cache-level", "capacity-dmips-mhz", "numa-node-id",
            "operating-points-v2", "cpu-idle-states", "cache-size", "d-cache-size", "d-cache-sets", "cpu", "status",
        ][..]),
        cells in prop::collection::vec(prop_oneof![0u32..10, Just(0x40), any::<u32>()], 0..5),
        matrix in prop::collection::vec(prop_oneof![0u32..4, 9u32..12, any::<u32>()], 0..9),
    ) {
        let nodes = vec![cpu(0, 0), cpu(1, 1).cells(property, &cells), cpu(2, 2)];
        let core = names("core1", 1).cells(property, &cells);
        let map = map([cluster("cluster0", 0..1).child(core).child(names("core2", 2))]);
        let distances = Dt::node("distance-map")
            .text("compatible", "numa-distance-map-v1")
            .cells("distance-matrix", &matrix);
        let memory = memory(0x4000_0000, 64).cells("numa-node-id", &[0]).cells(property, &cells);
        let tree = tree(nodes, map).child(distances).child(memory);
        if let Ok(m) = read(&tree.blob(), "t.dtb") {
            prop_assert_eq!(m.nodes.iter().map(|n| n.cpus.len()).sum::<usize>(), m.cpus.len());
            prop_assert!(m.nodes.iter().all(|n| n.distances.len() == m.nodes.len()));
            prop_assert!(m.caches.iter().all(|c| c.cpus.is_subset(&m.possible())));
        }
    }
}
