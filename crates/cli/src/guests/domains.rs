//! `schedscape vm domains`.

use super::cache;
use super::guest::Ready;
use crate::Failure;
use crate::args::{DomainsFormat, VmDomainsArgs};
use crate::domains::Question;
use crate::domains_diff::{Differ, of_step};
use crate::kernels::differences;
use crate::output::print;
use crate::{images, machines, recorded};
use machine::Machine;
use report::domains_tree::domains_tree;
use report::setup::study_form;
use results::store::{self, TEMPORARY_PREFIX};
use std::path::Path;
use vm::board::GuestCpu;
use vm::capture::{Step, online_after};

/// The step after CPUs went offline.
const STEP: &str = "asked";

pub fn domains(args: &VmDomainsArgs) -> Result<(), Failure> {
    args.keep.as_deref().map_or(Ok(()), store::check_new)?;
    let asked = machines::resolve(&args.machine)?;
    let whole = Machine { online: asked.possible(), ..asked.clone() };
    let ready = Ready::new(&whole, args.plain, &args.guest)?;
    ready.announce()?;
    // The last CPUs go first, as `ppc64_cpu --smt` and users do it.
    let offline: Vec<GuestCpu> = ready
        .board
        .cpus()
        .rev()
        .filter(|&(_, cpu)| !asked.online.contains(cpu))
        .map(|(guest, _)| guest)
        .collect();
    let steps: Vec<Step> = match offline.is_empty() {
        true => Vec::new(),
        false => vec![Step { name: STEP.to_owned(), offline }],
    };
    let work = tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempdir()?;
    let dir = args.keep.clone().unwrap_or_else(|| work.path().join("capture"));
    ready.capture(&asked.name, &steps, false, &dir)?;
    let step = dir.join(steps.last().map_or("boot", |step| step.name.as_str()));
    show(args, &ready, &steps, &step)
}

/// Where the domains of the tree's own code in the simulator differ from the prediction, if the kernel is built from a tree.
fn simulated(
    args: &VmDomainsArgs,
    ready: &Ready,
    machine: &Machine,
    last: Option<usize>,
) -> Result<Option<Vec<String>>, Failure> {
    match images::scheduler(&args.guest.own, &cache(&args.guest.cache)?)? {
        None => Ok(None),
        Some(library) => Ok(Some(differences(&library, machine, &ready.model, last)?)),
    }
}

fn show(args: &VmDomainsArgs, ready: &Ready, steps: &[Step], dir: &Path) -> Result<(), Failure> {
    let spec = dir.display().to_string();
    let (files, log) = (recorded::captured(&spec)?, recorded::log(&spec)?);
    let log =
        log.ok_or_else(|| format!("{spec}: found no attach.log, expected the kernel's log"))?;
    let version = ready.model.version;
    let online = online_after(ready.described.possible(), steps);
    let machine = ready.described.with_online(online)?;
    if args.diff {
        let last = steps.last().and_then(|s| s.offline.last()).map(|cpu| cpu.0 as usize);
        let (name, release) = (&ready.board.machine.name, &ready.kernel.release);
        let simulated = simulated(args, ready, &machine, last)?;
        let question = Question { machine, kernel: ready.model.clone(), went_offline: last };
        let built = question.built(&question.kernel)?;
        let guest = of_step(&spec, &question, &built)?;
        print(&match &guest {
            None => format!("{name}: kernel {release} builds the predicted domains.\n"),
            Some(text) => text.clone(),
        })?;
        if let Some(differences) = &simulated {
            let lines: String = differences.iter().map(|line| format!("  {line}\n")).collect();
            print(&match differences.is_empty() {
                true => format!("{name}: the tree's code in the simulator builds them as well.\n"),
                false => format!("{name}: the tree's code in the simulator:\n{lines}"),
            })?;
        }
        let same = guest.is_none() && simulated.is_none_or(|differences| differences.is_empty());
        return if same { Ok(()) } else { Err(Box::new(Differ)) };
    }
    let built = || kernel::recorded::domains(&log, &files);
    print(&match args.format {
        DomainsFormat::Log => log.clone(),
        DomainsFormat::Debugfs => kernel::recorded::debugfs::shown(&files, version)
            .iter()
            .map(|(path, value)| format!("{path}: {value}\n"))
            .collect(),
        DomainsFormat::Study => {
            study_form(&machine, &built()?, &format!("kernel {}", ready.kernel.release))
        }
        DomainsFormat::Tree => {
            domains_tree(&built()?, version, &format!("{}, as a guest", ready.board.machine.name))
        }
    })
}
