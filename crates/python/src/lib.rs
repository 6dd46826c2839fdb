//! The Python package `schedscape`, its native part: it translates between Python and the crates, and no more.
//!
//! What takes long releases the interpreter's lock. Whoever waits for runs looks for signals meanwhile, so ctrl-C ends them. Tables
//! go out through Arrow's C interface, which any data-frame library takes.

mod domains;
mod error;
mod experiment;
mod json;
mod machine;
mod questions;
mod results;
mod sweep;
mod table;
mod trace;
mod waiting;

/// The module `schedscape._native`; `schedscape` is its face.
#[pyo3::pymodule]
#[pyo3(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::domains::{Domains, domains, mechanisms};
    #[pymodule_export]
    use crate::experiment::Experiment;
    #[pymodule_export]
    use crate::machine::{Machine, catalog};
    #[pymodule_export]
    use crate::questions::{Bisection, Effects, Turned, effects};
    #[pymodule_export]
    use crate::results::{Results, compare};
    #[pymodule_export]
    use crate::sweep::{Dataset, Sweep, run_cell};
    #[pymodule_export]
    use crate::table::Table;
}
