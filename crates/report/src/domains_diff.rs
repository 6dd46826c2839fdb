//! Two sets of sched domains side by side: what changes, once for all CPUs at which it changes in the same way.

use kernel::{Domains, Version, debugfs};
use machine::CpuSet;
use std::collections::BTreeMap;

/// One domain of one CPU as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainLines {
    /// By which the two sides' domains are matched: the level's name, where DIE is PKG, and a number from the second
    /// domain of that name on.
    key: String,
    span: Option<CpuSet>,
    /// Name and value of what is compared.
    lines: Vec<(String, String)>,
}

/// Domains by CPU, the lowest first.
pub type LinesByCpu = BTreeMap<usize, Vec<DomainLines>>;

/// The text of each distinct difference at a level, and where it is found.
type Found = BTreeMap<String, (CpuSet, Vec<CpuSet>)>;

/// Every domain of every online CPU: span, groups and the files of debugfs in the form of `version`. Groups stand in
/// the order of their CPUs, which is not the kernel's, so that CPUs of one domain have equal lines.
pub fn of_domains(domains: &Domains, version: Version) -> LinesByCpu {
    let mut files: BTreeMap<(usize, usize), Vec<(String, String)>> = BTreeMap::new();
    for (cpu, m, file) in debugfs::entries(domains, version) {
        let pair = file.split_once(": ").map(|(name, value)| (name.into(), value.into()));
        files.entry((cpu, m)).or_default().extend(pair);
    }
    let of_cpu = |cpu: usize| {
        let mut out: Vec<DomainLines> = Vec::new();
        for (m, domain) in domains.by_cpu[cpu].iter().enumerate() {
            let mut groups: Vec<_> = domain.groups.iter().collect();
            groups.sort_by_key(|g| (g.span.first(), g.id));
            let text = |full: &dyn Fn(&kernel::Group) -> String| {
                groups.iter().map(|g| full(g)).collect::<Vec<_>>().join(" ")
            };
            let mut lines = vec![
                ("span".to_string(), domain.span.to_string()),
                ("groups".to_string(), text(&|g| g.span.to_string())),
                ("capacities of groups".to_string(), text(&|g| g.capacity.to_string())),
            ];
            lines.extend(files.get(&(cpu, m)).into_iter().flatten().cloned());
            out.push(DomainLines {
                key: key(domain.name, &out),
                span: Some(domain.span.clone()),
                lines,
            });
        }
        (cpu, out)
    };
    domains.cpus.iter().map(of_cpu).collect()
}

/// Files by path (`cpuN/domainM/FILE`). Other paths are left out.
pub fn of_files(files: &BTreeMap<String, String>) -> LinesByCpu {
    let mut by_domain: BTreeMap<(usize, usize), Vec<(String, String)>> = BTreeMap::new();
    for (path, value) in files {
        let mut parts = path.splitn(3, '/');
        let number = |part: Option<&str>, name: &str| part?.strip_prefix(name)?.parse().ok();
        let cpu = number(parts.next(), "cpu");
        let domain = number(parts.next(), "domain");
        if let (Some(cpu), Some(domain), Some(file)) = (cpu, domain, parts.next()) {
            by_domain.entry((cpu, domain)).or_default().push((file.into(), value.clone()));
        }
    }
    let mut out = LinesByCpu::new();
    for ((cpu, _), lines) in by_domain {
        let domains = out.entry(cpu).or_default();
        let name = lines.iter().find(|(file, _)| file == "name").map_or("?", |(_, name)| name);
        let key = key(name, domains);
        domains.push(DomainLines { key, span: None, lines });
    }
    out
}

fn key(name: &str, below: &[DomainLines]) -> String {
    let name = if name == "DIE" { "PKG" } else { name };
    let same = below.iter().filter(|d| d.key.split(' ').next() == Some(name)).count();
    if same == 0 { name.to_string() } else { format!("{name} {}", same + 1) }
}

/// The differences from `left` to `right`, each given with its name, or nothing where there are none: two lines that
/// name the sides, then for each level and each distinct difference its CPUs and what changes. Levels stand in the
/// order of `left`. A domain that one side lacks is shown without its groups, its spans once for all CPUs.
pub fn diff(left: (&str, &LinesByCpu), right: (&str, &LinesByCpu)) -> Option<String> {
    let mut cpus: Vec<usize> = left.1.keys().chain(right.1.keys()).copied().collect();
    cpus.sort_unstable();
    cpus.dedup();
    let mut levels: Vec<(String, Found)> = Vec::new();
    for cpu in cpus {
        let none = Vec::new();
        let (old, new) = (left.1.get(&cpu).unwrap_or(&none), right.1.get(&cpu).unwrap_or(&none));
        let added = new.iter().filter(|d| old.iter().all(|o| o.key != d.key));
        for key in old.iter().chain(added).map(|d| &d.key) {
            let of = |side: &[DomainLines]| side.iter().find(|d| d.key == *key).cloned();
            note(&mut levels, cpu, key, of(old), of(new));
        }
    }
    if levels.iter().all(|(_, found)| found.is_empty()) {
        return None;
    }
    let mut out = format!("--- {}\n+++ {}\n", left.0, right.0);
    for (key, found) in levels {
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by_key(|(_, (cpus, _))| cpus.first());
        for (text, (cpus, spans)) in found {
            out.push_str(&format!("@@ {key} of CPU {cpus} @@\n"));
            if !spans.is_empty() {
                let spans: Vec<String> = spans.iter().map(|s| s.to_string()).collect();
                let sign = if text.starts_with('-') { '-' } else { '+' };
                out.push_str(&format!("{sign}span: {}\n", spans.join(" ")));
            }
            out.push_str(&text);
        }
    }
    Some(out)
}

/// Adds what differs at one level of one CPU. Levels stand in the order in which CPUs have them, equal or not.
fn note(
    levels: &mut Vec<(String, Found)>,
    cpu: usize,
    key: &str,
    old: Option<DomainLines>,
    new: Option<DomainLines>,
) {
    let (text, span) = match (&old, &new) {
        (Some(old), Some(new)) => (changes(&old.lines, &new.lines), None),
        (Some(one), None) => (all('-', one), one.span.clone()),
        (None, Some(one)) => (all('+', one), one.span.clone()),
        (None, None) => return,
    };
    let at = levels.iter().position(|(other, _)| other == key).unwrap_or(levels.len());
    if at == levels.len() {
        levels.push((key.to_string(), Found::new()));
    }
    if text.is_empty() {
        return;
    }
    let (cpus, spans) = levels[at].1.entry(text).or_default();
    cpus.insert(cpu);
    spans.extend(span.filter(|s| !spans.contains(s)));
}

/// Every line of a domain that one side lacks, but for what tells its place.
fn all(sign: char, domain: &DomainLines) -> String {
    let place = ["span", "groups", "capacities of groups"];
    let lines = domain.lines.iter().filter(|(name, _)| !place.contains(&name.as_str()));
    lines.map(|(name, value)| format!("{sign}{name}: {value}\n")).collect()
}

fn changes(old: &[(String, String)], new: &[(String, String)]) -> String {
    let line = |sign: char, (name, value): &(String, String)| format!("{sign}{name}: {value}\n");
    let mut out = String::new();
    for pair in old {
        match new.iter().find(|(name, _)| *name == pair.0) {
            Some(other) if other == pair => {}
            Some(other) => out.push_str(&(line('-', pair) + &line('+', other))),
            None => out.push_str(&line('-', pair)),
        }
    }
    let added = new.iter().filter(|pair| old.iter().all(|(name, _)| *name != pair.0));
    added.for_each(|pair| out.push_str(&line('+', pair)));
    out
}
