//! apt with a root of its own: one suite, one architecture, nothing installed.

use crate::host::run;
use crate::{Arch, VmError};
use kernel::Version;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Seconds after which lists are brought up to date again.
const LISTS_AGE_S: u64 = 24 * 60 * 60;

/// The keys of Debian's archive (package debian-archive-keyring).
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A directory of archives that stays empty.
const NOWHERE: &str = "nowhere";

/// One suite for one architecture.
#[derive(Debug)]
pub(crate) struct Apt {
    dir: PathBuf,
    suite: String,
    arch: Arch,
}

/// The keys that apt verifies with.
///
/// # Errors
/// Where they are expected and are not.
pub(crate) fn keys() -> Result<PathBuf, String> {
    let path = PathBuf::from(KEYS);
    if path.exists() { Ok(path) } else { Err(format!("no {KEYS}")) }
}

/// Where this computer's apt has Debian's main component from, security updates apart.
///
/// # Errors
/// No apt, or no such archive.
pub(crate) fn archive() -> Result<String, VmError> {
    let format = "$(SITE)|$(LABEL)|$(COMPONENT)|$(CREATED_BY)";
    let targets = run(Command::new("apt-get").args(["indextargets", "--format", format]))?;
    let main = |line: &str| Some(line.strip_suffix("|Debian|main|Packages")?.to_owned());
    targets.lines().find_map(main).ok_or(VmError::NoArchive)
}

impl Apt {
    /// Opens `dir`, with lists not older than a day.
    ///
    /// # Errors
    /// What apt or the file system says.
    pub(crate) fn open(dir: &Path, suite: &str, arch: Arch) -> Result<Apt, VmError> {
        let apt = Apt { dir: dir.to_owned(), suite: suite.to_owned(), arch };
        let updated = dir.join("updated");
        // A cache that was moved has the paths of where it was.
        let moved = std::fs::read_to_string(dir.join("apt.conf")).ok() != Some(apt.configuration());
        let age = updated.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
        if moved || age.is_none_or(|age| age.as_secs() > LISTS_AGE_S) {
            apt.configure(&archive()?)?;
            run(apt.command("apt-get").arg("update"))?;
            std::fs::write(&updated, "").map_err(VmError::io(&updated))?;
        }
        Ok(apt)
    }

    fn configure(&self, archive: &str) -> Result<(), VmError> {
        let nowhere = format!("{NOWHERE}/partial");
        for sub in ["lists/partial", "archives/partial", "preferences.d", &nowhere] {
            let path = self.dir.join(sub);
            std::fs::create_dir_all(&path).map_err(VmError::io(&path))?;
        }
        let write = |name: &str, text: String| {
            let path = self.dir.join(name);
            std::fs::write(&path, text).map_err(VmError::io(&path))
        };
        write("status", String::new())?;
        write("sources.list", format!("deb [signed-by={KEYS}] {archive} {} main\n", self.suite))?;
        write("apt.conf", self.configuration())
    }

    fn configuration(&self) -> String {
        let (dir, arch) = (self.dir.display(), self.arch);
        format!(
            r#"Dir::State "{dir}";
Dir::State::lists "lists";
Dir::State::status "{dir}/status";
Dir::Cache "{dir}";
Dir::Cache::archives "archives";
Dir::Etc "{dir}";
Dir::Etc::sourcelist "sources.list";
Dir::Etc::sourceparts "-";
Dir::Etc::preferencesparts "preferences.d";
APT::Architecture "{arch}";
APT::Architectures {{ "{arch}"; }};
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
"#
        )
    }

    /// `program` of apt with this root.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.arg("-c").arg(self.dir.join("apt.conf")).env("LC_ALL", "C");
        command
    }

    /// The package of the newest kernel, of `version` where one is given.
    ///
    /// # Errors
    /// No such kernel in the suite.
    pub(crate) fn kernel_package(&self, version: Option<Version>) -> Result<String, VmError> {
        let meta = self.arch.kernel_package();
        let about =
            run(self.command("apt-cache").args(["show", meta])).map_err(|_| self.missing(meta))?;
        let package = about.lines().find_map(kernel_dependency);
        let package = package.ok_or_else(|| self.missing(meta))?;
        let release = package.trim_start_matches("linux-image-");
        let has = super::version_of(release).map(|(major, minor)| Version::new(major, minor));
        match version {
            Some(wanted) if has != Some(wanted) => Err(VmError::NoKernel {
                wanted: wanted.to_string(),
                arch: self.arch.debian(),
                found: format!("{release} in {}", self.suite),
            }),
            _ => Ok(package),
        }
    }

    /// The packages beside `package`, a kernel's, that hold its image and its configuration: none for older packages, where
    /// it holds them itself.
    ///
    /// # Errors
    /// What apt says.
    pub(crate) fn parts_of_kernel(&self, package: &str) -> Result<Vec<String>, VmError> {
        let about = run(self.command("apt-cache").args(["show", package]))
            .map_err(|_| self.missing(package))?;
        let release = package.trim_start_matches("linux-image-");
        Ok(about.lines().find_map(dependencies).map_or(vec![], |all| parts(all, release)))
    }

    /// Downloads one package without what it depends on.
    ///
    /// # Errors
    /// What apt says; an interrupted download is resumed the next time.
    pub(crate) fn download(&self, package: &str) -> Result<PathBuf, VmError> {
        let archives = self.dir.join("archives");
        let uris = run(self.command("apt-get").args(["download", "--print-uris", package]))
            .map_err(|_| self.missing(package))?;
        // Apt takes a name that no package has for a pattern: `linux-source-6.1` finds 6.12's.
        let of_package = |name: &&str| name.split('_').next() == Some(package);
        let name = uris.lines().filter_map(file_name).find(of_package);
        let name = name.ok_or_else(|| self.missing(package))?;
        run(self.command("apt-get").args(["download", package]).current_dir(&archives))?;
        Ok(archives.join(name))
    }

    /// Downloads packages with all that they depend on.
    ///
    /// # Errors
    /// What apt says; an interrupted download is resumed the next time.
    pub(crate) fn download_closure(&self, packages: &[&str]) -> Result<Vec<PathBuf>, VmError> {
        let install = |flags: &[&str]| {
            let mut command = self.command("apt-get");
            command.args(["install", "--yes"]).args(flags).args(packages);
            run(&mut command)
        };
        // What is there already has no URI, hence the question with an empty directory.
        let nowhere = format!("Dir::Cache::archives={}", self.dir.join(NOWHERE).display());
        let uris = install(&["--print-uris", "-o", &nowhere])?;
        install(&["--download-only"])?;
        let archives = self.dir.join("archives");
        let names = uris.lines().filter_map(file_name);
        Ok(names.map(|name| archives.join(name)).collect())
    }

    fn missing(&self, package: &str) -> VmError {
        VmError::NoPackage {
            package: package.to_owned(),
            suite: self.suite.clone(),
            arch: self.arch.debian(),
        }
    }
}

/// The kernel that a line `Depends: linux-image-…` names.
fn kernel_dependency(line: &str) -> Option<String> {
    names(dependencies(line)?).find(|name| name.starts_with("linux-image-")).map(str::to_owned)
}

/// Those of `dependencies` that hold the image and the configuration of `release`.
fn parts(dependencies: &str, release: &str) -> Vec<String> {
    let wanted = [format!("linux-binary-{release}"), format!("linux-base-{release}")];
    wanted.into_iter().filter(|part| names(dependencies).any(|name| name == part)).collect()
}

/// What a line `Depends: …` says.
fn dependencies(line: &str) -> Option<&str> {
    line.strip_prefix("Depends: ")
}

/// The packages that `dependencies` name, without versions.
fn names(dependencies: &str) -> impl Iterator<Item = &str> {
    dependencies.split(", ").filter_map(|d| d.split(' ').next())
}

/// The file name in a line `'URI' NAME SIZE HASH`.
fn file_name(line: &str) -> Option<&str> {
    let (_, rest) = line.strip_prefix('\'')?.split_once("' ")?;
    rest.split(' ').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_behind_a_meta_package() {
        let line = "Depends: linux-base, linux-image-6.12.107+deb13-amd64 (= 6.12.107-1)";
        assert_eq!(kernel_dependency(line).unwrap(), "linux-image-6.12.107+deb13-amd64");
        assert_eq!(kernel_dependency("Description: linux-image-x"), None);
    }

    #[test]
    fn the_parts_of_a_kernel() {
        let old = "kmod, linux-base (>= 4.3~), initramfs-tools (>= 0.120) | dracut";
        assert_eq!(parts(old, "6.12.107+deb13-amd64"), Vec::<String>::new());
        let new = "dracut | initramfs-tools, linux-base-7.3.4+deb13-amd64 (= 7.3.4-1), \
                   linux-binary-7.3.4+deb13-amd64 (= 7.3.4-1), linux-modules-7.3.4+deb13-amd64 (= 7.3.4-1)";
        let found = parts(new, "7.3.4+deb13-amd64");
        assert_eq!(found, ["linux-binary-7.3.4+deb13-amd64", "linux-base-7.3.4+deb13-amd64"]);
    }

    #[test]
    fn names_of_files_in_lists_of_downloads() {
        let line = "'http://a/pool/b_1%3a2_amd64.deb' b_1%3a2_amd64.deb 42 SHA256:ab";
        assert_eq!(file_name(line), Some("b_1%3a2_amd64.deb"));
        assert_eq!(file_name("Reading package lists..."), None);
    }
}
