//! Whose constants hold, and which of them the experiment sets itself.

use machine::Machine;
use machine::constants::OverrideError;
use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// `constants = "NAME"`, or the table `[constants]` with `from = "NAME"` and values by the constants' names.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConstantsEntry {
    /// A catalog machine whose constants hold, for a machine that brings none (a device tree, `host`); its idle states
    /// too where the machine tells none.
    pub from: Option<String>,
    /// Values in place of the machine's, in their units.
    pub values: BTreeMap<String, f64>,
}

/// Why constants cannot hold.
#[derive(Debug, thiserror::Error)]
pub enum ConstantsError {
    /// The catalog has no such machine.
    #[error(transparent)]
    Machine(#[from] machine::MachineError),
    /// A constant that the machine does not have, or a value that it cannot have.
    #[error(transparent)]
    Override(#[from] OverrideError),
}

impl ConstantsEntry {
    /// Gives `machine` the constants; overridden ones name `file` as their source.
    ///
    /// # Errors
    /// A machine that the catalog does not have, and what [`machine::Constants::override_with`] refuses.
    pub fn apply(&self, machine: &mut Machine, file: &str) -> Result<(), ConstantsError> {
        if let Some(name) = &self.from {
            let known = machine::catalog::load(name)?;
            machine.constants = known.constants;
            if machine.idle_states.is_empty() {
                machine.idle_states = known.idle_states;
            }
        }
        Ok(machine.constants.override_with(&self.values, file)?)
    }
}

impl Serialize for ConstantsEntry {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if let (Some(from), true) = (&self.from, self.values.is_empty()) {
            return s.serialize_str(from);
        }
        let mut map = s.serialize_map(None)?;
        if let Some(from) = &self.from {
            map.serialize_entry("from", from)?;
        }
        for (name, value) in &self.values {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ConstantsEntry {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<ConstantsEntry, D::Error> {
        d.deserialize_any(Either)
    }
}

struct Either;

impl<'de> Visitor<'de> for Either {
    type Value = ConstantsEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a catalog machine, or a table of constants")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<ConstantsEntry, E> {
        Ok(ConstantsEntry { from: Some(name.to_string()), values: BTreeMap::new() })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ConstantsEntry, A::Error> {
        let mut entry = ConstantsEntry::default();
        while let Some(name) = map.next_key::<String>()? {
            if name == "from" {
                entry.from = Some(map.next_value()?);
            } else {
                entry.values.insert(name, map.next_value()?);
            }
        }
        Ok(entry)
    }
}
