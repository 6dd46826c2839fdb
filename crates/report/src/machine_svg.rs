//! A machine drawn as nested boxes, in the manner of `lstopo`: an SVG picture for a mail or a web page.

mod boxes;
pub(crate) mod draw;
mod layout;
mod legend;
mod palette;
pub(crate) mod text;

use crate::machine_levels::levels;
use crate::machine_tree::cpu_counts;
use machine::Machine;
use palette::Scale;

/// The machine as a standalone SVG document: packages, NUMA nodes with their memory, dies, clusters, cores, small
/// cores and CPUs as nested boxes, each cache a bar in the box whose CPUs share it, offline CPUs grey and dashed.
/// Below stand the distances of the NUMA nodes, SMT control, capacities and clocks, and what the machine's source
/// cannot tell. Boxes that would span the same CPUs are one. The same machine gives the same bytes.
pub fn machine_svg(machine: &Machine) -> String {
    let levels = levels(machine);
    let scale = Scale::of(machine.cpus.len());
    let mut root = boxes::root(machine, &levels);
    let size = layout::measure(&mut root, &scale);
    let title = format!("{}: {}", machine.name, machine.title);
    let notes = legend::notes(machine, &levels);
    let page = draw::Page::new(&scale, size, legend::Distances::of(machine, &scale));
    page.draw(&title, &cpu_counts(machine), &root, &notes)
}

#[cfg(test)]
mod tests;
