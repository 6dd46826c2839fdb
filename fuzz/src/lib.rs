//! What every fuzz target does with a machine that a reader let through: all that schedscape does with machines.

#![forbid(unsafe_code)]

use kernel::{Kernel, Version};
use machine::Machine;

/// CPUs up to which a machine is drawn and given domains: larger ones take too long to be tried often.
const MOST_CPUS: usize = 64;

/// Prints the machine in every form, builds the domains of old and new kernels on it, and prints them.
pub fn use_machine(machine: &Machine) {
    if machine.cpus.len() > MOST_CPUS {
        return;
    }
    report::machine_tree::machine_tree(machine);
    report::machine_svg::machine_svg(machine);
    machine::form::print(machine);
    machine::hwloc::write_xml(machine);
    for (major, minor) in [(4, 18), (5, 16), (6, 12), (7, 3)] {
        let kernel = Kernel::new(Version::new(major, minor));
        if let Ok(domains) = kernel::build(machine, &kernel) {
            kernel::log::log(&domains, kernel.version);
            kernel::debugfs::debugfs(&domains, kernel.version);
            report::domains_tree::domains_tree(&domains, kernel.version, &machine.name);
        }
    }
}
