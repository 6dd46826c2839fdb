//! Kernels that somebody has: an image with its configuration, or a package.

use super::{KernelImage, deb, is_of_kernel, version_of};
use crate::compile::checksum;
use crate::host::run;
use crate::{Arch, Cache, VmError};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How the first lines of a configuration name its release, between the architecture and this.
const HEADER: &str = " Kernel Configuration";

impl KernelImage {
    /// The kernel in the file `image` for guests of `arch`. Its configuration lies beside it (`config-RELEASE` for
    /// `vmlinuz-RELEASE`, or `config`), in `modules`, or is the `.config` of the tree that it was built in. Guests find `modules`, a
    /// directory `lib/modules/RELEASE`, in its place.
    ///
    /// # Errors
    /// A file that is not there, no configuration, and one of another architecture.
    pub fn of_file(image: &Path, modules: Option<&Path>, arch: Arch) -> Result<Self, VmError> {
        let image = std::fs::canonicalize(image).map_err(VmError::io(image))?;
        let modules = modules.map(|dir| std::fs::canonicalize(dir).map_err(VmError::io(dir)));
        let modules = modules.transpose()?;
        let config = configs(&image, modules.as_deref()).into_iter().find(|path| path.is_file());
        let config =
            config.ok_or_else(|| wrong(&image, "no configuration", "config-RELEASE beside it"))?;
        let text = std::fs::read_to_string(&config).map_err(VmError::io(&config))?;
        let release = header(&text)
            .ok_or_else(|| wrong(&config, "no release", "its first lines to name one"))?;
        if !text.lines().any(|line| line == word(arch)) {
            let expected = format!("a kernel for {arch}, which has {}", word(arch));
            return Err(wrong(&config, "another architecture", &expected));
        }
        let of_modules = modules.as_deref().and_then(Path::file_name);
        let release = of_modules.map_or(release, |name| name.to_string_lossy().into_owned());
        let version = version_of(&release)
            .ok_or_else(|| wrong(&config, &release, "a release such as 6.12.9"))?;
        Ok(KernelImage { version, release, arch, image, config, modules })
    }
}

impl Cache {
    /// The kernel in the package `file`, unpacked in the cache.
    ///
    /// # Errors
    /// A file that is no package of a kernel for `arch`.
    pub fn kernel_of_package(&self, file: &Path, arch: Arch) -> Result<KernelImage, VmError> {
        let content = std::fs::read(file).map_err(VmError::io(file))?;
        let field = |name| -> Result<String, VmError> {
            Ok(run(Command::new("dpkg-deb").arg("--field").arg(file).arg(name))?.trim().to_owned())
        };
        let (package, of) = (field("Package")?, field("Architecture")?);
        let release = package
            .strip_prefix("linux-image-")
            .ok_or_else(|| wrong(file, &package, "a package linux-image-RELEASE"))?;
        if of != arch.debian() {
            return Err(wrong(file, &of, &format!("one for {arch}")));
        }
        let dir = self.dir().join("debs").join(checksum([content]));
        let dir = dir.join(format!("{release}_{arch}"));
        if self.kernel_in(&dir, arch)?.is_none() {
            deb::unpack(&[file.to_owned()], &dir, &|path| is_of_kernel(path, release))?;
        }
        let expected = format!("boot/vmlinuz-{release} and boot/config-{release}");
        self.kernel_in(&dir, arch)?
            .filter(|kernel| kernel.config.is_file())
            .ok_or_else(|| wrong(file, "no kernel with its configuration", &expected))
    }
}

fn wrong(file: &Path, found: &str, expected: &str) -> VmError {
    let (found, expected) = (found.to_owned(), expected.to_owned());
    VmError::Found { path: file.to_owned(), found, expected }
}

/// Where the configuration of `image` may be, the likelier first.
fn configs(image: &Path, modules: Option<&Path>) -> Vec<PathBuf> {
    let name = image.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let folder = image.parent().unwrap_or(Path::new("/"));
    let mut all = Vec::new();
    if let Some((_, release)) = name.split_once('-') {
        all.push(folder.join(format!("config-{release}")));
    }
    all.push(folder.join("config"));
    all.extend(modules.map(|dir| dir.join("config")));
    // arch/x86/boot/bzImage lies three directories below the tree's own.
    all.extend(folder.ancestors().take(4).map(|dir| dir.join(".config")));
    all
}

/// `6.12.9` in `# Linux/x86 6.12.9 Kernel Configuration`.
fn header(config: &str) -> Option<String> {
    let line =
        config.lines().take(5).find_map(|l| l.strip_prefix("# Linux/")?.strip_suffix(HEADER))?;
    Some(line.split_once(' ')?.1.to_owned())
}

/// What configurations of an architecture have.
fn word(arch: Arch) -> &'static str {
    match arch {
        Arch::X86 => "CONFIG_X86_64=y",
        Arch::Arm64 => "CONFIG_ARM64=y",
        Arch::Powerpc => "CONFIG_PPC64=y",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "#\n# Automatically generated file; DO NOT EDIT.\n# Linux/x86 6.12.9 Kernel Configuration\n#\nCONFIG_X86_64=y\n";

    #[test]
    fn an_image_is_taken_with_its_configuration() {
        let dir = tempfile::tempdir().unwrap();
        let boot = dir.path().join("tree/arch/x86/boot");
        std::fs::create_dir_all(&boot).unwrap();
        let image = boot.join("bzImage");
        std::fs::write(&image, "").unwrap();
        let none = KernelImage::of_file(&image, None, Arch::X86).unwrap_err().to_string();
        assert!(none.contains("found no configuration"), "{none}");
        std::fs::write(dir.path().join("tree/.config"), CONFIG).unwrap();
        let kernel = KernelImage::of_file(&image, None, Arch::X86).unwrap();
        assert_eq!((kernel.version, kernel.release.as_str()), ((6, 12), "6.12.9"));
        let other = KernelImage::of_file(&image, None, Arch::Arm64).unwrap_err().to_string();
        assert!(other.contains("expected a kernel for arm64"), "{other}");
        let modules = dir.path().join("lib/modules/6.12.9-mine");
        std::fs::create_dir_all(&modules).unwrap();
        let kernel = KernelImage::of_file(&image, Some(&modules), Arch::X86).unwrap();
        assert_eq!(kernel.release, "6.12.9-mine");
        assert!(KernelImage::of_file(&boot.join("none"), None, Arch::X86).is_err());
    }
}
