use super::*;
use crate::Engine;
use crate::analysis::Analysis;
use crate::runs::{Run, VariantRuns, WorkloadResults};
use crate::sensitivity::FACTOR;
use definition::ExperimentFile;
use machine::{Constant, Constants, Mark};
use stats::Confidence;

const EXPERIMENT: &str = r#"
name = "pipe"
machine = "power9-big-core"
variant = [{ name = "old", kernel = "6.1" }, { name = "new", kernel = "6.12" }]
workload = [{ name = "pipe", runs = 40, sched_pipe = { loops = 1, loops_run = 1 } }]
"#;
const NAMES: [&str; 4] = ["a_ns", "b_ns", "c_ns", LINES];

fn constants() -> Constants {
    let mut all = Constants::default();
    for name in &NAMES[..3] {
        let (unit, source) = ("ns".to_string(), format!("why {name}"));
        all.set(name, Constant { value: 10.0, unit, mark: Mark::Assumed, source, range: None });
    }
    all
}

/// A variant's value where constants are multiplied so: the second one takes 2 % less, and goes with powers of its own.
fn value(variant: usize, factors: &[f64], chance: f64) -> f64 {
    let powers = [[0.5, 0.2, 0.0, 0.0], [0.5, 0.2, 0.3, -0.1]][variant];
    let of = |(f, p): (&f64, f64)| f.powf(p);
    [100.0, 98.0][variant] * factors.iter().zip(powers).map(of).product::<f64>() * (1.0 + chance)
}

/// Chance of a run, small and the same each time.
fn chance(n: usize) -> f64 {
    1e-4 * ((n * 7 % 13) as f64 - 6.0)
}

fn moved() -> Moved {
    let design = TwoLevel::of(NAMES.len());
    let metrics = |row: usize, mirrored: bool| {
        let factor = |f| if design.is_up(row, f) != mirrored { FACTOR } else { 1.0 / FACTOR };
        let factors: Vec<f64> = (0..NAMES.len()).map(factor).collect();
        (0..2).map(|v| vec![value(v, &factors, chance(row + v))]).collect()
    };
    let row = |row| Row { row: metrics(row, false), mirror: metrics(row, true) };
    Moved {
        workload: "pipe".to_string(),
        constants: NAMES.map(String::from).to_vec(),
        fixed: vec![],
        rows: (0..design.rows()).map(row).collect(),
    }
}

fn results(better: Better) -> Results {
    let run = |v: usize, n: usize| Run {
        run: n as u32,
        seed: 0,
        metrics: vec![value(v, &[1.0; 4], 30.0 * chance(n + v))],
        single_times: vec![vec![]],
        counters: vec![],
    };
    let variant = |(v, name): (usize, &str)| VariantRuns {
        name: name.to_string(),
        runs: (0..40).map(|n| run(v, n)).collect(),
    };
    Results {
        engine: Engine::Sim,
        experiment: ExperimentFile::parse(EXPERIMENT, "x.toml").unwrap(),
        constants: constants(),
        counted: vec!["6.12.1".to_string()],
        counters: vec![],
        workloads: vec![WorkloadResults {
            name: "pipe".to_string(),
            title: "pipe".to_string(),
            metrics: vec![MetricInfo { name: "x".into(), unit: "s".into(), better }],
            ignored: vec![],
            variants: ["old", "new"].into_iter().enumerate().map(variant).collect(),
        }],
        computers: vec![],
        sensitivity: Some(Sensitivity {
            factor: FACTOR,
            workloads: vec![moved()],
            left_out: vec![],
        }),
        robustness: None,
    }
}

fn found(results: &Results) -> Vec<Hangs> {
    let resampling = Resampling::new(1000, 1, Confidence::P95).unwrap();
    Analysis::of(results, resampling).unwrap().hangs
}

/// By the powers: a change gains 98 points for each unit of the logarithm to the power 1 in which variants differ. What both
/// share moves times and no change.
#[test]
fn elasticities_are_those_of_the_powers_in_which_variants_differ() {
    for (better, sign) in [(Better::Lower, -1.0), (Better::Higher, 1.0)] {
        let hangs = found(&results(better)).remove(0);
        assert_eq!((hangs.moved, hangs.proven), (4, 2));
        let names: Vec<&str> = hangs.constants.iter().map(|c| c.constant.as_str()).collect();
        assert_eq!(names, ["c_ns", LINES]);
        for (c, power) in hangs.constants.iter().zip([0.3, -0.1]) {
            let expected = sign * 98.0 * power;
            assert!((c.points.estimate - expected).abs() < 0.03 * expected.abs(), "{c:?}");
        }
        let [c, lines] = &hangs.constants[..] else { panic!("two constants") };
        assert_eq!((c.mark.as_str(), c.source.as_str(), c.value), ("assumed", "why c_ns", 10.0));
        assert_eq!((lines.mark.as_str(), lines.source.as_str()), ("counted", "counted on 6.12.1"));
    }
}

/// 2 % less time is better; with `c_ns` a fifth larger it is 3.5 % more, with `c_ns` a sixth smaller 7 % less.
#[test]
fn ends_have_the_verdict_that_so_many_runs_would_give() {
    let hangs = found(&results(Better::Lower)).remove(0);
    assert_eq!(hangs.verdict, Verdict::Better);
    let c = &hangs.constants[0];
    let [less, more] = &c.ends;
    assert_eq!((less.verdict, more.verdict), (Verdict::Better, Verdict::Worse));
    assert!((less.percent.estimate - 7.3).abs() < 0.3, "{less:?}");
    assert!((more.percent.estimate + 3.4).abs() < 0.3, "{more:?}");
    assert_eq!((less.value, more.value), (10.0 / FACTOR, 10.0 * FACTOR));
    let changes: Vec<f64> = c.changes(hangs.verdict).map(|end| end.value).collect();
    assert_eq!(changes, [12.0]);
}

#[test]
fn rows_that_are_not_whole_say_nothing() {
    let mut results = results(Better::Lower);
    let of = |results: &mut Results| results.sensitivity.as_mut().unwrap().workloads[0].clone();
    let mut moved = of(&mut results);
    moved.rows.pop();
    results.sensitivity.as_mut().unwrap().workloads = vec![moved.clone()];
    assert_eq!(found(&results), []);
    moved.rows.push(Row { row: vec![], mirror: vec![] });
    results.sensitivity.as_mut().unwrap().workloads = vec![moved];
    assert_eq!(found(&results), []);
    results.sensitivity = None;
    assert_eq!(found(&results), []);
}
