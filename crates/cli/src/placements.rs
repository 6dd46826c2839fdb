//! Tables of wake-ups that a model was asked about.

use crate::Failure;
use crate::args::InspectArgs;
use crate::domains::{changed, switched};
use follow::placement::{Count, Difference, Elsewhere, Ground, Judged, Placements, Rules};
use kernel::Kernel;
use machine::Machine;
use report::table::fitted;
use trace::Recording;

/// The trace's wake-ups beside the model of the kernel that was named, and beside other rules; none without a kernel.
pub fn judged(args: &InspectArgs, machine: &Machine) -> Result<Option<Judged>, Failure> {
    let Some(version) = args.kernel else { return Ok(None) };
    let kernel = switched(Kernel::new(version), &args.mechanisms)?;
    let others = args.rules.iter().map(|rule| changed(&kernel, "--rule", rule));
    let others = others.collect::<Result<Vec<Kernel>, _>>()?;
    let ground = |kernel: &Kernel| Ground::new(machine, kernel);
    let (in_force, others) =
        (ground(&kernel)?, others.iter().map(ground).collect::<Result<Vec<Ground>, _>>()?);
    let mut rules = Rules::new(machine, &in_force, &others);
    let read = Recording::open(&args.trace).and_then(|recording| recording.read(&mut rules));
    read.map_err(|e| format!("{}: {e}", args.trace.display()))?;
    Ok(rules.finish())
}

/// The judgement as text.
pub fn judgement(judged: &Judged, args: &InspectArgs) -> String {
    let version = args.kernel.map_or(String::new(), |version| version.to_string());
    let mut text = format!("\nWake-ups beside the model of {version}\n\n");
    text += &placements(&judged.placements, args.differences);
    for (name, rule) in args.rules.iter().zip(&judged.rules) {
        text += &elsewhere(name, rule);
    }
    text
}

fn elsewhere(name: &str, of: &Elsewhere) -> String {
    let share = |part: u64| 100.0 * part as f64 / of.asked.max(1) as f64;
    let mut text = format!(
        "\nUnder `{name}`, {} of {} wake-ups ({:.2} %) go to another CPU, {} ({:.2} %) to another last-level cache;\n\
         in {} the trace determines both choices\n",
        of.other_cpu,
        of.asked,
        share(of.other_cpu),
        of.other_llc,
        share(of.other_llc),
        of.determined
    );
    if of.other_cpu == 0 {
        return text;
    }
    let mean = |sum: u64| sum as f64 / of.other_cpu as f64;
    let [here, there] = of.queued.map(mean);
    text += &format!(
        "tasks already on the CPU taken, on average: {here:.2} as it is, {there:.2} under the rule\n\n"
    );
    let rows: Vec<Vec<String>> = of
        .ways
        .iter()
        .flat_map(|(&from, to)| {
            to.iter().map(move |(&to, n)| vec![from.to_owned(), to.to_owned(), n.to_string()])
        })
        .collect();
    text + &fitted(&["from the last CPU, as it is", "under the rule", "wake-ups"], &rows, 2)
}

/// Counts by what decides, and the first `differences` differences.
pub fn placements(of: &Placements, differences: usize) -> String {
    let mut text =
        format!("  {:<28} {:>9} {:>10} {:>10}\n", "", "wake-ups", "same CPU", "same LLC");
    let rows = of.rows();
    let shown = rows.iter().enumerate().filter(|(at, (_, count))| *at == 0 || count.all > 0);
    text.extend(shown.map(|(_, &(name, count))| row(name, count)));
    text += &row("all", of.all());
    if of.repairs > 0 {
        text += &format!("  {} records did not fit the state before them\n", of.repairs);
    }
    text.extend(of.differences.iter().take(differences).map(difference));
    text
}

fn row(name: &str, count: Count) -> String {
    let share = |of: f64| format!("{:.2} %", 100.0 * of);
    let (cpu, llc) = match count.shares() {
        Some((cpu, llc)) => (share(cpu), share(llc)),
        None => ("-".to_string(), "-".to_string()),
    };
    format!("  {name:<28} {:>9} {cpu:>10} {llc:>10}\n", count.all)
}

fn difference(d: &Difference) -> String {
    let sync = if d.sync == Some(true) { ", sync" } else { "" };
    let at_s = d.at_ns as f64 / 1e9;
    let queue = |&(tasks, coming): &(u32, u32)| match coming {
        0 => tasks.to_string(),
        _ => format!("{tasks}+{coming}"),
    };
    let queues = d.queues.iter().map(queue).collect::<Vec<_>>().join(" ");
    format!(
        "  {at_s:.6} s: {} wakes {} on CPU {}{sync}; it last ran on {}; kernel {}, model {}; queues {queues}\n",
        d.waker, d.task, d.cpu, d.previous, d.kernel, d.model
    )
}
