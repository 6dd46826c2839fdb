//! Machines.

use crate::error::{argument, fail};
use crate::json::to_python;
use crate::table::Table;
use ::machine::Snapshot;
use ::results::frames;
use pyo3::prelude::*;
use report::machine_svg::machine_svg;
use report::machine_tree::machine_tree;

/// A machine: CPUs, caches, nodes, idle states and what things cost on it.
///
/// `Machine(source)` reads whatever the command takes: a name of the catalog (`schedscape.catalog()`), "host" for this computer, a
/// catalog file of one's own (`FILE.toml` or `FILE.toml#VARIANT`), a copy of sysfs as a directory, an archive or a listing, a device
/// tree, ACPI tables, hwloc's XML, `"qemu:-M virt -smp 8"`, `"synthetic:pack:2 l3:1 core:4 pu:2"`. In a notebook it shows as a picture.
///
/// Raises `schedscape.Error` where the source cannot be read.
#[pyclass(frozen, module = "schedscape")]
pub struct Machine {
    pub inner: ::machine::Machine,
    source: String,
    release: Option<String>,
}

impl Machine {
    /// The machine that `spec` names.
    pub fn read(py: Python<'_>, spec: &str) -> PyResult<Machine> {
        let read = py.detach(|| ::machine::resolve_snapshot(spec));
        let Snapshot { machine, release } = read.map_err(fail)?;
        Ok(Machine { inner: machine, source: spec.to_string(), release })
    }

    fn changed(&self, inner: ::machine::Machine) -> Machine {
        Machine { inner, source: self.source.clone(), release: self.release.clone() }
    }
}

#[pymethods]
impl Machine {
    #[new]
    fn new(py: Python<'_>, source: std::path::PathBuf) -> PyResult<Machine> {
        Machine::read(py, &source.to_string_lossy())
    }

    /// What it was read from.
    #[getter]
    fn source(&self) -> &str {
        &self.source
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// One line for people.
    #[getter]
    fn title(&self) -> &str {
        &self.inner.title
    }

    /// Release of the kernel that the source was recorded on; `None` where it does not say.
    #[getter]
    fn release(&self) -> Option<&str> {
        self.release.as_deref()
    }

    /// Number of CPUs, online or not.
    #[getter]
    fn cpus(&self) -> usize {
        self.inner.cpus.len()
    }

    /// Numbers of the CPUs that are online, ascending.
    #[getter]
    fn online(&self) -> Vec<usize> {
        self.inner.online.iter().collect()
    }

    /// What the source cannot tell, a line each.
    #[getter]
    fn unknown(&self) -> Vec<String> {
        self.inner.unknown.iter().map(ToString::to_string).collect()
    }

    /// What things cost: a row a constant, with columns name, value, unit, mark, source, low, high, range_source.
    fn constants(&self) -> PyResult<Table> {
        Table::of(frames::constants(&self.inner.constants))
    }

    /// The same machine in another SMT mode, as `ppc64_cpu --smt=N` sets it.
    fn with_smt(&self, smt: u32) -> PyResult<Machine> {
        let changed = self.inner.with_smt(smt);
        Ok(self.changed(changed.map_err(|e| argument("smt", &smt.to_string(), &e.to_string()))?))
    }

    /// The same machine with these CPUs online: a kernel's list, such as "0-3,8".
    fn with_online(&self, cpus: &str) -> PyResult<Machine> {
        let wrong =
            |e: &dyn std::fmt::Display| argument("online", &format!("`{cpus}`"), &e.to_string());
        let set = cpus.parse().map_err(|e: ::machine::cpuset::ParseCpuListError| wrong(&e))?;
        Ok(self.changed(self.inner.with_online(set).map_err(|e| wrong(&e))?))
    }

    /// The machine as a tree of text.
    fn tree(&self) -> String {
        machine_tree(&self.inner)
    }

    /// The machine as a picture: the text of an SVG file.
    fn svg(&self) -> String {
        machine_svg(&self.inner)
    }

    /// The machine as hwloc's XML.
    fn hwloc(&self) -> String {
        ::machine::hwloc::write_xml(&self.inner)
    }

    /// Everything that is known of it, as `schedscape machine show --json` has it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.inner)
    }

    fn _repr_svg_(&self) -> String {
        self.svg()
    }

    fn __str__(&self) -> String {
        self.tree()
    }

    fn __repr__(&self) -> String {
        format!("Machine({:?}): {}, {} CPUs", self.source, self.inner.title, self.inner.cpus.len())
    }
}

/// Names of the machines that come with schedscape.
#[pyfunction]
pub fn catalog() -> Vec<&'static str> {
    ::machine::catalog::names().to_vec()
}
