//! hwloc XML.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(machine) = machine::hwloc::read_xml(text, "fuzz.xml") {
        whole::use_machine(&machine);
    }
});
