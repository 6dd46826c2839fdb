//! What things cost on a machine: named numbers, each with its unit and where it comes from.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// How well a constant is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// From an open measurement.
    Measured,
    /// Printed in a vendor's, firmware's or study's document.
    Published,
    /// Fitted on one named figure, which then never counts as predicted.
    Calibrated,
    /// Chosen by us; kept out of every claim.
    Assumed,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Mark::Measured => "measured",
            Mark::Published => "published",
            Mark::Calibrated => "calibrated",
            Mark::Assumed => "assumed",
        })
    }
}

/// One number with its unit and provenance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// The value, in `unit`.
    pub value: f64,
    /// Unit, as in `ns`, `kHz`, `ratio`.
    pub unit: String,
    /// How well it is known.
    pub mark: Mark,
    /// Where it comes from; for `calibrated` the figure it was fitted on.
    pub source: String,
}

/// The constants of a machine by name, in name order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Constants {
    by_name: BTreeMap<String, Constant>,
}

/// A constant that a model needs and the machine lacks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "constant `{name}` is missing; the simulator needs it (see a catalog file for its meaning)"
)]
pub struct MissingConstant {
    /// The constant's name.
    pub name: String,
}

impl Constants {
    /// The constant called `name`, if the machine has it.
    pub fn get(&self, name: &str) -> Option<&Constant> {
        self.by_name.get(name)
    }

    /// The value of `name`, or an error naming it.
    pub fn value(&self, name: &str) -> Result<f64, MissingConstant> {
        self.get(name).map(|c| c.value).ok_or_else(|| MissingConstant { name: name.to_string() })
    }

    /// Adds or replaces a constant.
    pub fn set(&mut self, name: &str, constant: Constant) {
        self.by_name.insert(name.to_string(), constant);
    }

    /// Constants in name order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Constant)> {
        self.by_name.iter().map(|(n, c)| (n.as_str(), c))
    }

    /// The same constants with `name` multiplied by `factor`; unchanged where there is no such name.
    pub fn scaled(&self, name: &str, factor: f64) -> Constants {
        let mut all = self.clone();
        if let Some(c) = all.by_name.get_mut(name) {
            c.value *= factor;
        }
        all
    }
}
