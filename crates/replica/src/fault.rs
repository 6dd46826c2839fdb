//! Faults of a kernel's code: what a signal says, and who called.

use crate::host;
use std::ffi::c_int;

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

extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system hands over what it knows of the signal.
    let at = unsafe { (*info).si_addr() };
    let what = SIGNALS.iter().find(|s| s.0 == signal).map_or("a signal", |s| s.1);
    host::stop_at(&format!("fault: {what}, at {at:p}"));
}
