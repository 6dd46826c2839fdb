//! Perfetto's protobuf, and what becomes of it as ftrace's text.
#![no_main]

use std::io::Cursor;
use trace::{FileKind, FtraceText, Recording};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // What has other first bytes is for other readers.
    if let Ok(recording) = Recording::new(Cursor::new(bytes))
        && recording.kind() == FileKind::Perfetto
    {
        let _ = recording.read(&mut FtraceText::new(std::io::sink(), &[], true));
    }
});
