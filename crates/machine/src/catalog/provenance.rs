//! Which rows of a catalog file say where they come from: each has a mark and a source.

use super::{Entry, error};
use crate::constants::{Constant, Mark};
use crate::error::MachineError;

/// Mark and source of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Provenance<'a> {
    pub(super) mark: Mark,
    pub(super) source: &'a str,
}

/// Every row of `entry` by its field: shape, nodes, thread groups, caches, idle states, frequencies, variants and
/// constants.
pub(super) fn rows(entry: &Entry) -> Vec<(String, Provenance<'_>)> {
    let mut all = Vec::new();
    let mut row = |field: String, mark, source| all.push((field, Provenance { mark, source }));
    if let Some(topology) = &entry.topology {
        row("topology".to_string(), topology.mark, &topology.source);
        row("topology.nodes".to_string(), topology.nodes.mark, &topology.nodes.source);
        for (i, groups) in topology.thread_groups.iter().enumerate() {
            row(format!("topology.thread_groups[{i}]"), groups.mark, &groups.source);
        }
    }
    for (i, cache) in entry.cache.iter().enumerate() {
        row(format!("cache[{i}]"), cache.mark, &cache.source);
    }
    for (i, state) in entry.idle_state.iter().enumerate() {
        row(format!("idle_state[{i}]"), state.mark, &state.source);
    }
    if let Some(frequency) = &entry.frequency {
        row("frequency".to_string(), frequency.mark, &frequency.source);
    }
    for (name, variant) in &entry.variant {
        if let (Some(mark), Some(source)) = (variant.mark, &variant.source) {
            row(format!("variant.{name}"), mark, source);
        }
        if let Some(nodes) = &variant.nodes {
            row(format!("variant.{name}.nodes"), nodes.mark, &nodes.source);
        }
    }
    for (field, constant) in constants(entry) {
        row(field, constant.mark, &constant.source);
    }
    all
}

/// The constants of `entry` and of its variants by their fields.
pub(super) fn constants(entry: &Entry) -> impl Iterator<Item = (String, &Constant)> {
    let own = entry.constants.iter().map(|(name, c)| (format!("constants.{name}"), c));
    let of_variants = entry.variant.iter().flat_map(|(variant, v)| {
        v.constants.iter().map(move |(name, c)| (format!("variant.{variant}.constants.{name}"), c))
    });
    own.chain(of_variants)
}

/// Whether every row has a source, and every variant that changes counts says where its own come from.
pub(super) fn check(entry: &Entry, file: &str) -> Result<(), MachineError> {
    for (field, row) in rows(entry) {
        if row.source.trim().is_empty() {
            return Err(error(file, &format!("{field}.source"), "no text", "some"));
        }
        if row.mark == Mark::Overridden {
            let expected = "measured, published, calibrated or assumed";
            return Err(error(file, &format!("{field}.mark"), "overridden", expected));
        }
    }
    for (name, v) in &entry.variant {
        let counts = v.packages.is_some() || v.clusters.is_some() || v.cores.is_some();
        let (found, expected) = match (v.mark, &v.source) {
            (Some(_), Some(_)) => continue,
            (None, None) if !counts => continue,
            (None, None) => ("counts without mark and source", "both beside the counts"),
            _ => ("one of mark and source", "both or none"),
        };
        return Err(error(file, &format!("variant.{name}"), found, expected));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
