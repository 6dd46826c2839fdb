//! The programs that building needs, and the packages that have them.

use std::process::{Command, Stdio};

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

/// Those that are missing on this computer.
pub fn missing_tools() -> Vec<Tool> {
    let starts = |tool: &Tool| {
        let mut command = Command::new(tool.name);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok()
    };
    PROGRAMS.into_iter().filter(|tool| !starts(tool)).collect()
}
