//! Archives of sysfs.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(snapshot) = machine::snapshot::read_archive(bytes, "fuzz.tar", None) {
        whole::use_machine(&snapshot.machine);
    }
});
