//! What else runs: a table of its own, or one that has a name.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use workload::background::Background;

/// `background = "NAME"` or `[background]`.
#[derive(Debug, Clone, PartialEq)]
pub enum BackgroundEntry {
    /// One of [`Background::NAMES`] and what it stands for.
    Named(&'static str, Background),
    /// A table of its own.
    Own(Background),
}

impl BackgroundEntry {
    /// The background of an experiment that names none.
    pub const DEFAULT_NAME: &str = "idle-server";

    /// What runs.
    pub fn background(&self) -> Background {
        match self {
            BackgroundEntry::Named(_, own) | BackgroundEntry::Own(own) => own.clone(),
        }
    }
}

impl Default for BackgroundEntry {
    fn default() -> BackgroundEntry {
        BackgroundEntry::Named(BackgroundEntry::DEFAULT_NAME, Background::default())
    }
}

impl Serialize for BackgroundEntry {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            BackgroundEntry::Named(name, _) => name.serialize(to),
            BackgroundEntry::Own(own) => own.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for BackgroundEntry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<BackgroundEntry, D::Error> {
        from.deserialize_any(Either)
    }
}

/// Takes text or a table.
struct Either;

impl<'de> Visitor<'de> for Either {
    type Value = BackgroundEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a table, or one of `{}`", Background::NAMES.join("`, `"))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<BackgroundEntry, E> {
        let known = Background::NAMES.into_iter().find(|known| *known == name);
        known
            .and_then(|known| Some(BackgroundEntry::Named(known, Background::named(known)?)))
            .ok_or_else(|| E::invalid_value(Unexpected::Str(name), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<BackgroundEntry, A::Error> {
        Background::deserialize(MapAccessDeserializer::new(map)).map(BackgroundEntry::Own)
    }
}
