//! What hwloc has no object for, as `<info>` elements with JSON values.

use super::Source;
use super::topology::Topology;
use crate::error::{Fault, MachineError};
use crate::model::{Cache, Cpu, Machine, sort_caches};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;

/// What the names of our `<info>` start with.
pub(super) const PREFIX: &str = "schedscape:";

/// The `<info>` that holds one cache of those that are not in the tree.
const CACHE: &str = "cache";

/// One number of each CPU.
struct Column {
    name: &'static str,
    get: fn(&Cpu) -> Option<u32>,
    /// Gives `None` for a missing number that the model needs.
    set: fn(&mut Cpu, Option<u32>) -> Option<()>,
}

fn put(slot: &mut u32, value: Option<u32>) -> Option<()> {
    *slot = value?;
    Some(())
}

fn put_any(slot: &mut Option<u32>, value: Option<u32>) -> Option<()> {
    *slot = value;
    Some(())
}

const COLUMNS: [Column; 11] = [
    Column { name: "hw_id", get: |c| Some(c.hw_id), set: |c, v| put(&mut c.hw_id, v) },
    Column { name: "core", get: |c| Some(c.core), set: |c, v| put(&mut c.core, v) },
    Column { name: "thread", get: |c| Some(c.thread), set: |c, v| put(&mut c.thread, v) },
    Column { name: "cluster", get: |c| c.cluster, set: |c, v| put_any(&mut c.cluster, v) },
    Column { name: "die", get: |c| Some(c.die), set: |c, v| put(&mut c.die, v) },
    Column { name: "package", get: |c| Some(c.package), set: |c, v| put(&mut c.package, v) },
    Column { name: "node", get: |c| Some(c.node), set: |c, v| put(&mut c.node, v) },
    Column { name: "core_id", get: |c| c.ids.core, set: |c, v| put_any(&mut c.ids.core, v) },
    Column {
        name: "cluster_id",
        get: |c| c.ids.cluster,
        set: |c, v| put_any(&mut c.ids.cluster, v),
    },
    Column { name: "die_id", get: |c| c.ids.die, set: |c, v| put_any(&mut c.ids.die, v) },
    Column { name: "capacity", get: |c| c.capacity, set: |c, v| put_any(&mut c.capacity, v) },
];

/// Names and values of the infos that turn `plain`, what the objects alone tell, into `machine`.
pub(super) fn of(machine: &Machine, plain: Option<&Machine>) -> Vec<(String, String)> {
    let mut infos = Infos(Vec::new());
    for column in &COLUMNS {
        let values = |m: &Machine| m.cpus.iter().map(column.get).collect::<Vec<_>>();
        infos.field(column.name, &values(machine), plain.map(values).as_ref());
    }
    infos.caches(&machine.caches, plain.map_or(&[], |p| &p.caches));
    infos.field("name", &machine.name, plain.map(|p| &p.name));
    infos.field("title", &machine.title, plain.map(|p| &p.title));
    infos.field("arch", &machine.arch, plain.map(|p| &p.arch));
    infos.field("nodes", &machine.nodes, plain.map(|p| &p.nodes));
    infos.field("thread_groups", &machine.thread_groups, plain.map(|p| &p.thread_groups));
    infos.field("idle_states", &machine.idle_states, plain.map(|p| &p.idle_states));
    infos.field("policies", &machine.policies, plain.map(|p| &p.policies));
    infos.field("cppc", &machine.cppc, plain.map(|p| &p.cppc));
    infos.field("vendor", &machine.vendor, plain.map(|p| &p.vendor));
    infos.field("smt_control", &machine.smt_control, plain.map(|p| &p.smt_control));
    infos.field("firmware", &machine.firmware, plain.map(|p| &p.firmware));
    infos.field("constants", &machine.constants, plain.map(|p| &p.constants));
    infos.field("unknown", &machine.unknown, plain.map(|p| &p.unknown));
    infos.0
}

struct Infos(Vec<(String, String)>);

impl Infos {
    /// Adds a field that is not the plain one.
    fn field<T: Serialize + PartialEq>(&mut self, name: &str, value: &T, plain: Option<&T>) {
        if plain == Some(value) {
            return;
        }
        // Fails on maps with other keys than strings alone, which the model does not have.
        if let Ok(json) = serde_json::to_string(value) {
            // XML cannot hold these two, JSON leaves them as they are.
            let json = json.replace('\u{fffe}', "\\ufffe").replace('\u{ffff}', "\\uffff");
            self.0.push((format!("{PREFIX}{name}"), json));
        }
    }

    /// Adds the caches that the tree lacks. Both lists have one order, so a cache is mostly next in line.
    fn caches(&mut self, caches: &[Cache], plain: &[Cache]) {
        let mut plain: VecDeque<&Cache> = plain.iter().collect();
        for cache in caches {
            match plain.iter().position(|p| *p == cache) {
                Some(place) => {
                    plain.remove(place);
                }
                None => self.field(CACHE, cache, None),
            }
        }
    }
}

/// Puts what our infos tell into `machine`.
pub(super) fn apply(
    topology: &Topology,
    machine: &mut Machine,
    source: &Source<'_>,
) -> Result<(), MachineError> {
    let mut seen: Vec<&str> = Vec::new();
    for (name, json) in &topology.infos {
        let Some(name) = name.strip_prefix(PREFIX) else { continue };
        if name != CACHE && seen.contains(&name) {
            return Err(error(source, name, Fault::new("a second one", "one")));
        }
        seen.push(name);
        let value = Value { name, json, source };
        match COLUMNS.iter().find(|column| column.name == name) {
            Some(column) => value.column(column, machine)?,
            None => value.field(machine)?,
        }
    }
    if seen.contains(&CACHE) {
        sort_caches(&mut machine.caches);
    }
    Ok(())
}

fn error(source: &Source<'_>, name: &str, fault: Fault) -> MachineError {
    source.error(format!("info {PREFIX}{name}"), fault)
}

/// One of our infos.
struct Value<'a> {
    name: &'a str,
    json: &'a str,
    source: &'a Source<'a>,
}

impl Value<'_> {
    fn parse<T: DeserializeOwned>(&self) -> Result<T, MachineError> {
        serde_json::from_str(self.json).map_err(|e| {
            let fault = Fault::new(e.to_string(), "JSON as schedscape writes it");
            error(self.source, self.name, fault)
        })
    }

    fn column(&self, column: &Column, machine: &mut Machine) -> Result<(), MachineError> {
        let values: Vec<Option<u32>> = self.parse()?;
        if values.len() != machine.cpus.len() {
            let expected = format!("{}, one for each CPU", machine.cpus.len());
            let fault = Fault::new(format!("{} numbers", values.len()), expected);
            return Err(error(self.source, self.name, fault));
        }
        for (cpu, value) in machine.cpus.iter_mut().zip(values) {
            if (column.set)(cpu, value).is_none() {
                let fault = Fault::new("null", "a number for each CPU");
                return Err(error(self.source, self.name, fault));
            }
        }
        Ok(())
    }

    fn field(&self, machine: &mut Machine) -> Result<(), MachineError> {
        match self.name {
            CACHE => machine.caches.push(self.parse()?),
            "name" => machine.name = self.parse()?,
            "title" => machine.title = self.parse()?,
            "arch" => machine.arch = self.parse()?,
            "nodes" => machine.nodes = self.parse()?,
            "thread_groups" => machine.thread_groups = self.parse()?,
            "idle_states" => machine.idle_states = self.parse()?,
            "policies" => machine.policies = self.parse()?,
            "cppc" => machine.cppc = self.parse()?,
            "vendor" => machine.vendor = self.parse()?,
            "smt_control" => machine.smt_control = self.parse()?,
            "firmware" => machine.firmware = self.parse()?,
            "constants" => machine.constants = self.parse()?,
            "unknown" => machine.unknown = self.parse()?,
            _ => {
                let fault = Fault::new("this name", "one that schedscape writes");
                return Err(error(self.source, self.name, fault));
            }
        }
        Ok(())
    }
}
