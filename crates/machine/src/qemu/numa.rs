//! `-numa`, `-object memory-backend-*` and `-m`: nodes, their CPUs, memory and distances.

use super::OptionFault;
use super::board::{Board, Kind};
use super::options::{Item, Options, items, number, size_kib};
use super::smp::Smp;
use crate::cpuset::CpuSet;
use crate::error::Fault;
use crate::layout::{Distances, Nodes, Place};
use std::collections::BTreeMap;

/// Nodes that QEMU can number.
const MAX_NODES: u32 = 128;
/// Distance to another node where none is given.
const REMOTE: u32 = 20;
/// Distance between the chips of bare-metal POWER, as its firmware (skiboot) makes it.
const POWERNV_REMOTE: u32 = 40;
const LOCAL: u32 = 10;

#[derive(Debug, Default)]
struct Given {
    /// By number: CPUs by index, and memory in KiB.
    nodes: BTreeMap<u32, (CpuSet, Option<u64>)>,
    /// CPUs by their place: node and the place's fields.
    cpus: Vec<(u32, Vec<(String, u32)>)>,
    distances: BTreeMap<(u32, u32), u32>,
}

fn fault(place: &str, found: impl Into<String>, expected: impl Into<String>) -> OptionFault {
    (place.to_string(), Fault::new(found, expected))
}

pub(super) fn read(
    options: &Options,
    board: &Board,
    smp: &Smp,
    unknown: &mut Vec<String>,
) -> Result<Nodes, OptionFault> {
    let ram = options.memory.as_deref().map(ram_kib).transpose()?.flatten();
    let backends = backends(&options.object)?;
    let mut given = Given::default();
    for text in &options.numa {
        add(&mut given, text, smp, &backends)?;
    }
    if given.nodes.is_empty() {
        if !options.numa.is_empty() {
            return Err(fault("-numa", "no node", "at least one `node`"));
        }
        return without(board, smp, ram, unknown);
    }
    let ids: Vec<u32> = given.nodes.keys().copied().collect();
    if !ids.iter().copied().eq(0..ids.len() as u32) {
        let expected = "numbers from 0 on without gaps";
        return Err(fault("-numa node", format!("nodes {ids:?}"), expected));
    }
    let memory_kib = memory(&given, ram, unknown)?;
    let sets = cpus_by_node(&given, board, smp)?;
    let distances = Distances::Matrix(matrix(&given.distances, ids.len() as u32)?);
    Ok(Nodes { place: Place::Sets(sets), ids: None, memory_kib, distances })
}

/// Nodes of a command line without `-numa`: one, or one a chip on bare-metal POWER.
fn without(
    board: &Board,
    smp: &Smp,
    ram: Option<u64>,
    unknown: &mut Vec<String>,
) -> Result<Nodes, OptionFault> {
    let per_chip = matches!(board.kind, Kind::Powernv { .. });
    let memory_kib = if per_chip && smp.counts.packages > 1 {
        unknown.push("Memory of each node: firmware deals it out.".to_string());
        Vec::new()
    } else {
        if ram.is_none() {
            unknown.push("Memory: there is no -m.".to_string());
        }
        vec![ram]
    };
    let span = if per_chip { crate::layout::Span::Package } else { crate::layout::Span::Machine };
    let distances = Distances::Steps { same_package: LOCAL, other_package: POWERNV_REMOTE };
    Ok(Nodes { place: Place::Per(span), ids: None, memory_kib, distances })
}

/// The size that `-m` gives, if it gives one (`-m slots=2` does not).
fn ram_kib(text: &str) -> Result<Option<u64>, OptionFault> {
    for (i, item) in items(text).iter().enumerate() {
        match (i, item.key.as_str(), item.value.as_deref()) {
            (0, size, None) | (_, "size", Some(size)) => {
                return size_kib("-m", size, 20).map(Some);
            }
            (_, "slots" | "maxmem", Some(_)) => {}
            (_, key, _) => {
                return Err(fault("-m", format!("`{key}`"), "a size, slots= or maxmem="));
            }
        }
    }
    Ok(None)
}

/// Sizes of memory backends in KiB by id; other objects leave the topology alone.
fn backends(objects: &[String]) -> Result<BTreeMap<String, u64>, OptionFault> {
    let mut sizes = BTreeMap::new();
    for text in objects {
        let items = items(text);
        let is_backend = |i: &Item| {
            i.key.starts_with("memory-backend-")
                || i.value
                    .as_ref()
                    .is_some_and(|v| i.key == "qom-type" && v.starts_with("memory-backend-"))
        };
        if !items.iter().any(is_backend) {
            continue;
        }
        let value = |key: &str| {
            let item = items.iter().find(|i| i.key == key);
            let value = item.and_then(|i| i.value.as_deref());
            value.ok_or_else(|| fault("-object", format!("`{text}`"), format!("{key}=")))
        };
        // Unlike -m, a bare number is bytes.
        let size = size_kib("-object size", value("size")?, 0)?;
        if sizes.insert(value("id")?.to_string(), size).is_some() {
            return Err(fault("-object id", format!("a second `{}`", value("id")?), "each once"));
        }
    }
    Ok(sizes)
}

fn add(
    given: &mut Given,
    text: &str,
    smp: &Smp,
    backends: &BTreeMap<String, u64>,
) -> Result<(), OptionFault> {
    let items = items(text);
    let (kind, rest) = match items.split_first() {
        Some((Item { key, value: None }, rest)) => (key.as_str(), rest),
        Some((Item { key, value: Some(kind) }, rest)) if key == "type" => (kind.as_str(), rest),
        _ => ("", &items[..]),
    };
    match kind {
        "node" => add_node(given, rest, smp, backends),
        "cpu" => add_cpu(given, rest),
        "dist" => add_distance(given, rest),
        "hmat-lb" | "hmat-cache" => Ok(()),
        _ => Err(fault("-numa", format!("`{text}`"), "node, cpu, dist, hmat-lb or hmat-cache")),
    }
}

fn add_node(
    given: &mut Given,
    items: &[Item],
    smp: &Smp,
    backends: &BTreeMap<String, u64>,
) -> Result<(), OptionFault> {
    let mut id = given.nodes.last_key_value().map_or(0, |(last, _)| last + 1);
    let (mut cpus, mut memory) = (CpuSet::EMPTY, None);
    for item in items {
        let value = item.text();
        match item.key.as_str() {
            "nodeid" => id = number("-numa node", item)?,
            "cpus" => {
                let set: CpuSet =
                    value.parse().map_err(|e: crate::cpuset::ParseCpuListError| {
                        fault("-numa node cpus", format!("`{value}`"), e.to_string())
                    })?;
                let beyond = &set - CpuSet::first_n(smp.maxcpus as usize);
                if !beyond.is_empty() {
                    let expected = format!("CPUs below {}", smp.maxcpus);
                    return Err(fault("-numa node cpus", format!("CPUs {beyond}"), expected));
                }
                cpus |= set;
            }
            "mem" => memory = Some(size_kib("-numa node mem", value, 20)?),
            "memdev" => {
                let size = backends.get(value).copied();
                memory = Some(size.ok_or_else(|| {
                    fault("-numa node memdev", format!("`{value}`"), "the id of a memory backend")
                })?);
            }
            "initiator" => {}
            other => {
                let expected = "nodeid, cpus, mem, memdev or initiator";
                return Err(fault("-numa node", format!("`{other}`"), expected));
            }
        }
    }
    if id >= MAX_NODES || given.nodes.insert(id, (cpus, memory)).is_some() {
        let expected = format!("each node once, below {MAX_NODES}");
        return Err(fault("-numa node nodeid", id.to_string(), expected));
    }
    Ok(())
}

fn add_cpu(given: &mut Given, items: &[Item]) -> Result<(), OptionFault> {
    const FIELDS: &[&str] =
        &["socket-id", "die-id", "cluster-id", "module-id", "core-id", "thread-id"];
    let mut node = None;
    let mut fields = Vec::new();
    for item in items {
        match item.key.as_str() {
            "node-id" => node = Some(number("-numa cpu", item)?),
            key if FIELDS.contains(&key) => {
                fields.push((key.to_string(), number("-numa cpu", item)?));
            }
            other => {
                let expected = format!("node-id, {}", FIELDS.join(", "));
                return Err(fault("-numa cpu", format!("`{other}`"), expected));
            }
        }
    }
    let node = node.ok_or_else(|| fault("-numa cpu", "no node-id", "one"))?;
    given.cpus.push((node, fields));
    Ok(())
}

fn add_distance(given: &mut Given, items: &[Item]) -> Result<(), OptionFault> {
    let value = |key: &str| {
        let item = items.iter().find(|i| i.key == key);
        item.ok_or_else(|| fault("-numa dist", format!("no {key}"), "src, dst and val"))
            .and_then(|item| number("-numa dist", item))
    };
    let (src, dst, distance) = (value("src")?, value("dst")?, value("val")?);
    if (src == dst) != (distance == LOCAL) || !(LOCAL..255).contains(&distance) {
        let expected = "10 from a node to itself, 11 to 254 to others";
        return Err(fault("-numa dist val", distance.to_string(), expected));
    }
    given.distances.insert((src, dst), distance);
    Ok(())
}

/// Memory of each node; QEMU wants the sum to be `-m`. None at all is taken as not said.
fn memory(
    given: &Given,
    ram: Option<u64>,
    unknown: &mut Vec<String>,
) -> Result<Vec<Option<u64>>, OptionFault> {
    if given.nodes.values().all(|(_, memory)| memory.is_none()) {
        unknown.push("Memory of each node: -numa node names none.".to_string());
        return Ok(Vec::new());
    }
    let sizes = given.nodes.values().map(|(_, memory)| memory.unwrap_or(0));
    let sum = sizes.clone().try_fold(0u64, u64::checked_add);
    if let Some(ram) = ram.filter(|&ram| sum != Some(ram)) {
        let found = sum.map_or("a sum beyond 64 bits".to_string(), |sum| format!("{sum} KiB"));
        return Err(fault("-numa node", found, format!("as much memory as -m, {ram} KiB")));
    }
    Ok(sizes.map(Some).collect())
}

/// CPUs of each node: those given, and the others where the machine type puts them.
fn cpus_by_node(given: &Given, board: &Board, smp: &Smp) -> Result<Vec<CpuSet>, OptionFault> {
    let mut sets: Vec<CpuSet> = given.nodes.values().map(|(cpus, _)| cpus.clone()).collect();
    for (node, fields) in &given.cpus {
        let Some(set) = sets.get_mut(*node as usize) else {
            let expected = "a node that -numa node makes";
            return Err(fault("-numa cpu node-id", node.to_string(), expected));
        };
        let matching: CpuSet = (0..smp.maxcpus)
            .filter(|&c| is_at(c, fields, board, smp))
            .map(|c| c as usize)
            .collect();
        if matching.is_empty() {
            return Err(fault("-numa cpu", format!("{fields:?}"), "ids of a CPU of -smp"));
        }
        *set |= matching;
    }
    let taken = sets.iter().fold(CpuSet::EMPTY, |all, set| all | set);
    let nodes = sets.len();
    for cpu in (CpuSet::first_n(smp.maxcpus as usize) - taken).iter() {
        let place = match board.kind {
            // By core and by the cores of -smp, whatever its sockets.
            Kind::Pseries | Kind::Powernv { .. } => {
                cpu / smp.counts.threads as usize / smp.counts.cores as usize
            }
            Kind::Pc | Kind::Virt => {
                cpu / smp.counts.threads as usize / smp.counts.package_cores() as usize
            }
        };
        if let Some(set) = sets.get_mut(place % nodes) {
            set.insert(cpu);
        }
    }
    if matches!(board.kind, Kind::Pseries) {
        refuse_split_cores(&sets, smp)?;
    }
    Ok(sets)
}

/// Whether CPU `index` has the ids that `fields` name.
fn is_at(index: u32, fields: &[(String, u32)], board: &Board, smp: &Smp) -> bool {
    let counts = &smp.counts;
    let core = index / counts.threads;
    fields.iter().all(|(field, id)| {
        *id == match field.as_str() {
            "socket-id" => core / counts.package_cores(),
            "die-id" => core / counts.die_cores() % counts.dies,
            "cluster-id" => core / counts.cluster_cores() % counts.clusters,
            "module-id" => core / counts.cores % counts.modules,
            // pseries numbers a core by its first thread.
            "core-id" if board.kind == Kind::Pseries => core * counts.threads,
            "core-id" => core % counts.cores,
            _ => index % counts.threads,
        }
    })
}

/// pseries places cores, not threads.
fn refuse_split_cores(sets: &[CpuSet], smp: &Smp) -> Result<(), OptionFault> {
    let threads = smp.counts.threads as usize;
    for core in 0..smp.maxcpus as usize / threads {
        let cpus: CpuSet = (core * threads..(core + 1) * threads).collect();
        if !sets.iter().any(|set| cpus.is_subset(set)) {
            let expected = "all threads of a core on one node";
            return Err(fault("-numa node cpus", format!("CPUs {cpus} on several"), expected));
        }
    }
    Ok(())
}

/// The matrix of distances. Without `dist` it is 10 and 20. Otherwise each pair of nodes must be given, in one
/// direction at least; where no pair differs by direction, the other direction is the same.
fn matrix(given: &BTreeMap<(u32, u32), u32>, nodes: u32) -> Result<Vec<Vec<u32>>, OptionFault> {
    if let Some((src, dst)) = given.keys().find(|(src, dst)| *src.max(dst) >= nodes) {
        let expected = format!("nodes below {nodes}");
        return Err(fault("-numa dist", format!("nodes {src} and {dst}"), expected));
    }
    let differs = |(&(a, b), d): (&(u32, u32), &u32)| given.get(&(b, a)).is_some_and(|o| o != d);
    let asymmetric = given.iter().any(differs);
    let distance = |a: u32, b: u32| match (a == b, given.get(&(a, b))) {
        (true, _) => Ok(LOCAL),
        (false, Some(&distance)) => Ok(distance),
        (false, None) if given.is_empty() => Ok(REMOTE),
        (false, None) => match given.get(&(b, a)) {
            Some(&distance) if !asymmetric => Ok(distance),
            _ => {
                let found = format!("no distance from node {a} to node {b}");
                let expected = match asymmetric {
                    true => "every direction, as some pair differs by direction",
                    false => "one for each pair",
                };
                Err(fault("-numa dist", found, expected))
            }
        },
    };
    (0..nodes).map(|a| (0..nodes).map(|b| distance(a, b)).collect()).collect()
}
