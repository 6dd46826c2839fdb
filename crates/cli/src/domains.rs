//! `schedscape domains` and `schedscape mechanisms`.

use crate::Failure;
use crate::args::{DomainsArgs, DomainsFormat};
use crate::machines;
use crate::output::print;
use kernel::{Domains, Kernel, MECHANISMS};
use machine::Machine;

pub fn domains(args: &DomainsArgs) -> Result<(), Failure> {
    let machine = machines::resolve(&args.machine)?;
    let mut kernel = Kernel::new(args.kernel);
    for switch in &args.mechanisms {
        let (name, on) = parse_switch(switch)?;
        kernel = kernel.with_named(name, on)?;
    }
    let built = kernel::build(&machine, &kernel)?;
    print(&match args.format {
        DomainsFormat::Log => kernel::log::log(&built, kernel.version),
        DomainsFormat::Debugfs => kernel::debugfs::debugfs(&built, kernel.version),
        DomainsFormat::Study => study_form(&machine, &built, &title(args)),
    })
}

/// `ppc64_cpu --smt=4` where that was asked for, else the online CPUs.
fn title(args: &DomainsArgs) -> String {
    let mechanisms =
        if args.mechanisms.is_empty() { "defaults" } else { &args.mechanisms.join(" ") };
    let smt = args.machine.smt.map_or(String::new(), |smt| format!(" (ppc64_cpu --smt={smt})"));
    format!("{} with {mechanisms}{smt}", args.kernel)
}

/// The big-core study's block, for the first two online CPUs.
pub fn study_form(machine: &Machine, built: &Domains, title: &str) -> String {
    let cpus: Vec<usize> = machine.online.iter().take(2).collect();
    kernel::log::study_form(built, &cpus, title)
}

fn parse_switch(text: &str) -> Result<(&str, bool), Failure> {
    match text.split_once('=') {
        Some((name, "on")) => Ok((name, true)),
        Some((name, "off")) => Ok((name, false)),
        _ => Err(format!("--mechanism: found `{text}`, expected NAME=on or NAME=off").into()),
    }
}

pub fn mechanisms() -> Result<(), Failure> {
    let mut out = String::new();
    for m in MECHANISMS {
        let study = m.study.map_or(String::new(), |s| format!(", study {s}"));
        out.push_str(&format!("{}  (since {}{study})\n    {}\n", m.name, m.since, m.what));
    }
    print(&out)
}
