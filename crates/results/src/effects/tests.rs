use super::*;
use crate::analysis::resampling;
use stats::Verdict;

/// Runs around `mean`.
fn around(mean: f64, shift: f64) -> Vec<f64> {
    [-0.2, 0.1, 0.0, 0.2, -0.1, 0.05].iter().map(|d| mean + d + shift).collect()
}

fn cell(place: &[(&str, &str)], variants: &[(&str, f64)]) -> Given {
    let place: Place = place.iter().map(|(a, v)| (a.to_string(), v.to_string())).collect();
    let shift = value(&place, "seed").map_or(0.0, |seed| seed.parse().unwrap_or(0.0) / 100.0);
    let series = variants.iter().flat_map(|(variant, mean)| {
        [("seconds", Better::Lower), ("ops", Better::Higher)].map(|(metric, better)| Series {
            workload: "w".to_string(),
            variant: variant.to_string(),
            metric: metric.to_string(),
            unit: metric.to_string(),
            better,
            values: around(*mean, shift),
        })
    });
    Given { place, series: series.collect() }
}

/// Two machines, two mechanisms, two seeds. On `one`, `a` makes seconds 10 % fewer; nothing else changes anything.
fn swept() -> Swept {
    let mut cells = vec![];
    for machine in ["one", "two"] {
        for mechanism in ["a=off", "b=off"] {
            for seed in ["1", "2"] {
                let mean = if (machine, mechanism) == ("one", "a=off") { 9.0 } else { 10.0 };
                let place = [("machine", machine), ("mechanism", mechanism), ("seed", seed)];
                cells.push(cell(&place, &[("base", 10.0), (mechanism, mean)]));
            }
        }
    }
    let axes = ["machine", "mechanism", "seed"].map(String::from).to_vec();
    Swept { dir: "out".to_string(), axes, cells, missing: vec![] }
}

fn question(rows: &str, columns: &str) -> Question {
    let (rows, columns) = (rows.to_string(), columns.to_string());
    Question { rows, columns, choice: Choice::default(), only: vec![] }
}

fn map(swept: &Swept, question: &Question) -> Result<EffectMap, String> {
    EffectMap::of(swept, question, &resampling().unwrap()).map_err(|e| e.to_string())
}

#[test]
fn a_map_says_where_a_change_matters() {
    let map = map(&swept(), &question("machine", "mechanism")).unwrap();
    assert_eq!(
        (map.rows.join(","), map.columns.join(",")),
        ("one,two".into(), "a=off,b=off".into())
    );
    assert_eq!((map.metric.as_str(), map.comparisons), ("seconds", 4));
    let changes: Vec<Change> = map.effects.iter().map(|e| e.change.unwrap()).collect();
    assert!((changes[0].percent.estimate - 10.0).abs() < 0.1, "{changes:?}");
    assert_eq!(changes[0].verdict, Verdict::Better);
    assert!(changes[1..].iter().all(|c| c.verdict == Verdict::NoDifference));
    // Holm's first step: four comparisons.
    assert!((changes[0].p_holm - 4.0 * changes[0].p).abs() < 1e-12);
    // Two seeds of six runs.
    assert_eq!(map.effects[0].baseline.unwrap().samples, 12);
    // A metric of which more is better turns the sign.
    let ops = Choice { metric: Some("ops".to_string()), ..Choice::default() };
    let other = Question { choice: ops, ..question("mechanism", "machine") };
    let other = super::EffectMap::of(&swept(), &other, &resampling().unwrap()).unwrap();
    assert_eq!(other.effects[0].change.unwrap().verdict, Verdict::Worse);
    assert_eq!((other.effects[1].row.as_str(), other.effects[1].column.as_str()), ("a=off", "two"));
}

/// The same samples by the comparison of single workloads: one statistic, whoever asks.
#[test]
fn effects_are_those_of_comparisons() {
    let swept = swept();
    let map = map(&swept, &question("machine", "mechanism")).unwrap();
    let own: Vec<[Vec<f64>; 2]> =
        swept.cells[..2].iter().map(|c| c.samples(&c.series[0], None)).collect();
    let [base, variant] = [0, 1].map(|side| [own[0][side].clone(), own[1][side].clone()].concat());
    let single = stats::compare(&base, &variant, Better::Lower, &resampling().unwrap()).unwrap();
    assert_eq!(map.effects[0].change.unwrap().percent, single.percent);
}

#[test]
fn what_was_not_run_is_missing() {
    let mut swept = swept();
    let lost: Vec<Given> = swept.cells.drain(6..).collect();
    swept.missing = lost.into_iter().map(|cell| cell.place).collect();
    let map = map(&swept, &question("machine", "mechanism")).unwrap();
    assert_eq!((map.effects.len(), map.comparisons, map.missing), (4, 3, 2));
    assert_eq!((map.effects[3].baseline, map.effects[3].change), (None, None));
}

#[test]
fn variants_may_be_an_axis() {
    let variants = [("base", 10.0), ("x", 11.0), ("y", 10.0)];
    let cells = ["1", "2", "16"].map(|n| cell(&[("clients", n)], &variants)).to_vec();
    let swept = Swept {
        dir: "out".to_string(),
        axes: vec!["clients".to_string()],
        cells,
        missing: vec![vec![("clients".to_string(), "4".to_string())]],
    };
    let map = map(&swept, &question("variant", "clients")).unwrap();
    // Numbers, not texts, are in order.
    assert_eq!((map.rows.join(","), map.columns.join(",")), ("x,y".into(), "1,2,4,16".into()));
    assert_eq!((map.comparisons, map.effects[2].change), (6, None));
    let error = super::EffectMap::of(&swept, &question("seed", "clients"), &resampling().unwrap());
    assert_eq!(
        error.unwrap_err().to_string(),
        "out: rows: found `seed`, expected one of clients, variant"
    );
}

#[test]
fn what_cannot_be_asked_is_named() {
    let swept = swept();
    let refused = |question: Question| map(&swept, &question).unwrap_err();
    let plain = question("machine", "mechanism");
    let choice = |workload: &str, metric: &str, variant: &str| {
        let some = |text: &str| Some(text.to_string()).filter(|t| !t.is_empty());
        let choice =
            Choice { workload: some(workload), metric: some(metric), variant: some(variant) };
        Question { choice, ..plain.clone() }
    };
    let only = |axis: &str, value: &str| {
        let only = vec![(axis.to_string(), value.to_string())];
        Question { only, ..plain.clone() }
    };
    for (asked, error) in [
        (question("machin", "mechanism"), "rows: found `machin`, expected one of machine, mech"),
        (question("machine", "machine"), "columns: found `machine`, as for rows"),
        (question("machine", "seed"), "mechanism: found a=off, b=off, expected one of them"),
        (choice("v", "", ""), "workload: found `v`, expected one of w"),
        (choice("", "watts", ""), "metric: found `watts`, expected one of seconds, ops"),
        (choice("", "", "c"), "variant: found `c`, expected one of a=off, b=off"),
        (only("kernel", "6.12"), "only: found `kernel`, expected one of machine, mechanism, seed"),
        (only("seed", "3"), "only seed: found `3`, expected one of 1, 2"),
    ] {
        let found = refused(asked);
        assert!(found.starts_with("out: ") && found.contains(error), "{found}\nexpected {error}");
    }
    let one = Question { rows: "seed".to_string(), ..only("mechanism", "a=off") };
    let one = Question { columns: "machine".to_string(), ..one };
    assert_eq!(map(&swept, &one).unwrap().comparisons, 4);
}
