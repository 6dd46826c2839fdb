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

pub(crate) use madt::affinity;

use crate::constants::Constants;
use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::model::{Arch, Cache, Cpu, Firmware, Machine, OsIds};
use header::{HEADER_BYTES, Table};
use hierarchy::{Caches, Place};
use madt::Madt;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Name of the file that holds the MADT, which is the table's signature.
pub(crate) const MADT: &str = "APIC";
/// Name of the file that holds the PPTT.
pub(crate) const PPTT: &str = "PPTT";

/// Tables that are read, by signature.
pub(crate) const SIGNATURES: [&str; 4] = [MADT, PPTT, SRAT, SLIT];
const SRAT: &str = "SRAT";
const SLIT: &str = "SLIT";

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
    let mut tables = Vec::new();
    for signature in SIGNATURES {
        let path = dir.join(signature);
        match fs::read(&path) {
            Ok(bytes) => tables.push(Table::parse(&path.display().to_string(), bytes, signature)?),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(MachineError::unreadable(&path, &error)),
        }
    }
    let name = dir.file_name().map_or_else(|| "acpi".into(), |name| name.to_string_lossy());
    machine(&tables, &name, &dir.display().to_string())
}

/// Reads the machine of `tables`, which are raw ACPI tables in any order, each with the name that errors give it;
/// other tables than those of [`read`] are passed over. `name` becomes the machine's.
///
/// # Errors
/// As [`read`], and two tables of one signature.
pub fn read_tables(tables: &[(&str, &[u8])], name: &str) -> Result<Machine, MachineError> {
    let mut known: Vec<Table> = Vec::new();
    for (file, bytes) in tables {
        let signature = SIGNATURES.into_iter().find(|s| bytes.starts_with(s.as_bytes()));
        let Some(signature) = signature else { continue };
        let table = Table::parse(file, bytes.to_vec(), signature)?;
        if known.iter().any(|other| other.is(signature)) {
            return Err(table.error(0, format!("a second {signature}"), "each table once"));
        }
        known.push(table);
    }
    machine(&known, name, name)
}

/// Splits `bytes`, in which raw ACPI tables follow one another, at the lengths in their headers; `file` names them
/// in errors.
///
/// # Errors
/// A table that is shorter than a header or leaves the file.
pub fn split<'b>(bytes: &'b [u8], file: &str) -> Result<Vec<&'b [u8]>, MachineError> {
    let mut tables = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let length = rest.get(4..8).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
        let table = length.filter(|&l| l as usize >= HEADER_BYTES);
        let Some((table, after)) = table.and_then(|l| rest.split_at_checked(l as usize)) else {
            return Err(MachineError::Blob {
                file: file.to_string(),
                offset: bytes.len() - rest.len(),
                found: match length {
                    Some(length) => format!("a table of {length} bytes"),
                    None => format!("{} bytes", rest.len()),
                },
                expected: format!("a table of {HEADER_BYTES} to {} bytes", rest.len()),
            });
        };
        tables.push(table);
        rest = after;
    }
    Ok(tables)
}

/// Puts the machine together; `place` names the tables as a whole.
fn machine(tables: &[Table], name: &str, place: &str) -> Result<Machine, MachineError> {
    let table = |signature: &str| tables.iter().find(|table| table.is(signature));
    let Some(madt) = table(MADT) else {
        return Err(MachineError::File {
            file: place.to_string(),
            found: format!("no file {MADT}"),
            expected: "the MADT".to_string(),
        });
    };
    let madt = madt::read(madt)?;
    let mut unknown = vec![
        "Boot CPU: the MADT does not mark it; its first enabled processor counts as CPU 0.".into(),
        "Idle states: they are in AML, which is not read.".into(),
    ];
    if madt.pluggable > 0 {
        unknown.push(format!("{} processors that can be plugged in: left out.", madt.pluggable));
    }
    let srat = table(SRAT).map(|table| srat::read(table, madt.arch)).transpose()?;
    let slit = table(SLIT).map(slit::read).transpose()?;
    let nodes = nodes::nodes(&madt, srat.as_ref(), slit.as_ref(), &mut unknown)?;
    let (places, caches) = match table(PPTT) {
        Some(pptt) => topology(pptt, &madt, &mut unknown)?,
        None => (without_pptt(&madt, &nodes.node_of, &mut unknown), Vec::new()),
    };
    let cpus = cpus(&madt, &nodes.node_of, &places);
    Ok(Machine {
        name: name.to_string(),
        title: format!("{} CPUs, from ACPI tables in {place}", cpus.len()),
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
        costs: None,
        firmware: Some(Firmware::Acpi),
        constants: Constants::default(),
        unknown,
    })
}

fn topology(
    table: &Table,
    madt: &Madt,
    unknown: &mut Vec<String>,
) -> Result<(Vec<Place>, Vec<Cache>), MachineError> {
    let pptt = pptt::read(table)?;
    let places = hierarchy::places(&pptt, madt.arch, &madt.processors)?;
    let Caches { caches, untyped } = hierarchy::caches(&pptt, &madt.processors)?;
    if madt.arch == Arch::Arm64 && table.revision() < 2 {
        unknown.push(
            "Threads: a PPTT of revision 1 does not mark them; a kernel asks MPIDR, of which the MADT shows the \
             affinity alone."
                .to_string(),
        );
    }
    for offset in untyped {
        unknown.push(format!(
            "Cache at {offset:#x} of the PPTT: it does not tell its type, so that Linux cannot match it; left out."
        ));
    }
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
        // `store_cpu_topology`: the CPU's number is its core's.
        match madt.arch {
            Arch::Arm64 => {
                let ids = OsIds { core: u32::try_from(core).ok(), ..OsIds::default() };
                Place { core, cluster: None, package: node, ids }
            }
            _ => Place { core, cluster: None, package: 0, ids: OsIds::default() },
        }
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
            ids: place.ids,
            capacity: None,
        });
    }
    cpus
}
