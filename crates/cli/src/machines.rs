//! `schedscape machine`.

use crate::Failure;
use crate::args::{DiffArgs, MachineArgs, MachineFormat, ShowArgs};
use crate::output::{json, print, write_whole};
use machine::{Machine, Snapshot, catalog};
use report::machine_diff;
use report::machine_svg::machine_svg;
use report::machine_tree::machine_tree;
use report::number::significant;
use report::table::table;
use std::process::ExitCode;

/// The machine asked for, with the CPUs online that were asked for.
pub fn resolve(args: &MachineArgs) -> Result<Machine, Failure> {
    Ok(resolve_snapshot(args)?.machine)
}

/// As [`resolve`], with the kernel's release where the machine's source records one.
pub fn resolve_snapshot(args: &MachineArgs) -> Result<Snapshot, Failure> {
    let Snapshot { machine, release } = machine::resolve_snapshot(&args.machine)?;
    let machine = match (args.smt, args.online.clone()) {
        (Some(smt), _) => machine.with_smt(smt)?,
        (None, Some(online)) => machine.with_online(online)?,
        (None, None) => machine,
    };
    Ok(Snapshot { machine, release })
}

pub fn show(args: &ShowArgs) -> Result<(), Failure> {
    let machine = resolve(&args.machine)?;
    let text = text(args, &machine)?;
    match &args.output {
        Some(path) => write_whole(path, &text),
        None => print(&text),
    }
}

fn text(args: &ShowArgs, machine: &Machine) -> Result<String, Failure> {
    let format = if args.json { MachineFormat::Json } else { args.format };
    let whole = !args.small_cores && !args.constants;
    if !whole && !matches!(format, MachineFormat::Tree | MachineFormat::Json) {
        return Err("--format: --small-cores and --constants have text and json only".into());
    }
    Ok(match format {
        MachineFormat::Json if args.small_cores => {
            json(&small_cores(machine)?.into_iter().collect::<serde_json::Map<_, _>>())?
        }
        MachineFormat::Json if args.constants => json(&machine.constants.with_ranges())?,
        MachineFormat::Json => json(machine)?,
        MachineFormat::Tree if args.small_cores => small_cores(machine)?
            .iter()
            .map(|(cpu, list)| format!("{cpu}: {}\n", list.as_str().unwrap_or("")))
            .collect(),
        MachineFormat::Tree if args.constants => constants(machine),
        MachineFormat::Tree => machine_tree(machine),
        MachineFormat::Svg => machine_svg(machine),
        MachineFormat::Hwloc => machine::hwloc::write_xml(machine),
        MachineFormat::Sysfs => machine::form::print(machine),
    })
}

/// Says what differs; exit code 1 where anything does.
pub fn diff(args: &DiffArgs) -> Result<ExitCode, Failure> {
    let (a, b) = (machine::resolve(&args.a)?, machine::resolve(&args.b)?);
    let differences = machine_diff::machine_diff(&a, &b);
    match args.json {
        true => print(&json(&differences)?)?,
        false => print(&machine_diff::text(&differences))?,
    }
    Ok(ExitCode::from(u8::from(!differences.is_empty())))
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
        .map(|(name, c)| {
            let range = c.range_of(name);
            let [low, high] = [range.low, range.high].map(significant);
            vec![
                name.into(),
                c.value.to_string(),
                c.unit.clone(),
                c.mark.to_string(),
                format!("{low} to {high}"),
            ]
        })
        .collect();
    let mut out = table(&["constant", "value", "unit", "known", "range"], &rows);
    out.push('\n');
    for (name, c) in machine.constants.iter() {
        let range = c.range.as_ref().map_or(String::new(), |r| format!("; range: {}", r.source));
        out.push_str(&format!("{name}: {}{range}\n", c.source));
    }
    out
}

pub fn list() -> Result<(), Failure> {
    let names = catalog::names();
    let width = names.iter().map(|name| name.len()).max().map_or(0, |width| width);
    let mut out = format!("{:<width$}  CPUs  title\n", "machine");
    for name in names {
        let machine = catalog::load(name)?;
        out.push_str(&format!("{name:<width$}  {:>4}  {}\n", machine.cpus.len(), machine.title));
    }
    print(&out)
}
