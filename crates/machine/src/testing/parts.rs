//! Parts of random machines that span CPUs: caches, thread groups, NUMA nodes.

use super::{Draw, Frame, kinds};
use crate::cpuset::CpuSet;
use crate::model::{
    Cache, CacheKind, Cpu, Node, Origin, ThreadGroupProperty, ThreadGroups, sort_caches,
};

/// Whether cores are big cores of two small ones.
fn big_cores(frame: &Frame, draw: &Draw) -> bool {
    frame.power && frame.threads.is_multiple_of(2) && !draw.catalog
}

/// Threads of the two small cores of each core: every other one.
fn small_cores(frame: &Frame) -> Vec<[CpuSet; 2]> {
    let half = |core: &CpuSet, which: usize| core.iter().skip(which).step_by(2).collect();
    frame.thread_sets().iter().map(|core| [half(core, 0), half(core, 1)]).collect()
}

pub(super) fn thread_groups(frame: &Frame, draw: &Draw) -> Vec<ThreadGroups> {
    let mut all = Vec::new();
    if !big_cores(frame, draw) {
        return all;
    }
    for (core, groups) in (0u32..).zip(small_cores(frame)) {
        let groups = groups.to_vec();
        let other = ThreadGroupProperty::Other(draw.seed(0));
        for property in [ThreadGroupProperty::L1, ThreadGroupProperty::L2, other] {
            all.push(ThreadGroups { property, core, groups: groups.clone() });
        }
    }
    all
}

/// Caches of each level: L1 of a core or small core, L2 of a core or cluster, L3 of a die or package, and L4 of what
/// need not be a block of anything, all with some of their values unknown.
pub(super) fn caches(frame: &Frame, draw: &Draw) -> Vec<Cache> {
    let small = || small_cores(frame).concat();
    let pairs = frame.blocks(|core| core / 3);
    let levels = [
        (1, if big_cores(frame, draw) { small() } else { frame.thread_sets() }),
        (
            2,
            if draw.seed(1).is_multiple_of(2) {
                frame.thread_sets()
            } else {
                frame.blocks(|c| frame.cluster(c))
            },
        ),
        (
            3,
            frame.blocks(|c| {
                if draw.seed(2).is_multiple_of(2) { frame.die(c) } else { frame.package(c) }
            }),
        ),
        (4, pairs),
    ];
    let present = |level: u8| !draw.seed(usize::from(level)).is_multiple_of(4);
    let mut caches = Vec::new();
    for (level, sets) in levels.into_iter().filter(|(level, _)| present(*level)) {
        for kind in kinds(level, draw) {
            caches.extend(sets.iter().map(|cpus| cache(level, kind, cpus.clone(), draw)));
        }
    }
    sort_caches(&mut caches);
    caches
}

fn cache(level: u8, kind: CacheKind, cpus: CpuSet, draw: &Draw) -> Cache {
    let seed = draw.seed(usize::from(level) + 5);
    let value = |which: u32, value: u32| (seed >> which & 3 != 0).then_some(value);
    Cache {
        level,
        kind,
        size_kib: value(0, 1 << (seed % 20)),
        line_bytes: value(2, 64),
        ways: value(4, seed % 17),
        cpus,
        origin: if draw.catalog && level > 2 { Origin::Catalog } else { Origin::Firmware },
    }
}

/// One node for the machine, a package, a die or every third core, and nodes without CPUs behind or before them. Puts
/// the CPUs' nodes into `cpus`.
pub(super) fn nodes(frame: &Frame, draw: &Draw, cpus: &mut [Cpu]) -> Vec<Node> {
    let mut sets = match draw.nodes_at {
        0 => vec![CpuSet::first_n(frame.cpus())],
        1 => frame.blocks(|c| frame.package(c)),
        2 => frame.blocks(|c| frame.die(c)),
        _ => frame.blocks(|c| c % 3),
    };
    let empty = vec![CpuSet::EMPTY; draw.memory_only];
    let place = if draw.ids { 0 } else { sets.len() };
    sets.splice(place..place, empty);
    let count = sets.len();
    let step = 1 + draw.seed(14) % 3;
    let id = |place: usize| place as u32 * step;
    for (place, set) in sets.iter().enumerate() {
        for cpu in set.iter() {
            cpus[cpu].node = id(place);
        }
    }
    let distance = |a: usize, b: usize| match a == b {
        true => 10,
        false => 11 + (draw.seed(a.min(b)) + a.max(b) as u32) % 240,
    };
    let node = |(place, cpus): (usize, CpuSet)| Node {
        id: id(place),
        cpus,
        memory_kib: (!draw.seed(15).is_multiple_of(3)).then_some(u64::from(draw.seed(place)) * 64),
        distances: (0..count).map(|other| distance(place, other)).collect(),
    };
    sets.into_iter().enumerate().map(node).collect()
}
