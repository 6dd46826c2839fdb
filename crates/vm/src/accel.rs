//! What executes a guest's instructions, and what its clock counts.

use crate::{Arch, VmError};
use setting::Accel;
use std::path::Path;

/// The kernel's door to the processor's virtualisation.
const KVM: &str = "/dev/kvm";

/// QEMU's arguments for `accel`.
///
/// # Errors
/// KVM for another architecture, or on a computer without it.
pub fn arguments(accel: Accel, arch: Arch) -> Result<Vec<String>, VmError> {
    let arguments = match accel {
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
            check_kvm(arch).map_err(|found| VmError::NoKvm { found })?;
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
