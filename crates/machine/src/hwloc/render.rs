//! hwloc's tree of objects as XML of version 2.

use super::mask;
use super::parse::ORIGIN;
use super::topology::{CpuKind, Distances, Kind, Object};
use super::tree::Tree;
use crate::cpuset::CpuSet;
use crate::model::{CacheKind, Origin};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use std::io;

/// hwloc's kinds of groups: Linux's clusters, and groups that only hold a NUMA node.
const CLUSTER_GROUP: &str = "222";
const MEMORY_GROUP: &str = "1001";

/// A matrix of latencies (4) from the operating system (1).
const OS_LATENCY: &str = "5";

/// Writes the file.
pub(super) fn xml(tree: &Tree) -> String {
    let mut file = File { writer: Writer::new_with_indent(Vec::new(), b' ', 2), tree };
    // A vector takes all that is written, so this cannot fail.
    let _: io::Result<()> = file.topology();
    String::from_utf8_lossy(&file.writer.into_inner()).into_owned() + "\n"
}

type Attributes = Vec<(&'static str, String)>;

struct File<'t> {
    writer: Writer<Vec<u8>>,
    tree: &'t Tree,
}

impl File<'_> {
    fn topology(&mut self) -> io::Result<()> {
        self.writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        let doctype = BytesText::from_escaped("topology SYSTEM \"hwloc2.dtd\"");
        self.writer.write_event(Event::DocType(doctype))?;
        self.open("topology", vec![("version", "2.0".to_string())])?;
        let children = self.children();
        self.object(0, &children)?;
        if let Some(distances) = &self.tree.topology.distances {
            self.distances(distances)?;
        }
        for kind in &self.tree.topology.cpu_kinds {
            self.cpu_kind(kind)?;
        }
        self.close("topology")
    }

    /// Places of the objects right below each one: NUMA nodes first, the others by their first CPU.
    fn children(&self) -> Vec<Vec<usize>> {
        let objects = &self.tree.topology.objects;
        let mut children = vec![Vec::new(); objects.len()];
        for (index, parent) in self.tree.parents.iter().enumerate() {
            if let Some(below) = parent.and_then(|p| children.get_mut(p)) {
                below.push(index);
            }
        }
        for below in &mut children {
            below.sort_by_key(|&index| {
                objects.get(index).map(|o| (o.kind != Kind::Node, o.cpus.first(), o.os_index))
            });
        }
        children
    }

    /// Writes an object and those below it. A tree is as deep as there are types.
    fn object(&mut self, index: usize, children: &[Vec<usize>]) -> io::Result<()> {
        let tree = self.tree;
        let (Some(object), Some(nodes)) =
            (tree.topology.objects.get(index), tree.node_sets.get(index))
        else {
            return Ok(());
        };
        let below = children.get(index).map_or(&[][..], Vec::as_slice);
        let infos = self.infos(object);
        let attributes = attributes(object, nodes, index);
        if below.is_empty() && infos.is_empty() {
            return self.empty("object", attributes);
        }
        self.open("object", attributes)?;
        for (name, value) in infos {
            self.empty("info", vec![("name", name), ("value", value)])?;
        }
        for &child in below {
            self.object(child, children)?;
        }
        self.close("object")
    }

    fn infos(&self, object: &Object) -> Vec<(String, String)> {
        let mut infos = Vec::new();
        if object.kind == Kind::Machine {
            infos.extend(self.tree.topology.infos.iter().cloned());
        }
        if let Some(vendor) = &object.vendor {
            infos.push(("CPUVendor".to_string(), vendor.clone()));
        }
        if object.origin == Origin::Catalog {
            infos.push((ORIGIN.to_string(), "catalog".to_string()));
        }
        infos
    }

    fn distances(&mut self, distances: &Distances) -> io::Result<()> {
        self.open(
            "distances2",
            vec![
                ("type", "NUMANode".to_string()),
                ("nbobjs", distances.nodes.len().to_string()),
                ("kind", OS_LATENCY.to_string()),
                ("name", "NUMALatency".to_string()),
                ("indexing", "os".to_string()),
            ],
        )?;
        for (tag, numbers) in [("indexes", &distances.nodes), ("u64values", &distances.values)] {
            let text: String = numbers.iter().map(|n| format!("{n} ")).collect();
            self.open(tag, vec![("length", text.len().to_string())])?;
            self.writer.write_event(Event::Text(BytesText::new(&text)))?;
            self.close(tag)?;
        }
        self.close("distances2")
    }

    fn cpu_kind(&mut self, kind: &CpuKind) -> io::Result<()> {
        let mut attributes = vec![("cpuset", mask::text(&kind.cpus))];
        let capacity = kind.capacity.filter(|&capacity| i32::try_from(capacity).is_ok());
        attributes.extend(capacity.map(|c| ("forced_efficiency", c.to_string())));
        self.open("cpukind", attributes)?;
        for (name, value) in [
            ("FrequencyMaxMHz", kind.max_mhz),
            ("FrequencyBaseMHz", kind.base_mhz),
            ("LinuxCapacity", kind.capacity.map(u64::from)),
        ] {
            if let Some(value) = value {
                let name = ("name", name.to_string());
                self.empty("info", vec![name, ("value", value.to_string())])?;
            }
        }
        self.close("cpukind")
    }

    fn open(&mut self, tag: &str, attributes: Attributes) -> io::Result<()> {
        self.writer.write_event(Event::Start(element(tag, &attributes)))
    }

    fn empty(&mut self, tag: &str, attributes: Attributes) -> io::Result<()> {
        self.writer.write_event(Event::Empty(element(tag, &attributes)))
    }

    fn close(&mut self, tag: &str) -> io::Result<()> {
        self.writer.write_event(Event::End(BytesEnd::new(tag)))
    }
}

fn element<'a>(tag: &'a str, attributes: &'a Attributes) -> BytesStart<'a> {
    let pairs = attributes.iter().map(|(name, value)| (*name, value.as_str()));
    BytesStart::new(tag).with_attributes(pairs)
}

/// Attributes of an object; `gp_index` is its place.
fn attributes(object: &Object, nodes: &CpuSet, place: usize) -> Attributes {
    let mut out: Attributes = vec![("type", object.kind.to_string())];
    out.extend(object.os_index.map(|index| ("os_index", index.to_string())));
    out.push(("cpuset", mask::text(&object.online)));
    out.push(("complete_cpuset", mask::text(&object.cpus)));
    if object.kind == Kind::Machine {
        out.push(("allowed_cpuset", mask::text(&object.online)));
    }
    out.push(("nodeset", mask::text(nodes)));
    out.push(("complete_nodeset", mask::text(nodes)));
    if object.kind == Kind::Machine {
        out.push(("allowed_nodeset", mask::text(nodes)));
    }
    out.push(("gp_index", (place + 1).to_string()));
    match object.kind {
        Kind::Cluster => {
            out.push(("subtype", "Cluster".to_string()));
            out.push(("kind", CLUSTER_GROUP.to_string()));
            out.push(("subkind", "0".to_string()));
            out.push(("dont_merge", "1".to_string()));
        }
        Kind::Group => {
            out.push(("kind", MEMORY_GROUP.to_string()));
            out.push(("subkind", "0".to_string()));
        }
        Kind::Node => out.extend(object.bytes.map(|bytes| ("local_memory", bytes.to_string()))),
        Kind::Cache(level, kind) => cache_attributes(object, level, kind, &mut out),
        _ => {}
    }
    out
}

fn cache_attributes(cache: &Object, level: u8, kind: CacheKind, out: &mut Attributes) {
    let ways = match cache.ways {
        Some(0) => "-1".to_string(),
        ways => ways.unwrap_or(0).to_string(),
    };
    let kind = match kind {
        CacheKind::Unified => "0",
        CacheKind::Data => "1",
        CacheKind::Instruction => "2",
    };
    out.push(("cache_size", cache.bytes.unwrap_or(0).to_string()));
    out.push(("depth", level.to_string()));
    out.push(("cache_linesize", cache.line_bytes.unwrap_or(0).to_string()));
    out.push(("cache_associativity", ways));
    out.push(("cache_type", kind.to_string()));
}
