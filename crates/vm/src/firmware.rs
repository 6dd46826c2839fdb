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
    let path = device_tree(qemu, &board.arguments, &board.thread_groups, work)?;
    let tree = std::fs::read(&path).map_err(VmError::io(&path))?;
    Ok(machine::devicetree::read(&tree, &board.machine.name)?)
}

/// The device tree that QEMU makes of `arguments`, kernel and command line among them, with `thread_groups` added
/// (see [`Board::thread_groups`]): a file in `work`.
///
/// # Errors
/// QEMU that does not take the arguments, and a tree without the cores.
pub fn device_tree(
    qemu: &Qemu,
    arguments: &[String],
    thread_groups: &BTreeMap<u32, Vec<u32>>,
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
    let edited = machine::devicetree::with_thread_groups(&tree, &name, thread_groups)?;
    let path = work.join("machine.dtb");
    std::fs::write(&path, edited).map_err(VmError::io(&path))?;
    Ok(path)
}
