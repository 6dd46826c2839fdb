//! Tables of columns as Parquet files, and new directories of files that appear only when they are whole.
//!
//! Parquet has no place for what a column means: [`described`] is a table that says it of other tables. Nothing in a file tells of
//! when or where it was written, so the same table gives the same bytes.
//!
//! Before its footer a file carries the SHA-256 of all its other bytes, where readers of Parquet look for nothing. [`reader`] compares
//! it: the Parquet library panics on some damaged files.

use crate::ResultsError;
use bytes::Bytes;
use definition::folder_of;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::SerializedFileReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;

/// How names of temporary files and directories start, which take their final name when they are whole.
pub const TEMPORARY_PREFIX: &str = ".schedscape-";

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name, which its file has with `.parquet` behind it.
    pub name: &'static str,
    /// Its columns, all of one length.
    pub columns: Vec<Column>,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// The unit of its values; empty where they have none.
    pub unit: &'static str,
    /// What it holds, in one line.
    pub help: &'static str,
    /// The values, one a row.
    pub values: Values,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Texts, UTF-8.
    Text(Vec<String>),
    /// Small whole numbers, 32 bits.
    Small(Vec<i32>),
    /// Whole numbers from 0 on, 64 bits.
    Whole(Vec<u64>),
    /// Other numbers.
    Real(Vec<f64>),
    /// Other numbers, some of which are missing.
    Maybe(Vec<Option<f64>>),
}

impl Values {
    /// The type of a column called `name`, as a schema has it.
    fn declared(&self, name: &str) -> String {
        match self {
            Values::Text(_) => format!("REQUIRED BYTE_ARRAY {name} (UTF8);"),
            Values::Small(_) => format!("REQUIRED INT32 {name};"),
            Values::Whole(_) => format!("REQUIRED INT64 {name} (INTEGER(64,false));"),
            Values::Real(_) => format!("REQUIRED DOUBLE {name};"),
            Values::Maybe(_) => format!("OPTIONAL DOUBLE {name};"),
        }
    }

    fn write(&self, group: &mut Group<'_>) -> Result<(), ParquetError> {
        match self {
            Values::Text(of) => {
                let bytes: Vec<ByteArray> = of.iter().map(|text| text.as_str().into()).collect();
                write_column::<ByteArrayType>(group, &bytes)
            }
            Values::Small(of) => write_column::<Int32Type>(group, of),
            Values::Whole(of) => {
                // The same 64 bits.
                let of: Vec<i64> = of.iter().map(|&n| n as i64).collect();
                write_column::<Int64Type>(group, &of)
            }
            Values::Real(of) => write_column::<DoubleType>(group, of),
            Values::Maybe(of) => {
                let there: Vec<i16> = of.iter().map(|v| i16::from(v.is_some())).collect();
                let values: Vec<f64> = of.iter().flatten().copied().collect();
                write_levels::<DoubleType>(group, &values, Some(&there))
            }
        }
    }
}

type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

fn write_column<T: DataType>(group: &mut Group<'_>, values: &[T::T]) -> Result<(), ParquetError> {
    write_levels::<T>(group, values, None)
}

/// Writes values, which may be fewer than rows: `there` says by row whether there is one.
fn write_levels<T: DataType>(
    group: &mut Group<'_>,
    values: &[T::T],
    there: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("more columns than the schema has".to_string()));
    };
    column.typed::<T>().write_batch(values, there, None)?;
    column.close()
}

fn schema(table: &Table) -> Result<Type, ParquetError> {
    let fields = table.columns.iter().map(|column| column.values.declared(column.name));
    parse_message_type(&format!("message {} {{ {} }}", table.name, fields.collect::<String>()))
}

/// The bytes of the table's file.
///
/// # Errors
/// What Parquet cannot hold, such as columns of different lengths.
pub fn bytes(table: &Table) -> Result<Vec<u8>, ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by("schedscape".to_string())
        .build();
    let schema = Arc::new(schema(table)?);
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    table.columns.iter().try_for_each(|column| column.values.write(&mut group))?;
    group.close()?;
    let mut file = writer.into_inner()?;
    let at = footer(&file).ok_or_else(|| ParquetError::General("no footer".to_string()))?;
    let digest = Sha256::digest(&file);
    file.splice(at..at, digest);
    Ok(file)
}

/// A reader of what [`bytes()`] gave.
///
/// # Errors
/// Other bytes.
pub fn reader(file: Bytes) -> Result<SerializedFileReader<Bytes>, ParquetError> {
    let parts = footer(&file).map(|at| file.split_at(at));
    let parts = parts.and_then(|(before, footer)| Some((before.split_last_chunk::<32>()?, footer)));
    let is_whole = parts.is_some_and(|((pages, digest), footer)| {
        Sha256::new_with_prefix(pages).chain_update(footer).finalize()[..] == digest[..]
    });
    match is_whole {
        true => SerializedFileReader::new(file),
        false => Err(ParquetError::General("bytes that do not give the digest".to_string())),
    }
}

/// Where the footer of a Parquet file begins, which ends with the footer's length and `PAR1`.
fn footer(file: &[u8]) -> Option<usize> {
    let (before, _) = file.split_last_chunk::<4>()?;
    let (before, length) = before.split_last_chunk::<4>()?;
    before.len().checked_sub(u32::from_le_bytes(*length) as usize)
}

/// A table called `columns` with a row for each column of `tables`: what it is of, its unit, what it holds.
pub fn described(tables: &[Table]) -> Table {
    let all = || tables.iter().flat_map(|table| table.columns.iter().map(move |c| (table.name, c)));
    let column = |name, help, of: fn((&'static str, &Column)) -> &'static str| {
        let values = Values::Text(all().map(|pair| of(pair).to_string()).collect());
        Column { name, unit: "", help, values }
    };
    Table {
        name: "columns",
        columns: vec![
            column("table", "The table, whose file has its name", |(table, _)| table),
            column("column", "The column", |(_, column)| column.name),
            column("unit", "Unit of its values; empty where they have none", |(_, c)| c.unit),
            column("holds", "What it holds", |(_, column)| column.help),
        ],
    }
}

/// Writes `tables` into the new directory `dir`, a file each, and what their columns are into `columns.parquet`.
///
/// # Errors
/// A directory that exists or cannot be written, tables that Parquet cannot hold. Then nothing is left behind.
pub fn write(tables: &[Table], dir: &Path) -> Result<(), ResultsError> {
    check_new(dir)?;
    let columns = described(tables);
    let file = |table: &Table| {
        let name = format!("{}.parquet", table.name);
        let bytes = bytes(table).map_err(|e| unfit(dir, &name, &e))?;
        Ok::<_, ResultsError>((name, bytes))
    };
    let files = tables.iter().chain([&columns]).map(file).collect::<Result<Vec<_>, _>>()?;
    write_files(dir, &files)
}

/// What Parquet cannot hold.
pub(crate) fn unfit(dir: &Path, file: &str, error: &ParquetError) -> ResultsError {
    ResultsError::store(dir, file, &error.to_string(), "rows that Parquet can hold")
}

/// Refuses a directory to write that exists already, before anything is run.
///
/// # Errors
/// A directory or anything else of that name.
pub fn check_new(dir: &Path) -> Result<(), ResultsError> {
    if dir.exists() {
        return Err(ResultsError::store(
            dir,
            "directory",
            "one that exists",
            "a new one, so that nothing is lost",
        ));
    }
    Ok(())
}

/// Makes `dir` of files: in a temporary directory beside it, which then takes its name.
pub(crate) fn write_files(dir: &Path, files: &[(String, Vec<u8>)]) -> Result<(), ResultsError> {
    let parent = folder_of(dir);
    let io = |reason| ResultsError::io(dir, reason);
    std::fs::create_dir_all(parent).map_err(io)?;
    let temporary =
        tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempdir_in(parent).map_err(io)?;
    for (name, bytes) in files {
        std::fs::write(temporary.path().join(name), bytes).map_err(io)?;
    }
    std::fs::rename(temporary.path(), dir).map_err(io)?;
    // It is no longer there under its old name.
    let _ = temporary.keep();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::FileReader;

    fn table(numbers: Vec<u64>) -> Table {
        let column = |name, unit, values| Column { name, unit, help: "h", values };
        Table {
            name: "t",
            columns: vec![
                column("text", "", Values::Text(vec!["a".to_string(), "\u{fffd}".to_string()])),
                column("whole", "ns", Values::Whole(numbers)),
                column("real", "", Values::Real(vec![0.1 + 0.2, f64::MAX])),
                column("maybe", "", Values::Maybe(vec![None, Some(0.5)])),
            ],
        }
    }

    fn rows(file: &Path) -> Vec<String> {
        let bytes = std::fs::read(file).expect("a file");
        let reader = reader(Bytes::from(bytes)).expect("Parquet");
        let rows = reader.get_row_iter(None).expect("rows");
        rows.map(|row| row.expect("a row").to_string()).collect()
    }

    #[test]
    fn tables_are_written_with_what_their_columns_are() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let out = dir.path().join("new/out");
        write(&[table(vec![1, u64::MAX])], &out).expect("a new directory");
        let found = rows(&out.join("t.parquet"));
        assert_eq!(found[0], "{text: \"a\", whole: 1, real: 0.30000000000000004, maybe: null}");
        assert!(found[1].contains("whole: 18446744073709551615"), "{found:?}");
        assert!(found[1].contains("maybe: 0.5"), "{found:?}");
        let columns = rows(&out.join("columns.parquet"));
        assert_eq!(columns.len(), 4);
        assert_eq!(columns[1], "{table: \"t\", column: \"whole\", unit: \"ns\", holds: \"h\"}");
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing_behind() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let out = dir.path().join("out");
        let error = write(&[table(vec![1])], &out).expect_err("columns differ").to_string();
        assert!(error.contains("t.parquet") && error.contains("expected rows"), "{error}");
        std::fs::write(&out, "x").expect("a file");
        let error = write(&[table(vec![1, 2])], &out).expect_err("it exists").to_string();
        assert!(error.contains("one that exists"), "{error}");
        let left = std::fs::read_dir(dir.path()).expect("a directory").count();
        assert_eq!(left, 1);
    }
}
