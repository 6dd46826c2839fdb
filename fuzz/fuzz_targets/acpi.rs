//! ACPI tables, one after the other.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(tables) = machine::acpi::split(bytes, "fuzz") else { return };
    let tables: Vec<(&str, &[u8])> = tables.into_iter().map(|table| ("fuzz", table)).collect();
    if let Ok(machine) = machine::acpi::read_tables(&tables, "fuzz") {
        whole::use_machine(&machine);
    }
});
