//! A `.config` as the seed of a library's configuration.
//!
//! Most of a machine's configuration is about drivers, file systems and an architecture that a library has not. What decides how the
//! scheduler behaves is taken over: the options in `arch/choices`. Where a release or the architecture does not take one of them as the
//! file has it, it is left out, and [`crate::Library::left_out`] names it.

use crate::without::expected_without;
use crate::{TreeError, arch};
use std::path::Path;

/// Options that decide about the scheduler, and that a library cannot have.
const NOT_HERE: [&str; 4] = ["NUMA_BALANCING", "SCHED_CLASS_EXT", "ENERGY_MODEL", "RT_GROUP_SCHED"];

/// What a `.config` says of the scheduler.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Seed {
    /// Lines that a library's configuration begins with.
    pub(crate) lines: Vec<String>,
    /// Lines that it cannot have, and why.
    pub(crate) never: Vec<String>,
}

impl Seed {
    /// What the file says, if there is one.
    ///
    /// # Errors
    /// A file that cannot be read, or is no kernel's configuration.
    pub(crate) fn read(file: Option<&Path>) -> Result<Seed, TreeError> {
        let Some(file) = file else { return Ok(Seed::default()) };
        let text = std::fs::read(file).map_err(TreeError::io(file))?;
        let seed = Seed::of(&String::from_utf8_lossy(&text));
        match seed.lines.is_empty() {
            true => Err(TreeError::found(
                file.display(),
                "no option of the scheduler",
                "a kernel's .config, such as /boot/config-6.12",
            )),
            false => Ok(seed),
        }
    }

    fn of(text: &str) -> Seed {
        let known: Vec<&str> = arch::CHOICES.lines().collect();
        let mut seed = Seed::default();
        for line in text.lines().map(str::trim_end) {
            let Some((name, is_on)) = option(line) else { continue };
            let why = expected_without(name).filter(|_| is_on && NOT_HERE.contains(&name));
            match why {
                Some(why) => {
                    seed.never.push(format!("{line} ({})", why.trim_start_matches("none: ")));
                }
                _ if known.contains(&name) => seed.lines.push(line.to_string()),
                _ => {}
            }
        }
        // Such a kernel stops the ticks of idle CPUs, and those of others where its command line names them, which none here does.
        if text.lines().any(|line| line == "CONFIG_NO_HZ_FULL=y") {
            seed.lines.retain(|line| option(line).is_none_or(|(name, _)| name != "NO_HZ_IDLE"));
            seed.lines.push("CONFIG_NO_HZ_IDLE=y".to_string());
        }
        seed
    }
}

/// The option that a line of a configuration is about, and whether it is on.
pub(crate) fn option(line: &str) -> Option<(&str, bool)> {
    if let Some(set) = line.strip_prefix("CONFIG_") {
        return set.split_once('=').map(|(name, value)| (name, value != "n"));
    }
    let name = line.strip_prefix("# CONFIG_")?.strip_suffix(" is not set")?;
    Some((name, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_about_the_scheduler_is_taken() {
        let text = "# Linux/x86\nCONFIG_HZ_1000=y\n# CONFIG_HZ_250 is not set\nCONFIG_HZ=1000\nCONFIG_E1000=m\n\
                    CONFIG_NUMA_BALANCING=y\n# CONFIG_ENERGY_MODEL is not set\n# CONFIG_PREEMPT is not set\n";
        let full = "CONFIG_NO_HZ_FULL=y\n# CONFIG_NO_HZ_IDLE is not set\n";
        assert_eq!(Seed::of(full).lines, ["CONFIG_NO_HZ_IDLE=y"]);
        let seed = Seed::of(text);
        let lines =
            ["CONFIG_HZ_1000=y", "# CONFIG_HZ_250 is not set", "# CONFIG_PREEMPT is not set"];
        assert_eq!(seed.lines, lines);
        assert_eq!(seed.never.len(), 1);
        assert!(seed.never[0].starts_with("CONFIG_NUMA_BALANCING=y ("), "{:?}", seed.never);
    }

    #[test]
    fn a_file_that_is_no_configuration_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        std::fs::write(&file, "all:\n").unwrap();
        let error = Seed::read(Some(&file)).unwrap_err().to_string();
        assert!(error.contains("found no option of the scheduler"), "{error}");
        assert!(Seed::read(Some(&dir.path().join("none"))).is_err());
        assert_eq!(Seed::read(None).unwrap(), Seed::default());
    }
}
