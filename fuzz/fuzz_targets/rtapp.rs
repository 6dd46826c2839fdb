//! rt-app's files.
#![no_main]

use workload::rtapp::{Duplicates, Options, UnknownKeys, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for duplicates in [Duplicates::InOrder, Duplicates::LastWins] {
        for unknown_keys in [UnknownKeys::Refuse, UnknownKeys::Ignore] {
            _ = read(text, "fuzz.json", Options { duplicates, unknown_keys });
        }
    }
});
