//! The levels of a synthetic string.

use crate::hwloc::topology::Kind;

/// Values in the parentheses behind a level.
#[derive(Debug, Clone, Default)]
pub(super) struct Attributes {
    /// Size of a cache or a node's memory in bytes.
    pub(super) bytes: Option<u64>,
    /// The text behind `indexes=`.
    pub(super) indexes: Option<String>,
    /// Whether the memory has a cache of its own.
    pub(super) memory_side_cache: bool,
}

/// One level.
#[derive(Debug, Clone)]
pub(super) struct Level {
    /// Type; `None` where the string gives a number alone.
    pub(super) kind: Option<Kind>,
    /// The number behind `group`.
    pub(super) group_depth: Option<u32>,
    /// Objects of the whole level.
    pub(super) width: usize,
    pub(super) attributes: Attributes,
    /// NUMA nodes attached to each object of the level.
    pub(super) attached: Vec<Attributes>,
}

impl Level {
    pub(super) fn new(kind: Option<Kind>, width: usize) -> Level {
        let attributes = Attributes::default();
        Level { kind, group_depth: None, width, attributes, attached: Vec::new() }
    }
}

/// All levels, from the machine to the PUs.
#[derive(Debug, Clone)]
pub(super) struct Description {
    pub(super) levels: Vec<Level>,
}

impl Description {
    /// NUMA nodes in brackets, in the whole machine.
    pub(super) fn attached_nodes(&self) -> usize {
        self.levels.iter().map(|level| level.width * level.attached.len()).sum()
    }

    /// Sentences on what the model has no place for.
    pub(super) fn left_out(&self) -> Vec<String> {
        let mut all = self.levels.iter().flat_map(|l| l.attached.iter().chain([&l.attributes]));
        let mut sentences = Vec::new();
        if all.any(|a| a.memory_side_cache) {
            sentences.push("Memory-side caches: the model leaves them out.".to_string());
        }
        let memory = |level: &&Level| {
            level.attributes.bytes.is_some()
                && !matches!(level.kind, Some(Kind::Cache(..) | Kind::Node))
        };
        if self.levels.iter().any(|level| memory(&level)) {
            sentences.push("Memory of levels that are no NUMA nodes: it is left out.".to_string());
        }
        sentences
    }
}
