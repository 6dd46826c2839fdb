//! The directory of what cells gave.
//!
//! `cells/` holds a Parquet file for each cell that was run, in Hive partitions, which polars, DuckDB and Spark read as they are.
//! `sweep.json` says which cells there are to be and which of them are missing. Files take their names when they are whole.

use crate::cell::{BUILD, Cell};
use crate::error::SweepError;
use results::ResultsError;
use results::store::TEMPORARY_PREFIX;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Version of the layout.
const FORMAT: u32 = 2;
pub(crate) const CELLS: &str = "cells";
pub(crate) const SUMMARY: &str = "sweep.json";
const LOCK: &str = ".schedscape-lock";

/// `sweep.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    format: u32,
    /// Digest of the sources that ran the cells.
    pub build: String,
    /// Names of the axes, which are columns of the dataset.
    pub axes: Vec<String>,
    /// How many cells there are to be.
    pub cells: usize,
    /// Cells that the dataset lacks: files below `cells/`, and why where running them failed.
    pub missing: BTreeMap<String, Option<String>>,
}

/// An open dataset. While it is open no other process can open it.
#[derive(Debug)]
pub struct Dataset {
    dir: PathBuf,
    places: Vec<String>,
    axes: Vec<String>,
    lock: File,
}

impl Dataset {
    /// Opens the dataset `dir` of `cells`, or begins one.
    ///
    /// # Errors
    /// A dataset of other axes or with cells of another experiment, machine or build; one that another process has open.
    pub fn open(dir: &Path, cells: &[Cell]) -> Result<Dataset, SweepError> {
        let axes: Vec<String> = cells
            .first()
            .map_or(vec![], |cell| cell.axes.iter().map(|(name, _)| name.clone()).collect());
        check(dir, &axes)?;
        std::fs::create_dir_all(dir.join(CELLS)).map_err(|e| SweepError::io(dir, e))?;
        let lock = locked(dir)?;
        let places = cells.iter().map(Cell::place).collect();
        let dataset = Dataset { dir: dir.to_owned(), places, axes, lock };
        dataset.check_cells()?;
        dataset.clean()?;
        dataset.summarise(&BTreeMap::new())?;
        Ok(dataset)
    }

    fn path(&self, at: usize) -> PathBuf {
        self.dir.join(CELLS).join(&self.places[at])
    }

    /// Cells, by their numbers, that it lacks.
    pub fn missing(&self) -> Vec<usize> {
        (0..self.places.len()).filter(|&at| !self.path(at).is_file()).collect()
    }

    /// Adds what cell `at` gave.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn store(&self, at: usize, bytes: &[u8]) -> Result<(), SweepError> {
        self.write(&self.path(at), bytes)
    }

    /// Writes which cells it lacks now; `failed` says why, by the cells' numbers.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn summarise(&self, failed: &BTreeMap<usize, String>) -> Result<Summary, SweepError> {
        let missing = self.missing().into_iter();
        let summary = Summary {
            format: FORMAT,
            build: BUILD.to_string(),
            axes: self.axes.clone(),
            cells: self.places.len(),
            missing: missing
                .map(|at| (self.places[at].clone(), failed.get(&at).cloned()))
                .collect(),
        };
        let json = serde_json::to_string_pretty(&summary)
            .map_err(|e| SweepError::Kept(format!("{}: {e}", self.dir.display())))?;
        self.write(&self.dir.join(SUMMARY), (json + "\n").as_bytes())?;
        Ok(summary)
    }

    /// A temporary file is beside the cells, which readers look through, not among them.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), SweepError> {
        let failed = |e| SweepError::io(path, e);
        let folder = definition::folder_of(path);
        std::fs::create_dir_all(folder).map_err(failed)?;
        let mut file = tempfile::Builder::new()
            .prefix(TEMPORARY_PREFIX)
            .tempfile_in(&self.dir)
            .map_err(failed)?;
        file.write_all(bytes).map_err(failed)?;
        file.persist(path).map_err(|e| failed(e.error))?;
        Ok(())
    }

    /// Refuses files in the places of cells that are not theirs: readers would take both.
    fn check_cells(&self) -> Result<(), SweepError> {
        for place in &self.places {
            let path = self.dir.join(CELLS).join(place);
            let Ok(entries) = std::fs::read_dir(definition::folder_of(&path)) else { continue };
            for entry in entries {
                let other = entry.map_err(|e| SweepError::io(&path, e))?.path();
                let is_cell = other.extension() == Some(OsStr::new("parquet"));
                if is_cell && other != path {
                    let found = "a cell of another experiment, machine or build";
                    let expected = "cells of this one; another directory starts afresh";
                    return Err(ResultsError::store(&other, "cell", found, expected).into());
                }
            }
        }
        Ok(())
    }

    /// Removes what an interrupted command left.
    fn clean(&self) -> Result<(), SweepError> {
        let failed = |e| SweepError::io(&self.dir, e);
        for entry in std::fs::read_dir(&self.dir).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
            if name.is_some_and(|n| n.starts_with(TEMPORARY_PREFIX) && n != LOCK) {
                std::fs::remove_file(&path).map_err(failed)?;
            }
        }
        Ok(())
    }
}

impl Drop for Dataset {
    fn drop(&mut self) {
        // Whoever waits for the name finds no dataset in use.
        let _ = std::fs::remove_file(self.dir.join(LOCK));
        let _ = self.lock.unlock();
    }
}

/// Refuses a directory that is something else, before anything is written.
fn check(dir: &Path, axes: &[String]) -> Result<(), SweepError> {
    let path = dir.join(SUMMARY);
    let refuse = |place: &str, found: &str, expected: &str| -> Result<(), SweepError> {
        Err(ResultsError::store(&path, place, found, expected).into())
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(_) => {
            let is_used = match std::fs::read_dir(dir) {
                Ok(mut entries) => entries.next().is_some(),
                Err(_) => dir.exists(),
            };
            return match is_used {
                true => {
                    let found = "something else in the directory";
                    refuse("sweep", found, "a new directory, or what `sweep --out` stored")
                }
                false => Ok(()),
            };
        }
    };
    let Ok(summary) = serde_json::from_str::<Summary>(&text) else {
        return refuse("sweep", "another text", "what `sweep --out` stored");
    };
    if summary.axes != axes {
        let (found, expected) = (summary.axes.join(", "), axes.join(", "));
        return refuse("axes", &found, &format!("{expected}; another directory starts afresh"));
    }
    Ok(())
}

fn locked(dir: &Path) -> Result<File, SweepError> {
    let path = dir.join(LOCK);
    let file = File::create(&path).map_err(|e| SweepError::io(&path, e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let found = "a sweep that goes on";
            Err(ResultsError::store(dir, "lock", found, "one that has ended").into())
        }
        Err(TryLockError::Error(e)) => Err(SweepError::io(&path, e)),
    }
}
