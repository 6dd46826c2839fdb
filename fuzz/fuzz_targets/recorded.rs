//! What kernels recorded of their domains: logs, CPU lists and masks, a capture's configuration.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let kernel = kernel::Kernel::new(kernel::Version::new(6, 12));
    let machine = machine::catalog::load("power9-big-core").expect("a machine of the catalog");
    let domains = kernel::build(&machine, &kernel).expect("domains of a machine of the catalog");
    for extent in [kernel::recorded::log::Extent::Whole, kernel::recorded::log::Extent::LastRebuild]
    {
        let _ = kernel::recorded::log::compare(&domains, kernel.version, text, extent);
    }
    let _ = kernel::recorded::domains(
        text,
        &kernel::recorded::debugfs::predicted(&domains, kernel.version),
    );
    let _ = kernel::recorded::last_offline(text, "boot");
    let _ = text.parse::<machine::CpuSet>();
    let _ = machine::CpuSet::from_mask(text);
    let _ = text.parse::<kernel::Version>();
});
