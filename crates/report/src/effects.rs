//! The effects of a sweep as text and as comma-separated values.

use crate::error::ReportError;
use crate::number::signed;
use crate::table::{clip, fitted};
use results::columns::Values;
use results::effects::{Effect, EffectMap};
use results::frames;
use stats::Verdict;

/// Longest value of an axis in a table.
const NAME: usize = 28;

/// What is measured and how, in one line.
pub(crate) fn title(map: &EffectMap) -> String {
    let only: Vec<String> =
        map.only.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
    let only = if only.is_empty() { String::new() } else { format!(", {}", only.join(", ")) };
    let (workload, metric, unit) = (&map.workload, &map.metric, &map.unit);
    format!("{workload}, {metric} ({unit}, {} is better){only}", map.better.name())
}

/// How far the runs prove anything: how many effects, at what level, and what would not have shown.
pub(crate) fn notes(map: &EffectMap) -> Vec<String> {
    let changes = || map.effects.iter().filter_map(|e| e.change);
    let proven = changes().filter(|c| c.verdict != Verdict::NoDifference).count();
    let mut notes = vec![format!(
        "{proven} of {} effects are proven at {} % over the whole map (Holm).",
        map.comparisons,
        map.level.percent()
    )];
    let unproven = changes().filter(|c| c.verdict == Verdict::NoDifference);
    let shows: Vec<f64> = unproven.map(|c| c.smallest_detectable_percent).collect();
    let [low, high] = [f64::min, f64::max].map(|of| shows.iter().copied().reduce(of));
    if let Some((low, high)) = low.zip(high) {
        notes.push(format!(
            "Where none is, these runs could show {low:.2} % at best and {high:.2} % at worst."
        ));
    }
    let without = map.effects.len() - map.comparisons;
    if without > 0 {
        notes.push(format!("Places with nothing to compare: {without}."));
    }
    if map.missing > 0 {
        notes.push(format!("Cells of the sweep that were not run: {}.", map.missing));
    }
    notes
}

/// A table with an axis down and one across: percent changes, positive where the variant is better, a star where they are proven.
pub fn text(map: &EffectMap) -> String {
    let corner = format!("{} \\ {}", map.rows_axis, map.columns_axis);
    let columns: Vec<String> = map.columns.iter().map(|name| clip(name, NAME)).collect();
    let head: Vec<&str> =
        std::iter::once(corner.as_str()).chain(columns.iter().map(String::as_str)).collect();
    let rows = map.rows.iter().zip(map.effects.chunks(map.columns.len().max(1)));
    let rows: Vec<Vec<String>> = rows
        .map(|(name, effects)| {
            std::iter::once(clip(name, NAME)).chain(effects.iter().map(cell)).collect()
        })
        .collect();
    let mut out = format!("{}\n", title(map));
    out.push_str("change in percent, positive is better; * is proven\n\n");
    out.push_str(&fitted(&head, &rows, 1));
    out.push('\n');
    notes(map).iter().for_each(|note| out.push_str(&format!("{note}\n")));
    out
}

fn cell(effect: &Effect) -> String {
    match &effect.change {
        None => "-  ".to_string(),
        Some(c) => {
            let star = if c.verdict == Verdict::NoDifference { " " } else { "*" };
            format!("{} {star}", signed(c.percent.estimate, 2))
        }
    }
}

/// A line for each place, with a head: the columns of [`frames::effects`], the first two under the names of their axes. Fields without
/// a value are empty.
///
/// # Errors
/// What the writer refuses.
pub fn csv(map: &EffectMap) -> Result<String, ReportError> {
    let table = frames::effects(map);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let axes = [map.rows_axis.as_str(), &map.columns_axis];
    let names = table.columns.iter().skip(2).map(|column| column.name);
    writer.write_record(axes.into_iter().chain(names))?;
    for at in 0..map.effects.len() {
        writer.write_record(table.columns.iter().map(|column| field(&column.values, at)))?;
    }
    let bytes = writer.into_inner().map_err(|e| csv::Error::from(e.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn field(values: &Values, at: usize) -> String {
    match values {
        Values::Text(all) => all[at].clone(),
        Values::Small(all) => all[at].to_string(),
        Values::Whole(all) => all[at].to_string(),
        Values::Real(all) => all[at].to_string(),
        Values::Maybe(all) => all[at].map_or(String::new(), |value| value.to_string()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use results::effects::Question;
    use results::swept::{Choice, Given, Series, Swept};
    use stats::Better;

    /// Two machines under two changes: one gain, one loss, one nothing, one that was not run.
    pub(crate) fn map() -> EffectMap {
        let around = |mean: f64| [-0.2, 0.1, 0.0, 0.2, -0.1].map(|d| mean + d).to_vec();
        let place = |machine: &str, mechanism: &str| {
            let all = [("machine", machine), ("mechanism", mechanism)];
            all.map(|(axis, value)| (axis.to_string(), value.to_string())).to_vec()
        };
        let cell = |machine: &str, mechanism: &str, mean: f64| {
            let series = [("base", 10.0), (mechanism, mean)].map(|(variant, mean)| Series {
                workload: "pipe".to_string(),
                variant: variant.to_string(),
                metric: "elapsed".to_string(),
                unit: "s".to_string(),
                better: Better::Lower,
                values: around(mean),
            });
            Given { place: place(machine, mechanism), series: series.to_vec() }
        };
        let cells =
            vec![cell("one", "a=off", 8.0), cell("one", "b=off", 10.0), cell("two", "a=off", 15.0)];
        let axes = vec!["machine".to_string(), "mechanism".to_string()];
        let missing = vec![place("two", "b=off")];
        let swept = Swept { dir: "out".to_string(), axes: axes.clone(), cells, missing };
        let [rows, columns] = [0, 1].map(|at| axes[at].clone());
        let question = Question { rows, columns, choice: Choice::default(), only: vec![] };
        let resampling = results::analysis::resampling().expect("good numbers");
        EffectMap::of(&swept, &question, &resampling).expect("a map")
    }

    #[test]
    fn a_table_stars_what_is_proven() {
        let text = text(&map());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "pipe, elapsed (s, lower is better)");
        assert_eq!(lines[3], "machine \\ mechanism     a=off    b=off");
        assert_eq!(lines[4], "                one  +20.00 *  +0.00");
        assert_eq!(lines[5], "                two  -50.00 *      -");
        assert_eq!(lines[7], "2 of 3 effects are proven at 95 % over the whole map (Holm).");
        assert!(lines[8].starts_with("Where none is, these runs could show "), "{text}");
        assert_eq!(lines[9], "Places with nothing to compare: 1.");
        assert_eq!(lines[10], "Cells of the sweep that were not run: 1.");
    }

    #[test]
    fn values_have_a_line_for_each_place() {
        let text = csv(&map()).expect("CSV");
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!(lines[0][..5], ["machine", "mechanism", "workload", "name", "unit"]);
        assert_eq!(lines[1][..5], ["one", "a=off", "pipe", "elapsed", "s"]);
        assert_eq!((lines.len(), lines[1][14], lines[2][14]), (5, "better", "no-difference"));
        assert_eq!((lines[4][6], lines[4][10], lines[4][14]), ("0", "", "none"));
    }
}
