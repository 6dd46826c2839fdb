//! Experiments.

use crate::error::{argument, fail, plain};
use crate::json::{table_of, to_python};
use crate::results::Results;
use crate::waiting::Asked;
use crate::{trace, waiting};
use ::experiment::{Stoppable, When};
use definition::{ExperimentFile, Plan, toml_of};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::path::PathBuf;

/// What errors call an experiment that was not read from a file.
const MADE: &str = "Experiment";

/// An experiment: a machine, two or more variants of the kernel, workloads.
///
/// `Experiment(name=..., machine=..., variant=[...], workload=[...])` takes the fields of an experiment file under their names, dictionaries
/// for tables and lists for arrays; `None` is a field that is absent. There is one schema and one check of it, the command's.
/// `Experiment.from_toml` reads a file or a text.
///
/// Raises `schedscape.Error` with the field where something is wrong.
#[pyclass(frozen, eq, module = "schedscape")]
#[derive(PartialEq)]
pub struct Experiment {
    file: ExperimentFile,
    path: String,
}

impl Experiment {
    fn plan(&self) -> PyResult<Plan> {
        Plan::new(self.file.clone(), &self.path).map_err(fail)
    }
}

/// Whose constants are moved.
fn when(sensitivity: &str) -> PyResult<Option<When>> {
    match sensitivity {
        "never" => Ok(None),
        "cheap" => Ok(Some(When::Cheap)),
        "always" => Ok(Some(When::Always)),
        found => Err(argument("sensitivity", &format!("`{found}`"), "never, cheap or always")),
    }
}

#[pymethods]
impl Experiment {
    #[new]
    #[pyo3(signature = (**fields))]
    fn new(py: Python<'_>, fields: Option<Bound<'_, PyDict>>) -> PyResult<Experiment> {
        let fields = fields.unwrap_or_else(|| PyDict::new(py));
        let table = table_of(&fields, MADE)?;
        let file = ExperimentFile::of_table(&table, MADE).map_err(fail)?;
        Ok(Experiment { file, path: MADE.to_string() })
    }

    /// Reads a file, by its path, or a text: a `str` with a line break. Files that a text names are relative to the current directory,
    /// or to that of `path`.
    #[staticmethod]
    #[pyo3(signature = (source, path=None))]
    fn from_toml(source: &Bound<'_, PyAny>, path: Option<String>) -> PyResult<Experiment> {
        if let Ok(text) = source.cast::<PyString>()
            && text.to_string().contains('\n')
        {
            let path = path.unwrap_or_else(|| MADE.to_string());
            let file = ExperimentFile::parse(&text.to_string(), &path).map_err(fail)?;
            return Ok(Experiment { file, path });
        }
        let from: PathBuf = source
            .extract()
            .map_err(|_| PyTypeError::new_err("source: expected a path or a text"))?;
        let file = ExperimentFile::load(&from).map_err(fail)?;
        Ok(Experiment { file, path: from.display().to_string() })
    }

    /// Its short name.
    #[getter]
    fn name(&self) -> &str {
        &self.file.name
    }

    /// One line for people.
    #[getter]
    fn title(&self) -> &str {
        &self.file.title
    }

    /// What `Machine` takes to read its machine.
    #[getter]
    fn machine(&self) -> &str {
        &self.file.machine
    }

    /// Names of its variants; the first is the baseline.
    #[getter]
    fn variants(&self) -> Vec<&str> {
        self.file.variants.iter().map(|v| &*v.name).collect()
    }

    /// Names of its workloads.
    #[getter]
    fn workloads(&self) -> Vec<&str> {
        self.file.workloads.iter().map(|w| &*w.name).collect()
    }

    /// The experiment as a file.
    fn to_toml(&self) -> PyResult<String> {
        toml_of(&self.file).map_err(fail)
    }

    /// The experiment as dictionaries and lists, which `Experiment(**d)` takes.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.file)
    }

    /// Runs it and returns `Results`. They do not depend on the number of threads.
    ///
    /// `engine` is "sim"; guests and this computer's own kernel are the command's. `threads` is the number of threads, 0 for one a CPU.
    /// `progress` is called with the runs done and the runs in all; `True` shows a bar of tqdm where that is installed.
    ///
    /// `sensitivity` says whose constants are moved, so that `Results.elasticities` tells on which of them verdicts hang: those of
    /// workloads for which it takes no more runs than they have ("cheap"), of all ("always"), of none ("never"). With `robust`,
    /// constants are moved over their ranges, and `Results.robustness` tells which answers hold there. Both are further runs.
    ///
    /// The interpreter's lock is free meanwhile. Ctrl-C raises `KeyboardInterrupt` when the runs that have begun have ended.
    #[pyo3(signature = (engine="sim", threads=0, progress=None, *, sensitivity="never", robust=false))]
    fn run(
        &self,
        py: Python<'_>,
        engine: &str,
        threads: usize,
        progress: Option<Bound<'_, PyAny>>,
        sensitivity: &str,
        robust: bool,
    ) -> PyResult<Results> {
        if engine != "sim" {
            let expected = "sim; the command `schedscape run` has the others";
            return Err(argument("engine", &format!("`{engine}`"), expected));
        }
        let asked = Asked { sensitivity: when(sensitivity)?, robust };
        let plan = self.plan()?;
        let reporter = py
            .import("schedscape._progress")?
            .call_method1("reporter", (progress, self.name(), "run"))?;
        let tell = Some(reporter.clone()).filter(|r| !r.is_none()).map(Bound::unbind);
        let ran = waiting::run(py, &plan, threads, asked, tell.as_ref());
        if !reporter.is_none() {
            reporter.call_method0("close")?;
        }
        Ok(Results::of(ran?))
    }

    /// Runs one run again and writes what happens in it as the file `output`: `.pftrace` for Perfetto, `.txt` or `.trace` for
    /// ftrace's text, `.dat` for trace-cmd. `workload` and `variant` may be left out where there is one. Returns the number of records.
    #[pyo3(signature = (output, workload=None, variant=None, run=0))]
    fn trace(
        &self,
        py: Python<'_>,
        output: PathBuf,
        workload: Option<&str>,
        variant: Option<&str>,
        run: u32,
    ) -> PyResult<u64> {
        let plan = self.plan()?;
        Stoppable::check(&plan).map_err(fail)?;
        py.detach(|| trace::write(&plan, &output, (workload, variant), run))
    }

    fn __repr__(&self) -> String {
        let (variants, workloads) = (self.variants().join(", "), self.workloads().join(", "));
        let machine = self.machine();
        format!("Experiment {:?} on {machine}: {workloads} under {variants}", self.name())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String, String))> {
        let made = slf.get_type().getattr("from_toml")?;
        let this = slf.get();
        // A text is told from a path by its line breaks.
        Ok((made, (toml_of(&this.file).map_err(plain)? + "\n", this.path.clone())))
    }
}
