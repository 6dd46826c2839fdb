//! Faults of a kernel's code: what a signal says, and who called.

use crate::host;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// Signals that a fault raises.
const SIGNALS: [(c_int, &str); 4] = [
    (libc::SIGSEGV, "a bad address"),
    (libc::SIGBUS, "a bad address"),
    (libc::SIGILL, "an instruction that does not exist, as after BUG()"),
    (libc::SIGFPE, "a division by zero"),
];
/// Room for a handler, which writes a backtrace.
const STACK: usize = 256 << 10;

/// Makes each fault of this process its last words and its end.
pub(crate) fn catch() {
    let stack = host::fresh(STACK as u64);
    let alternative = libc::stack_t { ss_sp: stack, ss_flags: 0, ss_size: STACK };
    // SAFETY: the stack is never given back, and the handler ends the process.
    unsafe {
        libc::sigaltstack(&alternative, std::ptr::null_mut());
        for (signal, _) in SIGNALS {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handle as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESETHAND;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// Calls of the kernel's code so far, twice; odd while one lasts.
static CALLS: AtomicU64 = AtomicU64::new(0);
/// The same at the last look.
static SEEN: AtomicU64 = AtomicU64::new(0);
/// Processor time that a call has at most, in s: turns take microseconds, boots of the largest machines about a second.
const MOST_S: i64 = 10;

/// What `call` gives, which runs the kernel's code.
pub(crate) fn inside<R>(call: impl FnOnce() -> R) -> R {
    CALLS.store(CALLS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    let gives = call();
    CALLS.store(CALLS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    gives
}

/// Ends this process when one call takes [`MOST_S`] of processor time: the kernel's code is in an endless loop. A copy of this
/// process has to ask for that anew.
pub(crate) fn watch() {
    let every = libc::timeval { tv_sec: MOST_S, tv_usec: 0 };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the handler ends the process or returns without having changed anything but a counter.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = look as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigaction(libc::SIGVTALRM, &action, std::ptr::null_mut());
        libc::setitimer(libc::ITIMER_VIRTUAL, &timer, std::ptr::null_mut());
    }
}

extern "C" fn look(_: c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let calls = CALLS.load(Ordering::Relaxed);
    if SEEN.swap(calls, Ordering::Relaxed) == calls && calls % 2 == 1 {
        host::stop_at(&format!(
            "an endless loop: one call of the kernel takes more than {MOST_S} s"
        ));
    }
}

extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system hands over what it knows of the signal.
    let at = unsafe { (*info).si_addr() };
    let what = SIGNALS.iter().find(|s| s.0 == signal).map_or("a signal", |s| s.1);
    host::stop_at(&format!("fault: {what}, at {at:p}"));
}
