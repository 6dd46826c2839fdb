//! Values between Rust and Python, as JSON: both sides have a reader and a writer of it.

use crate::error::{argument, plain};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;

/// `value` as what Python makes of its JSON: dictionaries, lists, numbers, texts.
pub fn to_python<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(plain)?;
    py.import("json")?.call_method1("loads", (text,))
}

/// A dictionary as a table of TOML, without what is `None`. `name` is the argument's.
pub fn table_of(value: &Bound<'_, PyDict>, name: &str) -> PyResult<toml::Table> {
    let text: String = value.py().import("json")?.call_method1("dumps", (value,))?.extract()?;
    let value: serde_json::Value = serde_json::from_str(&text)
        .map_err(|e| argument(name, &e.to_string(), "numbers that are finite"))?;
    toml::Table::try_from(without_nulls(value))
        .map_err(|e| argument(name, &e.to_string(), "a dictionary that TOML can hold"))
}

fn without_nulls(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Object(fields) => {
            let there = fields.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(there.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(all) => Value::Array(all.into_iter().map(without_nulls).collect()),
        other => other,
    }
}
