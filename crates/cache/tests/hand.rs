//! Traces worked by hand: caches so small that every eviction can be followed.

use cache::{Access, Cache, Geometry, Hierarchy, Kind, Level, Shape};

fn geometry(name: &'static str, lines: u64, ways: u32) -> Geometry {
    Geometry { name, size_bytes: lines * 128, ways, line_bytes: 128 }
}

/// An L1 of 2 lines, an L2 of 4 and an L3 of 8, in sets of 2 ways.
fn tiny() -> Hierarchy {
    let shape = Shape {
        l1i: geometry("L1I", 2, 2),
        l1d: geometry("L1D", 2, 2),
        l2: geometry("L2", 4, 2),
        l3: geometry("L3", 8, 2),
    };
    Hierarchy::new(&shape, 1).expect("caches")
}

fn sorted(cache: &Cache) -> Vec<u32> {
    let mut lines: Vec<u32> = cache.lines().collect();
    lines.sort_unstable();
    lines
}

fn run(caches: &mut Hierarchy, trace: &[(u32, Kind)]) -> Vec<(Level, u32)> {
    let access = |&(line, kind): &(u32, Kind)| {
        let Access { level, writebacks, .. } = caches.access(line, kind);
        (level, writebacks)
    };
    trace.iter().map(access).collect()
}

#[test]
fn least_recent_lines_go_first() {
    let mut cache = Cache::new(&geometry("c", 4, 2), 1).expect("a cache");
    // Sets: even lines and odd ones.
    assert_eq!(cache.insert(0, false, false), None);
    assert_eq!(cache.insert(2, false, false), None);
    assert_eq!(cache.insert(1, false, false), None);
    assert!(cache.touch(0, true).is_some());
    assert_eq!(cache.insert(4, false, false).map(|e| (e.line, e.dirty)), Some((2, false)));
    assert_eq!(cache.insert(6, false, false).map(|e| (e.line, e.dirty)), Some((0, true)));
    assert_eq!((sorted(&cache), cache.most_recent(0)), (vec![1, 4, 6], Some(6)));
    assert_eq!(
        (cache.at(0), cache.at(1), cache.at(2), cache.at(3)),
        (Some(6), Some(4), Some(1), None)
    );
}

#[test]
fn what_falls_out_of_the_l2_is_found_in_the_l3_and_moves_up() {
    let mut caches = tiny();
    let read = |line| (line, Kind::Read);
    let (memory, l3, l2, l1) = ((Level::Memory, 0), (Level::L3, 0), (Level::L2, 0), (Level::L1, 0));
    // Even lines share a set of the L2. 4 pushes 0 out, because the L2 did not see the hit of 0 in the L1; for the same
    // reason 0 pushes 2 out when it comes back.
    let found = run(&mut caches, &[read(0), read(2), read(0), read(4), read(2), read(0)]);
    assert_eq!(found, [memory, memory, l1, memory, l1, l3]);
    assert_eq!((sorted(caches.l2()), sorted(caches.l3())), (vec![0, 4], vec![2]));
    // What goes out of the L2 goes out of the L1.
    assert_eq!(sorted(caches.l1d()), [0, 4]);
    // Odd lines push 0 and 4 out of the L1 alone.
    assert_eq!(run(&mut caches, &[read(1), read(3), read(4), read(2)]), [memory, memory, l2, l3]);
}

#[test]
fn instructions_have_an_l1_of_their_own_and_share_the_l2() {
    let mut caches = tiny();
    let found = run(&mut caches, &[(1, Kind::Fetch), (1, Kind::Fetch), (1, Kind::Read)]);
    assert_eq!(found, [(Level::Memory, 0), (Level::L1, 0), (Level::L2, 0)]);
    assert_eq!((sorted(caches.l1i()), sorted(caches.l1d())), (vec![1], vec![1]));
}

#[test]
fn stores_go_through_the_l1_and_dirty_lines_go_back_to_memory_once() {
    let mut caches = tiny();
    let write = |line| (line, Kind::Write);
    // A store does not fill the L1.
    assert_eq!(
        run(&mut caches, &[write(0), (0, Kind::Read), (0, Kind::Read)]),
        [(Level::Memory, 0), (Level::L2, 0), (Level::L1, 0)]
    );
    // Lines 0, 4, 8 ... share a set of both: the L2 keeps two, the L3 two more, the fifth pushes 0 out.
    let found = run(&mut caches, &[write(4), write(8), write(12), write(16)]);
    let memory = |writebacks| (Level::Memory, writebacks);
    assert_eq!(found, [memory(0), memory(0), memory(0), memory(1)]);
    // A line that was read only goes silently.
    let reads: Vec<(u32, Kind)> = [20, 24, 28, 32].map(|line| (line, Kind::Read)).to_vec();
    assert_eq!(run(&mut caches, &reads), [memory(1), memory(1), memory(1), memory(1)]);
    assert_eq!(run(&mut caches, &[(36, Kind::Read)]), [memory(0)]);
}
