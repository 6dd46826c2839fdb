//! What a guest's firmware says: QEMU's own description of its machine, edited where it lacks something.

use crate::board::Board;
use crate::host::run;
use crate::qemu::Qemu;
use crate::VmError;
use machine::Machine;
use std::path::Path;

/// A board whose firmware is ready.
#[derive(Debug, Clone)]
pub struct Firmware {
    /// QEMU's arguments for the machine, its firmware included.
    pub arguments: Vec<String>,
    /// The machine that the firmware describes to the guest.
    pub machine: Machine,
}

impl Firmware {
    /// Makes the firmware of `board`, with files in `work`. On POWER QEMU writes its device tree, thread groups are
    /// added to it, and the guest boots from that.
    ///
    /// # Errors
    /// QEMU that does not take the arguments, and a tree that cannot be read or edited.
    pub fn of(board: &Board, qemu: &Qemu, work: &Path) -> Result<Firmware, VmError> {
        let mut arguments = board.arguments.clone();
        let machine = if board.machine.arch == machine::Arch::Powerpc {
            let tree = device_tree(board, qemu, work)?;
            let path = work.join("machine.dtb");
            std::fs::write(&path, &tree).map_err(VmError::io(&path))?;
            let name = path.display().to_string();
            arguments.extend(["-dtb".to_owned(), name.clone()]);
            machine::devicetree::read(&tree, &name)?
        } else {
            machine::qemu::read(&board.spec())?
        };
        Ok(Firmware { arguments, machine })
    }
}

fn device_tree(board: &Board, qemu: &Qemu, work: &Path) -> Result<Vec<u8>, VmError> {
    let dump = work.join("qemu.dtb");
    let mut command = qemu.command();
    command.args(["-display", "none", "-monitor", "none", "-serial", "none", "-nic", "none"]);
    let dumping = format!(",dumpdtb={}", dump.display());
    let mut after_machine = false;
    for argument in &board.arguments {
        let with = if after_machine { argument.clone() + &dumping } else { argument.clone() };
        after_machine = argument == "-M";
        command.arg(with);
    }
    run(&mut command)?;
    let tree = std::fs::read(&dump).map_err(VmError::io(&dump))?;
    Ok(machine::devicetree::with_thread_groups(
        &tree,
        &dump.display().to_string(),
        &board.thread_groups,
    )?)
}
