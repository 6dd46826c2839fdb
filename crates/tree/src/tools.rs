//! The programs that building needs, and the packages that have them.

use crate::TreeError;
use std::collections::BTreeSet;
use std::process::{Command, ExitStatus, Stdio};

/// A program or a header, and the Debian package that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// What is called or included.
    pub name: &'static str,
    /// The package.
    pub package: &'static str,
}

const PROGRAMS: [Tool; 8] = [
    Tool { name: "make", package: "make" },
    Tool { name: "gcc", package: "gcc" },
    Tool { name: "ld", package: "binutils" },
    Tool { name: "nm", package: "binutils" },
    Tool { name: "readelf", package: "binutils" },
    Tool { name: "flex", package: "flex" },
    Tool { name: "bison", package: "bison" },
    Tool { name: "bc", package: "bc" },
];

/// What the build of a kernel for x86 needs besides: its own check of objects reads them with this library.
const OBJECTS: Tool = Tool { name: "gelf.h", package: "libelf-dev" };

/// Refuses to build without `missing`.
pub(crate) fn check_tools(missing: Vec<Tool>) -> Result<(), TreeError> {
    if missing.is_empty() {
        return Ok(());
    }
    let list = |of: fn(&Tool) -> &'static str| missing.iter().map(of).collect::<BTreeSet<_>>();
    let join = |set: BTreeSet<&str>| set.into_iter().collect::<Vec<_>>().join(" ");
    let (programs, packages) = (join(list(|t| t.name)), join(list(|t| t.package)));
    Err(TreeError::Tools { programs, packages })
}

/// What the build of a kernel for x86 lacks, besides [`missing_tools`].
pub(crate) fn missing_headers() -> Vec<Tool> {
    let mut command = Command::new("gcc");
    command.args(["-E", "-include", OBJECTS.name, "-xc", "/dev/null", "-o", "/dev/null"]);
    let is_there = quietly(&mut command).is_ok_and(|status| status.success());
    if is_there { vec![] } else { vec![OBJECTS] }
}

/// Runs a command of which nobody reads anything.
pub(crate) fn quietly(command: &mut Command) -> std::io::Result<ExitStatus> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()
}

/// Those that are missing on this computer.
pub fn missing_tools() -> Vec<Tool> {
    let starts = |tool: &Tool| quietly(Command::new(tool.name).arg("--version")).is_ok();
    PROGRAMS.into_iter().filter(|tool| !starts(tool)).collect()
}
