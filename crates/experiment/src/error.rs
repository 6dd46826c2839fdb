//! What can go wrong when an experiment runs.

use crate::engine::EngineError;
use definition::DefinitionError;
use results::ResultsError;

/// One error, saying the file or the run, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// What the experiment asks for.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// Stored results, or where runs are kept until they are stored.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A field that does not fit what is asked of the experiment.
    #[error("{file}: {field}: found {found}, expected {expected}")]
    Field {
        /// The file.
        file: String,
        /// The field.
        field: String,
        /// What was given.
        found: String,
        /// What is possible.
        expected: String,
    },
    /// Something the experiment names that the engine cannot run.
    #[error("{file}: {field}: {reason}")]
    Refused {
        /// The file.
        file: String,
        /// The field.
        field: String,
        /// Why not.
        reason: Box<EngineError>,
    },
    /// Whoever asked for the runs wants no more of them.
    #[error("stopped before all runs were done")]
    Stopped,
    /// A run that failed.
    #[error("workload `{workload}`, variant `{variant}`, run {run}: {reason}")]
    Run {
        /// The workload.
        workload: String,
        /// The variant.
        variant: String,
        /// The run, from 0.
        run: u32,
        /// Why.
        reason: Box<EngineError>,
    },
}
