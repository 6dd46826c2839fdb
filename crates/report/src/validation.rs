//! Published beside predicted figures.

use crate::number::signed;
use crate::table::fitted;
use results::analysis::Published;
use results::validate::Cell;

/// The cells as a table, with the error in percentage points and what was calibrated.
pub fn validation(Published { study, validation }: &Published) -> String {
    let columns =
        ["", "variant", "published", "", "change", "predicted", "", "change", "95 %", "error"];
    let mut out = String::new();
    for published in &study.tables {
        let rows: Vec<Vec<String>> =
            validation.cells.iter().filter(|c| c.table == published.name).map(row).collect();
        if rows.is_empty() {
            continue;
        }
        out.push_str(&format!("{} ({})\n", published.name, published.unit));
        out.push_str(&fitted(&columns, &rows, 2));
        let options = textwrap::Options::new(98).initial_indent("  ").subsequent_indent("  ");
        out.push_str(&format!("{}\n\n", textwrap::fill(&published.note, options)));
    }
    for missing in &validation.missing {
        out.push_str(&format!("missing: {missing}\n"));
    }
    out.push_str(
        "Changes in percent of the baseline, positive = better; error = predicted - published;\n\
         * = a constant was fitted on this figure.\n",
    );
    if let Some(a) = validation.agreement() {
        out.push_str(&format!(
            "Of {} changes on which nothing was fitted {} have the published sign, {} intervals hold the\n\
             published change; mean absolute error {:.2} percentage points.\n",
            a.cells, a.same_sign, a.covered, a.mean_error
        ));
    }
    out.push('\n');
    out
}

fn row(c: &Cell) -> Vec<String> {
    let mark = if c.calibrated { " *" } else { "" };
    vec![
        format!("{}{mark}", c.row),
        c.column.clone(),
        c.published_baseline.map_or(String::new(), figure),
        c.published_variant.map_or(String::new(), figure),
        signed(c.published_percent, 2),
        figure(c.predicted_baseline),
        figure(c.predicted_variant),
        signed(c.predicted_percent, 2),
        format!("{}..{}", signed(c.predicted_low, 2), signed(c.predicted_high, 2)),
        signed(c.error(), 2),
    ]
}

/// Four significant figures or so: 5170000, 89.00, 6.004.
fn figure(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::validate::Validation;
    use stats::Better;

    fn cell() -> Cell {
        Cell {
            study: "power9-big-core".into(),
            table: "sched-pipe".into(),
            row: "Avg".into(),
            column: "big-core".into(),
            unit: "s".into(),
            better: Better::Lower,
            published_baseline: Some(6.00402),
            published_variant: Some(5.72414),
            published_percent: 4.6615,
            predicted_baseline: 3.7,
            predicted_variant: 3.6,
            predicted_percent: 2.7027,
            predicted_low: 1.0,
            predicted_high: 4.0,
            calibrated: true,
        }
    }

    #[test]
    fn cells_and_missing_figures_are_both_shown() {
        let study = results::study::load("power9-big-core").expect("a shipped study");
        let missing = vec!["ebizzy, mean, big-core".to_string()];
        let text = validation(&Published {
            study,
            validation: Validation { cells: vec![cell()], missing },
        });
        assert!(
            text.contains("sched-pipe (s)\n") && !text.contains("ebizzy (records/s)"),
            "{text}"
        );
        let row = text.lines().find(|l| l.contains("Avg *")).expect("the row");
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(
            words[3..],
            ["6.004", "5.724", "+4.66", "3.700", "3.600", "+2.70", "+1.00..+4.00", "-1.96"]
        );
        assert!(text.contains("missing: ebizzy, mean, big-core\n"));
        assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
    }
}
