//! The calls that a library makes: memory, its log, its end.
//!
//! A process has one kernel, so what these note is the process's. They are called on the stacks of the kernel's tasks, which have
//! 16 KiB, and so keep to little of it.

use crate::abi::{EVENT_WARN, Host};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

static LOG: Mutex<String> = Mutex::new(String::new());
static WARNINGS: AtomicU64 = AtomicU64::new(0);

/// What a library is given.
pub(crate) static HOST: Host = Host { alloc, free, log, fatal, interrupt, timer, event };

/// What was logged since the last time.
pub(crate) fn take_log() -> String {
    LOG.lock().map(|mut log| std::mem::take(&mut *log)).unwrap_or_default()
}

/// Warnings so far.
pub(crate) fn warnings() -> u64 {
    WARNINGS.load(Ordering::Relaxed)
}

extern "C" fn alloc(size: u64, align: u64) -> *mut c_void {
    let (size, align) = (size.max(1) as usize, (align as usize).max(64));
    let mut memory = std::ptr::null_mut();
    // SAFETY: `memory` is ours to write, and is written only on success; then it holds `size` bytes.
    unsafe {
        if libc::posix_memalign(&mut memory, align, size) != 0 {
            stop("no memory");
        }
        std::ptr::write_bytes(memory.cast::<u8>(), 0, size);
    }
    memory
}

extern "C" fn free(memory: *mut c_void) {
    // SAFETY: a library frees what `alloc` gave it, once.
    unsafe { libc::free(memory) }
}

/// Text of the kernel without the byte pair that tells a message's level.
fn text(from: *const c_char) -> String {
    // SAFETY: the library passes text that ends with a zero.
    let bytes = unsafe { CStr::from_ptr(from) }.to_bytes();
    let bytes = if bytes.first() == Some(&1) { &bytes[2.min(bytes.len())..] } else { bytes };
    String::from_utf8_lossy(bytes).into_owned()
}

extern "C" fn log(from: *const c_char) {
    if let Ok(mut log) = LOG.lock() {
        log.push_str(&text(from));
    }
}

extern "C" fn fatal(from: *const c_char) {
    stop(&text(from));
}

fn stop(why: &str) -> ! {
    eprintln!("{}", why.trim_end());
    std::process::exit(crate::STOPPED);
}

/// While a kernel only boots and switches CPUs, interrupts and timers are its own.
extern "C" fn interrupt(_cpu: u32, _irq: u32) {}

extern "C" fn timer(_cpu: u32, _at_ns: u64) {}

extern "C" fn event(event: u32, _cpu: u32, _a: i64, _b: i64) {
    if event == EVENT_WARN {
        WARNINGS.fetch_add(1, Ordering::Relaxed);
    }
}
