//! Degeneration: which of the built levels stay attached (`cpu_attach_domain`).
//!
//! The domains of one CPU are gone through from the lowest level up. A domain that adds neither CPUs nor flags to the one below it is
//! removed (`sd_parent_degenerate`); the domain below then takes over whether it prefers siblings. Last, the lowest one is removed if
//! there is nothing to balance in it (`sd_degenerate`). Domains that stay keep their name, span and level: a gap in the level numbers
//! shows what was removed. Only the flags of groups change, and `share_group_flags` carries that change to the other CPUs of the group.

use crate::domain::Domain;
use crate::flags::SdFlags;
use crate::version::Version;

/// First release in which the group that stood for a removed level takes over the flags of the level below.
const GROUP_FLAGS_FOLLOW_SINCE: Version = Version::new(6, 6);

/// Takes out the levels that contribute nothing (`cpu_attach_domain`).
pub(crate) fn attach(full: Vec<Domain>, version: Version) -> Vec<Domain> {
    let mut kept: Vec<Domain> = Vec::with_capacity(full.len());
    let mut levels = full.into_iter().peekable();
    while let Some(domain) = levels.next() {
        let Some(below) = kept.last_mut().filter(|b| parent_degenerates(b, &domain, version))
        else {
            kept.push(domain);
            continue;
        };
        if version >= GROUP_FLAGS_FOLLOW_SINCE
            && let Some(above) = levels.peek_mut()
        {
            above.groups[0].flags = below.flags;
        }
        below.flags |= domain.flags & SdFlags::PREFER_SIBLING;
    }
    if kept.first().is_some_and(|d| degenerates(d, version)) {
        kept.remove(0);
        if let Some(lowest) = kept.first_mut() {
            lowest.groups[0].flags = SdFlags::empty();
        }
    }
    kept
}

/// CPUs of a tiling level share their groups, so flags that [`attach`] changes in one CPU's own group change
/// wherever that group stands.
pub(crate) fn share_group_flags(by_cpu: &mut [Vec<Domain>]) {
    let own: Vec<Vec<(usize, SdFlags)>> = by_cpu
        .iter()
        .map(|chain| chain.iter().map(|d| (d.level, d.groups[0].flags)).collect())
        .collect();
    let tiling = |d: &&mut Domain| !d.flags.contains(SdFlags::OVERLAP);
    for domain in by_cpu.iter_mut().flatten().filter(tiling) {
        for group in &mut domain.groups {
            let same = |&&(level, _): &&(usize, SdFlags)| level == domain.level;
            if let Some((_, flags)) = own[group.id].iter().find(same) {
                group.flags = *flags;
            }
        }
    }
}

/// `sd_degenerate`.
fn degenerates(domain: &Domain, version: Version) -> bool {
    if domain.span.len() == 1 {
        return true;
    }
    let uses_groups = domain.flags.intersects(SdFlags::needing_groups(version));
    !(uses_groups && domain.groups.len() > 1 || domain.flags.contains(SdFlags::WAKE_AFFINE))
}

/// `sd_parent_degenerate`.
fn parent_degenerates(below: &Domain, domain: &Domain, version: Version) -> bool {
    if degenerates(domain, version) {
        return true;
    }
    if below.span != domain.span {
        return false;
    }
    let mut flags = domain.flags;
    if domain.groups.len() == 1 {
        flags -= SdFlags::moot_in_single_group_parent(version);
    }
    below.flags.contains(flags)
}
