//! The parts of what is wrong with an experiment that runs.

use crate::ExperimentError;
use machine::Wrong;

impl ExperimentError {
    /// Its parts, as far as it has them apart from one another.
    pub fn wrong(&self) -> Wrong {
        match self {
            ExperimentError::Definition(reason) => reason.wrong(),
            ExperimentError::Results(reason) => reason.wrong(),
            ExperimentError::Field { file, field, found, expected } => {
                Wrong::at(field, found, expected).within(file, "")
            }
            ExperimentError::Refused { file, field, .. } => Wrong::place(file, Some(field)),
            ExperimentError::Stopped => Wrong::default(),
            ExperimentError::Run { workload, variant, run, .. } => {
                let field = format!("workload `{workload}`, variant `{variant}`, run {run}");
                Wrong { field: Some(field), ..Wrong::default() }
            }
        }
    }
}
