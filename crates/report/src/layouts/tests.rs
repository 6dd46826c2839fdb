use super::*;
use proptest::prelude::*;
use stats::table::Estimator;
use stats::{Better, Confidence, Resampling};
use unicode_width::UnicodeWidthStr;

fn side(name: &str, samples: &[f64], change: Option<(f64, Verdict)>) -> Side {
    let change = change.map(|(estimate, verdict)| SideChange {
        percent: stats::Interval {
            estimate,
            low: estimate - 1.0,
            high: estimate + 1.5,
            confidence: Confidence::P95,
        },
        smallest_detectable_percent: 2.25,
        verdict,
    });
    let value = stats::amean(samples);
    let (variant, samples) = (name.to_string(), samples.to_vec());
    Side { variant, samples, value, change, comparison: None }
}

fn findings() -> Vec<Finding> {
    vec![Finding {
        workload: "sched-pipe".to_string(),
        metric: "elapsed".to_string(),
        unit: "s".to_string(),
        better: Better::Lower,
        estimator: Estimator::Amean,
        sides: vec![
            side("vanilla", &[6.0, 6.5, 7.0, 6.5], None),
            side("big|core", &[5.0, 5.5, 5.0, 5.5], Some((19.23, Verdict::Better))),
            side("noise", &[6.5, 6.4, 6.6, 6.5], Some((-0.01, Verdict::NoDifference))),
            side("absent", &[], None),
        ],
    }]
}

/// `findings` with each side compared with the first.
fn compared(mut findings: Vec<Finding>) -> Vec<Finding> {
    let resampling = Resampling::new(200, 1, Confidence::P95).expect("settings");
    for finding in &mut findings {
        let base = finding.sides[0].samples.clone();
        for side in finding.sides.iter_mut().skip(1) {
            side.comparison = stats::compare(&base, &side.samples, finding.better, &resampling);
        }
    }
    findings
}

/// [`findings`] and a rate that got much worse.
fn two() -> Vec<Finding> {
    let mut rate = findings().remove(0);
    rate.workload = "netperf-udp 64".to_string();
    rate.metric = "netperf-udp".to_string();
    rate.unit = "MBits/sec".to_string();
    (rate.better, rate.estimator) = (Better::Higher, Estimator::Hmean);
    rate.sides = vec![
        side("ondemand", &[33_500.0, 34_125.5, 33_900.25], None),
        side("perfgov", &[12.0, 12.25], Some((-99.96, Verdict::Worse))),
    ];
    [findings(), vec![rate]].concat()
}

/// Text may end lines in spaces, files here do not.
fn assert_same(found: &str, expected: &str) {
    let trimmed =
        |text: &str| text.lines().map(|line| line.trim_end().to_string()).collect::<Vec<_>>();
    assert_eq!(trimmed(found), trimmed(expected), "found:\n{found}");
}

#[test]
fn plain_is_as_published() {
    assert_same(&plain(&two()), include_str!("expected/plain.txt"));
}

#[test]
fn markdown_is_as_published() {
    assert_same(&markdown(&two()), include_str!("expected/markdown.md"));
}

#[test]
fn ministat_is_as_published() {
    assert_same(&ministats(&compared(two())), include_str!("expected/ministat.txt"));
}

#[test]
fn values_are_as_published() {
    assert_same(&csv(&two()).expect("CSV"), include_str!("expected/values.csv"));
}

#[test]
fn plain_is_a_line_a_variant() {
    let text = plain(&findings());
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text.lines().map(words).collect();
    let expected = [
        "sched-pipe, elapsed (s, lower is better), Amean",
        "mean change % interval shows verdict runs",
        "vanilla (BASE) 6.5 ▄ █▄",
        "big|core 5.25 +19.23 +18.23 .. +20.73 2.25 better █ █",
        "noise 6.5 -0.01 -1.01 .. +1.49 2.25 not proven ▃█",
        "absent missing",
        "positive = better, 95 % intervals, shows: smallest detectable; runs from 5 to 7",
        "",
    ];
    assert_eq!(lines, expected, "{text}");
}

#[test]
fn markdown_keeps_its_columns() {
    let text = markdown(&findings());
    assert!(
        text.starts_with("### sched-pipe, elapsed (s, lower is better), Amean\n\n| variant "),
        "{text}"
    );
    assert!(text.contains("| big\\|core "), "{text}");
    let tables = text.lines().filter(|l| l.starts_with('|'));
    let columns: Vec<usize> = tables.map(|l| l.replace("\\|", "").matches('|').count()).collect();
    assert_eq!(columns, [8; 6], "{text}");
}

#[test]
fn values_are_separated_and_quoted() {
    let mut all = findings();
    all[0].workload = "a, \"b\"".to_string();
    let text = csv(&all).expect("CSV");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let records: Vec<csv::StringRecord> = reader.records().map(|r| r.expect("a record")).collect();
    assert_eq!(records.len(), 4);
    let of = |name: &str, row: usize| {
        let head = text.lines().next().expect("a head").split(',').position(|n| n == name);
        records[row].get(head.expect(name)).expect("a field").to_string()
    };
    assert_eq!(of("workload", 1), "a, \"b\"");
    assert_eq!((of("value", 1), of("change_percent", 1)), ("5.25".into(), "19.23".into()));
    assert_eq!((of("verdict", 1), of("verdict", 0)), ("better".into(), String::new()));
    assert_eq!((of("samples", 3), of("value", 3)), ("0".into(), String::new()));
}

#[test]
fn ministats_compare_each_with_the_first() {
    let text = ministats(&compared(findings()));
    assert!(text.contains("+ big|core against x:\n"), "{text}");
    assert!(text.lines().all(|l| l.chars().count() <= WIDTH), "{text}");
}

proptest! {
    #[test]
    fn lines_fit_the_page(
        samples in prop::collection::vec(-1e9..1e9f64, 0..8),
        name in "\\PC{0,60}",
        estimate in -1e4..1e4f64,
    ) {
        let mut all = findings();
        let change = Some((estimate, Verdict::NoDifference));
        all[0].sides.push(side(&name, &samples, change));
        all[0].workload = name.clone();
        all[0].unit = name;
        prop_assert!(plain(&all).lines().all(|l| l.width() <= WIDTH), "{}", plain(&all));
        prop_assert!(markdown(&all).lines().all(|l| l.width() <= WIDTH), "{}", markdown(&all));
    }
}
