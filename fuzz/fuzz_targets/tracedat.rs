//! trace-cmd's trace.dat, and what becomes of it as ftrace's text.
#![no_main]

use std::io::Cursor;
use trace::{FtraceText, Recording};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // What has other first bytes is for other readers.
    if bytes.starts_with(b"\x17\x08\x44tracing")
        && let Ok(recording) = Recording::new(Cursor::new(bytes))
    {
        let _ = recording.read(&mut FtraceText::new(std::io::sink(), &[], true));
    }
});
