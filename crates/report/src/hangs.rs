//! On which constants each comparison hangs, as text.

use crate::number::significant;
use results::Analysis;
use results::sensitivity::{Elasticity, End, Hangs, LeftOut, Sensitivity};
use stats::Interval;
use std::collections::BTreeMap;
use textwrap::WordSplitter;

/// A comparison in words, for text and pages.
#[derive(Debug)]
pub(crate) struct Said {
    /// What is compared, and what comes out.
    pub(crate) head: String,
    /// Its constants, the one with the largest elasticity first.
    pub(crate) constants: Vec<SaidConstant>,
}

/// A constant in words.
#[derive(Debug)]
pub(crate) struct SaidConstant {
    /// Name, value, mark, elasticity.
    pub(crate) what: String,
    /// The change at either end.
    pub(crate) ends: String,
    /// Whether the verdict changes at one.
    pub(crate) changes: bool,
    /// Where it comes from.
    pub(crate) source: String,
}

/// What was done, in one paragraph.
pub(crate) fn legend(s: &Sensitivity) -> String {
    format!(
        "Each constant that changes a run was multiplied and divided by {}, in runs paired by seed. Elasticity: percentage \
         points that the change gains for each unit of the constant's natural logarithm, with an interval for all constants of \
         the comparison together.",
        s.factor
    )
}

/// A comparison.
pub(crate) fn said(hangs: &Hangs) -> Said {
    let of = format!(
        "{}, {}: {} against {} {}, {}.",
        hangs.workload,
        hangs.metric,
        hangs.variant,
        hangs.baseline,
        with_interval(&hangs.percent, "%"),
        hangs.verdict
    );
    let proven = match hangs.proven {
        0 => format!("None of {} constants has an elasticity that excludes zero.", hangs.moved),
        n if n > hangs.constants.len() => format!(
            "The largest of {n} elasticities that exclude zero, of {} constants:",
            hangs.moved
        ),
        _ => format!("Elasticities that exclude zero, of {} constants:", hangs.moved),
    };
    let constants = hangs.constants.iter().map(|c| constant(c, hangs)).collect();
    Said { head: format!("{of} {proven}"), constants }
}

fn constant(c: &Elasticity, hangs: &Hangs) -> SaidConstant {
    let changes = c.changes(hangs.verdict).next().is_some();
    let end = |end: &End| {
        let same =
            if end.verdict == hangs.verdict { String::new() } else { format!(", {}", end.verdict) };
        format!("at {} {}{same}", significant(end.value), with_interval(&end.percent, "%"))
    };
    let so = if changes { "the verdict changes" } else { "the verdict stays" };
    SaidConstant {
        what: format!(
            "{} = {} {} ({}): {}",
            c.constant,
            significant(c.value),
            c.unit,
            c.mark,
            with_interval(&c.points, "")
        ),
        ends: format!("{}; {so}", c.ends.each_ref().map(end).join("; ")),
        changes,
        source: format!("{}: {}", c.constant, c.source),
    }
}

pub(crate) fn with_interval(i: &Interval, unit: &str) -> String {
    format!("{:+.2}{unit} ({:+.2} to {:+.2})", i.estimate, i.low, i.high)
}

/// A workload whose constants were not moved, or some of which could not be.
pub(crate) fn notes(s: &Sensitivity) -> Vec<String> {
    notes_of(&s.left_out, s.workloads.iter().map(|w| (w.workload.as_str(), &w.fixed[..])))
}

/// The same of workloads that were left out, and of constants by workload that were not moved.
pub(crate) fn notes_of<'a>(
    left_out: &[LeftOut],
    fixed: impl Iterator<Item = (&'a str, &'a [String])>,
) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for LeftOut { workload, reason } in left_out {
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, workloads)) => workloads.push(workload),
            None => reasons.push((reason, vec![workload])),
        }
    }
    let left = reasons.into_iter().map(|(reason, workloads)| {
        format!("No constants moved for {}: {reason}.", workloads.join(", "))
    });
    let fixed = fixed.filter(|(_, names)| !names.is_empty()).map(|(workload, names)| {
        let names = names.join(", ");
        format!("{workload}: not moved, as the simulator refuses the values: {names}.")
    });
    left.chain(fixed).collect()
}

/// All comparisons below each other, and where their constants come from; nothing where no constants were to be moved.
pub(crate) fn hangs(analysis: &Analysis) -> String {
    let Some(sensitivity) = &analysis.results.sensitivity else { return String::new() };
    let mut out = String::new();
    let mut sources: BTreeMap<&str, String> = BTreeMap::new();
    if !analysis.hangs.is_empty() {
        out.push_str(&filled(&legend(sensitivity), "", ""));
    }
    for hangs in &analysis.hangs {
        let said = said(hangs);
        out.push_str(&format!("\n{}", filled(&said.head, "", "  ")));
        for (c, of) in said.constants.iter().zip(&hangs.constants) {
            out.push_str(&filled(&c.what, "  ", "    "));
            out.push_str(&filled(&c.ends, "    ", "    "));
            sources.insert(&of.constant, c.source.clone());
        }
    }
    if !sources.is_empty() {
        out.push_str("\nWhere they come from:\n");
        out.extend(sources.values().map(|source| filled(source, "  ", "    ")));
    }
    let notes = notes(sensitivity);
    if !notes.is_empty() && !out.is_empty() {
        out.push('\n');
    }
    out.extend(notes.iter().map(|note| filled(note, "", "  ")));
    out
}

pub(crate) fn filled(text: &str, first: &str, others: &str) -> String {
    let options = textwrap::Options::new(96)
        .initial_indent(first)
        .subsequent_indent(others)
        .word_splitter(WordSplitter::NoHyphenation);
    format!("{}\n", textwrap::fill(text, options))
}
