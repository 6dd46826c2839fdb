//! What a guest's firmware says: QEMU's own description of its machine, edited where it lacks something.

use crate::VmError;
use crate::board::Board;
use crate::host::run;
use crate::qemu::Qemu;
use machine::Machine;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The machine that the firmware of `board` describes to a guest; files go to `work`.
///
/// # Errors
/// QEMU that does not take the arguments, and a description that cannot be read or edited.
pub fn described(board: &Board, qemu: &Qemu, work: &Path) -> Result<Machine, VmError> {
    if board.machine.arch != machine::Arch::Powerpc {
        return Ok(machine::qemu::read(&board.spec())?);
    }
    let edits = TreeEdits { thread_groups: &board.thread_groups, timer_hz: None };
    let path = device_tree(qemu, &board.arguments, edits, work)?;
    let tree = std::fs::read(&path).map_err(VmError::io(&path))?;
    let machine = machine::devicetree::read(&tree, &board.machine.name)?;
    Ok(match board.is_bare_metal() {
        true => with_nodes_of_firmware(machine, &machine::qemu::read(&board.spec())?),
        false => machine,
    })
}

/// On bare metal chips are nodes because the firmware (skiboot) adds that to QEMU's tree; `booted` has them.
fn with_nodes_of_firmware(mut machine: Machine, booted: &Machine) -> Machine {
    for (cpu, of) in machine.cpus.iter_mut().zip(&booted.cpus) {
        (cpu.node, cpu.package, cpu.die) = (of.node, of.package, of.die);
        cpu.ids = of.ids;
    }
    machine.nodes.clone_from(&booted.nodes);
    machine
}

/// What a device tree gets that QEMU's own lacks.
#[derive(Debug, Clone, Copy)]
pub struct TreeEdits<'a> {
    /// Thread groups of cores (see [`Board::thread_groups`]).
    pub thread_groups: &'a BTreeMap<u32, Vec<u32>>,
    /// The frequency in Hz that arm's timers are said to have.
    pub timer_hz: Option<u32>,
}

impl TreeEdits<'_> {
    /// Whether QEMU's own tree has everything.
    pub fn is_empty(&self) -> bool {
        self.thread_groups.is_empty() && self.timer_hz.is_none()
    }
}

/// The device tree that QEMU makes of `arguments`, kernel and command line among them, with `edits`: a file in `work`.
///
/// # Errors
/// QEMU that does not take the arguments, and a tree without the cores.
pub fn device_tree(
    qemu: &Qemu,
    arguments: &[String],
    edits: TreeEdits,
    work: &Path,
) -> Result<PathBuf, VmError> {
    let dump = work.join("qemu.dtb");
    let mut command = qemu.command();
    command.args(["-display", "none", "-monitor", "none", "-serial", "none", "-nic", "none"]);
    let mut of_machine = false;
    for argument in arguments {
        match of_machine {
            true => command.arg(format!("{argument},dumpdtb={}", dump.display())),
            false => command.arg(argument),
        };
        of_machine = argument == "-M";
    }
    run(&mut command)?;
    let tree = std::fs::read(&dump).map_err(VmError::io(&dump))?;
    let name = dump.display().to_string();
    let mut edited = machine::devicetree::with_thread_groups(&tree, &name, edits.thread_groups)?;
    if let Some(hz) = edits.timer_hz {
        edited = machine::devicetree::with_timer_frequency(&edited, &name, hz)?;
    }
    let path = work.join("machine.dtb");
    std::fs::write(&path, edited).map_err(VmError::io(&path))?;
    Ok(path)
}
