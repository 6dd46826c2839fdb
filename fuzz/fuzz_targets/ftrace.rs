//! ftrace's text, and what becomes of it in both forms.
#![no_main]

use trace::{About, FtraceText, Perfetto};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = trace::read(bytes, &mut FtraceText::new(std::io::sink(), &[], true));
    if let Ok(mut perfetto) = Perfetto::new(std::io::sink(), &About::default()) {
        let _ = trace::read(bytes, &mut perfetto);
    }
});
