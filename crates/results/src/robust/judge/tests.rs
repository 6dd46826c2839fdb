use super::*;
use crate::analysis::Analysis;
use crate::robust::{Point, Ranged, Robustness, wanted};
use crate::runs::{Run, VariantRuns, WorkloadResults};
use crate::sensitivity::Row;
use crate::{Engine, MetricInfo, Results};
use definition::ExperimentFile;
use machine::Constants;
use stats::{Confidence, TwoLevel};

const EXPERIMENT: &str = r#"
name = "pipe"
machine = "power9-big-core"
variant = [{ name = "old", kernel = "6.1" }, { name = "new", kernel = "6.12" }]
workload = [{ name = "pipe", runs = 40, sched_pipe = { loops = 1, loops_run = 1 } }]
"#;
const RUNS: usize = 40;

/// The second variant's time as a multiple of the first's, where constants are so many times their values.
type Model = fn(&[f64]) -> f64;

/// A run's values of both variants; chance is small and the same each time.
fn values(model: Model, values: &[f64], n: usize) -> [f64; 2] {
    let factors: Vec<f64> = values.iter().map(|v| v / 10.0).collect();
    let chance = |n: usize| 1.0 + 1e-3 * ((n * 7 % 13) as f64 - 6.0);
    [100.0 * chance(n), 100.0 * model(&factors) * chance(n + 5)]
}

fn explored(ranges: &[(f64, f64)], model: Model) -> Explored {
    let ranged = |(at, &(low, high)): (usize, &(f64, f64))| Ranged {
        name: format!("{}_ns", ["a", "b", "c", "d"][at]),
        value: 10.0,
        unit: "ns".to_string(),
        mark: "assumed".to_string(),
        low,
        high,
        source: "s".to_string(),
    };
    let mut explored = Explored {
        workload: "pipe".to_string(),
        constants: ranges.iter().enumerate().map(ranged).collect(),
        fixed: vec![],
        rows: vec![],
        points: vec![],
    };
    let row = |row: usize| {
        let run = |mirrored| {
            let at = explored.corner_of(row, mirrored);
            values(model, &at, row).map(|value| vec![value]).to_vec()
        };
        Row { row: run(false), mirror: run(true) }
    };
    explored.rows = (0..TwoLevel::of(ranges.len()).rows()).map(row).collect();
    explored
}

fn point(model: Model, at: Vec<f64>) -> Point {
    let run = |v: usize| (0..RUNS).map(|n| vec![values(model, &at, n)[v]]).collect();
    Point { runs: (0..2).map(run).collect(), values: at }
}

fn results(model: Model, ranges: &[(f64, f64)]) -> Results {
    let run = |v: usize, n: usize| Run {
        run: n as u32,
        seed: 0,
        metrics: vec![values(model, &vec![10.0; ranges.len()], n)[v]],
        single_times: vec![vec![]],
        counters: vec![],
    };
    let variant = |(v, name): (usize, &str)| VariantRuns {
        name: name.to_string(),
        runs: (0..RUNS).map(|n| run(v, n)).collect(),
    };
    let metric = MetricInfo { name: "x".into(), unit: "s".into(), better: Better::Lower };
    let workload = WorkloadResults {
        name: "pipe".to_string(),
        title: "pipe".to_string(),
        metrics: vec![metric],
        ignored: vec![],
        variants: ["old", "new"].into_iter().enumerate().map(variant).collect(),
    };
    Results {
        engine: Engine::Sim,
        experiment: ExperimentFile::parse(EXPERIMENT, "x.toml").unwrap(),
        constants: Constants::default(),
        counted: vec![],
        counters: vec![],
        workloads: vec![workload],
        computers: vec![],
        sensitivity: None,
        robustness: None,
    }
}

/// What is found of a model over these ranges when everything is run that is wanted, and how many places that were.
fn found(ranges: &[(f64, f64)], model: Model) -> (Robust, usize) {
    let resampling = Resampling::new(1000, 1, Confidence::P95).unwrap();
    let mut results = results(model, ranges);
    let mut explored = explored(ranges, model);
    loop {
        let analysis = Analysis::of(&results, resampling).unwrap();
        let next = wanted(&analysis.workloads[0], &explored, &resampling);
        if next.is_empty() {
            break;
        }
        explored.points.extend(next.into_iter().map(|at| point(model, at)));
    }
    let points = explored.points.len();
    let workloads = vec![explored];
    results.robustness = Some(Robustness { workloads, left_out: vec![] });
    let mut robust = Analysis::of(&results, resampling).unwrap().robust;
    (robust.remove(0), points)
}

const TWICE: (f64, f64) = (5.0, 20.0);

/// 2 % less time, and more with the first constant: 3.6 % more at its end. The sign turns where its power 0.08 makes up for 2 %,
/// at 12.87.
#[test]
fn a_constant_that_turns_the_sign_is_named_with_where() {
    let (robust, points) = found(&[TWICE, TWICE], |f| 0.98 * f[0].powf(0.08));
    assert_eq!((robust.verdict, robust.conclusion), (Verdict::Better, Conclusion::Undecided));
    assert_eq!((robust.from.verdict, robust.to.verdict), (Verdict::Worse, Verdict::Better));
    assert!((robust.from.percent.estimate + 3.6).abs() < 0.1, "{:?}", robust.from);
    let turning = robust.turning.expect("a turning");
    let [only] = &turning.constants[..] else { panic!("one constant: {turning:?}") };
    assert_eq!(only.constant, "a_ns");
    let [holds, turned] = only.between;
    assert!(holds < 12.87 && 12.87 < turned && turned / holds < 1.05, "{turning:?}");
    assert_eq!(robust.swings[0].constant, "a_ns");
    assert!(robust.surface_misses < 0.1, "{}", robust.surface_misses);
    assert!(points <= 3 + 1 + 4, "{points}");
}

#[test]
fn a_narrower_range_makes_the_same_answer_robust() {
    let (robust, points) = found(&[(9.0, 11.0), TWICE], |f| 0.98 * f[0].powf(0.08));
    assert_eq!((robust.conclusion, robust.opposite), (Conclusion::Robust, 0));
    assert_eq!((robust.turning, robust.unproven), (None, 0));
    assert!((2..=3).contains(&points), "{points}");
}

/// Each alone leaves 0.6 % of the 2 %.
#[test]
fn constants_that_only_together_turn_the_sign_are_named_together() {
    let (robust, _) = found(&[TWICE, TWICE, TWICE], |f| 0.98 * (f[0] * f[2]).powf(0.02));
    let turning = robust.turning.expect("a turning");
    let mut names: Vec<&str> = turning.constants.iter().map(|c| c.constant.as_str()).collect();
    names.sort_unstable();
    assert_eq!((robust.conclusion, names), (Conclusion::Undecided, vec!["a_ns", "c_ns"]));
    assert!(turning.part[0] > 0.6 && turning.part[1] < 0.9, "{turning:?}");
}

/// Both constants at the same end, or not: no effect of either, which the surface cannot show.
#[test]
fn what_the_surface_does_not_show_is_found_at_the_design_s_own_corners() {
    let (robust, _) = found(&[TWICE, TWICE], |f| match (f[0] * f[1]).ln().abs() > 0.5 {
        true => 1.05,
        false => 0.98,
    });
    assert_eq!((robust.verdict, robust.conclusion), (Verdict::Better, Conclusion::Undecided));
    assert!(robust.surface_misses > 5.0 && robust.turning.is_some(), "{robust:?}");
}

#[test]
fn a_sign_that_a_corner_does_not_prove_is_not_robust() {
    let (robust, _) = found(&[TWICE], |f| 0.98 * f[0].powf(0.029_146));
    assert_eq!((robust.conclusion, robust.opposite), (Conclusion::Undecided, 0));
    assert!(robust.unproven > 0 && robust.turning.is_none(), "{robust:?}");
}

#[test]
fn where_nothing_is_shown_no_corner_makes_an_answer_of_one_sign() {
    let (robust, _) = found(&[TWICE], |_| 1.0);
    assert_eq!(robust.conclusion, Conclusion::NoDifferenceShown);
    // No difference at the constants' values, but one either way at the ends.
    let (robust, _) = found(&[TWICE], |f| f[0].powf(0.1));
    assert_eq!((robust.verdict, robust.conclusion), (Verdict::NoDifference, Conclusion::Undecided));
    let (robust, _) = found(&[TWICE], |f| f[0].powf(0.1).min(1.0));
    assert_eq!(robust.conclusion, Conclusion::NoDifferenceShown);
    assert_eq!(robust.to.verdict, Verdict::Better);
}
