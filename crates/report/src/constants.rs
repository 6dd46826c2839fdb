//! What a machine's constants rest on.

use machine::{Machine, Mark};

/// The calibrated constants with the figures they were fitted on, then the names of the others by mark.
pub fn by_mark(machine: &Machine) -> String {
    let mut out = format!("Constants of {}:\n", machine.name);
    for (name, c) in machine.constants.iter().filter(|(_, c)| c.mark == Mark::Calibrated) {
        let line = format!("calibrated  {name} = {} {}: {}", c.value, c.unit, c.source);
        let options = textwrap::Options::new(96).subsequent_indent("              ");
        out.push_str(&format!("  {}\n", textwrap::fill(&line, options)));
    }
    for mark in [Mark::Measured, Mark::Published, Mark::Assumed] {
        let names: Vec<&str> =
            machine.constants.iter().filter(|(_, c)| c.mark == mark).map(|(n, _)| n).collect();
        if !names.is_empty() {
            let line = format!("{mark:<10}  {}", names.join(", "));
            let options = textwrap::Options::new(96).subsequent_indent("              ");
            out.push_str(&format!("  {}\n", textwrap::fill(&line, options)));
        }
    }
    out
}
