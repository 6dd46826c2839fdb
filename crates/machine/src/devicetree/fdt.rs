//! Flattened device trees: from bytes to nodes and properties.
//!
//! The format is that of the Devicetree Specification, chapter 5, versions 16 and 17. It is read here because
//! parsers at hand hold trees to rules that POWER firmware does not keep: names of at most 31 characters
//! (`ibm,associativity-reference-points` has 34), version 17 only, and the strings block behind the structure
//! block (SLOF writes version 16 with the strings first).

use crate::error::{Fault, MachineError};
use std::borrow::Cow;

/// First four bytes of every flattened device tree.
pub(crate) const MAGIC: u32 = 0xd00d_feed;

const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
pub(super) const PROPERTY: u32 = 3;
const NOP: u32 = 4;
const END: u32 = 9;

/// One node as the source has it.
#[derive(Debug)]
pub(super) struct RawNode<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) parent: Option<usize>,
    pub(super) properties: Vec<(Cow<'a, str>, Cow<'a, [u8]>)>,
}

/// `boot_cpuid_phys` of the header: `reg` of the CPU that boots.
pub(super) fn boot_cpu(blob: &[u8]) -> Option<u32> {
    word(blob, 28)
}

/// Reads the nodes of `blob` in its order; the root is the first, and a parent comes before its children.
pub(super) fn nodes<'a>(blob: &'a [u8], file: &str) -> Result<Vec<RawNode<'a>>, MachineError> {
    Ok(walk(blob, file)?.nodes)
}

/// A tree with the places of its parts.
pub(super) struct Parts<'a> {
    pub(super) nodes: Vec<RawNode<'a>>,
    /// By node: offset of its first property.
    pub(super) bodies: Vec<usize>,
    /// The structure block, its end token included.
    pub(super) structure: &'a [u8],
    /// Offset of the structure block.
    pub(super) structure_start: usize,
    /// The strings block.
    pub(super) strings: &'a [u8],
    /// The memory reservations, the entry of zeros at their end included.
    pub(super) reservations: &'a [u8],
}

/// Reads `blob` so that it can be written again.
pub(super) fn parts<'a>(blob: &'a [u8], file: &str) -> Result<Parts<'a>, MachineError> {
    let Walk { blocks, offset, nodes, bodies, .. } = walk(blob, file)?;
    let reservations = blocks.reservations().map_err(at(file))?;
    Ok(Parts {
        nodes,
        bodies,
        structure: &blocks.bytes[blocks.structure..offset],
        structure_start: blocks.structure,
        strings: &blocks.bytes[blocks.strings..blocks.strings_end],
        reservations,
    })
}

fn walk<'a>(blob: &'a [u8], file: &str) -> Result<Walk<'a>, MachineError> {
    let blocks = Blocks::find(blob).map_err(at(file))?;
    let offset = blocks.structure;
    let walk = Walk { blocks, offset, open: None, nodes: Vec::new(), bodies: Vec::new() };
    walk.run().map_err(at(file))
}

fn at(file: &str) -> impl Fn(Broken) -> MachineError {
    move |(offset, fault)| MachineError::Blob {
        file: file.to_string(),
        offset,
        found: fault.found,
        expected: fault.expected,
    }
}

/// An offset and what is wrong there.
type Broken = (usize, Fault);

fn broken<T>(offset: usize, found: impl Into<String>, expected: &str) -> Result<T, Broken> {
    Err((offset, Fault::new(found, expected)))
}

/// Where the blocks of a blob lie; `bytes` ends where the header says that the tree ends.
#[derive(Clone, Copy)]
struct Blocks<'a> {
    bytes: &'a [u8],
    structure: usize,
    structure_end: usize,
    strings: usize,
    strings_end: usize,
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    let end = offset.checked_add(4)?;
    Some(u32::from_be_bytes(bytes.get(offset..end)?.try_into().ok()?))
}

impl<'a> Blocks<'a> {
    fn find(blob: &'a [u8]) -> Result<Blocks<'a>, Broken> {
        let field = |offset: usize| match word(blob, offset) {
            Some(value) => Ok(value),
            None => broken(offset, format!("a file of {} bytes", blob.len()), "a header field"),
        };
        let magic = field(0)?;
        if magic != MAGIC {
            return broken(0, format!("{magic:#010x}"), "the magic number 0xd00dfeed");
        }
        let (version, compatible) = (field(20)?, field(24)?);
        if version < 16 || compatible > 17 {
            let found = format!("version {version} (compatible with {compatible})");
            return broken(20, found, "version 16 or 17");
        }
        let total = field(4)? as usize;
        let Some(bytes) = blob.get(..total) else {
            return broken(4, format!("a size of {total} bytes"), "at most the size of the file");
        };
        let (structure, strings) = (field(8)? as usize, field(12)? as usize);
        // Version 16 has no size of the structure block; its end token bounds it.
        let structure_end =
            if version >= 17 { structure.checked_add(field(36)? as usize) } else { Some(total) };
        let strings_end = strings.checked_add(field(32)? as usize);
        match (structure_end, strings_end) {
            (Some(structure_end), Some(strings_end))
                if structure <= structure_end && structure_end <= total && strings_end <= total =>
            {
                Ok(Blocks { bytes, structure, structure_end, strings, strings_end })
            }
            _ => broken(8, "a block that leaves the file", "structure and strings inside the file"),
        }
    }

    /// The NUL-terminated text that starts at `start` and ends before `limit`.
    fn text(&self, start: usize, limit: usize) -> Result<&'a str, Broken> {
        let Some(bytes) = self.bytes.get(start..limit) else {
            return broken(start, "an offset outside its block", "a name");
        };
        let Some(length) = bytes.iter().position(|&b| b == 0) else {
            return broken(start, "a name without end", "a NUL-terminated name");
        };
        match std::str::from_utf8(&bytes[..length]) {
            Ok(text) => Ok(text),
            Err(_) => broken(start, "a name that is not text", "a NUL-terminated name"),
        }
    }
}

impl<'a> Blocks<'a> {
    /// The memory reservations: pairs of 8 bytes each up to one of zeros.
    fn reservations(&self) -> Result<&'a [u8], Broken> {
        let start = word(self.bytes, 16).map_or(0, |w| w as usize);
        let entries = self.bytes.get(start..).map_or(&[][..], |rest| rest);
        match entries.chunks_exact(16).position(|entry| entry.iter().all(|&b| b == 0)) {
            Some(at) => Ok(&entries[..(at + 1) * 16]),
            None => broken(16, "reservations without end", "an entry of zeros"),
        }
    }
}

/// A walk through the structure block.
struct Walk<'a> {
    blocks: Blocks<'a>,
    offset: usize,
    open: Option<usize>,
    nodes: Vec<RawNode<'a>>,
    bodies: Vec<usize>,
}

impl<'a> Walk<'a> {
    fn run(mut self) -> Result<Walk<'a>, Broken> {
        loop {
            let start = self.offset;
            match self.take_word()? {
                NOP => {}
                BEGIN_NODE => self.begin_node(start)?,
                PROPERTY => self.property(start)?,
                END_NODE => match self.open.and_then(|open| self.nodes.get(open)) {
                    Some(node) => self.open = node.parent,
                    None => return broken(start, "the end of a node", "a node to end"),
                },
                END if self.open.is_none() && !self.nodes.is_empty() => return Ok(self),
                END => return broken(start, "the end of the tree", "the end of its root node"),
                token => {
                    return broken(start, format!("token {token:#x}"), "token 1, 2, 3, 4 or 9");
                }
            }
        }
    }

    fn take_word(&mut self) -> Result<u32, Broken> {
        let offset = self.offset;
        let inside = offset.checked_add(4).filter(|&end| end <= self.blocks.structure_end);
        match (inside, word(self.blocks.bytes, offset)) {
            (Some(end), Some(value)) => {
                self.offset = end;
                Ok(value)
            }
            _ => broken(offset, "the end of the structure block", "a word of 4 bytes"),
        }
    }

    /// Moves past `length` bytes and the padding to the next word of the structure block.
    fn skip(&mut self, length: usize) -> Result<(), Broken> {
        let used = (self.offset - self.blocks.structure).checked_add(length);
        let next =
            used.and_then(|u| u.checked_next_multiple_of(4)?.checked_add(self.blocks.structure));
        match next.filter(|&next| next <= self.blocks.structure_end) {
            Some(next) => {
                self.offset = next;
                Ok(())
            }
            None => broken(self.offset, format!("{length} bytes"), "the rest of the block at most"),
        }
    }

    fn begin_node(&mut self, start: usize) -> Result<(), Broken> {
        let name = self.blocks.text(self.offset, self.blocks.structure_end)?;
        self.skip(name.len() + 1)?;
        if self.open.is_none() && !self.nodes.is_empty() {
            return broken(start, format!("a second root node `{name}`"), "the end of the tree");
        }
        self.nodes.push(RawNode { name: name.into(), parent: self.open, properties: Vec::new() });
        self.bodies.push(self.offset);
        self.open = Some(self.nodes.len() - 1);
        Ok(())
    }

    fn property(&mut self, start: usize) -> Result<(), Broken> {
        let length = self.take_word()? as usize;
        let name_offset = self.take_word()? as usize;
        let value_start = self.offset;
        self.skip(length)?;
        let Some(value) = self.blocks.bytes.get(value_start..value_start + length) else {
            return broken(value_start, format!("{length} bytes"), "a value inside the file");
        };
        let Some(name_start) = self.blocks.strings.checked_add(name_offset) else {
            return broken(
                start,
                format!("name offset {name_offset:#x}"),
                "an offset into the strings",
            );
        };
        let name = self.blocks.text(name_start, self.blocks.strings_end)?;
        match self.open.and_then(|open| self.nodes.get_mut(open)) {
            Some(node) => {
                node.properties.push((name.into(), value.into()));
                Ok(())
            }
            None => broken(start, format!("property `{name}`"), "a property inside a node"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devicetree::testing::Dt;

    fn blob() -> Vec<u8> {
        Dt::node("").cells("a", &[1, 2]).child(Dt::node("x@0").text("b", "yes")).blob()
    }

    #[test]
    fn reads_nodes_and_properties_in_order() {
        let blob = blob();
        let nodes = nodes(&blob, "t.dtb").unwrap();
        assert_eq!(nodes.len(), 2);
        let property = |node: usize| {
            let (name, value) = &nodes[node].properties[0];
            (name.to_string(), value.to_vec())
        };
        assert_eq!(property(0), ("a".to_string(), vec![0, 0, 0, 1, 0, 0, 0, 2]));
        assert_eq!((&*nodes[1].name, nodes[1].parent), ("x@0", Some(0)));
        assert_eq!(property(1), ("b".to_string(), b"yes\0".to_vec()));
        assert_eq!(boot_cpu(&blob), Some(0));
    }

    #[test]
    fn says_where_a_blob_breaks() {
        let fail = |bytes: &[u8]| nodes(bytes, "t.dtb").unwrap_err().to_string();
        assert_eq!(
            fail(b""),
            "t.dtb: offset 0x0: found a file of 0 bytes, expected a header field"
        );
        assert_eq!(
            fail(&[0; 64]),
            "t.dtb: offset 0x0: found 0x00000000, expected the magic number 0xd00dfeed"
        );
        let whole = blob();
        let cut = &whole[..whole.len() - 1];
        assert!(fail(cut).contains("offset 0x4: found a size of"), "{}", fail(cut));
        let mut old = whole.clone();
        old[23] = 3;
        assert!(fail(&old).contains("version 3"), "{}", fail(&old));
        let mut token = whole.clone();
        token[59] = 7;
        assert_eq!(
            fail(&token),
            "t.dtb: offset 0x38: found token 0x7, expected token 1, 2, 3, 4 or 9"
        );
    }
}
