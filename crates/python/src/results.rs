//! Results.

use crate::error::{argument, fail, plain};
use crate::json::to_python;
use crate::table::Table;
use ::results::analysis::resampling;
use ::results::{Analysis, ResultsError, frames, join, sides, store};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use report::{Layout, json, text};
use std::path::PathBuf;

/// What an experiment gave: every run of every workload under every variant.
///
/// Tables come in Arrow's form (`Table`), a row a value. `print(results)` shows what the command shows.
#[pyclass(frozen, eq, module = "schedscape")]
#[derive(PartialEq)]
pub struct Results {
    inner: ::results::Results,
}

impl Results {
    /// These results.
    pub fn of(inner: ::results::Results) -> Results {
        Results { inner }
    }

    /// All that follows from them, as `shown` has it.
    fn analysed<T: Send>(
        &self,
        py: Python<'_>,
        shown: impl Fn(&Analysis<'_>) -> PyResult<T> + Send + Sync,
    ) -> PyResult<T> {
        py.detach(|| {
            let resampling = resampling().map_err(|e| fail(ResultsError::from(e)))?;
            shown(&Analysis::of(&self.inner, resampling).map_err(fail)?)
        })
    }
}

/// What `schedscape compare` prints of one or more results of one experiment, each of them `Results` or a directory of stored ones: of
/// one its tables; several engines side by side, with where they disagree.
#[pyfunction]
#[pyo3(signature = (*results))]
pub fn compare(py: Python<'_>, results: Vec<Bound<'_, PyAny>>) -> PyResult<String> {
    if results.is_empty() {
        return Err(argument("results", "none", "one or more"));
    }
    let store =
        |(at, given): (usize, Bound<'_, PyAny>)| -> PyResult<(::results::Results, PathBuf)> {
            if let Ok(own) = given.cast::<Results>() {
                return Ok((own.get().inner.clone(), PathBuf::from(format!("results[{at}]"))));
            }
            let directory: PathBuf = given
                .extract()
                .map_err(|_| PyTypeError::new_err("results: expected Results or a directory"))?;
            Ok((py.detach(|| store::read(&directory)).map_err(fail)?, directory))
        };
    let stores = results.into_iter().enumerate().map(store).collect::<PyResult<Vec<_>>>()?;
    py.detach(|| {
        let stores = join::joined(stores).map_err(fail)?;
        let resampling = resampling().map_err(|e| fail(ResultsError::from(e)))?;
        let analyses = stores.iter().map(|(results, _)| Analysis::of(results, resampling));
        let analyses: Vec<Analysis<'_>> = analyses.collect::<Result<_, _>>().map_err(fail)?;
        if let [analysis] = &analyses[..] {
            return text::results(analysis, Layout::Whole, false).map_err(plain);
        }
        let paths = stores.iter().map(|(_, path)| path.as_path());
        let both: Vec<_> = analyses.iter().zip(paths).collect();
        Ok(report::sides::sides(&sides::compare(&both).map_err(fail)?, false))
    })
}

#[pymethods]
impl Results {
    /// Reads a directory that `write` or `schedscape run --out` made.
    #[staticmethod]
    fn read(py: Python<'_>, directory: PathBuf) -> PyResult<Results> {
        Ok(Results::of(py.detach(|| store::read(&directory)).map_err(fail)?))
    }

    /// Stores them in a new directory, which appears only when it is whole. The same results give the same bytes.
    fn write(&self, py: Python<'_>, directory: PathBuf) -> PyResult<()> {
        py.detach(|| store::write(&self.inner, &directory)).map_err(fail)
    }

    /// Name of the experiment.
    #[getter]
    fn experiment(&self) -> &str {
        &self.inner.experiment.name
    }

    /// A row for each metric of each run: workload, variant, run, seed, name, unit, better (higher or lower),
    /// value (in that unit).
    fn samples(&self) -> PyResult<Table> {
        Table::of(frames::samples(&self.inner))
    }

    /// A row for each counter of each run: workload, variant, run, seed, name, unit, value (a whole number).
    fn counters(&self) -> PyResult<Table> {
        Table::of(frames::counters(&self.inner))
    }

    /// A row for each metric of each variant against the baseline: means, the percent change (positive if the variant is better) with its
    /// 95 % interval, the verdict at 99 % (better, worse, no-difference; none where nothing can be said), and the smallest effect that
    /// these runs could show.
    fn comparisons(&self, py: Python<'_>) -> PyResult<Table> {
        Table::of(self.analysed(py, |analysis| Ok(frames::comparisons(analysis)))?)
    }

    /// A row for each metric of each variant against the baseline over the ranges of constants, where `run` was asked for that: the
    /// percent change, what holds over the ranges (robust, undecided, no-difference-shown), the least and the largest change that full
    /// runs found, and the constants that turn the sign.
    fn robustness(&self, py: Python<'_>) -> PyResult<Table> {
        Table::of(self.analysed(py, |analysis| Ok(frames::robustness(analysis)))?)
    }

    /// A row for each of the three constants that move a comparison most from end to end of their range: value, range, who gave the
    /// range, and the percent change at both ends.
    fn swings(&self, py: Python<'_>) -> PyResult<Table> {
        Table::of(self.analysed(py, |analysis| Ok(frames::swings(analysis)))?)
    }

    /// A row for each of the three constants on which a comparison hangs most, where `run` was asked for `sensitivity`: points of percent
    /// change for each unit of the constant's natural logarithm, with an interval, and the verdict with the constant smaller and larger.
    fn elasticities(&self, py: Python<'_>) -> PyResult<Table> {
        Table::of(self.analysed(py, |analysis| Ok(frames::elasticities(analysis)))?)
    }

    /// What `schedscape compare` prints: `layout` is "whole" or "csv".
    #[pyo3(signature = (layout="whole"))]
    fn compare(&self, py: Python<'_>, layout: &str) -> PyResult<String> {
        let layout = match layout {
            "whole" => Layout::Whole,
            "csv" => Layout::Csv,
            found => return Err(argument("layout", &format!("`{found}`"), "whole or csv")),
        };
        self.analysed(py, |analysis| text::results(analysis, layout, false).map_err(plain))
    }

    /// The results and all that follows from them, as `schedscape compare --json` has it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let document = self.analysed(py, |analysis| {
            serde_json::to_value(json::results(analysis)).map_err(plain)
        })?;
        to_python(py, &document)
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.compare(py, "whole")
    }

    fn __repr__(&self) -> String {
        let runs = self.inner.workloads.iter().flat_map(|w| &w.variants).map(|v| v.runs.len());
        format!("Results of {:?}: {} runs", self.inner.experiment.name, runs.sum::<usize>())
    }
}
