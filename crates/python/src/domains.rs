//! Sched domains.

use crate::error::fail;
use crate::json::to_python;
use crate::machine::Machine;
use kernel::{Kernel, MECHANISMS, Version};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// The sched domains of a machine under a kernel, character for character what that kernel logs.
#[pyclass(frozen, module = "schedscape")]
pub struct Domains {
    inner: kernel::Domains,
    version: Version,
    machine: String,
}

#[pymethods]
impl Domains {
    /// The lines that the kernel logs with `sched_verbose`.
    fn log(&self) -> String {
        kernel::log::log(&self.inner, self.version)
    }

    /// The files of `/sys/kernel/debug/sched/domains`.
    fn debugfs(&self) -> String {
        kernel::debugfs::debugfs(&self.inner, self.version)
    }

    /// The domains as a tree of text.
    fn tree(&self) -> String {
        report::domains_tree::domains_tree(&self.inner, self.version, &self.machine)
    }

    /// The domains of each CPU as dictionaries and lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.inner)
    }

    fn __str__(&self) -> String {
        self.tree()
    }

    fn __repr__(&self) -> String {
        format!("Domains of {} under {}", self.machine, self.version)
    }
}

/// The sched domains of `machine`, a `Machine` or what makes one, under the release `kernel`, such as "6.12", with mechanisms switched
/// on or off by name (`schedscape.mechanisms()`).
///
/// Raises `schedscape.Error` for a machine, release or mechanism that there is not.
#[pyfunction]
#[pyo3(signature = (machine, kernel, mechanisms=None))]
pub fn domains(
    machine: &Bound<'_, PyAny>,
    kernel: &str,
    mechanisms: Option<BTreeMap<String, bool>>,
) -> PyResult<Domains> {
    let py = machine.py();
    let machine = match machine.cast::<Machine>() {
        Ok(machine) => machine.get().inner.clone(),
        Err(_) => Machine::read(py, &machine.str()?.to_string())?.inner,
    };
    let version: Version = kernel.parse().map_err(fail)?;
    let mut kernel = Kernel::new(version);
    for (name, on) in mechanisms.unwrap_or_default() {
        kernel = kernel.with_named(&name, on).map_err(fail)?;
    }
    let inner = py.detach(|| kernel::build(&machine, &kernel)).map_err(fail)?;
    Ok(Domains { inner, version, machine: machine.name })
}

/// What variants can switch: names, and what each does.
#[pyfunction]
pub fn mechanisms() -> BTreeMap<&'static str, &'static str> {
    MECHANISMS.iter().map(|m| (m.name, m.what)).collect()
}
