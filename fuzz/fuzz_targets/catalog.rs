//! Catalog files.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for machine in [None, Some("a")] {
        if let Ok(machine) = machine::catalog::read(text, "fuzz.toml", machine) {
            whole::use_machine(&machine);
        }
    }
});
