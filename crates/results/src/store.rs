//! The result store: a directory with `runs.parquet`, one row for each value of each run, and `manifest.json`.
//!
//! Columns of `runs.parquet`: workload, variant, run, seed, kind, name, unit, value. A row's kind is `metric`, `time` (one of
//! the single times that the metric of this name is the mean of, where the run keeps them) or `counter`. The
//! files hold no date and no path: the same results give the same bytes. The manifest carries the SHA-256 of the
//! runs, which is checked before they are parsed: the Parquet library panics on some damaged files.

mod rows;

pub use crate::columns::{TEMPORARY_PREFIX, check_new};
use crate::columns::{unfit, write_files};
use crate::computer::Computer;
use crate::digest::sha256;
use crate::robust::Robustness;
use crate::runs::{Ignored, MetricInfo, Results, Run, VariantRuns, WorkloadResults};
use crate::sensitivity::Sensitivity;
use crate::{Engine, ResultsError};
use bytes::Bytes;
use definition::ExperimentFile;
use machine::Constants;
use parquet::file::reader::{FileReader, SerializedFileReader};
use rows::{add_value, runs_file, value_of};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use workload::Counter;

/// Version of the layout; another one is refused.
pub const FORMAT: u32 = 2;
const MANIFEST: &str = "manifest.json";
const RUNS: &str = "runs.parquet";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    format: u32,
    schedscape: String,
    engine: Engine,
    runs_sha256: String,
    experiment: ExperimentFile,
    constants: Constants,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counted: Vec<String>,
    counters: Vec<Counter>,
    workloads: Vec<ManifestWorkload>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    computers: Vec<Computer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sensitivity: Option<Sensitivity>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    robustness: Option<Robustness>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestWorkload {
    name: String,
    title: String,
    metrics: Vec<MetricInfo>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<Ignored>,
    variants: Vec<String>,
}

/// What a journal's name has more than its store's.
const JOURNAL_SUFFIX: &str = ".partial";

/// Where finished runs are kept until the store `dir` has them all.
pub fn journal_path(dir: &Path) -> PathBuf {
    let mut name = dir.file_name().map_or_else(OsString::new, OsString::from);
    name.push(JOURNAL_SUFFIX);
    dir.with_file_name(name)
}

/// Writes `results` into the new directory `dir`: into a temporary one beside it, which is then renamed.
pub fn write(results: &Results, dir: &Path) -> Result<(), ResultsError> {
    check_new(dir)?;
    let runs = runs_file(results).map_err(|e| unfit(dir, RUNS, &e))?;
    let manifest =
        serde_json::to_string_pretty(&manifest(results, sha256(&runs))).map_err(|e| {
            ResultsError::store(dir, MANIFEST, &e.to_string(), "text that JSON can hold")
        })?;
    let manifest = (manifest + "\n").into_bytes();
    write_files(dir, &[(MANIFEST.to_string(), manifest), (RUNS.to_string(), runs)])
}

/// What a store holds.
#[derive(Debug)]
pub struct Stored {
    /// The results.
    pub results: Results,
    /// Version of schedscape that ran them.
    pub schedscape: String,
    /// What is wrong with the runs, where something is; see [`read_partly`].
    pub damage: Option<ResultsError>,
}

/// Reads a directory that [`write()`] made.
pub fn read(dir: &Path) -> Result<Results, ResultsError> {
    Ok(read_whole(dir)?.results)
}

/// [`read`] with what the results do not say.
pub fn read_whole(dir: &Path) -> Result<Stored, ResultsError> {
    let stored = read_partly(dir)?;
    match stored.damage {
        Some(damage) => Err(damage),
        None => Ok(stored),
    }
}

/// Reads what can be read of a directory that [`write()`] made: where its runs are not whole, all of them that can be trusted,
/// with the damage. Runs whose digest is not the manifest's are not looked at; of runs that are too few all are there.
///
/// # Errors
/// A directory without a manifest of this version.
pub fn read_partly(dir: &Path) -> Result<Stored, ResultsError> {
    let path = dir.join(MANIFEST);
    let text = std::fs::read_to_string(&path).map_err(|reason| no_manifest(dir, &path, reason))?;
    check_format(&text, &path)?;
    let manifest: Manifest = serde_json::from_str(&text).map_err(|e| {
        ResultsError::store(&path, &format!("line {}", e.line()), &e.to_string(), "a manifest")
    })?;
    let (schedscape, digest) = (manifest.schedscape, manifest.runs_sha256);
    let mut results = Results {
        engine: manifest.engine,
        experiment: manifest.experiment,
        constants: manifest.constants,
        counted: manifest.counted,
        counters: manifest.counters,
        workloads: manifest.workloads.into_iter().map(empty_workload).collect(),
        computers: manifest.computers,
        sensitivity: manifest.sensitivity,
        robustness: manifest.robustness,
    };
    let damage = add_runs(&mut results, &dir.join(RUNS), &digest).err();
    Ok(Stored { results, schedscape, damage })
}

/// Reads the runs in `path` into `results`, which have none.
fn add_runs(results: &mut Results, path: &Path, digest: &str) -> Result<(), ResultsError> {
    let runs = std::fs::read(path)
        .map_err(|reason| ResultsError::Io { file: path.display().to_string(), reason })?;
    let found = sha256(&runs);
    if found != digest {
        return Err(ResultsError::store(path, "SHA-256", &found, digest));
    }
    let rows = SerializedFileReader::new(Bytes::from(runs))
        .map_err(|e| ResultsError::store(path, "footer", &e.to_string(), "a whole Parquet file"))?;
    let rows = rows.get_row_iter(None).map_err(|e| {
        ResultsError::store(path, "schema", &e.to_string(), "the columns of a result store")
    })?;
    for (at, row) in rows.enumerate() {
        let place = || format!("row {at}");
        let row = row.map_err(|e| {
            ResultsError::store(path, &place(), &e.to_string(), "a row of a result store")
        })?;
        let row = value_of(&row).map_err(|e| {
            ResultsError::store(path, &place(), &e.to_string(), "a row of a result store")
        })?;
        add_value(results, row).map_err(|found| {
            ResultsError::store(path, &place(), &found, "a value that the manifest names")
        })?;
    }
    check_complete(results, path)
}

/// Why there is no manifest, and what there is instead.
fn no_manifest(dir: &Path, path: &Path, reason: std::io::Error) -> ResultsError {
    let expected = "what `run --out` stored: manifest.json and runs.parquet";
    let journal = journal_path(dir);
    if dir.is_file() {
        return ResultsError::store(dir, "directory", "a file", expected);
    }
    if reason.kind() != std::io::ErrorKind::NotFound {
        return ResultsError::Io { file: path.display().to_string(), reason };
    }
    let found = match std::fs::read_dir(dir).map(|mut entries| entries.next().is_none()) {
        _ if journal.is_file() => {
            let name = journal.display();
            format!("{name}, runs of a command that was interrupted and goes on when given again")
        }
        Ok(true) => "nothing".to_string(),
        Ok(false) => "no manifest.json".to_string(),
        Err(_) => "none".to_string(),
    };
    ResultsError::store(dir, "directory", &found, expected)
}

/// Looks at the format number alone, so that a store of another version is called that.
fn check_format(text: &str, path: &Path) -> Result<(), ResultsError> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
        schedscape: Option<String>,
    }
    let format: Format = serde_json::from_str(text).map_err(|e| {
        ResultsError::store(path, &format!("line {}", e.line()), &e.to_string(), "a manifest")
    })?;
    if format.format == FORMAT {
        return Ok(());
    }
    let version = format.schedscape.map_or(String::new(), |v| format!(" of schedscape {v}"));
    let expected = format!("{FORMAT}; {RUNS} can be read with any Parquet reader");
    Err(ResultsError::store(path, "format", &format!("{}{version}", format.format), &expected))
}

fn manifest(results: &Results, runs_sha256: String) -> Manifest {
    Manifest {
        format: FORMAT,
        schedscape: env!("CARGO_PKG_VERSION").to_string(),
        engine: results.engine,
        runs_sha256,
        experiment: results.experiment.clone(),
        constants: results.constants.clone(),
        counted: results.counted.clone(),
        counters: results.counters.clone(),
        workloads: results
            .workloads
            .iter()
            .map(|w| ManifestWorkload {
                name: w.name.clone(),
                title: w.title.clone(),
                metrics: w.metrics.clone(),
                ignored: w.ignored.clone(),
                variants: w.variants.iter().map(|v| v.name.clone()).collect(),
            })
            .collect(),
        computers: results.computers.clone(),
        sensitivity: results.sensitivity.clone(),
        robustness: results.robustness.clone(),
    }
}

fn empty_workload(w: ManifestWorkload) -> WorkloadResults {
    WorkloadResults {
        name: w.name,
        title: w.title,
        metrics: w.metrics,
        ignored: w.ignored,
        variants: w.variants.into_iter().map(|name| VariantRuns { name, runs: vec![] }).collect(),
    }
}

/// Every run has every metric and counter, and every variant as many runs as the experiment asks for.
fn check_complete(results: &Results, path: &Path) -> Result<(), ResultsError> {
    for w in &results.workloads {
        let entry = results.experiment.workload(&w.name);
        let wanted = entry.map_or(0, |e| e.runs as usize);
        for v in &w.variants {
            let is_whole = |r: &&Run| {
                r.metrics.len() == w.metrics.len() && r.counters.len() == results.counters.len()
            };
            let whole = v.runs.iter().filter(is_whole).count();
            if whole != wanted {
                let place = format!("workload `{}`, variant `{}`", w.name, v.name);
                let expected = format!("{wanted} whole runs");
                return Err(ResultsError::store(
                    path,
                    &place,
                    &format!("{whole} whole runs"),
                    &expected,
                ));
            }
        }
    }
    Ok(())
}
