//! What things cost on a machine: named numbers, each with its unit and where it comes from.

mod range;

pub use range::{COUNTED_FACTOR, ConstantRange};
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
    /// Set by an experiment in place of the machine's; the source says what it was.
    Overridden,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Mark::Measured => "measured",
            Mark::Published => "published",
            Mark::Calibrated => "calibrated",
            Mark::Assumed => "assumed",
            Mark::Overridden => "overridden",
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
    /// In which range it may lie, where somebody states it; [`Constant::range_of`] tells it of every constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<ConstantRange>,
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

/// A value that no constant of the machine can take over.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OverrideError {
    /// A name that the machine does not have.
    #[error("{name}: found no such constant{of}, expected {expected}")]
    Name {
        /// The name as given.
        name: String,
        /// Ends the sentence where there are no constants at all.
        of: &'static str,
        /// The name that comes nearest, or where names come from.
        expected: String,
    },
    /// A value that is no finite number.
    #[error("{name}: found {found}, expected a finite number in {unit}")]
    Value {
        /// The constant's name.
        name: String,
        /// The value.
        found: f64,
        /// The constant's unit.
        unit: String,
    },
}

impl Constants {
    /// Sets constants to `values`, in the units that they have. Each is [`Mark::Overridden`] then, and its source says
    /// that `by` set it, and what its value, mark and source were. A range that was stated goes with the value.
    ///
    /// # Errors
    /// A name that the machine does not have, and a value that is not finite; nothing is set then.
    pub fn override_with(
        &mut self,
        values: &BTreeMap<String, f64>,
        by: &str,
    ) -> Result<(), OverrideError> {
        let mut all = self.by_name.clone();
        for (name, &value) in values {
            let Some(c) = all.get_mut(name) else { return Err(self.no_such(name)) };
            if !value.is_finite() {
                let (name, unit) = (name.clone(), c.unit.clone());
                return Err(OverrideError::Value { name, found: value, unit });
            }
            c.source = format!("{by}; before: {} {} ({}), {}", c.value, c.unit, c.mark, c.source);
            (c.value, c.mark, c.range) = (value, Mark::Overridden, None);
        }
        self.by_name = all;
        Ok(())
    }

    fn no_such(&self, name: &str) -> OverrideError {
        let nearest = |known: &&String| {
            let likeness = strsim::jaro_winkler(name, known);
            (likeness * 1e6) as u64
        };
        let (of, expected) = match self.by_name.keys().max_by_key(nearest) {
            Some(known) => ("", format!("a constant of the machine, such as `{known}`")),
            None => (
                ": the machine has none",
                "`from`, a machine of the catalog whose constants hold".to_string(),
            ),
        };
        OverrideError::Name { name: name.to_string(), of, expected }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    fn values(name: &str, value: f64) -> BTreeMap<String, f64> {
        BTreeMap::from([(name.to_string(), value)])
    }

    #[test]
    fn overriding_keeps_the_unit_and_says_what_was() {
        let mut all = crate::catalog::load("power9-big-core").unwrap().constants;
        let before = all.get("tick_ns").unwrap().clone();
        all.override_with(&values("tick_ns", 60.0), "x.toml").unwrap();
        let now = all.get("tick_ns").unwrap();
        assert_eq!((now.value, now.mark, &now.unit), (60.0, Mark::Overridden, &before.unit));
        let was = format!(
            "x.toml; before: {} {} ({}), {}",
            before.value, before.unit, before.mark, before.source
        );
        assert_eq!(now.source, was);
    }

    #[test]
    fn unknown_names_and_values_are_refused() {
        let mut all = crate::catalog::load("power9-big-core").unwrap().constants;
        let before = all.clone();
        let mut refuse = |name, value| {
            let error = all.override_with(&values(name, value), "x.toml").unwrap_err().to_string();
            assert_eq!(all, before);
            error
        };
        assert_eq!(
            refuse("tick", 1.0),
            "tick: found no such constant, expected a constant of the machine, such as `tick_ns`"
        );
        assert!(refuse("tick_ns", f64::NAN).contains("found NaN, expected a finite number"));
        let none = Constants::default().override_with(&values("x", 1.0), "x.toml").unwrap_err();
        assert!(none.to_string().contains("found no such constant: the machine has none"));
    }
}
