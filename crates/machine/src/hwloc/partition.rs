//! Disjoint CPU sets, and whether another set fits among them as in a tree.

use crate::cpuset::{CpuSet, MAX_CPUS};

/// Disjoint sets of CPUs.
pub(super) struct Partition {
    /// Which set holds a CPU.
    block_of: Vec<Option<usize>>,
    sets: Vec<CpuSet>,
}

impl Partition {
    pub(super) fn new() -> Partition {
        Partition { block_of: vec![None; MAX_CPUS], sets: Vec::new() }
    }

    /// Adds `set` unless it shares a CPU with an earlier one, which comes back then.
    pub(super) fn add(&mut self, set: CpuSet) -> Option<CpuSet> {
        if let Some(other) = set.iter().find_map(|cpu| self.of(cpu)) {
            return Some(other);
        }
        for cpu in set.iter() {
            if let Some(slot) = self.block_of.get_mut(cpu) {
                *slot = Some(self.sets.len());
            }
        }
        self.sets.push(set);
        None
    }

    /// The set that holds `cpu`.
    pub(super) fn of(&self, cpu: usize) -> Option<CpuSet> {
        self.number(cpu).and_then(|block| self.sets.get(block)).cloned()
    }

    /// Number of the set that holds `cpu`, in the order of adding.
    pub(super) fn number(&self, cpu: usize) -> Option<usize> {
        self.block_of.get(cpu).copied().flatten()
    }

    /// Whether `set` lies in one of the sets, or holds each as a whole or not at all.
    pub(super) fn fits(&self, set: &CpuSet) -> bool {
        let inside = set.first().and_then(|cpu| self.of(cpu)).is_some_and(|b| set.is_subset(&b));
        let mut left = set.clone();
        let mut whole = true;
        while let Some(cpu) = left.first() {
            let block = self.of(cpu).unwrap_or(CpuSet::single(cpu));
            whole &= block.is_subset(set);
            left = left - block;
        }
        inside || whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_fits_inside_or_around() {
        let set = |list: &str| list.parse::<CpuSet>().unwrap();
        let mut p = Partition::new();
        assert_eq!((p.add(set("0-3")), p.add(set("4-5"))), (None, None));
        assert_eq!(p.add(set("5-6")), Some(set("4-5")));
        for (list, fits) in [
            ("1-2", true),
            ("0-3", true),
            ("0-5", true),
            ("0-7", true),
            ("6-7", true),
            ("3-4", false),
        ] {
            assert_eq!(p.fits(&set(list)), fits, "{list}");
        }
        assert!(!p.fits(&set("5-6")));
    }
}
