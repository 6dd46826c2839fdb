//! One experiment by several engines, as text.

use crate::computers;
use crate::number::signed;
use crate::table::fitted;
use results::Engine;
use results::sides::{Agreement, Counted, Placement, Row, Sides};
use stats::Verdict;

/// Counters that are always shown, where any engine has them.
const ALWAYS: [&str; 3] = ["context_switches", "run_delay_ns", results::counters::SPLATS];

/// Where the engines disagree by more than their intervals; what changes by each, where woken tasks landed and how long they waited;
/// if asked for, all that was counted; the computers, where some ran variants by their own kernels.
pub fn sides(compared: &Sides, with_counters: bool) -> String {
    let lines = computers::differing(&compared.computers, &compared.differences);
    let mut out: String = lines.iter().map(|line| computers::folded(line, "  ") + "\n").collect();
    out.push_str(if lines.is_empty() { "" } else { "\n" });
    out.push_str(&between(compared, with_counters));
    let computers = computers::section(&compared.computers);
    out.push_str(if computers.is_empty() { "" } else { "\n" });
    out + &computers
}

/// The same without computers.
pub(crate) fn between(compared: &Sides, with_counters: bool) -> String {
    let engines = &engines(&compared.engines);
    let (base, name) = (&compared.baseline, &compared.experiment);
    let mut out = disagreements(compared, engines);
    out.push_str(&format!("{name}: change from {base} in percent, positive is better\n\n"));
    let of: Vec<String> = engines.iter().map(|engine| format!("{engine} [95 %]")).collect();
    let mut columns = vec!["workload", "metric", "variant"];
    columns.extend(of.iter().map(String::as_str));
    columns.push("proven");
    let rows: Vec<Vec<String>> = compared.rows.iter().map(|r| row(r, engines)).collect();
    out.push_str(&fitted(&columns, &rows, 3));
    if !compared.placements.is_empty() {
        out.push_str("\nWoken tasks by distance from the waking CPU, percent of all wake-ups\n\n");
        out.push_str(&placements(&compared.placements, engines));
    }
    let is_shown = |c: &&Counted| with_counters || ALWAYS.contains(&c.counter.as_str());
    let shown: Vec<&Counted> = compared.counters.iter().filter(is_shown).collect();
    if !shown.is_empty() {
        let any = if engines.len() == 2 { "either" } else { "any" };
        out.push_str(&format!(
            "\nWhat {any} engine counted, mean a run; empty where it does not count\n\n"
        ));
        out.push_str(&counters(&shown, engines));
    }
    out
}

/// The engines' names; those that come more than once are numbered.
pub(crate) fn engines(all: &[Engine]) -> Vec<String> {
    let name = |(at, engine): (usize, &Engine)| match all.iter().filter(|e| *e == engine).count() {
        1 => engine.to_string(),
        _ => format!("{engine} {}", all[..=at].iter().filter(|e| *e == engine).count()),
    };
    all.iter().enumerate().map(name).collect()
}

/// A line for each change of which two engines' intervals have nothing in common.
fn disagreements(compared: &Sides, engines: &[String]) -> String {
    let apart: Vec<&Row> = compared.rows.iter().filter(|row| row.apart).collect();
    if apart.is_empty() {
        return String::new();
    }
    let line = |row: &&Row| {
        let change = |(engine, side): (&String, &Option<stats::Comparison>)| {
            Some(format!("{} % by {engine}", signed(side.as_ref()?.percent.estimate, 2)))
        };
        let changes: Vec<String> = engines.iter().zip(&row.sides).filter_map(change).collect();
        let Row { workload, metric, variant, .. } = row;
        format!("  {workload}, {metric}, {variant}: {}\n", changes.join(", "))
    };
    let lines: String = apart.iter().map(line).collect();
    format!("The engines disagree by more than their intervals:\n{lines}\n")
}

/// A row for each counter that is not 0 in all.
fn counters(counted: &[&Counted], engines: &[String]) -> String {
    let is_zero = |c: &&&Counted| c.means.iter().all(|m| m.is_none_or(|m| m == 0.0));
    let rows: Vec<Vec<String>> = counted
        .iter()
        .filter(|c| !is_zero(c))
        .map(|c| {
            let mut cells =
                vec![c.workload.clone(), c.variant.clone(), c.counter.clone(), c.unit.clone()];
            cells.extend(c.means.iter().map(|m| m.map_or(String::new(), |m| format!("{m:.0}"))));
            cells
        })
        .collect();
    let mut columns = vec!["workload", "variant", "counter", "unit"];
    columns.extend(engines.iter().map(String::as_str));
    fitted(&columns, &rows, 3)
}

fn row(row: &Row, engines: &[String]) -> Vec<String> {
    let change = |side: &Option<stats::Comparison>| {
        side.map_or(String::new(), |side| {
            let p = side.percent;
            format!("{} [{}, {}]", signed(p.estimate, 2), signed(p.low, 2), signed(p.high, 2))
        })
    };
    let mut cells = vec![row.workload.clone(), row.metric.clone(), row.variant.clone()];
    cells.extend(row.sides.iter().map(change));
    cells.push(proven(row, engines));
    cells
}

/// By which engines a change is proven, and how these agree.
fn proven(row: &Row, engines: &[String]) -> String {
    let by = |wanted: &dyn Fn(Option<Verdict>) -> bool| {
        let sides = engines.iter().zip(&row.sides);
        let names = sides.filter(|(_, side)| wanted(side.as_ref().map(|side| side.verdict)));
        names.map(|(engine, _)| engine.as_str()).collect::<Vec<_>>().join(", ")
    };
    let is = |verdict: Verdict| by(&|v| v == Some(verdict));
    let has_all = row.sides.iter().all(Option::is_some);
    let all = match row.sides.len() {
        _ if !has_all => by(&|v| v.is_some()),
        2 => "both".to_string(),
        _ => "all".to_string(),
    };
    match row.agreement {
        Agreement::Same => format!("by {all}, the same"),
        Agreement::Opposite if row.sides.len() == 2 => "by both, opposite".to_string(),
        Agreement::Opposite => {
            format!("better by {}, worse by {}", is(Verdict::Better), is(Verdict::Worse))
        }
        Agreement::SomeOnly => {
            format!("by {} only", by(&|v| v.is_some_and(|v| v != Verdict::NoDifference)))
        }
        Agreement::None if row.sides.len() == 2 => "by neither".to_string(),
        Agreement::None => "by none".to_string(),
    }
}

/// A row for each engine of each variant, a column for each distance that any has; empty where an engine does not count them.
fn placements(placements: &[Placement], engines: &[String]) -> String {
    let mut distances: Vec<&str> = Vec::new();
    for (name, _) in placements.iter().flat_map(|p| &p.shares) {
        if !distances.contains(name) {
            distances.push(name);
        }
    }
    let mut columns = vec!["workload", "variant", "engine"];
    columns.extend(&distances);
    let mut rows = Vec::new();
    for placement in placements {
        for (side, engine) in engines.iter().enumerate() {
            let mut cells =
                vec![placement.workload.clone(), placement.variant.clone(), engine.clone()];
            let counts = placement.shares.iter().any(|(_, shares)| shares[side].is_some());
            cells.extend(distances.iter().filter(|_| counts).map(|distance| {
                let share = placement.shares.iter().find(|s| s.0 == *distance);
                // A distance that no engine has in this row is not listed.
                format!("{:.1}", share.and_then(|(_, shares)| shares[side]).unwrap_or(0.0))
            }));
            rows.push(cells);
        }
    }
    fitted(&columns, &rows, 3)
}

#[cfg(test)]
mod tests;
