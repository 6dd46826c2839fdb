use super::*;
use proptest::prelude::*;

fn counts(packages: u32, dies: u32, clusters: u32, cores: u32, threads: u32) -> Counts {
    Counts { packages, dies, clusters, modules: 1, cores, threads }
}

fn layout(counts: Counts, order: Order) -> Layout {
    Layout {
        arch: Arch::X86,
        counts,
        order,
        hw_ids: HwIds::Apic,
        cluster_cores: Some(counts.cores),
        dies_shown: true,
        nodes: Nodes {
            place: Place::Per(Span::Package),
            ids: None,
            memory_kib: Vec::new(),
            distances: Distances::Steps { same_package: 12, other_package: 32 },
        },
        thread_groups: Vec::new(),
        caches: Vec::new(),
        capacities: Vec::new(),
    }
}

fn error(layout: &Layout) -> String {
    layout.build("t", "t", "t").unwrap_err().to_string()
}

#[test]
fn threads_apart_number_every_core_s_first_thread_first() {
    let m = layout(counts(2, 2, 1, 3, 2), Order::ThreadsApart).build("t", "t", "t").unwrap();
    assert_eq!(m.core_cpus(0).to_string(), "0,12");
    assert_eq!(m.die_cpus(4).to_string(), "3-5,15-17");
    assert_eq!(m.package_cpus(23).to_string(), "6-11,18-23");
    assert_eq!(m.nodes[1].cpus.to_string(), "6-11,18-23");
    assert_eq!(m.nodes[0].distances, [10, 32]);
    // Fields of the APIC id: 1 bit package, 1 bit die, 2 bits core, 1 bit thread.
    assert_eq!(m.cpus[23].hw_id, 0b1_1101);
}

#[test]
fn caches_fall_to_the_units_that_share_them() {
    let mut shape = layout(counts(1, 1, 2, 4, 2), Order::ThreadsAdjacent);
    shape.thread_groups =
        vec![Grouping { property: ThreadGroupProperty::L1, groups: 2, interleaved: true }];
    let cache = |level, shared_by| CacheShape {
        level,
        kind: CacheKind::Unified,
        size_kib: None,
        line_bytes: None,
        ways: None,
        shared_by,
        origin: Origin::Firmware,
    };
    let spans = [Span::SmallCore, Span::Core, Span::Cores(2), Span::Cluster, Span::Node];
    shape.caches = (1..).zip(spans).map(|(level, span)| cache(level, span)).collect();
    let m = shape.build("t", "t", "t").unwrap();
    let of = |level| -> Vec<String> {
        let level = m.caches.iter().filter(|c| c.level == level);
        level.map(|c| c.cpus.to_string()).collect()
    };
    assert_eq!(of(1)[..3], ["0", "1", "2"]);
    assert_eq!(of(2)[..2], ["0-1", "2-3"]);
    assert_eq!(of(3), ["0-3", "4-7", "8-11", "12-15"]);
    assert_eq!(of(4), ["0-7", "8-15"]);
    assert_eq!(of(5), ["0-15"]);
    shape.caches = vec![cache(2, Span::Cores(3))];
    assert!(error(&shape).starts_with("t: cache[0].shared_by: found runs of 3 cores"));
}

#[test]
fn thread_groups_are_interleaved_or_runs() {
    let mut shape = layout(counts(1, 1, 1, 2, 8), Order::ThreadsAdjacent);
    let grouping =
        |groups, interleaved| Grouping { property: ThreadGroupProperty::L2, groups, interleaved };
    for (interleaved, wanted) in [(true, "9,11,13,15"), (false, "8-11")] {
        shape.thread_groups = vec![grouping(2, interleaved)];
        let m = shape.build("t", "t", "t").unwrap();
        let group = m.thread_group(9, ThreadGroupProperty::L2).unwrap();
        assert_eq!(group.to_string(), wanted);
        assert_eq!((m.thread_groups.len(), m.thread_groups[1].core), (2, 1));
    }
    shape.thread_groups = vec![grouping(3, true)];
    assert!(error(&shape).contains("thread_groups[0]: found 3 groups of 8 threads"));
}

#[test]
fn contradictions_are_errors() {
    let good = layout(counts(2, 1, 2, 4, 2), Order::ThreadsApart);
    let with = |change: &dyn Fn(&mut Layout)| {
        let mut layout = good.clone();
        change(&mut layout);
        error(&layout)
    };
    assert!(with(&|l| l.counts.cores = 0).contains("topology: found Counts"));
    assert!(with(&|l| l.counts.packages = u32::MAX).contains("expected 1 to 8192 CPUs"));
    assert!(with(&|l| l.cluster_cores = Some(3)).contains("clusters: found 3 cores a cluster"));
    assert!(with(&|l| l.nodes.ids = Some(vec![1, 0])).contains("nodes.ids: found [1, 0]"));
    assert!(with(&|l| l.nodes.memory_kib = vec![None]).contains("expected 2 values"));
    let sets = |a: &str, b: &str| Place::Sets(vec![a.parse().unwrap(), b.parse().unwrap()]);
    assert!(with(&|l| l.nodes.place = sets("0-15", "15-31")).contains("CPUs 15 in two nodes"));
    assert!(with(&|l| l.nodes.place = sets("0-15", "16-30")).contains("nodes: found CPUs 0-30"));
    let matrix = |rows: &[[u32; 2]]| Distances::Matrix(rows.iter().map(|r| r.to_vec()).collect());
    assert!(with(&|l| l.nodes.distances = matrix(&[[10, 20]])).contains("expected 2 rows of 2"));
    let local = with(&|l| l.nodes.distances = matrix(&[[10, 20], [10, 10]]));
    assert!(local.contains("found 10 in row 1, column 0"), "{local}");
    let twice = with(&|l| l.capacities = vec![(CpuSet::single(1), 1), (CpuSet::single(1), 2)]);
    assert!(twice.contains("capacities: found CPU 1, expected CPUs of the machine, each once"));
}

proptest! {
    /// Whatever the counts, CPUs fall into cores, clusters, dies, packages of the right sizes, each inside the next.
    #[test]
    fn units_nest(p in 1u32..4, d in 1u32..3, l in 1u32..4, c in 1u32..5, t in 1u32..5, apart: bool) {
        let counts = counts(p, d, l, c, t);
        let order = if apart { Order::ThreadsApart } else { Order::ThreadsAdjacent };
        let m = layout(counts, order).build("t", "t", "t").unwrap();
        prop_assert_eq!(m.cpus.len() as u32, p * d * l * c * t);
        let mut hw_ids: Vec<u32> = m.cpus.iter().map(|c| c.hw_id).collect();
        hw_ids.sort_unstable();
        hw_ids.dedup();
        prop_assert_eq!(hw_ids.len(), m.cpus.len());
        for cpu in 0..m.cpus.len() {
            let units = [
                (m.core_cpus(cpu), t),
                (m.cluster_cpus(cpu).unwrap(), t * c),
                (m.die_cpus(cpu), t * c * l),
                (m.package_cpus(cpu), t * c * l * d),
            ];
            for (set, size) in &units {
                prop_assert_eq!(set.len() as u32, *size);
            }
            prop_assert!(units.windows(2).all(|w| w[0].0.is_subset(&w[1].0)));
        }
    }
}
