use super::*;
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
        ("shared_by = \"core\"", "shared_by = \"die\"", "found unknown variant `die`"),
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

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in ".{0,200}") {
        let _ = parse(&text, "t.toml");
    }
}
