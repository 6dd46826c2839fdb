//! Published beside predicted figures.

use crate::number::signed;
use crate::table::fitted;
use results::analysis::Published;
use results::study::Study;
use results::validate::{Agreement, Cell, TwoWays, Validation};

/// Each published change beside what the model and a tree's code, called `source`, predict.
pub fn two_ways(study: &Study, cells: &[TwoWays], source: &str) -> String {
    let columns = ["", "variant", "published", "model", "95 %", source, "95 %"];
    let mut out = String::new();
    for published in &study.tables {
        let of_table = cells.iter().filter(|c| c.model.table == published.name);
        let rows: Vec<Vec<String>> = of_table.map(two_ways_row).collect();
        if !rows.is_empty() {
            out.push_str(&format!("{} ({})\n", published.name, published.unit));
            out.push_str(&format!("{}\n", fitted(&columns, &rows, 2)));
        }
    }
    out.push_str("Changes in percent of the baseline, positive = better; * = a constant was fitted on this figure.\n");
    let both = cells.iter().filter_map(|c| Some((c.model.clone(), c.source.clone()?)));
    let (model, code) = both.unzip();
    for (who, cells) in [("The model", model), ("The code", code)] {
        if let Some(a) = (Validation { cells, missing: vec![] }).agreement() {
            out.push_str(&format!("{who}: {}\n", agreement(&a)));
        }
    }
    out.push('\n');
    out
}

fn two_ways_row(c: &TwoWays) -> Vec<String> {
    let change = |c: &Cell| [signed(c.predicted_percent, 2), interval(c)];
    let [model, model_interval] = change(&c.model);
    let [source, source_interval] = c.source.as_ref().map(change).unwrap_or_default();
    let published = signed(c.model.published_percent, 2);
    vec![
        label(&c.model),
        c.model.column.clone(),
        published,
        model,
        model_interval,
        source,
        source_interval,
    ]
}

fn interval(c: &Cell) -> String {
    format!("{}..{}", signed(c.predicted_low, 2), signed(c.predicted_high, 2))
}

fn label(c: &Cell) -> String {
    format!("{}{}", c.row, if c.calibrated { " *" } else { "" })
}

fn agreement(a: &Agreement) -> String {
    format!(
        "of {} changes on which nothing was fitted {} have the published sign, {} intervals hold the\n\
         published change; mean absolute error {:.2} percentage points.",
        a.cells, a.same_sign, a.covered, a.mean_error
    )
}

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
        out.push_str(&format!("In all, {}\n", agreement(&a)));
    }
    out.push('\n');
    out
}

fn row(c: &Cell) -> Vec<String> {
    vec![
        label(c),
        c.column.clone(),
        c.published_baseline.map_or(String::new(), figure),
        c.published_variant.map_or(String::new(), figure),
        signed(c.published_percent, 2),
        figure(c.predicted_baseline),
        figure(c.predicted_variant),
        signed(c.predicted_percent, 2),
        interval(c),
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
    fn the_model_and_the_code_stand_side_by_side() {
        let study = results::study::load("power9-big-core").expect("a shipped study");
        let code =
            Cell { predicted_percent: -1.5, predicted_low: -2.0, calibrated: false, ..cell() };
        let model = Cell { calibrated: false, ..cell() };
        let cells = [
            TwoWays { model: model.clone(), source: Some(code) },
            TwoWays { model: Cell { row: "Median".into(), ..model }, source: None },
        ];
        let text = two_ways(&study, &cells, "5.10");
        let row = |name: &str| {
            let line = text.lines().find(|l| l.contains(name)).expect("the row");
            line.split_whitespace().skip(1).map(str::to_string).collect::<Vec<_>>()
        };
        assert_eq!(row("Avg")[1..], ["+4.66", "+2.70", "+1.00..+4.00", "-1.50", "-2.00..+4.00"]);
        assert_eq!(row("Median")[1..], ["+4.66", "+2.70", "+1.00..+4.00"]);
        // Only what both predict is counted.
        assert!(
            text.contains("The model: of 1 changes on which nothing was fitted 1 have"),
            "{text}"
        );
        assert!(
            text.contains("The code: of 1 changes on which nothing was fitted 0 have"),
            "{text}"
        );
        assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
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
