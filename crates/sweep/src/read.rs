//! A dataset as what its cells gave.

use crate::cell::axes_of;
use crate::dataset::{CELLS, SUMMARY, Summary};
use crate::error::SweepError;
use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use parquet::record::{Row, RowAccessor};
use results::swept::{Given, Place, Series, Swept};
use results::{ResultsError, columns};
use stats::Better;
use std::ffi::OsStr;
use std::path::Path;

/// What a file of a cell holds.
const COLUMNS: [&str; 7] = ["workload", "variant", "run", "name", "unit", "better", "value"];

/// Reads the dataset in the directory `dir`: every cell that is there, whichever sweep added it, and which are missing.
///
/// # Errors
/// A directory that no sweep wrote, files that are no cells.
pub fn read(dir: &Path) -> Result<Swept, SweepError> {
    let path = dir.join(SUMMARY);
    let text = std::fs::read_to_string(&path).map_err(|e| SweepError::io(&path, e))?;
    let wrong = |place: &str, found: &str, expected: &str| -> SweepError {
        ResultsError::store(&path, place, found, expected).into()
    };
    let summary: Summary = serde_json::from_str(&text)
        .map_err(|_| wrong("sweep", "another text", "what `sweep --out` stored"))?;
    let lacks = |place: &String| {
        axes_of(place).ok_or_else(|| wrong("missing", &format!("`{place}`"), "a cell's file"))
    };
    let missing = summary.missing.keys().map(lacks).collect::<Result<_, _>>()?;
    let mut cells = Vec::new();
    gather(&dir.join(CELLS), "", &summary.axes, &mut cells)?;
    Ok(Swept { dir: dir.display().to_string(), axes: summary.axes, cells, missing })
}

/// Adds the cells below `dir`, which is at `place` among the cells, in the order of their names.
fn gather(
    dir: &Path,
    place: &str,
    axes: &[String],
    cells: &mut Vec<Given>,
) -> Result<(), SweepError> {
    let failed = |e| SweepError::io(dir, e);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    for path in paths {
        let name = path.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
        let place = place.to_string() + &name;
        if path.is_dir() {
            gather(&path, &(place + "/"), axes, cells)?;
        } else if path.extension() == Some(OsStr::new("parquet")) {
            let own = axes_of(&place).filter(|own| own.iter().map(|(name, _)| name).eq(axes));
            let unfit = || ResultsError::store(&path, "axes", &place, &axes.join("=…/"));
            cells.push(cell(&path, own.ok_or_else(unfit)?)?);
        }
    }
    Ok(())
}

/// One file.
pub(crate) fn cell(path: &Path, place: Place) -> Result<Given, SweepError> {
    let bytes = std::fs::read(path).map_err(|e| SweepError::io(path, e))?;
    let unfit = |e: ParquetError| {
        SweepError::from(ResultsError::store(path, "cell", &e.to_string(), "what a cell gave"))
    };
    let reader = columns::reader(Bytes::from(bytes)).map_err(unfit)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let columns: Vec<&str> = schema.columns().iter().map(|column| column.name()).collect();
    if columns != COLUMNS {
        let (found, expected) = (columns.join(", "), COLUMNS.join(", "));
        return Err(ResultsError::store(path, "columns", &found, &expected).into());
    }
    let mut given = Given { place, series: vec![] };
    for row in reader.get_row_iter(None).map_err(unfit)? {
        add(&row.map_err(unfit)?, &mut given.series).map_err(unfit)?;
    }
    Ok(given)
}

/// Adds a row to the series that it is of. Rows come run by run, the metrics of one run together.
fn add(row: &Row, series: &mut Vec<Series>) -> Result<(), ParquetError> {
    let [workload, variant, metric, unit] =
        [row.get_string(0)?, row.get_string(1)?, row.get_string(3)?, row.get_string(4)?];
    let value = row.get_double(6)?;
    let is_own =
        |s: &&mut Series| s.workload == *workload && s.variant == *variant && s.metric == *metric;
    // Those of the last variant are at the end.
    if let Some(own) = series.iter_mut().rev().find(is_own) {
        own.values.push(value);
        return Ok(());
    }
    let better = row.get_string(5)?;
    let better = [Better::Higher, Better::Lower].into_iter().find(|b| b.name() == better);
    let wrong = || ParquetError::General("`better` that is neither higher nor lower".to_string());
    series.push(Series {
        workload: workload.clone(),
        variant: variant.clone(),
        metric: metric.clone(),
        unit: unit.clone(),
        better: better.ok_or_else(wrong)?,
        values: vec![value],
    });
    Ok(())
}
