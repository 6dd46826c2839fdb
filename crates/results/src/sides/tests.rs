use super::*;
use crate::runs::{MetricInfo, Results, Run, VariantRuns, WorkloadResults};
use definition::ExperimentFile;
use setting::Accel;
use stats::{Confidence, Resampling};

const EXPERIMENT: &str = r#"
name = "pipe"
machine = "power9-big-core"
variant = [{ name = "old", kernel = "6.1" }, { name = "new", kernel = "6.12" }]
workload = [{ name = "pipe", runs = 10, sched_pipe = { loops = 1, loops_run = 1 } }]
"#;

/// Results of ten runs: `change` is the second variant's time against the first's; `extra` is a counter of this engine alone.
fn results(engine: Engine, scale: f64, change: f64, smt: u64, extra: &str) -> Results {
    let mut counters: Vec<Counter> =
        Distance::ALL.map(|d| Counter::number(&format!("ttwu_{}", d.name()), "h")).to_vec();
    counters.push(Counter::ns(extra, "h"));
    let run = |n: u32, factor: f64| Run {
        run: n,
        seed: 0,
        metrics: vec![scale * factor * (1.0 + f64::from(n) / 1000.0)],
        single_times: vec![vec![]],
        counters: counters
            .iter()
            .map(|c| match c.name.as_str() {
                "ttwu_smt" => smt,
                "ttwu_llc" => 0,
                _ => 10,
            })
            .collect(),
    };
    let variant = |name: &str, factor: f64| VariantRuns {
        name: name.to_string(),
        runs: (0..10).map(|n| run(n, factor)).collect(),
    };
    let info = MetricInfo { name: "seconds".into(), unit: "s".into(), better: Better::Lower };
    Results {
        engine,
        experiment: ExperimentFile::parse(EXPERIMENT, "x.toml").unwrap(),
        constants: Default::default(),
        counted: vec![],
        computers: vec![],
        sensitivity: None,
        robustness: None,
        workloads: vec![WorkloadResults {
            name: "pipe".to_string(),
            title: "pipe".to_string(),
            metrics: vec![info],
            ignored: vec![],
            variants: vec![variant("old", 1.0), variant("new", change)],
        }],
        counters: counters.clone(),
    }
}

/// The ratio by which the second variant is no slower and no faster than the first.
const SAME: f64 = 1.0;

fn vm(change: f64) -> Results {
    results(Engine::Vm(Accel::Tcg), 70.0, change, 0, "idle_ns")
}

fn side_by_side(all: &[&Results]) -> Result<Sides, ResultsError> {
    let resampling = Resampling::new(1000, 1, Confidence::P95).unwrap();
    let analyses: Vec<Analysis> =
        all.iter().map(|results| Analysis::of(results, resampling).unwrap()).collect();
    let paths: Vec<String> = (1..=all.len()).map(|n| format!("store-{n}")).collect();
    let stores: Vec<(&Analysis, &Path)> =
        analyses.iter().zip(paths.iter().map(Path::new)).collect();
    compare(&stores)
}

#[test]
fn changes_are_compared_and_not_seconds() {
    let row = |change: f64| {
        let sim = results(Engine::Sim, 1.0, 0.9, 0, "idle_ns");
        side_by_side(&[&sim, &vm(change)]).unwrap().rows.remove(0)
    };
    assert_eq!(row(0.9).agreement, Agreement::Same);
    assert!((row(0.9).sides[1].unwrap().percent.estimate - 10.0).abs() < 1e-6);
    assert_eq!(row(1.2).agreement, Agreement::Opposite);
    assert_eq!(row(SAME).agreement, Agreement::SomeOnly);
}

#[test]
fn three_engines_agree_or_two_of_them_do_not() {
    let row = |changes: [f64; 3]| {
        let engines = [Engine::Sim, Engine::Vm(Accel::Kvm), Engine::Host];
        let all: Vec<Results> = engines
            .into_iter()
            .zip(changes)
            .map(|(engine, change)| results(engine, 1.0, change, 0, "idle_ns"))
            .collect();
        let row = side_by_side(&all.iter().collect::<Vec<_>>()).unwrap().rows.remove(0);
        (row.agreement, row.apart)
    };
    assert_eq!(row([0.9, 0.9, 0.9]), (Agreement::Same, false));
    assert_eq!(row([0.9, 0.9, 0.5]), (Agreement::Same, true));
    assert_eq!(row([0.9, SAME, 0.9]), (Agreement::SomeOnly, true));
    assert_eq!(row([SAME, 1.2, 0.9]), (Agreement::Opposite, true));
    assert_eq!(row([SAME, SAME, SAME]), (Agreement::None, false));
}

#[test]
fn what_two_of_three_have_is_shown_and_missing_for_the_third() {
    let sim = results(Engine::Sim, 1.0, 0.9, 0, "idle_ns");
    let mut other = results(Engine::Host, 1.0, 0.9, 0, "steal_ns");
    other.workloads[0].variants.pop();
    let sides = side_by_side(&[&other, &vm(0.9), &sim]).unwrap();
    let row = &sides.rows[0];
    assert_eq!(row.sides.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(row.agreement, Agreement::Same, "of the two that have it");
    let places: Vec<_> =
        sides.placements.iter().map(|p| (p.variant.as_str(), &p.shares[0].1)).collect();
    assert!(matches!(places[0], ("old", shares) if shares.iter().all(Option::is_some)));
    assert!(matches!(places[1], ("new", shares) if shares[0].is_none() && shares[1].is_some()));
    let mut counters = sides.counters.iter();
    let idle = counters.find(|c| c.variant == "new" && c.counter == "idle_ns").unwrap();
    assert_eq!(idle.means, [None, Some(10.0), Some(10.0)]);
}

#[test]
fn a_baseline_that_only_one_engine_has_is_none() {
    let sim = results(Engine::Sim, 1.0, 0.9, 0, "idle_ns");
    let mut other = results(Engine::Host, 1.0, 0.9, 0, "idle_ns");
    other.workloads[0].variants.remove(0);
    let sides = side_by_side(&[&other, &sim]).unwrap();
    assert_eq!((sides.rows.len(), sides.placements.len()), (0, 1));
}

#[test]
fn other_experiments_and_nothing_in_common_are_refused() {
    let refused = |all: &[&Results]| side_by_side(all).unwrap_err().to_string();
    let sim = results(Engine::Sim, 1.0, 0.9, 0, "idle_ns");
    let mut other = vm(0.9);
    other.experiment.name = "other".to_string();
    let error = refused(&[&sim, &vm(0.9), &other]);
    let expected =
        "store-3: experiment: found other on power9-big-core, expected pipe on power9-big-core";
    assert_eq!(error, expected);
    let mut empty = vm(0.9);
    empty.workloads.clear();
    assert!(refused(&[&sim, &empty]).starts_with("store-2: experiment: found nothing in common"));
    assert!(refused(&[&sim]).starts_with("store-1: engines: found fewer than two"));
}

#[test]
fn counters_of_all_engines_are_joined_by_name() {
    let sim = results(Engine::Sim, 1.0, 1.0, 30, "idle_ns");
    let vm = results(Engine::Vm(Accel::Tcg), 1.0, 1.0, 0, "steal_ns");
    let sides = side_by_side(&[&sim, &vm]).unwrap();
    assert_eq!(sides.placements.len(), 2);
    let share =
        |name: &str| sides.placements[0].shares.iter().find(|s| s.0 == name).map(|s| s.1.clone());
    assert_eq!(share("smt").unwrap(), [Some(100.0 / 3.0), Some(0.0)]);
    assert_eq!(share("llc"), None);
    let counted = |variant: &str, name: &str| {
        let mut all = sides.counters.iter();
        all.find(|c| c.variant == variant && c.counter == name).unwrap().means.clone()
    };
    assert_eq!(counted("new", "idle_ns"), [Some(10.0), None]);
    assert_eq!(counted("new", "steal_ns"), [None, Some(10.0)]);
    assert_eq!(counted("old", "ttwu_llc"), [Some(0.0), Some(0.0)]);
}
