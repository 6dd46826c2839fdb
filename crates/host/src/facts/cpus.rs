//! What `/proc/cpuinfo` and `/sys/devices/system/cpu` say of the CPUs as such.

use super::files;
use machine::CpuSet;
use machine::cpuset::MAX_CPUS;
use std::path::Path;

/// Fields that identify a CPU on arm64, whose kernel knows no name.
const ARM64: [(&str, &str); 4] = [
    ("CPU implementer", "implementer"),
    ("CPU part", "part"),
    ("CPU variant", "variant"),
    ("CPU revision", "revision"),
];

/// Parts of the names that firmware of virtual machines gives its products and vendors.
const VIRTUAL: [&str; 11] = [
    "QEMU",
    "KVM",
    "VMware",
    "VirtualBox",
    "Virtual Machine",
    "HVM domU",
    "Bochs",
    "Parallels",
    "OpenStack",
    "Google Compute Engine",
    "Firecracker",
];

/// CPUs with the text of each in `/proc/cpuinfo`: what stands from its `processor` line to the next.
fn sections(cpuinfo: &str) -> Vec<(CpuSet, &str)> {
    let number = |line: &str| {
        let (name, number) = line.split_once(':')?;
        let number = number.trim().parse::<usize>().ok().filter(|n| *n < MAX_CPUS);
        number.filter(|_| name.trim() == "processor")
    };
    let mut starts: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    for line in cpuinfo.split_inclusive('\n') {
        starts.extend(number(line).map(|cpu| (cpu, at)));
        at += line.len();
    }
    let ends = starts.iter().skip(1).map(|(_, at)| *at).chain([cpuinfo.len()]);
    let section = |(&(cpu, start), end)| (CpuSet::single(cpu), &cpuinfo[start..end]);
    starts.iter().zip(ends).map(section).collect()
}

/// A value of each CPU, with CPUs where they differ.
fn of_each(cpuinfo: &str, value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let values = sections(cpuinfo).into_iter();
    let values = values.filter_map(|(cpus, section)| Some((cpus, value(section)?)));
    files::where_they_differ(&files::by_value(values))
}

/// The CPUs' model: a name (`model name` on x86, `cpu` on powerpc, `uarch` on RISC-V), or the numbers that arm64 has.
pub(super) fn model(cpuinfo: &str) -> Option<String> {
    of_each(cpuinfo, |section| {
        let name = ["model name", "cpu", "uarch"].iter().find_map(|f| files::field(section, f));
        let name = name.filter(|name| !name.is_empty()).map(str::to_string);
        name.or_else(|| {
            let parts = ARM64.iter();
            let parts = parts.filter_map(|(field, short)| {
                Some(format!("{short} {}", files::field(section, field)?))
            });
            let parts: Vec<String> = parts.collect();
            (!parts.is_empty()).then(|| parts.join(" "))
        })
    })
}

/// The microcode's revision, which x86 has.
pub(super) fn microcode(cpuinfo: &str) -> Option<String> {
    of_each(cpuinfo, |section| files::field(section, "microcode").map(str::to_string))
}

/// What SMT is set to and whether threads run: `on, active`.
pub(super) fn smt(root: &Path) -> Option<String> {
    let control = files::text(root, "sys/devices/system/cpu/smt/control")?;
    let active = match files::text(root, "sys/devices/system/cpu/smt/active").as_deref() {
        Some("1") => ", active",
        Some("0") => ", not active",
        _ => "",
    };
    Some(format!("{control}{active}"))
}

/// What the CPUs are affected by and what the kernel does about it; what they are not affected by is left out.
pub(super) fn mitigations(root: &Path) -> Option<String> {
    const DIR: &str = "sys/devices/system/cpu/vulnerabilities";
    let names = files::names(root, DIR, |_| true);
    let told = names.iter().filter_map(|name| {
        let text = files::text(root, &format!("{DIR}/{name}"))?;
        let short = text.strip_prefix("Mitigation: ").unwrap_or(&text);
        (text != "Not affected").then(|| format!("{name}: {short}"))
    });
    let told: Vec<String> = told.collect();
    match (names.is_empty(), told.is_empty()) {
        (true, _) => None,
        (_, true) => Some("none needed".to_string()),
        _ => Some(told.join(" | ")),
    }
}

/// Which hypervisor runs this computer, `none seen` if nothing shows one; none without `/proc/cpuinfo`.
///
/// On x86 CPUs have the flag `hypervisor`. Elsewhere only Xen, the device tree, the platform's name or the product's name
/// can tell, and a hypervisor that hides in them stays unseen.
pub(super) fn hypervisor(root: &Path, cpuinfo: &str) -> Option<String> {
    let dmi = |file: &str| files::text(root, &format!("sys/class/dmi/id/{file}"));
    let product = [dmi("sys_vendor"), dmi("product_name")];
    let product = product.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let named = (!product.is_empty()).then_some(product);
    let flag = files::field(cpuinfo, "flags");
    if flag.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor")) {
        return Some(named.unwrap_or_else(|| "of unknown kind".to_string()));
    }
    let is_virtual = |name: &String| VIRTUAL.iter().any(|known| name.contains(known));
    files::text(root, "sys/hypervisor/type")
        .or_else(|| device_tree(root))
        .or_else(|| named.filter(|name| flag.is_none() && is_virtual(name)))
        .or_else(|| platform(cpuinfo))
        .or_else(|| (!cpuinfo.is_empty()).then(|| super::warnings::NO_HYPERVISOR.to_string()))
}

/// The hypervisor's node of a device tree, whose text ends in a NUL.
fn device_tree(root: &Path) -> Option<String> {
    let name = files::text(root, "proc/device-tree/hypervisor/compatible")?;
    Some(name.replace('\0', " ").trim().to_string()).filter(|name| !name.is_empty())
}

/// The platform that powerpc names in a partition: PowerVM and KVM both call it `pSeries`.
fn platform(cpuinfo: &str) -> Option<String> {
    let platform = files::field(cpuinfo, "platform").filter(|p| *p == "pSeries")?;
    let machine = files::field(cpuinfo, "machine").unwrap_or(platform);
    Some(format!("a partition: {machine}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tree::Tree;

    #[test]
    fn models_are_told_with_their_cpus_where_they_differ() {
        let x86 = "processor\t: 0\nmodel name\t: A\nmicrocode\t: 0x1\n\nprocessor\t: 1\n\
                   model name\t: A\nmicrocode\t: 0x2\n";
        assert_eq!(model(x86).unwrap(), "A");
        assert_eq!(microcode(x86).unwrap(), "0x1 on 0, 0x2 on 1");
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\nprocessor\t: 1\n\
                   CPU implementer\t: 0x41\nCPU part\t: 0xd0a\n";
        let told = "implementer 0x41 part 0xd05 on 0, implementer 0x41 part 0xd0a on 1";
        assert_eq!(model(arm).unwrap(), told);
        assert_eq!(microcode(arm), None);
        assert_eq!(model("processor : 0\ncpu : POWER9, x\n").unwrap(), "POWER9, x");
        assert_eq!(model("nothing"), None);
    }

    #[test]
    fn mitigations_leave_out_what_the_cpus_do_not_have() {
        let dir = "sys/devices/system/cpu/vulnerabilities";
        assert_eq!(mitigations(Tree::new(&[]).root()), None);
        let tree = Tree::new(&[(&format!("{dir}/mds"), "Not affected\n")]);
        assert_eq!(mitigations(tree.root()).unwrap(), "none needed");
        tree.write(&format!("{dir}/spectre_v1"), "Mitigation: barriers\n");
        tree.write(&format!("{dir}/srso"), "Vulnerable\n");
        assert_eq!(mitigations(tree.root()).unwrap(), "spectre_v1: barriers | srso: Vulnerable");
    }

    #[test]
    fn hypervisors_are_seen_by_flag_and_by_name() {
        let tree = Tree::new(&[("sys/class/dmi/id/product_name", "Standard PC\n")]);
        let of = |cpuinfo: &str| hypervisor(tree.root(), cpuinfo);
        assert_eq!(of("flags : fpu hypervisor lm").unwrap(), "Standard PC");
        assert_eq!(of("flags : fpu lm").unwrap(), "none seen");
        assert_eq!(of(""), None);
        // Firmware of bare metal may have such a name too; where the flag can tell, it does.
        tree.write("sys/class/dmi/id/product_name", "KVM Virtual Machine");
        assert_eq!(of("flags : fpu lm").unwrap(), "none seen");
        assert_eq!(of("CPU part : 0xd0c").unwrap(), "KVM Virtual Machine");
        tree.write("proc/device-tree/hypervisor/compatible", "linux,kvm\0");
        assert_eq!(of("CPU part : 0xd0c").unwrap(), "linux,kvm");
        let none = Tree::new(&[]);
        let power = "cpu : POWER9\nplatform : pSeries\nmachine : CHRP IBM,9009\n";
        assert_eq!(hypervisor(none.root(), power).unwrap(), "a partition: CHRP IBM,9009");
        assert_eq!(hypervisor(none.root(), "flags : hypervisor").unwrap(), "of unknown kind");
    }
}
