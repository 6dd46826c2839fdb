//! A kernel: version, mechanisms that differ from its defaults, tick rate.

use crate::KernelError;
use crate::mechanism::{MECHANISMS, MechanismId};
use crate::version::Version;
use std::collections::BTreeMap;

/// The kernel of one variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Mainline release.
    pub version: Version,
    /// Ticks a second (`CONFIG_HZ`).
    pub hz: u32,
    switched: BTreeMap<MechanismId, bool>,
}

impl Kernel {
    /// Ticks a second on most distributions.
    pub const DEFAULT_HZ: u32 = 250;

    /// `version` with each mechanism as mainline has it.
    pub fn new(version: Version) -> Kernel {
        Kernel { version, hz: Kernel::DEFAULT_HZ, switched: BTreeMap::new() }
    }

    /// The same kernel with `mechanism` on or off, whatever its version says.
    pub fn with(mut self, mechanism: MechanismId, on: bool) -> Kernel {
        self.switched.insert(mechanism, on);
        self
    }

    /// The same kernel at another release: explicit switches stay, other mechanisms are as that release has them.
    pub fn at(self, version: Version) -> Kernel {
        Kernel { version, ..self }
    }

    /// As [`Kernel::with`], by name.
    pub fn with_named(self, name: &str, on: bool) -> Result<Kernel, KernelError> {
        let id = MechanismId::by_name(name).ok_or_else(|| KernelError::Mechanism {
            found: name.to_string(),
            known: MECHANISMS.iter().map(|m| m.name).collect::<Vec<_>>().join(", "),
        })?;
        Ok(self.with(id, on))
    }

    /// Whether `mechanism` is on: switched explicitly, else by version.
    pub fn has(&self, mechanism: MechanismId) -> bool {
        self.switched(mechanism).unwrap_or(mechanism.row().default.at(self.version))
    }

    /// What `mechanism` was switched to explicitly; `None` where it is as its version has it.
    pub fn switched(&self, mechanism: MechanismId) -> Option<bool> {
        self.switched.get(&mechanism).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_follow_the_version_and_switches_win() {
        let old = Kernel::new(Version::new(4, 18));
        assert!(!old.has(MechanismId::SmallCoreSmt));
        assert!(old.clone().with(MechanismId::SmallCoreSmt, true).has(MechanismId::SmallCoreSmt));
        let new = Kernel::new(Version::new(6, 12));
        assert!(new.has(MechanismId::L2ThreadGroups));
        assert!(
            !new.with_named("l2-thread-groups", false).unwrap().has(MechanismId::L2ThreadGroups)
        );
        assert!(matches!(old.with_named("small", true), Err(KernelError::Mechanism { .. })));
    }
}
