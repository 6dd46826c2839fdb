//! The result store: what is written is read again; what is broken is refused without a panic.

use definition::ExperimentFile;
use proptest::prelude::*;
use results::robust::{Explored, Point, Ranged, Robustness};
use results::sensitivity::{Moved, Row, Sensitivity};
use results::{
    Computer, Counter, Engine, Fact, Ignored, MetricInfo, Results, Run, VariantRuns,
    WorkloadResults, store,
};
use stats::Better;
use std::path::Path;
use workload::rtapp::Feature;

const EXPERIMENT: &str = include_str!("../../../experiments/power9-big-core.toml");

/// Values that text of too few digits would change.
fn sensitivity() -> Sensitivity {
    let row = Row { row: vec![vec![0.1 + 0.2]], mirror: vec![vec![1.0 / 3.0]] };
    let (workload, constants) = ("w".to_string(), vec!["a_ns".to_string()]);
    let workloads = vec![Moved { workload, constants, fixed: vec![], rows: vec![row] }];
    Sensitivity { factor: 1.2, workloads, left_out: vec![] }
}

/// The same of runs over ranges.
fn robustness() -> Robustness {
    let ranged = Ranged {
        name: "a_ns".to_string(),
        value: 0.3,
        unit: "ns".to_string(),
        mark: "assumed".to_string(),
        low: 0.1 + 0.2,
        high: 2.0 / 3.0,
        source: "s".to_string(),
    };
    let point = Point { values: vec![1.0 / 3.0], runs: vec![vec![vec![0.1 + 0.2]]] };
    let workloads = vec![Explored {
        workload: "w".to_string(),
        constants: vec![ranged],
        fixed: vec!["b_ns".to_string()],
        rows: vec![],
        points: vec![point],
    }];
    Robustness { workloads, left_out: vec![] }
}

/// Results of the shipped experiment's shape with `runs` made-up runs.
fn results(runs: u32) -> Results {
    let text = EXPERIMENT.replace("runs = 100", &format!("runs = {runs}"));
    let experiment = ExperimentFile::parse(&text, "x.toml").expect("a good experiment");
    let variant = |name: &str| VariantRuns {
        name: name.to_string(),
        runs: (0..runs)
            .map(|run| Run {
                run,
                seed: u64::MAX - u64::from(run),
                metrics: vec![f64::from(run) * 0.1 + 1.0 / 3.0, 2.0],
                single_times: vec![vec![], (0..=run).map(|i| f64::from(i) / 3.0).collect()],
                counters: vec![u64::from(run) << 40, 0],
            })
            .collect(),
    };
    let workload = |name: &str, variants: &[&str]| WorkloadResults {
        name: name.to_string(),
        title: format!("title of {name}"),
        metrics: ["m", "n"]
            .map(|name| MetricInfo { name: name.into(), unit: "s".into(), better: Better::Lower })
            .into(),
        ignored: vec![Ignored { feature: Feature::SchedFifo, path: "tasks.t.policy".into() }],
        variants: variants.iter().map(|v| variant(v)).collect(),
    };
    Results {
        engine: Engine::Sim,
        experiment,
        counters: vec![Counter::number("events", "h"), Counter::ns("idle_ns", "h")],
        constants: machine::catalog::load("power9-big-core").expect("a machine").constants,
        counted: vec!["6.12 on ppc64el".to_string()],
        computers: vec![],
        sensitivity: Some(sensitivity()),
        robustness: Some(robustness()),
        workloads: vec![
            workload("ebizzy", &["vanilla", "big-core"]),
            workload("sched-pipe", &["vanilla", "big-core", "big-core-v5"]),
        ],
    }
}

fn written(dir: &Path) -> (std::path::PathBuf, Vec<u8>) {
    let store = dir.join("store");
    store::write(&results(3), &store).expect("a new store");
    let runs = std::fs::read(store.join("runs.parquet")).expect("runs");
    (store, runs)
}

#[test]
fn what_is_written_is_read_again() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (store, _) = written(dir.path());
    assert_eq!(store::read(&store).expect("a good store"), results(3));
    let entries: Vec<_> = std::fs::read_dir(dir.path()).expect("the directory").collect();
    assert_eq!(entries.len(), 1, "no temporary directory is left: {entries:?}");
}

#[test]
fn facts_of_computers_are_kept_and_an_empty_list_leaves_no_trace() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (store, _) = written(dir.path());
    let manifest = std::fs::read_to_string(store.join("manifest.json")).expect("a manifest");
    assert!(!manifest.contains("computers"), "as before there were any: {manifest}");

    let fact = Fact { name: "kernel".into(), value: "6.12.5".into() };
    let mut of_host =
        Results { engine: Engine::Host, sensitivity: None, robustness: None, ..results(3) };
    of_host.computers = vec![Computer {
        variants: vec!["big-core".to_string()],
        facts: vec![fact],
        warnings: vec!["the CPU was throttled".to_string()],
    }];
    of_host.workloads.iter_mut().for_each(|w| w.variants.retain(|v| v.name == "big-core"));
    let some = dir.path().join("some-variants");
    store::write(&of_host, &some).expect("a new store");
    assert_eq!(store::read(&some).expect("a good store"), of_host);
}

#[test]
fn an_existing_directory_is_not_touched() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (store, runs) = written(dir.path());
    let error = store::write(&results(5), &store).expect_err("it exists").to_string();
    assert!(error.contains("exists"), "{error}");
    assert_eq!(std::fs::read(store.join("runs.parquet")).expect("runs"), runs);
}

#[test]
fn missing_runs_are_noticed() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut fewer = results(3);
    fewer.workloads[1].variants[2].runs.pop();
    store::write(&fewer, &dir.path().join("store")).expect("a new store");
    let error = store::read(&dir.path().join("store")).expect_err("a run is missing").to_string();
    assert!(error.contains("big-core-v5") && error.contains("found 2 whole runs"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Any one byte of the runs changed, or the end cut off: an error, never a panic.
    #[test]
    fn broken_runs_never_panic(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let (store, mut runs) = written(dir.path());
        let at = at.index(runs.len());
        let same = runs[at] == byte && !cut;
        runs[at] = byte;
        if cut {
            runs.truncate(at);
        }
        std::fs::write(store.join("runs.parquet"), &runs).expect("a file");
        prop_assert_eq!(store::read(&store).is_ok(), same);
    }

    #[test]
    fn arbitrary_manifests_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let (store, _) = written(dir.path());
        std::fs::write(store.join("manifest.json"), &bytes).expect("a file");
        prop_assert!(store::read(&store).is_err());
    }
}
