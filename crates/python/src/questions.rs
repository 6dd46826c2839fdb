//! What a sweep answers: where a change matters, and where it turns.

use crate::error::fail;
use crate::json::{table_of, to_python};
use crate::sweep::Sweep;
use crate::table::Table;
use ::results::analysis::resampling;
use ::results::effects::{EffectMap, Question};
use ::results::swept::Choice;
use ::results::turns::Turns;
use ::results::{ResultsError, frames};
use ::sweep::{Next, SweepError};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What errors call a search that was not read from a file.
const MADE: &str = "Bisection";

/// The effect of a change over two axes of a sweep: a `Table` with a row for each place, and a heat map.
///
/// Its first two columns have the names of the axes. `verdict` is what the whole map proves at 95 %, after Holm's correction over all
/// places: better, worse, no-difference, or none where there is nothing to compare. `percent`, `low` and `high` are in percent, positive
/// if the variant is better.
#[pyclass(frozen, extends = Table, module = "schedscape")]
pub struct Effects {
    map: EffectMap,
}

#[pymethods]
impl Effects {
    /// The heat map as an SVG document. A proven effect is coloured.
    fn svg(&self) -> String {
        report::effects_svg::svg(&self.map)
    }

    fn _repr_svg_(&self) -> String {
        self.svg()
    }

    /// What `schedscape sweep show --json` prints.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.map)
    }

    fn __str__(&self) -> String {
        report::effects::text(&self.map)
    }
}

/// The effect of a change over two axes of the sweep in the directory `path`. `schedscape.effects` is its face.
#[pyfunction]
pub fn effects(
    py: Python<'_>,
    path: PathBuf,
    axes: (String, String),
    choice: (Option<String>, Option<String>, Option<String>),
    only: BTreeMap<String, Bound<'_, PyAny>>,
) -> PyResult<Py<Effects>> {
    let (rows, columns) = axes;
    let (workload, metric, variant) = choice;
    let label = |(axis, value): (String, Bound<'_, PyAny>)| {
        // As TOML has it, which is how a dataset names its partitions.
        let text = value.str()?.to_string();
        let is_bool = value.is_instance_of::<pyo3::types::PyBool>();
        Ok((axis, if is_bool { text.to_lowercase() } else { text }))
    };
    let question = Question {
        rows,
        columns,
        choice: Choice { workload, metric, variant },
        only: only.into_iter().map(label).collect::<PyResult<_>>()?,
    };
    let map = py.detach(|| {
        let swept = ::sweep::read(&path)?;
        let resampling = resampling().map_err(ResultsError::from)?;
        Ok(EffectMap::of(&swept, &question, &resampling)?)
    });
    let map = map.map_err(|e: SweepError| fail(e))?;
    let names = [map.rows_axis.clone(), map.columns_axis.clone()];
    let table = Table::named(frames::effects(&map), &names)?;
    Py::new(py, PyClassInitializer::from(table).add_subclass(Effects { map }))
}

/// A search for the value of a parameter at which a change turns from gain to loss.
///
/// `Bisection(experiment, search)` takes the fields of an experiment, and those of the table `[bisect]`: `{"parameter":
/// "workload.NAME.BENCHMARK.PARAMETER", "from": 1, "to": 64, "width": 2}`. `Bisection.from_toml` reads a file or a text.
#[pyclass(frozen, module = "schedscape")]
pub struct Bisection {
    inner: ::sweep::Bisection,
}

#[pymethods]
impl Bisection {
    #[new]
    fn new(experiment: Bound<'_, PyDict>, search: Bound<'_, PyDict>) -> PyResult<Bisection> {
        let mut table = table_of(&experiment, "experiment")?;
        table.insert("bisect".to_string(), toml::Value::Table(table_of(&search, "search")?));
        let inner = ::sweep::Bisection::of_table(table, MADE).map_err(fail)?;
        Ok(Bisection { inner })
    }

    /// Reads a file, by its path, or a text: a `str` with a line break.
    #[staticmethod]
    fn from_toml(source: &Bound<'_, PyAny>) -> PyResult<Bisection> {
        let inner = if let Ok(text) = source.cast::<PyString>()
            && text.to_string().contains('\n')
        {
            ::sweep::Bisection::parse(&text.to_string(), MADE)
        } else {
            let path: PathBuf = source
                .extract()
                .map_err(|_| PyTypeError::new_err("source: expected a path or a text"))?;
            ::sweep::Bisection::load(&path)
        };
        Ok(Bisection { inner: inner.map_err(fail)? })
    }

    /// Goes on as far as the dataset in the directory `path` allows: a `Sweep` of the cells that are to be run, those of earlier steps
    /// among them, or the answer.
    fn next<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        match py.detach(|| self.inner.next(&path)).map_err(fail)? {
            Next::Run(cells) => Ok(Bound::new(py, Sweep::of_cells(cells))?.into_any()),
            Next::Ended(turns) => Ok(Bound::new(py, Turned { turns: *turns })?.into_any()),
        }
    }
}

/// Where a change turns from gain to loss. `print(turned)` shows what the command shows.
#[pyclass(frozen, module = "schedscape")]
pub struct Turned {
    turns: Turns,
}

#[pymethods]
impl Turned {
    /// By turn: the two values between which the sign turns. Nothing is proven between those that are farther apart than was asked for.
    #[getter]
    fn turns(&self) -> Vec<(f64, f64)> {
        self.turns.turns.iter().map(|turn| (turn.low, turn.high)).collect()
    }

    /// The answer in words.
    #[getter]
    fn answer(&self) -> String {
        report::turns::answer(&self.turns)
    }

    /// A row for each value that was looked at: value, runs, percent change with its 95 % interval, verdict, and the smallest effect
    /// that these runs could show.
    fn points(&self) -> PyResult<Table> {
        Table::of(frames::points(&self.turns))
    }

    /// What `schedscape sweep bisect --json` prints.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.turns)
    }

    fn __str__(&self) -> String {
        report::turns::text(&self.turns)
    }

    fn __repr__(&self) -> String {
        format!("Turned {:?}: {}", self.turns.parameter, self.answer())
    }
}
