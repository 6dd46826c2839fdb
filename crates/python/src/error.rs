//! Errors of the crates as the exception `schedscape.Error`.

use ::experiment::ExperimentError;
use ::machine::Wrong;
use ::results::ResultsError;
use definition::DefinitionError;
use kernel::KernelError;
use pyo3::prelude::*;
use std::fmt::Display;

/// An error that tells its parts.
pub trait Told: Display {
    /// The parts that it has apart from one another.
    fn wrong(&self) -> Wrong;
}

macro_rules! told {
    ($($error:ty),+) => {
        $(impl Told for $error {
            fn wrong(&self) -> Wrong {
                <$error>::wrong(self)
            }
        })+
    };
}

told!(
    ::machine::MachineError,
    KernelError,
    DefinitionError,
    ExperimentError,
    ResultsError,
    ::sweep::SweepError
);

/// The exception for an error.
pub fn fail(error: impl Told) -> PyErr {
    raised(&error.to_string(), error.wrong())
}

/// The exception for an error that has no parts.
pub fn plain(error: impl Display) -> PyErr {
    raised(&error.to_string(), Wrong::default())
}

/// The exception for a wrong argument of a call.
pub fn argument(name: &str, found: &str, expected: &str) -> PyErr {
    let message = format!("{name}: found {found}, expected {expected}");
    raised(&message, Wrong::at(name, found, expected))
}

fn raised(message: &str, wrong: Wrong) -> PyErr {
    let made = Python::attach(|py| {
        let class = py.import("schedscape._error")?.getattr("Error")?;
        let Wrong { file, field, found, expected } = wrong;
        let value = class.call1((message, file, field, found, expected))?;
        Ok::<_, PyErr>(PyErr::from_value(value))
    });
    made.unwrap_or_else(|e| e)
}
