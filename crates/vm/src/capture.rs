//! What a real kernel says of a machine, as a directory in the form of recorded captures.
//!
//! The guest boots, takes CPUs offline step by step, and sends one archive when all steps are done. It becomes a directory with a folder for
//! each step (sysfs, the domains in debugfs, the log), `fw` with the firmware's tables, and `config.json` with what was booted. The
//! directory takes its final name last. Nothing is compared here: `domains CAPTURE/STEP --diff recorded` does that from the files alone.

use crate::board::{Board, GuestCpu};
use crate::boot::{Guest, Limits, boot};
use crate::frames::Said;
use crate::initramfs::Initramfs;
use crate::qemu::Qemu;
use crate::{KernelImage, VmError, guest};
use flate2::read::GzDecoder;
use machine::CpuSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The archive that a guest sends.
const ARCHIVE: &str = "capture.tar.gz";

/// A state of the machine that is captured after the ones before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its folder.
    pub name: String,
    /// CPUs that go offline first, in this order.
    pub offline: Vec<GuestCpu>,
}

/// What a capture needs.
#[derive(Debug, Clone)]
pub struct Capture<'a> {
    /// The name in `config.json`.
    pub name: &'a str,
    /// The kernel.
    pub kernel: &'a KernelImage,
    /// Unpacked guest programs.
    pub programs: &'a Path,
    /// The machine, as `config.json` tells it.
    pub board: &'a Board,
    /// QEMU's arguments for the machine and what runs it.
    pub machine: &'a [String],
    /// What follows on the kernel's command line, the board's words included.
    pub append: &'a str,
    /// Steps after `boot`.
    pub steps: &'a [Step],
    /// Whether the scheduler's tracepoints are recorded under a load of messages.
    pub trace: bool,
    /// How long it may take.
    pub limits: Limits,
}

impl Capture<'_> {
    /// Boots the guest and writes what it says into the new directory `to`, which appears when it is whole.
    ///
    /// # Errors
    /// All that can happen to a guest, and a directory that cannot be written.
    pub fn take(
        &self,
        qemu: &Qemu,
        to: &Path,
        stop: &AtomicBool,
        hear: &mut dyn FnMut(&Said),
    ) -> Result<(), VmError> {
        let parent = to.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let work = tempfile::Builder::new().prefix(".schedscape-vm").tempdir_in(parent);
        let work = work.map_err(VmError::io(parent))?;
        let initramfs = work.path().join("initramfs.gz");
        self.initramfs()?.write(&initramfs)?;
        let mut sent = None;
        let guest = Guest {
            kernel: self.kernel,
            initramfs: &initramfs,
            machine: self.machine,
            edits: self.board.edits(),
            append: self.append,
            pinning: None,
            work: work.path(),
        };
        boot(qemu, &guest, self.limits, &[stop], &mut |said| {
            hear(&said);
            if let Said::File { name, content } = said
                && name == ARCHIVE
            {
                sent = Some(content);
            }
        })?;
        let missing = || VmError::Failed {
            program: "guest".to_owned(),
            status: "done".to_owned(),
            message: format!("it sent no {ARCHIVE}"),
        };
        let whole = work.path().join("capture");
        unpack(&sent.ok_or_else(missing)?, &whole)?;
        let config = whole.join("config.json");
        std::fs::write(&config, self.config()).map_err(VmError::io(&config))?;
        std::fs::rename(&whole, to).map_err(VmError::io(to))
    }

    fn initramfs(&self) -> Result<Initramfs, VmError> {
        let mut root = guest::base(self.programs, self.kernel)?;
        root.file("job", 0o644, job(self.steps, self.trace));
        Ok(root)
    }

    /// What was booted, as the form of captures has it.
    fn config(&self) -> String {
        let mut append = self.append.to_owned();
        if !self.steps.is_empty() {
            let steps =
                self.steps.iter().map(|s| format!("{}:{}", s.name, joined(&s.offline, ".")));
            let steps = steps.collect::<Vec<_>>().join(";");
            append = format!("{append} capture_steps={steps}").trim_start().to_owned();
        }
        let config = serde_json::json!({
            "name": self.name,
            "arch": self.kernel.arch.debian(),
            "kernel": self.kernel.release,
            "append": append,
            "qemu": self.board.arguments,
            "thread_groups": self.board.thread_groups,
        });
        format!("{config:#}\n")
    }
}

fn joined(cpus: &[GuestCpu], by: &str) -> String {
    cpus.iter().map(GuestCpu::to_string).collect::<Vec<_>>().join(by)
}

/// What the guest does: captures after boot and after each step.
fn job(steps: &[Step], trace: bool) -> String {
    let mut job = "capture boot\n".to_owned();
    if trace {
        job.push_str("trace_messages\n");
    }
    for step in steps {
        let cpus = joined(&step.offline, " ");
        job.push_str(&format!("switch 0 {cpus}\ncapture {}\n", step.name));
    }
    job.push_str("send_captures\n");
    job
}

fn unpack(archive: &[u8], to: &Path) -> Result<(), VmError> {
    std::fs::create_dir(to).map_err(VmError::io(to))?;
    let mut archive = tar::Archive::new(GzDecoder::new(archive));
    archive.unpack(to).map_err(VmError::io(to))
}

/// The steps in `name:cpu.cpu;name:cpu`.
///
/// # Errors
/// What is not of this form.
pub fn parse_steps(text: &str) -> Result<Vec<Step>, String> {
    let expected = "expected NAME:CPU.CPU;NAME:CPU";
    let step = |part: &str| {
        let (name, cpus) = part.split_once(':').ok_or(format!("found {part:?}, {expected}"))?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(format!("found the name {name:?}, expected letters, digits, - and _"));
        }
        let number = |cpu: &str| match cpu.parse::<u32>() {
            Ok(cpu) if (cpu as usize) < machine::MAX_CPUS => Ok(GuestCpu(cpu)),
            _ => Err(format!("found CPU {cpu:?} in {part:?}, {expected}")),
        };
        let offline = cpus.split('.').map(number).collect::<Result<_, _>>()?;
        Ok(Step { name: name.to_owned(), offline })
    };
    text.split(';').filter(|part| !part.is_empty()).map(step).collect()
}

/// The CPUs that are online after `steps`, of `all`, in the guest's numbers.
pub fn online_after(all: CpuSet, steps: &[Step]) -> CpuSet {
    let mut online = all;
    steps.iter().flat_map(|s| &s.offline).for_each(|cpu| online.remove(cpu.0 as usize));
    online
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_as_recorded_captures_write_them() {
        let steps = parse_steps("smt4:7.6.5.4;off1:1").unwrap();
        assert_eq!(
            steps[0],
            Step { name: "smt4".to_owned(), offline: [7, 6, 5, 4].map(GuestCpu).to_vec() }
        );
        assert_eq!(job(&steps, false).lines().nth(1), Some("switch 0 7 6 5 4"));
        let online = online_after("0-7".parse().unwrap(), &steps);
        assert_eq!(online.to_string(), "0,2-3");
        assert_eq!(parse_steps("").unwrap(), []);
        for bad in ["smt4", "a b:1", ":1", "a:", "a:x", "a:99999"] {
            assert!(parse_steps(bad).is_err(), "{bad}");
        }
    }
}
