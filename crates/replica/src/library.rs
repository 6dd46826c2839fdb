//! Loading a library, and calling it.

use crate::abi::{self, Api, Call, Spawn, Turn, VERSION, call as kind, waits as wait};
use crate::machine::Boards;
use crate::{ReplicaError, fault, host};
use ::machine::CpuSet;
use sim::counters::{Balancing, Counters};
use sim::source::{self, Ended, Event, Idle, Source, Waits};
use std::ffi::{CStr, CString};
use std::path::Path;

/// When a machine boots, in ns: not 0, which the kernel takes for never in places.
const BOOT_NS: u64 = 1_000_000;
/// Room for what a file of debugfs shows.
const SHOWN: usize = 64 << 10;

/// A library that is loaded for as long as the process lives.
pub(crate) struct Library {
    api: &'static Api,
}

/// A kernel that has booted, on boards that it looks at as long as it runs.
pub struct Running {
    api: &'static Api,
    /// In a place of its own: the kernel has its address.
    boards: Box<Boards>,
    /// When it had booted.
    booted_ns: u64,
    tick_ns: u64,
}

impl Library {
    /// Loads `file`.
    ///
    /// # Errors
    /// What the loader says, and a library of another version of the interface.
    pub(crate) fn open(file: &Path) -> Result<Library, ReplicaError> {
        let wrong = |reason: String| ReplicaError::Library { file: file.to_owned(), reason };
        // SAFETY: the library runs no code when it is loaded, and is never unloaded, so `sc_api` lives as long as the process.
        // The version that it begins with says that it is laid out as `Api`.
        let api: &'static Api = unsafe {
            let library = libloading::Library::new(file).map_err(|e| wrong(e.to_string()))?;
            let api = library.get::<*const Api>(b"sc_api\0").map_err(|e| wrong(e.to_string()))?;
            let api = api.into_raw().into_raw().cast::<Api>();
            std::mem::forget(library);
            if api.is_null() {
                return Err(wrong("found no sc_api, expected one".to_string()));
            }
            &*api
        };
        if api.version != VERSION {
            let found = api.version;
            return Err(wrong(format!(
                "found version {found} of the interface, expected {VERSION}; build it again"
            )));
        }
        Ok(Library { api })
    }

    /// Boots on the machine of `boards`.
    pub(crate) fn boot(&self, boards: Boards) -> Running {
        let boards = Box::new(boards);
        (self.api.set_now)(BOOT_NS);
        (self.api.boot)(&host::HOST, boards.machine(), 1);
        let mut booted = Running { api: self.api, boards, booted_ns: 0, tick_ns: 0 };
        booted.booted_ns = (self.api.now)();
        booted.tick_ns = (self.api.tick)();
        booted
    }
}

impl Running {
    /// The kernel's release.
    pub(crate) fn release(&self) -> String {
        // SAFETY: a constant text of the library.
        unsafe { CStr::from_ptr(self.api.release) }.to_string_lossy().into_owned()
    }

    /// Takes a CPU offline or brings it online.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn switch(&mut self, cpu: u32, online: bool) -> Result<(), ReplicaError> {
        let what = || format!("CPU {cpu} {}", if online { "online" } else { "offline" });
        checked((self.api.online)(cpu, online.into()), what)?;
        self.booted_ns = (self.api.now)();
        Ok(())
    }

    /// Writes to a file of debugfs.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn write_debugfs(&self, path: &str, value: &str) -> Result<(), ReplicaError> {
        let (file, text) = (c_text(path), c_text(value));
        checked((self.api.debugfs_write)(file.as_ptr(), text.as_ptr()), || {
            format!("{path}: {value}")
        })
        .map(|_| ())
    }

    /// What a file of debugfs shows.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(crate) fn read_debugfs(&self, path: &str) -> Result<String, ReplicaError> {
        let file = c_text(path);
        let mut shown = vec![0u8; SHOWN];
        let answer =
            (self.api.debugfs_read)(file.as_ptr(), shown.as_mut_ptr().cast(), SHOWN as u64);
        let length = checked(answer, || path.to_string())?;
        shown.truncate(length as usize);
        Ok(String::from_utf8_lossy(&shown).into_owned())
    }
}

fn checked(answer: i64, what: impl Fn() -> String) -> Result<i64, ReplicaError> {
    if answer < 0 {
        Err(ReplicaError::Refused { what: what(), number: answer })
    } else {
        Ok(answer)
    }
}

/// Up to the first zero, which no path and no value has.
fn c_text(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or("")).unwrap_or_default()
}

impl Source for Running {
    fn booted_ns(&self) -> u64 {
        self.booted_ns
    }

    fn tick_ns(&self) -> u64 {
        self.tick_ns
    }

    fn seed(&mut self, seed: u64) {
        (self.api.seed)(seed);
    }

    fn spawn(&mut self, name: &str, cpu: u32, nice: i8, affinity: &CpuSet) -> i64 {
        let (name, mask) = (c_text(name), self.boards.mask(affinity));
        let spawn = Spawn { name: name.as_ptr(), cpu, nice: nice.into(), mask: mask.as_ptr() };
        (self.api.spawn)(&spawn)
    }

    fn turn(&mut self, turn: &source::Turn, call: Option<&source::Call>) -> Ended {
        let mut mask = Vec::new();
        if let Some(source::Call::SetAffinity(set)) = call {
            mask = self.boards.mask(set);
        }
        let mut asked = call.map(|call| asked(call, &mask));
        let mut turn = Turn {
            cpu: turn.cpu,
            irqs: turn.irqs,
            now_ns: turn.now_ns,
            scan_cost: turn.scan_cost,
            balance_cost: turn.balance_cost,
            call: asked.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut),
            waits: 0,
            scans: 0,
            balances: 0,
            current_task: 0,
        };
        fault::turn();
        (self.api.turn)(&mut turn);
        Ended {
            waits: waits(turn.waits),
            current: turn.current_task,
            scans: turn.scans,
            balances: turn.balances,
            answer: asked.map_or(0, |call| call.answer),
        }
    }

    fn wake_later(&mut self, cpu: u32, pid: i64) {
        (self.api.wake_later)(cpu, pid);
    }

    fn take_events(&mut self, events: &mut Vec<Event>) {
        host::take_events(events);
    }

    fn timer_ns(&self, cpu: u32) -> Option<u64> {
        Some((self.api.timer)(cpu)).filter(|&at| at < i64::MAX as u64)
    }

    fn state(&self, cpu: u32) -> (Waits, i64) {
        (waits((self.api.waits)(cpu)), (self.api.current_task)(cpu))
    }

    fn nr_running(&self, cpu: u32) -> u32 {
        (self.api.nr_running)(cpu)
    }

    fn idle(&self, cpu: u32) -> Idle {
        let mut idle = abi::Idle { state: 0, until_ns: 0 };
        (self.api.idle)(cpu, &mut idle);
        let until_ns = Some(idle.until_ns).filter(|&at| at < i64::MAX as u64);
        Idle { state: idle.state as usize, until_ns }
    }

    fn count(&self, to: &mut Counters) {
        let mut counts = abi::Counts::default();
        (self.api.count)(&mut counts);
        to.sched_count = counts.sched_count;
        to.sched_goidle = counts.sched_goidle;
        to.affine_attempts = counts.affine_attempts;
        to.affine_moves = counts.affine_moves;
        to.alb_count = counts.alb_count;
        to.alb_failed = counts.alb_failed;
        to.alb_pushed = counts.alb_pushed;
        to.ilb_kicks = counts.ilb_kicks;
        let [idle, not_idle, newly_idle] = counts.balancing.map(balancing);
        (to.lb_idle, to.lb_not_idle, to.lb_newly_idle) = (idle, not_idle, newly_idle);
    }

    fn watch_util(&mut self) {
        (self.api.watch_util)();
    }

    fn util(&self, cpu: u32) -> u64 {
        (self.api.util)(cpu)
    }

    fn set_frequency(&mut self, cpu: u32, scale: u64) {
        (self.api.set_frequency)(cpu, scale);
    }

    fn set_online(&mut self, cpu: u32, online: bool) -> Result<u64, i64> {
        match (self.api.online)(cpu, online.into()) {
            number if number < 0 => Err(number),
            _ => Ok((self.api.now)()),
        }
    }
}

fn balancing(from: abi::Balancing) -> Balancing {
    Balancing {
        count: from.count,
        balanced: from.balanced,
        failed: from.failed,
        gained: from.gained,
        hot_gained: from.hot_gained,
        imbalance: from.imbalance,
        nobusyg: from.nobusyg,
        nobusyq: from.nobusyq,
    }
}

/// A call as the interface has it; `mask` lives as long as that.
fn asked(call: &source::Call, mask: &[u64]) -> Call {
    use source::Call::*;
    let (kind, a, b) = match *call {
        Wake { pid, sync } => (kind::WAKE, pid, sync.into()),
        Fork => (kind::FORK, 0, 0),
        SetNice(nice) => (kind::NICE, nice.into(), 0),
        SetSlice(slice_ns) => (kind::SLICE, slice_ns as i64, 0),
        Sleep { for_io } => (kind::SLEEP, 0, for_io.into()),
        SleepUntil(at_ns) => (kind::SLEEP_UNTIL, at_ns as i64, 0),
        Yield => (kind::YIELD, 0, 0),
        Exec => (kind::EXEC, 0, 0),
        SetAffinity(_) => (kind::AFFINITY, 0, 0),
        Exit => (kind::EXIT, 0, 0),
    };
    Call { kind, a, b, mask: mask.as_ptr(), answer: 0 }
}

fn waits(number: u32) -> Waits {
    match number {
        wait::USER => Waits::User,
        wait::IDLE => Waits::Idle,
        wait::SPINS => Waits::Spins,
        wait::KERNEL => Waits::Kernel,
        wait::OFF => Waits::Off,
        other => unreachable!("a CPU waits for {other}"),
    }
}
