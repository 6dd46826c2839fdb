//! The catalog: named machines as data files.
//!
//! A file describes one machine, or a family of variants, by a device tree beside it or by its shape;
//! [`Entry`] is its format and `docs/catalog.md` shows how to add one. Adding one is its files and a line in
//! `FAMILIES`; [`read`] reads one that is not part of the catalog.

mod file;
mod provenance;
mod topology;

pub use file::read;
pub(crate) use file::read_beside;
pub use topology::{
    CatalogFrequency, CatalogGroups, CatalogIdleState, CatalogNodes, Topology, Variant,
};

use crate::constants::{Constant, Mark};
use crate::devicetree;
use crate::error::MachineError;
use crate::layout::{CacheShape, Span, add_cache};
use crate::model::{CacheKind, Machine, Origin, sort_caches};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// A family's files: name, TOML text, each device tree that the TOML may name, and its machines.
struct Files {
    name: &'static str,
    toml: &'static str,
    device_trees: &'static [(&'static str, &'static [u8])],
    machines: &'static [&'static str],
}

macro_rules! families {
    ($($name:literal, [$($tree:literal),*]: [$($machine:literal),*];)*) => {
        &[$(Files {
            name: $name,
            toml: include_str!(concat!("../catalog/", $name, ".toml")),
            device_trees: &[$(($tree, include_bytes!(concat!("../catalog/", $tree)))),*],
            machines: &[$($machine),*],
        }),*]
    };
}

const FAMILIES: &[Files] = families! {
    "power8", []: ["power8", "power8-16core"];
    "power9-big-core", ["power9-big-core.dtb"]: ["power9-big-core"];
    "power10", []: ["power10", "power10-8core"];
    "kunpeng920", []: ["kunpeng920-1node", "kunpeng920-1node-12", "kunpeng920-2node", "kunpeng920-2node-16",
        "kunpeng920-4node", "kunpeng920-4node-128"];
    "epyc-7742", []: [
        "epyc-7742-1s-nps1", "epyc-7742-1s-nps2", "epyc-7742-1s-nps4",
        "epyc-7742-2s-nps1", "epyc-7742-2s-nps2", "epyc-7742-2s-nps4"
    ];
};

/// A catalog file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Name of the machine, or of the family.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Where the description of the machine comes from.
    pub source: String,
    /// Device tree that describes CPUs, nodes and what a kernel sees of the caches.
    pub device_tree: Option<String>,
    /// Counts that describe CPUs and nodes, instead of a device tree.
    pub topology: Option<Topology>,
    /// Caches; beside a device tree those that it does not show.
    #[serde(default)]
    pub cache: Vec<CatalogCache>,
    /// Idle states, the shallowest first; a device tree has its own.
    #[serde(default)]
    pub idle_state: Vec<CatalogIdleState>,
    /// cpufreq policies.
    pub frequency: Option<CatalogFrequency>,
    /// The family's machines by name; a file without is one machine.
    #[serde(default)]
    pub variant: BTreeMap<String, Variant>,
    /// What things cost, by name.
    #[serde(default)]
    pub constants: BTreeMap<String, Constant>,
}

/// Caches of one level and kind.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogCache {
    /// 1, 2, 3 …
    pub level: u8,
    /// What it holds.
    pub kind: CacheKind,
    /// Size in KiB.
    pub size_kib: Option<u32>,
    /// Size in KiB for each core that shares one, instead of `size_kib`.
    pub size_kib_per_core: Option<u32>,
    /// Line size in bytes.
    pub line_bytes: u32,
    /// Which CPUs share one.
    pub shared_by: Span,
    /// Whether a kernel on the machine sees them; required with `[topology]`, and false beside a device tree.
    pub seen_by_kernel: Option<bool>,
    /// How well size and sharing are known.
    pub mark: Mark,
    /// Where they come from, and the line size where that is known otherwise.
    pub source: String,
}

/// Names of all machines, in the catalog's order.
pub fn names() -> Vec<&'static str> {
    FAMILIES.iter().flat_map(|f| f.machines).copied().collect()
}

/// The catalog file of machine `name`, with the provenance of what [`load`] puts into the model.
///
/// # Errors
/// A name that the catalog does not have.
pub fn entry(name: &str) -> Result<Entry, MachineError> {
    let files = files(name)?;
    let file = file_name(files);
    topology::apply(parse(files.toml, &file)?, name, &file)
}

/// The machine called `name`.
///
/// # Errors
/// A name that the catalog does not have.
pub fn load(name: &str) -> Result<Machine, MachineError> {
    let lock = || LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(machine) = lock().get(name) {
        return Ok(machine.clone());
    }
    let files = files(name)?;
    let machine = build(entry(name)?, &file_name(files), files.device_trees)?;
    lock().insert(name.to_string(), machine.clone());
    Ok(machine)
}

/// What was loaded, which takes milliseconds; each cell of a sweep has a machine.
static LOADED: Mutex<BTreeMap<String, Machine>> = Mutex::new(BTreeMap::new());

fn file_name(files: &Files) -> String {
    format!("{}.toml", files.name)
}

fn files(name: &str) -> Result<&'static Files, MachineError> {
    FAMILIES.iter().find(|f| f.machines.contains(&name)).ok_or_else(|| MachineError::Spec {
        spec: name.to_string(),
        found: "no such machine in the catalog".to_string(),
        expected: names().join(", "),
    })
}

fn error(file: &str, field: &str, found: impl Into<String>, expected: &str) -> MachineError {
    MachineError::Field {
        file: file.to_string(),
        field: field.to_string(),
        found: found.into(),
        expected: expected.to_string(),
    }
}

/// Reads a catalog file and checks what its types cannot express.
fn parse(text: &str, file: &str) -> Result<Entry, MachineError> {
    let entry: Entry = toml::from_str(text).map_err(|e| {
        let before = e.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |b| b.matches('\n').count() + 1);
        error(file, &format!("line {line}"), e.message(), "a catalog file")
    })?;
    let filled = |field: &str, value: &str| match value.trim().is_empty() {
        true => Err(error(file, field, "no text", "some")),
        false => Ok(()),
    };
    filled("name", &entry.name)?;
    filled("title", &entry.title)?;
    filled("source", &entry.source)?;
    for (name, variant) in &entry.variant {
        filled(&format!("variant.{name}.title"), &variant.title)?;
    }
    provenance::check(&entry, file)?;
    for (i, cache) in entry.cache.iter().enumerate() {
        let numbers = [Some(u32::from(cache.level)), cache.size_kib, Some(cache.line_bytes)];
        if numbers.contains(&Some(0)) {
            let found = "level, size_kib or line_bytes of 0";
            return Err(error(file, &format!("cache[{i}]"), found, "numbers above 0"));
        }
    }
    for (field, constant) in provenance::constants(&entry) {
        filled(&format!("{field}.unit"), &constant.unit)?;
        if !constant.value.is_finite() {
            let field = format!("{field}.value");
            return Err(error(file, &field, constant.value.to_string(), "a finite number"));
        }
        let name = field.rsplit('.').next().unwrap_or(&field);
        if let Some((part, found, expected)) = constant.wrong_range(name) {
            return Err(error(file, &format!("{field}.range.{part}"), found, &expected));
        }
    }
    Ok(entry)
}

/// The machine of `entry`, whose device tree, if it has one, is one of `trees`.
fn build(entry: Entry, file: &str, trees: &[(&str, &[u8])]) -> Result<Machine, MachineError> {
    let mut machine = match (&entry.device_tree, &entry.topology) {
        (Some(tree), None) => from_tree(tree, &entry, file, trees)?,
        (None, Some(topology)) => topology::build(topology, &entry, file)?,
        (None, None) => {
            let expected = "the name of a device tree, or [topology]";
            return Err(error(file, "device_tree", "none", expected));
        }
        (Some(_), Some(_)) => {
            return Err(error(file, "topology", "a device tree beside it", "one of the two"));
        }
    };
    for (i, cache) in entry.cache.iter().enumerate() {
        if machine.caches.iter().any(|c| c.level == cache.level && c.kind == cache.kind) {
            let found = format!("a level-{} cache that is already there", cache.level);
            let expected = "caches that the device tree does not show, each once";
            return Err(error(file, &format!("cache[{i}]"), found, expected));
        }
        let seen = match (cache.seen_by_kernel, &entry.topology) {
            (Some(seen), Some(_)) => seen,
            (None | Some(false), None) => false,
            (found, _) => {
                let found = format!("{found:?}");
                let expected =
                    "true or false with [topology], and nothing or false with a device tree";
                return Err(error(file, &format!("cache[{i}].seen_by_kernel"), found, expected));
            }
        };
        let shape = CacheShape {
            level: cache.level,
            kind: cache.kind,
            size_kib: cache.size_kib,
            line_bytes: Some(cache.line_bytes),
            ways: None,
            shared_by: cache.shared_by,
            origin: if seen { Origin::Firmware } else { Origin::Catalog },
        };
        let before = machine.caches.len();
        add_cache(&mut machine, &shape)
            .map_err(|f| error(file, &format!("cache[{i}].shared_by"), f.found, &f.expected))?;
        set_sizes(&mut machine, before, cache).ok_or_else(|| {
            error(
                file,
                &format!("cache[{i}]"),
                "both sizes, none, or one too large",
                "size_kib or size_kib_per_core",
            )
        })?;
    }
    if entry.cache.iter().any(|c| c.level > 1) {
        machine.unknown.retain(|sentence| sentence != devicetree::NO_OUTER_CACHES);
    }
    sort_caches(&mut machine.caches);
    for (name, constant) in entry.constants {
        machine.constants.set(&name, constant);
    }
    Ok(machine)
}

/// The machine of the device tree called `tree`.
fn from_tree(
    tree: &str,
    entry: &Entry,
    file: &str,
    trees: &[(&str, &[u8])],
) -> Result<Machine, MachineError> {
    let Some((_, bytes)) = trees.iter().find(|(name, _)| *name == tree) else {
        let known: Vec<&str> = trees.iter().map(|(name, _)| *name).collect();
        return Err(error(file, "device_tree", format!("`{tree}`"), &known.join(" or ")));
    };
    if !entry.idle_state.is_empty() || entry.frequency.is_some() {
        let found = "idle_state or frequency beside a device tree";
        return Err(error(file, "device_tree", found, "them in the device tree, or [topology]"));
    }
    let mut machine = devicetree::read(bytes, tree)?;
    machine.name.clone_from(&entry.name);
    machine.title.clone_from(&entry.title);
    Ok(machine)
}

/// Gives the caches from index `from` on their size; `None` where `cache` has not exactly one that fits.
fn set_sizes(machine: &mut Machine, from: usize, cache: &CatalogCache) -> Option<()> {
    for i in from..machine.caches.len() {
        let cpus = machine.caches[i].cpus.clone();
        let mut cores: Vec<u32> = cpus.iter().map(|c| machine.cpus[c].core).collect();
        cores.sort_unstable();
        cores.dedup();
        let size = match (cache.size_kib, cache.size_kib_per_core) {
            (Some(size), None) => size,
            (None, Some(size)) => size.checked_mul(cores.len() as u32)?,
            _ => return None,
        };
        machine.caches[i].size_kib = Some(Some(size).filter(|&kib| kib > 0)?);
    }
    Some(())
}

#[cfg(test)]
mod tests;
