//! What cannot be is one line.

use crate::rig::*;
use kernel::{Kernel, Version};
use setting::{HotplugStep, Prefetch, Rate, Setting};
use sim::Scenario;
use sim::hypervisor::Hypervisor;
use workload::kvm::{self, Params};

fn refused(change: impl Fn(&mut Params)) -> String {
    let mut p = params(vec![partition(1, 2, chase(64.0))]);
    change(&mut p);
    hypervisor(&power8(), &p, Logs::L2, Prefetch::default()).err().unwrap_or_default()
}

#[test]
fn parameters_are_named() {
    for (found, wanted) in [
        (
            refused(|p| p.subcores_per_core = 3),
            "kvm: subcores_per_core: found 3, expected 1, 2 or 4",
        ),
        (
            refused(|p| p.one_set_in = 12),
            "kvm: one_set_in: found 12, expected 1, 2, 4, 8, 16 or 32",
        ),
        (
            refused(|p| (p.threads_per_vcore, p.subcores_per_core) = (4, 4)),
            "kvm: threads_per_vcore: found 4, expected 1 to the hardware threads of a subcore (8 of a core over subcores_per_core)",
        ),
        (
            refused(|p| p.partitions.clear()),
            "kvm: guest: found 0, expected 1 to 64 partitions in all",
        ),
        (
            refused(|p| p.partitions = vec![partition(1, 1, apache())]),
            "kvm: guest.vcpus: found 1, expected at least 2 with apache_bench: the client has one of its own",
        ),
        (
            refused(|p| p.partitions = vec![partition(1, 1, chase(0.0))]),
            "kvm: working_set_kib: found 0, expected 0.125 to 1e7",
        ),
    ] {
        assert!(found.starts_with(wanted), "{found}");
    }
}

#[test]
fn hosts_without_what_it_takes_are_named() {
    let p = params(vec![partition(1, 2, chase(64.0))]);
    let of = |machine: &machine::Machine, p: &Params| {
        hypervisor(machine, p, Logs::L2, Prefetch::default()).err().unwrap_or_default()
    };
    let power9 = machine::catalog::load("power9-big-core").expect("a machine");
    assert!(of(&power9, &p).contains("constant `l1i_ways` is missing"), "{}", of(&power9, &p));
    let mut few = power8();
    few.constants = few.constants.scaled("most_subcores_per_core", 0.5);
    let split = Params { subcores_per_core: 4, ..p.clone() };
    assert_eq!(
        of(&few, &split),
        "partitions: subcores_per_core: found 4, expected at most 2 on `power8-16core`"
    );
    let mut large = power8();
    large.constants = large.constants.scaled("prefetch_log_l2_kib", 2.0);
    assert_eq!(
        of(&large, &p),
        "machine `power8-16core`: log table: size: found 65536 bytes, expected at most 32768"
    );
    let slow = Prefetch { rate: Rate::Every32, log_cycles: None };
    assert_eq!(
        hypervisor(&power8(), &p, Logs::Nothing, slow).err().unwrap_or_default(),
        "partitions: prefetch: found it without the engine, expected it with the mechanism l2-prefetch-engine"
    );
}

#[test]
fn memory_beyond_the_last_line_number_is_refused() {
    let p = params(vec![partition(8, 1, stream(900_000.0))]);
    let h = hypervisor(&power8(), &p, Logs::L2, Prefetch::default()).expect("a host");
    let error = h.run(1).expect_err("an error").to_string();
    assert!(error.starts_with("partitions: partition: found 17"), "{error}");
    assert!(error.ends_with("of memory, expected at most 1073741822 times one_set_in"), "{error}");
}

#[test]
fn partitions_are_the_hypervisor_s_and_nothing_else_is() {
    let p = params(vec![partition(1, 2, chase(64.0))]);
    let kernel = Kernel::new(Version::new(4, 18));
    let workload = || kvm::build(&p, &kvm::Costs).expect("a workload");
    let error = Scenario::new(&power8(), &kernel, workload()).expect_err("an error").to_string();
    assert!(error.starts_with("partitions: workload: found partitions"), "{error}");
    let hotplug = vec![HotplugStep { at_ns: 1, cpu: 8, online: false }];
    let setting = Setting { hotplug, ..Setting::default() };
    let error = Hypervisor::new(&power8(), &kernel, workload(), &setting).expect_err("an error");
    assert!(error.to_string().starts_with("partitions: variant: found hotplug"), "{error}");
    let none = Hypervisor::new(&power8(), &kernel, Default::default(), &Setting::default());
    let error = none.expect_err("an error").to_string();
    assert_eq!(error, "partitions: workload: found none, expected a workload with partitions");
}
