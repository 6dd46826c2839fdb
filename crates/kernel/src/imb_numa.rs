//! Imbalance that a domain tolerates across nodes (`sd->imb_numa_nr`), as `build_sched_domains` computes it before
//! any domain degenerates.

use crate::chain::RawDomain;
use crate::flags::SdFlags;
use crate::version::Version;

/// First release that goes by LLCs.
const SINCE: Version = Version::new(5, 18);
/// First release in which a node with one LLC tolerates an eighth of its CPUs instead of a quarter.
const EIGHTH_SINCE: Version = Version::new(6, 0);

/// By level of `chain`: tasks up to which an imbalance is tolerated; 0 below the first domain that holds an LLC.
pub(crate) fn of_chain(chain: &[RawDomain], version: Version) -> Vec<u32> {
    let weight = |d: &RawDomain| d.span.len() as u32;
    let (mut tasks, mut span) = (0, 1);
    let mut allowed = Vec::with_capacity(chain.len());
    for (level, domain) in chain.iter().enumerate() {
        if version < SINCE {
            allowed.push(0);
            continue;
        }
        let shares = |d: &RawDomain| d.flags.contains(SdFlags::SHARE_LLC);
        let child = level.checked_sub(1).and_then(|below| chain.get(below));
        match child.filter(|c| shares(c) && !shares(domain)) {
            Some(llc) => {
                tasks = of_node(weight(domain), weight(llc), version);
                let numa = |d: &&RawDomain| d.flags.contains(SdFlags::NUMA);
                span = weight(chain[level + 1..].iter().find(numa).unwrap_or(domain));
                allowed.push(tasks);
            }
            None => allowed.push(tasks * (weight(domain) / span.max(1)).max(1)),
        }
    }
    allowed
}

/// For a domain of `cpus` over LLCs of `llc` CPUs: one task an LLC, or a share of the CPUs of a single one.
fn of_node(cpus: u32, llc: u32, version: Version) -> u32 {
    match (cpus / llc.max(1), version >= EIGHTH_SINCE) {
        (1, true) => (cpus / 8).max(1),
        (1, false) => cpus / 4,
        (llcs, _) => llcs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::CpuSet;

    fn domain(cpus: usize, flags: SdFlags) -> RawDomain {
        RawDomain {
            name: "test",
            span: CpuSet::first_n(cpus),
            flags,
            weight: cpus as u32,
            imbalance_pct: 117,
            cache_nice_tries: 1,
            busy_idx: 0,
            idle_idx: 0,
        }
    }

    /// SMT, LLC, node, two NUMA levels.
    fn chain(llc: usize) -> Vec<RawDomain> {
        let cache = SdFlags::SHARE_LLC;
        [
            (2, cache | SdFlags::SHARE_CPUCAPACITY),
            (llc, cache),
            (32, SdFlags::empty()),
            (64, SdFlags::NUMA),
            (128, SdFlags::NUMA),
        ]
        .map(|(cpus, flags)| domain(cpus, flags))
        .to_vec()
    }

    #[test]
    fn one_llc_a_node_tolerates_a_share_of_its_cpus() {
        assert_eq!(of_chain(&chain(32), Version::new(5, 18)), [0, 0, 8, 8, 16]);
        assert_eq!(of_chain(&chain(32), Version::new(6, 0)), [0, 0, 4, 4, 8]);
        assert_eq!(of_chain(&chain(32), Version::new(5, 17)), [0; 5]);
    }

    #[test]
    fn several_llcs_a_node_tolerate_a_task_each() {
        assert_eq!(of_chain(&chain(8), Version::new(5, 18)), [0, 0, 4, 4, 8]);
        assert_eq!(of_chain(&chain(8), Version::new(6, 12)), [0, 0, 4, 4, 8]);
    }
}
