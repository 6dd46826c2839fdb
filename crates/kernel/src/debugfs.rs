//! Sched domains as debugfs shows them (`/sys/kernel/debug/sched/domains`).

use crate::domain::{Domain, Domains};
use crate::version::Version;

/// First release with `groups_flags`.
const GROUPS_FLAGS_SINCE: Version = Version::new(6, 6);
/// First release with `level`.
const LEVEL_SINCE: Version = Version::new(6, 10);

/// Topology files of every domain, one line each: `cpuN/domainM/FILE: VALUE`, CPUs and domains ascending, files
/// by name. Values are what `cat` shows; times are in ms.
///
/// Kernels before 5.13 have the files in `/proc/sys/kernel/sched_domain`, and before 5.10 `flags` there is a
/// number that also holds flags of no use here (`SD_LOAD_BALANCE`). They are printed in the same form, with
/// names. Left out are `max_newidle_lb_cost`, which is measured, and the load indices of kernels before 5.3
/// ([`Domain::busy_idx`], [`Domain::idle_idx`]).
pub fn debugfs(domains: &Domains, version: Version) -> String {
    entries(domains, version).map(|(cpu, m, file)| format!("cpu{cpu}/domain{m}/{file}\n")).collect()
}

/// The same lines as CPU, index of the domain and `FILE: VALUE`.
pub fn entries(
    domains: &Domains,
    version: Version,
) -> impl Iterator<Item = (usize, usize, String)> {
    let by_domain =
        domains.by_cpu.iter().enumerate().flat_map(|(cpu, chain)| {
            chain.iter().enumerate().map(move |(m, domain)| (cpu, m, domain))
        });
    by_domain.flat_map(move |(cpu, m, domain)| {
        let files = files(domain, version).into_iter();
        files.map(move |(file, value)| (cpu, m, format!("{file}: {value}")))
    })
}

fn files(domain: &Domain, version: Version) -> Vec<(&'static str, String)> {
    let mut files = vec![
        ("busy_factor", domain.busy_factor.to_string()),
        ("cache_nice_tries", domain.cache_nice_tries.to_string()),
        ("flags", domain.flags.names(version)),
    ];
    if version >= GROUPS_FLAGS_SINCE {
        files.push(("groups_flags", domain.groups[0].flags.names(version)));
    }
    files.push(("imbalance_pct", domain.imbalance_pct.to_string()));
    if version >= LEVEL_SINCE {
        files.push(("level", domain.level.to_string()));
    }
    files.extend([
        ("max_interval", domain.max_interval_ms.to_string()),
        ("min_interval", domain.min_interval_ms.to_string()),
        ("name", domain.name.to_string()),
    ]);
    files
}
