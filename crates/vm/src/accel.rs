//! What executes a guest's instructions, and what its clock counts.

use crate::boot::{Guest, Limits, boot};
use crate::firmware::TreeEdits;
use crate::pinning::NAMED_THREADS;
use crate::qemu::Qemu;
use crate::{Arch, KernelImage, VmError, guest};
use setting::Accel;
use std::collections::BTreeMap;
use std::path::Path;

/// The kernel's door to the processor's virtualisation.
const KVM: &str = "/dev/kvm";
/// QEMU's arguments. The last model counts. Another than the host's own asks KVM for what it may not have.
const UNDER_KVM: [&str; 4] = ["-accel", "kvm", "-cpu", "host"];
/// Times in s that a kernel has for its first line, and to boot, which take less than a second each where KVM works.
const TRIAL_SILENT_S: u64 = 20;
const TRIAL_S: u64 = 60;

/// What KVM is tried with.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'a> {
    /// QEMU for the kernel's architecture.
    pub qemu: &'a Qemu,
    /// The kernel.
    pub kernel: &'a KernelImage,
    /// Unpacked guest programs.
    pub programs: &'a Path,
}

/// QEMU's arguments for `accel`. KVM is tried first: its device may be there and run no kernel.
///
/// # Errors
/// KVM for another architecture, on a computer without it, and where the kernel does not boot under it.
pub fn arguments(accel: Accel, trial: Trial) -> Result<Vec<String>, VmError> {
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
            trial.run().map_err(|found| VmError::NoKvm { found })?;
            [&UNDER_KVM[..], &NAMED_THREADS].concat().into_iter().map(str::to_owned).collect()
        }
    };
    Ok(arguments)
}

impl Trial<'_> {
    /// Whether the kernel boots under KVM, on one CPU; the error says why not.
    ///
    /// # Errors
    /// As [`check_kvm`], and all that can happen to a guest.
    pub(crate) fn run(self) -> Result<(), String> {
        let Trial { qemu, kernel, programs } = self;
        check_kvm(kernel.arch)?;
        let board = if kernel.arch == Arch::Arm64 { "virt" } else { "q35" };
        let machine = ["-M", board, "-smp", "1", "-m", "512"].map(str::to_owned);
        let machine = [&machine[..], &UNDER_KVM.map(str::to_owned)].concat();
        let booted = || -> Result<(), VmError> {
            let work = tempfile::Builder::new().prefix(".schedscape-kvm").tempdir();
            let work = work.map_err(VmError::io(&std::env::temp_dir()))?;
            let initramfs = work.path().join("initramfs.gz");
            let mut root = guest::base(programs, kernel)?;
            root.file("job", 0o644, "");
            root.write(&initramfs)?;
            let guest = Guest {
                kernel,
                initramfs: &initramfs,
                machine: &machine,
                edits: TreeEdits { thread_groups: &BTreeMap::new(), timer_hz: None },
                append: "",
                pinning: None,
                work: work.path(),
            };
            let limits = Limits { silent_s: TRIAL_SILENT_S, total_s: TRIAL_S };
            boot(qemu, &guest, limits, &[], &mut |_| {})
        };
        booted().map_err(|e| {
            let reason = e.to_string();
            let reason = reason.lines().next().unwrap_or("no reason given");
            format!("{KVM} under which {} does not boot ({reason})", kernel.release)
        })
    }
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
