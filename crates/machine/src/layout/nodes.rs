//! NUMA nodes of a layout.

use super::span::{Span, sharers};
use crate::cpuset::CpuSet;
use crate::error::Fault;
use crate::model::{Machine, Node};

/// The distance of a node to itself, by ACPI's definition.
const LOCAL: u32 = 10;

/// The machine's NUMA nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nodes {
    /// Which CPUs they hold.
    pub place: Place,
    /// Node numbers; `None` counts from 0.
    pub ids: Option<Vec<u32>>,
    /// Memory of each node in KiB, where known; empty where it is known of none.
    pub memory_kib: Vec<Option<u64>>,
    /// How far they are apart.
    pub distances: Distances,
}

/// Which CPUs a node holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// One node for each unit of a kind.
    Per(Span),
    /// Given sets, possibly empty ones.
    Sets(Vec<CpuSet>),
}

/// Distances between nodes; 10 is local.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distances {
    /// A row for each node.
    Matrix(Vec<Vec<u32>>),
    /// By what two nodes have in common.
    Steps {
        /// Within one package.
        same_package: u32,
        /// Between packages.
        other_package: u32,
    },
}

/// What is wrong, and in which field.
type FieldFault = (String, Fault);

/// Gives `machine` its nodes.
pub(super) fn add(machine: &mut Machine, nodes: &Nodes) -> Result<(), FieldFault> {
    let fault = |field: &str, found: String, expected: String| {
        (field.to_string(), Fault { found, expected })
    };
    let sets = match &nodes.place {
        Place::Per(Span::SmallCore | Span::Node) => {
            let expected = "a core or a larger unit".to_string();
            return Err(fault("nodes", "small cores or nodes".to_string(), expected));
        }
        Place::Per(span) => sharers(machine, *span).map_err(|f| ("nodes".to_string(), f))?,
        Place::Sets(sets) => sets.clone(),
    };
    check_tiling(machine, &sets).map_err(|f| ("nodes".to_string(), f))?;
    let ids = match &nodes.ids {
        None => (0..).take(sets.len()).collect(),
        Some(ids) if ids.len() == sets.len() && ids.is_sorted_by(|a, b| a < b) => ids.clone(),
        Some(ids) => {
            let expected = format!("{} ascending numbers", sets.len());
            return Err(fault("nodes.ids", format!("{ids:?}"), expected));
        }
    };
    if !nodes.memory_kib.is_empty() && nodes.memory_kib.len() != sets.len() {
        let found = format!("{} values", nodes.memory_kib.len());
        return Err(fault("nodes.memory_kib", found, format!("{} values", sets.len())));
    }
    let rows = match &nodes.distances {
        Distances::Matrix(rows) => rows.clone(),
        Distances::Steps { same_package, other_package } => {
            rows_by_package(machine, &sets, *same_package, *other_package)
        }
    };
    check_distances(&rows, sets.len()).map_err(|f| ("nodes.distances".to_string(), f))?;
    for (i, ((cpus, id), distances)) in sets.iter().zip(ids).zip(rows).enumerate() {
        let memory_kib = nodes.memory_kib.get(i).copied().flatten();
        machine.nodes.push(Node { id, cpus: cpus.clone(), memory_kib, distances });
        for cpu in cpus.iter() {
            machine.cpus[cpu].node = id;
        }
    }
    Ok(())
}

/// Whether each CPU of the machine is in one set, and no other CPU in any.
fn check_tiling(machine: &Machine, sets: &[CpuSet]) -> Result<(), Fault> {
    let mut all = CpuSet::EMPTY;
    for set in sets {
        if set.intersects(&all) {
            return Err(Fault::new(format!("CPUs {} in two nodes", set & all), "each in one"));
        }
        all |= set;
    }
    match all == machine.possible() {
        true => Ok(()),
        false => Err(Fault::new(
            format!("CPUs {all}"),
            format!("each of the machine's CPUs {}", machine.possible()),
        )),
    }
}

fn check_distances(rows: &[Vec<u32>], count: usize) -> Result<(), Fault> {
    let square = rows.len() == count && rows.iter().all(|row| row.len() == count);
    if !square {
        return Err(Fault::new(
            format!("{} rows of {:?}", rows.len(), rows.iter().map(Vec::len).collect::<Vec<_>>()),
            format!("{count} rows of {count} distances"),
        ));
    }
    for (i, row) in rows.iter().enumerate() {
        for (j, &distance) in row.iter().enumerate() {
            if (i == j) != (distance == LOCAL) || !(LOCAL..255).contains(&distance) {
                let expected = "10 from a node to itself and 11 to 254 to others";
                return Err(Fault::new(format!("{distance} in row {i}, column {j}"), expected));
            }
        }
    }
    Ok(())
}

fn rows_by_package(
    machine: &Machine,
    sets: &[CpuSet],
    same_package: u32,
    other_package: u32,
) -> Vec<Vec<u32>> {
    let package = |set: &CpuSet| set.first().map(|cpu| machine.cpus[cpu].package);
    let distance = |i: usize, j: usize| match (i == j, package(&sets[i]) == package(&sets[j])) {
        (true, _) => LOCAL,
        (false, true) => same_package,
        (false, false) => other_package,
    };
    let row = |i| (0..sets.len()).map(|j| distance(i, j)).collect();
    (0..sets.len()).map(row).collect()
}
