//! Listings of sysfs.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(snapshot) = machine::snapshot::read_listing(text, "fuzz") {
        whole::use_machine(&snapshot.machine);
    }
});
