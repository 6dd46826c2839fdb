//! One cell: an experiment on one machine with one value of each axis.

use crate::error::SweepError;
use definition::{ExperimentFile, Plan, folder_of};
use experiment::Stoppable;
use results::digest::{of_list, sha256};
use results::{columns, frames};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use workload::Benchmark;

/// A digest of the sources that decide what a run gives.
pub const BUILD: &str = env!("SCHEDSCAPE_BUILD");

/// Hexadecimal digits of an address.
const DIGITS: usize = 32;

/// A cell as plain data, which can be sent to another process or computer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// By axis, in the sweep's order: its name and the value as a text.
    pub axes: Vec<(String, String)>,
    /// What is run.
    pub experiment: ExperimentFile,
    /// What errors call its file.
    pub path: String,
    /// Its address: a digest of experiment, machine, constants, files and build.
    pub key: String,
}

/// Digests of machines that were read already.
#[derive(Debug, Default)]
pub(crate) struct Machines(BTreeMap<String, String>);

impl Cell {
    pub(crate) fn of(
        axes: Vec<(String, String)>,
        experiment: ExperimentFile,
        path: &str,
        machines: &mut Machines,
    ) -> Result<Cell, SweepError> {
        let plan = Plan::new(experiment, path)?;
        Stoppable::check(&plan)?;
        let key = key(&plan, machines)?;
        Ok(Cell { axes, experiment: plan.file, path: path.to_string(), key })
    }

    /// Where a dataset has it, below the directory of its cells: `axis=value` for each axis, as Hive partitions are, and a file named
    /// by the address.
    pub fn place(&self) -> String {
        let axes = self.axes.iter().map(|(axis, value)| format!("{axis}={}/", escaped(value)));
        axes.collect::<String>() + &self.key + ".parquet"
    }

    /// Runs it on one thread. Returns the bytes of a Parquet file with a row for each metric of each run: workload, variant, run, name,
    /// unit, better, value. The same cell gives the same bytes.
    ///
    /// # Errors
    /// A run that fails, and a cell that another build made, or whose machine is another one here.
    pub fn run(&self) -> Result<Vec<u8>, SweepError> {
        let plan = Plan::new(self.experiment.clone(), &self.path)?;
        if key(&plan, &mut Machines::default())? != self.key {
            return Err(SweepError::Elsewhere { key: self.key.clone() });
        }
        let results = experiment::run(&plan, &Stoppable::default(), 1, &|_| {})?;
        let mut table = frames::samples(&results);
        // An axis may be called so; the seeds of runs follow from the experiment's.
        table.columns.retain(|column| column.name != "seed");
        columns::bytes(&table).map_err(|e| SweepError::Kept(format!("cell {}: {e}", self.key)))
    }
}

/// The address of a plan.
fn key(plan: &Plan, machines: &mut Machines) -> Result<String, SweepError> {
    let unfit = |e: serde_json::Error| SweepError::Kept(format!("{}: {e}", plan.path));
    let file = &plan.file;
    let named = (&file.machine, &file.constants, &file.costs);
    let name = serde_json::to_string(&named).map_err(unfit)?;
    let machine = match machines.0.get(&name) {
        Some(digest) => digest.clone(),
        None => {
            let whole = (&plan.machine, plan.machine.costs.as_deref());
            let digest = sha256(&serde_json::to_vec(&whole).map_err(unfit)?);
            machines.0.insert(name, digest.clone());
            digest
        }
    };
    let mut parts = vec![
        BUILD.as_bytes().to_vec(),
        machine.into_bytes(),
        serde_json::to_vec(file).map_err(unfit)?,
    ];
    let folder = folder_of(Path::new(&plan.path));
    for name in file.workloads.iter().flat_map(|w| w.benchmarks()).filter_map(Benchmark::file) {
        let path = folder.join(name);
        parts.push(std::fs::read(&path).map_err(|e| SweepError::io(&path, e))?);
    }
    let mut key = of_list(parts.iter().map(Vec::as_slice));
    key.truncate(DIGITS);
    Ok(key)
}

/// A value as the name of a directory: readers of Hive partitions undo `%XX`.
fn escaped(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.,+ ".contains(&byte);
    let byte = |byte: u8| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    value.bytes().map(byte).collect()
}

/// What [`escaped`] was given; `None` for a name that it does not make.
fn unescaped(name: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = name.as_bytes();
    while let [first, after @ ..] = rest {
        let (byte, after) = match first {
            b'%' => {
                let digits = str::from_utf8(after.get(..2)?).ok()?;
                (u8::from_str_radix(digits, 16).ok()?, &after[2..])
            }
            byte => (*byte, after),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

/// The axes of a cell whose file is at `place`, a path as [`Cell::place`] makes it; `None` for another one.
pub(crate) fn axes_of(place: &str) -> Option<Vec<(String, String)>> {
    let (folders, _) = place.rsplit_once('/')?;
    let axis = |folder: &str| {
        let (name, value) = folder.split_once('=')?;
        Some((name.to_string(), unescaped(value)?))
    };
    folders.split('/').map(axis).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_tell_their_axes() {
        for value in ["wa-weight=off", "synthetic:core:2 pu:1", "a/b%2F\u{e9}", "6.12"] {
            assert_eq!(unescaped(&escaped(value)).as_deref(), Some(value));
        }
        let axes = axes_of("machine=a%2Fb/workload.pipe.runs=3/0f.parquet").unwrap();
        let axes: Vec<String> =
            axes.iter().map(|(name, value)| format!("{name} {value}")).collect();
        assert_eq!(axes, ["machine a/b", "workload.pipe.runs 3"]);
        assert_eq!(
            (axes_of("x.parquet"), axes_of("machine/x"), axes_of("a=%2/x")),
            (None, None, None)
        );
    }
}
