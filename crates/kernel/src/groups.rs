//! Groups of a domain: `build_sched_groups` for levels whose domains tile the machine, and
//! `build_overlap_sched_groups` for NUMA levels, whose domains may overlap.

use crate::build::Chains;
use crate::chain::RawDomain;
use crate::domain::Group;
use crate::flags::SdFlags;
use crate::version::Version;
use machine::CpuSet;
use std::collections::HashMap;

/// First release that looks below a sibling domain whose child reaches out of the span (NUMA diameter of
/// three or more).
const DESCENDS_SINCE: Version = Version::new(5, 13);

/// Builds the groups of all domains. What CPUs have in common is built once: copies share their large sets.
pub(crate) struct Groups<'a> {
    chains: &'a Chains,
    capacity: &'a [u64],
    version: Version,
    /// By level and span: the ring of a domain that tiles the machine.
    rings: HashMap<(usize, &'a CpuSet), Vec<Group>>,
    /// By level and span: balance masks of overlapping groups.
    masks: HashMap<(usize, &'a CpuSet), CpuSet>,
}

impl<'a> Groups<'a> {
    /// For the domains `chains`; `capacity` is by CPU.
    pub(crate) fn new(chains: &'a Chains, capacity: &'a [u64], version: Version) -> Groups<'a> {
        Groups { chains, capacity, version, rings: HashMap::new(), masks: HashMap::new() }
    }

    /// `cpu`'s domain at `level`.
    pub(crate) fn domain(&self, cpu: usize, level: usize) -> &'a RawDomain {
        &self.chains[cpu][level]
    }

    /// Groups of `cpu`'s domain at `level`, its own first.
    pub(crate) fn of(&mut self, cpu: usize, level: usize) -> Vec<Group> {
        let domain = self.domain(cpu, level);
        if !domain.flags.contains(SdFlags::OVERLAP) {
            return self.tile_groups(domain, cpu, level);
        }
        let (chains, version, masks) = (self.chains, self.version, &mut self.masks);
        let mut groups =
            cover(&domain.span, cpu, |c| overlap_group(chains, masks, domain, c, level, version));
        self.set_capacities(&mut groups);
        groups
    }

    /// Groups of a domain that tiles the machine. All its CPUs share one ring of groups, and each CPU links it anew
    /// from itself on: what stays is the order that the last CPU of the span gave it. Where spans interleave (small
    /// cores of a big core) this is not the order of the groups' first CPUs.
    fn tile_groups(&mut self, domain: &'a RawDomain, cpu: usize, level: usize) -> Vec<Group> {
        let mut groups = match self.rings.get(&(level, &domain.span)) {
            Some(ring) => ring.clone(),
            None => {
                let start = domain.span.last().unwrap_or(cpu);
                let mut ring =
                    cover(&domain.span, start, |c| Some(tile_group(self.chains, c, level)));
                self.set_capacities(&mut ring);
                self.rings.insert((level, &domain.span), ring.clone());
                ring
            }
        };
        if let Some(own) = groups.iter().position(|g| g.span.contains(cpu)) {
            groups.rotate_left(own);
        }
        groups
    }

    fn set_capacities(&self, groups: &mut [Group]) {
        for group in groups {
            group.capacity = group.span.iter().map(|c| self.capacity[c]).sum();
        }
    }
}

/// Groups for the CPUs of `span` that no group before them covers, from `start` on and round.
fn cover(span: &CpuSet, start: usize, mut group: impl FnMut(usize) -> Option<Group>) -> Vec<Group> {
    let mut covered = CpuSet::EMPTY;
    let mut groups = Vec::new();
    for cpu in span.iter_wrap(start) {
        if !covered.contains(cpu)
            && let Some(group) = group(cpu)
        {
            covered |= &group.span;
            groups.push(group);
        }
    }
    groups
}

fn child(chains: &Chains, cpu: usize, level: usize) -> Option<&RawDomain> {
    let has_level = chains[cpu].len() > level;
    (has_level && level > 0).then(|| &chains[cpu][level - 1])
}

/// The group of `cpu` at a level that tiles the machine (`get_group`): its child domain, or itself.
fn tile_group(chains: &Chains, cpu: usize, level: usize) -> Group {
    match child(chains, cpu, level) {
        Some(child) => Group {
            span: child.span.clone(),
            mask: child.span.clone(),
            id: child.span.first().unwrap_or(cpu),
            capacity: 0,
            flags: child.flags,
        },
        None => Group {
            span: CpuSet::single(cpu),
            mask: CpuSet::single(cpu),
            id: cpu,
            capacity: 0,
            flags: SdFlags::empty(),
        },
    }
}

/// The group that stands for `cpu` in an overlapping `domain`, or `None` where `cpu`'s own chain of domains
/// ends below this level.
fn overlap_group<'a>(
    chains: &'a Chains,
    masks: &mut HashMap<(usize, &'a CpuSet), CpuSet>,
    domain: &RawDomain,
    cpu: usize,
    level: usize,
    version: Version,
) -> Option<Group> {
    if chains[cpu].len() <= level {
        return None;
    }
    let mut level = level;
    let reaches_out =
        |level: usize| child(chains, cpu, level).is_some_and(|c| !c.span.is_subset(&domain.span));
    while version >= DESCENDS_SINCE && reaches_out(level) {
        level -= 1;
    }
    let below = child(chains, cpu, level);
    let span = below.map_or(&chains[cpu][level].span, |c| &c.span);
    let mask = masks.entry((level, span)).or_insert_with(|| balance_mask(chains, level, span));
    Some(Group {
        span: span.clone(),
        mask: mask.clone(),
        id: mask.first().or(span.first())?,
        capacity: 0,
        flags: below.map_or(SdFlags::empty(), |c| c.flags),
    })
}

/// CPUs of `span` that arrive at this group from their own domain at `level` (`build_balance_mask`).
fn balance_mask(chains: &Chains, level: usize, span: &CpuSet) -> CpuSet {
    span.iter()
        .filter(|&c| child(chains, c, level).is_some_and(|child| child.span == *span))
        .collect()
}
