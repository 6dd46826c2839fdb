//! Published beside predicted figures.

use crate::table::table;
use experiment::study::Study;
use experiment::validate::{Cell, Validation};

/// The cells as a table, with the error in percent points and what was calibrated.
pub fn validation(study: &Study, validation: &Validation) -> String {
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
        out.push_str(&table(&columns, &rows));
        let options = textwrap::Options::new(98).initial_indent("  ").subsequent_indent("  ");
        out.push_str(&format!("{}\n\n", textwrap::fill(&published.note, options)));
    }
    out.push_str(
        "Changes in percent of the baseline, positive = better; error = predicted - published;\n* = a constant was fitted on this figure.\n\n",
    );
    out
}

fn row(c: &Cell) -> Vec<String> {
    let mark = if c.calibrated { " *" } else { "" };
    vec![
        format!("{}{mark}", c.row),
        c.column.clone(),
        figure(c.published_baseline),
        figure(c.published_variant),
        format!("{:+.2}", c.published_percent),
        figure(c.predicted_baseline),
        figure(c.predicted_variant),
        format!("{:+.2}", c.predicted_percent),
        format!("{:+.2} .. {:+.2}", c.predicted_low, c.predicted_high),
        format!("{:+.2}", c.error()),
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
