//! Interrupted experiments go on where they stopped, and end with the bytes of one that was not interrupted.

use definition::{ExperimentFile, Plan};
use experiment::journal::Identity;
use experiment::{Engine, EngineError, Journal, Progress, SimEngine, SimJob};
use kernel::Kernel;
use machine::Machine;
use proptest::prelude::*;
use results::{Results, ResultsError, Run, store};
use setting::Setting;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;
use workload::Workload;

const EXPERIMENT: &str = include_str!("../../../experiments/power9-big-core.toml");
const RUNS: usize = 30;

fn plan(seed: u64) -> Plan {
    let text = EXPERIMENT
        .replace("runs = 100", "runs = 6")
        .replace("seconds = 10", "seconds = 0.01")
        .replace("loops_run = 25000", "loops_run = 20")
        .replace("seed = 1", &format!("seed = {seed}"));
    let file = ExperimentFile::parse(&text, "x.toml").expect("a good experiment");
    Plan::new(file, "x.toml").expect("a plan")
}

fn identity(plan: &Plan) -> Identity {
    Identity::of(plan, results::Engine::Sim, "", b"program").expect("an identity")
}

/// The simulator that fails at its run `at`, as one that is interrupted there, and counts its runs.
struct Interrupted {
    at: usize,
    runs: AtomicUsize,
}

impl Interrupted {
    fn new(at: usize) -> Interrupted {
        Interrupted { at, runs: AtomicUsize::new(0) }
    }
}

impl Engine for Interrupted {
    type Job = SimJob;

    fn prepare(
        &self,
        plan: &Plan,
        at: (usize, usize),
        machine: &Machine,
        kernel: &Kernel,
        workload: Workload,
        setting: &Setting,
    ) -> Result<SimJob, EngineError> {
        SimEngine.prepare(plan, at, machine, kernel, workload, setting)
    }

    fn run(&self, job: &SimJob, run: u32, seed: u64) -> Result<Run, EngineError> {
        if self.runs.fetch_add(1, Ordering::Relaxed) >= self.at {
            return Err(EngineError::Reported("interrupted".to_string()));
        }
        SimEngine.run(job, run, seed)
    }
}

fn attempt(dir: &Path, plan: &Plan, at: usize, threads: usize) -> (Option<Results>, usize) {
    let engine = Interrupted::new(at);
    let journal = Journal::open(dir, &identity(plan)).expect("a journal");
    let results = experiment::run_from(plan, &engine, threads, Some(&journal), &|_| ());
    if let Ok(results) = &results {
        store::write(results, dir).expect("a store");
        journal.remove().expect("a journal");
    }
    (results.ok(), engine.runs.into_inner())
}

fn bytes(dir: &Path) -> [Vec<u8>; 2] {
    ["manifest.json", "runs.parquet"].map(|f| std::fs::read(dir.join(f)).expect("a file"))
}

fn uninterrupted() -> (TempDir, PathBuf) {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let dir = temporary.path().join("whole");
    let results = experiment::run(&plan(1), &SimEngine, 1, &|_| ()).expect("results");
    store::write(&results, &dir).expect("a store");
    (temporary, dir)
}

#[test]
fn an_interrupted_experiment_gives_the_bytes_of_a_whole_one() {
    let (temporary, whole) = uninterrupted();
    for threads in [1, 3] {
        let dir = temporary.path().join(format!("kept-{threads}"));
        let (none, first) = attempt(&dir, &plan(1), 10, threads);
        assert!(none.is_none() && first >= 10);
        assert!(!dir.exists(), "nothing that could be taken for a whole result");
        let (none, _) = attempt(&dir, &plan(1), 7, threads);
        assert!(none.is_none());
        let (results, last) = attempt(&dir, &plan(1), usize::MAX, 4 - threads);
        assert!(results.is_some());
        assert_eq!(last, RUNS - 17, "only what was missing is run");
        assert_eq!(bytes(&dir), bytes(&whole));
    }
    let left = std::fs::read_dir(temporary.path()).expect("the directory").count();
    assert_eq!(left, 3, "journals are gone");
}

#[test]
fn progress_counts_runs_and_cells_and_what_was_resumed() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let dir = temporary.path().join("kept");
    attempt(&dir, &plan(1), 8, 1);
    let journal = Journal::open(&dir, &identity(&plan(1))).expect("a journal");
    let seen = Mutex::new(Vec::new());
    let note = |progress: Progress| seen.lock().expect("no panic").push(progress);
    experiment::run_from(&plan(1), &SimEngine, 1, Some(&journal), &note).expect("results");
    let seen = seen.into_inner().expect("no panic");
    let whole = Progress { runs: 0, runs_in_all: RUNS, cells: 0, cells_in_all: 5, resumed: 8 };
    assert_eq!(seen.first(), Some(&whole));
    assert_eq!(seen.last(), Some(&Progress { runs: RUNS, cells: 5, ..whole }));
    assert_eq!(seen.len(), RUNS + 1);
}

fn refused(dir: &Path, identity: &Identity) -> String {
    let refused: ResultsError = Journal::open(dir, identity).expect_err("another's journal");
    refused.to_string()
}

#[test]
fn runs_of_something_else_are_refused() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let dir = temporary.path().join("kept");
    attempt(&dir, &plan(1), 3, 1);
    let error = refused(&dir, &identity(&plan(2)));
    assert!(error.contains("kept.partial"), "{error}");
    assert!(error.contains("found those of another experiment or seed, expected"), "{error}");
    let other_build =
        Identity::of(&plan(1), results::Engine::Sim, "", b"other").expect("an identity");
    assert!(refused(&dir, &other_build).contains("another build of schedscape"));
    let mut larger = plan(1);
    larger.machine = machine::catalog::load("epyc-7742-2s-nps1").expect("a machine");
    assert!(refused(&dir, &identity(&larger)).contains("another machine"));
    let held = Journal::open(&dir, &identity(&plan(1))).expect("a journal");
    assert!(refused(&dir, &identity(&plan(1))).contains("a run that goes on"));
    drop(held);
    std::fs::write(store::journal_path(&dir), "notes\n").expect("a file");
    assert!(refused(&dir, &identity(&plan(1))).contains("line 1: found something else"));
    assert_eq!(std::fs::read(store::journal_path(&dir)).expect("a file"), b"notes\n");
}

#[test]
fn a_changed_file_of_a_workload_makes_another_experiment() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("rt-app.toml");
    std::fs::write(&path, include_str!("../../../experiments/rt-app.toml")).expect("a file");
    let task_file = temporary.path().join("rt-app.json");
    let text = include_str!("../../../experiments/rt-app.json");
    let of = |text: &str| {
        std::fs::write(&task_file, text).expect("a file");
        let file = ExperimentFile::load(&path).expect("a good experiment");
        identity(&Plan::new(file, &path.display().to_string()).expect("a plan"))
    };
    assert_eq!(of(text), of(text));
    assert_ne!(of(text), of(&format!("{text} ")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// A journal cut or damaged anywhere behind its first line: the same bytes in the end.
    #[test]
    fn what_an_interruption_cut_is_run_again(at in any::<prop::sample::Index>(), byte in any::<Option<u8>>()) {
        let (temporary, whole) = uninterrupted();
        let dir = temporary.path().join("kept");
        attempt(&dir, &plan(1), 12, 1);
        let path = store::journal_path(&dir);
        let mut text = std::fs::read(&path).expect("a journal");
        let first = text.iter().position(|&b| b == b'\n').expect("a line") + 1;
        let at = first + at.index(text.len() - first);
        match byte {
            Some(byte) => text[at] = byte,
            None => text.truncate(at),
        }
        std::fs::write(&path, &text).expect("a file");
        let (results, _) = attempt(&dir, &plan(1), usize::MAX, 2);
        prop_assert!(results.is_some());
        prop_assert_eq!(bytes(&dir), bytes(&whole));
    }
}
