//! Bytes and where they go.

use super::*;
use proptest::prelude::*;
use workload::Nodes;

/// As many nodes as latencies are square; another node is twice as far.
fn pages(nodes: u32) -> Pages {
    let far = |(a, b): (u32, u32)| if a == b { 100.0 } else { 200.0 };
    let pairs = (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b)));
    Pages {
        node_ids: (0..nodes).collect(),
        latency_ns: pairs.map(far).collect(),
        tasks: vec![],
        balanced: false,
    }
}

fn used(set_bytes: f64, stream_set_bytes: f64, placement: Placement) -> MemoryUse {
    MemoryUse {
        working_set_bytes: set_bytes,
        touches_per_kcycle: 1.0,
        overlap: 1.0,
        stream_bytes_per_kcycle: 1.0,
        stream_set_bytes,
        placement,
    }
}

const TASK: TaskId = TaskId(0);
const MIB: f64 = 1024.0 * 1024.0;

fn on(pages: &Pages, part: Part) -> Vec<f64> {
    let region = &pages.of(TASK).expect("memory").regions[part as usize];
    (0..pages.nodes()).map(|node| region.on(node)).collect()
}

/// What streams through a buffer while it moves leaves the first half where it was and the second where it is.
#[test]
fn a_buffer_lies_where_it_was_when_it_got_there() {
    let mut p = pages(2);
    p.begin(TASK, &used(4096.0, 64.0 * MIB, Placement::Default));
    p.touch(TASK, 0, 0.0, 16.0 * MIB);
    assert_eq!(p.share(TASK, Part::Stream, 1, 0), 0.25);
    assert_eq!(p.share(TASK, Part::Stream, 1, 1), 0.75);
    p.touch(TASK, 1, 0.0, 500.0 * MIB);
    assert_eq!(on(&p, Part::Stream), [16.0 * MIB, 48.0 * MIB]);
}

/// A set of 256 pages: after as many touches, a part exp(-1) has not been touched.
#[test]
fn a_set_fills_as_it_is_touched() {
    let mut p = pages(2);
    p.begin(TASK, &used(MIB, 0.0, Placement::Default));
    assert_eq!(p.mean_latency_ns(TASK, 0), 100.0);
    p.touch(TASK, 0, 256.0, 0.0);
    let there = 1.0 - libm::exp(-1.0);
    assert!((p.share(TASK, Part::Set, 1, 0) - there).abs() < 1e-12);
    assert!((p.mean_latency_ns(TASK, 1) - 100.0 * (1.0 + there)).abs() < 1e-9);
    p.touch(TASK, 0, 1e6, 0.0);
    assert_eq!((p.mean_latency_ns(TASK, 0), p.mean_latency_ns(TASK, 1)), (100.0, 200.0));
}

#[test]
fn placements_are_kept_to() {
    for (placement, expected) in [
        (Placement::Interleave(Nodes::ALL), [0.25, 0.25, 0.25, 0.25]),
        (Placement::Bind(Nodes::single(2)), [0.0, 0.0, 1.0, 0.0]),
        (Placement::Bind(Nodes::ALL), [0.0, 1.0, 0.0, 0.0]),
        (Placement::Default, [0.0, 1.0, 0.0, 0.0]),
    ] {
        let mut p = pages(4);
        p.begin(TASK, &used(4.0 * MIB, 0.0, placement));
        for touches in [0.0, 1.0, 1e3, 1e6] {
            p.touch(TASK, 1, touches, 0.0);
            let shares: Vec<f64> = (0..4).map(|node| p.share(TASK, Part::Set, 1, node)).collect();
            assert_eq!(shares, expected, "{placement} after {touches}");
        }
    }
}

#[test]
fn another_use_of_the_same_memory_keeps_its_pages() {
    let mut p = pages(2);
    let first = used(MIB, 0.0, Placement::Default);
    p.begin(TASK, &first);
    p.touch(TASK, 0, 1e6, 0.0);
    p.begin(TASK, &MemoryUse { touches_per_kcycle: 5.0, ..first });
    assert_eq!(p.share(TASK, Part::Set, 1, 0), 1.0);
    p.begin(TASK, &MemoryUse { working_set_bytes: 2.0 * MIB, ..first });
    assert_eq!(p.share(TASK, Part::Set, 1, 0), 0.0);
    p.end(TASK);
    assert!(p.of(TASK).is_none());
}

proptest! {
    /// However a task moves, its bytes are on nodes or not touched yet, and shares are parts of a whole.
    #[test]
    fn no_byte_is_lost(
        set in 1.0f64..1e10, stream in 0.0f64..1e10, which in 0usize..4,
        steps in prop::collection::vec((0u16..4, 0.0f64..1e6, 0.0f64..1e9), 1..40),
    ) {
        let placement = [
            Placement::Default,
            Placement::Interleave(Nodes::ALL),
            Placement::Interleave(Nodes::single(3)),
            Placement::Bind(Nodes::single(2)),
        ][which];
        let mut p = pages(4);
        p.begin(TASK, &used(set, stream, placement));
        for (here, touches, bytes) in steps {
            p.touch(TASK, here, touches, bytes);
            for part in [Part::Set, Part::Stream] {
                let region = &p.of(TASK).expect("memory").regions[part as usize];
                let all: f64 = on(&p, part).iter().sum::<f64>() + region.untouched_bytes();
                prop_assert!((all - region.bytes).abs() <= 1e-9 * region.bytes);
                let shares: f64 = (0..4).map(|node| p.share(TASK, part, here, node)).sum();
                prop_assert!((shares - 1.0).abs() < 1e-9);
            }
        }
    }
}

/// The same pages, which NUMA balancing may unmap.
fn balanced(nodes: u32) -> Pages {
    Pages { balanced: true, ..pages(nodes) }
}

fn scan(skip: Option<u16>) -> Scan {
    Scan {
        offset_bytes: 0.0,
        seq: 0,
        skip,
        jiffies: 0,
        new_waits: None,
        unmapped_bytes: 0.0,
        unmapped_entries: 0.0,
    }
}

/// A gigabyte takes four scans, each of pages that none has seen before, whatever became of the others meanwhile.
#[test]
fn a_round_of_scans_sees_every_page_once() {
    let mut p = balanced(2);
    p.begin(TASK, &used(1024.0 * MIB, 0.0, Placement::Default));
    p.touch(TASK, 0, 1e9, 0.0);
    let mut s = scan(Some(1));
    for round in 1..=4 {
        p.scan(&[TASK], &mut s);
        assert!((s.unmapped_bytes - f64::from(round) * SCAN_BYTES).abs() < 1.0, "{s:?}");
        let mut hints = Vec::new();
        p.take_hints(TASK, 1, (1e9, 0.0), &mut hints);
        let [hint] = hints[..] else { panic!("{hints:?}") };
        assert_eq!((hint.node, hint.last, hint.bytes), (0, None, SCAN_BYTES));
        p.migrate(TASK, Part::Set, 0, 1, hint.bytes);
    }
    assert_eq!(on(&p, Part::Set), [0.0, 1024.0 * MIB]);
    // What is left is a buffer that nobody has touched; then another round passes over what is on the node to skip.
    p.scan(&[TASK], &mut s);
    assert_eq!((s.seq, s.unmapped_bytes), (1, 4.0 * SCAN_BYTES));
    p.scan(&[TASK], &mut s);
    assert_eq!((s.seq, s.unmapped_bytes), (2, 4.0 * SCAN_BYTES));
}

/// What is unmapped of a buffer is met as it is gone through.
#[test]
fn going_through_a_buffer_meets_what_is_unmapped_once() {
    let mut p = balanced(2);
    p.begin(TASK, &used(4096.0, 64.0 * MIB, Placement::Default));
    p.touch(TASK, 0, 0.0, 64.0 * MIB);
    let mut s = scan(None);
    p.scan(&[TASK], &mut s);
    assert_eq!((s.seq, s.unmapped_bytes), (1, 64.0 * MIB));
    for _ in 0..4 {
        let mut hints = Vec::new();
        p.take_hints(TASK, 0, (0.0, 16.0 * MIB), &mut hints);
        let bytes: f64 = hints.iter().map(|h| h.bytes).sum();
        assert_eq!((hints.len(), bytes), (1, 16.0 * MIB));
    }
    let mut hints = Vec::new();
    p.take_hints(TASK, 0, (0.0, 16.0 * MIB), &mut hints);
    assert_eq!(hints, []);
}

proptest! {
    /// Scans, faults and moves keep every byte on some node, and never unmap more than there is.
    #[test]
    fn balancing_loses_no_byte(
        set in 4096.0f64..1e10, stream in 0.0f64..1e10,
        steps in prop::collection::vec((0u16..3, 0.0f64..1e6, 0.0f64..1e10, any::<bool>()), 1..40),
    ) {
        let mut p = balanced(3);
        p.begin(TASK, &used(set, stream, Placement::Default));
        let mut s = scan(None);
        for (here, touches, bytes, moves) in steps {
            p.touch(TASK, here, touches, bytes);
            let mut hints = Vec::new();
            p.take_hints(TASK, here, (touches, bytes), &mut hints);
            for hint in hints.iter().filter(|h| moves && h.node != here) {
                p.migrate(TASK, hint.part, hint.node, here, hint.bytes);
            }
            p.scan(&[TASK], &mut s);
            for part in [Part::Set, Part::Stream] {
                let region = &p.of(TASK).expect("memory").regions[part as usize];
                let all: f64 = on(&p, part).iter().sum::<f64>() + region.untouched_bytes();
                let near = 1e-6 * region.bytes.max(1.0);
                prop_assert!((all - region.bytes).abs() <= near, "{all} of {}", region.bytes);
                prop_assert!(on(&p, part).iter().all(|&bytes| bytes >= -near));
                let hints = region.hints().expect("balanced");
                for node in 0..3 {
                    prop_assert!((hints.on(node) - region.on(node)).abs() <= near);
                }
                prop_assert!(hints.unmapped_bytes() <= region.bytes + near);
            }
        }
    }
}

proptest! {
    /// Sizes that no sum hits exactly: every scan ends, and a round of them sees all of several tasks once.
    #[test]
    fn a_round_of_scans_ends(parts in prop::collection::vec(1.0f64..3e8, 1..30)) {
        let mut p = balanced(2);
        let tasks: Vec<TaskId> = (0..parts.len() as u32).map(TaskId).collect();
        for (&task, &bytes) in tasks.iter().zip(&parts) {
            p.begin(task, &used(bytes, bytes / 3.0, Placement::Default));
            p.touch(task, 0, 1e12, 1e12);
        }
        let mut s = scan(None);
        while s.seq == 0 {
            p.scan(&tasks, &mut s);
        }
        let all: f64 = tasks.iter().map(|&t| p.touched_bytes(t)).sum();
        prop_assert!((s.unmapped_bytes / all - 1.0).abs() < 1e-6, "{} of {all}", s.unmapped_bytes);
    }
}
