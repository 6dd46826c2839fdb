//! What stands in hwloc XML beside the objects: infos, distances, kinds of CPUs.

use super::File;
use crate::cpuset::CpuSet;
use crate::error::{Fault, MachineError};
use crate::hwloc::mask;
use crate::hwloc::topology::{CpuKind, Distances};
use roxmltree::Node;
use std::str::FromStr;

/// Bit of a distance matrix's kind: latencies.
const LATENCY: u32 = 1 << 2;

impl File<'_> {
    /// Names and values of the `<info>` right below `node`.
    pub(super) fn infos(&self, node: Node<'_, '_>) -> Result<Vec<(String, String)>, MachineError> {
        let infos = node.children().filter(|n| n.has_tag_name("info"));
        let pair = |info: Node<'_, '_>| {
            let name = self.required(info, "name")?.to_string();
            Ok((name, info.attribute("value").map_or(String::new(), str::to_string)))
        };
        infos.map(pair).collect()
    }

    /// CPUs that the recording process was allowed to use, where not all.
    pub(super) fn allowed(&self, machine: Node<'_, '_>) -> Result<Option<CpuSet>, MachineError> {
        match machine.attribute("allowed_cpuset") {
            Some(text) if !text.starts_with(mask::INFINITE) => {
                self.set(machine, "allowed_cpuset", text).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The matrix of NUMA distances that the operating system gives: `NUMALatency`, which early versions left
    /// without a name.
    pub(super) fn distances(&self, root: Node<'_, '_>) -> Result<Option<Distances>, MachineError> {
        for node in root.children().filter(|n| n.has_tag_name("distances2")) {
            let kind: Option<u32> = self.number(node, "kind")?;
            let latency = match node.attribute("name") {
                Some(name) => name == "NUMALatency",
                None => kind.is_some_and(|kind| kind & LATENCY != 0),
            };
            if latency && node.attribute("type") == Some("NUMANode") {
                return self.matrix(node).map(Some);
            }
        }
        Ok(None)
    }

    fn matrix(&self, node: Node<'_, '_>) -> Result<Distances, MachineError> {
        let indexing = self.required(node, "indexing")?;
        if indexing != "os" {
            let fault = Fault::new(format!("`{indexing}`"), "os");
            return Err(self.fault(node, "indexing", fault));
        }
        let nodes: Vec<u32> = self.numbers(node, "indexes")?;
        let values: Vec<u32> = self.numbers(node, "u64values")?;
        let told: Option<usize> = self.number(node, "nbobjs")?;
        if told != Some(nodes.len()) || nodes.len().checked_mul(nodes.len()) != Some(values.len()) {
            let found = format!("{} indexes and {} values", nodes.len(), values.len());
            let expected = "nbobjs indexes and a value for each pair";
            return Err(self.fault(node, "indexes", Fault::new(found, expected)));
        }
        Ok(Distances { nodes, values })
    }

    /// Numbers in the text of all children called `tag`.
    fn numbers<T: FromStr>(&self, node: Node<'_, '_>, tag: &str) -> Result<Vec<T>, MachineError> {
        let children = node.children().filter(|n| n.has_tag_name(tag));
        let words = children.filter_map(|n| n.text()).flat_map(str::split_whitespace);
        let number = |word: &str| {
            let fault = || Fault::new(format!("`{word}`"), "numbers below 2^32");
            word.parse().map_err(|_| self.fault(node, tag, fault()))
        };
        words.map(number).collect()
    }

    /// Kinds of CPUs, with what their `<info>` tell.
    pub(super) fn cpu_kinds(&self, root: Node<'_, '_>) -> Result<Vec<CpuKind>, MachineError> {
        let nodes = root.children().filter(|n| n.has_tag_name("cpukind"));
        let kind = |node: Node<'_, '_>| {
            let infos = self.infos(node)?;
            Ok(CpuKind {
                cpus: self.set(node, "cpuset", self.required(node, "cpuset")?)?,
                capacity: self.info_number(node, &infos, "LinuxCapacity")?,
                max_mhz: self.info_number(node, &infos, "FrequencyMaxMHz")?,
                base_mhz: self.info_number(node, &infos, "FrequencyBaseMHz")?,
            })
        };
        nodes.map(kind).collect()
    }

    fn info_number<T: FromStr>(
        &self,
        node: Node<'_, '_>,
        infos: &[(String, String)],
        name: &str,
    ) -> Result<Option<T>, MachineError> {
        let Some((_, text)) = infos.iter().find(|(n, _)| n == name) else { return Ok(None) };
        let fault = |_| self.fault(node, name, Fault::new(format!("`{text}`"), "a number"));
        text.parse().map(Some).map_err(fault)
    }
}
