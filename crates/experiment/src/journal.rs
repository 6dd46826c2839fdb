//! Finished runs of an experiment that is not finished: a file beside the result store to be, to go on from after an
//! interruption.
//!
//! The first line says which experiment, machine and program the runs belong to; each other one is a run. Every line starts
//! with a digest of its rest, so that what an interruption cut is noticed and run again. The file's name is not that of a
//! store, and a store takes its name only when it is whole: one cannot be taken for the other.

use crate::ExperimentError;
use crate::engine::EngineError;
use definition::{Plan, folder_of};
use results::digest::{of_list, sha256};
use results::store::{TEMPORARY_PREFIX, journal_path};
use results::{Engine, ResultsError, Run};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use workload::Benchmark;

/// Version of the layout.
const FORMAT: u32 = 4;
/// Hexadecimal digits of a line's digest.
const DIGITS: usize = 16;

/// Whose runs a journal holds. Runs of another are not mixed with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    format: u32,
    engine: Engine,
    /// Words for every guest's command line.
    append: String,
    program: String,
    experiment: String,
    machine: String,
}

impl Identity {
    /// Of `plan`, run by `engine` of the program whose executable has the bytes `program`: another build may predict
    /// something else. `append` is what every guest has on its command line.
    ///
    /// # Errors
    ///
    /// Files that workloads name and that cannot be read.
    pub fn of(
        plan: &Plan,
        engine: Engine,
        append: &str,
        program: &[u8],
    ) -> Result<Identity, ExperimentError> {
        let json = |e: serde_json::Error| ExperimentError::Refused {
            file: plan.path.clone(),
            field: "experiment".to_string(),
            reason: Box::new(EngineError::from(e)),
        };
        let mut parts = vec![serde_json::to_vec(&plan.file).map_err(json)?];
        for name in
            plan.file.workloads.iter().flat_map(|w| w.benchmarks()).filter_map(Benchmark::file)
        {
            let path = plan.folder().join(name);
            let bytes = std::fs::read(&path).map_err(|reason| ResultsError::io(&path, reason))?;
            parts.push(bytes);
        }
        Ok(Identity {
            format: FORMAT,
            engine,
            append: append.to_string(),
            program: sha256(program),
            experiment: of_list(parts.iter().map(Vec::as_slice)),
            machine: sha256(&serde_json::to_vec(&plan.machine).map_err(json)?),
        })
    }

    /// What of it another one has otherwise.
    fn difference(&self, other: &Identity) -> Option<&'static str> {
        let fields = [
            (self.format == other.format, "another version of the file"),
            (self.experiment == other.experiment, "another experiment or seed"),
            (self.machine == other.machine, "another machine"),
            ((self.engine, &self.append) == (other.engine, &other.append), "another engine"),
            (self.program == other.program, "another build of schedscape"),
        ];
        fields.into_iter().find(|f| !f.0).map(|f| f.1)
    }
}

/// Which run: workload, variant, number, and what was moved of the constants.
type Key = (String, String, u32, Option<String>);

/// A run's line. Floats are kept as their bits, so that they come back the same.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    workload: String,
    variant: String,
    run: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    moved: Option<String>,
    seed: u64,
    metrics: Vec<u64>,
    single_times: Vec<Vec<u64>>,
    counters: Vec<u64>,
}

/// An open journal. While it is open no other process can open it.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    /// Bytes that were there when it was opened.
    opened_bytes: u64,
    kept: BTreeMap<Key, Run>,
}

impl Drop for Journal {
    /// A child that another thread is just starting has the file open, too, so closing it is not enough.
    fn drop(&mut self) {
        let _ = self.file.get_mut().unwrap_or_else(PoisonError::into_inner).unlock();
    }
}

impl Journal {
    /// Opens the journal of the store `dir`, or begins one. A line that an interruption cut is dropped.
    ///
    /// # Errors
    ///
    /// A journal of another identity, a file that is none, one that another process has open.
    pub fn open(dir: &Path, identity: &Identity) -> Result<Journal, ResultsError> {
        let path = journal_path(dir);
        if !path.exists() {
            begin(&path, identity)?;
        }
        let failed = |reason| ResultsError::io(&path, reason);
        let mut file = OpenOptions::new().read(true).write(true).open(&path).map_err(failed)?;
        file.try_lock().map_err(|e| match e {
            TryLockError::WouldBlock => {
                ResultsError::store(&path, "lock", "a run that goes on", "one that has ended")
            }
            TryLockError::Error(reason) => failed(reason),
        })?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let (first, mut whole) = next_line(&bytes).ok_or_else(|| none(&path))?;
        let found: Identity = serde_json::from_slice(first).map_err(|_| none(&path))?;
        if let Some(found) = found.difference(identity) {
            let expected = "runs of this one; another directory, or no such file, starts afresh";
            return Err(ResultsError::store(&path, "runs", &format!("those of {found}"), expected));
        }
        let mut kept = BTreeMap::new();
        while let Some((line, length)) = next_line(&bytes[whole..]) {
            let Ok(line) = serde_json::from_slice::<Line>(line) else { break };
            let (key, run) = run_of(line);
            kept.insert(key, run);
            whole += length;
        }
        file.set_len(whole as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Journal { path, file: Mutex::new(file), opened_bytes: whole as u64, kept })
    }

    /// Runs that were there when it was opened, those with moved constants apart.
    pub fn len(&self) -> usize {
        self.kept.keys().filter(|key| key.3.is_none()).count()
    }

    /// Whether there were none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The run that was there, if it was; `moved` names what was moved of the constants.
    pub(crate) fn run(
        &self,
        (workload, variant): (&str, &str),
        run: u32,
        moved: Option<&str>,
    ) -> Option<&Run> {
        let moved = moved.map(String::from);
        self.kept.get(&(workload.to_string(), variant.to_string(), run, moved))
    }

    /// Adds a run.
    pub(crate) fn keep(
        &self,
        (workload, variant): (&str, &str),
        run: &Run,
        moved: Option<&str>,
    ) -> Result<(), ResultsError> {
        let line = Line {
            workload: workload.to_string(),
            variant: variant.to_string(),
            run: run.run,
            moved: moved.map(String::from),
            seed: run.seed,
            metrics: bits(&run.metrics),
            single_times: run.single_times.iter().map(|times| bits(times)).collect(),
            counters: run.counters.clone(),
        };
        let line = line_of(&line, &self.path)?;
        // Another thread's panic leaves at worst a cut line.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line.as_bytes()).map_err(|reason| ResultsError::io(&self.path, reason))
    }

    /// Removes the file if it holds no run, as after an experiment that was refused.
    pub fn remove_if_empty(self) -> Result<(), ResultsError> {
        let bytes = std::fs::metadata(&self.path)
            .map_err(|reason| ResultsError::io(&self.path, reason))?
            .len();
        if self.is_empty() && bytes == self.opened_bytes { self.remove() } else { Ok(()) }
    }

    /// Removes the file, when a store has its runs.
    pub fn remove(self) -> Result<(), ResultsError> {
        std::fs::remove_file(&self.path).map_err(|reason| ResultsError::io(&self.path, reason))
    }
}

fn none(path: &Path) -> ResultsError {
    ResultsError::store(
        path,
        "line 1",
        "something else",
        "the finished runs of an interrupted experiment",
    )
}

/// Writes a journal without runs, under another name first.
fn begin(path: &Path, identity: &Identity) -> Result<(), ResultsError> {
    let failed = |reason| ResultsError::io(path, reason);
    let folder = folder_of(path);
    std::fs::create_dir_all(folder).map_err(failed)?;
    let builder = tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempfile_in(folder);
    let mut file = builder.map_err(failed)?;
    file.write_all(line_of(identity, path)?.as_bytes()).map_err(failed)?;
    file.persist_noclobber(path).map_err(|e| failed(e.error))?;
    Ok(())
}

fn line_of(value: &impl Serialize, path: &Path) -> Result<String, ResultsError> {
    let json = serde_json::to_string(value)
        .map_err(|e| ResultsError::store(path, "run", &e.to_string(), "text that JSON can hold"))?;
    Ok(format!("{} {json}\n", &sha256(json.as_bytes())[..DIGITS]))
}

/// The first line's text behind its digest, and the line's length; `None` where it is cut or damaged.
fn next_line(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let end = bytes.iter().position(|&b| b == b'\n')?;
    let (digest, rest) = bytes.get(..end)?.split_at_checked(DIGITS)?;
    let text = rest.strip_prefix(b" ")?;
    (sha256(text).as_bytes().get(..DIGITS)? == digest).then_some((text, end + 1))
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn floats(bits: Vec<u64>) -> Vec<f64> {
    bits.into_iter().map(f64::from_bits).collect()
}

fn run_of(line: Line) -> (Key, Run) {
    let run = Run {
        run: line.run,
        seed: line.seed,
        metrics: floats(line.metrics),
        single_times: line.single_times.into_iter().map(floats).collect(),
        counters: line.counters,
    };
    ((line.workload, line.variant, line.run, line.moved), run)
}
