//! Architectures of guests, and what Debian and QEMU call them.

use std::fmt;
use std::str::FromStr;

/// An architecture that guests can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// 64-bit x86.
    X86,
    /// 64-bit Arm.
    Arm64,
    /// 64-bit POWER, little endian.
    Powerpc,
}

impl Arch {
    /// All of them.
    pub const ALL: [Arch; 3] = [Arch::X86, Arch::Arm64, Arch::Powerpc];

    /// Debian's name, as packages carry it.
    pub fn debian(self) -> &'static str {
        match self {
            Arch::X86 => "amd64",
            Arch::Arm64 => "arm64",
            Arch::Powerpc => "ppc64el",
        }
    }

    /// What ELF files for it are marked with (`e_machine`).
    pub(crate) fn elf_machine(self) -> u16 {
        match self {
            Arch::X86 => object::elf::EM_X86_64.0,
            Arch::Arm64 => object::elf::EM_AARCH64.0,
            Arch::Powerpc => object::elf::EM_PPC64.0,
        }
    }

    /// The package that depends on the newest kernel of a suite.
    pub(crate) fn kernel_package(self) -> &'static str {
        match self {
            Arch::X86 => "linux-image-amd64",
            Arch::Arm64 => "linux-image-arm64",
            Arch::Powerpc => "linux-image-powerpc64le",
        }
    }

    /// QEMU's program for whole machines of this kind.
    pub fn qemu(self) -> &'static str {
        match self {
            Arch::X86 => "qemu-system-x86_64",
            Arch::Arm64 => "qemu-system-aarch64",
            Arch::Powerpc => "qemu-system-ppc64",
        }
    }

    /// The package that holds this program.
    pub(crate) fn qemu_package(self) -> &'static str {
        match self {
            Arch::X86 => "qemu-system-x86",
            Arch::Arm64 => "qemu-system-arm",
            Arch::Powerpc => "qemu-system-ppc",
        }
    }

    /// The kernel's name of the console that guests speak through.
    pub fn console(self) -> &'static str {
        match self {
            Arch::X86 => "ttyS0",
            Arch::Arm64 => "ttyAMA0",
            Arch::Powerpc => "hvc0",
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.debian())
    }
}

impl FromStr for Arch {
    type Err = String;

    fn from_str(text: &str) -> Result<Arch, String> {
        let known = Arch::ALL.iter().find(|a| a.debian() == text);
        known.copied().ok_or_else(|| format!("found {text:?}, expected amd64, arm64 or ppc64el"))
    }
}
