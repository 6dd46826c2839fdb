//! What moved constants say of comparisons, as tables.

use super::{column, text};
use crate::analysis::Analysis;
use crate::columns::{Column, Table, Values};
use crate::robust::{Ranged, Robust, Swing};
use crate::sensitivity::{Elasticity, Hangs};

const PERCENT: &str = "Percent change of the stored runs, positive if the variant is better";

/// Numbers by row.
fn real<R>(
    rows: &[R],
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    of: impl Fn(&R) -> f64,
) -> Column {
    Column { name, unit, help, values: Values::Real(rows.iter().map(of).collect()) }
}

/// A row for each comparison over the ranges of constants: what can be said of it, the least and the largest change that full
/// runs found, and the constants that turn its sign. Empty where nothing was run over ranges.
pub fn robustness(analysis: &Analysis<'_>) -> Table {
    let rows = &analysis.robust[..];
    let count = |name, help, of: fn(&Robust) -> usize| {
        column(name, help, Values::Whole(rows.iter().map(|r| of(r) as u64).collect()))
    };
    let turned: Vec<String> = rows.iter().map(turned_by).collect();
    Table {
        name: "robustness",
        columns: vec![
            text("workload", "The workload", rows.iter().map(|r| &*r.workload)),
            text("name", "The metric", rows.iter().map(|r| &*r.metric)),
            text("variant", "The variant", rows.iter().map(|r| &*r.variant)),
            text("baseline", "What it is compared with", rows.iter().map(|r| &*r.baseline)),
            real(rows, "percent", "%", PERCENT, |r| r.percent.estimate),
            real(rows, "low", "%", "Lower end of its 95 % BCa interval", |r| r.percent.low),
            real(rows, "high", "%", "Upper end of its 95 % BCa interval", |r| r.percent.high),
            text("verdict", "What they prove at 99 %", rows.iter().map(|r| r.verdict.name())),
            text(
                "conclusion",
                "What holds over the ranges: robust, undecided or no-difference-shown",
                rows.iter().map(|r| r.conclusion.name()),
            ),
            count("constants", "Constants that were moved", |r| r.moved),
            count("places", "Places with as many runs as the workload has", |r| r.points),
            count("opposite", "Those of them that prove the opposite", |r| r.opposite),
            count("unproven", "Those that prove nothing", |r| r.unproven),
            real(rows, "least", "%", "Least change at such a place", |r| r.from.percent.estimate),
            real(rows, "most", "%", "Largest change at one", |r| r.to.percent.estimate),
            text(
                "turned_by",
                "The fewest constants found that turn the sign together; empty if it does not turn",
                turned.iter().map(String::as_str),
            ),
        ],
    }
}

fn turned_by(robust: &Robust) -> String {
    let constants = robust.turning.iter().flat_map(|t| &t.constants);
    constants.map(|c| c.constant.as_str()).collect::<Vec<_>>().join(", ")
}

/// A row for each of the three constants that move a comparison most from end to end of their range.
pub fn swings<'a>(analysis: &'a Analysis<'_>) -> Table {
    let explored =
        |workload: &str| analysis.results.robustness.iter().find_map(|all| all.workload(workload));
    let mut rows: Vec<(&Robust, &Swing, &Ranged)> = Vec::new();
    for robust in &analysis.robust {
        let ranged =
            |name: &str| explored(&robust.workload)?.constants.iter().find(|c| c.name == name);
        let known = |swing: &'a Swing| Some((robust, swing, ranged(&swing.constant)?));
        rows.extend(robust.swings.iter().filter_map(known));
    }
    let by_surface = "Percent change by the surface at the lower end of its range";
    Table {
        name: "swings",
        columns: vec![
            text("workload", "The workload", rows.iter().map(|(r, ..)| &*r.workload)),
            text("name", "The metric", rows.iter().map(|(r, ..)| &*r.metric)),
            text("variant", "The variant", rows.iter().map(|(r, ..)| &*r.variant)),
            text("constant", "The constant", rows.iter().map(|(_, _, c)| &*c.name)),
            real(&rows, "value", "", "Its value, in `unit`", |(_, _, c)| c.value),
            text("unit", "Its unit", rows.iter().map(|(_, _, c)| &*c.unit)),
            text("mark", "How well it is known", rows.iter().map(|(_, _, c)| &*c.mark)),
            real(&rows, "low", "", "The least value, in `unit`", |(_, _, c)| c.low),
            real(&rows, "high", "", "The greatest value, in `unit`", |(_, _, c)| c.high),
            text("range_source", "Who says so", rows.iter().map(|(_, _, c)| &*c.source)),
            real(&rows, "percent_at_low", "%", by_surface, |(_, s, _)| s.percent[0]),
            real(&rows, "percent_at_high", "%", "The same at the upper end", |(_, s, _)| {
                s.percent[1]
            }),
        ],
    }
}

/// A row for each of the three constants on which a comparison hangs most. Empty where no constant was moved.
pub fn elasticities<'a>(analysis: &'a Analysis<'_>) -> Table {
    let of = |hangs: &'a Hangs| hangs.constants.iter().map(move |e| (hangs, e));
    let rows: Vec<(&Hangs, &Elasticity)> = analysis.hangs.iter().flat_map(of).collect();
    let points = "Points of percent change for each unit of the constant's natural logarithm";
    let end = |at: usize| rows.iter().map(move |(_, e)| e.ends[at].verdict.name());
    Table {
        name: "elasticities",
        columns: vec![
            text("workload", "The workload", rows.iter().map(|(h, _)| &*h.workload)),
            text("name", "The metric", rows.iter().map(|(h, _)| &*h.metric)),
            text("variant", "The variant", rows.iter().map(|(h, _)| &*h.variant)),
            real(&rows, "percent", "%", PERCENT, |(h, _)| h.percent.estimate),
            text("verdict", "What they prove at 99 %", rows.iter().map(|(h, _)| h.verdict.name())),
            text("constant", "The constant", rows.iter().map(|(_, e)| &*e.constant)),
            real(&rows, "value", "", "Its value, in `unit`", |(_, e)| e.value),
            text("unit", "Its unit", rows.iter().map(|(_, e)| &*e.unit)),
            text("mark", "How well it is known", rows.iter().map(|(_, e)| &*e.mark)),
            text("source", "Where it comes from", rows.iter().map(|(_, e)| &*e.source)),
            real(&rows, "points", "points", points, |(_, e)| e.points.estimate),
            real(&rows, "low", "points", "Lower end of its interval", |(_, e)| e.points.low),
            real(&rows, "high", "points", "Upper end of its interval", |(_, e)| e.points.high),
            text("verdict_below", "What so many runs would prove if it were divided", end(0)),
            text("verdict_above", "The same if it were multiplied", end(1)),
        ],
    }
}
