//! `schedscape vm check`: a kernel's wake-ups beside the model's.

use super::guest::stop_on_signals;
use super::run::{bench, tell};
use crate::Failure;
use crate::args::VmCheckArgs;
use crate::experiments::{keep_variants, narrowed, on_machines};
use crate::output::{print, print_json};
use crate::placements::placements as blocks;
use crate::progress::bar;
use definition::Plan;
use experiment::guests::Traced;
use follow::placement::{FirstPass, Ground, Inferred, Placements, Probed};
use report::inspection::Block;
use serde::Serialize;
use std::process::ExitCode;
use vm::Accel;

/// Length of a guest's instruction as a power of two, in ns.
const COUNTED_SHIFT: u8 = 1;

/// A workload under a variant on a machine.
#[derive(Debug, Serialize)]
struct Checked {
    machine: String,
    workload: String,
    variant: String,
    /// The kernel's release.
    kernel: String,
    /// Records that the kernel lost for want of room.
    lost: u64,
    #[serde(flatten)]
    placements: Placements,
    /// What the same trace gives without its probes, as any other machine's.
    inferred: Placements,
}

/// Runs each cell once in a guest, and holds the model against it.
pub fn check(args: &VmCheckArgs) -> Result<ExitCode, Failure> {
    let path = args.experiment.display().to_string();
    let mut all = Vec::new();
    for file in on_machines(&args.experiment, &args.machines)? {
        let mut file = narrowed(file, &args.workloads, None)?;
        keep_variants(&mut file, &args.variants)?;
        all.extend(on_machine(Plan::new(file, &path)?, args)?);
    }
    match args.json {
        true => print_json(&all)?,
        false => print(&all.iter().map(|one| shown(one, args.differences)).collect::<String>())?,
    }
    Ok(ExitCode::from(u8::from(!all.iter().all(|one| reaches(one, &args.at_least)))))
}

fn on_machine(plan: Plan, args: &VmCheckArgs) -> Result<Vec<Checked>, Failure> {
    let name = plan.file.machine.clone();
    let (bench, mut options) = bench(plan, &args.guest, 1)?;
    // One CPU at a time, so that little happens during a wake-up.
    if options.accel == Accel::Tcg {
        options.accel = Accel::Counted { shift: COUNTED_SHIFT };
    }
    let bar = bar("{spinner} {msg}, {elapsed}")?;
    let stop = stop_on_signals()?;
    let mut all = Vec::new();
    for (workload, variant) in bench.cells() {
        if bench.is_bound(workload) {
            anstream::eprintln!(
                "vm: workload `{workload}` is left out: it is bound to CPUs, which no trace tells"
            );
            continue;
        }
        let traced = bench.trace(&options, (workload, variant), &stop, &mut |t| tell(&bar, t))?;
        bar.set_message(format!("{workload}, {variant}"));
        let compared = compared(&traced).map_err(|e| format!("{workload}, {variant}: {e}"));
        let (lost, placements, inferred) = compared?;
        all.push(Checked {
            machine: name.clone(),
            workload: workload.to_string(),
            variant: variant.to_string(),
            kernel: traced.release.clone(),
            lost,
            placements,
            inferred,
        });
    }
    bar.finish_and_clear();
    Ok(all)
}

/// The trace's wake-ups judged by the model of its kernel, on the machine that the guest had: with the probes and without.
fn compared(traced: &Traced) -> Result<(u64, Placements, Placements), Failure> {
    let ground = Ground::new(&traced.machine, &traced.kernel)?;
    let all = traced.machine.possible();
    let bound = traced.answer.affinity.iter().filter(|(_, cpus)| **cpus != all);
    let bound = bound.map(|(&pid, cpus)| (pid, cpus.clone())).collect();
    let text = || traced.answer.trace().ok_or("found no timeline, expected one");
    let mut first = FirstPass::default();
    trace::read(text()?, &mut first)?;
    let mut judge = Probed::new(&ground, &first, bound);
    let read = trace::read(text()?, &mut judge)?;
    let placements = judge.finish();
    if placements.all().all == 0 {
        return Err(format!(
            "kernel {}: found no probe of select_task_rq_fair, expected CONFIG_KPROBE_EVENTS",
            traced.release
        )
        .into());
    }
    let mut without = Inferred::new(&ground, &first, Vec::new());
    trace::read(text()?, &mut without)?;
    Ok((read.lost, placements, without.finish()))
}

/// Whether the shares of the determined wake-ups are what was asked for.
fn reaches(one: &Checked, at_least: &[f64]) -> bool {
    let Some((cpu, llc)) = one.placements.determined.shares() else { return at_least.is_empty() };
    [cpu, llc].iter().zip(at_least).all(|(share, least)| 100.0 * share >= *least)
}

fn shown(one: &Checked, differences: usize) -> String {
    let Checked { machine, workload, variant, kernel, lost, placements, inferred } = one;
    let mut text = format!("{machine}, {workload}, {variant} ({kernel})\n");
    let counts =
        |of: &Placements| -> String { blocks(of, differences).iter().map(Block::text).collect() };
    text += &counts(placements);
    if *lost > 0 {
        text += &format!("the kernel lost {lost} records for want of room\n");
    }
    text += "without the probes, as any other trace is judged:\n";
    text += &counts(inferred);
    text
}
