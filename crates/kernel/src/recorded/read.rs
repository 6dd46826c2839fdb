//! Domains as a real kernel built them, read from its log and debugfs.

use crate::KernelError;
use crate::capacity::CAPACITY_SCALE;
use crate::domain::{Domain, Domains, Group};
use crate::flags::SdFlags;
use machine::CpuSet;
use std::collections::BTreeMap;

const LOG: &str = "attach.log";
/// Names of levels.
const NAMES: [&str; 8] = ["SMT", "CLS", "CACHE", "MC", "DIE", "PKG", "NODE", "NUMA"];

/// The domains that `log` (see [`crate::log`]) and the `files` of debugfs by path (`cpuN/domainM/FILE`) tell. What
/// neither tells (`imb_numa_nr`, load indices, `cpu_smt_mask()`) is 0, or the span of the SMT domain.
///
/// # Errors
/// Lines that are not the kernel's, domains that only one of the two has, and values that cannot be.
pub fn domains(log: &str, files: &BTreeMap<String, String>) -> Result<Domains, KernelError> {
    let chains = chains(log)?;
    let highest = chains.keys().next_back().map_or(0, |cpu| cpu + 1);
    let mut out = Domains {
        cpus: chains.keys().copied().collect(),
        by_cpu: vec![Vec::new(); highest],
        capacity: vec![0; highest],
        smt_mask: (0..highest).map(CpuSet::single).collect(),
    };
    for (cpu, mut chain) in chains {
        for (m, domain) in chain.iter_mut().enumerate() {
            fill(domain, &Files { files, dir: format!("cpu{cpu}/domain{m}") })?;
        }
        out.capacity[cpu] = capacity(&chain, cpu);
        if let Some(smt) = chain.first().filter(|d| d.name == "SMT") {
            out.smt_mask[cpu] = smt.span.clone();
        }
        out.by_cpu[cpu] = chain;
    }
    Ok(out)
}

/// What the log says is left of a CPU's capacity; a full one where it says nothing.
fn capacity(chain: &[Domain], cpu: usize) -> u64 {
    let own = CpuSet::single(cpu);
    let group = chain.iter().flat_map(|d| &d.groups).find(|g| g.span == own);
    group.map_or(CAPACITY_SCALE, |g| g.capacity)
}

fn wrong(place: String, found: &str, expected: &str) -> KernelError {
    let (found, expected) = (format!("`{found}`"), expected.to_owned());
    KernelError::Recorded { file: LOG.to_owned(), place, found, expected }
}

/// By CPU: the domains of its last block in the log.
fn chains(log: &str) -> Result<BTreeMap<usize, Vec<Domain>>, KernelError> {
    let mut chains: BTreeMap<usize, Vec<Domain>> = BTreeMap::new();
    let mut current = None;
    for (n, line) in log.lines().enumerate() {
        let refuse = |expected| wrong(format!("line {}", n + 1), line, expected);
        let text = line.trim_start();
        if let Some(rest) = text.strip_prefix("CPU") {
            let (cpu, _) = rest.split_once(" attaching ").ok_or(refuse("CPUn attaching"))?;
            let cpu = cpu.parse().ok().filter(|&cpu: &usize| cpu < machine::MAX_CPUS);
            let cpu = cpu.ok_or(refuse("the number of a CPU"))?;
            chains.insert(cpu, Vec::new());
            current = Some(cpu);
        } else if let Some(rest) = text.strip_prefix("domain-") {
            let chain = current.and_then(|cpu| chains.get_mut(&cpu));
            let domain = domain(rest).ok_or(refuse("domain-N: span=CPUS level=NAME"))?;
            chain.ok_or(refuse("a CPU before its domains"))?.push(domain);
        } else if let Some(rest) = text.strip_prefix("groups: ") {
            let chain = current.and_then(|cpu| chains.get_mut(&cpu));
            let last = chain.and_then(|chain| chain.last_mut());
            let groups = groups(rest).ok_or(refuse("groups: N:{ span=CPUS cap=N }, …"))?;
            last.ok_or(refuse("a domain before its groups"))?.groups = groups;
        } else if !text.starts_with("root domain span: ") && !text.starts_with("span: ") {
            return Err(refuse("a line of sched_domain_debug()"));
        }
    }
    Ok(chains)
}

/// `0: span=0-3 level=SMT`.
fn domain(text: &str) -> Option<Domain> {
    let (span, name) = text.split_once(" span=")?.1.split_once(" level=")?;
    Some(Domain {
        name: NAMES.iter().find(|known| **known == name)?,
        level: 0,
        span: span.parse().ok()?,
        flags: SdFlags::empty(),
        groups: Vec::new(),
        imbalance_pct: 0,
        cache_nice_tries: 0,
        min_interval_ms: 0,
        max_interval_ms: 0,
        busy_factor: 0,
        imb_numa_nr: 0,
        busy_idx: 0,
        idle_idx: 0,
    })
}

/// `0:{ span=0-1 cap=2048 }, 2:{ span=2-3 mask=2 }`.
fn groups(text: &str) -> Option<Vec<Group>> {
    text.split(" }")
        .map(|part| part.trim_start_matches(", "))
        .filter(|p| !p.is_empty())
        .map(group)
        .collect()
}

fn group(text: &str) -> Option<Group> {
    let (id, words) = text.split_once(":{ ")?;
    let field =
        |name: &str| words.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let span: CpuSet = field("span")?.parse().ok()?;
    Some(Group {
        span: span.clone(),
        mask: field("mask").map_or(Some(span), |mask| mask.parse().ok())?,
        id: id.parse().ok()?,
        capacity: field("cap").map_or(Some(CAPACITY_SCALE), |cap| cap.parse().ok())?,
        flags: SdFlags::empty(),
    })
}

/// The files of one domain.
struct Files<'a> {
    files: &'a BTreeMap<String, String>,
    dir: String,
}

impl Files<'_> {
    fn text(&self, file: &str) -> Option<&str> {
        self.files.get(&format!("{}/{file}", self.dir)).map(|text| text.trim())
    }

    fn number(&self, file: &str) -> Result<u32, KernelError> {
        let found = self.text(file);
        found.and_then(|text| text.parse().ok()).ok_or_else(|| KernelError::Recorded {
            file: format!("{}/{file}", self.dir),
            place: "value".to_owned(),
            found: found.map_or("no such file".to_owned(), |text| format!("`{text}`")),
            expected: "a number".to_owned(),
        })
    }
}

/// What debugfs says of a domain that the log names.
fn fill(domain: &mut Domain, files: &Files) -> Result<(), KernelError> {
    domain.imbalance_pct = files.number("imbalance_pct")?;
    domain.cache_nice_tries = files.number("cache_nice_tries")?;
    domain.min_interval_ms = files.number("min_interval")?;
    domain.max_interval_ms = files.number("max_interval")?;
    domain.busy_factor = files.number("busy_factor")?;
    if files.text("level").is_some() {
        domain.level = files.number("level")? as usize;
    }
    domain.flags = flags(files.text("flags"));
    let of_groups = flags(files.text("groups_flags"));
    domain.groups.iter_mut().for_each(|group| group.flags = of_groups);
    Ok(())
}

/// Flags by name; names of flags that no model knows (`SD_SHARE_POWERDOMAIN`) are left out.
fn flags(text: Option<&str>) -> SdFlags {
    let flag = |name: &str| match name.strip_prefix("SD_")? {
        "SHARE_PKG_RESOURCES" => Some(SdFlags::SHARE_LLC),
        other => SdFlags::from_name(other),
    };
    let words = text.map_or("", |text| text).split_whitespace();
    words.filter_map(flag).fold(SdFlags::empty(), |all, one| all | one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::debugfs;
    use crate::{Kernel, Version};

    fn built(name: &str, version: Version) -> Domains {
        crate::build(&machine::catalog::load(name).unwrap(), &Kernel::new(version)).unwrap()
    }

    /// What is printed of predicted domains reads as these domains, but for what neither form tells.
    #[test]
    fn what_a_kernel_prints_is_read_again() {
        let version = Version::new(6, 12);
        for name in ["power9-big-core", "kunpeng920-2node", "epyc-7742-1s-nps4"] {
            let domains = built(name, version);
            let log = crate::log::log(&domains, version);
            let read = super::domains(&log, &debugfs::predicted(&domains, version)).unwrap();
            assert_eq!(crate::log::log(&read, version), log, "{name}");
            assert_eq!(
                crate::debugfs::debugfs(&read, version),
                crate::debugfs::debugfs(&domains, version),
                "{name}"
            );
        }
    }

    #[test]
    fn lines_that_are_not_the_kernels_are_named() {
        let files = BTreeMap::new();
        for (log, expected) in [
            ("hello", "attach.log: line 1: found `hello`, expected a line of sched_domain_debug()"),
            (" domain-0: span=0 level=SMT", "expected a CPU before its domains"),
            (
                "CPU0 attaching x\n domain-0: span=0 level=XX",
                "line 2: found ` domain-0: span=0 level=XX`",
            ),
            (
                "CPU0 attaching x\n domain-0: span=0 level=MC",
                "cpu0/domain0/imbalance_pct: value: found no such file",
            ),
            ("CPU99999 attaching x", "expected the number of a CPU"),
        ] {
            let error = domains(log, &files).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
