//! `schedscape machine`.

use crate::Failure;
use crate::args::{MachineArgs, ShowArgs};
use crate::output::{print, print_json};
use machine::{Machine, Snapshot, catalog};
use report::machine_tree::machine_tree;
use report::table::table;

/// The machine asked for, with the CPUs online that were asked for.
pub fn resolve(args: &MachineArgs) -> Result<Machine, Failure> {
    Ok(resolve_snapshot(args)?.machine)
}

/// As [`resolve`], with the kernel's release where the machine's source records one.
pub fn resolve_snapshot(args: &MachineArgs) -> Result<Snapshot, Failure> {
    let Snapshot { machine, release } = machine::resolve_snapshot(&args.machine)?;
    let machine = match (args.smt, args.online) {
        (Some(smt), _) => machine.with_smt(smt)?,
        (None, Some(online)) => machine.with_online(online)?,
        (None, None) => machine,
    };
    Ok(Snapshot { machine, release })
}

pub fn show(args: &ShowArgs) -> Result<(), Failure> {
    let machine = resolve(&args.machine)?;
    match (args.json, args.small_cores, args.constants) {
        (true, true, _) => {
            print_json(&small_cores(&machine)?.into_iter().collect::<serde_json::Map<_, _>>())
        }
        (true, false, true) => print_json(&machine.constants),
        (true, false, false) => print_json(&machine),
        (false, true, _) => {
            let lines = small_cores(&machine)?;
            let lines =
                lines.iter().map(|(cpu, list)| format!("{cpu}: {}\n", list.as_str().unwrap_or("")));
            print(&lines.collect::<String>())
        }
        (false, false, true) => print(&constants(&machine)),
        (false, false, false) => print(&machine_tree(&machine)),
    }
}

/// By online CPU: `cpuN` and its small-core siblings as a list.
fn small_cores(machine: &Machine) -> Result<Vec<(String, serde_json::Value)>, Failure> {
    machine
        .online
        .iter()
        .map(|cpu| match machine.small_core_siblings(cpu) {
            Some(siblings) => Ok((format!("cpu{cpu}"), siblings.to_string().into())),
            None => Err(format!(
                "{}: small cores: CPU {cpu} is in no group of ibm,thread-groups with property 1",
                machine.name
            )
            .into()),
        })
        .collect()
}

fn constants(machine: &Machine) -> String {
    let rows: Vec<Vec<String>> = machine
        .constants
        .iter()
        .map(|(name, c)| vec![name.into(), c.value.to_string(), c.unit.clone(), c.mark.to_string()])
        .collect();
    let mut out = table(&["constant", "value", "unit", "known"], &rows);
    out.push('\n');
    for (name, c) in machine.constants.iter() {
        out.push_str(&format!("{name}: {}\n", c.source));
    }
    out
}

pub fn list() -> Result<(), Failure> {
    let mut rows = Vec::new();
    for name in catalog::names() {
        let machine = catalog::load(name)?;
        rows.push(vec![name.to_string(), machine.cpus.len().to_string(), machine.title]);
    }
    print(&table(&["machine", "CPUs", "title"], &rows))
}
