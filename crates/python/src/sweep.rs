//! Sweeps: cells as data, and the dataset of what they gave. Who runs the cells is Python's choice.

use crate::error::{argument, fail, plain};
use crate::json::{table_of, to_python};
use crate::waiting::watched;
use ::sweep::{Cell, SweepError};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What errors call a sweep that was not read from a file.
const MADE: &str = "Sweep";

/// An experiment over axes, expanded to its cells and checked.
///
/// `Sweep(experiment, grid)` takes the fields of an experiment as a dictionary, and the axes: `{"machine": [...], "seed": [...],
/// "workload.NAME.BENCHMARK.PARAMETER": [...]}`. `Sweep.from_toml` reads a file or a text with a table `[sweep]`.
///
/// Raises `schedscape.Error` for the first cell that cannot be; nothing is run or written then.
#[pyclass(frozen, module = "schedscape")]
pub struct Sweep {
    cells: Arc<Vec<Cell>>,
    axes: Vec<String>,
}

impl Sweep {
    fn of(
        py: Python<'_>,
        read: impl FnOnce() -> Result<::sweep::Sweep, SweepError> + Send,
    ) -> PyResult<Sweep> {
        let expand = || {
            let sweep = read()?;
            let axes = sweep.axes.iter().map(|axis| axis.name.clone()).collect();
            Ok(Sweep { cells: Arc::new(sweep.cells()?), axes })
        };
        py.detach(expand).map_err(|e: SweepError| fail(e))
    }
}

#[pymethods]
impl Sweep {
    #[new]
    fn new(
        py: Python<'_>,
        experiment: Bound<'_, PyDict>,
        grid: Bound<'_, PyDict>,
    ) -> PyResult<Sweep> {
        let mut table = table_of(&experiment, "experiment")?;
        table.insert("sweep".to_string(), toml::Value::Table(table_of(&grid, "grid")?));
        Sweep::of(py, || ::sweep::Sweep::of_table(table, MADE))
    }

    /// Reads a file, by its path, or a text: a `str` with a line break.
    #[staticmethod]
    fn from_toml(source: &Bound<'_, PyAny>) -> PyResult<Sweep> {
        let py = source.py();
        if let Ok(text) = source.cast::<PyString>()
            && text.to_string().contains('\n')
        {
            let text = text.to_string();
            return Sweep::of(py, || ::sweep::Sweep::parse(&text, MADE));
        }
        let path: PathBuf = source
            .extract()
            .map_err(|_| PyTypeError::new_err("source: expected a path or a text"))?;
        Sweep::of(py, || ::sweep::Sweep::load(&path))
    }

    /// Names of the axes, which are columns of the dataset; the last varies fastest.
    #[getter]
    fn axes(&self) -> Vec<String> {
        self.axes.clone()
    }

    /// The address of cell `at`: a digest of experiment, machine, constants and build.
    fn key(&self, at: usize) -> PyResult<String> {
        Ok(self.at(at)?.key.clone())
    }

    /// Cell `at` as bytes, which `run_cell` takes in any process that has this package.
    fn cell<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &serde_json::to_vec(self.at(at)?).map_err(plain)?))
    }

    /// Opens the dataset in the directory `out`, or begins one. No other process can open it meanwhile.
    fn open(&self, py: Python<'_>, out: PathBuf) -> PyResult<Dataset> {
        let inner = py.detach(|| ::sweep::Dataset::open(&out, &self.cells)).map_err(fail)?;
        Ok(Dataset { cells: self.cells.clone(), inner: Mutex::new(Some(inner)) })
    }

    fn __len__(&self) -> usize {
        self.cells.len()
    }
}

impl Sweep {
    /// These cells, which all have the same axes.
    pub fn of_cells(cells: Vec<Cell>) -> Sweep {
        let first = cells.first().map_or(&[][..], |cell| &cell.axes);
        let axes = first.iter().map(|(name, _)| name.clone()).collect();
        Sweep { cells: Arc::new(cells), axes }
    }

    fn at(&self, at: usize) -> PyResult<&Cell> {
        let below = || format!("a number below {}", self.cells.len());
        self.cells.get(at).ok_or_else(|| argument("cell", &at.to_string(), &below()))
    }
}

/// Runs a cell that `Sweep.cell` gave, on one thread. Returns the bytes of its Parquet file, always the same.
#[pyfunction]
pub fn run_cell<'py>(py: Python<'py>, cell: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let cell: Cell = serde_json::from_slice(cell)
        .map_err(|e| argument("cell", &e.to_string(), "what Sweep.cell gave"))?;
    let bytes = py.detach(|| cell.run()).map_err(fail)?;
    Ok(PyBytes::new(py, &bytes))
}

/// The dataset of a sweep while it is open.
#[pyclass(frozen, module = "schedscape")]
pub struct Dataset {
    cells: Arc<Vec<Cell>>,
    inner: Mutex<Option<::sweep::Dataset>>,
}

impl Dataset {
    fn with<T>(
        &self,
        with: impl FnOnce(&::sweep::Dataset) -> Result<T, SweepError>,
    ) -> PyResult<T> {
        let open = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.as_ref().ok_or_else(|| PyRuntimeError::new_err("the dataset is closed"))?;
        with(open).map_err(fail)
    }
}

#[pymethods]
impl Dataset {
    /// Numbers of the cells that it lacks.
    fn missing(&self) -> PyResult<Vec<usize>> {
        self.with(|dataset| Ok(dataset.missing()))
    }

    /// Adds what cell `at` gave.
    fn store(&self, at: usize, given: &[u8]) -> PyResult<()> {
        self.with(|dataset| dataset.store(at, given))
    }

    /// Runs what it lacks on threads (0: one a CPU), and writes what is missing then. `tell` is called with the cells done and in all.
    #[pyo3(signature = (threads, tell=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        threads: usize,
        tell: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let stop = AtomicBool::new(false);
        let (summary, raised) = py.detach(|| {
            watched(tell.as_ref(), &|| stop.store(true, Ordering::Relaxed), |note| {
                let progress = |p: ::sweep::Progress| note(p.done, p.cells);
                self.with(|open| ::sweep::run(&self.cells, open, threads, &stop, &progress))
            })
        });
        match raised {
            Some(raised) => Err(raised),
            None => to_python(py, &summary?),
        }
    }

    /// Writes what is missing; `failed` says why, by the cells' numbers.
    fn summarise<'py>(
        &self,
        py: Python<'py>,
        failed: BTreeMap<usize, String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.with(|dataset| dataset.summarise(&failed))?)
    }

    /// Lets others open it.
    fn close(&self) {
        *self.inner.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
