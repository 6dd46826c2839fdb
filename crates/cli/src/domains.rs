//! `schedscape domains` and `schedscape mechanisms`.

use crate::Failure;
use crate::args::{DomainsArgs, DomainsFormat};
use crate::output::{print, print_json};
use crate::{domains_diff, machines, recorded};
use kernel::{Domains, Kernel, KernelError, MECHANISMS, MechanismId, Version};
use machine::{Arch, Machine, Snapshot};
use report::domains_tree::domains_tree;
use report::setup::study_form;
use serde::Serialize;

/// What domains are built from.
pub struct Question {
    pub machine: Machine,
    pub kernel: Kernel,
    /// The CPU that went offline last, where one did.
    pub went_offline: Option<usize>,
}

impl Question {
    pub fn built(&self, kernel: &Kernel) -> Result<Domains, KernelError> {
        match self.went_offline {
            Some(cpu) => kernel::build_after_offline(&self.machine, kernel, cpu),
            None => kernel::build(&self.machine, kernel),
        }
    }
}

/// `schedscape domains --json`.
#[derive(Serialize)]
struct Document<'a> {
    machine: &'a str,
    kernel: String,
    #[serde(flatten)]
    domains: &'a Domains,
}

pub fn domains(args: &DomainsArgs) -> Result<(), Failure> {
    let question = question(args)?;
    if let Some(what) = &args.diff {
        return domains_diff::diff(args, &question, what);
    }
    let version = question.kernel.version;
    let built = question.built(&question.kernel)?;
    if args.json {
        let machine = question.machine.name.as_str();
        return print_json(&Document { machine, kernel: version.to_string(), domains: &built });
    }
    print(&match args.format {
        DomainsFormat::Log => kernel::log::log(&built, version),
        DomainsFormat::Debugfs => kernel::debugfs::debugfs(&built, version),
        DomainsFormat::Study => study_form(&question.machine, &built, &title(args, version)),
        DomainsFormat::Tree => domains_tree(&built, version, &question.machine.name),
    })
}

fn question(args: &DomainsArgs) -> Result<Question, Failure> {
    let Snapshot { machine, release } = machines::resolve_snapshot(&args.machine)?;
    let mut kernel = match (args.kernel, release) {
        (Some(version), _) => Kernel::new(version),
        (None, Some(release)) => recorded_kernel(&release, &machine)?,
        (None, None) => {
            let spec = &args.machine.machine;
            return Err(format!("{spec}: --kernel: found none, expected a release as 6.12").into());
        }
    };
    kernel = switched(kernel, &args.mechanisms)?;
    let as_recorded = args.machine.smt.is_none() && args.machine.online.is_none();
    let went_offline = match args.went_offline {
        None if as_recorded => recorded::last_offline(&args.machine.machine)?,
        given => given,
    };
    Ok(Question { machine, kernel, went_offline })
}

/// The kernel of `release` on `machine`, with the mechanism off that its configuration lacks: Debian builds arm64
/// without SCHED_CLUSTER before 7.0.
pub fn recorded_kernel(release: &str, machine: &Machine) -> Result<Kernel, Failure> {
    let kernel = Kernel::new(release.parse()?);
    let debian = release.contains("deb");
    let lacks_cluster =
        debian && machine.arch == Arch::Arm64 && kernel.version < Version::new(7, 0);
    Ok(if lacks_cluster { kernel.with(MechanismId::SchedCluster, false) } else { kernel })
}

/// `ppc64_cpu --smt=4` where that was asked for, else the online CPUs.
fn title(args: &DomainsArgs, version: Version) -> String {
    let mechanisms =
        if args.mechanisms.is_empty() { "defaults" } else { &args.mechanisms.join(" ") };
    let smt = args.machine.smt.map_or(String::new(), |smt| format!(" (ppc64_cpu --smt={smt})"));
    format!("{version} with {mechanisms}{smt}")
}

/// `kernel` with mechanisms switched by `--mechanism`.
pub fn switched(mut kernel: Kernel, switches: &[String]) -> Result<Kernel, Failure> {
    for switch in switches {
        let (name, on) = parse_switch("--mechanism", switch)?;
        kernel = kernel.with_named(name, on)?;
    }
    Ok(kernel)
}

/// `kernel` with what `what` changes, given for `option`: `kernel=VERSION`, or a mechanism as `NAME=on|off`.
pub fn changed(kernel: &Kernel, option: &str, what: &str) -> Result<Kernel, Failure> {
    match what.strip_prefix("kernel=") {
        Some(version) => Ok(kernel.clone().at(version.parse::<Version>()?)),
        None => {
            let (name, on) = parse_switch(option, what)?;
            Ok(kernel.clone().with_named(name, on)?)
        }
    }
}

/// `NAME=on` or `NAME=off`, given for `option`.
pub fn parse_switch<'a>(option: &str, text: &'a str) -> Result<(&'a str, bool), Failure> {
    match text.split_once('=') {
        Some((name, "on")) => Ok((name, true)),
        Some((name, "off")) => Ok((name, false)),
        _ => Err(format!("{option}: found `{text}`, expected NAME=on or NAME=off").into()),
    }
}

pub fn mechanisms() -> Result<(), Failure> {
    let mut out = String::new();
    for m in MECHANISMS {
        let study = m.study.map_or(String::new(), |s| format!(", study {s}"));
        out.push_str(&format!("{}  ({}{study})\n    {}\n", m.name, m.default, m.what));
    }
    print(&out)
}
