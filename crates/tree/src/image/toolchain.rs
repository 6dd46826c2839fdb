//! The compiler of a kernel, of this computer or from a directory.

use crate::TreeError;
use crate::make::run;
use crate::tools::quietly;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A compiler with its linker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// What comes before `gcc` and `ld` in their names; nothing for this computer's own.
    pub prefix: String,
    /// Directories in which programs are looked for first.
    pub path: Vec<PathBuf>,
    /// Directories in which they find their libraries.
    pub libraries: Vec<PathBuf>,
}

impl Toolchain {
    /// This computer's own, or an installed cross compiler.
    pub fn installed(prefix: &str) -> Toolchain {
        Toolchain { prefix: prefix.to_owned(), path: Vec::new(), libraries: Vec::new() }
    }

    /// Whether its compiler starts.
    pub fn works(&self) -> bool {
        let command = self.command(&format!("{}gcc", self.prefix));
        command.is_ok_and(|mut gcc| quietly(gcc.arg("--version")).is_ok_and(|s| s.success()))
    }

    /// What its compiler says of itself.
    pub(super) fn version(&self) -> Result<String, TreeError> {
        let name = format!("{}gcc", self.prefix);
        run(self.command(&name)?.arg("--version"), &format!("{name} --version"))
    }

    /// `program`, with its environment.
    ///
    /// # Errors
    /// A directory that a list of them cannot hold.
    pub(super) fn command(&self, program: &str) -> Result<Command, TreeError> {
        let mut command = Command::new(program);
        for (name, first) in [("PATH", &self.path), ("LD_LIBRARY_PATH", &self.libraries)] {
            if !first.is_empty() {
                command.env(name, list(first, std::env::var_os(name).as_deref())?);
            }
        }
        Ok(command)
    }

    /// How the kernel's build system is to call the compiler: through `ccache` where that is installed.
    pub(super) fn compiler(&self) -> String {
        let found = |dir: PathBuf| dir.join("ccache").is_file();
        let has = std::env::var_os("PATH").is_some_and(|p| std::env::split_paths(&p).any(found));
        format!("{}{}gcc", if has { "ccache " } else { "" }, self.prefix)
    }
}

fn list(first: &[PathBuf], then: Option<&OsStr>) -> Result<OsString, TreeError> {
    let rest = then.into_iter().flat_map(std::env::split_paths);
    let all = first.iter().cloned().chain(rest.filter(|path| path != Path::new("")));
    let place = first.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ");
    std::env::join_paths(all).map_err(|e| TreeError::found(place, e, "a directory without a colon"))
}
