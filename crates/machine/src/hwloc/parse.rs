//! hwloc XML to a list of objects.

mod extras;

use super::topology::{Kind, Object, Topology};
use super::{Source, mask};
use crate::cpuset::CpuSet;
use crate::error::{Fault, MachineError};
use crate::model::{CacheKind, Origin};
use roxmltree::{Document, Node, ParsingOptions};
use std::str::FromStr;

/// Marks a cache that no kernel sees; hwloc keeps it with the object.
pub(super) const ORIGIN: &str = "schedscape:origin";

/// Most XML nodes of a file: a machine of 8192 CPUs with its devices has some 100 000.
const MAX_XML_NODES: u32 = 500_000;

/// Types of objects that are no part of the model: devices, annotations and caches of memory.
const LEFT_OUT: [&str; 5] = ["Misc", "Bridge", "PCIDev", "OSDev", "MemCache"];

/// hwloc's kind of a group that older versions used for a die.
const DIE_GROUP: &str = "104";

/// Reads a file.
pub(super) fn topology(text: &str, source: &Source<'_>) -> Result<Topology, MachineError> {
    let file = File { text, source };
    if let Some(at) = text.find("<!ENTITY") {
        let fault = Fault::new("an entity declaration", "hwloc XML, which has none");
        return Err(file.error(at, "", fault));
    }
    let options =
        ParsingOptions { allow_dtd: true, nodes_limit: MAX_XML_NODES, ..Default::default() };
    let document = Document::parse_with_options(text, options).map_err(|e| {
        source.error(format!("line {}", e.pos().row), Fault::new(e.to_string(), "well-formed XML"))
    })?;
    file.topology(document.root_element())
}

/// The file, for errors with a line.
pub(super) struct File<'a> {
    text: &'a str,
    source: &'a Source<'a>,
}

impl File<'_> {
    /// An error at byte `at`, in an element or attribute described by `what`.
    fn error(&self, at: usize, what: &str, fault: Fault) -> MachineError {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let colon = if what.is_empty() { "" } else { ": " };
        self.source.error(format!("line {line}{colon}{what}"), fault)
    }

    /// An error about the attribute or child `what` of `node`.
    fn fault(&self, node: Node<'_, '_>, what: &str, fault: Fault) -> MachineError {
        self.error(node.range().start, &format!("<{}> {what}", node.tag_name().name()), fault)
    }

    fn topology(&self, root: Node<'_, '_>) -> Result<Topology, MachineError> {
        self.check_version(root)?;
        let mut objects = Vec::new();
        let mut infos = Vec::new();
        let mut allowed = None;
        let tops = root.children().filter(|n| n.has_tag_name("object"));
        for (number, top) in tops.enumerate() {
            if number > 0 || top.attribute("type") != Some("Machine") {
                let found = format!("an object of type {}", top.attribute("type").unwrap_or("?"));
                return Err(self.fault(top, "type", Fault::new(found, "one Machine at the top")));
            }
            allowed = self.allowed(top)?;
            infos.extend(self.infos(top)?);
            for node in top.descendants().filter(|n| n.has_tag_name("object")) {
                objects.extend(self.object(node)?);
            }
        }
        if objects.is_empty() {
            return Err(self.fault(
                root,
                "object",
                Fault::new("none", "an object of type Machine"),
            ));
        }
        infos.extend(self.infos(root)?);
        Ok(Topology {
            objects,
            infos,
            distances: self.distances(root)?,
            cpu_kinds: self.cpu_kinds(root)?,
            allowed,
        })
    }

    fn check_version(&self, root: Node<'_, '_>) -> Result<(), MachineError> {
        if !root.has_tag_name("topology") {
            let found = format!("<{}>", root.tag_name().name());
            return Err(self.error(root.range().start, "", Fault::new(found, "<topology>")));
        }
        let version = root.attribute("version");
        match version.and_then(|v| v.split('.').next()) {
            Some("2" | "3") => Ok(()),
            _ => {
                let found = match version {
                    Some(version) => format!("`{version}`"),
                    None => "none, as in version 1".to_string(),
                };
                let expected = "hwloc XML of version 2 or 3 (lstopo of hwloc 2 converts version 1)";
                Err(self.fault(root, "version", Fault::new(found, expected)))
            }
        }
    }

    /// The object, unless it is of a type that is left out.
    fn object(&self, node: Node<'_, '_>) -> Result<Option<Object>, MachineError> {
        let name = self.required(node, "type")?;
        if LEFT_OUT.contains(&name) {
            return Ok(None);
        }
        let Some(kind) = self.kind(node, name)? else {
            let fault = Fault::new(format!("`{name}`"), "a type of object of hwloc 2 or 3");
            return Err(self.fault(node, "type", fault));
        };
        let online = self.set(node, "cpuset", self.required(node, "cpuset")?)?;
        let cpus = match node.attribute("complete_cpuset") {
            Some(text) => self.set(node, "complete_cpuset", text)?,
            None => online.clone(),
        };
        if !online.is_subset(&cpus) {
            let fault =
                Fault::new(format!("CPUs {cpus}"), format!("at least those of cpuset, {online}"));
            return Err(self.fault(node, "complete_cpuset", fault));
        }
        let infos = self.infos(node)?;
        let info = |name: &str| infos.iter().find(|(n, _)| n == name).map(|(_, value)| value);
        let mut object = Object::new(kind, cpus, online);
        object.os_index = self.number(node, "os_index")?.filter(|&index| index != u32::MAX);
        object.vendor = info("CPUVendor").cloned();
        if let Some(origin) = info(ORIGIN) {
            if origin != "catalog" {
                let fault = Fault::new(format!("`{origin}`"), "catalog");
                return Err(self.fault(node, ORIGIN, fault));
            }
            object.origin = Origin::Catalog;
        }
        match kind {
            Kind::Cache(..) => self.cache_attributes(node, &mut object)?,
            Kind::Node => object.bytes = self.number(node, "local_memory")?,
            Kind::Pu => self.check_pu(node, &object)?,
            _ => {}
        }
        Ok(Some(object))
    }

    fn check_pu(&self, node: Node<'_, '_>, pu: &Object) -> Result<(), MachineError> {
        match (pu.os_index, pu.online.first()) {
            (Some(index), Some(cpu)) if pu.cpus == CpuSet::single(cpu) && index as usize == cpu => {
                Ok(())
            }
            (index, _) => {
                let found = format!("CPUs `{}`", pu.cpus);
                let expected = match index {
                    Some(index) => format!("just {index}, the PU's os_index"),
                    None => "one, and the same as os_index".to_string(),
                };
                Err(self.fault(node, "cpuset", Fault::new(found, expected)))
            }
        }
    }

    /// The type in the model; `None` for a name that hwloc does not have.
    fn kind(&self, node: Node<'_, '_>, name: &str) -> Result<Option<Kind>, MachineError> {
        Ok(Some(match name {
            "Machine" => Kind::Machine,
            "Package" => Kind::Package,
            "Die" => Kind::Die,
            "Core" => Kind::Core,
            "PU" => Kind::Pu,
            "NUMANode" => Kind::Node,
            "Group" => match node.attribute("subtype") {
                Some("Cluster") => Kind::Cluster,
                Some("Die") => Kind::Die,
                _ if node.attribute("kind") == Some(DIE_GROUP) => Kind::Die,
                _ => Kind::Group,
            },
            _ => {
                let Some((level, instructions)) = cache_type(name) else { return Ok(None) };
                Kind::Cache(level, self.cache_kind(node, instructions)?)
            }
        }))
    }

    fn cache_kind(
        &self,
        node: Node<'_, '_>,
        instructions: bool,
    ) -> Result<CacheKind, MachineError> {
        match (node.attribute("cache_type").unwrap_or("0"), instructions) {
            ("0", false) => Ok(CacheKind::Unified),
            ("1", false) => Ok(CacheKind::Data),
            ("2", true) => Ok(CacheKind::Instruction),
            (other, _) => {
                let expected =
                    if instructions { "2, instructions" } else { "0, unified, or 1, data" };
                let fault = Fault::new(format!("`{other}`"), expected);
                Err(self.fault(node, "cache_type", fault))
            }
        }
    }

    fn cache_attributes(&self, node: Node<'_, '_>, cache: &mut Object) -> Result<(), MachineError> {
        cache.bytes = self.number(node, "cache_size")?.filter(|&bytes| bytes != 0);
        cache.line_bytes = self.number(node, "cache_linesize")?.filter(|&bytes| bytes != 0);
        cache.ways = match self.number::<i64>(node, "cache_associativity")? {
            None | Some(0) => None,
            Some(-1) => Some(0),
            Some(ways) => Some(u32::try_from(ways).map_err(|_| {
                let fault = Fault::new(ways.to_string(), "-1 to 2^32 - 1");
                self.fault(node, "cache_associativity", fault)
            })?),
        };
        Ok(())
    }

    fn required<'n>(&self, node: Node<'n, '_>, name: &str) -> Result<&'n str, MachineError> {
        node.attribute(name).ok_or_else(|| self.fault(node, name, Fault::new("nothing", "a value")))
    }

    fn number<T: FromStr>(
        &self,
        node: Node<'_, '_>,
        name: &str,
    ) -> Result<Option<T>, MachineError> {
        let Some(text) = node.attribute(name) else { return Ok(None) };
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(self.fault(node, name, Fault::new(format!("`{text}`"), "a number"))),
        }
    }

    fn set(&self, node: Node<'_, '_>, name: &str, text: &str) -> Result<CpuSet, MachineError> {
        mask::parse(text).map_err(|fault| self.fault(node, name, fault))
    }
}

/// Level, and whether it holds instructions, of the type `L2Cache`, `L1iCache` …
fn cache_type(name: &str) -> Option<(u8, bool)> {
    let name = name.strip_prefix('L')?.strip_suffix("Cache")?;
    let (level, instructions) = match name.strip_suffix('i') {
        Some(level) => (level, true),
        None => (name, false),
    };
    let most = if instructions { 3 } else { 5 };
    let level = level.parse().ok().filter(|level| (1..=most).contains(level))?;
    Some((level, instructions))
}
