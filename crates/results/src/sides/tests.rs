use super::*;
use crate::runs::{MetricInfo, Run, VariantRuns};
use definition::ExperimentFile;
use setting::Accel;
use stats::{Confidence, Resampling};
use workload::Counter;

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

fn side_by_side(a: &Results, b: &Results) -> Sides {
    let resampling = Resampling::new(1000, 1, Confidence::P95).unwrap();
    let of = |results| Analysis::of(results, resampling).unwrap();
    compare((&of(a), Path::new("a")), (&of(b), Path::new("b"))).unwrap()
}

#[test]
fn changes_are_compared_and_not_seconds() {
    let row = |change: f64| {
        let sim = results(Engine::Sim, 1.0, 0.9, 0, "idle_ns");
        let vm = results(Engine::Vm(Accel::Tcg), 70.0, change, 0, "idle_ns");
        side_by_side(&sim, &vm).rows.remove(0)
    };
    assert_eq!(row(0.9).agreement, Agreement::Same);
    assert!((row(0.9).sides[1].percent.estimate - 10.0).abs() < 1e-6);
    assert_eq!(row(1.2).agreement, Agreement::Opposite);
    assert_eq!(row(1.0).agreement, Agreement::OneOnly);
}

#[test]
fn counters_of_both_engines_are_joined_by_name() {
    let sim = results(Engine::Sim, 1.0, 1.0, 30, "idle_ns");
    let vm = results(Engine::Vm(Accel::Tcg), 1.0, 1.0, 0, "steal_ns");
    let sides = side_by_side(&sim, &vm);
    assert_eq!(sides.placements.len(), 2);
    let share = |name: &str| sides.placements[0].shares.iter().find(|s| s.0 == name).map(|s| s.1);
    assert_eq!(share("smt").unwrap(), [100.0 / 3.0, 0.0]);
    assert_eq!(share("llc"), None);
    let counted = |variant: &str, name: &str| {
        let mut all = sides.counters.iter();
        all.find(|c| c.variant == variant && c.counter == name).unwrap().means
    };
    assert_eq!(counted("new", "idle_ns"), [Some(10.0), None]);
    assert_eq!(counted("new", "steal_ns"), [None, Some(10.0)]);
    assert_eq!(counted("old", "ttwu_llc"), [Some(0.0), Some(0.0)]);
}
