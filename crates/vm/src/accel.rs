//! What executes a guest's instructions, and what its clock counts.

use crate::{Arch, VmError};
use std::path::Path;

/// The kernel's door to the processor's virtualisation.
const KVM: &str = "/dev/kvm";

/// How a guest runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accel {
    /// QEMU's own translation; the guest's clock is this computer's.
    Tcg,
    /// QEMU's own translation, one CPU of the guest at a time; the guest's clock counts instructions of
    /// 2^`shift` ns each. While all CPUs sleep it jumps to the next timer.
    Counted {
        /// Power of two.
        shift: u8,
    },
    /// The processor itself.
    Kvm,
}

impl Accel {
    /// What results are marked with that were measured so: times of one are not those of another.
    pub fn mark(self) -> String {
        match self {
            Accel::Tcg => String::new(),
            Accel::Counted { shift } => format!("-icount{shift}"),
            Accel::Kvm => "-kvm".to_owned(),
        }
    }

    /// QEMU's arguments for it.
    ///
    /// # Errors
    /// KVM for another architecture, or on a computer without it.
    pub fn arguments(self, arch: Arch) -> Result<Vec<String>, VmError> {
        let arguments = match self {
            Accel::Tcg => vec!["-accel".to_owned(), "tcg".to_owned()],
            Accel::Counted { shift } => [
                "-accel",
                "tcg,thread=single",
                "-rtc",
                "base=2026-01-01,clock=vm",
                "-seed",
                "1",
                "-icount",
            ]
            .map(str::to_owned)
            .into_iter()
            .chain([format!("shift={shift},sleep=off")])
            .collect(),
            Accel::Kvm => {
                Accel::check_kvm(arch).map_err(|found| VmError::NoKvm { found })?;
                // The last model counts. Another than the host's own asks KVM for what it may not have.
                ["-accel", "kvm", "-cpu", "host"].map(str::to_owned).to_vec()
            }
        };
        Ok(arguments)
    }

    /// Whether KVM can run guests of `arch` here; the error says why not.
    ///
    /// # Errors
    /// Another architecture, or no KVM that may be opened.
    pub(crate) fn check_kvm(arch: Arch) -> Result<(), String> {
        let host = std::env::consts::ARCH;
        let same = matches!((arch, host), (Arch::X86, "x86_64") | (Arch::Arm64, "aarch64"));
        if !same {
            return Err(format!("guests of {arch} on {host}"));
        }
        let device = std::fs::OpenOptions::new().read(true).write(true).open(Path::new(KVM));
        device.map(drop).map_err(|e| format!("{KVM}: {e}"))
    }
}
