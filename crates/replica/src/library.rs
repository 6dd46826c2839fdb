//! Loading a library, and calling it.

use crate::abi::{
    self, Api, Call, Debug, Spawn, Turn, VERSION, call as kind, policy as number, waits as wait,
};
use crate::governors::States;
use crate::machine::Boards;
use crate::{ReplicaError, decisions, fault, host, recent};
use ::machine::CpuSet;
use sim::counters::{Balancing, Counters};
use sim::source::{self, Decision, Ended, Event, Idle, Policy, Queued, Source, Sums, Waits};
use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// When a machine boots, in ns: not 0, which the kernel takes for never in places.
const BOOT_NS: u64 = 1_000_000;
/// Tasks of one queue that are told beyond those that it says it has.
const MORE_QUEUED: u32 = 256;
/// Room for what a file shows.
const SHOWN: usize = 64 << 10;

/// A library that is loaded for as long as the process lives.
pub(crate) struct Library {
    api: &'static Api,
    file: PathBuf,
    debug: &'static Debug,
    coverage: Option<extern "C" fn()>,
}

/// A kernel that has booted, on boards that it looks at as long as it runs.
pub struct Running {
    api: &'static Api,
    debug: &'static Debug,
    /// Writes what was executed, where the library counts that.
    coverage: Option<extern "C" fn()>,
    /// When the run is to stop for a debugger, in the run's time.
    stop_at_ns: Option<u64>,
    /// In a place of its own: the kernel has its address.
    boards: Box<Boards>,
    /// When it had booted.
    booted_ns: u64,
    tick_ns: u64,
    /// Where the library is.
    file: PathBuf,
    /// P-states, in a place of their own, where the kernel governs.
    states: Option<Box<States>>,
    /// Control groups: `cgroup.procs` of each, by its number from 1 on.
    pub(crate) groups: Vec<CString>,
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
        // `sc_debug` is what the version has beside it; only this thread and a debugger touch it.
        let (api, debug, coverage): (&'static Api, &'static Debug, _) = unsafe {
            let library = libloading::Library::new(file).map_err(|e| wrong(e.to_string()))?;
            let api = library.get::<*const Api>(b"sc_api\0").map_err(|e| wrong(e.to_string()))?;
            let api = api.into_raw().into_raw().cast::<Api>();
            let debug =
                library.get::<*const Debug>(b"sc_debug\0").map_err(|e| wrong(e.to_string()))?;
            let debug = debug.into_raw().into_raw().cast::<Debug>();
            let coverage = library.get::<extern "C" fn()>(b"sc_coverage\0").ok().map(|s| *s);
            std::mem::forget(library);
            if api.is_null() || debug.is_null() {
                return Err(wrong("found no sc_api, expected one".to_string()));
            }
            (&*api, &*debug, coverage)
        };
        if api.version != VERSION {
            let found = api.version;
            return Err(wrong(format!(
                "found version {found} of the interface, expected {VERSION}; build it again"
            )));
        }
        Ok(Library { api, file: file.to_owned(), debug, coverage })
    }

    /// Boots on the machine of `boards`.
    pub(crate) fn boot(&self, boards: Boards) -> Running {
        let boards = Box::new(boards);
        (self.api.set_now)(BOOT_NS);
        fault::inside(|| (self.api.boot)(&host::HOST, boards.machine(), 1));
        let mut booted = Running {
            api: self.api,
            debug: self.debug,
            coverage: self.coverage,
            stop_at_ns: None,
            boards,
            booted_ns: 0,
            tick_ns: 0,
            file: self.file.clone(),
            states: None,
            groups: vec![],
        };
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

    /// The run stops for a debugger at the first turn of a CPU at or after this time of its own.
    pub fn stop_at(&mut self, at_ns: u64) {
        self.stop_at_ns = Some(at_ns);
    }

    /// Whether the run came to where it was to stop.
    pub fn was_stopped(&self) -> bool {
        self.debug.stop_ns.load(Ordering::Relaxed) == u64::MAX
    }

    /// Adds what was executed since the last time to the files of [`crate::count_below`].
    pub fn write_coverage(&self) {
        if let Some(write) = self.coverage {
            write();
        }
    }

    /// Takes a CPU offline or brings it online.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn switch(&mut self, cpu: u32, online: bool) -> Result<(), ReplicaError> {
        let what = || format!("CPU {cpu} {}", if online { "online" } else { "offline" });
        checked(fault::inside(|| (self.api.online)(cpu, online.into())), what)?;
        self.settled();
        Ok(())
    }

    pub(crate) fn api(&self) -> &'static Api {
        self.api
    }

    /// What was asked for between runs took its time.
    pub(crate) fn settled(&mut self) {
        self.booted_ns = (self.api.now)();
    }

    /// Writes to a file of debugfs.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn write_debugfs(&self, path: &str, value: &str) -> Result<(), ReplicaError> {
        let (file, text) = (c_text(path), c_text(value));
        let write = || (self.api.debugfs_write)(file.as_ptr(), text.as_ptr());
        checked(fault::inside(write), || format!("{path}: {value}")).map(|_| ())
    }

    /// Writes to a sysctl.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn write_sysctl(&self, name: &str, value: &str) -> Result<(), ReplicaError> {
        let (sysctl, text) = (c_text(name), c_text(value));
        let write = || (self.api.sysctl_write)(sysctl.as_ptr(), text.as_ptr());
        checked(fault::inside(write), || format!("{name}: {value}")).map(|_| ())
    }

    /// The sysctls of the scheduler and their values, a line each.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(crate) fn sysctls(&self) -> Result<String, ReplicaError> {
        shown(|to, size| (self.api.sysctls)(to, size), "sysctls")
    }

    /// What a file of debugfs shows.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(crate) fn read_debugfs(&self, path: &str) -> Result<String, ReplicaError> {
        let file = c_text(path);
        shown(|to, size| (self.api.debugfs_read)(file.as_ptr(), to, size), path)
    }

    /// The mask of a set of CPUs.
    pub(crate) fn mask(&self, set: &CpuSet) -> Vec<u64> {
        self.boards.mask(set)
    }

    /// Registers the cpufreq driver that has `states`.
    pub(crate) fn register_driver(&mut self, states: Box<States>) -> Result<(), ReplicaError> {
        let answer = fault::inside(|| (self.api.govern)(states.clocks()));
        self.states = Some(states);
        self.settled();
        checked(answer, || "cpufreq_register_driver()".to_string()).map(|_| ())
    }

    /// Writes to a file of sysfs below `devices/system/cpu`.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn write_sysfs(&mut self, path: &str, value: &str) -> Result<(), ReplicaError> {
        let (file, text) = (c_text(path), c_text(value));
        let write = || (self.api.sysfs_write)(file.as_ptr(), text.as_ptr());
        let answer = fault::inside(write);
        self.settled();
        checked(answer, || format!("{path}: {value}")).map(|_| ())
    }

    /// What a file of sysfs below `devices/system/cpu` shows.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn read_sysfs(&mut self, path: &str) -> Result<String, ReplicaError> {
        let file = c_text(path);
        let text = shown(|to, size| (self.api.sysfs_read)(file.as_ptr(), to, size), path);
        self.settled();
        text
    }
}

/// What `show` writes into a buffer of a size.
pub(crate) fn shown(
    show: impl FnOnce(*mut c_char, u64) -> i64,
    what: &str,
) -> Result<String, ReplicaError> {
    let mut shown = vec![0u8; SHOWN];
    let to = shown.as_mut_ptr().cast();
    let answer = fault::inside(|| show(to, SHOWN as u64));
    let length = checked(answer, || what.to_string())?;
    shown.truncate(length as usize);
    Ok(String::from_utf8_lossy(&shown).into_owned())
}

fn checked(answer: i64, what: impl Fn() -> String) -> Result<i64, ReplicaError> {
    if answer < 0 {
        Err(ReplicaError::Refused { what: what(), number: -answer })
    } else {
        Ok(answer)
    }
}

/// Up to the first zero, which no path and no value has.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or("")).unwrap_or_default()
}

impl Source for Running {
    fn booted_ns(&self) -> u64 {
        self.booted_ns
    }

    fn tick_ns(&self) -> u64 {
        self.tick_ns
    }

    fn begins(&mut self, base_ns: u64) {
        self.debug.run_ns.store(base_ns, Ordering::Relaxed);
        recent::begins(base_ns);
        if let Some(at_ns) = self.stop_at_ns {
            self.debug.stop_ns.store(base_ns.saturating_add(at_ns), Ordering::Relaxed);
        }
    }

    fn seed(&mut self, seed: u64) {
        (self.api.seed)(seed);
    }

    fn spawn(&mut self, name: &str, cpu: u32, nice: i8, affinity: &CpuSet) -> i64 {
        let (name, mask) = (c_text(name), self.boards.mask(affinity));
        let spawn = Spawn { name: name.as_ptr(), cpu, nice: nice.into(), mask: mask.as_ptr() };
        fault::inside(|| (self.api.spawn)(&spawn))
    }

    fn join(&mut self, pid: i64, group: u32) -> Result<(), String> {
        self.join_group(pid, group)
    }

    fn turn(&mut self, turn: &source::Turn, call: Option<&source::Call>) -> Ended {
        let words = match call {
            Some(source::Call::SetAffinity(set)) => self.boards.mask(set),
            Some(source::Call::SetPolicy(policy)) => deadline(*policy),
            _ => Vec::new(),
        };
        let mut asked = call.map(|call| asked(call, &words));
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
        recent::turn(turn.now_ns);
        fault::inside(|| (self.api.turn)(&mut turn));
        Ended {
            waits: waits(turn.waits),
            current: turn.current_task,
            scans: turn.scans,
            balances: turn.balances,
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

    fn nr_running(&self, cpu: u32) -> u32 {
        (self.api.nr_running)(cpu)
    }

    fn idle(&self, cpu: u32) -> Idle {
        let mut idle = abi::Idle { state: 0, until_ns: 0, calls: 0 };
        (self.api.idle)(cpu, &mut idle);
        let until_ns = Some(idle.until_ns).filter(|&at| at < i64::MAX as u64);
        Idle { state: idle.state as usize, until_ns, calls: idle.calls }
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
        to.bandwidth = self.bandwidth();
        to.pressure = self.pressure();
        (to.lb_idle, to.lb_not_idle, to.lb_newly_idle) = (idle, not_idle, newly_idle);
    }

    fn governs(&self) -> bool {
        self.states.is_some()
    }

    fn requested_khz(&self, cpu: u32) -> u32 {
        (self.api.requested)(cpu)
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

    fn watch_decisions(&mut self) -> Result<(), String> {
        let cpus = self.boards.cpus();
        decisions::watch(self.api, &self.file, cpus).map_err(|e| e.to_string())
    }

    fn take_decisions(&mut self, to: &mut Vec<Decision>) {
        decisions::take(to);
    }

    fn clamps(&self, cpu: u32) -> (u64, u64) {
        let mut clamps = abi::Clamps { min: 0, max: 0 };
        (self.api.clamps)(cpu, &mut clamps);
        (clamps.min.into(), clamps.max.into())
    }

    fn switch_later(&mut self, cpu: u32, online: bool) {
        (self.api.switch_later)(cpu, online.into());
    }

    fn sums(&self, cpu: u32, queued: &mut Vec<Queued>) -> Sums {
        let mut sums = Sums::default();
        let most = (self.api.nr_running)(cpu).saturating_add(MORE_QUEUED).min(u16::MAX.into());
        queued.resize(most as usize, Queued::default());
        let count = (self.api.sums)(cpu, &mut sums, queued.as_mut_ptr(), most);
        queued.truncate(count as usize);
        sums
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

/// A call as the interface has it; `words` live as long as that.
fn asked(call: &source::Call, words: &[u64]) -> Call {
    use source::Call::*;
    let (kind, a, b) = match *call {
        Wake { pid, sync } => (kind::WAKE, pid, sync.into()),
        Fork { group } => (kind::FORK, group.into(), 0),
        SetNice(nice) => (kind::NICE, nice.into(), 0),
        SetSlice(slice_ns) => (kind::SLICE, slice_ns as i64, 0),
        SetClamps { min, max } => (kind::CLAMP, clamp(min), clamp(max)),
        Sleep { for_io } => (kind::SLEEP, 0, for_io.into()),
        SleepUntil(at_ns) => (kind::SLEEP_UNTIL, at_ns as i64, 0),
        Yield => (kind::YIELD, 0, 0),
        Exec => (kind::EXEC, 0, 0),
        SetAffinity(_) => (kind::AFFINITY, 0, 0),
        SetPolicy(policy) => {
            let (number, priority) = policy_of(policy);
            (kind::POLICY, number, priority)
        }
        Exit => (kind::EXIT, 0, 0),
    };
    Call { kind, a, b, words: words.as_ptr() }
}

/// A policy's number and its real-time priority.
fn policy_of(policy: Policy) -> (i64, i64) {
    match policy {
        Policy::Other => (number::OTHER, 0),
        Policy::Batch => (number::BATCH, 0),
        Policy::Idle => (number::IDLE, 0),
        Policy::Fifo { priority } => (number::FIFO, priority.into()),
        Policy::RoundRobin { priority } => (number::ROUND_ROBIN, priority.into()),
        Policy::Deadline { .. } => (number::DEADLINE, 0),
    }
}

/// Runtime, deadline and period of a policy that has them.
fn deadline(policy: Policy) -> Vec<u64> {
    match policy {
        Policy::Deadline { runtime_ns, deadline_ns, period_ns } => {
            vec![runtime_ns, deadline_ns, period_ns]
        }
        _ => Vec::new(),
    }
}

/// -1 for a clamp that stays.
fn clamp(to: Option<u16>) -> i64 {
    to.map_or(-1, i64::from)
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
