//! Sched domains drawn from the top down, each domain once for all CPUs that see it.

use crate::table::{WIDTH, clip, table};
use kernel::{Domain, Domains, SdFlags, Version};
use machine::CpuSet;
use std::collections::BTreeMap;
use termtree::Tree;

/// Columns for a label; what remains is for the branches before it.
const LABEL_WIDTH: usize = 82;

/// Letters for the sets of flags, by level name and flags.
type Letters = BTreeMap<(&'static str, u32), String>;

/// A domain (or the absence of one below) and the CPUs that see it in the same way.
struct Branch<'a> {
    cpus: CpuSet,
    /// `None` where the CPUs have no domain below their parent's.
    domain: Option<&'a Domain>,
    below: Vec<Branch<'a>>,
}

/// The domains as a tree of at most 100 columns: name, span and groups of each domain, from the top down. Sibling
/// domains that differ in CPU numbers only are drawn once, the others listed beside. Where domains of a NUMA level
/// overlap, each distinct span is a branch that says whose domain it is. Below the tree stand each level's flags and
/// tunables, by the letter that the tree names.
pub fn domains_tree(domains: &Domains, version: Version, title: &str) -> String {
    let letters = letters(domains);
    let label = format!("{title}: kernel {version}, {} CPUs online", domains.cpus.len());
    let mut root = Tree::new(clip(&label, WIDTH));
    grow(&mut root, &branches(domains, domains.cpus.clone(), 0), &letters);
    format!("{root}\n{}", legend(domains, version, &letters))
}

/// Of `cpus`, whose domains are the same down to `depth` from the top: one branch for each domain there.
fn branches(domains: &Domains, cpus: CpuSet, depth: usize) -> Vec<Branch<'_>> {
    let domain_of = |cpu: usize| domains.by_cpu[cpu].iter().rev().nth(depth);
    let mut out: Vec<Branch> = Vec::new();
    for cpu in cpus.iter() {
        let domain = domain_of(cpu);
        match out.iter_mut().find(|b| alike(b.domain, domain)) {
            Some(branch) => branch.cpus.insert(cpu),
            None => out.push(Branch { cpus: CpuSet::single(cpu), domain, below: vec![] }),
        }
    }
    for branch in out.iter_mut().filter(|b| b.domain.is_some()) {
        branch.below = branches(domains, branch.cpus.clone(), depth + 1);
    }
    // The groups name CPUs without a domain of their own already.
    out.retain(|b| b.domain.is_some() || depth == 0);
    out
}

fn alike(a: Option<&Domain>, b: Option<&Domain>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a.name, &a.span, a.flags) == (b.name, &b.span, b.flags),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// What siblings must have in common to be drawn once.
fn shape(branch: &Branch) -> String {
    let own = branch.domain.map_or(String::new(), |d| {
        let sizes: Vec<String> =
            d.groups.iter().map(|g| group_shape(g.span.len(), g.capacity)).collect();
        let tunables = (d.min_interval_ms, d.imbalance_pct);
        format!("{} {} {:?} {tunables:?} {}", d.name, d.span.len(), d.flags, sizes.join(","))
    });
    let below: Vec<String> = branch.below.iter().map(shape).collect();
    format!("{own} {}[{}]", branch.cpus.len(), below.join(";"))
}

fn group_shape(cpus: usize, capacity: u64) -> String {
    format!("{cpus}/{capacity}")
}

fn grow(tree: &mut Tree<String>, branches: &[Branch], letters: &Letters) {
    let mut drawn: Vec<(String, Vec<&Branch>)> = Vec::new();
    for branch in branches {
        let shape = shape(branch);
        match drawn.iter_mut().find(|(other, _)| *other == shape) {
            Some((_, same)) => same.push(branch),
            None => drawn.push((shape, vec![branch])),
        }
    }
    for (_, same) in &drawn {
        let Some(first) = same.first() else { continue };
        let mut node = Tree::new(label(first, letters));
        grow(&mut node, &first.below, letters);
        tree.push(node);
        if same.len() > 1 {
            tree.push(clip(&like(&same[1..]), LABEL_WIDTH));
        }
    }
}

/// `MC 0-7 (b): 4 groups 0-1 2-3 4-5 6-7`.
fn label(branch: &Branch, letters: &Letters) -> String {
    let Some(domain) = branch.domain else {
        return clip(&format!("CPU {}: no domain", branch.cpus), LABEL_WIDTH);
    };
    let letter = letters.get(&key(domain)).map_or("", |l| l.as_str());
    let whose = match branch.cpus == domain.span {
        true => String::new(),
        false => format!(" of CPU {}", branch.cpus),
    };
    let mut groups: Vec<_> = domain.groups.iter().collect();
    groups.sort_by_key(|g| g.span.first());
    let mut spans: Vec<String> = groups.iter().map(|g| g.span.to_string()).collect();
    let uneven = groups
        .windows(2)
        .any(|g| g[0].capacity * g[1].span.len() as u64 != g[1].capacity * g[0].span.len() as u64);
    if uneven {
        spans = groups.iter().map(|g| format!("{} cap {},", g.span, g.capacity)).collect();
    }
    let spans = spans.join(" ");
    let text = format!(
        "{} {}{whose} ({letter}): {} groups {}",
        domain.name,
        domain.span,
        domain.groups.len(),
        spans.trim_end_matches(',')
    );
    clip(&text, LABEL_WIDTH)
}

/// The siblings that are not drawn.
fn like(others: &[&Branch]) -> String {
    let spans: Vec<String> = others
        .iter()
        .map(|b| match b.domain {
            Some(d) if d.span == b.cpus => d.span.to_string(),
            Some(d) => format!("{} of CPU {}", d.span, b.cpus),
            None => b.cpus.to_string(),
        })
        .collect();
    format!("{} more like it: {}", others.len(), spans.join(" "))
}

fn key(domain: &Domain) -> (&'static str, u32) {
    (domain.name, domain.flags.bits())
}

fn all(domains: &Domains) -> impl Iterator<Item = &Domain> {
    domains.by_cpu.iter().flatten()
}

fn letters(domains: &Domains) -> Letters {
    let mut kinds: Vec<(usize, (&'static str, u32))> =
        all(domains).map(|d| (d.level, key(d))).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut letters = Letters::new();
    for (_, kind) in kinds {
        let next = letters.len();
        letters.entry(kind).or_insert_with(|| letter(next));
    }
    letters
}

/// a … z, then a1 … z1 and so on.
fn letter(index: usize) -> String {
    let suffix = if index < 26 { String::new() } else { (index / 26).to_string() };
    format!("{}{suffix}", char::from(b'a' + (index % 26) as u8))
}

fn legend(domains: &Domains, version: Version, letters: &Letters) -> String {
    let mut kinds: Vec<(&String, &(&'static str, u32))> =
        letters.iter().map(|(k, l)| (l, k)).collect();
    kinds.sort_by_key(|(letter, _)| (letter.len(), letter.as_str()));
    let rows: Vec<Vec<String>> = kinds
        .iter()
        .filter_map(|(letter, kind)| {
            let domain = all(domains).find(|d| key(d) == **kind)?;
            let numbers = [domain.imbalance_pct, domain.busy_factor, domain.cache_nice_tries];
            let mut row =
                vec![letter.to_string(), domain.name.to_string(), domain.level.to_string()];
            row.extend(numbers.map(|n| n.to_string()));
            Some(row)
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let head = ["", "name", "level", "imbalance_pct", "busy_factor", "cache_nice_tries"];
    let mut out = table(&head, &rows) + "\n";
    for (letter, (_, bits)) in kinds {
        let names = SdFlags::from_bits_truncate(*bits).names(version).replace("SD_", "");
        let options = textwrap::Options::new(WIDTH).subsequent_indent("     ");
        let text = format!("({letter}) {}", names.trim_end());
        textwrap::wrap(&text, options).iter().for_each(|line| out.push_str(&format!("{line}\n")));
    }
    out
}
