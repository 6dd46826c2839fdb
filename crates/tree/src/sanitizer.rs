//! Sanitizers that a tree's scheduler can be compiled with.

use crate::{TreeError, make};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;

/// What the compiler adds checks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sanitizer {
    /// AddressSanitizer: memory out of bounds, or freed. The first report ends a run.
    Address,
    /// UndefinedBehaviorSanitizer: indices, shifts, divisions, values that a type does not have. Reports are warnings.
    Undefined,
}

/// All, by name.
const NAMES: [(&str, Sanitizer); 2] =
    [("address", Sanitizer::Address), ("undefined", Sanitizer::Undefined)];

impl Sanitizer {
    /// Its line of the configuration.
    pub fn config_line(self) -> String {
        match self {
            Sanitizer::Address => "CONFIG_SCHEDSCAPE_ADDRESS=y".to_string(),
            Sanitizer::Undefined => "CONFIG_SCHEDSCAPE_UNDEFINED=y".to_string(),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, s)| *s == self).map_or("", |(name, _)| name)
    }
}

impl FromStr for Sanitizer {
    type Err = String;

    fn from_str(text: &str) -> Result<Sanitizer, String> {
        let found = NAMES.iter().find(|(name, _)| *name == text).map(|(_, sanitizer)| *sanitizer);
        found.ok_or_else(|| format!("found {text:?}, expected address or undefined"))
    }
}

/// What a process needs in its environment before it can load a library with these lines of configuration: the runtime of
/// AddressSanitizer has to be the first library of a process. Faults are for the process's own handler, which tells who called.
///
/// # Errors
/// A compiler that has no such runtime.
pub(crate) fn environment(config: &[String]) -> Result<Vec<(String, OsString)>, TreeError> {
    if !config.contains(&Sanitizer::Address.config_line()) {
        return Ok(vec![]);
    }
    let what = "-print-file-name=libasan.so";
    let runtime = make::run(Command::new("gcc").arg(what), &format!("gcc {what}"))?;
    let runtime = Path::new(runtime.trim());
    if !runtime.is_absolute() {
        let expected = "that of gcc; install: libasan of gcc's version";
        return Err(TreeError::found("sanitize", "no libasan.so", expected));
    }
    // Stacks of tasks have no frame pointers that the fast way could follow.
    let options = "detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:\
                   use_sigaltstack=0:fast_unwind_on_malloc=0:malloc_context_size=12:exitcode=3";
    Ok(vec![
        ("LD_PRELOAD".to_string(), runtime.into()),
        ("ASAN_OPTIONS".to_string(), options.into()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sanitizers_have_names() {
        for (name, sanitizer) in NAMES {
            assert_eq!((name.parse(), sanitizer.name()), (Ok(sanitizer), name));
        }
        let error = "thread".parse::<Sanitizer>().unwrap_err();
        assert_eq!(error, "found \"thread\", expected address or undefined");
    }

    #[test]
    fn only_the_address_sanitizer_needs_an_environment() {
        let lines = |s: Sanitizer| [s.config_line()];
        assert_eq!(environment(&lines(Sanitizer::Undefined)).unwrap(), []);
        let names = environment(&lines(Sanitizer::Address)).unwrap();
        let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["LD_PRELOAD", "ASAN_OPTIONS"]);
    }
}
