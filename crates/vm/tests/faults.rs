//! What can happen to a guest, with a shell script in QEMU's place: each ends with its own message and the console's last
//! lines, and leaves neither a process nor a file.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vm::board::Board;
use vm::boot::Limits;
use vm::capture::Capture;
use vm::qemu::Qemu;
use vm::{Arch, KernelImage, VmError};

/// A directory with a guest whose QEMU does `script`.
struct Lab {
    dir: tempfile::TempDir,
    qemu: Qemu,
    board: Board,
    kernel: KernelImage,
}

impl Lab {
    fn new(script: &str) -> Lab {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let program = path("qemu");
        let text = format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo 'QEMU emulator version 10.0.0'; exit; }}\n\
             echo $$ > {}\n{script}\n",
            path("pid").display()
        );
        std::fs::write(&program, text).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::create_dir_all(path("programs/usr/bin")).unwrap();
        std::fs::write(path("programs/usr/bin/busybox"), "").unwrap();
        std::fs::create_dir(path("out")).unwrap();
        let machine = machine::qemu::read("-M q35 -smp 2").unwrap();
        let kernel = KernelImage {
            version: (6, 12),
            release: "6.12.1-test".to_owned(),
            arch: Arch::X86,
            image: path("vmlinuz"),
            config: path("config"),
            modules: None,
        };
        // A child that another test forks meanwhile has the file open for writing until it executes its program.
        let qemu = loop {
            match Qemu::at(&program) {
                Err(VmError::Program { source, .. })
                    if source.kind() == ErrorKind::ExecutableFileBusy =>
                {
                    std::thread::yield_now();
                }
                found => break found.unwrap(),
            }
        };
        Lab { qemu, board: Board::of(&machine, false).unwrap(), kernel, dir }
    }

    fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    fn capture(&self, stop: &AtomicBool, to: &Path) -> Result<(), String> {
        let programs = self.dir.path().join("programs");
        let capture = Capture {
            name: "test",
            kernel: &self.kernel,
            programs: &programs,
            board: &self.board,
            machine: &[],
            append: "",
            steps: &[],
            trace: false,
            limits: Limits { silent_s: 2, total_s: 4 },
        };
        capture.take(&self.qemu, to, stop, &mut |_| {}).map_err(|e| e.to_string())
    }

    /// The error of a capture, after which nothing may be left.
    fn fails(&self, stop: &AtomicBool) -> String {
        let error = self.capture(stop, &self.out().join("capture")).unwrap_err();
        assert_eq!(std::fs::read_dir(self.out()).unwrap().count(), 0, "files are left");
        self.check_gone();
        error
    }

    fn check_gone(&self) {
        let pid = std::fs::read_to_string(self.dir.path().join("pid")).unwrap();
        let process = PathBuf::from(format!("/proc/{}", pid.trim()));
        assert!(!process.exists(), "process {} is left", pid.trim());
    }
}

fn fails(script: &str) -> String {
    Lab::new(script).fails(&AtomicBool::new(false))
}

#[test]
fn a_guest_that_hangs() {
    let error = fails("echo booting; sleep 60");
    assert_eq!(error, "guest: silent for 2 s, expected a line at least that often\n  | booting");
}

#[test]
fn a_guest_that_never_ends() {
    let error = fails("while :; do echo tick; sleep 0.02; done");
    assert!(error.starts_with("guest: not done after 4 s\n  | tick\n"), "{error}");
    assert_eq!(error.lines().count(), 21, "{error}");
}

#[test]
fn a_guest_that_panics() {
    let error = fails(
        "echo '[ 1.0] Kernel panic - not syncing: Attempted to kill init!'; echo trace; sleep 60",
    );
    assert_eq!(
        error,
        "guest: kernel panic: Attempted to kill init!\n  | [ 1.0] Kernel panic - not syncing: Attempted to kill init!\n  | trace"
    );
}

/// How often a guest whose QEMU does `script` boots, and the first line of its error.
fn boots(script: &str) -> (usize, String) {
    let lab = Lab::new(&format!("echo >>${{0%/qemu}}/boots; {script}"));
    let error = lab.fails(&AtomicBool::new(false));
    let boots = std::fs::read_to_string(lab.dir.path().join("boots")).unwrap();
    (boots.lines().count(), error.lines().next().unwrap().to_owned())
}

/// A script that ends well from its second boot on, and does `script` before.
fn second_time_well(script: &str) -> String {
    format!("[ $(wc -l <${{0%/qemu}}/boots) -ge 2 ] && {{ echo '@@done'; exit; }}; {script}")
}

const NO_CAPTURE: &str = "guest failed (done): it sent no capture.tar.gz";

/// QEMU's own fault boots again, twice at most, and only while nothing has come from the guest.
#[test]
fn a_guest_that_stops_at_a_stale_breakpoint() {
    let panic = "echo '[ 3.7] Oops: int3: 0000 [#1] SMP NOPTI'; \
                 echo '[ 3.7] Kernel panic - not syncing: Fatal exception in interrupt'";
    let fatal = "guest: kernel panic: Fatal exception in interrupt".to_owned();
    assert_eq!(boots(panic), (3, fatal.clone()));
    assert_eq!(boots(&second_time_well(panic)), (2, NO_CAPTURE.to_owned()));
    assert_eq!(boots(&format!("echo '@@note begun'; {panic}")), (1, fatal));
}

/// So does a machine that its firmware resets; one that its kernel resets does not.
#[test]
fn a_machine_that_its_firmware_resets() {
    let reset = "echo '[    1.460317650,7] PHB[0:0] X[PE]='";
    let ended = "guest: QEMU ended early (exit status: 0): nothing said".to_owned();
    assert_eq!(boots(reset), (3, ended.clone()));
    assert_eq!(boots(&second_time_well(reset)), (2, NO_CAPTURE.to_owned()));
    let kernel = format!("{reset}; echo '[    1.500000] reboot: Restarting system'");
    assert_eq!(boots(&kernel), (1, ended));
    assert_eq!(boots(&format!("{reset}; exit 1")).0, 1);
}

#[test]
fn a_guest_without_memory() {
    let error =
        fails("echo '[ 9.1] Out of memory: Killed process 80 (tar) total-vm:1kB'; sleep 60");
    assert!(error.starts_with("guest: out of memory: Killed process 80 (tar)"), "{error}");
}

#[test]
fn a_guest_that_prints_rubbish() {
    let error = fails("head -c 300000 /dev/urandom; exit 3");
    assert!(
        error.starts_with("guest: QEMU ended early (exit status: 3): nothing said\n"),
        "{error}"
    );
    let torn = fails(
        "echo '@@file capture.tar.gz'; echo AAAA; echo '@@end capture.tar.gz 4 00'; sleep 60",
    );
    assert!(
        torn.starts_with("guest: file capture.tar.gz from the guest: found capture.tar.gz 3 "),
        "{torn}"
    );
    let other = fails("echo '@@done'");
    assert_eq!(other, "guest failed (done): it sent no capture.tar.gz");
}

#[test]
fn a_guest_that_is_killed() {
    let error = fails("echo booting; kill -9 $$");
    assert!(
        error.starts_with("guest: QEMU ended early (signal: 9 (SIGKILL)): nothing said"),
        "{error}"
    );
    assert!(error.ends_with("  | booting"), "{error}");
}

#[test]
fn a_qemu_that_refuses() {
    let error = fails(
        "echo 'qemu: warning: x' >&2; echo 'qemu: -M q36: unsupported machine type' >&2; exit 1",
    );
    assert!(
        error.starts_with(
            "guest: QEMU ended early (exit status: 1): qemu: -M q36: unsupported machine type\n"
        ),
        "{error}"
    );
    assert!(error.ends_with("(nothing on its console)"), "{error}");
}

#[test]
fn an_interruption_ends_it_at_once() {
    let lab = Lab::new("echo booting; sleep 60");
    let stop = AtomicBool::new(false);
    let (error, stopped) = std::thread::scope(|scope| {
        let stopper = scope.spawn(|| {
            // However long the script takes to start.
            while !lab.dir.path().join("pid").exists() {
                std::thread::sleep(Duration::from_millis(10));
            }
            std::thread::sleep(Duration::from_millis(500));
            stop.store(true, Ordering::Relaxed);
            Instant::now()
        });
        (lab.fails(&stop), stopper.join().unwrap())
    });
    assert_eq!(error, "guest: interrupted\n  | booting");
    assert!(stopped.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_directory_that_cannot_be_written() {
    let lab = Lab::new("echo booting; sleep 60");
    let error = lab.capture(&AtomicBool::new(false), Path::new("/proc/none/capture")).unwrap_err();
    assert!(error.starts_with("/proc/none: "), "{error}");
}

#[test]
fn an_old_qemu_and_none() {
    let dir = tempfile::tempdir().unwrap();
    let cache = vm::Cache::new(dir.path());
    let error = Qemu::at(Path::new("/nowhere/qemu")).unwrap_err().to_string();
    assert!(error.starts_with("/nowhere/qemu: No such file"), "{error}");
    let kernel = cache.kernel(Arch::Powerpc, None).unwrap_err().to_string();
    assert!(kernel.contains("schedscape vm fetch"), "{kernel}");
}
