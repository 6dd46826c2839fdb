//! The kernel's own log of attached domains (`sched_verbose`, `sched_domain_debug`).

use crate::capacity::CAPACITY_SCALE;
use crate::domain::{Domain, Domains};
use crate::flags::SdFlags;
use crate::version::Version;

/// First release that says `root domain` before the span.
const ROOT_DOMAIN_SINCE: Version = Version::new(5, 8);
/// First release that leaves the largest CPU capacity out of the last line (`root_domain::max_cpu_capacity` goes).
const NO_MAX_CAPACITY_SINCE: Version = Version::new(6, 10);

/// What a kernel of `version` logs when it attaches `domains`: every online CPU, then the root domain.
pub fn log(domains: &Domains, version: Version) -> String {
    let mut out = String::new();
    for cpu in domains.cpus.iter() {
        out.push_str(&cpu_log(&domains.by_cpu[cpu], cpu, usize::MAX));
    }
    let root = if version >= ROOT_DOMAIN_SINCE { "root domain span" } else { "span" };
    let max = match domains.capacity.iter().max() {
        Some(max) if version < NO_MAX_CAPACITY_SINCE => format!(" (max cpu_capacity = {max})"),
        _ => String::new(),
    };
    out.push_str(&format!("{root}: {}{max}\n", domains.cpus));
    out
}

/// SMT domains in the form of the big-core study: a heading `{title} : SMT domain`, a line of tildes, then the
/// lowest domain of each of `cpus`. Where none of them has an SMT domain the heading says so and stands alone;
/// where just some have none, a line says it of each.
pub fn study_form(domains: &Domains, cpus: &[usize], title: &str) -> String {
    let smt = |cpu: usize| {
        let chain = domains.by_cpu.get(cpu)?;
        chain.first().filter(|d| d.name == "SMT").map(|_| chain)
    };
    let any = cpus.iter().any(|&cpu| smt(cpu).is_some());
    let heading = format!("{title} : SMT domain{}", if any { "" } else { " ceases to exist." });
    let mut out = format!("{heading}\n{}\n", "~".repeat(heading.chars().count()));
    for &cpu in cpus.iter().filter(|_| any) {
        match smt(cpu) {
            Some(chain) => out.push_str(&cpu_log(chain, cpu, 1)),
            None => out.push_str(&format!("CPU{cpu} has no SMT domain.\n")),
        }
    }
    out
}

/// The log of one CPU, its lowest `levels` domains only.
pub fn cpu_log(chain: &[Domain], cpu: usize, levels: usize) -> String {
    if chain.is_empty() {
        return format!("CPU{cpu} attaching NULL sched-domain.\n");
    }
    let mut out = format!("CPU{cpu} attaching sched-domain(s):\n");
    for (level, domain) in chain.iter().take(levels).enumerate() {
        out.push_str(&domain_log(domain, level));
    }
    out
}

fn domain_log(domain: &Domain, level: usize) -> String {
    let indent = " ".repeat(level);
    let mut out = format!("{indent} domain-{level}: span={} level={}\n", domain.span, domain.name);
    let groups: Vec<String> = domain
        .groups
        .iter()
        .map(|g| {
            let mut text = format!("{}:{{ span={}", g.id, g.span);
            if domain.flags.contains(SdFlags::OVERLAP) && g.mask != g.span {
                text.push_str(&format!(" mask={}", g.mask));
            }
            if g.capacity != CAPACITY_SCALE {
                text.push_str(&format!(" cap={}", g.capacity));
            }
            text + " }"
        })
        .collect();
    out.push_str(&format!("{indent}  groups: {}\n", groups.join(", ")));
    out
}
