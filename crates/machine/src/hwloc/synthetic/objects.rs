//! Levels to objects.

use super::indexes;
use super::level::{Description, Level};
use crate::cpuset::{CpuSet, MAX_CPUS};
use crate::error::{Fault, MachineError};
use crate::hwloc::Source;
use crate::hwloc::topology::{Kind, Object, Topology};

/// hwloc's sizes for levels without one, and its line size.
const MEMORY_BYTES: u64 = 1 << 30;
const LINE_BYTES: u32 = 64;

/// Builds the machine's objects.
pub(super) fn objects(
    description: &Description,
    source: &Source<'_>,
) -> Result<Topology, MachineError> {
    let attached = description.attached_nodes();
    if attached > MAX_CPUS {
        let fault = Fault::new(format!("{attached} NUMA nodes"), format!("{MAX_CPUS} at most"));
        return Err(source.error("levels", fault));
    }
    let indexes = description.levels.iter().map(|level| numbers(level, description));
    let indexes: Result<Vec<_>, Fault> = indexes.collect();
    let mut builder = Builder {
        description,
        indexes: indexes.map_err(|fault| source.error("levels", fault))?,
        attached: attached_numbers(description, attached)
            .map_err(|fault| source.error("attached nodes", fault))?,
        objects: Vec::new(),
        next: vec![0; description.levels.len()],
        next_attached: 0,
    };
    builder.object(0).map_err(|fault| source.error("levels", fault))?;
    // The machine is built last and comes first.
    builder.objects.reverse();
    Ok(Topology {
        objects: builder.objects,
        infos: Vec::new(),
        distances: None,
        cpu_kinds: Vec::new(),
        allowed: None,
    })
}

/// os_index of each object of a level; caches and groups have one only where the string gives it.
fn numbers(level: &Level, description: &Description) -> Result<Option<Vec<u32>>, Fault> {
    match (&level.attributes.indexes, level.kind) {
        (Some(text), _) => indexes::read(text, level.width, description).map(Some),
        (None, Some(Kind::Cache(..) | Kind::Group)) => Ok(None),
        (None, _) => Ok(Some((0u32..).take(level.width).collect())),
    }
}

/// Numbers of the attached nodes: those of the last brackets that give some.
fn attached_numbers(description: &Description, total: usize) -> Result<Vec<u32>, Fault> {
    let brackets = description.levels.iter().flat_map(|level| &level.attached);
    let given: Vec<&String> = brackets.filter_map(|a| a.indexes.as_ref()).collect();
    match given.as_slice() {
        [] => Ok((0u32..).take(total).collect()),
        [text] => indexes::read(text, total, description),
        _ => Err(Fault::new("indexes in several brackets", "one for all attached nodes")),
    }
}

struct Builder<'d> {
    description: &'d Description,
    indexes: Vec<Option<Vec<u32>>>,
    attached: Vec<u32>,
    objects: Vec<Object>,
    /// Place of the next object of each level, and of the next attached node.
    next: Vec<usize>,
    next_attached: usize,
}

impl Builder<'_> {
    /// Adds the next object of level `depth` after what is below it, and gives its CPUs. A string's levels bound the
    /// depth.
    fn object(&mut self, depth: usize) -> Result<CpuSet, Fault> {
        let description = self.description;
        let Some(level) = description.levels.get(depth) else { return Ok(CpuSet::EMPTY) };
        let os_index = self.number(depth);
        let mut cpus = CpuSet::EMPTY;
        match description.levels.get(depth + 1) {
            Some(below) => {
                for _ in 0..below.width / level.width {
                    cpus |= self.object(depth + 1)?;
                }
            }
            None => match os_index.map(|index| index as usize) {
                Some(cpu) if cpu < MAX_CPUS => cpus.insert(cpu),
                _ => {
                    let found = format!("PU {}", os_index.unwrap_or(u32::MAX));
                    return Err(Fault::new(found, format!("PUs below {MAX_CPUS}")));
                }
            },
        }
        for node in &level.attached {
            let number = self.attached.get(self.next_attached).copied();
            self.next_attached += 1;
            let bytes = node.bytes.filter(|&b| b > 0).unwrap_or(MEMORY_BYTES);
            let object = Object::new(Kind::Node, cpus.clone(), cpus.clone());
            self.objects.push(Object { os_index: number, bytes: Some(bytes), ..object });
        }
        if let Some(kind) = level.kind {
            self.objects
                .push(Object { os_index, ..filled(kind, level.attributes.bytes, cpus.clone()) });
        }
        Ok(cpus)
    }

    fn number(&mut self, depth: usize) -> Option<u32> {
        let place = self.next.get_mut(depth)?;
        let number = self.indexes.get(depth)?.as_ref()?.get(*place).copied();
        *place += 1;
        number
    }
}

/// An object with the sizes that the string gives or hwloc chooses.
fn filled(kind: Kind, bytes: Option<u64>, cpus: CpuSet) -> Object {
    let object = Object::new(kind, cpus.clone(), cpus);
    let bytes = bytes.filter(|&bytes| bytes > 0);
    match kind {
        Kind::Node => Object { bytes: Some(bytes.unwrap_or(MEMORY_BYTES)), ..object },
        Kind::Cache(level, _) => {
            let usual = if level == 1 { 32 << 10 } else { (256u64 << 10) << (2 * level) };
            Object { bytes: bytes.or(Some(usual)), line_bytes: Some(LINE_BYTES), ..object }
        }
        _ => object,
    }
}
