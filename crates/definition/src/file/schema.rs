//! An experiment given as data instead of text. It goes through the file's own reader, so there is one schema and one check of it.

use super::{ExperimentFile, each};
use crate::DefinitionError;
use toml::{Table, Value};

impl ExperimentFile {
    /// Reads and checks an experiment that is given as a table, naming it `file` in errors.
    ///
    /// # Errors
    /// As [`ExperimentFile::parse`]; what has a wrong form is told by the path of its field, since there are no lines.
    pub fn of_table(table: &Table, file: &str) -> Result<ExperimentFile, DefinitionError> {
        let text = text_of(table, file)?;
        ExperimentFile::parse(&text, file).map_err(|e| by_path(e, &text, file))
    }

    /// The same on each machine that the table lists.
    ///
    /// # Errors
    /// As [`ExperimentFile::of_table`].
    pub fn of_table_each(
        table: &Table,
        file: &str,
    ) -> Result<Vec<ExperimentFile>, DefinitionError> {
        let text = text_of(table, file)?;
        ExperimentFile::parse_each(&text, file).map_err(|e| by_path(e, &text, file))
    }
}

fn text_of(table: &Table, file: &str) -> Result<String, DefinitionError> {
    toml::to_string(table).map_err(|reason| DefinitionError::Write {
        experiment: file.to_string(),
        reason: Box::new(reason),
    })
}

/// An error of a line as one of a field. Lists of a parameter's values stand for their first one.
fn by_path(error: DefinitionError, text: &str, file: &str) -> DefinitionError {
    if !matches!(error, DefinitionError::Toml { .. }) {
        return error;
    }
    let Ok(table) = toml::from_str::<Table>(&each::first_alone(text)) else { return error };
    let value = Value::Table(table);
    match serde_path_to_error::deserialize::<_, ExperimentFile>(value.clone()) {
        Ok(_) => error,
        Err(e) => {
            let segments: Vec<String> = e.path().iter().map(ToString::to_string).collect();
            DefinitionError::Schema {
                file: file.to_string(),
                field: e.path().to_string(),
                found: at(&value, &segments).map(ToString::to_string),
                message: e.inner().message().replace('\n', " "),
            }
        }
    }
}

/// What a path of names and `[numbers]` leads to.
fn at<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    let Some((first, rest)) = path.split_first() else {
        return Some(value).filter(|v| !v.is_table() && !v.is_array());
    };
    let number = first.strip_prefix('[').and_then(|n| n.strip_suffix(']'));
    let inner = match number.and_then(|n| n.parse::<usize>().ok()) {
        Some(number) => value.get(number),
        None => value.get(first),
    };
    at(inner?, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = include_str!("../../../../experiments/power9-big-core.toml");

    fn table(text: &str) -> Table {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_table_gives_what_its_text_gives() {
        let of_table = ExperimentFile::of_table(&table(GOOD), "x").unwrap();
        assert_eq!(of_table, ExperimentFile::parse(GOOD, "x").unwrap());
    }

    #[test]
    fn a_wrong_form_is_told_by_its_path() {
        let refused = |from: &str, to: &str| {
            let text = GOOD.replacen(from, to, 1);
            ExperimentFile::of_table(&table(&text), "x").unwrap_err().wrong()
        };
        let wrong = refused("threads = 2", "threads = \"two\"");
        assert_eq!(wrong.file.as_deref(), Some("x"));
        assert_eq!(wrong.field.as_deref(), Some("workload[0].ebizzy.threads"));
        assert_eq!(wrong.found.as_deref(), Some("\"two\""));
        let wrong = refused("runs = 100", "runns = 100");
        assert_eq!(wrong.field.as_deref(), Some("workload[0].runns"));
        let wrong = refused("runs = 100", "runs = 0");
        assert_eq!(wrong.field.as_deref(), Some("workload `ebizzy`: runs"));
        assert_eq!(wrong.expected.as_deref(), Some("1 to 100000"));
    }
}
