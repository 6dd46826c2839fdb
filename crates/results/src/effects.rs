//! The effect of a change over two axes of a sweep: which mechanism matters on which machines.
//!
//! Each place of the map compares the runs of the change with those of its baseline there. The comparisons and their one correction over
//! the whole map are those of tables ([`analyse`]).

use crate::ResultsError;
use crate::analysis::analyse;
use crate::swept::{Choice, Given, Place, Series, Swept, ordered, value};
use serde::Serialize;
use stats::table::{Change, Estimator, Figure};
use stats::{Better, Cell, Confidence, Resampling, Row, Table};
use std::collections::BTreeSet;

/// The axis whose values are pooled: its cells differ in nothing but what was drawn.
const SEED: &str = "seed";
/// What may stand for an axis: the variants of a cell beside its baseline.
const VARIANT: &str = "variant";

/// What is asked of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The axis down, or `variant`.
    pub rows: String,
    /// The axis across, or `variant`.
    pub columns: String,
    /// What is compared.
    pub choice: Choice,
    /// Values of axes: other cells are not looked at.
    pub only: Place,
}

/// A map of effects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectMap {
    /// The axis down.
    pub rows_axis: String,
    /// The axis across.
    pub columns_axis: String,
    /// Values of the axis down: numbers ascending, texts in their order.
    pub rows: Vec<String>,
    /// Values of the axis across, likewise.
    pub columns: Vec<String>,
    /// Values that other axes had to have.
    pub only: Place,
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// Level at which the whole map claims effects: where there are none, this is the probability that it claims none.
    pub level: Confidence,
    /// Comparisons over which Holm's correction goes.
    pub comparisons: usize,
    /// Cells of the sweep, of those that were asked for, that were not run.
    pub missing: usize,
    /// Row by row, one a column.
    pub effects: Vec<Effect>,
}

/// A place of the map.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// Value of the axis down.
    pub row: String,
    /// Value of the axis across.
    pub column: String,
    /// The baseline's mean; none where nothing was run.
    pub baseline: Option<Figure>,
    /// The variant's mean.
    pub variant: Option<Figure>,
    /// The change, with its verdict after the correction; none where something is missing, or samples carry no percent change.
    pub change: Option<Change>,
}

impl EffectMap {
    /// The answer to `question`. Seeds are pooled: their runs are further runs.
    ///
    /// # Errors
    /// An axis, a value, a workload, a metric or a variant that the sweep does not have, or that has to be chosen; an axis besides
    /// rows, columns and seeds that has several values. Samples that cannot be compared.
    pub fn of(
        swept: &Swept,
        question: &Question,
        resampling: &Resampling,
    ) -> Result<EffectMap, ResultsError> {
        let looked = restricted(swept, question)?;
        let about = looked.chosen(&question.choice)?;
        let by_variant = question.axes().contains(&VARIANT);
        let variant = match by_variant {
            true => None,
            false => looked.variant(&about.workload, &question.choice)?,
        };
        let cells: Vec<(&Given, Vec<[&String; 2]>)> =
            looked.cells.iter().map(|cell| (cell, places(cell, question, about))).collect();
        // Which variants a cell that was not run would have had, others tell.
        let variants: BTreeSet<&String> =
            looked.cells.iter().flat_map(|cell| others(cell, about)).collect();
        let variants: Vec<&String> = variants.into_iter().collect();
        let lacks = looked.missing.iter().flat_map(|place| at(place, &variants, question));
        let places: Vec<[&String; 2]> =
            cells.iter().flat_map(|(_, places)| places.clone()).chain(lacks).collect();
        let [rows, columns] = [0, 1].map(|side| ordered(places.iter().map(|place| place[side])));
        let pairs: Vec<[&String; 2]> =
            rows.iter().flat_map(|row| columns.iter().map(move |column| [row, column])).collect();
        let pooled = |place: &[&String; 2]| {
            let own = question.axes().iter().position(|axis| *axis == VARIANT).map(|at| place[at]);
            let mut both = [vec![], vec![]];
            for (cell, _) in cells.iter().filter(|(_, places)| places.contains(place)) {
                let samples = cell.samples(about, own.or(variant.as_ref()));
                both.iter_mut().zip(samples).for_each(|(all, some)| all.extend(some));
            }
            both
        };
        let compared = compared(question, about, pairs.iter().map(pooled), resampling)?;
        let effects = pairs.iter().zip(&compared.rows).map(|([row, column], compared)| Effect {
            row: row.to_string(),
            column: column.to_string(),
            baseline: compared.cells[0].figure().copied(),
            variant: compared.cells[1].figure().copied(),
            change: compared.cells[1].change().copied(),
        });
        Ok(EffectMap {
            rows_axis: question.rows.clone(),
            columns_axis: question.columns.clone(),
            effects: effects.collect(),
            only: question.only.clone(),
            workload: about.workload.clone(),
            metric: about.metric.clone(),
            unit: about.unit.clone(),
            better: about.better,
            level: compared.level,
            comparisons: compared.comparisons,
            missing: looked.missing.len(),
            rows,
            columns,
        })
    }
}

impl Question {
    fn axes(&self) -> [&str; 2] {
        [&self.rows, &self.columns]
    }
}

/// The map as a table of two columns, so that its correction is over all places.
fn compared(
    question: &Question,
    about: &Series,
    places: impl Iterator<Item = [Vec<f64>; 2]>,
    resampling: &Resampling,
) -> Result<stats::table::Compared, ResultsError> {
    let row = |both: [Vec<f64>; 2]| Row {
        label: String::new(),
        cells: both.iter().map(|values| Cell::of(values)).collect(),
    };
    let table = Table {
        metric: about.metric.clone(),
        varying: question.axes().join(", "),
        unit: about.unit.clone(),
        better: about.better,
        estimator: Estimator::Amean,
        columns: vec!["baseline".to_string(), VARIANT.to_string()],
        rows: places.map(row).collect(),
    };
    Ok(analyse(vec![table], resampling)?.remove(0).compared)
}

/// The places of the map that a cell fills.
fn places<'a>(cell: &'a Given, question: &Question, about: &Series) -> Vec<[&'a String; 2]> {
    at(&cell.place, &others(cell, about), question)
}

/// The variants of a cell beside its baseline.
fn others<'a>(cell: &'a Given, about: &Series) -> Vec<&'a String> {
    cell.variants(&about.workload).into_iter().skip(1).collect()
}

/// The places of the map that a cell of these variants fills.
fn at<'a>(place: &'a Place, variants: &[&'a String], question: &Question) -> Vec<[&'a String; 2]> {
    let values = |axis: &str| match axis {
        VARIANT => variants.to_vec(),
        axis => value(place, axis).into_iter().collect(),
    };
    let [rows, columns] = question.axes().map(values);
    rows.iter().flat_map(|&row| columns.iter().map(move |&column| [row, column])).collect()
}

/// The cells that the question is about.
fn restricted(swept: &Swept, question: &Question) -> Result<Swept, ResultsError> {
    let axes = swept.axes.join(", ");
    for (field, axis) in ["rows", "columns"].into_iter().zip(question.axes()) {
        if axis != VARIANT && !swept.axes.iter().any(|own| own == axis) {
            let expected = format!("one of {axes}, {VARIANT}");
            return Err(swept.wrong(field, &format!("`{axis}`"), &expected));
        }
    }
    if question.rows == question.columns {
        let found = format!("`{}`, as for rows", question.columns);
        return Err(swept.wrong("columns", &found, "another axis"));
    }
    for (axis, wanted) in &question.only {
        if !swept.axes.contains(axis) {
            return Err(swept.wrong("only", &format!("`{axis}`"), &format!("one of {axes}")));
        }
        let values = swept.values(axis);
        if !values.contains(wanted) {
            let expected = format!("one of {}", values.join(", "));
            return Err(swept.wrong(&format!("only {axis}"), &format!("`{wanted}`"), &expected));
        }
    }
    let is_in = |place: &Place| {
        question.only.iter().all(|(axis, wanted)| value(place, axis) == Some(wanted))
    };
    let looked = Swept {
        dir: swept.dir.clone(),
        axes: swept.axes.clone(),
        cells: swept.cells.iter().filter(|cell| is_in(&cell.place)).cloned().collect(),
        missing: swept.missing.iter().filter(|place| is_in(place)).cloned().collect(),
    };
    let shown = [&question.rows, &question.columns, SEED];
    for axis in looked.axes.iter().filter(|axis| !shown.contains(&axis.as_str())) {
        let values = looked.values(axis);
        if values.len() > 1 {
            let expected = format!("one of them ({axis}=VALUE), or the axis as rows or columns");
            return Err(looked.wrong(axis, &values.join(", "), &expected));
        }
    }
    match looked.cells.is_empty() {
        true => Err(looked.wrong("cells", "none that was run", "at least one")),
        false => Ok(looked),
    }
}

#[cfg(test)]
mod tests;
