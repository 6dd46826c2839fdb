//! Whether two stores are of the same experiment, and if not, the first field in which they differ.

use crate::ResultsError;
use definition::ExperimentFile;
use definition::file::DEFAULT_RUNS;
use serde_json::Value;
use std::path::Path;

/// Refuses an experiment that is not `expected` apart from its seed and its numbers of runs.
pub(super) fn check_same(
    (file, path): (&ExperimentFile, &Path),
    (expected, other): (&ExperimentFile, &Path),
) -> Result<(), ResultsError> {
    let [found, wanted] = [value(file, path)?, value(expected, path)?];
    match differing(&found, &wanted, "") {
        None => Ok(()),
        Some((place, found, wanted)) => {
            let expected = format!("{wanted}, as in {}", other.display());
            Err(ResultsError::store(path, &format!("experiment: {place}"), &found, &expected))
        }
    }
}

fn value(file: &ExperimentFile, path: &Path) -> Result<Value, ResultsError> {
    let mut file = ExperimentFile { seed: None, ..file.clone() };
    file.workloads.iter_mut().for_each(|w| w.runs = DEFAULT_RUNS);
    serde_json::to_value(&file).map_err(|e| {
        ResultsError::store(path, "experiment", &e.to_string(), "one that JSON can hold")
    })
}

/// The first place at which two values differ, and what stands there.
fn differing(found: &Value, expected: &Value, place: &str) -> Option<(String, String, String)> {
    match (found, expected) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let below = |key: &String| {
                if place.is_empty() { key.clone() } else { format!("{place}: {key}") }
            };
            let of = |map: &serde_json::Map<String, Value>, key| {
                map.get(key).cloned().unwrap_or_default()
            };
            keys.map(|key| (below(key), of(a, key), of(b, key)))
                .find_map(|(place, a, b)| differing(&a, &b, &place))
        }
        (Value::Array(a), Value::Array(b)) if names(a) == names(b) => {
            let pairs = a.iter().zip(b).enumerate();
            let below = |at: usize, item: &Value| match item.get("name").and_then(Value::as_str) {
                Some(name) => format!("{place} `{name}`"),
                None => format!("{place}: {}", at + 1),
            };
            pairs.into_iter().find_map(|(at, (a, b))| differing(a, b, &below(at, a)))
        }
        (Value::Array(a), Value::Array(b)) => {
            Some((place.to_string(), names(a).join(", "), names(b).join(", ")))
        }
        _ => (found != expected).then(|| (place.to_string(), shown(found), shown(expected))),
    }
}

/// Items by their names, or as they are.
fn names(items: &[Value]) -> Vec<String> {
    items.iter().map(|item| item.get("name").map_or_else(|| shown(item), shown)).collect()
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
