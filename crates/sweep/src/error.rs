//! What can be wrong with a sweep.

use definition::DefinitionError;
use experiment::ExperimentError;
use machine::Wrong;
use results::ResultsError;
use std::path::Path;

/// One error, saying the file, the place in it, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The experiment, as it is in one of the cells.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// A field of the sweep with an impossible value, something that the simulator refuses, or a run that failed.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The dataset.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A cell whose address is another one here.
    #[error(
        "cell {key}: found another build, machine or file, expected those of whoever made the cell"
    )]
    Elsewhere {
        /// The address that it came with.
        key: String,
    },
    /// Text or values that cannot be kept.
    #[error("{0}")]
    Kept(String),
}

impl SweepError {
    pub(crate) fn field(file: &str, field: &str, found: &str, expected: &str) -> SweepError {
        SweepError::Experiment(ExperimentError::Field {
            file: file.to_string(),
            field: field.to_string(),
            found: found.to_string(),
            expected: expected.to_string(),
        })
    }

    pub(crate) fn io(file: &Path, reason: std::io::Error) -> SweepError {
        SweepError::Results(ResultsError::io(file, reason))
    }

    /// Its parts, as far as it has them apart from one another.
    pub fn wrong(&self) -> Wrong {
        match self {
            SweepError::Definition(reason) => reason.wrong(),
            SweepError::Experiment(reason) => reason.wrong(),
            SweepError::Results(reason) => reason.wrong(),
            SweepError::Elsewhere { key } => Wrong::at(
                &format!("cell {key}"),
                "another build, machine or file",
                "those of whoever made the cell",
            ),
            SweepError::Kept(_) => Wrong::default(),
        }
    }
}
