//! One boot of a guest: QEMU as a child process, watched until the guest is done, and gone afterwards in any case.
//!
//! `command` adds kernel, initramfs and console to the machine's arguments. Where firmware must have thread groups, QEMU first writes
//! its device tree, and the edited tree is handed back to it. QEMU leads a process group of its own, so that ending it ends all that it
//! started.
//!
//! A thread for each of QEMU's pipes turns bytes into lines, and one loop (`Watch::listen`) reads the lines of both. It asks, in this
//! order: does the caller want to stop, is the time over, has the guest been silent for too long, what does the next line say? A
//! line of the console may complete a file, say that the guest is done, or report a fault such as a panic; whatever follows a fault at
//! once, its stack trace, is kept for the error. QEMU's own lines explain its end and never count as the guest's.
//!
//! A boot ends in one of three ways: the guest says that it is done, something is wrong with it, or QEMU closes its console first. In
//! every case the process group is killed and both threads are joined before `boot` returns. An error carries the last lines of the
//! console.
//!
//! Two faults are not the guest's and are tried again: a breakpoint that the kernel has already taken out of its code
//! (`stale_breakpoint`), and a machine that is reset while its firmware speaks (`skiboot`).
//!
//! Nothing here knows what a guest runs: what it says goes to the caller as it comes. No file is written but QEMU's device tree, in
//! the guest's own working directory.

use crate::error::{GuestError, GuestFault};
use crate::firmware::{TreeEdits, device_tree};
use crate::frames::{Frames, Said};
use crate::pinning::Pinning;
use crate::qemu::Qemu;
use crate::{Arch, KernelImage, VmError};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Lines of the console that an error shows.
const LAST_LINES: usize = 20;
/// Longest line that is kept whole; a guest that prints rubbish must not fill memory.
const LONGEST_LINE: u64 = 1 << 16;
/// How often a waiting boot looks whether it should stop.
const LOOK: Duration = Duration::from_millis(100);

/// What to boot.
#[derive(Debug, Clone)]
pub(crate) struct Guest<'a> {
    /// The kernel.
    pub kernel: &'a KernelImage,
    /// Its root file system, compressed.
    pub initramfs: &'a Path,
    /// QEMU's arguments for the machine, without kernel, console and devices.
    pub machine: &'a [String],
    /// What QEMU's device tree lacks.
    pub edits: TreeEdits<'a>,
    /// What follows on the kernel's command line.
    pub append: &'a str,
    /// Where its CPUs run, if they are bound.
    pub pinning: Option<&'a Pinning>,
    /// A directory for files that live as long as the guest.
    pub work: &'a Path,
}

/// How long a guest may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Without a line on its console, in s.
    pub silent_s: u64,
    /// In all, in s.
    pub total_s: u64,
}

/// How often a guest that ends by QEMU's or the firmware's fault boots again.
const AGAIN: usize = 2;

/// A child that does not outlive its owner, with all that it starts: it leads a process group of its own.
struct Owned(Child);

impl Drop for Owned {
    fn drop(&mut self) {
        // All may be gone already, which is as good.
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

/// Boots `guest` and hands what it says to `hear` until it is done. Any of `stops` ends it early.
///
/// # Errors
/// QEMU that does not start, and all that can happen to a guest, with the last lines of its console.
pub(crate) fn boot(
    qemu: &Qemu,
    guest: &Guest,
    limits: Limits,
    stops: &[&AtomicBool],
    hear: &mut dyn FnMut(Said),
) -> Result<(), VmError> {
    for _ in 0..AGAIN {
        let (mut booting, mut foreign) = (true, false);
        let mut listen = |said: Said| {
            booting &= matches!(said, Said::Console(_));
            hear(said);
        };
        let ended = attempt(qemu, guest, limits, stops, &mut listen, &mut foreign);
        if !(booting && foreign) {
            return ended;
        }
    }
    attempt(qemu, guest, limits, stops, hear, &mut false)
}

/// Boots `guest` once, and notes whether it ended by QEMU's or the firmware's fault.
fn attempt(
    qemu: &Qemu,
    guest: &Guest,
    limits: Limits,
    stops: &[&AtomicBool],
    hear: &mut dyn FnMut(Said),
    foreign: &mut bool,
) -> Result<(), VmError> {
    let mut command = command(qemu, guest)?;
    command.process_group(0);
    let spawned =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = Owned(spawned.map_err(|source| VmError::Program {
        program: guest.kernel.arch.qemu().to_owned(),
        source,
        install: format!("schedscape vm fetch --arch {}", guest.kernel.arch),
    })?);
    let (sender, lines) = channel();
    let readers = [
        child.0.stdout.take().map(|pipe| read(pipe, sender.clone(), Line::Console)),
        child.0.stderr.take().map(|pipe| read(pipe, sender, Line::Qemu)),
    ];
    if let Some(pinning) = guest.pinning {
        pinning.apply(child.0.id()).map_err(|message| VmError::Failed {
            program: guest.kernel.arch.qemu().to_owned(),
            status: "its CPUs cannot be bound".to_owned(),
            message,
        })?;
    }
    let mut watch = Watch::new(limits);
    let heard = watch.listen(&lines, stops, hear);
    let ended = match heard {
        Ok(true) => Ok(()),
        Ok(false) => Err(watch.ended(&mut child.0)),
        Err(fault) => Err(fault),
    };
    drop(child);
    readers.into_iter().flatten().for_each(|reader| drop(reader.join()));
    ended.map_err(|what| {
        *foreign = watch.foreign(&what);
        GuestError { what, console: Vec::from(watch.console) }.into()
    })
}

fn command(qemu: &Qemu, guest: &Guest) -> Result<Command, VmError> {
    let kernel = guest.kernel;
    let mut arguments = guest.machine.to_vec();
    let path = |path: &Path| path.display().to_string();
    arguments.extend(["-kernel".to_owned(), path(&kernel.image)]);
    arguments.extend(["-initrd".to_owned(), path(guest.initramfs)]);
    let console = kernel.arch.console();
    // Tests of ciphers would take a CPU for the first seconds, in which runs begin already.
    let words =
        format!("console={console} quiet panic=-1 sched_verbose log_buf_len=8M cryptomgr.notests");
    let append = ["-append".to_owned(), format!("{words} {}", guest.append).trim_end().to_owned()];
    let mut command = qemu.command();
    command.args(["-display", "none", "-monitor", "none", "-serial", "stdio", "-no-reboot"]);
    command.args(["-nic", "none"]).args(&arguments);
    if guest.edits.is_empty() {
        command.args(append);
        return Ok(command);
    }
    // On POWER the tree carries the command line and where the initramfs is: QEMU takes no words beside a tree.
    if kernel.arch != Arch::Powerpc {
        command.args(&append);
    }
    arguments.extend(append);
    let tree = device_tree(qemu, &arguments, guest.edits, guest.work)?;
    command.arg("-dtb").arg(tree);
    Ok(command)
}

/// A line of the console or of QEMU itself.
enum Line {
    Console(String),
    Qemu(String),
}

fn read(
    pipe: impl Read + Send + 'static,
    to: Sender<Line>,
    kind: fn(String) -> Line,
) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        // Whoever listens may have heard enough.
        while let Ok(1..) = (&mut pipe).take(LONGEST_LINE).read_until(b'\n', &mut line) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            line.clear();
            if to.send(kind(text)).is_err() {
                return;
            }
        }
    })
}

/// What a boot remembers while it listens.
struct Watch {
    limits: Limits,
    start: Instant,
    frames: Frames,
    console: VecDeque<String>,
    qemu: VecDeque<String>,
    breakpoint: bool,
}

impl Watch {
    fn new(limits: Limits) -> Watch {
        let (console, qemu) = (VecDeque::new(), VecDeque::new());
        let (start, frames) = (Instant::now(), Frames::default());
        Watch { limits, start, frames, console, qemu, breakpoint: false }
    }

    /// Listens until the guest is done, or its lines end, which is `false`.
    fn listen(
        &mut self,
        lines: &Receiver<Line>,
        stops: &[&AtomicBool],
        hear: &mut dyn FnMut(Said),
    ) -> Result<bool, GuestFault> {
        let mut last = Instant::now();
        loop {
            if stops.iter().any(|stop| stop.load(Ordering::Relaxed)) {
                return Err(GuestFault::Interrupted);
            }
            if self.start.elapsed().as_secs() >= self.limits.total_s {
                return Err(GuestFault::Slow { limit_s: self.limits.total_s });
            }
            if last.elapsed().as_secs() >= self.limits.silent_s {
                return Err(GuestFault::Silent { silent_s: self.limits.silent_s });
            }
            let line = match lines.recv_timeout(LOOK) {
                Ok(Line::Console(line)) => line,
                Ok(Line::Qemu(line)) => {
                    keep(&mut self.qemu, line);
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
            };
            last = Instant::now();
            match self.frames.line(&line)? {
                Some(Said::Done) => return Ok(true),
                Some(Said::Console(line)) => {
                    let fault = fault_of(&line);
                    self.breakpoint |= stale_breakpoint(&line);
                    keep(&mut self.console, line.clone());
                    hear(Said::Console(line));
                    if let Some(fault) = fault {
                        self.drain(lines);
                        return Err(fault);
                    }
                }
                Some(said) => hear(said),
                None => {}
            }
        }
    }

    /// Keeps what follows a fault at once: the trace of a panic.
    fn drain(&mut self, lines: &Receiver<Line>) {
        while let Ok(Line::Console(line)) = lines.recv_timeout(LOOK) {
            keep(&mut self.console, line);
        }
    }

    /// QEMU closed its console before the guest was done.
    fn ended(&self, child: &mut Child) -> GuestFault {
        let status = child.wait().map_or_else(|e| e.to_string(), |status| status.to_string());
        let said = self.qemu.iter().rfind(|line| !line.contains("warning"));
        let said = said.or(self.qemu.back()).cloned().unwrap_or_else(|| "nothing said".to_owned());
        GuestFault::Ended { status, said }
    }

    /// Whether QEMU or the firmware is to blame. A machine that is reset ends QEMU with status 0 (`-no-reboot`).
    fn foreign(&self, what: &GuestFault) -> bool {
        match what {
            GuestFault::Panic(_) => self.breakpoint,
            GuestFault::Ended { status, .. } => {
                status == "exit status: 0" && self.console.back().is_some_and(|line| skiboot(line))
            }
            _ => false,
        }
    }
}

fn keep(lines: &mut VecDeque<String>, line: String) {
    if lines.len() == LAST_LINES {
        lines.pop_front();
    }
    lines.push_back(line);
}

/// Whether a line of the console means that nothing good will follow.
fn fault_of(line: &str) -> Option<GuestFault> {
    let after = |mark: &str| Some(line.split_once(mark)?.1.trim().to_owned());
    if let Some(reason) = after("Kernel panic - not syncing: ") {
        return Some(match reason.contains("Out of memory") || reason.contains("out of memory") {
            true => GuestFault::OutOfMemory(reason),
            false => GuestFault::Panic(reason),
        });
    }
    after("Out of memory: ").map(GuestFault::OutOfMemory)
}

/// Whether the kernel says that it met a breakpoint which is not its own.
///
/// x86 changes its code under way: a breakpoint first, the new bytes, then their first byte in the breakpoint's place
/// (`smp_text_poke_batch_finish`, arch/x86/kernel/alternative.c). QEMU translates code ahead, and while another CPU writes to it a
/// translation can keep the breakpoint although the kernel has seen all CPUs pass. No processor does that.
fn stale_breakpoint(line: &str) -> bool {
    line.contains("int3: 0000 [#1]")
}

/// Whether a line is from skiboot, the firmware of POWER machines. Its time has nanoseconds and a level: `[    1.460317650,7] `.
///
/// QEMU was seen to reset such a machine on a busy computer before skiboot had started the kernel.
fn skiboot(line: &str) -> bool {
    let time = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    time.is_some_and(|(time, _)| time.contains(','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stray_breakpoint_is_qemus() {
        assert!(stale_breakpoint("[    3.780086] Oops: int3: 0000 [#1] SMP NOPTI"));
        assert!(stale_breakpoint("[    3.780086] int3: 0000 [#1] PREEMPT SMP NOPTI"));
        assert!(!stale_breakpoint("[    3.780086] Oops: divide error: 0000 [#1] SMP NOPTI"));
    }

    #[test]
    fn faults_in_the_console() {
        let line = "[   10.2] Kernel panic - not syncing: VFS: Unable to mount root fs";
        let panic = GuestFault::Panic("VFS: Unable to mount root fs".to_owned());
        assert_eq!(fault_of(line), Some(panic));
        let line = "Out of memory: Killed process 80 (tar)";
        assert!(matches!(fault_of(line), Some(GuestFault::OutOfMemory(_))));
        assert_eq!(fault_of("Run /init as init process"), None);
    }
}
