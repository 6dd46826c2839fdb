use super::*;
use crate::model::ThreadGroupProperty;
use proptest::prelude::*;

#[test]
fn every_machine_loads_under_its_own_name() {
    for name in names() {
        let machine = load(name).unwrap();
        assert_eq!(machine.name, name);
        assert_eq!(entry(name).unwrap().title, machine.title);
    }
}

#[test]
fn every_constant_has_unit_and_source() {
    for name in names() {
        for (constant, value) in load(name).unwrap().constants.iter() {
            assert!(!value.unit.trim().is_empty(), "{name}: {constant}");
            assert!(!value.source.trim().is_empty(), "{name}: {constant}");
        }
    }
}

#[test]
fn power9_has_two_big_cores_of_two_small_cores() {
    let m = load("power9-big-core").unwrap();
    assert_eq!((m.cpus.len(), m.cores(), m.nodes.len()), (16, vec![0, 1], 1));
    assert_eq!(m.core_cpus(9).to_string(), "8-15");
    assert_eq!(m.small_core_siblings(0).unwrap().to_string(), "0,2,4,6");
    assert_eq!(m.small_core_siblings(9).unwrap().to_string(), "9,11,13,15");
    assert_eq!(m.package_cpus(0), m.possible());
    assert_eq!(m.node_cpus(0), m.possible());
    assert_eq!(m.nodes[0].memory_kib, Some(2 << 20));
    let idle: Vec<&str> = m.idle_states.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(idle, ["snooze", "stop0_lite", "stop0", "stop1"]);
    assert_eq!(m.constants.value("nominal_khz"), Ok(3_800_000.0));
}

#[test]
fn power9_caches_are_firmware_s_first_level_and_the_catalog_s_others() {
    let m = load("power9-big-core").unwrap();
    let shape: Vec<_> = m
        .caches
        .iter()
        .filter(|c| c.kind != CacheKind::Instruction)
        .map(|c| (c.level, c.size_kib, c.line_bytes, c.cpus.to_string(), c.origin))
        .collect();
    let row =
        |level, kib, cpus: &str, origin| (level, Some(kib), Some(128), cpus.to_string(), origin);
    assert_eq!(
        shape,
        [
            row(1, 32, "0,2,4,6", Origin::Firmware),
            row(1, 32, "1,3,5,7", Origin::Firmware),
            row(1, 32, "8,10,12,14", Origin::Firmware),
            row(1, 32, "9,11,13,15", Origin::Firmware),
            row(2, 512, "0-7", Origin::Catalog),
            row(2, 512, "8-15", Origin::Catalog),
            row(3, 10240, "0-7", Origin::Catalog),
            row(3, 10240, "8-15", Origin::Catalog),
        ]
    );
    assert!(!m.unknown.iter().any(|u| u == devicetree::NO_OUTER_CACHES));
}

#[test]
fn power9_in_lower_smt_modes() {
    let m = load("power9-big-core").unwrap();
    assert_eq!(m.with_smt(4).unwrap().online.to_string(), "0-3,8-11");
    let smt2 = m.with_smt(2).unwrap();
    assert_eq!(smt2.online.to_string(), "0-1,8-9");
    assert_eq!(smt2.small_core_siblings(0).unwrap().to_string(), "0");
}

/// A catalog file in which `from` is replaced by `to`, built with the tree of `power9-big-core`.
fn error_with(from: &str, to: &str) -> String {
    let files = files("power9-big-core").unwrap();
    assert!(files.toml.contains(from), "{from}");
    let entry = parse(&files.toml.replace(from, to), "t.toml");
    entry.and_then(|e| build(e, "t.toml", files.device_trees)).unwrap_err().to_string()
}

#[test]
fn errors_name_the_field_or_line() {
    for (from, to, wanted) in [
        ("title = ", "titel = ", "t.toml: line 2: found unknown field `titel`"),
        ("unit = \"kHz\"", "unit = \" \"", "t.toml: constants.nominal_khz.unit: found no text"),
        ("value = 3800000", "value = nan", "constants.nominal_khz.value: found NaN"),
        (
            "size_kib = 512",
            "size_kib = 0",
            "t.toml: cache[0]: found level, size_kib or line_bytes of 0",
        ),
        (
            "level = 2\nkind = \"unified\"",
            "level = 1\nkind = \"data\"",
            "cache[0]: found a level-1",
        ),
        (
            "power9-big-core.dtb",
            "x.dtb",
            "device_tree: found `x.dtb`, expected power9-big-core.dtb",
        ),
        ("device_tree = \"power9-big-core.dtb\"", "", "t.toml: device_tree: found none"),
        ("shared_by = \"core\"", "shared_by = \"book\"", "found unknown variant `book`"),
    ] {
        let error = error_with(from, to);
        assert!(error.contains(wanted), "{error}");
    }
    let error = load("power9").unwrap_err().to_string();
    assert!(error.starts_with("machine `power9`: found no such machine in the catalog"), "{error}");
}

#[test]
fn small_cores_need_thread_groups() {
    let files = files("power9-big-core").unwrap();
    let toml = files.toml.replace("shared_by = \"core\"", "shared_by = \"small-core\"");
    let tree = crate::devicetree::testing::machine(vec![crate::devicetree::testing::core(&[0, 1])]);
    let blob = tree.blob();
    let build =
        |blob| build(parse(&toml, "t.toml").unwrap(), "t.toml", &[("power9-big-core.dtb", blob)]);
    let error = build(blob.as_slice()).unwrap_err().to_string();
    assert!(
        error.contains("cache[0].shared_by: found small-core, expected a machine with"),
        "{error}"
    );
    let machine = build(files.device_trees[0].1).unwrap();
    let l2: Vec<_> = machine.caches.iter().filter(|c| c.level == 2).collect();
    assert_eq!((l2.len(), l2[1].cpus.to_string().as_str()), (4, "1,3,5,7"));
}

#[test]
fn files_hold_the_machines_of_the_table() {
    for family in FAMILIES {
        let file = parse(family.toml, family.name).unwrap();
        assert_eq!(file.name, family.name);
        let variants: Vec<&str> = file.variant.keys().map(String::as_str).collect();
        match variants.is_empty() {
            true => assert_eq!(family.machines, [family.name]),
            false => assert_eq!(family.machines, variants),
        }
    }
}

#[test]
fn epyc_is_the_frequency_study_s() {
    let m = load("epyc-7742-2s-nps1").unwrap();
    assert_eq!((m.cores().len(), m.cpus.len()), (128, 256));
    assert_eq!(m.core_cpus(0).to_string(), "0,128");
    let l3: Vec<_> = m.caches.iter().filter(|c| c.level == 3).collect();
    assert_eq!((l3.len(), l3[31].cpus.to_string().as_str()), (32, "124-127,252-255"));
    assert_eq!(l3[0].size_kib, Some(16384));
    let policy = &m.policies[0];
    assert_eq!((policy.min_khz, policy.max_khz, m.policies.len()), (1_500_000, 2_250_000, 256));
    let midpoint = (policy.max_khz as f64 + m.constants.value("boost_khz").unwrap()) / 2.0;
    assert_eq!(m.constants.value("invariance_midpoint_khz"), Ok(midpoint));
    let nodes = |name: &str| -> Vec<(String, Vec<u32>)> {
        load(name)
            .unwrap()
            .nodes
            .iter()
            .map(|n| (n.cpus.to_string(), n.distances.clone()))
            .collect()
    };
    assert_eq!(nodes("epyc-7742-1s-nps1"), [("0-127".to_string(), vec![10])]);
    assert_eq!(nodes("epyc-7742-2s-nps2")[1], ("32-63,160-191".to_string(), vec![12, 10, 32, 32]));
    let nps4 = nodes("epyc-7742-2s-nps4");
    assert_eq!(nps4[0], ("0-15,128-143".into(), vec![10, 12, 12, 12, 32, 32, 32, 32]));
    let memory = |name: &str| load(name).unwrap().constants.value("memory_latency_ns").unwrap();
    assert_eq!((memory("epyc-7742-1s-nps1"), memory("epyc-7742-2s-nps4")), (128.0, 119.0));
}

#[test]
fn kunpeng_is_the_clusters_study_s() {
    for (name, cpus, nodes) in [("1node", 24, 1), ("2node", 48, 2), ("4node", 96, 4)] {
        let m = load(&format!("kunpeng920-{name}")).unwrap();
        assert_eq!((m.cpus.len(), m.nodes.len()), (cpus, nodes));
        assert_eq!(m.node_cpus(0).to_string(), "0-23");
        assert_eq!(m.cluster_cpus(5).unwrap().to_string(), "4-7");
        let l3 = m.caches.iter().find(|c| c.level == 3).unwrap();
        assert_eq!((l3.cpus.clone(), l3.size_kib), (m.node_cpus(0), Some(24 << 10)));
    }
    let m = load("kunpeng920-4node-128").unwrap();
    assert_eq!(m.nodes[3].distances, [33, 32, 16, 10]);
    assert_eq!(m.package_cpus(0).to_string(), "0-63");
}

#[test]
fn power8_and_power10_are_their_studies() {
    let m = load("power8").unwrap();
    assert_eq!((m.cores().len(), m.cpus.len()), (24, 192));
    let ids: Vec<u32> = m.nodes.iter().map(|n| n.id).collect();
    assert_eq!((ids, m.cpus[191].node), (vec![0, 1, 16, 17], 17));
    assert_eq!(load("power8-16core").unwrap().cores().len(), 16);
    let m = load("power10-8core").unwrap();
    assert_eq!((m.cores().len(), m.nodes.len()), (8, 1));
    for property in [ThreadGroupProperty::L1, ThreadGroupProperty::L2] {
        assert_eq!(m.thread_group(9, property).unwrap().to_string(), "9,11,13,15");
    }
    let l2 = m.caches.iter().find(|c| c.level == 2).unwrap();
    assert_eq!(l2.cpus.to_string(), "0,2,4,6");
}

/// The first machine of family `name`, whose file has `from` replaced by `to`.
fn varied(name: &str, from: &str, to: &str) -> Result<Machine, MachineError> {
    let files = FAMILIES.iter().find(|f| f.name == name).unwrap();
    assert!(files.toml.contains(from), "{from}");
    let entry = parse(&files.toml.replacen(from, to, 1), "t.toml")?;
    build(topology::apply(entry, files.machines[0], "t.toml")?, "t.toml", files.device_trees)
}

#[test]
fn errors_of_shapes_name_the_field() {
    for (from, to, wanted) in [
        ("packages = 1", "packages = 0", "t.toml: topology: found Counts"),
        ("{ cores = 4 }", "{ cores = 7 }", "cache[3].shared_by: found runs of 7 cores"),
        ("seen_by_kernel = true\n", "", "cache[0].seen_by_kernel: found None"),
        ("size_kib = 32\n", "", "t.toml: cache[0]: found both sizes, none, or one too large"),
        ("same_package = 12\n", "", "topology.nodes: found both forms of distances"),
        ("[2250000, 2000000", "[2000000, 2250000", "frequency.available_khz: found [2000000"),
        (
            "per = \"thread\"",
            "per = \"cluster\"",
            "frequency.per: found cluster, expected a machine",
        ),
        ("vendor =", "vender =", "found unknown field `vender`"),
    ] {
        let error = varied("epyc-7742", from, to).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
    let files = files("epyc-7742-1s-nps1").unwrap();
    let file = parse(files.toml, "t.toml").unwrap();
    let error = topology::apply(file, "epyc", "t.toml").unwrap_err().to_string();
    assert!(
        error.starts_with("t.toml: variant: found no `epyc`, expected one of epyc-"),
        "{error}"
    );
}

proptest! {
    /// A damaged file is an error or a machine, never a panic.
    #[test]
    fn mutated_files_never_panic(at in 0usize..4000, with in "[0-9\\[\\]\"a-z=.]{0,3}", family in 0usize..5) {
        let files = &FAMILIES[family];
        let mut text = files.toml.to_string();
        let at = at % text.len();
        text.replace_range(at..(at + with.len()).min(text.len()), &with);
        let _ = parse(&text, "t.toml")
            .and_then(|e| topology::apply(e, files.machines[0], "t.toml"))
            .and_then(|e| build(e, "t.toml", files.device_trees));
    }

    #[test]
    fn arbitrary_text_never_panics(text in ".{0,200}") {
        let _ = parse(&text, "t.toml");
    }
}
