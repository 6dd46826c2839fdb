//! Types of the levels of a synthetic string.

use super::level::{Description, Level};
use crate::error::Fault;
use crate::hwloc::topology::Kind;
use crate::model::CacheKind;

/// Names of types with the fewest letters that will do.
const NAMES: [(&str, usize, Kind); 8] = [
    ("machine", 2, Kind::Machine),
    ("numanode", 2, Kind::Node),
    ("node", 2, Kind::Node),
    ("package", 2, Kind::Package),
    ("socket", 2, Kind::Package),
    ("die", 2, Kind::Die),
    ("core", 2, Kind::Core),
    ("pu", 2, Kind::Pu),
];

/// The type called `name`, and the number of a group.
pub(super) fn named(name: &str) -> Result<(Kind, Option<u32>), Fault> {
    let lower = name.to_ascii_lowercase();
    let begins = |full: &str, fewest: usize| lower.len() >= fewest && full.starts_with(&lower);
    if let Some((_, _, kind)) = NAMES.iter().find(|(full, fewest, _)| begins(full, *fewest)) {
        return Ok((*kind, None));
    }
    let word = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    if word.len() >= 2 && "group".starts_with(word) {
        return Ok((Kind::Group, lower.get(word.len()..).and_then(|digits| digits.parse().ok())));
    }
    if ["tile", "module"].contains(&word) {
        return Ok((Kind::Group, None));
    }
    cache(&lower).map(|kind| (kind, None)).ok_or_else(|| {
        let expected = "package, die, numa, group, l1 to l5, l1i to l3i, core or pu";
        Fault::new(format!("`{name}`"), expected)
    })
}

/// `l2`, `l1d`, `l1icache` …; without a letter a cache is unified.
fn cache(lower: &str) -> Option<Kind> {
    let rest = lower.strip_prefix('l')?;
    let level = rest.chars().next()?.to_digit(10)? as u8;
    let rest = rest.get(1..)?;
    let (kind, rest) = match rest.chars().next() {
        Some('i') => (CacheKind::Instruction, rest.get(1..)?),
        Some('d') => (CacheKind::Data, rest.get(1..)?),
        Some('u') => (CacheKind::Unified, rest.get(1..)?),
        _ => (CacheKind::Unified, rest),
    };
    let most = if kind == CacheKind::Instruction { 3 } else { 5 };
    ("cache".starts_with(rest) && (1..=most).contains(&level)).then_some(Kind::Cache(level, kind))
}

/// Gives every level a type, adds the NUMA node of a machine without one, and checks that types go together.
pub(super) fn complete(description: &mut Description) -> Result<(), Fault> {
    let attached = description.attached_nodes() > 0;
    let levels = &mut description.levels;
    if let Some(last) = levels.last_mut() {
        if last.kind.is_some_and(|kind| kind != Kind::Pu) {
            return Err(Fault::new("a last level of another type", "one of type PU"));
        }
        last.kind = Some(Kind::Pu);
    }
    let between = levels.len().saturating_sub(2);
    let untyped = |level: &&Level| level.kind.is_none();
    let unset = levels.iter().skip(1).take(between).filter(untyped).count();
    if unset > 0 {
        if unset != between {
            return Err(Fault::new("levels with and without a type", "all or none with a type"));
        }
        for (level, kind) in levels.iter_mut().skip(1).zip(usual(unset, !attached)) {
            level.kind = Some(kind);
        }
    }
    for kind in [Kind::Pu, Kind::Package, Kind::Die, Kind::Core, Kind::Node] {
        if levels.iter().filter(|level| level.kind == Some(kind)).count() > 1 {
            return Err(Fault::new(format!("several levels of type {kind}"), "one"));
        }
    }
    match (levels.iter().any(|level| level.kind == Some(Kind::Node)), attached) {
        (true, true) => {
            let found = "NUMA nodes both as a level and in brackets";
            Err(Fault::new(found, "one of the two"))
        }
        (false, false) => {
            levels.insert(1, Level::new(Some(Kind::Node), 1));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Types that hwloc chooses for `count` levels between machine and PUs: a NUMA node, a package, a core, up to four
/// caches and then groups, as far as there are levels.
fn usual(count: usize, numa: bool) -> Vec<Kind> {
    let mut left = count;
    let mut take = |most: usize| {
        let taken = left.min(most);
        left -= taken;
        taken
    };
    let nodes = take(usize::from(numa));
    let packages = take(1);
    let cores = take(1);
    let caches = take(4);
    let mut kinds = vec![Kind::Group; take(usize::MAX)];
    kinds.extend(vec![Kind::Package; packages]);
    kinds.extend(vec![Kind::Node; nodes]);
    for (kind, from) in [
        (Kind::Cache(3, CacheKind::Unified), 3),
        (Kind::Cache(2, CacheKind::Unified), 1),
        (Kind::Cache(1, CacheKind::Data), 2),
        (Kind::Cache(1, CacheKind::Instruction), 4),
    ] {
        kinds.extend((caches >= from).then_some(kind));
    }
    kinds.extend(vec![Kind::Core; cores]);
    kinds
}
