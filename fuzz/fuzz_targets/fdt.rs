//! Flattened device trees.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(machine) = machine::devicetree::read(bytes, "fuzz.dtb") {
        whole::use_machine(&machine);
    }
});
