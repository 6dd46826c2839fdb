//! The catalog: named machines as data files.
//!
//! A machine is a TOML file beside the firmware tables it names; [`Entry`] is its format. Adding one is its
//! files and a line in `MACHINES`.

use crate::constants::{Constant, Mark};
use crate::cpuset::CpuSet;
use crate::devicetree;
use crate::error::MachineError;
use crate::model::{Cache, CacheKind, Machine, Origin, ThreadGroupProperty, sort_caches};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A machine's files: name in the catalog, TOML text, and each device tree that the TOML may name.
struct Files {
    name: &'static str,
    toml: &'static str,
    device_trees: &'static [(&'static str, &'static [u8])],
}

macro_rules! machines {
    ($($name:literal: [$($tree:literal),*];)*) => {
        &[$(Files {
            name: $name,
            toml: include_str!(concat!("../catalog/", $name, ".toml")),
            device_trees: &[$(($tree, include_bytes!(concat!("../catalog/", $tree)))),*],
        }),*]
    };
}

const MACHINES: &[Files] = machines! {
    "power9-big-core": ["power9-big-core.dtb"];
};

/// A catalog file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Name in the catalog.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Where the description of the machine comes from.
    pub source: String,
    /// Device tree that describes CPUs, nodes and what a kernel sees of the caches.
    pub device_tree: Option<String>,
    /// Caches that the device tree does not show.
    #[serde(default)]
    pub cache: Vec<CatalogCache>,
    /// What things cost, by name.
    #[serde(default)]
    pub constants: BTreeMap<String, Constant>,
}

/// A cache that documents tell of and firmware does not.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogCache {
    /// 1, 2, 3 …
    pub level: u8,
    /// What it holds.
    pub kind: CacheKind,
    /// Size in KiB.
    pub size_kib: u32,
    /// Line size in bytes.
    pub line_bytes: u32,
    /// Which CPUs share one.
    pub shared_by: Sharing,
    /// How well it is known.
    pub mark: Mark,
    /// Where it comes from.
    pub source: String,
}

/// Which CPUs share a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Threads of a small core (thread groups of property 1).
    SmallCore,
    /// Threads of a core; a big core counts as one.
    Core,
    /// CPUs of a package.
    Package,
}

/// Names of all machines, in the catalog's order.
pub fn names() -> Vec<&'static str> {
    MACHINES.iter().map(|m| m.name).collect()
}

/// The catalog file of machine `name`, with the provenance of what [`load`] puts into the model.
///
/// # Errors
/// A name that the catalog does not have.
pub fn entry(name: &str) -> Result<Entry, MachineError> {
    let files = files(name)?;
    parse(files.toml, &file_name(files))
}

/// The machine called `name`.
///
/// # Errors
/// A name that the catalog does not have.
pub fn load(name: &str) -> Result<Machine, MachineError> {
    let files = files(name)?;
    let file = file_name(files);
    build(parse(files.toml, &file)?, &file, files.device_trees)
}

fn file_name(files: &Files) -> String {
    format!("{}.toml", files.name)
}

fn files(name: &str) -> Result<&'static Files, MachineError> {
    MACHINES.iter().find(|m| m.name == name).ok_or_else(|| MachineError::Spec {
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
    for (i, cache) in entry.cache.iter().enumerate() {
        filled(&format!("cache[{i}].source"), &cache.source)?;
        let numbers = [u32::from(cache.level), cache.size_kib, cache.line_bytes];
        if numbers.contains(&0) {
            let found = "level, size_kib or line_bytes of 0";
            return Err(error(file, &format!("cache[{i}]"), found, "numbers above 0"));
        }
    }
    for (name, constant) in &entry.constants {
        filled(&format!("constants.{name}.unit"), &constant.unit)?;
        filled(&format!("constants.{name}.source"), &constant.source)?;
        if !constant.value.is_finite() {
            let field = format!("constants.{name}.value");
            return Err(error(file, &field, constant.value.to_string(), "a finite number"));
        }
    }
    Ok(entry)
}

/// The machine of `entry`, whose device tree is one of `trees`.
fn build(entry: Entry, file: &str, trees: &[(&str, &[u8])]) -> Result<Machine, MachineError> {
    let Some(tree) = &entry.device_tree else {
        return Err(error(file, "device_tree", "none", "the name of a device tree"));
    };
    let Some((_, bytes)) = trees.iter().find(|(name, _)| name == tree) else {
        let known: Vec<&str> = trees.iter().map(|(name, _)| *name).collect();
        return Err(error(file, "device_tree", format!("`{tree}`"), &known.join(" or ")));
    };
    let mut machine = devicetree::read(bytes, tree)?;
    machine.name = entry.name;
    machine.title = entry.title;
    for (i, cache) in entry.cache.iter().enumerate() {
        let field = format!("cache[{i}]");
        if machine.caches.iter().any(|c| c.level == cache.level && c.kind == cache.kind) {
            let found = format!("a level-{} cache that is already there", cache.level);
            return Err(error(file, &field, found, "caches that the device tree does not show"));
        }
        let Some(sets) = sharers(&machine, cache.shared_by) else {
            let field = format!("{field}.shared_by");
            return Err(error(file, &field, "small-core", "a machine with ibm,thread-groups"));
        };
        machine.caches.extend(sets.into_iter().map(|cpus| Cache {
            level: cache.level,
            kind: cache.kind,
            size_kib: Some(cache.size_kib),
            line_bytes: Some(cache.line_bytes),
            ways: None,
            cpus,
            origin: Origin::Catalog,
        }));
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

/// The sets into which `sharing` divides the machine's CPUs; `None` where a CPU is in no small core.
fn sharers(machine: &Machine, sharing: Sharing) -> Option<Vec<CpuSet>> {
    let mut sets: Vec<CpuSet> = Vec::new();
    for cpu in machine.possible().iter() {
        let set = match sharing {
            Sharing::SmallCore => machine.thread_group(cpu, ThreadGroupProperty::L1)?,
            Sharing::Core => machine.core_cpus(cpu),
            Sharing::Package => machine.package_cpus(cpu),
        };
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    Some(sets)
}

#[cfg(test)]
mod tests;
