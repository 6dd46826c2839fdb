//! What a sweep gave, cell by cell, as far as it was run.

use crate::ResultsError;
use stats::Better;
use std::collections::BTreeSet;
use std::path::Path;

/// Values of a cell by axis, in the sweep's order.
pub type Place = Vec<(String, String)>;

/// A metric of one workload under one variant, in one cell of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The workload.
    pub workload: String,
    /// The variant; the first of a workload is the baseline.
    pub variant: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// A value a run, in the unit.
    pub values: Vec<f64>,
}

/// What one cell gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// Where it is.
    pub place: Place,
    /// In the order of the experiment: workloads, in each its variants, in each its metrics.
    pub series: Vec<Series>,
}

/// A sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Swept {
    /// What errors call it.
    pub dir: String,
    /// Names of its axes.
    pub axes: Vec<String>,
    /// Its cells.
    pub cells: Vec<Given>,
    /// Cells that it lacks.
    pub missing: Vec<Place>,
}

/// What is compared: a metric of a workload under a variant.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choice {
    /// The workload; may be left out where there is one.
    pub workload: Option<String>,
    /// The metric; the workload's first if left out.
    pub metric: Option<String>,
    /// The variant; may be left out where cells have one beside the baseline.
    pub variant: Option<String>,
}

/// The value of `axis`.
pub fn value<'a>(place: &'a Place, axis: &str) -> Option<&'a String> {
    place.iter().find(|(name, _)| name == axis).map(|(_, value)| value)
}

/// Each value once: numbers ascending, or texts in their order.
pub fn ordered<'a>(values: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut all: Vec<String> = values.collect::<BTreeSet<_>>().into_iter().cloned().collect();
    let number = |value: &String| value.parse::<f64>();
    if all.iter().all(|value| number(value).is_ok()) {
        all.sort_by(|a, b| number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0)));
    }
    all
}

impl Swept {
    /// What is wrong with a question about it.
    pub fn wrong(&self, field: &str, found: &str, expected: &str) -> ResultsError {
        ResultsError::store(Path::new(&self.dir), field, found, expected)
    }

    /// The values of `axis`, of cells that were run or not.
    pub fn values(&self, axis: &str) -> Vec<String> {
        let places = self.cells.iter().map(|cell| &cell.place).chain(&self.missing);
        ordered(places.filter_map(|place| value(place, axis)))
    }

    /// The series whose metric `choice` names: that of the first cell, whichever its variant.
    ///
    /// # Errors
    /// A workload or a metric that there is not, or that has to be chosen.
    pub fn chosen(&self, choice: &Choice) -> Result<&Series, ResultsError> {
        let all = || self.cells.iter().flat_map(|cell| &cell.series);
        let workloads = names(all().map(|s| &s.workload));
        let workload = self.one("workload", &choice.workload, &workloads)?;
        let metrics = names(all().filter(|s| s.workload == workload).map(|s| &s.metric));
        let chosen = choice.metric.as_ref().or(metrics.first().copied()).cloned();
        let metric = self.one("metric", &chosen, &metrics)?;
        let found = all().find(|s| s.workload == workload && s.metric == metric);
        found.ok_or_else(|| self.wrong("cells", "none that was run", "at least one"))
    }

    /// The variant that `choice` names; none if each cell has one beside the baseline.
    ///
    /// # Errors
    /// A variant that there is not, or that has to be chosen.
    pub fn variant(&self, workload: &str, choice: &Choice) -> Result<Option<String>, ResultsError> {
        let of = |cell| Given::variants(cell, workload);
        if choice.variant.is_none() && self.cells.iter().all(|cell| of(cell).len() <= 2) {
            return Ok(None);
        }
        let all = names(self.cells.iter().flat_map(|cell| of(cell).into_iter().skip(1)));
        self.one("variant", &choice.variant, &all).map(Some)
    }

    /// The name that was chosen, or the only one.
    fn one(
        &self,
        field: &str,
        chosen: &Option<String>,
        all: &[&String],
    ) -> Result<String, ResultsError> {
        match (chosen, all) {
            (Some(name), all) if all.contains(&name) => Ok(name.clone()),
            (None, [only]) => Ok((*only).clone()),
            (chosen, all) => {
                let found = chosen.as_ref().map_or("none".to_string(), |name| format!("`{name}`"));
                let all: Vec<&str> = all.iter().map(|name| name.as_str()).collect();
                Err(self.wrong(field, &found, &format!("one of {}", all.join(", "))))
            }
        }
    }
}

/// Each name once, in the order in which they come.
fn names<'a>(all: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut seen = BTreeSet::new();
    all.filter(|&name| seen.insert(name)).collect()
}

impl Given {
    /// Variants of a workload, the baseline first.
    pub fn variants(&self, workload: &str) -> Vec<&String> {
        names(self.series.iter().filter(|s| s.workload == workload).map(|s| &s.variant))
    }

    /// The baseline's samples of a metric and those of `variant`, or of the only one. Both are empty where the cell lacks one.
    pub fn samples(&self, of: &Series, variant: Option<&String>) -> [Vec<f64>; 2] {
        let variants = self.variants(&of.workload);
        let own = |name: &String| {
            let found = self
                .series
                .iter()
                .find(|s| s.workload == of.workload && s.metric == of.metric && s.variant == *name);
            found.map_or(vec![], |s| s.values.clone())
        };
        match variants.as_slice() {
            [base, others @ ..] => match variant.or(others.first().copied()) {
                Some(other) if others.contains(&other) => [own(base), own(other)],
                _ => [vec![], vec![]],
            },
            [] => [vec![], vec![]],
        }
    }
}
