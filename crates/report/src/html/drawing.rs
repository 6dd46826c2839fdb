//! The machine on a page.

use super::pictures::file_name;
use crate::charts::Picture;
use crate::machine_svg::machine_svg;
use crate::machine_tree::machine_tree;
use machine::Machine;

/// The machine as a picture and as a tree.
#[derive(Debug)]
pub(crate) struct Drawing {
    pub(crate) title: String,
    pub(crate) tree: String,
    pub(crate) picture: Picture,
}

impl Drawing {
    pub(crate) fn of(machine: &Machine) -> Drawing {
        let title = machine.title.clone();
        let picture = Picture {
            name: file_name(&["machine", &machine.name]),
            title: title.clone(),
            svg: machine_svg(machine),
            is_titled: true,
        };
        Drawing { title, tree: machine_tree(machine), picture }
    }
}
