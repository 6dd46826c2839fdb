//! `schedscape kernel judge`: the model's decisions beside those of kernel trees.

use crate::Failure;
use crate::args::JudgeArgs;
use crate::experiments::{keep_variants, narrowed, on_machines, run_all, source_engine};
use crate::guests::cache;
use crate::output::{print, print_json};
use crate::sources::libraries;
use definition::{ExperimentFile, Plan};
use experiment::Agreements;
use experiment::judge::{Agreement, Kind};
use serde::Serialize;
use std::sync::PoisonError;

/// What makes a library tell its decisions.
const PROBES: &str = "CONFIG_SCHEDSCAPE_PROBES=y";

/// The agreement of one workload under one tree on one machine.
#[derive(Debug, Serialize)]
struct Judged {
    machine: String,
    workload: String,
    variant: String,
    #[serde(flatten)]
    agreement: Agreement,
}

pub fn run(args: &JudgeArgs) -> Result<(), Failure> {
    let path = args.experiment.display().to_string();
    let mut judged = Vec::new();
    for file in on_machines(&args.experiment, &args.machines)? {
        judged.extend(on_machine(chosen(file, args, &path)?, args, &path)?);
    }
    if args.json {
        return print_json(&judged);
    }
    print(&judged.iter().map(|one| shown(one, args.differences)).collect::<String>())
}

/// The part of an experiment that is judged.
fn chosen(file: ExperimentFile, args: &JudgeArgs, path: &str) -> Result<ExperimentFile, Failure> {
    let mut file = narrowed(file, &args.workloads, args.runs)?;
    file.variants.retain(|v| v.source.is_some());
    if file.variants.is_empty() {
        return Err(format!("{path}: found no variant with a source, expected one").into());
    }
    keep_variants(&mut file, &args.variants)?;
    Ok(file)
}

fn on_machine(file: ExperimentFile, args: &JudgeArgs, path: &str) -> Result<Vec<Judged>, Failure> {
    let plan = Plan::new(file, path)?;
    let engine = source_engine(&libraries(&plan, &cache(&args.cache)?, &[PROBES])?)?.judged();
    run_all(&plan, &engine, args.threads, None)?;
    let agreements: Agreements = engine
        .agreements
        .map(|all| all.into_inner().unwrap_or_else(PoisonError::into_inner))
        .unwrap_or_default();
    let judged = |((workload, variant), agreement)| Judged {
        machine: plan.file.machine.clone(),
        workload,
        variant,
        agreement,
    };
    Ok(agreements.into_iter().map(judged).collect())
}

fn shown(one: &Judged, differences: usize) -> String {
    let mut text = format!("{}, {}, {}\n", one.machine, one.workload, one.variant);
    for kind in Kind::ALL {
        let Some(count) = one.agreement.counts.get(&kind) else { continue };
        let share = 100.0 * count.share().unwrap_or(0.0);
        let of = format!("{} of {}", count.same, count.all);
        text += &format!("  {:<16} {of:>20}  {share:6.2} %\n", kind.to_string());
        let of_kind = one.agreement.differences.iter().filter(|d| d.kind == kind);
        for difference in of_kind.take(differences) {
            let (kernel, model) = (difference.kernel, difference.model);
            text += &format!("    kernel {kernel}, model {model}: {}", difference.from);
        }
    }
    text
}
