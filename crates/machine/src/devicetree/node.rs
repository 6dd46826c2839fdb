//! Typed access to nodes and properties, with errors that name both.

use super::fdt::{self, RawNode};
use super::files;
use crate::error::{Fault, MachineError};
use std::collections::HashMap;

/// Properties that readers ask for. A directory holds many more, each a file, that need not be opened.
pub(super) const READ: &[&str] = &[
    "#address-cells",
    "#size-cells",
    "cache-block-size",
    "cache-level",
    "cache-line-size",
    "cache-sets",
    "cache-size",
    "cache-unified",
    "capacity-dmips-mhz",
    "clock-frequency",
    "compatible",
    "cpu",
    "cpu-idle-states",
    "d-cache-block-size",
    "d-cache-line-size",
    "d-cache-sets",
    "d-cache-size",
    "device_type",
    "distance-matrix",
    "enable-method",
    "entry-latency-us",
    "exit-latency-us",
    "i-cache-block-size",
    "i-cache-line-size",
    "i-cache-sets",
    "i-cache-size",
    "ibm,architecture-vec-5",
    "ibm,associativity",
    "ibm,associativity-reference-points",
    "ibm,chip-id",
    "ibm,cpu-idle-state-latencies-ns",
    "ibm,cpu-idle-state-names",
    "ibm,cpu-idle-state-residency-ns",
    "ibm,numa-distance-table",
    "ibm,numa-lookup-index-table",
    "ibm,phandle",
    "ibm,ppc-interrupt-server#s",
    "ibm,pstate-frequencies-mhz",
    "ibm,thread-groups",
    "l2-cache",
    "linux,phandle",
    "min-residency-us",
    "model",
    "next-level-cache",
    "numa-node-id",
    "operating-points",
    "operating-points-v2",
    "opp-hz",
    "phandle",
    "reg",
    "status",
    "turbo-mode",
    "wakeup-latency-us",
];

/// A device tree.
pub(super) struct Tree<'a> {
    file: &'a str,
    nodes: Vec<RawNode<'a>>,
    /// Indices of each node's children.
    children: Vec<Vec<usize>>,
    /// `reg` of the CPU that boots, as the blob's header has it.
    boot_cpu: Option<u32>,
}

/// A node of a [`Tree`].
#[derive(Clone, Copy)]
pub(super) struct Node<'t> {
    tree: &'t Tree<'t>,
    index: usize,
}

impl<'a> Tree<'a> {
    pub(super) fn read(blob: &'a [u8], file: &'a str) -> Result<Tree<'a>, MachineError> {
        let mut tree = Tree::of_nodes(fdt::nodes(blob, file)?, file);
        tree.boot_cpu = fdt::boot_cpu(blob);
        Ok(tree)
    }

    /// The tree of a device-tree directory's `files`; see [`files::nodes`].
    pub(super) fn from_files(
        files: impl IntoIterator<Item = (String, Vec<u8>)>,
        file: &'a str,
    ) -> Result<Tree<'a>, MachineError> {
        Ok(Tree::of_nodes(files::nodes(files, file)?, file))
    }

    fn of_nodes(nodes: Vec<RawNode<'a>>, file: &'a str) -> Tree<'a> {
        let mut children = vec![Vec::new(); nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            if let Some(siblings) = node.parent.and_then(|parent| children.get_mut(parent)) {
                siblings.push(index);
            }
        }
        Tree { file, nodes, children, boot_cpu: None }
    }

    /// `reg` of the CPU that boots, where the source has it.
    pub(super) fn boot_cpu(&self) -> Option<u32> {
        self.boot_cpu
    }

    /// All nodes, in the blob's order; the first is the root.
    pub(super) fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        (0..self.nodes.len()).map(|index| Node { tree: self, index })
    }

    /// The root node.
    pub(super) fn root(&self) -> Node<'_> {
        // A tree without nodes does not leave `fdt::nodes`.
        Node { tree: self, index: 0 }
    }

    /// Nodes by phandle.
    pub(super) fn phandles(&self) -> Result<HashMap<u32, Node<'_>>, MachineError> {
        let mut nodes = HashMap::new();
        for node in self.nodes() {
            for name in ["phandle", "linux,phandle", "ibm,phandle"] {
                if let Some(phandle) = node.cell(name)? {
                    nodes.insert(phandle, node);
                }
            }
        }
        Ok(nodes)
    }
}

impl<'t> Node<'t> {
    fn raw(&self) -> &'t RawNode<'t> {
        &self.tree.nodes[self.index]
    }

    /// Position in the tree; two nodes are the same where their indices are.
    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Name with unit address.
    pub(super) fn name(&self) -> &'t str {
        &self.raw().name
    }

    /// Name without unit address.
    pub(super) fn base_name(&self) -> &'t str {
        self.name().split('@').next().unwrap_or(self.name())
    }

    pub(super) fn parent(&self) -> Option<Node<'t>> {
        self.raw().parent.map(|index| Node { tree: self.tree, index })
    }

    /// Children in the blob's order.
    pub(super) fn children(&self) -> impl Iterator<Item = Node<'t>> + use<'t> {
        let tree = self.tree;
        tree.children[self.index].iter().map(move |&index| Node { tree, index })
    }

    /// The child called `name`, with any unit address or none.
    pub(super) fn child(&self, name: &str) -> Option<Node<'t>> {
        self.children().find(|c| c.base_name() == name)
    }

    /// Path from the root, as `/cpus/PowerPC,POWER9@0`.
    pub(super) fn path(&self) -> String {
        let mut names = Vec::new();
        let mut node = *self;
        while let Some(parent) = node.parent() {
            names.push(node.name());
            node = parent;
        }
        names.reverse();
        format!("/{}", names.join("/"))
    }

    /// The bytes of property `name`, one of [`READ`].
    pub(super) fn bytes(&self, name: &str) -> Option<&'t [u8]> {
        debug_assert!(READ.contains(&name), "{name} is not in READ");
        self.raw().properties.iter().find(|(n, _)| n == name).map(|(_, value)| &**value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.bytes(name).is_some()
    }

    /// Property `name` as 32-bit cells.
    pub(super) fn cells(&self, name: &str) -> Result<Option<Vec<u32>>, MachineError> {
        let Some(bytes) = self.bytes(name) else { return Ok(None) };
        let (cells, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            let fault = Fault::new(format!("{} bytes", bytes.len()), "cells of 4 bytes");
            return Err(self.property_error(name, fault));
        }
        Ok(Some(cells.iter().map(|c| u32::from_be_bytes(*c)).collect()))
    }

    /// Property `name` as one cell.
    pub(super) fn cell(&self, name: &str) -> Result<Option<u32>, MachineError> {
        match self.cells(name)?.as_deref() {
            None => Ok(None),
            Some([value]) => Ok(Some(*value)),
            Some(cells) => {
                Err(self
                    .property_error(name, Fault::new(format!("{} cells", cells.len()), "one cell")))
            }
        }
    }

    /// Property `name` as a number of one or two cells.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, MachineError> {
        match self.cells(name)?.as_deref() {
            None => Ok(None),
            Some([value]) => Ok(Some(u64::from(*value))),
            Some([high, low]) => Ok(Some(u64::from(*high) << 32 | u64::from(*low))),
            Some(cells) => Err(self.property_error(
                name,
                Fault::new(format!("{} cells", cells.len()), "one or two cells"),
            )),
        }
    }

    /// Property `name` as a list of texts.
    pub(super) fn texts(&self, name: &str) -> Result<Option<Vec<&'t str>>, MachineError> {
        let Some(bytes) = self.bytes(name) else { return Ok(None) };
        let wrong = |found| self.property_error(name, Fault::new(found, "NUL-terminated texts"));
        let text = std::str::from_utf8(bytes).map_err(|_| wrong("bytes that are not text"))?;
        let body = text.strip_suffix('\0').ok_or_else(|| wrong("a text without end"))?;
        Ok(Some(body.split('\0').collect()))
    }

    /// Property `name` as one text.
    pub(super) fn text(&self, name: &str) -> Result<Option<&'t str>, MachineError> {
        match self.texts(name)?.as_deref() {
            None => Ok(None),
            Some([text]) => Ok(Some(text)),
            Some(texts) => {
                Err(self
                    .property_error(name, Fault::new(format!("{} texts", texts.len()), "one text")))
            }
        }
    }

    /// Whether `status` is absent, `okay` or `ok`.
    pub(super) fn is_available(&self) -> Result<bool, MachineError> {
        Ok(matches!(self.text("status")?, None | Some("okay" | "ok")))
    }

    pub(super) fn property_error(&self, property: &str, fault: Fault) -> MachineError {
        MachineError::Property {
            file: self.tree.file.to_string(),
            node: self.path(),
            property: property.to_string(),
            found: fault.found,
            expected: fault.expected,
        }
    }

    pub(super) fn error(&self, found: impl Into<String>, expected: &str) -> MachineError {
        MachineError::Node {
            file: self.tree.file.to_string(),
            node: self.path(),
            found: found.into(),
            expected: expected.to_string(),
        }
    }
}
