//! The file of a sweep, and the cells that it stands for.

use crate::axis::{Axis, axes, label};
use crate::cell::{Cell, Machines};
use crate::error::SweepError;
use definition::{DefinitionError, ExperimentFile, file::parse_toml};
use std::path::Path;
use toml::{Table, Value};

/// Most cells of a sweep.
pub const MAX_CELLS: usize = 1_000_000;

/// An experiment with its axes.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// What errors call the file; files that workloads name are relative to its folder.
    pub path: String,
    /// Those that vary slowest first.
    pub axes: Vec<Axis>,
    experiment: Table,
}

impl Sweep {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, and what [`Sweep::parse`] refuses.
    pub fn load(path: &Path) -> Result<Sweep, SweepError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|reason| DefinitionError::Io { file: file.clone(), reason })?;
        Sweep::parse(&text, &file)
    }

    /// Reads `text`, naming it `file` in errors.
    ///
    /// # Errors
    /// Text that is no TOML, and what [`Sweep::of_table`] refuses.
    pub fn parse(text: &str, file: &str) -> Result<Sweep, SweepError> {
        Sweep::of_table(parse_toml::<Table>(text, file)?, file)
    }

    /// The sweep of an experiment with the table `sweep`, naming it `file` in errors.
    ///
    /// # Errors
    /// No such table, and axes that are none.
    pub fn of_table(mut experiment: Table, file: &str) -> Result<Sweep, SweepError> {
        let Some(Value::Table(sweep)) = experiment.remove("sweep") else {
            return Err(SweepError::field(file, "sweep", "none", "a table [sweep] with axes"));
        };
        let axes = axes(&sweep).map_err(|(field, (found, expected))| {
            SweepError::field(file, &field, &found, &expected)
        })?;
        let sweep = Sweep { path: file.to_string(), axes, experiment };
        match sweep.len() {
            0..=MAX_CELLS => Ok(sweep),
            cells => {
                let (found, most) = (format!("{cells} cells"), format!("at most {MAX_CELLS}"));
                Err(SweepError::field(file, "sweep", &found, &most))
            }
        }
    }

    /// The sweep of an experiment over `axes`, the slowest first, naming it `path` in errors.
    pub(crate) fn of_axes(experiment: Table, axes: Vec<Axis>, path: &str) -> Sweep {
        Sweep { path: path.to_string(), axes, experiment }
    }

    /// Number of its cells.
    pub fn len(&self) -> usize {
        let values = self.axes.iter().map(|axis| axis.values.len());
        values.fold(1, usize::saturating_mul)
    }

    /// Whether it has no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its cells in order, each checked: machines, kernels and mechanisms exist. The last axis varies fastest.
    ///
    /// # Errors
    /// The first cell that cannot be.
    pub fn cells(&self) -> Result<Vec<Cell>, SweepError> {
        let mut machines = Machines::default();
        (0..self.len()).map(|at| self.cell(at, &mut machines)).collect()
    }

    fn cell(&self, at: usize, machines: &mut Machines) -> Result<Cell, SweepError> {
        let mut experiment = self.experiment.clone();
        let mut rest = at;
        let mut places = Vec::new();
        for axis in self.axes.iter().rev() {
            places.push(rest % axis.values.len());
            rest /= axis.values.len();
        }
        places.reverse();
        let mut labels = Vec::new();
        for (axis, &place) in self.axes.iter().zip(&places) {
            axis.put(&axis.values[place], &mut experiment).map_err(|(found, expected)| {
                SweepError::field(&self.path, &format!("sweep.{}", axis.name), &found, &expected)
            })?;
            labels.push((axis.name.clone(), label(&axis.values[place])));
        }
        let file = ExperimentFile::of_table(&experiment, &self.path)?;
        Cell::of(labels, file, &self.path, machines)
    }
}
