//! The parts of what is wrong with an experiment file.

use crate::DefinitionError;
use crate::file::ConstantsError;
use machine::constants::OverrideError;
use machine::model::OnlineError;
use machine::{MachineError, Wrong};

impl DefinitionError {
    /// Its parts, as far as it has them apart from one another.
    pub fn wrong(&self) -> Wrong {
        match self {
            DefinitionError::Io { file, reason } => {
                let found = Some(reason.to_string());
                Wrong { found, ..Wrong::place(file, None) }
            }
            DefinitionError::Toml { file, line, .. } => {
                Wrong::place(file, Some(&format!("line {line}")))
            }
            DefinitionError::Schema { file, field, found, .. } => {
                Wrong { found: found.clone(), ..Wrong::place(file, Some(field)) }
            }
            DefinitionError::Field { file, field, found, expected } => {
                Wrong::at(field, found, expected).within(file, "")
            }
            DefinitionError::Machine { file, reason } => of_machine(reason).within(file, "machine"),
            DefinitionError::Constants { file, reason } => {
                of_constants(reason).within(file, "constants")
            }
            DefinitionError::Costs { file, .. } => Wrong::place(file, Some("costs")),
            DefinitionError::Smt { file, variant, reason } => {
                of_online(reason).within(file, &format!("variant `{variant}`"))
            }
            DefinitionError::Kernel { file, variant, reason } => {
                reason.wrong().within(file, &format!("variant `{variant}`"))
            }
            DefinitionError::Workload { file, workload, .. } => {
                Wrong::place(file, Some(&format!("workload `{workload}`")))
            }
            DefinitionError::Write { experiment, .. } => Wrong::place(experiment, None),
        }
    }
}

/// A name that leads to no machine is what was found, where the field is `machine` already.
fn of_machine(error: &MachineError) -> Wrong {
    match error {
        MachineError::Spec { spec, found, expected } => Wrong {
            found: Some(format!("`{spec}`, {found}")),
            expected: Some(expected.clone()),
            ..Wrong::default()
        },
        other => other.wrong(),
    }
}

fn of_constants(error: &ConstantsError) -> Wrong {
    match error {
        ConstantsError::Machine(reason) => of_machine(reason),
        ConstantsError::Override(OverrideError::Name { name, of, expected }) => {
            Wrong::at(name, &format!("no such constant{of}"), expected)
        }
        ConstantsError::Override(OverrideError::Value { name, found, unit }) => {
            Wrong::at(name, &found.to_string(), &format!("a finite number in {unit}"))
        }
    }
}

fn of_online(error: &OnlineError) -> Wrong {
    match error {
        OnlineError::Unknown { found, possible } => {
            Wrong::at("online", &format!("CPUs {found}"), &format!("CPUs out of {possible}"))
        }
        OnlineError::Empty => Wrong::at("online", "no CPU", "at least one"),
        OnlineError::Smt { found, widest } => {
            Wrong::at("smt", &found.to_string(), &format!("1 to {widest}"))
        }
    }
}
