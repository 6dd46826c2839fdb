//! Machines from ACPI tables: MADT (signature `APIC`), PPTT, SRAT and SLIT, as Linux reads them.

mod header;
mod hierarchy;
mod madt;
mod nodes;
mod pptt;
mod slit;
mod srat;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use crate::constants::Constants;
use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::model::{Arch, Cache, Cpu, Firmware, Machine, OsIds};
use header::Table;
use hierarchy::Place;
use madt::Madt;
use nodes::Nodes;
use std::collections::BTreeMap;
use std::path::Path;

/// Name of the file that holds the MADT, which is the table's signature.
pub(crate) const MADT: &str = "APIC";
/// Name of the file that holds the PPTT.
pub(crate) const PPTT: &str = "PPTT";

/// Reads the machine whose raw ACPI tables lie in `dir`, each in a file named by its signature, as in
/// `/sys/firmware/acpi/tables`: `APIC` (the MADT), and as far as they are there `PPTT`, `SRAT` and `SLIT`. The
/// directory's name becomes the machine's. CPUs are the enabled processors in the order of the MADT, all online;
/// packages have Linux's numbers, cores are numbered by their first CPU, clusters and dies are their first CPU's
/// number. There are no constants, and [`Machine::unknown`] lists what the tables leave open.
///
/// # Errors
/// A directory without MADT, a file that cannot be read, and a table that contradicts its format, itself or
/// another one, with the offset.
pub fn read(dir: &Path) -> Result<Machine, MachineError> {
    let Some(madt) = Table::read(dir, MADT)? else {
        return Err(MachineError::File {
            file: dir.display().to_string(),
            found: format!("no file {MADT}"),
            expected: "the MADT".to_string(),
        });
    };
    let madt = madt::read(&madt)?;
    let mut unknown = vec![
        "Boot CPU: the MADT does not mark it; its first enabled processor counts as CPU 0.".into(),
        "Idle states: they are in AML, which is not read.".into(),
    ];
    if madt.pluggable > 0 {
        unknown.push(format!("{} processors that can be plugged in: left out.", madt.pluggable));
    }
    let nodes = numa(dir, &madt, &mut unknown)?;
    let (places, caches) = match Table::read(dir, PPTT)? {
        Some(pptt) => topology(&pptt, &madt, &mut unknown)?,
        None => (without_pptt(&madt, &nodes.node_of, &mut unknown), Vec::new()),
    };
    let cpus = cpus(&madt, &nodes.node_of, &places);
    let name = dir.file_name().map_or_else(|| "acpi".into(), |name| name.to_string_lossy());
    Ok(Machine {
        name: name.into_owned(),
        title: format!("{} CPUs, from ACPI tables in {}", cpus.len(), dir.display()),
        arch: madt.arch,
        online: CpuSet::first_n(cpus.len()),
        cpus,
        caches,
        nodes: nodes.nodes,
        thread_groups: Vec::new(),
        idle_states: Vec::new(),
        policies: Vec::new(),
        cppc: Vec::new(),
        vendor: None,
        smt_control: None,
        firmware: Some(Firmware::Acpi),
        constants: Constants::default(),
        unknown,
    })
}

fn numa(dir: &Path, madt: &Madt, unknown: &mut Vec<String>) -> Result<Nodes, MachineError> {
    let srat = Table::read(dir, "SRAT")?;
    let srat = srat.map(|table| srat::read(&table, madt.arch)).transpose()?;
    let slit = Table::read(dir, "SLIT")?;
    let slit = slit.as_ref().map(slit::read).transpose()?;
    nodes::nodes(madt, srat.as_ref(), slit.as_ref(), unknown)
}

fn topology(
    table: &Table,
    madt: &Madt,
    unknown: &mut Vec<String>,
) -> Result<(Vec<Place>, Vec<Cache>), MachineError> {
    let pptt = pptt::read(table)?;
    let places = hierarchy::places(&pptt, madt.arch, &madt.processors)?;
    let caches = hierarchy::caches(&pptt, &madt.processors)?;
    if madt.arch == Arch::X86 {
        unknown.push(
            "Cores, clusters, packages and caches as Linux sees them: on x86 it asks CPUID, not the PPTT."
                .to_string(),
        );
    }
    let with: CpuSet = caches.iter().flat_map(|c| c.cpus.iter()).collect();
    let without = CpuSet::first_n(places.len()) - with;
    if !without.is_empty() {
        unknown.push(format!(
            "Caches of CPUs {without}: the PPTT names none; a kernel asks the CPU, which does not tell who \
             shares them."
        ));
    }
    let mut unsized_levels: Vec<u8> =
        caches.iter().filter(|c| c.size_kib.is_none()).map(|c| c.level).collect();
    unsized_levels.dedup();
    for level in unsized_levels {
        unknown.push(format!("Size of level-{level} caches: the PPTT does not tell it."));
    }
    Ok((places, caches))
}

/// Each CPU as a core of its own. The package is Linux's on arm64, the NUMA node; on x86 there is one.
fn without_pptt(madt: &Madt, node_of: &[u32], unknown: &mut Vec<String>) -> Vec<Place> {
    let package = match madt.arch {
        Arch::Arm64 => "the NUMA node stands in for the package",
        _ => "package 0 holds all",
    };
    unknown.push(format!(
        "Cores, clusters and packages: there is no PPTT, and the MADT has ids alone; each CPU stands as a \
         core of its own, {package}."
    ));
    unknown.push("Caches: there is no PPTT, and no other table names them.".to_string());
    let place = |(core, &node): (usize, &u32)| {
        let package = if madt.arch == Arch::Arm64 { node } else { 0 };
        Place { core, cluster: None, package }
    };
    node_of.iter().enumerate().map(place).collect()
}

/// CPUs with threads, cores, clusters and dies numbered.
fn cpus(madt: &Madt, node_of: &[u32], places: &[Place]) -> Vec<Cpu> {
    let mut cores: BTreeMap<usize, (u32, u32)> = BTreeMap::new();
    let mut clusters: BTreeMap<usize, u32> = BTreeMap::new();
    let mut dies: BTreeMap<u32, u32> = BTreeMap::new();
    let mut cpus = Vec::with_capacity(places.len());
    for ((number, place), (processor, &node)) in
        (0..).zip(places).zip(madt.processors.iter().zip(node_of))
    {
        let next = cores.len() as u32;
        let (core, threads) = cores.entry(place.core).or_insert((next, 0));
        let thread = *threads;
        *threads += 1;
        cpus.push(Cpu {
            hw_id: processor.hw_id,
            core: *core,
            thread,
            cluster: place.cluster.map(|at| *clusters.entry(at).or_insert(number)),
            die: *dies.entry(place.package).or_insert(number),
            package: place.package,
            node,
            ids: OsIds::default(),
            capacity: None,
        });
    }
    cpus
}
