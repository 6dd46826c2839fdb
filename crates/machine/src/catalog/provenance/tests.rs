use super::*;
use crate::catalog::{FAMILIES, parse};

/// Rows whose number is known to be published though nobody wrote down where: file, row, and what the row says.
/// The sheet of hardware facts marks these, and no others, as published.
const DOCUMENT_NOT_RECORDED: &[(&str, &str, &str)] = &[
    ("power8", "cache[0]", "L1D 64 KB, lines of 128 bytes"),
    ("power8", "cache[2]", "L2 512 KB, lines of 128 bytes"),
    ("power8", "cache[3]", "L3 8 MB a core, lines of 128 bytes"),
    ("power8", "constants.smt_share_2", "SMT2: +60 %, a thread at about 80 %"),
    ("power9-big-core", "cache[0]", "L2 512 KB shared by the pair"),
    ("power9-big-core", "cache[1]", "L3 10 MB shared by the pair"),
    ("kunpeng920", "cache[3]", "L3 1 MB a core, shared by the node's die"),
    ("kunpeng920", "constants.nominal_khz", "2.6 GHz"),
    ("epyc-7742", "cache[0]", "L1D 32 KB"),
    ("epyc-7742", "cache[2]", "L2 512 KB"),
    ("epyc-7742", "cache[3]", "L3 16 MB a CCX of 4 cores"),
    ("epyc-7742", "constants.boost_khz", "boost 3.40 GHz"),
    ("epyc-7742", "constants.nominal_khz", "P0 2.25 GHz"),
    ("epyc-7742", "constants.tdp_w", "TDP 225 W"),
];

const NOT_RECORDED: &str = "document not recorded";

/// What a source can name so that a reader can open it.
const PLACES: &[&str] = &[
    "big-core study",
    "clusters study",
    "frequency study",
    "idler-LLC study",
    "prefetch-engine study",
    "Linux 6.12, arch/",
    "Linux 6.12, drivers/",
    "sysfs of a Kunpeng 920 (hwloc test suite, 128arm-2pa2n8cluster4co)",
    "device tree that skiboot makes of the powernv8 machine of QEMU",
];

/// Every row of every file: family, field, mark, source.
fn all() -> Vec<(&'static str, String, Mark, String)> {
    let mut all = Vec::new();
    for family in FAMILIES {
        let entry = parse(family.toml, family.name).unwrap();
        let rows = rows(&entry);
        all.extend(rows.into_iter().map(|(f, p)| (family.name, f, p.mark, p.source.to_string())));
    }
    all
}

#[test]
fn every_mark_of_every_file_has_a_source() {
    for family in FAMILIES {
        let lines = |start| family.toml.lines().filter(|line| line.starts_with(start)).count();
        let entry = parse(family.toml, family.name).unwrap();
        let rows = rows(&entry);
        assert_eq!(lines("mark ="), rows.len(), "{}: marks", family.name);
        assert_eq!(lines("source ="), rows.len() + 1, "{}: sources", family.name);
        for (field, row) in rows {
            assert!(row.source.trim().len() > 8, "{}: {field}: `{}`", family.name, row.source);
        }
    }
}

#[test]
fn published_rows_without_a_document_are_those_of_the_fact_sheet() {
    let mut found: Vec<(&str, String)> = all()
        .into_iter()
        .filter(|(_, _, mark, source)| *mark == Mark::Published && source.contains(NOT_RECORDED))
        .map(|(family, field, ..)| (family, field))
        .collect();
    let mut wanted: Vec<(&str, String)> =
        DOCUMENT_NOT_RECORDED.iter().map(|(family, row, _)| (*family, row.to_string())).collect();
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
}

#[test]
fn every_other_published_row_names_a_place_to_open() {
    for (family, field, mark, source) in all() {
        let named = PLACES.iter().any(|place| source.contains(place));
        let known = named || source.contains(NOT_RECORDED);
        assert!(mark != Mark::Published || known, "{family}: {field}: {source}");
        let believed = source.contains("believed") || source.contains("no document at hand");
        assert!(mark == Mark::Assumed || !believed, "{family}: {field}: {source}");
    }
}

/// The file of family `name` with `from` replaced by `to`.
fn error_with(name: &str, from: &str, to: &str) -> String {
    let family = FAMILIES.iter().find(|f| f.name == name).unwrap();
    assert!(family.toml.contains(from), "{from}");
    parse(&family.toml.replacen(from, to, 1), "t.toml").unwrap_err().to_string()
}

#[test]
fn a_variant_that_changes_counts_says_where_they_come_from() {
    let from = "cores = 4\nmark = \"assumed\"\n";
    assert_eq!(
        error_with("power8", from, "cores = 4\n"),
        "t.toml: variant.power8-16core: found one of mark and source, expected both or none"
    );
    assert_eq!(
        error_with("power8", "[variant.power8]\n", "[variant.power8]\npackages = 2\n"),
        "t.toml: variant.power8: found counts without mark and source, expected both beside the counts"
    );
    let m = crate::catalog::entry("kunpeng920-4node-128").unwrap().topology.unwrap();
    assert_eq!(m.mark, Mark::Published);
    assert!(m.source.starts_with("sysfs of a Kunpeng 920"), "{}", m.source);
}

#[test]
fn empty_sources_are_errors() {
    for (from, field) in [
        ("source = \"prefetch-engine study: 16 core", "variant.power8-16core.source"),
        ("source = \"Linux 6.12, drivers/cpuidle/cpuidle-powernv.c", "idle_state[0].source"),
        ("source = \"one node a chip", "topology.nodes.source"),
        (
            "source = \"the prefetch-engine study names no",
            "variant.power8-16core.constants.nominal_khz.source",
        ),
    ] {
        let error = error_with("power8", from, &format!("source = \"\" # {from}"));
        assert_eq!(error, format!("t.toml: {field}: found no text, expected some"));
    }
}
