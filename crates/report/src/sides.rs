//! One experiment by two engines, as text.

use crate::number::signed;
use crate::table::fitted;
use results::sides::{Agreement, Counted, Placement, Row, Sides};

/// Counters that are always shown, where either engine has them.
const ALWAYS: [&str; 3] = ["context_switches", "run_delay_ns", results::counters::SPLATS];

/// Where the engines disagree by more than their intervals; what changes by each, where woken tasks landed and how long they waited;
/// if asked for, all that was counted.
pub fn sides(compared: &Sides, with_counters: bool) -> String {
    let [a, b] = compared.engines.map(|engine| engine.to_string());
    let (base, name) = (&compared.baseline, &compared.experiment);
    let mut out = disagreements(compared);
    out.push_str(&format!("{name}: change from {base} in percent, positive is better\n\n"));
    let (of_a, of_b) = (format!("{a} [95 %]"), format!("{b} [95 %]"));
    let columns = ["workload", "metric", "variant", of_a.as_str(), of_b.as_str(), "proven"];
    let rows: Vec<Vec<String>> = compared.rows.iter().map(row).collect();
    out.push_str(&fitted(&columns, &rows, 3));
    if !compared.placements.is_empty() {
        out.push_str("\nWoken tasks by distance from the waking CPU, percent of all wake-ups\n\n");
        out.push_str(&placements(&compared.placements, [&a, &b]));
    }
    let is_shown = |c: &&Counted| with_counters || ALWAYS.contains(&c.counter.as_str());
    let shown: Vec<&Counted> = compared.counters.iter().filter(is_shown).collect();
    if !shown.is_empty() {
        out.push_str("\nWhat either engine counted, mean a run; empty where it does not count\n\n");
        out.push_str(&counters(&shown, [&a, &b]));
    }
    out
}

/// A line for each change of which the engines' intervals have nothing in common.
fn disagreements(compared: &Sides) -> String {
    let apart: Vec<&Row> = compared.rows.iter().filter(|row| row.apart).collect();
    if apart.is_empty() {
        return String::new();
    }
    let [a, b] = compared.engines;
    let line = |row: &&Row| {
        let [one, other] = [0, 1].map(|side| signed(row.sides[side].percent.estimate, 2));
        let Row { workload, metric, variant, .. } = row;
        format!("  {workload}, {metric}, {variant}: {one} % by {a}, {other} % by {b}\n")
    };
    let lines: String = apart.iter().map(line).collect();
    format!("The engines disagree by more than their intervals:\n{lines}\n")
}

/// A row for each counter that is not 0 in both.
fn counters(counted: &[&Counted], [a, b]: [&str; 2]) -> String {
    let is_zero = |c: &&&Counted| c.means.iter().all(|m| m.is_none_or(|m| m == 0.0));
    let rows: Vec<Vec<String>> = counted
        .iter()
        .filter(|c| !is_zero(c))
        .map(|c| {
            let [a, b] = c.means.map(|m| m.map_or(String::new(), |m| format!("{m:.0}")));
            vec![c.workload.clone(), c.variant.clone(), c.counter.clone(), c.unit.clone(), a, b]
        })
        .collect();
    fitted(&["workload", "variant", "counter", "unit", a, b], &rows, 3)
}

fn row(row: &Row) -> Vec<String> {
    let change = |side: &stats::Comparison| {
        let p = side.percent;
        format!("{} [{}, {}]", signed(p.estimate, 2), signed(p.low, 2), signed(p.high, 2))
    };
    let agreement = match row.agreement {
        Agreement::Same => "by both, the same",
        Agreement::Opposite => "by both, opposite",
        Agreement::OneOnly => "by one only",
        Agreement::Neither => "by neither",
    };
    let mut cells = vec![row.workload.clone(), row.metric.clone(), row.variant.clone()];
    cells.extend(row.sides.iter().map(change));
    cells.push(agreement.to_string());
    cells
}

/// A row for each engine of each variant, a column for each distance that any has.
fn placements(placements: &[Placement], engines: [&str; 2]) -> String {
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
                vec![placement.workload.clone(), placement.variant.clone(), engine.to_string()];
            cells.extend(distances.iter().map(|distance| {
                let share = placement.shares.iter().find(|s| s.0 == *distance);
                share.map_or(String::new(), |(_, shares)| format!("{:.1}", shares[side]))
            }));
            rows.push(cells);
        }
    }
    fitted(&columns, &rows, 3)
}
