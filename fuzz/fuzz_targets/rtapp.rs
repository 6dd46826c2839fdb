//! rt-app's files.
#![no_main]

use machine::CpuSet;
use workload::rtapp::{Costs, Duplicates, Options, Params, UnknownKeys, build, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for duplicates in [Duplicates::InOrder, Duplicates::LastWins] {
        for unknown_keys in [UnknownKeys::Refuse, UnknownKeys::Ignore] {
            if let Ok(app) = read(text, "fuzz.json", Options { duplicates, unknown_keys }) {
                let params = Params { duration_s: Some(1.0), ..Params::default() };
                for deadlines in [false, true] {
                    _ = build(
                        &app,
                        &params,
                        &Costs { nominal_khz: 2e6, online: CpuSet::first_n(4), deadlines },
                    );
                }
            }
        }
    }
});
