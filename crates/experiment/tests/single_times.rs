//! dbench's passes, from the runs to `SubAmean`: in the store, after an interruption, in tables and beside published figures.

use definition::{ExperimentFile, Plan};
use experiment::journal::Identity;
use experiment::{Journal, SimEngine};
use results::tables::Tables;
use results::validate::validate;
use results::{Engine, Results, store, study};
use stats::table::{ComparedCell, Estimator, Figure};
use stats::{Confidence, Resampling};
use std::path::Path;

const EPYC: &str = include_str!("../../../experiments/epyc-7742-frequency-invariance.toml");
const RUNS: usize = 3;

/// The frequency study with two rows of dbench and one of tbench, two governors.
fn plan() -> Plan {
    let (head, _) = EPYC.split_at(EPYC.find("[[variant]]\nname = \"sugov-noinv\"").expect("it"));
    let text = format!(
        "{head}\
[[workload]]
name = \"dbench\"
title = \"d\"
runs = {RUNS}
[workload.dbench]
clients = [1, 4]
parts_run = 2
warmup_s = 0.1
seconds = 0.3
[[workload]]
name = \"tbench\"
title = \"t\"
runs = {RUNS}
[workload.tbench]
clients = [1]
warmup_s = 0.01
seconds = 0.01
"
    );
    let file = ExperimentFile::parse(&text, "x.toml").expect("a good experiment");
    Plan::new(file, "x.toml").expect("a plan")
}

fn results(threads: usize) -> Results {
    experiment::run(&plan(), &SimEngine, threads, &|_| ()).expect("results")
}

fn settings() -> Resampling {
    Resampling::new(500, 1, Confidence::P95).expect("settings")
}

/// What the table of dbench says in row `row` and column `column`.
fn cell(results: &Results, row: usize, column: usize) -> ComparedCell {
    let tables = Tables::of(results).expect("rows");
    assert_eq!(tables.performance[0].estimator, Estimator::SubAmean);
    assert_eq!(tables.performance[1].estimator, Estimator::Hmean, "of tbench");
    let compared = tables.performance[0].compare(&settings(), Confidence::P95).expect("rows");
    compared.rows[row].cells[column].clone()
}

fn figure(results: &Results, row: usize, column: usize) -> Figure {
    *cell(results, row, column).figure().expect("a figure")
}

#[test]
fn the_table_draws_from_the_passes_of_runs() {
    let results = results(0);
    let dbench = &results.workloads[0];
    for run in &dbench.variants[0].runs {
        let passes = &run.single_times[0];
        let mean = passes.iter().sum::<f64>() / passes.len() as f64;
        assert!(passes.len() > 10 && (mean / run.metrics[0] - 1.0).abs() < 1e-9, "{run:?}");
        assert_eq!(run.single_times.len(), run.metrics.len());
        assert!(run.single_times[1..].iter().all(Vec::is_empty), "power has no passes");
    }
    let passes = dbench.single_times("ondemand", 0).samples();
    let (figure, mean) = (figure(&results, 0, 0), passes.iter().sum::<f64>() / passes.len() as f64);
    assert_eq!(figure.samples, passes.len());
    assert!(figure.value != mean && (figure.value / mean - 1.0).abs() < 0.01, "{figure:?} {mean}");
}

#[test]
fn threads_the_store_and_an_interruption_change_no_pass() {
    let whole = results(1);
    assert_eq!(results(3), whole);
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let dir = temporary.path().join("store");
    store::write(&whole, &dir).expect("a store");
    assert_eq!(store::read(&dir).expect("a store"), whole);
    let identity = Identity::of(&plan(), Engine::Sim, "", b"program").expect("an identity");
    let resumed = |at: &Path| {
        let journal = Journal::open(at, &identity).expect("a journal");
        let kept = journal.len();
        (
            experiment::run_from(&plan(), &SimEngine, 2, Some(&journal), &|_| ()).expect("results"),
            kept,
        )
    };
    let kept = temporary.path().join("kept");
    assert_eq!(resumed(&kept), (whole.clone(), 0));
    assert_eq!(resumed(&kept), (whole, 3 * 2 * RUNS));
}

#[test]
fn the_prediction_beside_the_published_figure_is_that_of_the_table() {
    let mut results = results(0);
    let study = study::load("epyc-7742-frequency-invariance").expect("a shipped study");
    let validation = validate(&study, &results, &settings());
    let dbench = |c: &&results::validate::Cell| c.table == "dbench4";
    let found: Vec<_> = validation.cells.iter().filter(dbench).collect();
    assert_eq!(found.iter().map(|c| &c.row).collect::<Vec<_>>(), ["SubAmean 1", "SubAmean 4"]);
    for (row, found) in found.iter().enumerate() {
        assert_eq!(found.predicted_baseline, figure(&results, row, 0).value);
        assert_eq!(found.predicted_variant, figure(&results, row, 1).value);
        let change = cell(&results, row, 1).change().expect("a change").percent;
        assert_eq!(found.predicted_percent, change.estimate);
        assert_eq!((found.predicted_low, found.predicted_high), (change.low, change.high));
    }
    // Runs that have only their mean, as those of a store written without passes.
    let runs = results.workloads[0].variants.iter_mut().flat_map(|v| &mut v.runs);
    runs.for_each(|run| run.single_times[0].clear());
    let missing = validate(&study, &results, &settings()).missing;
    assert!(missing.contains(&"dbench4, SubAmean 1, perfgov".to_string()), "{missing:?}");
}
