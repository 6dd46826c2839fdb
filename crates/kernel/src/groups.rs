//! Groups of a domain: `build_sched_groups` for levels whose domains tile the machine, and
//! `build_overlap_sched_groups` for NUMA levels, whose domains may overlap.

use crate::build::Chains;
use crate::chain::RawDomain;
use crate::domain::Group;
use crate::flags::SdFlags;
use crate::version::Version;
use machine::CpuSet;

/// First release that looks below a sibling domain whose child reaches out of the span (NUMA diameter of
/// three or more).
const DESCENDS_SINCE: Version = Version::new(5, 13);

/// Groups of `cpu`'s domain at `level`, its own first. `capacity` is by CPU.
pub(crate) fn groups(
    chains: &Chains,
    cpu: usize,
    level: usize,
    capacity: &[u64],
    version: Version,
) -> Vec<Group> {
    let domain = &chains[cpu][level];
    let mut groups = if domain.flags.contains(SdFlags::OVERLAP) {
        cover(domain.span, cpu, |c| overlap_group(chains, domain, c, level, version))
    } else {
        tile_groups(chains, domain.span, cpu, level)
    };
    for group in &mut groups {
        group.capacity = group.span.iter().map(|c| capacity[c]).sum();
    }
    groups
}

/// Groups for the CPUs of `span` that no group before them covers, from `start` on and round.
fn cover(span: CpuSet, start: usize, group: impl Fn(usize) -> Option<Group>) -> Vec<Group> {
    let mut covered = CpuSet::EMPTY;
    let mut groups = Vec::new();
    for cpu in span.iter_wrap(start) {
        if !covered.contains(cpu)
            && let Some(group) = group(cpu)
        {
            covered |= group.span;
            groups.push(group);
        }
    }
    groups
}

/// Groups of a domain that tiles the machine. All its CPUs share one ring of groups, and each CPU links it anew
/// from itself on: what stays is the order that the last CPU of the span gave it. Where spans interleave (small
/// cores of a big core) this is not the order of the groups' first CPUs.
fn tile_groups(chains: &Chains, span: CpuSet, cpu: usize, level: usize) -> Vec<Group> {
    let start = span.last().unwrap_or(cpu);
    let mut groups = cover(span, start, |c| Some(tile_group(chains, c, level)));
    if let Some(own) = groups.iter().position(|g| g.span.contains(cpu)) {
        groups.rotate_left(own);
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
            span: child.span,
            mask: child.span,
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
fn overlap_group(
    chains: &Chains,
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
    let span = below.map_or(chains[cpu][level].span, |c| c.span);
    let mask = balance_mask(chains, level, span);
    Some(Group {
        span,
        mask,
        id: mask.first().or(span.first())?,
        capacity: 0,
        flags: below.map_or(SdFlags::empty(), |c| c.flags),
    })
}

/// CPUs of `span` that arrive at this group from their own domain at `level` (`build_balance_mask`).
fn balance_mask(chains: &Chains, level: usize, span: CpuSet) -> CpuSet {
    span.iter()
        .filter(|&c| child(chains, c, level).is_some_and(|child| child.span == span))
        .collect()
}
