//! `schedscape domains` and `schedscape mechanisms`.

use crate::Failure;
use crate::args::{DomainsArgs, DomainsFormat};
use crate::machines;
use crate::output::print;
use kernel::{Kernel, MECHANISMS};

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
        DomainsFormat::Study => report::domains::smt_domain(&built),
    })
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
