//! Schedulers that are crates of the registry, built on this computer and kept in the cache.
//!
//! cargo resolves, downloads and verifies with this computer's settings. A build goes to a temporary directory and gets its name when it is
//! whole: crate, version and architecture. Objects of crates that schedulers share are kept beside it, so a second one builds faster.

use crate::host::run;
use crate::packages::host_arch;
use crate::{Arch, Cache, VmError};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The oldest clang that builds them.
const OLDEST_CLANG: u32 = 17;
/// Names that clang is installed by, the newest first.
const CLANGS: [&str; 8] =
    ["clang", "clang-23", "clang-22", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17"];
/// Lines that are kept of a build that failed.
const LONGEST: usize = 40;

/// A crate that is built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// Its version.
    pub version: String,
    /// Its program.
    pub program: PathBuf,
}

impl Cache {
    /// The scheduler of the crate `name` for guests of `arch`, in `version`, else in the newest that the registry has. It is built where it
    /// has not been before; `say` hears how far that is.
    ///
    /// # Errors
    /// Another architecture than this computer's, what a build needs and is not there, and what the compiler says.
    pub fn scheduler(
        &self,
        name: &str,
        version: Option<&str>,
        arch: Arch,
        say: &dyn Fn(&str),
    ) -> Result<Built, VmError> {
        if host_arch()? != arch {
            return Err(refused(
                name,
                format!("guests of {arch} on a computer of {}", host_arch()?),
                "guests of this computer's architecture, or a path to a program: crates are not cross-compiled",
            ));
        }
        let dir = self.dir().join("schedulers");
        let version = match version {
            Some(version) => version.to_owned(),
            None => match newest(name) {
                Ok(version) => version,
                // Without a network, what is there will do.
                Err(reason) => newest_built(&dir, name, arch).ok_or(reason)?,
            },
        };
        let to = dir.join(format!("{name}-{version}-{arch}"));
        let program = to.join("bin").join(name);
        if !program.exists() {
            build(&dir, &to, (name, &version), say)?;
        }
        match program.exists() {
            true => Ok(Built { version, program }),
            false => Err(refused(name, format!("no program {name} in it"), "one of that name")),
        }
    }
}

fn refused(name: &str, found: String, expected: &str) -> VmError {
    VmError::Scheduler { name: name.to_owned(), found, expected: expected.to_owned() }
}

/// The newest version of the registry.
fn newest(name: &str) -> Result<String, VmError> {
    // Where no workspace is around, which would have a say in it.
    let about = run(Command::new("cargo").args(["info", name]).current_dir(std::env::temp_dir()))
        .map_err(|e| without_cargo(name, e))?;
    version_in(&about).ok_or_else(|| refused(name, "no version".into(), "one (cargo info)"))
}

/// The version in what `cargo info` prints, as `1.1.4` or `1.1.3 (latest 1.1.4)`.
fn version_in(about: &str) -> Option<String> {
    let line = about.lines().find_map(|line| line.strip_prefix("version: "))?;
    line.split_whitespace().next().map(str::to_owned)
}

/// The newest version of those that are built.
fn newest_built(dir: &Path, name: &str, arch: Arch) -> Option<String> {
    let version = |entry: std::io::Result<std::fs::DirEntry>| {
        let file = entry.ok()?.file_name().into_string().ok()?;
        let rest = file.strip_prefix(name)?.strip_prefix('-')?;
        Some(rest.strip_suffix(&format!("-{arch}"))?.to_owned())
    };
    let numbers = |version: &String| -> Vec<u64> {
        version.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect()
    };
    std::fs::read_dir(dir).ok()?.filter_map(version).max_by_key(numbers)
}

fn without_cargo(name: &str, error: VmError) -> VmError {
    match error {
        VmError::Program { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            refused(
                name,
                "no cargo".into(),
                "one to build the crate with: apt install cargo, or rustup",
            )
        }
        other => other,
    }
}

/// Builds a crate into the new directory `to` of `dir`.
fn build(
    dir: &Path,
    to: &Path,
    (name, version): (&str, &str),
    say: &dyn Fn(&str),
) -> Result<(), VmError> {
    let clang = clang(name)?;
    check_libraries(name)?;
    std::fs::create_dir_all(dir).map_err(VmError::io(dir))?;
    let work =
        tempfile::Builder::new().prefix(".build").tempdir_in(dir).map_err(VmError::io(dir))?;
    let mut command = Command::new("cargo");
    command.args(["install", "--locked", name, "--version", version, "--root"]).arg(work.path());
    command.arg("--target-dir").arg(dir.join("objects")).env("BPF_CLANG", clang);
    command.current_dir(work.path()).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| without_cargo(name, crate::host::missing("cargo", source)))?;
    let lines = child.stderr.take().map(|pipe| BufReader::new(pipe).lines());
    let mut said = Vec::new();
    for line in lines.into_iter().flatten().map_while(Result::ok) {
        say(line.trim());
        said.push(line);
    }
    let status = child.wait().map_err(VmError::io(Path::new("cargo")))?;
    if !status.success() {
        return Err(VmError::Failed {
            program: format!("cargo install {name} {version}"),
            status: status.to_string(),
            message: errors(&said),
        });
    }
    // Somebody else may have been faster.
    match std::fs::rename(work.path(), to) {
        Err(_) if to.join("bin").join(name).exists() => Ok(()),
        renamed => renamed.map_err(VmError::io(to)),
    }
}

/// What a failed build says from its first error on.
fn errors(said: &[String]) -> String {
    let first = said.iter().position(|line| line.starts_with("error"));
    let from = first.unwrap_or_else(|| said.len().saturating_sub(LONGEST));
    let lines = said[from..].iter().filter(|line| !line.trim().is_empty()).take(LONGEST);
    lines.map(String::as_str).collect::<Vec<_>>().join("\n  | ")
}

/// What crates of schedulers are built with, where all of it is there.
///
/// # Errors
/// What is missing, and the package that has it.
pub(crate) fn what_builds() -> Result<String, VmError> {
    let name = "crates";
    let cargo = run(Command::new("cargo").arg("--version")).map_err(|e| without_cargo(name, e))?;
    let clang = clang(name)?;
    check_libraries(name)?;
    Ok(format!("{}, {clang}", cargo.trim()))
}

/// A clang that is new enough for the BPF programs.
fn clang(name: &str) -> Result<&'static str, VmError> {
    let is_good = |clang: &&&str| {
        let said = run(Command::new(clang).arg("--version")).unwrap_or_default();
        clang_version(&said).is_some_and(|version| version >= OLDEST_CLANG)
    };
    CLANGS.iter().find(is_good).copied().ok_or_else(|| {
        let expected = format!("{OLDEST_CLANG} or newer, for BPF programs: apt install clang-19");
        refused(name, "no clang that is new enough".to_owned(), &expected)
    })
}

/// The major version in `Debian clang version 19.1.7 (3)`.
fn clang_version(said: &str) -> Option<u32> {
    said.split_once("clang version ")?.1.split('.').next()?.parse().ok()
}

/// Refuses to build without the libraries' headers that the schedulers' libbpf is compiled with.
fn check_libraries(name: &str) -> Result<(), VmError> {
    let packages = [("libelf", "libelf-dev"), ("zlib", "zlib1g-dev")];
    for (library, package) in packages {
        match run(Command::new("pkg-config").args(["--exists", library])) {
            Ok(_) => {}
            Err(VmError::Program { .. }) => {
                return Err(refused(name, "no pkg-config".into(), "one: apt install pkgconf"));
            }
            Err(_) => {
                let expected = format!("them: apt install {package}");
                return Err(refused(name, format!("no headers of {library}"), &expected));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_programs_print_them() {
        let about =
            "scx_rusty\nA scheduler\nversion: 1.1.3 (latest 1.1.4)\nlicense: GPL-2.0-only\n";
        assert_eq!(version_in(about).as_deref(), Some("1.1.3"));
        assert_eq!(version_in("nothing\n"), None);
        assert_eq!(clang_version("Debian clang version 19.1.7 (3~deb12u1)\nTarget: x\n"), Some(19));
        assert_eq!(clang_version("gcc 12"), None);
    }

    #[test]
    fn a_failed_build_is_said_from_its_first_error_on() {
        let said = ["   Compiling a v1.0.0", "error: failed to run custom build", "", "caused by"];
        let said = said.map(str::to_owned);
        assert_eq!(errors(&said), "error: failed to run custom build\n  | caused by");
        assert_eq!(errors(&said[..1]), "   Compiling a v1.0.0");
    }

    #[test]
    fn the_newest_that_is_built_serves_without_a_registry() {
        let dir = tempfile::tempdir().unwrap();
        for built in
            ["scx_a-1.9.0-amd64", "scx_a-1.10.0-amd64", "scx_a-2.0.0-arm64", "scx_ab-3-amd64"]
        {
            std::fs::create_dir(dir.path().join(built)).unwrap();
        }
        assert_eq!(newest_built(dir.path(), "scx_a", Arch::X86).as_deref(), Some("1.10.0"));
        assert_eq!(newest_built(dir.path(), "scx_b", Arch::X86), None);
        assert_eq!(newest_built(Path::new("/nowhere"), "scx_a", Arch::X86), None);
    }

    #[test]
    fn another_architecture_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let other = if host_arch().unwrap() == Arch::X86 { Arch::Arm64 } else { Arch::X86 };
        let error = Cache::new(dir.path()).scheduler("scx_rusty", Some("1.1.4"), other, &|_| {});
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("scx_rusty: found guests of "), "{error}");
        assert!(error.ends_with("crates are not cross-compiled"), "{error}");
    }
}
