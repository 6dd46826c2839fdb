use super::*;
use results::computer::{Computer, Difference, Fact};
use stats::{Better, Comparison, Confidence, Resampling, compare};

/// The change of ten times of 1 s to ten times of `seconds`.
fn change(seconds: f64) -> Option<Comparison> {
    let resampling = Resampling::new(200, 1, Confidence::P95).expect("settings");
    let runs =
        |mean: f64| (0..10).map(|n| mean * (1.0 + f64::from(n) / 1000.0)).collect::<Vec<_>>();
    compare(&runs(1.0), &runs(seconds), Better::Lower, &resampling)
}

fn row_of(sides: Vec<Option<Comparison>>, agreement: Agreement) -> Row {
    Row {
        workload: "pipe".to_string(),
        metric: "seconds".to_string(),
        unit: "s".to_string(),
        better: Better::Lower,
        variant: "new".to_string(),
        sides,
        agreement,
        apart: agreement == Agreement::Opposite,
    }
}

fn three() -> Vec<Engine> {
    ["sim", "vm-kvm", "host"].map(|name| name.parse().expect("an engine")).to_vec()
}

/// All wake-ups land at `distance`; the engine `host` does not count them.
fn placement(variant: &str, distance: &'static str, engines: &[Engine]) -> Placement {
    let share = |engine: &Engine| (*engine != Engine::Host).then_some(100.0);
    Placement {
        workload: "pipe".to_string(),
        variant: variant.to_string(),
        shares: vec![(distance, engines.iter().map(share).collect())],
    }
}

fn of(engines: Vec<Engine>, rows: Vec<Row>) -> Sides {
    Sides {
        experiment: "x".to_string(),
        baseline: "old".to_string(),
        placements: vec![placement("new", "smt", &engines), placement("old", "llc", &engines)],
        counters: vec![Counted {
            workload: "pipe".to_string(),
            variant: "new".to_string(),
            counter: "context_switches".to_string(),
            unit: String::new(),
            means: engines.iter().map(|e| (*e != Engine::Sim).then_some(7.0)).collect(),
        }],
        engines,
        rows,
        computers: vec![],
        differences: vec![],
    }
}

/// What is said of changes by engines, in the last column.
fn said(changes: &[Option<Comparison>], agreement: Agreement) -> String {
    let engines = engines(&three()[..changes.len()]);
    proven(&row_of(changes.to_vec(), agreement), &engines)
}

#[test]
fn two_engines_agree_in_words() {
    let (better, worse, none) = (change(0.9), change(1.2), change(1.0));
    assert_eq!(said(&[better, better], Agreement::Same), "by both, the same");
    assert_eq!(said(&[better, worse], Agreement::Opposite), "by both, opposite");
    assert_eq!(said(&[none, worse], Agreement::SomeOnly), "by vm-kvm only");
    assert_eq!(said(&[none, none], Agreement::None), "by neither");
}

#[test]
fn of_more_engines_those_are_named_that_prove_a_change() {
    let (better, worse, none) = (change(0.9), change(1.2), change(1.0));
    assert_eq!(said(&[better; 3], Agreement::Same), "by all, the same");
    assert_eq!(said(&[better, None, better], Agreement::Same), "by sim, host, the same");
    assert_eq!(said(&[worse, none, worse], Agreement::SomeOnly), "by sim, host only");
    assert_eq!(said(&[none; 3], Agreement::None), "by none");
    let opposite = said(&[worse, better, worse], Agreement::Opposite);
    assert_eq!(opposite, "better by vm-kvm, worse by sim, host");
}

#[test]
fn every_engine_has_a_column_and_what_it_lacks_is_empty() {
    let row = row_of(vec![change(0.9), None, change(1.2)], Agreement::Opposite);
    let text = sides(&of(three(), vec![row]), false);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    for wanted in [
        "  pipe, seconds, new: +10.00 % by sim, -20.00 % by host\n",
        "x: change from old in percent, positive is better",
        "    pipe      new  vm-kvm  100.0    0.0\n    pipe      new    host\n",
        "    pipe      old     sim    0.0  100.0\n",
        "What any engine counted",
        "    pipe      new  context_switches                  7     7\n",
    ] {
        assert!(text.contains(wanted), "{wanted}:\n{text}");
    }
    assert!(!text.contains("Computer"), "{text}");
}

#[test]
fn engines_that_come_twice_are_numbered() {
    let names = engines(&[Engine::Sim, Engine::Host, Engine::Sim]);
    assert_eq!(names, ["sim 1", "host", "sim 2"]);
}

#[test]
fn computers_stand_below_and_what_differs_between_them_above() {
    let mut compared = of(three(), vec![]);
    let computer = |variant: &str, microcode: &str| Computer {
        variants: vec![variant.to_string()],
        facts: vec![Fact { name: "microcode".to_string(), value: microcode.to_string() }],
        warnings: vec![],
    };
    compared.computers = vec![computer("old", "1"), computer("new", "2")];
    compared.differences = vec![Difference {
        name: "microcode".to_string(),
        values: vec![Some("1".to_string()), Some("2".to_string())],
        is_compared: false,
    }];
    let text = sides(&compared, false);
    assert!(text.starts_with("warning: microcode: 1 (old), 2 (new)\n\nx: change"), "{text}");
    assert!(text.ends_with("Computers\u{1b}[0m\n  microcode  1 (old), 2 (new)\n"), "{text}");
}
