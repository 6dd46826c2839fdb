//! A list of hwloc's objects to the machine.

use super::cpus::{self, Cpus};
use super::topology::{Kind, Object, Topology};
use super::{Source, nodes};
use crate::constants::Constants;
use crate::cpuset::CpuSet;
use crate::error::{Fault, MachineError};
use crate::hwloc::partition::Partition;
use crate::model::{Arch, Cache, Machine, sort_caches};
use crate::sysfs;
use std::path::Path;

/// The machine as far as the objects tell it.
pub(super) fn machine(topology: &Topology, source: &Source<'_>) -> Result<Machine, MachineError> {
    check_sets(topology, source)?;
    let mut unknown = Vec::new();
    let (nodes, node_of) = nodes::read(topology, source, &mut unknown)?;
    let Cpus { cpus, online } = cpus::read(topology, &node_of, source, &mut unknown)?;
    let caches = caches(topology, source, &mut unknown)?;
    let arch = arch(topology, source, &mut unknown);
    let vendor = vendor(topology, source, &mut unknown);
    for what in ["Idle states", "Frequency policies", "SMT control", "Firmware"] {
        unknown.push(format!("{what}: {} does not tell.", source.format));
    }
    frequencies(topology, &mut unknown);
    if arch == Arch::Powerpc {
        unknown.push(format!(
            "ibm,thread-groups: {} does not show them, save by which CPUs share a cache.",
            source.format
        ));
    }
    let stem = Path::new(source.file).file_stem();
    Ok(Machine {
        name: stem.map_or(source.file.to_string(), |stem| stem.to_string_lossy().into_owned()),
        title: format!("{} CPUs, from {} {}", cpus.len(), source.format, source.file),
        arch,
        cpus,
        online,
        caches,
        nodes,
        thread_groups: Vec::new(),
        idle_states: Vec::new(),
        policies: Vec::new(),
        cppc: Vec::new(),
        vendor,
        smt_control: None,
        costs: None,
        firmware: None,
        constants: Constants::default(),
        unknown,
    })
}

/// Every object lies in the machine.
fn check_sets(topology: &Topology, source: &Source<'_>) -> Result<(), MachineError> {
    let all = topology.objects.first().map_or(CpuSet::EMPTY, |machine| machine.cpus.clone());
    for object in &topology.objects {
        if !object.cpus.is_subset(&all) {
            let expected = format!("some of the machine's {all}");
            let fault = Fault::new(format!("CPUs {}", object.cpus), expected);
            return Err(source.error(format!("{} complete_cpuset", object.kind), fault));
        }
    }
    Ok(())
}

/// The disjoint sets of the objects that `wanted` picks.
pub(super) fn disjoint<'t>(
    topology: &'t Topology,
    wanted: impl Fn(Kind) -> bool,
    source: &Source<'_>,
) -> Result<(Partition, Vec<&'t Object>), MachineError> {
    let mut partition = Partition::new();
    let mut objects = Vec::new();
    for object in topology.objects.iter().filter(|o| wanted(o.kind) && !o.cpus.is_empty()) {
        if let Some(other) = partition.add(object.cpus.clone()) {
            let found = format!("one of CPUs {} and one of CPUs {other}", object.cpus);
            let fault = Fault::new(found, "objects of one type without common CPUs");
            return Err(source.error(format!("objects of type {}", object.kind), fault));
        }
        objects.push(object);
    }
    Ok((partition, objects))
}

fn caches(
    topology: &Topology,
    source: &Source<'_>,
    unknown: &mut Vec<String>,
) -> Result<Vec<Cache>, MachineError> {
    let mut caches = Vec::new();
    let mut seen: Vec<Kind> = Vec::new();
    for object in &topology.objects {
        let Kind::Cache(level, kind) = object.kind else { continue };
        if !seen.iter().any(|k| k.same_type(object.kind)) {
            seen.push(object.kind);
            disjoint(topology, |k| k.same_type(object.kind), source)?;
        }
        if object.cpus.is_empty() {
            let fault = Fault::new("no CPU", "at least one");
            return Err(source.error(format!("{} cpuset", object.kind), fault));
        }
        caches.push(Cache {
            level,
            kind,
            size_kib: size_kib(object, source)?,
            line_bytes: object.line_bytes,
            ways: object.ways,
            cpus: object.cpus.clone(),
            origin: object.origin,
        });
    }
    let without = caches.iter().fold(possible(topology), |left, cache| left - &cache.cpus);
    if !without.is_empty() {
        unknown.push(format!("Caches of CPUs {without}: {} has none.", source.format));
    }
    if caches.iter().any(|c| c.size_kib.is_none()) {
        unknown.push(format!("Size of some caches: {} does not tell it.", source.format));
    }
    sort_caches(&mut caches);
    Ok(caches)
}

fn size_kib(cache: &Object, source: &Source<'_>) -> Result<Option<u32>, MachineError> {
    let Some(bytes) = cache.bytes else { return Ok(None) };
    u32::try_from(bytes / 1024).map(Some).map_err(|_| {
        let fault = Fault::new(format!("{bytes} bytes"), "less than 4 TiB");
        source.error(format!("{} size", cache.kind), fault)
    })
}

/// CPUs from 0 to the machine's last one.
pub(super) fn possible(topology: &Topology) -> CpuSet {
    let all = topology.objects.first().map_or(CpuSet::EMPTY, |machine| machine.cpus.clone());
    CpuSet::first_n(all.last().map_or(0, |last| last + 1))
}

fn arch(topology: &Topology, source: &Source<'_>, unknown: &mut Vec<String>) -> Arch {
    let name = topology.info("Architecture");
    let found = name.and_then(|name| match name {
        "i386" | "i486" | "i586" | "i686" => Some(Arch::X86),
        _ => sysfs::arch_named(name),
    });
    found.unwrap_or_else(|| {
        unknown.push(match name {
            Some(name) => format!("Architecture: `{name}` is none that schedscape knows."),
            None => format!("Architecture: {} does not name it.", source.format),
        });
        Arch::Other
    })
}

/// The vendor that the packages or the machine name, if they agree.
fn vendor(topology: &Topology, source: &Source<'_>, unknown: &mut Vec<String>) -> Option<String> {
    let told = topology.objects.iter().filter_map(|o| o.vendor.as_deref());
    let mut vendors: Vec<&str> = told.filter(|name| !name.is_empty()).collect();
    vendors.sort_unstable();
    vendors.dedup();
    match vendors.as_slice() {
        [vendor] => return Some(vendor.to_string()),
        [] => unknown.push(format!("Vendor: {} does not name it.", source.format)),
        several => unknown.push(format!("Vendor: packages name {}.", several.join(" and "))),
    }
    None
}

/// hwloc's frequencies belong to kinds of CPUs, which may span several clocks, and lack the lowest one.
fn frequencies(topology: &Topology, unknown: &mut Vec<String>) {
    for kind in &topology.cpu_kinds {
        let told = [("at most", kind.max_mhz), ("base", kind.base_mhz)];
        let told: Vec<String> = told
            .iter()
            .filter_map(|(what, mhz)| mhz.map(|mhz| format!("{what} {mhz} MHz")))
            .collect();
        if !told.is_empty() {
            unknown.push(format!(
                "Clocks of CPUs {}: only that they run at {}.",
                kind.cpus,
                told.join(", ")
            ));
        }
    }
}
