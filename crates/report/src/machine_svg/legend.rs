//! What stands below the boxes: distances, and notes.

use super::layout::Rect;
use super::palette::Scale;
use super::text;
use crate::machine_levels::Levels;
use crate::machine_tree::apart_text;
use crate::machine_words::facts;
use machine::{Machine, Origin};

/// Sentences below the picture.
pub(super) fn notes(machine: &Machine, levels: &Levels) -> Vec<String> {
    let mut notes = facts(machine);
    if !(machine.possible() - &machine.online).is_empty() {
        notes.push("Grey and dashed: offline CPUs.".to_string());
    }
    if machine.caches.iter().any(|c| c.origin == Origin::Catalog) {
        notes.push(
            "Dashed caches: from published documents; a kernel on the machine does not see them."
                .to_string(),
        );
    }
    let apart: Vec<String> = levels.apart.iter().map(apart_text).collect();
    if !apart.is_empty() {
        notes.push(format!("Shared across boxes: {}", apart.join(", ")));
    }
    let unknown: Vec<&str> = machine.unknown.iter().map(|s| s.trim()).collect();
    if !unknown.is_empty() {
        notes.push(format!("Not known: {}", unknown.join(" ")));
    }
    notes
}

/// The table of distances between NUMA nodes: a head of node numbers, and a row for each node.
pub(super) struct Distances {
    /// Texts by row; the first row and the first column are node numbers.
    rows: Vec<Vec<String>>,
    cell: (f64, f64),
}

/// A cell of the table.
pub(super) struct Cell<'a> {
    pub(super) text: &'a str,
    pub(super) rect: Rect,
    /// Whether it names a node.
    pub(super) is_head: bool,
}

impl Distances {
    /// `None` where there is one node or distances are not known.
    pub(super) fn of(machine: &Machine, scale: &Scale) -> Option<Distances> {
        let nodes = &machine.nodes;
        if nodes.len() < 2 || nodes.iter().all(|n| n.distances.is_empty()) {
            return None;
        }
        let ids = nodes.iter().map(|n| n.id.to_string());
        let mut rows: Vec<Vec<String>> =
            vec![["node".to_string()].into_iter().chain(ids).collect()];
        for node in nodes {
            let distances = node.distances.iter().map(u32::to_string);
            rows.push([node.id.to_string()].into_iter().chain(distances).collect());
        }
        let widths = rows.iter().flatten().map(|t| text::width(t, scale.font));
        let width = widths.fold(0.0, f64::max) + 2.0 * scale.pad;
        Some(Distances { rows, cell: (width, scale.bar()) })
    }

    /// Width and height.
    pub(super) fn size(&self) -> (f64, f64) {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        (columns as f64 * self.cell.0, self.rows.len() as f64 * self.cell.1)
    }

    /// Its cells, the upper left corner at `x` and `y`.
    pub(super) fn cells(&self, x: f64, y: f64) -> Vec<Cell<'_>> {
        let (width, height) = self.cell;
        let mut cells = Vec::new();
        for (r, row) in self.rows.iter().enumerate() {
            for (c, text) in row.iter().enumerate() {
                let rect =
                    Rect { x: x + c as f64 * width, y: y + r as f64 * height, width, height };
                cells.push(Cell { text, rect, is_head: r == 0 || c == 0 });
            }
        }
        cells
    }
}
