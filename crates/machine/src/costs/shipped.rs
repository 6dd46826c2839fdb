//! Tables that come with the program.

use super::{CostTable, CostsError};
use crate::model::Arch;
use std::path::Path;
use std::sync::{Arc, OnceLock};

macro_rules! tables {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../costs/", $name, ".toml")))),*]
    };
}

/// Texts by `ARCH-RELEASE`.
const TABLES: &[(&str, &str)] = tables![
    "amd64-5.10",
    "amd64-6.1",
    "amd64-6.12",
    "amd64-7.2",
    "arm64-6.1",
    "arm64-6.12",
    "arm64-7.2",
    "ppc64el-6.12",
    "ppc64el-7.2",
];

/// What was parsed of [`TABLES`], which takes milliseconds; each run of a sweep needs one.
static PARSED: [OnceLock<Arc<CostTable>>; TABLES.len()] = [const { OnceLock::new() }; TABLES.len()];

/// Names of all tables, `ARCH-RELEASE`, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|(name, _)| *name)
}

/// The table called `name`.
///
/// # Errors
/// A name that no table has, with those that there are.
pub fn named(name: &str) -> Result<Arc<CostTable>, CostsError> {
    let found = TABLES.iter().position(|(n, _)| *n == name).ok_or_else(|| CostsError::Unknown {
        name: name.to_string(),
        known: names().collect::<Vec<_>>().join(", "),
    })?;
    if let Some(table) = PARSED[found].get() {
        return Ok(Arc::clone(table));
    }
    let table = Arc::new(CostTable::parse(TABLES[found].1, name)?);
    Ok(Arc::clone(PARSED[found].get_or_init(|| table)))
}

/// The table called `spec`, or the file `spec` relative to `folder`.
///
/// # Errors
/// A name that no table has, and files as [`CostTable::parse`] refuses them.
pub fn find(spec: &str, folder: &Path) -> Result<Arc<CostTable>, CostsError> {
    if names().any(|name| name == spec) || !spec.ends_with(".toml") {
        return named(spec);
    }
    let file = folder.join(spec).display().to_string();
    match std::fs::read_to_string(&file) {
        Ok(text) => CostTable::parse(&text, &file).map(Arc::new),
        Err(reason) => Err(CostsError::File { file, reason: reason.to_string() }),
    }
}

/// The table for a kernel of `release` (major, minor) on `arch`: of the newest release up to this one, or of the oldest.
///
/// # Errors
/// An architecture without tables.
pub fn nearest(arch: Arch, release: (u16, u16)) -> Result<Arc<CostTable>, CostsError> {
    let debian = match arch {
        Arch::X86 => "amd64",
        Arch::Arm64 => "arm64",
        Arch::Powerpc => "ppc64el",
        Arch::Other => "other",
    };
    let mut of: Vec<((u16, u16), &str)> = names()
        .filter_map(|name| Some((parsed(name.strip_prefix(debian)?.strip_prefix('-')?)?, name)))
        .collect();
    of.sort_unstable();
    let upto = of.iter().rev().find(|(counted, _)| *counted <= release);
    match upto.or(of.first()) {
        Some((_, name)) => named(name),
        None => Err(CostsError::Architecture { known: names().collect::<Vec<_>>().join(", ") }),
    }
}

/// The kernels of the tables for `releases` on `arch`, each once, such as `6.12.107+deb13-arm64`; none where nothing was counted.
pub fn counted_on(arch: Arch, releases: impl Iterator<Item = (u16, u16)>) -> Vec<String> {
    let mut all: Vec<String> =
        releases.filter_map(|release| Some(nearest(arch, release).ok()?.kernel.clone())).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn parsed(release: &str) -> Option<(u16, u16)> {
    let (major, minor) = release.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_can_be_read_and_is_found() {
        for name in names() {
            let table = named(name).unwrap();
            assert!(name.starts_with(&table.arch), "{name}: {}", table.arch);
            assert!(table.operations.len() > 40, "{name}");
        }
        assert!(named("m68k-2.0").unwrap_err().to_string().contains("arm64-6.12"));
    }

    #[test]
    fn a_name_or_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let shipped = Arc::unwrap_or_clone(named("arm64-6.12").unwrap());
        let table = CostTable { kernel: "mine".to_string(), ..shipped };
        std::fs::write(dir.path().join("mine.toml"), toml::to_string(&table).unwrap()).unwrap();
        assert_eq!(find("mine.toml", dir.path()), Ok(Arc::new(table)));
        assert_eq!(find("arm64-6.12", dir.path()), named("arm64-6.12"));
        for (spec, says) in [
            ("theirs.toml", "theirs.toml: "),
            ("theirs", "expected a file (.toml) or one of amd64"),
        ] {
            let error = find(spec, dir.path()).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn the_newest_up_to_a_release_or_else_the_oldest() {
        for (release, counted) in
            [((4, 19), "6.1."), ((6, 6), "6.1."), ((6, 12), "6.12."), ((7, 3), "7.2.")]
        {
            assert!(nearest(Arch::Arm64, release).unwrap().kernel.starts_with(counted));
        }
        assert!(nearest(Arch::Other, (6, 12)).is_err());
    }
}
