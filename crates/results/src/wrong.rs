//! The parts of what is wrong with results.

use crate::ResultsError;
use machine::Wrong;

impl ResultsError {
    /// Its parts, as far as it has them apart from one another.
    pub fn wrong(&self) -> Wrong {
        match self {
            ResultsError::Io { file, reason } => {
                Wrong { found: Some(reason.to_string()), ..Wrong::place(file, None) }
            }
            ResultsError::Store { file, place, found, expected } => {
                Wrong::at(place, found, expected).within(file, "")
            }
            ResultsError::Study { found, known } => {
                Wrong::at("study", found, &format!("one of {known}"))
            }
            ResultsError::Engine { found } => {
                Wrong::at("engine", found, "sim, host, vm, vm-icountN or vm-kvm")
            }
            ResultsError::Definition(reason) => reason.wrong(),
            ResultsError::Stats(_) => Wrong::default(),
        }
    }
}
