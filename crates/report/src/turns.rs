//! Where a change turns from gain to loss, as text.

use crate::number::{fixed, signed};
use crate::table::fitted;
use results::turns::{Point, Turn, Turns};
use stats::Verdict;

/// What was looked at, and the answer.
pub fn text(turns: &Turns) -> String {
    let Turns { parameter, bounds, workload, metric, unit, better, variant, baseline, .. } = turns;
    let mut out = format!(
        "{parameter} from {} to {}, to a width of {}\n{workload}, {metric} ({unit}, {} is better): {variant} against {baseline}\n\n",
        bounds.from,
        bounds.to,
        bounds.width,
        better.name()
    );
    let head = ["value", "runs", "change %", "95 % interval", "shows %", "proven"];
    let rows: Vec<Vec<String>> = turns.points.iter().map(row).collect();
    out.push_str(&fitted(&head, &rows, 1));
    out.push_str(&format!("\n{}\n", answer(turns)));
    out
}

fn row(point: &Point) -> Vec<String> {
    let percent = point.percent;
    vec![
        point.value.to_string(),
        point.runs.to_string(),
        percent.map_or("-".to_string(), |p| signed(p.estimate, 2)),
        percent.map_or(String::new(), |p| format!("{} .. {}", signed(p.low, 2), signed(p.high, 2))),
        point.smallest_percent.map_or(String::new(), |p| fixed(p, 2)),
        match point.verdict {
            Verdict::NoDifference => "not".to_string(),
            verdict => word(verdict).to_string(),
        },
    ]
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "gain",
        Verdict::Worse => "loss",
        Verdict::NoDifference => "nothing",
    }
}

/// The answer in words: a turn, none, several, or that the runs cannot tell.
pub fn answer(turns: &Turns) -> String {
    let mut lines: Vec<String> = turns.turns.iter().map(|turn| between(turns, turn)).collect();
    let proven = |p: &&Point| p.verdict != Verdict::NoDifference;
    match (&turns.turns[..], turns.points.iter().find(proven)) {
        ([], None) => lines.push(undecided(turns)),
        ([], Some(first)) => {
            let sign = word(first.verdict);
            let values: Vec<String> =
                turns.points.iter().filter(proven).map(|p| p.value.to_string()).collect();
            lines.push(format!(
                "No turn found: {sign} at {}. Two turns between neighbours of these would not show.",
                values.join(", ")
            ));
        }
        ([_], _) => {}
        (several, _) => lines.insert(0, format!("It turns {} times:", several.len())),
    }
    let is_inside = |p: &&Point| turns.turns.iter().any(|t| t.low < p.value && p.value < t.high);
    let outside: Vec<String> = turns
        .points
        .iter()
        .filter(|p| !proven(p) && !is_inside(p))
        .map(|p| p.value.to_string())
        .collect();
    if !outside.is_empty() && turns.points.iter().any(|p| proven(&p)) {
        lines.push(format!("Undecided at {}.", outside.join(", ")));
    }
    lines.join("\n")
}

fn between(turns: &Turns, turn: &Turn) -> String {
    let Turn { low, high, before, is_narrow } = turn;
    let after = if *before == Verdict::Better { Verdict::Worse } else { Verdict::Better };
    let (before, after) = (word(*before), word(after));
    let is_inside = |p: &&Point| *low < p.value && p.value < *high;
    match (is_narrow, turns.points.iter().any(|p| is_inside(&p))) {
        (true, _) => format!("From {before} to {after} between {low} and {high}."),
        (false, false) => {
            format!("From {before} to {after} between {low} and {high}, which are neighbours.")
        }
        (false, true) => format!(
            "Undecided between {low} and {high}: {before} at {low}, {after} at {high}, and no sign is proven between them."
        ),
    }
}

/// Nothing is proven anywhere.
fn undecided(turns: &Turns) -> String {
    let shows = turns.points.iter().filter_map(|p| p.smallest_percent).reduce(f64::max);
    let shows = shows.map_or(String::new(), |s| format!(" An effect below {s:.2} % may be there."));
    format!(
        "Undecided between {} and {}: no sign is proven at any of {} values.{shows}",
        turns.bounds.from,
        turns.bounds.to,
        turns.points.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::turns::Bounds;
    use stats::{Better, Confidence, Interval};

    const B: Verdict = Verdict::Better;
    const W: Verdict = Verdict::Worse;
    const N: Verdict = Verdict::NoDifference;

    fn turns(points: &[(f64, Verdict)], turns: &[(f64, f64, Verdict, bool)]) -> Turns {
        let point = |&(value, verdict): &(f64, Verdict)| {
            let estimate = 10.0 - value;
            let (low, high) = (estimate - 1.0, estimate + 1.0);
            let percent = Some(Interval { estimate, low, high, confidence: Confidence::P95 });
            Point { value, runs: 10, percent, verdict, smallest_percent: Some(value / 10.0) }
        };
        let turn = |&(low, high, before, is_narrow): &(f64, f64, Verdict, bool)| Turn {
            low,
            high,
            before,
            is_narrow,
        };
        Turns {
            parameter: "workload.w.w.clients".to_string(),
            workload: "w".to_string(),
            metric: "elapsed".to_string(),
            unit: "s".to_string(),
            better: Better::Lower,
            baseline: "base".to_string(),
            variant: "patched".to_string(),
            bounds: Bounds { from: 1.0, to: 17.0, width: 2.0, is_whole: true },
            level: Confidence::P99,
            points: points.iter().map(point).collect(),
            turns: turns.iter().map(turn).collect(),
        }
    }

    #[test]
    fn every_ending_is_told() {
        for (points, found, said) in [
            (
                &[(1.0, B), (9.0, B), (11.0, W), (17.0, W)][..],
                &[(9.0, 11.0, B, true)][..],
                "From gain to loss between 9 and 11.",
            ),
            (
                &[(1.0, W), (9.0, N), (17.0, B)],
                &[(1.0, 17.0, W, false)],
                "Undecided between 1 and 17: loss at 1, gain at 17, and no sign is proven between them.",
            ),
            (
                &[(9.0, B), (10.0, W), (17.0, N)],
                &[(9.0, 10.0, B, false)],
                "From gain to loss between 9 and 10, which are neighbours.\nUndecided at 17.",
            ),
            (
                &[(1.0, N), (17.0, N)],
                &[],
                "Undecided between 1 and 17: no sign is proven at any of 2 values. An effect below 1.70 % may be there.",
            ),
            (
                &[(1.0, B), (9.0, N), (17.0, B)],
                &[],
                "No turn found: gain at 1, 17. Two turns between neighbours of these would not show.\nUndecided at 9.",
            ),
            (
                &[(1.0, B), (3.0, W), (15.0, W), (17.0, B)],
                &[(1.0, 3.0, B, true), (15.0, 17.0, W, true)],
                "It turns 2 times:\nFrom gain to loss between 1 and 3.\nFrom loss to gain between 15 and 17.",
            ),
        ] {
            assert_eq!(answer(&turns(points, found)), said);
        }
    }

    #[test]
    fn what_was_looked_at_is_a_table() {
        let text = text(&turns(&[(1.0, B), (17.0, N)], &[]));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "workload.w.w.clients from 1 to 17, to a width of 2");
        assert_eq!(lines[1], "w, elapsed (s, lower is better): patched against base");
        assert_eq!(lines[4], "    1    10     +9.00  +8.00 .. +10.00     0.10    gain");
        assert_eq!(lines[5], "   17    10     -7.00   -8.00 .. -6.00     1.70     not");
    }
}
