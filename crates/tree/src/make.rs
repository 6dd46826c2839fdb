//! The tree's own build system, for objects.

use crate::TreeError;
use std::path::Path;
use std::process::{Command, Stdio};

/// Lines of a failure that are shown.
const LINES: usize = 12;

/// Runs a command to its end and returns what it printed.
///
/// # Errors
/// A command that does not start or fails: the lines of its output that say why, or the last ones.
pub(crate) fn run(command: &mut Command, what: &str) -> Result<String, TreeError> {
    let failed = |said: String| TreeError::Failed { what: what.to_string(), said };
    command.stdin(Stdio::null()).env("LC_ALL", "C");
    let output = command.output().map_err(|e| failed(e.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(failed(telling(&said)))
}

/// The compiler's errors with the lines that it shows of them; without any, the last lines. What make says of it is of use
/// only where nobody else says anything.
fn telling(said: &str) -> String {
    let lines: Vec<&str> = said.lines().filter(|l| !l.trim().is_empty()).collect();
    let of_make = |l: &&str| l.starts_with("make");
    let is_error = |l: &&str| {
        l.contains("error:") || l.contains(" Error ") || l.contains("undefined reference")
    };
    let first = lines.iter().position(|l| is_error(l) && !of_make(l));
    let from = first.unwrap_or(lines.len().saturating_sub(LINES));
    let all_of_make = lines[from..].iter().all(of_make);
    let shown = lines[from..].iter().filter(|l| all_of_make || !of_make(l)).take(LINES);
    shown.copied().collect::<Vec<_>>().join("\n")
}

/// Makes `targets` of the tree in `farm` for our architecture, with what it makes below `out`.
pub(crate) fn make(
    farm: &Path,
    out: &Path,
    targets: &[String],
    what: &str,
) -> Result<(), TreeError> {
    let mut command = of_tree(Command::new("make"), farm, out, crate::arch::NAME);
    run(command.args(targets), what).map(|_| ())
}

/// `make` in the farm for `arch`, with what it makes below `out`; targets are missing.
pub(crate) fn of_tree(mut make: Command, farm: &Path, out: &Path, arch: &str) -> Command {
    let jobs = std::thread::available_parallelism().map_or(1, |n| n.get());
    make.arg("--directory").arg(farm).args(["--silent", "--keep-going"]);
    make.arg(format!("--jobs={jobs}")).arg(format!("O={}", out.display()));
    make.arg(format!("ARCH={arch}"));
    // Variables of a make that runs us would reach the kernel's.
    make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
    make
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_failed_build_the_compilers_lines_are_shown() {
        let said = "In file included from a.h:1,\nfair.c:12:3: error: 'x' undeclared\n   12 |   x = 1;\n      |   ^\n\
                    make[3]: *** [fair.o] Error 1\nmake: *** Waiting\n";
        assert_eq!(
            telling(said),
            "fair.c:12:3: error: 'x' undeclared\n   12 |   x = 1;\n      |   ^"
        );
        assert_eq!(telling("one\ntwo\n"), "one\ntwo");
        let no_rule = "make[5]: *** No rule to make target 'a.o'.  Stop.";
        assert_eq!(telling(no_rule), no_rule);
    }
}
