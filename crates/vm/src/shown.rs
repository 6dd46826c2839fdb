//! What a guest cannot show of a machine: the two machines side by side, level by level.

use crate::board::{Board, cache_cpus};
use machine::{CpuSet, Machine, ThreadGroupProperty};

/// Sets of CPUs by CPU; `None` where a CPU is in none.
type Sets = Vec<Option<CpuSet>>;
/// A CPU's set at a level.
type Level<'a> = &'a dyn Fn(&Machine, usize) -> Option<CpuSet>;

/// What of the board's machine `guest` does not show, a line each, for people.
pub fn in_words(board: &Board, guest: &Machine) -> String {
    let mut lost = losses(board, guest);
    lost.push("clocks, cache sizes, idle states and costs: a guest has QEMU's".to_owned());
    lost.into_iter()
        .fold("A guest cannot show:\n".to_owned(), |text, line| text + "  " + &line + "\n")
}

/// Sentences that say what of the board's machine `guest`, as its firmware describes it, does not have, or has
/// otherwise. CPU numbers are the guest's.
fn losses(board: &Board, guest: &Machine) -> Vec<String> {
    let wanted = &board.machine;
    let mut out: Vec<String> = numbering(&board.order).into_iter().collect();
    let each = |machine: &Machine, sets: Level| -> Sets {
        (0..machine.cpus.len()).map(|cpu| sets(machine, cpu)).collect()
    };
    let levels: [(&str, Level); 9] = [
        ("packages", &|m, c| Some(m.package_cpus(c))),
        ("dies", &|m, c| Some(m.die_cpus(c))),
        ("clusters", &|m, c| m.cluster_cpus(c)),
        ("cores", &|m, c| Some(m.core_cpus(c))),
        ("small cores", &|m, c| m.thread_group(c, ThreadGroupProperty::L1)),
        ("thread groups with an L2", &|m, c| m.thread_group(c, ThreadGroupProperty::L2)),
        ("level-2 caches", &|m, c| cache_cpus(m, 2, c)),
        ("level-3 caches", &|m, c| cache_cpus(m, 3, c)),
        ("NUMA nodes", &|m, c| Some(m.node_cpus(c))),
    ];
    for (what, sets) in levels {
        let (machine, guest) = (each(wanted, sets), each(guest, sets));
        if machine != guest {
            out.push(format!(
                "{what}: {} of the machine, {} of the guest",
                named(&machine),
                named(&guest)
            ));
        }
    }
    out.extend(distances(wanted, guest));
    if wanted.nodes.iter().any(|n| n.cpus.is_empty()) {
        out.push("NUMA nodes without CPUs: the guest has none".to_owned());
    }
    out
}

fn numbering(order: &[usize]) -> Option<String> {
    let other = order.iter().enumerate().filter(|(n, cpu)| n != *cpu);
    let pairs: Vec<String> = other.map(|(n, cpu)| format!("{n} is {cpu}")).collect();
    match &pairs[..] {
        [] => None,
        [first, second, third, _, ..] => Some(format!(
            "CPU numbers: the guest's {first}, {second}, {third} and so on ({} CPUs): QEMU numbers cores one after another",
            pairs.len()
        )),
        few => Some(format!("CPU numbers: the guest's {}", few.join(", "))),
    }
}

/// The distinct sets, or how many they are.
fn named(sets: &Sets) -> String {
    let mut distinct: Vec<CpuSet> = Vec::new();
    sets.iter().flatten().for_each(|set| {
        if !distinct.contains(set) {
            distinct.push(set.clone());
        }
    });
    match &distinct[..] {
        [] => "none".to_owned(),
        few if few.len() <= 4 => few.iter().map(CpuSet::to_string).collect::<Vec<_>>().join(" "),
        [first, .., last] => format!("{} from {first} to {last}", distinct.len()),
        [one] => one.to_string(),
    }
}

/// Distances between nodes with CPUs.
fn distances(wanted: &Machine, guest: &Machine) -> Option<String> {
    let table = |machine: &Machine| -> Vec<Vec<u32>> {
        let with_cpus: Vec<usize> =
            (0..machine.nodes.len()).filter(|&n| !machine.nodes[n].cpus.is_empty()).collect();
        let row = |&n: &usize| {
            let distances = &machine.nodes[n].distances;
            with_cpus.iter().filter_map(|&to| distances.get(to).copied()).collect()
        };
        with_cpus.iter().map(row).collect()
    };
    let (wanted, guest) = (table(wanted), table(guest));
    (wanted != guest && wanted.len() == guest.len())
        .then(|| format!("distances of nodes: {wanted:?} of the machine, {guest:?} of the guest"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Vec<String> {
        let board = Board::of(&machine::catalog::load(name).unwrap(), false).unwrap();
        losses(&board, &machine::qemu::read(&board.spec()).unwrap())
    }

    #[test]
    fn caches_that_the_guest_is_not_told_of() {
        let lost = of("kunpeng920-1node");
        assert_eq!(lost.len(), 2, "{lost:?}");
        assert_eq!(lost[1], "level-3 caches: 0-23 of the machine, none of the guest");
    }

    #[test]
    fn core_complexes_are_dies_of_the_guest() {
        let lost = of("epyc-7742-1s-nps1");
        assert!(lost.iter().all(|l| !l.contains("level-3")), "{lost:?}");
        assert!(lost[1].starts_with("dies: 0-127 of the machine, 16 from 0-7 to "), "{lost:?}");
    }

    #[test]
    fn siblings_that_are_far_apart_are_renumbered() {
        let lost = of("epyc-7742-1s-nps1");
        assert!(
            lost[0].starts_with("CPU numbers: the guest's 1 is 64, 2 is 1, 3 is 65 and so on"),
            "{lost:?}"
        );
    }
}
