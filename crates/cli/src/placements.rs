//! Wake-ups that a model was asked about.

use crate::Failure;
use crate::args::InspectArgs;
use crate::domains::{changed, switched};
use crate::recordings;
use follow::placement::{
    Count, Difference, Elsewhere, FirstPass, Ground, Judged, Placements, Rules,
};
use kernel::Kernel;
use machine::Machine;
use report::inspection::{Block, Cells, Part};

/// The trace's wake-ups beside the model of the kernel that was named, and beside other rules; none without a kernel.
pub fn judged(
    args: &InspectArgs,
    machine: &Machine,
    first: &FirstPass,
) -> Result<Option<Judged>, Failure> {
    let Some(version) = args.kernel else { return Ok(None) };
    let kernel = switched(Kernel::new(version), &args.mechanisms)?;
    let others = args.rules.iter().map(|rule| changed(&kernel, "--rule", rule));
    let others = others.collect::<Result<Vec<Kernel>, _>>()?;
    let ground = |kernel: &Kernel| Ground::new(machine, kernel);
    let (in_force, others) =
        (ground(&kernel)?, others.iter().map(ground).collect::<Result<Vec<Ground>, _>>()?);
    let mut rules = Rules::new(machine, &in_force, &others, first);
    recordings::read(&args.trace, &mut rules)?;
    Ok(rules.finish())
}

/// The judgement as a part of what is told of the trace.
pub fn judgement(judged: &Judged, args: &InspectArgs) -> Part {
    let version = args.kernel.map_or(String::new(), |version| version.to_string());
    let rules = args.rules.iter().zip(&judged.rules);
    let mut blocks = placements(&judged.placements, args.differences);
    blocks.extend(rules.flat_map(|(name, rule)| elsewhere(name, rule)));
    Part {
        id: "judged",
        title: format!("Wake-ups beside the model of {version}"),
        note: "By what decides where a woken task goes, as far as the trace tells it.".to_string(),
        blocks,
    }
}

fn elsewhere(name: &str, of: &Elsewhere) -> Vec<Block> {
    let share = |part: u64| 100.0 * part as f64 / of.asked.max(1) as f64;
    let mut words = format!(
        "Under {name}, {} of {} wake-ups ({:.2} %) go to another CPU, {} ({:.2} %) to another last-level cache; \
         in {} the trace determines both choices.",
        of.other_cpu,
        of.asked,
        share(of.other_cpu),
        of.other_llc,
        share(of.other_llc),
        of.determined
    );
    if of.other_cpu == 0 {
        return vec![Block::Words(words)];
    }
    let [here, there] = of.queued.map(|sum| sum as f64 / of.other_cpu as f64);
    words += &format!(
        " Tasks already on the CPU taken, on average: {here:.2} as it is, {there:.2} under the rule."
    );
    let rows = of.ways.iter().flat_map(|(&from, to)| {
        to.iter().map(move |(&to, n)| vec![from.to_owned(), to.to_owned(), n.to_string()])
    });
    let cells = Cells {
        columns: vec!["from the last CPU, as it is", "under the rule", "wake-ups"],
        names: 2,
        rows: rows.collect(),
    };
    vec![Block::Words(words), Block::Cells(cells)]
}

/// Counts by what decides, and the first `differences` differences.
pub fn placements(of: &Placements, differences: usize) -> Vec<Block> {
    let rows = of.rows();
    let shown = rows.into_iter().enumerate().filter(|(at, (_, count))| *at == 0 || count.all > 0);
    let shown = shown.map(|(_, (name, count))| row(name, count));
    let cells = Cells {
        columns: vec!["what decides", "wake-ups", "same CPU", "same LLC"],
        names: 1,
        rows: shown.chain([row("all", of.all())]).collect(),
    };
    let mut blocks = vec![Block::Cells(cells)];
    if of.repairs > 0 {
        let words = format!("{} records did not fit the state before them.", of.repairs);
        blocks.push(Block::Words(words));
    }
    let lines: String = of.differences.iter().take(differences).map(difference).collect();
    if !lines.is_empty() {
        blocks.push(Block::Lines(lines));
    }
    blocks
}

fn row(name: &str, count: Count) -> Vec<String> {
    let share = |of: f64| format!("{:.2} %", 100.0 * of);
    let (cpu, llc) = match count.shares() {
        Some((cpu, llc)) => (share(cpu), share(llc)),
        None => ("-".to_string(), "-".to_string()),
    };
    vec![name.to_owned(), count.all.to_string(), cpu, llc]
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
        "{at_s:.6} s: {} wakes {} on CPU {}{sync}; it last ran on {}; kernel {}, model {}; queues {queues}\n",
        d.waker, d.task, d.cpu, d.previous, d.kernel, d.model
    )
}
