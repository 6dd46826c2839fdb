//! QEMU, kernels and guest programs out of Debian's archive, without root.
//!
//! Each suite and architecture has an apt of its own in the cache directory: own sources, own lists, an empty `status` file, and this
//! computer's keys. apt then resolves, verifies and resumes as it does for a system, and installs nothing. What it downloads is unpacked
//! beside it, into a directory that gets its name when it is whole.

mod apt;
pub(crate) mod deb;
mod given;

use crate::host::run;
use crate::{Arch, VmError};
pub(crate) use apt::{Apt, archive, keys};
use kernel::{Kernel, MechanismId, Version};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What guests of every architecture have: the shell and its tools, and the programs that workloads become.
const GUEST_PACKAGES: [&str; 5] = ["busybox-static", "dbench", "linux-perf", "rt-app", "rt-tests"];
/// The file that says which packages a directory of guest programs holds.
const LIST: &str = "packages";

/// What a kernel's configuration says its ticks after.
const HZ: &str = "CONFIG_HZ=";
/// The word of a kernel's configuration that levels of clusters need.
const CLUSTERS: &str = "CONFIG_SCHED_CLUSTER=y";

/// Words of a kernel's configuration that schedulers of the class sched_ext need: the class, and types for BPF programs.
const SCHED_EXT: [&str; 2] = ["CONFIG_SCHED_CLASS_EXT=y", "CONFIG_DEBUG_INFO_BTF=y"];

/// A kernel that is ready to boot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelImage {
    /// Its version.
    pub version: (u16, u16),
    /// What `uname -r` says.
    pub release: String,
    /// Its architecture.
    pub arch: Arch,
    /// The image.
    pub image: PathBuf,
    /// Its configuration.
    pub config: PathBuf,
    /// Its modules, as guests get them; none where it has all built in that guests need.
    pub modules: Option<PathBuf>,
}

impl KernelImage {
    /// Ticks a second (`CONFIG_HZ`), where its configuration says them.
    ///
    /// # Errors
    /// A configuration that cannot be read.
    pub fn hz(&self) -> Result<Option<u32>, VmError> {
        let config = std::fs::read_to_string(&self.config).map_err(VmError::io(&self.config))?;
        Ok(config.lines().find_map(|line| line.strip_prefix(HZ)?.parse().ok()))
    }

    /// What its configuration lacks for schedulers of the class sched_ext; empty where nothing is missing.
    ///
    /// # Errors
    /// A configuration that cannot be read.
    pub fn lacks_for_sched_ext(&self) -> Result<Vec<&'static str>, VmError> {
        let config = std::fs::read_to_string(&self.config).map_err(VmError::io(&self.config))?;
        let lacks = |word: &&str| !config.lines().any(|line| line == *word);
        Ok(SCHED_EXT.into_iter().filter(lacks).collect())
    }

    /// The kernel as a model: its release, with what its configuration lacks switched off.
    ///
    /// # Errors
    /// A configuration that cannot be read.
    pub fn model(&self) -> Result<Kernel, VmError> {
        let kernel = Kernel::new(Version::new(self.version.0, self.version.1));
        let config = std::fs::read_to_string(&self.config).map_err(VmError::io(&self.config))?;
        let clusters = config.lines().any(|line| line == CLUSTERS);
        Ok(if clusters { kernel } else { kernel.with(MechanismId::SchedCluster, false) })
    }
}

/// What was fetched, in a directory of its own.
#[derive(Debug, Clone)]
pub struct Cache {
    dir: PathBuf,
}

impl Cache {
    /// The cache in `dir`, which need not exist yet.
    pub fn new(dir: &Path) -> Cache {
        Cache { dir: dir.to_owned() }
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Fetches the newest kernel of `suite` for guests of `arch`, or the newest of `version`.
    ///
    /// # Errors
    /// A suite without such a kernel, and what apt says.
    pub fn fetch_kernel(
        &self,
        suite: &str,
        arch: Arch,
        version: Option<Version>,
    ) -> Result<KernelImage, VmError> {
        let apt = self.apt(suite, arch)?;
        let package = apt.kernel_package(version)?;
        let release = package.trim_start_matches("linux-image-").to_owned();
        let dir = self.kernels().join(format!("{release}_{arch}"));
        if self.kernel_in(&dir, arch)?.is_none() {
            let mut packages = vec![apt.download(&package)?];
            for part in apt.parts_of_kernel(&package)? {
                packages.push(apt.download(&part)?);
            }
            deb::unpack(&packages, &dir, &|path| is_of_kernel(path, &release))?;
        }
        self.kernel_in(&dir, arch)?.ok_or(VmError::NoPackage {
            package,
            suite: suite.to_owned(),
            arch: arch.debian(),
        })
    }

    /// Fetches the source package of a kernel's `version` as `suite` has it, and unpacks it; the tree's directory.
    ///
    /// # Errors
    /// A suite without it, what apt says, a package that does not hold a tree.
    pub fn fetch_source(&self, suite: &str, version: Version) -> Result<PathBuf, VmError> {
        let arch = host_arch()?;
        let package = format!("linux-source-{version}");
        let file = self.apt(suite, arch)?.download(&package)?;
        let dir = self.dir.join("sources").join(file.file_stem().unwrap_or(package.as_ref()));
        let tree = dir.join(&package);
        if tree.is_dir() {
            return Ok(tree);
        }
        let packed = dir.with_extension("package");
        deb::unpack(&[file], &packed, &|path| path.starts_with("usr/src"))?;
        let archive = packed.join("usr/src").join(format!("{package}.tar.xz"));
        let partial = dir.with_extension("partial");
        for old in [&partial, &dir] {
            if old.exists() {
                std::fs::remove_dir_all(old).map_err(VmError::io(old))?;
            }
        }
        std::fs::create_dir_all(&partial).map_err(VmError::io(&partial))?;
        run(Command::new("tar").arg("xf").arg(&archive).arg("-C").arg(&partial))?;
        std::fs::remove_dir_all(&packed).map_err(VmError::io(&packed))?;
        std::fs::rename(&partial, &dir).map_err(VmError::io(&dir))?;
        match tree.is_dir() {
            true => Ok(tree),
            false => {
                Err(VmError::NoPackage { package, suite: suite.to_owned(), arch: arch.debian() })
            }
        }
    }

    /// Fetches QEMU for guests of `arch`, with all that it needs to run, as `suite` has it for this computer.
    ///
    /// # Errors
    /// What apt says.
    pub fn fetch_qemu(&self, suite: &str, arch: Arch) -> Result<PathBuf, VmError> {
        let host = host_arch()?;
        let mut packages = vec![arch.qemu_package()];
        if arch == Arch::Arm64 {
            packages.push("qemu-efi-aarch64");
        }
        let dir = self.dir.join("qemu").join(format!("{suite}-{arch}"));
        if !dir.exists() {
            let apt = self.apt(suite, host)?;
            deb::unpack(&apt.download_closure(&packages)?, &dir, &|_| true)?;
        }
        Ok(dir)
    }

    /// Fetches the programs of guests of `arch` with all that they need.
    ///
    /// # Errors
    /// What apt says.
    pub fn fetch_guest(&self, suite: &str, arch: Arch) -> Result<PathBuf, VmError> {
        let dir = self.dir.join("guests").join(format!("{suite}-{arch}"));
        if !has_guest_packages(&dir) {
            let apt = self.apt(suite, arch)?;
            let packages = apt.download_closure(&GUEST_PACKAGES)?;
            if dir.exists() {
                std::fs::remove_dir_all(&dir).map_err(VmError::io(&dir))?;
            }
            deb::unpack(&packages, &dir, &|_| true)?;
            let list = dir.join(LIST);
            std::fs::write(&list, GUEST_PACKAGES.join("\n")).map_err(VmError::io(&list))?;
        }
        Ok(dir)
    }

    /// The fetched programs of guests of `arch`; of several suites the last by name.
    ///
    /// # Errors
    /// None that are whole.
    pub fn guest(&self, arch: Arch) -> Result<PathBuf, VmError> {
        let found = self.fetched("guests", arch)?.into_iter().rfind(|dir| has_guest_packages(dir));
        found.ok_or(VmError::NoPrograms { arch: arch.debian() })
    }

    /// The fetched kernels for `arch`, oldest first.
    ///
    /// # Errors
    /// What cannot be read.
    pub(crate) fn fetched_kernels(&self, arch: Arch) -> Result<Vec<KernelImage>, VmError> {
        let dir = self.kernels();
        if !dir.exists() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&dir).map_err(VmError::io(&dir))? {
            let path = entry.map_err(VmError::io(&dir))?.path();
            found.extend(self.kernel_in(&path, arch)?);
        }
        found.sort();
        Ok(found)
    }

    /// The newest fetched kernel for `arch`, of `version` where one is given.
    ///
    /// # Errors
    /// None that fits.
    pub fn kernel(&self, arch: Arch, version: Option<Version>) -> Result<KernelImage, VmError> {
        let all = self.fetched_kernels(arch)?;
        let fits =
            |k: &&KernelImage| version.is_none_or(|v| v == Version::new(k.version.0, k.version.1));
        let found = all.iter().rfind(fits).cloned();
        found.ok_or_else(|| VmError::NoKernel {
            wanted: version.map_or("of any version".to_owned(), |v| v.to_string()),
            arch: arch.debian(),
            found: match all.is_empty() {
                true => "none".to_owned(),
                false => all.iter().map(|k| k.release.as_str()).collect::<Vec<_>>().join(", "),
            },
        })
    }

    /// The fetched QEMU for guests of `arch`, where there is one; of several suites the last by name.
    ///
    /// # Errors
    /// What cannot be read.
    pub(crate) fn fetched_qemu(&self, arch: Arch) -> Result<Option<PathBuf>, VmError> {
        Ok(self.fetched("qemu", arch)?.pop())
    }

    /// Directories `SUITE-ARCH` in `kind`, by name.
    fn fetched(&self, kind: &str, arch: Arch) -> Result<Vec<PathBuf>, VmError> {
        let dir = self.dir.join(kind);
        if !dir.exists() {
            return Ok(Vec::new());
        }
        let mut found: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(&dir).map_err(VmError::io(&dir))? {
            let path = entry.map_err(VmError::io(&dir))?.path();
            let name = path.file_name().and_then(|n| n.to_str());
            if name.is_some_and(|n| n.ends_with(&format!("-{arch}"))) {
                found.push(path);
            }
        }
        found.sort();
        Ok(found)
    }

    fn kernels(&self) -> PathBuf {
        self.dir.join("kernels")
    }

    /// apt for one suite and architecture.
    pub(crate) fn apt(&self, suite: &str, arch: Arch) -> Result<Apt, VmError> {
        Apt::open(&self.dir.join("apt").join(format!("{suite}-{arch}")), suite, arch)
    }

    /// The kernel in `dir`, if it is one of `arch`.
    fn kernel_in(&self, dir: &Path, arch: Arch) -> Result<Option<KernelImage>, VmError> {
        let name = dir.file_name().and_then(|n| n.to_str()).and_then(|n| n.split_once('_'));
        let Some((release, _)) = name.filter(|&(_, a)| a == arch.debian()) else {
            return Ok(None);
        };
        let Some(version) = version_of(release) else { return Ok(None) };
        let (boot, modules) = (dir.join("boot"), dir.join(modules_of(release)));
        let places = [(&boot, format!("config-{release}")), (&modules, "config".to_owned())];
        for (place, config) in places {
            if let Some(image) = image_in(place)? {
                let (release, config) = (release.to_owned(), place.join(config));
                return Ok(Some(KernelImage {
                    version,
                    release,
                    arch,
                    image,
                    config,
                    modules: None,
                }));
            }
        }
        Ok(None)
    }
}

/// The file `vmlinuz…` or `vmlinux…` in `dir`, which need not exist.
fn image_in(dir: &Path) -> Result<Option<PathBuf>, VmError> {
    if !dir.exists() {
        return Ok(None);
    }
    for entry in std::fs::read_dir(dir).map_err(VmError::io(dir))? {
        let path = entry.map_err(VmError::io(dir))?.path();
        if path.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with("vmlinu")) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Where newer packages (7.2 and later) have a kernel's image and configuration; older ones have them in `boot`.
fn modules_of(release: &str) -> PathBuf {
    Path::new("usr/lib/modules").join(release)
}

/// Whether `path` of a kernel's packages is its image or its configuration.
fn is_of_kernel(path: &Path, release: &str) -> bool {
    let Some(name) = path.file_name().and_then(|n| n.to_str()) else { return false };
    let is_file = name.starts_with("vmlinu") || name.starts_with("config");
    is_file && path.parent().is_some_and(|p| p == Path::new("boot") || p == modules_of(release))
}

fn has_guest_packages(dir: &Path) -> bool {
    std::fs::read_to_string(dir.join(LIST)).is_ok_and(|list| list.lines().eq(GUEST_PACKAGES))
}

/// Major and minor number of a release, as `6.12.107+deb13-amd64` begins with them.
pub(crate) fn version_of(release: &str) -> Option<(u16, u16)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// The architecture of this computer.
pub fn host_arch() -> Result<Arch, VmError> {
    let name = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64el",
        other => other,
    };
    name.parse().map_err(|message| VmError::Failed {
        program: "architecture of this computer".to_owned(),
        status: name.to_owned(),
        message,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_releases() {
        assert_eq!(version_of("6.12.107+deb13-amd64"), Some((6, 12)));
        assert_eq!(version_of("7.2.13-powerpc64le"), Some((7, 2)));
        assert_eq!(version_of("amd64"), None);
        assert_eq!(version_of("6"), None);
    }

    #[test]
    fn a_kernel_is_its_image_and_its_configuration() {
        let release = "7.3.4+deb13-amd64";
        let is = |path: &str| is_of_kernel(Path::new(path), release);
        assert!(is("boot/vmlinuz-6.12.107+deb13-amd64") && is("boot/config-6.12.107+deb13-amd64"));
        assert!(is("usr/lib/modules/7.3.4+deb13-amd64/vmlinuz"));
        assert!(is("usr/lib/modules/7.3.4+deb13-amd64/config"));
        assert!(!is("boot/System.map-6.12.107+deb13-amd64"));
        assert!(!is("usr/lib/modules/7.3.4+deb13-amd64/kernel/fs/configfs/configfs.ko.xz"));
    }

    #[test]
    fn a_kernel_beside_its_modules_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(dir.path());
        std::fs::create_dir_all(dir.path().join("kernels/7.2.13+deb14-amd64_amd64")).unwrap();
        assert!(cache.fetched_kernels(Arch::X86).unwrap().is_empty(), "one without an image");
        let release = "7.3.4+deb13-amd64";
        let modules = dir.path().join(format!("kernels/{release}_amd64/usr/lib/modules/{release}"));
        std::fs::create_dir_all(&modules).unwrap();
        std::fs::write(modules.join("vmlinuz"), "").unwrap();
        let found = cache.kernel(Arch::X86, None).unwrap();
        assert_eq!((found.version, found.image), ((7, 3), modules.join("vmlinuz")));
        assert_eq!(found.config, modules.join("config"));
    }

    #[test]
    fn fetched_kernels_are_found_by_version_newest_first() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(dir.path());
        assert!(cache.fetched_kernels(Arch::X86).unwrap().is_empty());
        for (release, arch) in [
            ("6.1.0-41-amd64", "amd64"),
            ("6.12.107+deb13-amd64", "amd64"),
            ("6.12.9+deb13-amd64", "amd64"),
            ("7.2.13-powerpc64le", "ppc64el"),
        ] {
            let boot = dir.path().join(format!("kernels/{release}_{arch}/boot"));
            std::fs::create_dir_all(&boot).unwrap();
            std::fs::write(boot.join(format!("vmlinuz-{release}")), "").unwrap();
        }
        let all = cache.fetched_kernels(Arch::X86).unwrap();
        assert_eq!(all.len(), 3);
        let found = cache.kernel(Arch::X86, Some(Version::new(6, 1))).unwrap();
        assert_eq!(found.release, "6.1.0-41-amd64");
        let missing = cache.kernel(Arch::X86, Some(Version::new(5, 11))).unwrap_err().to_string();
        assert!(missing.starts_with("kernel 5.11 for amd64: found 6.1.0-41-amd64, "), "{missing}");
        assert_eq!(cache.kernel(Arch::Powerpc, None).unwrap().version, (7, 2));
    }
}
