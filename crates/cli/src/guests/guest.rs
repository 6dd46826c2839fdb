//! From what a user asks for to a guest that is ready to boot.

use super::cache;
use crate::Failure;
use crate::args::{AccelName, GuestArgs};
use crate::images;
use crate::progress::bar;
use kernel::Kernel;
use machine::Machine;
use report::domains_diff::{diff, of_domains};
use results::store::TEMPORARY_PREFIX;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use vm::board::Board;
use vm::boot::Limits;
use vm::capture::{Capture, Step};
use vm::exec::{Exec, Given};
use vm::firmware::described;
use vm::frames::{Said, Stream};
use vm::qemu::Qemu;
use vm::{Accel, KernelImage, Trial};

/// Seconds that a boot with all its runs may take.
const LIMIT_S: u64 = 3600;
/// Seconds that a guest may be silent.
const SILENCE_S: u64 = 600;

/// A guest that is ready to boot.
pub struct Ready {
    pub board: Board,
    /// The machine that the guest's firmware describes.
    pub described: Machine,
    pub kernel: KernelImage,
    /// The kernel as a model, for predictions.
    pub model: Kernel,
    qemu: Qemu,
    pub programs: PathBuf,
    accel: Vec<String>,
    append: String,
    limits: Limits,
    stop: Arc<AtomicBool>,
}

impl Ready {
    /// Makes `machine`, all of whose CPUs are there, a guest.
    pub fn new(machine: &Machine, plain: bool, args: &GuestArgs) -> Result<Ready, Failure> {
        let cache = cache(&args.cache)?;
        let board = Board::of(machine, plain)?;
        let arch = board.arch();
        let qemu = Qemu::find(&cache, arch)?;
        let kernel = match images::given(&args.own, &cache, || Ok(arch))? {
            Some(given) => given,
            None => cache.kernel(arch, args.kernel)?,
        };
        let programs = cache.guest(arch)?;
        let accel = accel(args)?;
        let work = tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempdir()?;
        let described = described(&board, &qemu, work.path())?;
        let append = format!("{} {}", board.append, args.append).trim().to_owned();
        Ok(Ready {
            model: kernel.model()?,
            accel: vm::accel_arguments(
                accel,
                Trial { qemu: &qemu, kernel: &kernel, programs: &programs },
            )?,
            limits: limits(args),
            stop: stop_on_signals()?,
            board,
            described,
            kernel,
            qemu,
            programs,
            append,
        })
    }

    /// Says, before anything boots, what the guest is and what it cannot show of its machine.
    pub fn announce(&self) -> Result<(), Failure> {
        let (name, release) = (&self.board.machine.name, &self.kernel.release);
        anstream::eprintln!("{name} as a guest: kernel {release}, QEMU {}", self.board.spec());
        anstream::eprint!("{}", vm::shown::in_words(&self.board, &self.described));
        match self.domains_lost()? {
            None => anstream::eprintln!(
                "The domains that are predicted for machine and guest are the same."
            ),
            Some(text) => anstream::eprintln!(
                "Predicted domains that the guest therefore lacks (-) or has (+):\n{text}"
            ),
        }
        Ok(())
    }

    /// Predicted domains of the machine against those of the guest.
    fn domains_lost(&self) -> Result<Option<String>, Failure> {
        let of = |machine: &Machine| -> Result<_, Failure> {
            Ok(of_domains(&kernel::build(machine, &self.model)?, self.model.version))
        };
        let (machine, guest) = (of(&self.board.machine)?, of(&self.described)?);
        Ok(diff(("machine", &machine), ("guest", &guest)))
    }

    /// Boots it and writes what its kernel says into the new directory `to`.
    pub fn capture(
        &self,
        name: &str,
        steps: &[Step],
        trace: bool,
        to: &Path,
    ) -> Result<(), Failure> {
        let arguments = [&self.board.arguments[..], &self.accel].concat();
        let capture = Capture {
            name,
            kernel: &self.kernel,
            programs: &self.programs,
            board: &self.board,
            machine: &arguments,
            append: &self.append,
            steps,
            trace,
            limits: self.limits,
        };
        let bar = bar("{spinner} {elapsed} {wide_msg}")?;
        bar.set_message("QEMU starts");
        let taken = capture.take(&self.qemu, to, &self.stop, &mut |said| match said {
            Said::Console(line) | Said::Note(line) => bar.set_message(line.clone()),
            Said::File { name, .. } => bar.set_message(format!("{name} arrived")),
            Said::Printed { .. } | Said::Done => {}
        });
        bar.finish_and_clear();
        Ok(taken?)
    }

    /// Boots it and runs `script` with programs and files of this computer; gives its exit code.
    pub fn exec(
        &self,
        script: &Path,
        programs: &[Given],
        files: &[(PathBuf, String)],
        print: &mut dyn FnMut(Stream, &str),
        hear: &mut dyn FnMut(&str),
    ) -> Result<u8, Failure> {
        let arguments = [&self.board.arguments[..], &self.accel].concat();
        let exec = Exec {
            kernel: &self.kernel,
            tree: &self.programs,
            board: &self.board,
            machine: &arguments,
            append: &self.append,
            programs,
            files,
            script,
            limits: self.limits,
        };
        Ok(exec.run(&self.qemu, &self.stop, print, hear)?)
    }
}

/// What executes the guest's instructions.
pub fn accel(args: &GuestArgs) -> Result<Accel, Failure> {
    match (args.accel, args.icount) {
        (AccelName::Kvm, Some(_)) => {
            Err("--icount: found --accel kvm, expected tcg: no processor counts so".into())
        }
        (AccelName::Kvm, None) => Ok(Accel::Kvm),
        (AccelName::Tcg, Some(shift)) => Ok(Accel::Counted { shift }),
        (AccelName::Tcg, None) => Ok(Accel::Tcg),
    }
}

/// How long a guest may take.
pub fn limits(args: &GuestArgs) -> Limits {
    Limits {
        silent_s: args.silence_s.unwrap_or(SILENCE_S),
        total_s: args.limit_s.unwrap_or(LIMIT_S),
    }
}

/// A flag that interrupts and requests to end set. What waits for a guest looks at it, and cleans up.
pub fn stop_on_signals() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // A connection that is lost hangs up.
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
