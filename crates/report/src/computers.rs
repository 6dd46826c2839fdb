//! The computers that ran variants by their own kernels: facts, warnings, and what differs between those of several boots.

use crate::table::clip;
use crate::text::heading;
use results::computer::{Difference, differences, names};
use results::{Computer, Engine, Results};
use textwrap::WordSplitter;

/// Columns that lines may take.
const WIDTH: usize = 96;

/// Above results: which variants did not run, and in what the computers of several boots differ.
pub(crate) fn above(results: &Results) -> Vec<String> {
    let between = differences(&results.computers, &results.experiment);
    let mut lines: Vec<String> = not_run(results).into_iter().collect();
    lines.extend(differing(&results.computers, &between));
    lines.iter().map(|line| folded(line, "  ")).collect()
}

/// The variants of which results of this computer have no runs: those of other boots.
pub(crate) fn not_run(results: &Results) -> Option<String> {
    let ran = |name: &str| results.workloads.iter().any(|w| w.variant(name).is_some());
    let variants = results.experiment.variants.iter().map(|v| v.name.as_str());
    let missing: Vec<&str> = variants.filter(|name| !ran(name)).collect();
    let is_part = results.engine == Engine::Host && !missing.is_empty();
    is_part.then(|| {
        format!(
            "without runs here: {}; `compare` joins stores of several boots",
            missing.join(", ")
        )
    })
}

/// A line for each difference; those that are not what is compared are warnings.
pub(crate) fn differing(computers: &[Computer], between: &[Difference]) -> Vec<String> {
    let line = |difference: &Difference| {
        let mark = if difference.is_compared { "" } else { "warning: " };
        let values = by_variants(computers, &difference.values);
        one_line(&format!("{mark}{}: {values}", difference.name))
    };
    between.iter().map(line).collect()
}

/// Facts by name, and warnings.
#[derive(Debug)]
pub(crate) struct Told {
    /// A value, or all of them with their variants.
    pub(crate) facts: Vec<(String, String)>,
    /// With their variants where there are several computers.
    pub(crate) warnings: Vec<String>,
}

/// What there is to say of `computers`.
pub(crate) fn told(computers: &[Computer]) -> Told {
    let fact = |name: &str| {
        let values: Vec<Option<String>> =
            computers.iter().map(|c| c.fact(name).map(str::to_string)).collect();
        let value = match &values[..] {
            [Some(first), rest @ ..] if rest.iter().all(|v| v.as_ref() == Some(first)) => {
                first.clone()
            }
            _ => by_variants(computers, &values),
        };
        (one_line(name), one_line(&value))
    };
    let warnings = computers.iter().flat_map(|computer| {
        let of = match computers.len() {
            1 => String::new(),
            _ => format!("{}: ", computer.variants.join(", ")),
        };
        computer.warnings.iter().map(move |warning| one_line(&format!("{of}{warning}")))
    });
    Told { facts: names(computers).into_iter().map(fact).collect(), warnings: warnings.collect() }
}

/// The section of `computers`; empty where there is none.
pub(crate) fn section(computers: &[Computer]) -> String {
    if computers.is_empty() {
        return String::new();
    }
    let Told { facts, warnings } = told(computers);
    let mut out = heading(if computers.len() == 1 { "Computer" } else { "Computers" });
    let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let indent = " ".repeat(width + 4);
    for (name, value) in &facts {
        out.push_str(&folded(&format!("  {name:width$}  {value}"), &indent));
        out.push('\n');
    }
    for warning in &warnings {
        out.push_str(&folded(&format!("  warning: {warning}"), "    "));
        out.push('\n');
    }
    out
}

/// `6.12.5 (base, tuned), 7.2.1 (new)`.
fn by_variants(computers: &[Computer], values: &[Option<String>]) -> String {
    let value = |(computer, value): (&Computer, &Option<String>)| {
        let value = value.as_deref().unwrap_or("not known");
        format!("{value} ({})", computer.variants.join(", "))
    };
    computers.iter().zip(values).map(value).collect::<Vec<_>>().join(", ")
}

/// Without control characters: a store may say anything.
fn one_line(text: &str) -> String {
    clip(text, usize::MAX)
}

/// One paragraph, with `indent` before all lines but the first.
pub(crate) fn folded(text: &str, indent: &str) -> String {
    let options = textwrap::Options::new(WIDTH)
        .subsequent_indent(indent)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(text, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::Fact;

    fn computer(variants: &[&str], facts: &[(&str, &str)], warnings: &[&str]) -> Computer {
        let fact = |&(name, value): &(&str, &str)| Fact { name: name.into(), value: value.into() };
        Computer {
            variants: variants.iter().map(|v| v.to_string()).collect(),
            facts: facts.iter().map(fact).collect(),
            warnings: warnings.iter().map(|w| w.to_string()).collect(),
        }
    }

    #[test]
    fn one_computer_has_facts_and_warnings() {
        let line = ["quiet"; 30].join(" ");
        let facts = [("kernel", "6.12.5"), ("command-line", line.as_str())];
        let text = section(&[computer(&["base"], &facts, &["throttled"])]);
        assert!(
            text.contains("Computer\u{1b}[0m\n  kernel        6.12.5\n  command-line  quiet"),
            "{text}"
        );
        assert!(text.ends_with("  warning: throttled\n"), "{text}");
        assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
        assert_eq!(section(&[]), "");
    }

    #[test]
    fn several_computers_share_what_is_the_same() {
        let one = computer(&["base", "tuned"], &[("kernel", "6.12.5"), ("thp", "always")], &[]);
        let other =
            computer(&["new"], &[("kernel", "7.2.1"), ("thp", "always"), ("smt", "on")], &["hot"]);
        let expected = "\
\u{1b}[1mComputers\u{1b}[0m
  kernel  6.12.5 (base, tuned), 7.2.1 (new)
  thp     always
  smt     not known (base, tuned), on (new)
  warning: new: hot
";
        assert_eq!(section(&[one, other]), expected);
    }
}
