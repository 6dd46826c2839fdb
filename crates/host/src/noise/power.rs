//! Energy that packages used: RAPL below `/sys/class/powercap`.

use super::sources::Counters;
use crate::facts::files;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

const DIR: &str = "sys/class/powercap";

/// What a domain used since some moment, in uJ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Energy {
    /// `energy_uj`, in uJ.
    pub(super) used_uj: u64,
    /// `max_energy_range_uj`: after this many uJ the counter goes on from 0.
    pub(super) range_uj: Option<u64>,
}

impl Energy {
    /// What was used since `before`, if the counter went round once at most.
    pub(super) fn since(self, before: Energy) -> u64 {
        let grown = self.used_uj.checked_sub(before.used_uj);
        let left = self.range_uj.unwrap_or(0).saturating_sub(before.used_uj);
        grown.unwrap_or_else(|| left.saturating_add(self.used_uj))
    }
}

/// A package's counter of energy.
#[derive(Debug, Clone)]
pub(super) struct Domain {
    path: PathBuf,
    range_uj: Option<u64>,
}

impl Domain {
    pub(super) fn read(&self) -> Option<Energy> {
        let used_uj = files::read(&self.path).ok()?.parse().ok()?;
        Some(Energy { used_uj, range_uj: self.range_uj })
    }
}

/// The counters of packages. Domains inside of them (cores, memory) and the whole platform's would count twice.
pub(super) fn find(root: &Path) -> Counters<Domain> {
    let top = |name: &str| name.strip_prefix("intel-rapl:").is_some_and(|n| !n.contains(':'));
    let domains = files::names(root, DIR, top).into_iter().map(|name| format!("{DIR}/{name}"));
    let is_package = |dir: &String| {
        let name = files::text(root, &format!("{dir}/name"));
        name.is_some_and(|name| name.starts_with("package"))
    };
    let mut found = Counters { here: Vec::new(), why_not: "energy: no RAPL domain".to_string() };
    for dir in domains.filter(is_package) {
        let path = root.join(&dir).join("energy_uj");
        match files::read(&path) {
            Ok(_) => {
                let range_uj = files::number(root, &format!("{dir}/max_energy_range_uj"));
                found.here.push(Domain { path, range_uj });
            }
            Err(e) => found.why_not = format!("energy: /{dir}/energy_uj {}", why_not(&e)),
        }
    }
    found
}

/// Why a counter of energy says nothing. Kernels from 5.10 on let root alone read it, as it can betray secrets.
fn why_not(error: &Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "may be read by root only".to_string(),
        _ => format!("cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_may_not_be_read_says_who_may() {
        let text = why_not(&Error::from(ErrorKind::PermissionDenied));
        assert_eq!(text, "may be read by root only");
        assert!(why_not(&Error::from(ErrorKind::NotFound)).starts_with("cannot be read: "));
    }

    #[test]
    fn a_counter_that_went_round_goes_on() {
        let at = |used_uj| Energy { used_uj, range_uj: Some(1000) };
        assert_eq!(at(700).since(at(200)), 500);
        assert_eq!(at(50).since(at(900)), 150);
        assert_eq!(Energy { used_uj: 5, range_uj: None }.since(at(900)), 5);
    }
}
