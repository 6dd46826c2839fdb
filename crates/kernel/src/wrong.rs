//! The parts of what is wrong with a kernel or its domains.

use crate::KernelError;
use machine::Wrong;

impl KernelError {
    /// Its parts.
    pub fn wrong(&self) -> Wrong {
        match self {
            KernelError::Version { found } => {
                Wrong::at("kernel", found, "a version such as 4.18 or 6.12")
            }
            KernelError::TooOld { found, oldest } => {
                Wrong::at("kernel", &found.to_string(), &format!("{oldest} or newer"))
            }
            KernelError::Mechanism { found, known } => {
                Wrong::at("mechanism", found, &format!("one of {known}"))
            }
            KernelError::Arch { machine } => Wrong::at(
                &format!("machine `{machine}`"),
                "another architecture",
                "powerpc, arm64 or x86",
            ),
            KernelError::Level { machine, level, cpu, found, expected } => {
                let field = format!("machine `{machine}`: level {level} of CPU {cpu}");
                Wrong::at(&field, found, expected)
            }
            KernelError::NotOffline { found, expected } => {
                Wrong::at("CPU that went offline", &found.to_string(), expected)
            }
            KernelError::Recorded { file, place, found, expected } => {
                Wrong::at(place, found, expected).within(file, "")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Kernel, MECHANISMS, Version};

    #[test]
    fn an_unknown_mechanism_is_told_from_those_that_exist() {
        let error = Kernel::new(Version::new(6, 12)).with_named("x", true).unwrap_err().wrong();
        assert_eq!(error.field.as_deref(), Some("mechanism"));
        assert_eq!(error.found.as_deref(), Some("x"));
        assert!(error.expected.is_some_and(|e| MECHANISMS.iter().all(|m| e.contains(m.name))));
    }
}
