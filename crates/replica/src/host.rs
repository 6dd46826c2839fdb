//! The calls that a library makes: memory, its log, its end.
//!
//! A process has one kernel, so what these note is the process's. They are called on the stacks of the kernel's tasks, which have
//! 64 KiB, room for a backtrace and not for much more.

use crate::abi::{Host, event as kind};
use crate::decisions::{answered, asked};
use crate::{recent, report};
use sim::source::Event;
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, PoisonError};

static LOG: Mutex<String> = Mutex::new(String::new());
static WARNINGS: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());
/// Calls that a message shows.
const MOST_CALLS: usize = 64;
static EVENTS: Events = Events(UnsafeCell::new(Vec::new()));

/// What happened in a turn. A lock would cost more than all else here.
struct Events(UnsafeCell<Vec<Event>>);

// SAFETY: a library is called and calls on one thread, the replica's only one; `take_events` and `event` never run inside each
// other, since a library does not run while its simulator takes what it told.
unsafe impl Sync for Events {}

/// Moves what happened since the last time to `to`, which is empty.
pub(crate) fn take_events(to: &mut Vec<Event>) {
    // SAFETY: see `Events`.
    let events = unsafe { &mut *EVENTS.0.get() };
    std::mem::swap(events, to);
}

/// What a library is given.
pub(crate) static HOST: Host =
    Host { alloc, pages: fresh, free, log, fatal, event, asked, answered };

/// What was logged since the last time.
pub(crate) fn take_log() -> String {
    LOG.lock().map(|mut log| std::mem::take(&mut *log)).unwrap_or_default()
}

/// What the kernel warned of so far, such as `WARN at kernel/sched/fair.c:123`, and who called the first time.
pub(crate) fn warnings() -> Vec<(String, String)> {
    WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).clone()
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

/// Fresh pages are zero, and take no memory until they are used.
pub(crate) extern "C" fn fresh(size: u64) -> *mut c_void {
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping touches nothing that is there.
    let pages =
        unsafe { libc::mmap(std::ptr::null_mut(), size as usize, protection, flags, -1, 0) };
    if pages == libc::MAP_FAILED {
        stop("no memory");
    }
    pages
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
    let text = text(from);
    match report::condensed(&text) {
        Some(report) => stop(&format!("{}{report}{}{}", crate::LAST, before(), recent::told())),
        None => stop_at(text.trim_end()),
    }
}

/// Ends the process with `why`, the functions that called, what was warned of before, and the last events.
pub(crate) fn stop_at(why: &str) -> ! {
    stop(&format!("{why}\n{}{}{}", calls(), before(), recent::told()))
}

/// What was warned of before the end.
pub(crate) fn before() -> String {
    let all = WARNINGS.try_lock();
    let all = all.iter().flat_map(|all| all.iter());
    all.map(|(what, calls)| format!("before, {what}\n{calls}")).collect()
}

/// Who called, innermost first, as far as the kernel's own functions go.
fn calls() -> String {
    let mut lines = Vec::new();
    backtrace::trace(|frame| {
        backtrace::resolve_frame(frame, |symbol| {
            let name = symbol.name().map_or("?".to_string(), |name| name.to_string());
            let file = symbol.filename().map(|f| below_farm(&f.to_string_lossy()).to_string());
            match (file, symbol.lineno()) {
                (Some(file), Some(line)) => lines.push((name, format!("{file}:{line}"))),
                _ => lines.push((name, String::new())),
            }
        });
        lines.len() < MOST_CALLS
    });
    let kernels = lines.iter().filter(|(name, place)| {
        let ours = ["sc_host", "replica::", "backtrace::", "sc_turn", "sc_enter", "sc_tell"];
        !place.contains(".rs:") && !ours.iter().any(|o| name.starts_with(o))
    });
    // What called us last may be a part of this program whose place nobody knows.
    kernels
        .skip_while(|(_, place)| place.is_empty())
        .map(|(name, place)| format!("  {name} {place}\n"))
        .collect()
}

/// The path of a tree's file without the farm that the compiler was given.
pub(crate) fn below_farm(file: &str) -> &str {
    file.find("/farm/").map_or(file, |at| &file[at + "/farm/".len()..])
}

fn stop(why: &str) -> ! {
    eprintln!("{}", why.trim_end());
    std::process::exit(crate::STOPPED);
}

fn warned(what: String) {
    if let Ok(mut all) = WARNINGS.lock() {
        let is_new = !all.iter().any(|(there, _)| *there == what);
        all.push((what, if is_new { calls() } else { String::new() }));
    }
}

extern "C" fn event(event: u32, cpu: u32, a: i64, b: i64) {
    let told = match event {
        kind::WARN => {
            warned(format!("WARN at {}:{a}", below_farm(&text(b as *const c_char))));
            return;
        }
        kind::UNDEFINED => {
            warned(format!("undefined behaviour at {}", below_farm(&text(b as *const c_char))));
            return;
        }
        kind::TIMER => Event::Timer { cpu, at_ns: u64::try_from(a).ok() },
        kind::INTERRUPT => Event::Interrupt { from: cpu, to: a as u32, irqs: b as u32 },
        kind::SWITCH => Event::Switch { cpu, previous: a, next: b },
        kind::WAKING => Event::Waking { cpu, pid: a, by_interrupt: b != 0 },
        kind::WAKEUP => Event::Wakeup { pid: a, onto_idle: b != 0 },
        kind::WAKEUP_NEW => Event::WakeupNew { cpu, pid: a, to: b as u32 },
        kind::MIGRATE => Event::Migrate { pid: a, to: b as u32, pushed: false },
        kind::PUSH => Event::Migrate { pid: a, to: b as u32, pushed: true },
        kind::SWITCHED => Event::Switched { answer: a },
        kind::REFUSED => Event::Refused { pid: a, error: b },
        kind::UTIL => Event::Util { cpu, for_io: a != 0, by: b as u32 },
        kind::CLOCK => Event::Clock { cpu, khz: a as u32, of_policy: b != 0 },
        _ => stop("an event that this build does not know"),
    };
    recent::note(cpu, told);
    // SAFETY: see `Events`.
    unsafe { &mut *EVENTS.0.get() }.push(told);
}
