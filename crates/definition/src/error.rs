//! What can be wrong with an experiment file.

use crate::file::ConstantsError;
use workload::BuildError;

/// One error, saying the file, the place in it, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    /// A file that cannot be read.
    #[error("{file}: {reason}")]
    Io {
        /// The file.
        file: String,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// Text that is not the expected TOML.
    #[error("{file}: line {line}: {message}")]
    Toml {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The parser's message, which names the field and what was expected.
        message: String,
    },
    /// A field of an experiment given as data that does not have the expected form.
    #[error("{file}: {field}: {message}")]
    Schema {
        /// What the experiment is called.
        file: String,
        /// Path of the field, such as `variant[0].kernel`.
        field: String,
        /// What is there, where the path leads to something.
        found: Option<String>,
        /// The reader's message, which says what was expected.
        message: String,
    },
    /// A field with an impossible value.
    #[error("{file}: {field}: found {found}, expected {expected}")]
    Field {
        /// The file.
        file: String,
        /// The field, with the variant or workload it belongs to.
        field: String,
        /// What was given.
        found: String,
        /// What is possible.
        expected: String,
    },
    /// A machine that cannot be had.
    #[error("{file}: machine: {reason}")]
    Machine {
        /// The experiment file.
        file: String,
        /// Why not.
        reason: Box<machine::MachineError>,
    },
    /// Constants that the machine cannot have.
    #[error("{file}: constants: {reason}")]
    Constants {
        /// The experiment file.
        file: String,
        /// Why not.
        reason: Box<ConstantsError>,
    },
    /// Counted costs that are none.
    #[error("{file}: costs: {reason}")]
    Costs {
        /// The experiment file.
        file: String,
        /// Why not.
        reason: Box<machine::costs::CostsError>,
    },
    /// An SMT mode that the machine does not have.
    #[error("{file}: variant `{variant}`: {reason}")]
    Smt {
        /// The experiment file.
        file: String,
        /// The variant.
        variant: String,
        /// Why not.
        reason: machine::model::OnlineError,
    },
    /// A variant's kernel that cannot be.
    #[error("{file}: variant `{variant}`: {reason}")]
    Kernel {
        /// The experiment file.
        file: String,
        /// The variant.
        variant: String,
        /// Why not.
        reason: Box<kernel::KernelError>,
    },
    /// A workload that cannot be built for the machine.
    #[error("{file}: workload `{workload}`: {reason}")]
    Workload {
        /// The experiment file.
        file: String,
        /// The workload.
        workload: String,
        /// Why not.
        reason: Box<BuildError>,
    },
    /// An experiment that TOML cannot hold.
    #[error("{experiment}: {reason}")]
    Write {
        /// The experiment's name.
        experiment: String,
        /// The library's reason.
        reason: Box<toml::ser::Error>,
    },
}
