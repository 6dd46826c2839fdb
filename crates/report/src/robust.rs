//! Whether comparisons hold over the ranges of constants, as text.

use crate::hangs::{filled, notes_of, with_interval};
use crate::number::significant;
use results::Analysis;
use results::robust::{Conclusion, Explored, Found, Ranged, Robust, Robustness, Turned, Turning};
use stats::Verdict;

/// What was done and what it proves, in one paragraph.
pub(crate) const LEGEND: &str = "Each constant that changes a run was moved over the range in which it may lie, all at once: one run \
     at each corner of a design, and a surface through them. Where it is lowest and highest, and where a single run was worst, the \
     workload was run in full. Robust: all these places prove the sign that the stored runs prove. Undecided: one of them proves the \
     opposite, or nothing. Other places were not run: the surface is linear in logarithms, and what it misses is told.";

/// A comparison in words, for text and pages.
#[derive(Debug)]
pub(crate) struct Said {
    /// What is compared, and what can be said.
    pub(crate) head: String,
    /// Why.
    pub(crate) lines: Vec<String>,
    /// Whether its sign hangs on constants.
    pub(crate) is_undecided: bool,
}

/// All comparisons of `analysis`.
pub(crate) fn all_said(analysis: &Analysis) -> Vec<Said> {
    let robustness = analysis.results.robustness.as_ref();
    let said = |robust: &Robust| Some(said(robust, robustness?.workload(&robust.workload)?));
    analysis.robust.iter().filter_map(said).collect()
}

fn said(robust: &Robust, explored: &Explored) -> Said {
    let head = format!(
        "{}, {}: {} against {} {}, {}. Over {} constants: {}.",
        robust.workload,
        robust.metric,
        robust.variant,
        robust.baseline,
        with_interval(&robust.percent, "%"),
        robust.verdict,
        robust.moved,
        words(robust.conclusion)
    );
    let known = |name: &str| explored.constants.iter().find(|c| c.name == name);
    let mut lines = vec![places(robust)];
    lines.extend(robust.turning.as_ref().map(|turning| turns(turning, &known)));
    let swings = robust.swings.iter().filter_map(|swing| {
        let [low, high] = swing.percent;
        Some(format!("{}: {low:+.2}% to {high:+.2}%", ranged(known(&swing.constant)?)))
    });
    let swings: Vec<String> = swings.collect();
    if !swings.is_empty() {
        lines.push(format!("By the surface, from end to end of one range: {}.", swings.join("; ")));
    }
    lines.push(format!(
        "The surface misses these corners by up to {:.1} points.",
        robust.surface_misses
    ));
    Said { head, lines, is_undecided: robust.conclusion == Conclusion::Undecided }
}

/// A conclusion in a word or two.
fn words(conclusion: Conclusion) -> &'static str {
    match conclusion {
        Conclusion::Robust => "robust",
        Conclusion::Undecided => "UNDECIDED",
        Conclusion::NoDifferenceShown => "no difference shown",
    }
}

/// What was found in full runs.
fn places(robust: &Robust) -> String {
    let found = |f: &Found| format!("{}, {}", with_interval(&f.percent, "%"), f.verdict);
    let proven = robust.points - robust.unproven;
    let counts = match (robust.verdict, robust.opposite, robust.unproven) {
        (Verdict::NoDifference, 0, _) => {
            format!("{proven} of {} places prove a sign, all the same one", robust.points)
        }
        (Verdict::NoDifference, few, _) => {
            format!(
                "{proven} of {} places prove a sign, {few} of them the less frequent one",
                robust.points
            )
        }
        (_, 0, 0) => format!("all {} places prove the same sign", robust.points),
        (_, opposite, unproven) => format!(
            "of {} places {opposite} prove the opposite and {unproven} nothing",
            robust.points
        ),
    };
    format!("In full runs from {} to {}; {counts}.", found(&robust.from), found(&robust.to))
}

fn turns<'a>(turning: &Turning, known: &impl Fn(&str) -> Option<&'a Ranged>) -> String {
    let at = |of: &Turned| {
        let [holds, turned] = of.between.map(significant);
        let unit = known(&of.constant).map_or("", |c| c.unit.as_str());
        format!("between {holds} and {turned} {unit}")
    };
    let named = |of: &Turned| known(&of.constant).map_or_else(|| of.constant.clone(), ranged);
    if let [only] = &turning.constants[..] {
        return format!("{} turns the sign alone, {}.", named(only), at(only));
    }
    let all: Vec<String> =
        turning.constants.iter().map(|of| format!("{} {}", named(of), at(of))).collect();
    format!(
        "Together these turn the sign, from {:.0} to {:.0}% of the way to the ends of their ranges: {}.",
        100.0 * turning.part[0],
        100.0 * turning.part[1],
        all.join("; ")
    )
}

/// A constant with value, mark and range.
fn ranged(c: &Ranged) -> String {
    let [value, low, high] = [c.value, c.low, c.high].map(significant);
    format!("{} = {value} {} ({}, {low} to {high})", c.name, c.unit, c.mark)
}

/// Workloads that were left out, and constants that could not be moved.
pub(crate) fn notes(of: &Robustness) -> Vec<String> {
    let fixed = of.workloads.iter().map(|w| (w.workload.as_str(), &w.fixed[..]));
    notes_of(&of.left_out, fixed)
}

/// All comparisons below each other; nothing where constants were not moved over their ranges.
pub(crate) fn robust(analysis: &Analysis) -> String {
    let Some(robustness) = &analysis.results.robustness else { return String::new() };
    let said = all_said(analysis);
    let mut out = String::new();
    if !said.is_empty() {
        out.push_str(&filled(LEGEND, "", ""));
    }
    for Said { head, lines, .. } in &said {
        out.push_str(&format!("\n{}", filled(head, "", "  ")));
        out.extend(lines.iter().map(|line| filled(line, "  ", "    ")));
    }
    let notes = notes(robustness);
    if !notes.is_empty() && !out.is_empty() {
        out.push('\n');
    }
    out.extend(notes.iter().map(|note| filled(note, "", "  ")));
    out
}
