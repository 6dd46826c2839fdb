//! What operations of a kernel cost: a guest does each of them alone, watched by the [plugin](crate::plugin).
//!
//! Each operation is done N times and then 2 N times. Both windows must agree, so what is not of the operation is small: ticks, daemons
//! and what a program does to get there. Where they do not, the operation is measured again in another boot with more rounds.

mod case;
mod locks;

use crate::boot::Limits;
use crate::firmware::TreeEdits;
use crate::plugin::{Snapshot, Watching, snapshots};
use crate::programs::{FileSource, Output, Program, WORKER};
use crate::qemu::Qemu;
use crate::session::{Answer, GuestRun, Heard, Session};
use crate::symbols::Symbols;
use crate::{Arch, Cache, KernelImage, VmError};
pub use case::{Case, cases};
pub use locks::Taker;
use machine::costs::{CostTable, Operation};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// Boots until all windows agree.
const BOOTS: u32 = 3;
/// What lists a kernel's functions in a guest.
const LIST_FUNCTIONS: &str = "grep -v '\\[' /proc/kallsyms | grep -i ' [tw] '";
/// Snapshots of a measurement: before, between and after its windows.
const SNAPSHOTS: usize = 3;

/// What is measured, and on what.
#[derive(Debug, Clone)]
pub struct Measurement<'a> {
    /// The kernel.
    pub kernel: &'a KernelImage,
    /// Where everything is.
    pub cache: &'a Cache,
    /// What is counted.
    pub watching: Watching,
    /// Measurements.
    pub cases: &'a [Case],
    /// How long the guest may take.
    pub limits: Limits,
}

/// What was counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// By operation.
    pub table: CostTable,
    /// Functions that take locks, in the order of the table.
    pub takers: Vec<Taker>,
}

impl Measurement<'_> {
    /// Boots guests and makes all measurements; `tell` hears which one is done.
    ///
    /// # Errors
    /// All that can happen to a guest, a measurement that fails, windows that never agree.
    pub fn run(&self, stop: &AtomicBool, tell: &mut dyn FnMut(&str)) -> Result<Counted, VmError> {
        let arch = self.kernel.arch;
        let qemu = Qemu::find(self.cache, arch)?;
        let board = board(arch);
        let symbols = self.symbols(&qemu, &board, stop)?;
        let mut found: Vec<Option<(Operation, Vec<Taker>)>> = vec![None; self.cases.len()];
        let mut left: Vec<(usize, Case)> = self.cases.iter().copied().enumerate().collect();
        let mut reason = String::new();
        for _ in 0..BOOTS {
            let cases: Vec<Case> = left.iter().map(|(_, case)| *case).collect();
            let all = self.boot(&qemu, &board, &symbols, &cases, stop, tell)?;
            let mut again = Vec::new();
            for (&(at, case), of) in left.iter().zip(all.chunks(SNAPSHOTS)) {
                match case.read(of, &symbols) {
                    Ok(counted) => found[at] = Some(counted),
                    Err(disagreement) => {
                        reason = disagreement;
                        again.push((at, case.longer()));
                    }
                }
            }
            left = again;
            if left.is_empty() {
                break;
            }
        }
        if !left.is_empty() {
            return Err(measured(reason));
        }
        let (operations, takers): (Vec<Operation>, Vec<Vec<Taker>>) =
            found.into_iter().flatten().unzip();
        let table = CostTable {
            arch: arch.debian().to_owned(),
            kernel: self.kernel.release.clone(),
            qemu: format!("{}.{}", qemu.version.0, qemu.version.1),
            machine: board.join(" "),
            line_bytes: self.watching.line_bytes,
            quantum: self.watching.quantum,
            operations,
        };
        Ok(Counted { table, takers: takers.concat() })
    }

    /// The kernel's functions, for which a guest boots if they are not known yet.
    fn symbols(
        &self,
        qemu: &Qemu,
        board: &[String],
        stop: &AtomicBool,
    ) -> Result<Symbols, VmError> {
        self.cache.symbols(self.kernel, || {
            let run = GuestRun { command: LIST_FUNCTIONS.to_owned(), ..GuestRun::default() };
            let mut said = String::new();
            self.session(qemu, board, &[run], stop, &mut |_, answer| {
                said = answer.map_err(measured)?.stdout;
                Ok(())
            })?;
            Ok(said)
        })
    }

    /// Boots one guest that makes `cases`, each with its snapshots.
    fn boot(
        &self,
        qemu: &Qemu,
        board: &[String],
        symbols: &Symbols,
        cases: &[Case],
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Vec<Snapshot>, VmError> {
        let work = tempfile::Builder::new().prefix(".schedscape-measure").tempdir();
        let work = work.map_err(VmError::io(&std::env::temp_dir()))?;
        let (out, locks) = (work.path().join("lines"), work.path().join("locks"));
        std::fs::write(&locks, symbols.lock_functions()).map_err(VmError::io(&locks))?;
        let watching = self.watching.arguments(&self.cache.plugin()?, &out, Some(&locks));
        let runs: Vec<GuestRun> = (cases.iter())
            .map(|case| GuestRun { command: case.command(), ..GuestRun::default() })
            .collect();
        self.session(qemu, &[board, &watching].concat(), &runs, stop, &mut |at, answer| {
            let title = cases[at].title();
            answer.map_err(|reason| measured(format!("{title}: {reason}")))?;
            tell(&title);
            Ok(())
        })?;
        let text = std::fs::read_to_string(&out).map_err(VmError::io(&out))?;
        let all = snapshots(&text).map_err(measured)?;
        match all.len() == SNAPSHOTS * cases.len() {
            true => Ok(all),
            false => Err(measured(format!(
                "found {} snapshots, expected {SNAPSHOTS} of each of {} measurements",
                all.len(),
                cases.len()
            ))),
        }
    }

    /// Boots one guest that makes `runs`, and hands what comes of each to `hear`.
    fn session(
        &self,
        qemu: &Qemu,
        machine: &[String],
        runs: &[GuestRun],
        stop: &AtomicBool,
        hear: &mut dyn FnMut(usize, Result<Box<Answer>, String>) -> Result<(), VmError>,
    ) -> Result<(), VmError> {
        let arch = self.kernel.arch;
        let program = Program {
            packages: Vec::new(),
            programs: Vec::new(),
            files: vec![(WORKER.to_owned(), FileSource::Worker)],
            command: String::new(),
            output: Output::Named(Vec::new()),
            notes: Vec::new(),
            guest_notes: Vec::new(),
        };
        let session = Session {
            kernel: self.kernel,
            tree: &self.cache.guest(arch)?,
            worker: &self.cache.worker(arch)?,
            programs: &[&program],
            machine,
            edits: TreeEdits { thread_groups: &BTreeMap::new(), timer_hz: None },
            append: "nokaslr",
            pinning: None,
            limits: self.limits,
        };
        session.run(qemu, runs, stop, &mut |heard| match heard {
            Heard::Note(_) => Ok(()),
            Heard::Run(at, answer) => hear(at, answer),
        })
    }
}

fn measured(message: String) -> VmError {
    VmError::Failed { program: "measurement".to_owned(), status: "no costs".to_owned(), message }
}

/// Two sockets of two CPUs, of a model that has the atomic instructions of today's machines.
fn board(arch: Arch) -> Vec<String> {
    let (board, smp) = match arch {
        Arch::X86 => ("-M q35 -cpu EPYC-Rome-v4", "4,sockets=2,cores=2,threads=1"),
        Arch::Arm64 => ("-M virt,gic-version=3 -cpu neoverse-n1", "4,sockets=2,cores=2,threads=1"),
        Arch::Powerpc => ("-M powernv9", "4,sockets=2,cores=2,threads=1"),
    };
    let mib = if arch == Arch::Powerpc { 2048 } else { 1024 };
    format!("{board} -smp {smp} -m {mib}").split(' ').map(str::to_owned).collect()
}
