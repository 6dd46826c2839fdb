//! Sched domains of the catalog's machines are what the studies say of them.

use kernel::{Kernel, MechanismId, Version};
use machine::catalog;

/// Levels and spans of CPU 0's domains.
fn of_cpu0(name: &str, kernel: &Kernel) -> Vec<(String, String)> {
    let machine = catalog::load(name).unwrap();
    let domains = kernel::build(&machine, kernel).unwrap();
    let of_cpu = domains.by_cpu[0].iter();
    of_cpu.map(|d| (d.name.to_string(), d.span.to_string())).collect()
}

fn rows(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|(name, span)| (name.to_string(), span.to_string())).collect()
}

#[test]
fn kunpeng_has_a_domain_for_each_cluster() {
    let kernel = Kernel::new(Version::new(5, 16)).with(MechanismId::SchedCluster, true);
    let found = of_cpu0("kunpeng920-4node", &kernel);
    assert_eq!(found[..2], rows(&[("CLS", "0-3"), ("MC", "0-23")]));
    assert!(found[2..].iter().all(|(name, _)| name == "NUMA"), "{found:?}");
    let without = of_cpu0("kunpeng920-4node", &kernel.with(MechanismId::SchedCluster, false));
    assert_eq!(without[0], found[1]);
}

#[test]
fn epyc_has_a_domain_for_each_core_complex() {
    let found = of_cpu0("epyc-7742-2s-nps1", &Kernel::new(Version::new(6, 12)));
    let wanted =
        [("SMT", "0,128"), ("MC", "0-3,128-131"), ("PKG", "0-63,128-191"), ("NUMA", "0-255")];
    assert_eq!(found, rows(&wanted));
}

#[test]
fn power10_s_last_level_cache_halves_with_l2_thread_groups() {
    let kernel = Kernel::new(Version::new(5, 11));
    let with = of_cpu0("power10-8core", &kernel);
    assert_eq!(with, rows(&[("SMT", "0,2,4,6"), ("DIE", "0-63")]));
    let without = of_cpu0("power10-8core", &kernel.with(MechanismId::L2ThreadGroups, false));
    assert_eq!(without, rows(&[("SMT", "0,2,4,6"), ("CACHE", "0-7"), ("DIE", "0-63")]));
}

#[test]
fn power8_s_last_level_cache_is_the_core() {
    let found = of_cpu0("power8", &Kernel::new(Version::new(4, 18)));
    assert_eq!(found[..2], rows(&[("SMT", "0-7"), ("DIE", "0-47")]));
}
