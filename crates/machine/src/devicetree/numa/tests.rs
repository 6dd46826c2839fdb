use crate::devicetree::read;
use crate::devicetree::testing::{Dt, core, machine};
use crate::model::Machine;

fn core_at(ids: &[u32], associativity: &[u32]) -> Dt {
    core(ids).cells("ibm,associativity", associativity)
}

fn memory(name: &str, gib: u32, associativity: &[u32]) -> Dt {
    Dt::node(name)
        .text("device_type", "memory")
        .cells("reg", &[0, 0, gib >> 2, gib << 30])
        .cells("ibm,associativity", associativity)
}

fn opal(points: &[u32]) -> Dt {
    Dt::node("ibm,opal").cells("ibm,associativity-reference-points", points)
}

fn distances(m: &Machine) -> Vec<(u32, Vec<u32>)> {
    m.nodes.iter().map(|n| (n.id, n.distances.clone())).collect()
}

fn error(tree: Dt) -> String {
    read(&tree.blob(), "t.dtb").unwrap_err().to_string()
}

#[test]
fn form_1_doubles_for_each_level_apart() {
    // Nodes 0 and 1 lie in one board (third value), node 8 in another; 4 holds the node.
    let tree = machine(vec![
        core_at(&[0], &[5, 0, 0, 0, 0, 1]),
        core_at(&[1], &[5, 0, 0, 0, 1, 2]),
        core_at(&[2], &[5, 0, 0, 7, 8, 3]),
    ])
    .child(opal(&[4, 3]))
    .child(memory("memory@0", 3, &[4, 0, 0, 0, 0]))
    .child(memory("memory@1", 8, &[4, 0, 0, 7, 8]))
    .child(memory("memory@2", 1, &[4, 0, 0, 7, 9]))
    .child(memory("memory@3", 1, &[4, 0, 0, 0, 0]));
    let m = read(&tree.blob(), "t.dtb").unwrap();
    assert_eq!(
        distances(&m),
        [
            (0, vec![10, 20, 40, 40]),
            (1, vec![20, 10, 40, 40]),
            (8, vec![40, 40, 10, 20]),
            (9, vec![40, 40, 20, 10]),
        ]
    );
    let rows: Vec<_> = m.nodes.iter().map(|n| (n.cpus.to_string(), n.memory_kib)).collect();
    let row = |cpus: &str, gib: u64| (cpus.to_string(), Some(gib << 20));
    assert_eq!(rows, [row("0", 4), row("1", 0), row("2", 8), row("", 1)]);
    assert_eq!(m.cpus.iter().map(|c| c.node).collect::<Vec<_>>(), [0, 1, 8]);
}

#[test]
fn form_2_takes_the_table() {
    let rtas = |table: &[u8]| {
        Dt::node("rtas")
            .cells("ibm,associativity-reference-points", &[1])
            .cells("ibm,numa-lookup-index-table", &[2, 0, 4])
            .bytes("ibm,numa-distance-table", table)
    };
    let chosen = |byte| Dt::node("chosen").bytes("ibm,architecture-vec-5", &[5, 0, 0, 0, 0, byte]);
    let cores = || machine(vec![core_at(&[0], &[2, 0, 0]), core_at(&[1], &[2, 4, 1])]);
    let table = [0, 0, 0, 4, 10, 33, 33, 10];

    let m = read(&cores().child(rtas(&table)).child(chosen(0xa0)).blob(), "t.dtb").unwrap();
    assert_eq!(distances(&m), [(0, vec![10, 33]), (4, vec![33, 10])]);
    let m = read(&cores().child(rtas(&table)).child(chosen(0x80)).blob(), "t.dtb").unwrap();
    assert_eq!(distances(&m), [(0, vec![10, 20]), (4, vec![20, 10])]);
    let m = read(&cores().child(rtas(&table)).blob(), "t.dtb").unwrap();
    assert_eq!(m.nodes[0].distances, [10, 33]);

    assert_eq!(
        error(cores().child(rtas(&table[..7]))),
        "t.dtb: /rtas ibm,numa-distance-table: \
         found 7 bytes, expected a count, then a byte for each pair of 2 nodes"
    );
    let form_0 = error(cores().child(rtas(&table)).child(chosen(0)));
    assert!(form_0.contains("/chosen ibm,architecture-vec-5: found byte 5 as Some(0) (form 0)"));
}

#[test]
fn what_has_no_node_goes_to_the_first() {
    let none = 0xffff_ffff;
    let tree = machine(vec![
        core_at(&[0], &[2, none, 0]),
        core_at(&[1], &[2, 3, 0]),
        core_at(&[2], &[2, 5, 0]),
        core(&[3]),
    ])
    .child(opal(&[1]))
    .child(memory("memory@0", 2, &[1, none]));
    let m = read(&tree.blob(), "t.dtb").unwrap();
    assert_eq!(m.cpus.iter().map(|c| c.node).collect::<Vec<_>>(), [3, 3, 5, 3]);
    assert_eq!(m.nodes[0].memory_kib, Some(2 << 20));
    assert_eq!(m.nodes[0].cpus.to_string(), "0-1,3");

    let m = read(&machine(vec![core_at(&[0], &[2, 1, 0])]).blob(), "t.dtb").unwrap();
    assert_eq!(distances(&m), [(0, vec![10])]);
    assert!(m.unknown.iter().any(|u| u.starts_with("NUMA nodes")), "{:?}", m.unknown);
    assert!(m.unknown.iter().any(|u| u.starts_with("Memory of NUMA")), "{:?}", m.unknown);
    assert_eq!(m.nodes[0].memory_kib, None);
}

#[test]
fn refuses_arrays_that_contradict_themselves() {
    let cpu = "t.dtb: /cpus/PowerPC,POWER9@0 ibm,associativity: ";
    let with = |cells: &[u32]| error(machine(vec![core_at(&[0], cells)]).child(opal(&[1])));
    assert_eq!(
        with(&[3, 0, 0]),
        format!(
            "{cpu}found 3 cells that start with Some(3), expected the number of values, then the values"
        )
    );
    assert_eq!(with(&[1, 256]), format!("{cpu}found NUMA node 256, expected a number below 256"));
    let zero = error(machine(vec![core(&[0])]).child(opal(&[0])));
    assert!(zero.contains("reference-points: found [0], expected at least one index"), "{zero}");
}

#[test]
fn refuses_memory_without_size() {
    let with = |node: Dt| error(machine(vec![core(&[0])]).child(node));
    let bare = Dt::node("memory@0").text("device_type", "memory");
    assert_eq!(
        with(bare),
        "t.dtb: /memory@0: found no reg, expected the memory's address and size"
    );
    let odd = Dt::node("memory@0").text("device_type", "memory").cells("reg", &[0, 0, 1]);
    assert!(with(odd).contains("found 3 cells, expected entries of 2 address and 2"));
    let huge = [0, 0, u32::MAX, 0, 0, 0, u32::MAX, 0];
    let huge = Dt::node("memory@0").text("device_type", "memory").cells("reg", &huge);
    assert!(with(huge).contains("found sizes beyond 2^64 bytes"));
}
