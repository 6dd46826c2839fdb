//! `schedscape vm domains`.

use super::guest::Ready;
use crate::Failure;
use crate::args::{DomainsFormat, VmDomainsArgs};
use crate::domains::Question;
use crate::domains_diff::{Differ, of_step};
use crate::output::print;
use crate::{machines, recorded};
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
        let question = Question { machine, kernel: ready.model.clone(), went_offline: last };
        let built = question.built(&question.kernel)?;
        return match of_step(&spec, &question, &built)? {
            None => print(&format!(
                "{}: kernel {} builds the predicted domains.\n",
                ready.board.machine.name, ready.kernel.release
            )),
            Some(text) => {
                print(&text)?;
                Err(Box::new(Differ))
            }
        };
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
