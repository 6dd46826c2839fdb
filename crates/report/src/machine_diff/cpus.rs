//! The machine as a whole, and what is known of each CPU.

use super::{Diff, shown};
use machine::{Arch, Cpu, Firmware, Machine};

pub(super) fn machine(diff: &mut Diff<'_>) {
    let (a, b) = (diff.a, diff.b);
    diff.value("machine", "architecture", arch(a.arch), arch(b.arch));
    diff.value("machine", "firmware", firmware(a), firmware(b));
    diff.value("machine", "vendor", shown(a.vendor.as_ref()), shown(b.vendor.as_ref()));
    let control = |m: &Machine| shown(m.smt_control.as_ref());
    diff.value("machine", "SMT control", control(a), control(b));
    diff.value("CPUs", "number", a.cpus.len(), b.cpus.len());
    diff.value("CPUs", "online", a.online.clone(), b.online.clone());
}

/// Numbers that firmware or the kernel gives, and capacities; of CPUs that both machines have.
pub(super) fn attributes(diff: &mut Diff<'_>) {
    type Get = fn(&Cpu) -> Option<u32>;
    let attributes: [(&str, Get); 8] = [
        ("hardware id", |c| Some(c.hw_id)),
        ("package", |c| Some(c.package)),
        ("node", |c| Some(c.node)),
        ("position in the core", |c| Some(c.thread)),
        ("core_id", |c| c.ids.core),
        ("cluster_id", |c| c.ids.cluster),
        ("die_id", |c| c.ids.die),
        ("capacity", |c| c.capacity),
    ];
    for (what, get) in attributes {
        let values = |m: &Machine| -> Vec<Option<String>> {
            m.cpus.iter().map(|c| get(c).map(|v| v.to_string())).collect()
        };
        let (a, b) = (values(diff.a), values(diff.b));
        diff.by_cpu("CPUs", what, &a, &b);
    }
}

fn arch(arch: Arch) -> &'static str {
    match arch {
        Arch::Powerpc => "powerpc",
        Arch::Arm64 => "arm64",
        Arch::X86 => "x86",
        Arch::Other => "other",
    }
}

fn firmware(machine: &Machine) -> &'static str {
    match machine.firmware {
        Some(Firmware::Acpi) => "ACPI",
        Some(Firmware::DeviceTree) => "device tree",
        None => "not known",
    }
}
