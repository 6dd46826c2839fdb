//! Axes: what a sweep varies, and how a value is put into the experiment.

use std::collections::BTreeSet;
use toml::{Table, Value};

/// Names that have a meaning of their own, in the order in which cells vary: the first varies slowest. Paths come before seeds.
const NAMED: [&str; 3] = ["machine", "kernel", "mechanism"];
const SEED: &str = "seed";

/// What a sweep varies: `machine`, `kernel`, `mechanism`, `seed`, or the dotted path of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Its name, which is that of a column.
    pub name: String,
    /// Its values, as the file has them.
    pub values: Vec<Value>,
}

/// What was found and what was expected.
pub(crate) type Fault = (String, String);

fn fault(found: impl Into<String>, expected: impl Into<String>) -> Fault {
    (found.into(), expected.into())
}

/// All axes of the table `[sweep]`, those that vary slowest first.
///
/// # Errors
/// The field and what is wrong with it.
pub(crate) fn axes(sweep: &Table) -> Result<Vec<Axis>, (String, Fault)> {
    let mut axes = Vec::new();
    gather("", sweep, &mut axes)?;
    axes.sort_by_key(|axis: &Axis| {
        let place = NAMED.iter().position(|name| *name == axis.name);
        let place = place.unwrap_or(NAMED.len() + usize::from(axis.name == SEED));
        (place, axis.name.clone())
    });
    match axes.is_empty() {
        true => Err(("sweep".to_string(), fault("no axis", "at least one list of values"))),
        false => Ok(axes),
    }
}

/// Tables are steps of a path, lists are axes.
fn gather(path: &str, table: &Table, axes: &mut Vec<Axis>) -> Result<(), (String, Fault)> {
    for (name, value) in table {
        let name = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            Value::Table(inner) => gather(&name, inner, axes)?,
            Value::Array(values) => {
                let axis = Axis { name: name.clone(), values: values.clone() };
                axis.check().map_err(|fault| (format!("sweep.{name}"), fault))?;
                axes.push(axis);
            }
            other => {
                return Err((
                    format!("sweep.{name}"),
                    fault(other.to_string(), "a list of values"),
                ));
            }
        }
    }
    Ok(())
}

impl Axis {
    fn check(&self) -> Result<(), Fault> {
        if ["name", "title"].contains(&self.name.as_str()) {
            return Err(fault("an axis", "none: what an experiment is called changes nothing"));
        }
        if self.values.is_empty() {
            return Err(fault("an empty list", "at least one value"));
        }
        let mut before = BTreeSet::new();
        for value in &self.values {
            let label = label(value);
            if matches!(value, Value::Array(_) | Value::Table(_) | Value::Datetime(_)) {
                return Err(fault(value.to_string(), "texts, numbers, true or false"));
            }
            if label.is_empty() {
                return Err(fault("an empty text", "values with a name"));
            }
            if let Some(twice) = before.replace(label) {
                return Err(fault(format!("`{twice}` twice"), "each value once"));
            }
        }
        Ok(())
    }

    /// Puts `value` into `experiment`.
    pub(crate) fn put(&self, value: &Value, experiment: &mut Table) -> Result<(), Fault> {
        match self.name.as_str() {
            "machine" | SEED => {
                experiment.insert(self.name.clone(), value.clone());
                Ok(())
            }
            "kernel" => {
                for variant in variants(experiment)? {
                    variant.insert("kernel".to_string(), value.clone());
                }
                Ok(())
            }
            "mechanism" => with_mechanism(value, experiment),
            path => set(&path.split('.').collect::<Vec<_>>(), value, experiment),
        }
    }
}

/// A value as a text, which names a directory.
pub(crate) fn label(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The variants of an experiment.
fn variants(experiment: &mut Table) -> Result<Vec<&mut Table>, Fault> {
    let all = experiment.get_mut("variant").and_then(Value::as_array_mut);
    let all = all.ok_or_else(|| fault("no [[variant]]", "at least one"))?;
    Ok(all.iter_mut().filter_map(Value::as_table_mut).collect())
}

/// Beside the only variant, which is the baseline, a second one with the mechanism switched: `"wa-weight=off"`.
fn with_mechanism(value: &Value, experiment: &mut Table) -> Result<(), Fault> {
    let form = || fault(value.to_string(), "NAME=on or NAME=off");
    let text = value.as_str().ok_or_else(form)?;
    let (name, on) = match text.split_once('=') {
        Some((name, "on")) => (name, true),
        Some((name, "off")) => (name, false),
        _ => return Err(form()),
    };
    let all = experiment.get_mut("variant").and_then(Value::as_array_mut);
    let Some([Value::Table(base)]) = all.as_deref().map(Vec::as_slice) else {
        let found = format!("{} variants", all.map_or(0, |all| all.len()));
        return Err(fault(found, "one, the baseline"));
    };
    let mut variant = base.clone();
    variant.insert("name".to_string(), Value::String(text.to_string()));
    variant.remove("title");
    set(&["mechanisms", name], &Value::Boolean(on), &mut variant)?;
    all.into_iter().for_each(|all| all.push(Value::Table(variant.clone())));
    Ok(())
}

/// Sets the field at the end of a path. Entries of lists, such as workloads, go by their names.
fn set(path: &[&str], value: &Value, table: &mut Table) -> Result<(), Fault> {
    let Some((&first, rest)) = path.split_first() else {
        return Err(fault("an empty path", "the path of a field"));
    };
    if rest.is_empty() {
        table.insert(first.to_string(), value.clone());
        return Ok(());
    }
    match table.entry(first).or_insert_with(|| Value::Table(Table::new())) {
        Value::Table(inner) => set(rest, value, inner),
        Value::Array(entries) => {
            let names: Vec<String> = entries.iter().filter_map(name_of).collect();
            let at = names.iter().position(|name| name == rest[0]);
            let entry = at.and_then(|at| entries.get_mut(at)).and_then(Value::as_table_mut);
            match (entry, &rest[1..]) {
                (Some(entry), rest) if !rest.is_empty() => set(rest, value, entry),
                _ => {
                    let expected = format!("{first}.NAME.FIELD, NAME one of {}", names.join(", "));
                    Err(fault(format!("`{first}.{}`", rest.join(".")), expected))
                }
            }
        }
        other => Err(fault(format!("`{first}`, which is {other}"), "a table")),
    }
}

fn name_of(entry: &Value) -> Option<String> {
    Some(entry.get("name")?.as_str()?.to_string())
}
