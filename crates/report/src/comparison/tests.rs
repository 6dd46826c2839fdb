use super::*;
use stats::{Cell, Confidence, Resampling, Row};

fn sample(level: f64) -> Cell {
    Cell::of(&[0.99, 1.0, 1.01, 1.0, 0.995, 1.005].map(|x| x * level))
}

fn samples(columns: &[&str], rows: Vec<(&str, Vec<Cell>)>) -> Table {
    Table {
        metric: "tbench4".into(),
        varying: "clients".into(),
        unit: "MB/sec".into(),
        better: Better::Higher,
        estimator: Estimator::Hmean,
        columns: columns.iter().map(|c| c.to_string()).collect(),
        rows: rows.into_iter().map(|(label, cells)| Row { label: label.into(), cells }).collect(),
    }
}

fn printed(table: &Table) -> String {
    let resampling = Resampling::new(2000, 1, Confidence::P95).unwrap();
    let compared = table.compare(&resampling, Confidence::P95).unwrap();
    comparison(&TableAnalysis { samples: table.clone(), compared })
}

#[test]
fn prints_figures_marks_and_what_is_missing() {
    let rows = vec![
        ("1", vec![sample(400.0), sample(800.0), sample(400.0)]),
        ("16", vec![sample(6000.0), Cell::default(), Cell::of(&[0.0, 1.0])]),
    ];
    let text = printed(&samples(&["ondemand", "perfgov", "same"], rows));
    let head = "tbench4\nVarying: clients\nUnit: MB/sec (higher is better)\n\n";
    assert!(text.starts_with(head), "{text}");
    assert!(text.contains("399.98 +-  0.74% (          )"), "{text}");
    assert!(text.contains("799.97 +-  0.74% (  100.00%*)"), "{text}");
    assert!(text.contains("(    0.00% )"), "{text}");
    assert!(text.contains("  missing"), "{text}");
    assert!(text.contains("Hmean 16 of same: Hmean of values[0]: found 0, expected"), "{text}");
    assert!(text.contains("by Holm's correction over 2 comparisons at 95%."), "{text}");
}

fn trimmed(text: &str) -> Vec<String> {
    text.lines().map(|line| line.trim_end().to_string()).collect()
}

fn two_rows() -> Table {
    let rows = vec![
        ("1", vec![sample(400.0), sample(800.0), sample(400.0)]),
        ("16", vec![sample(6000.0), sample(5400.0), Cell::default()]),
    ];
    samples(&["ondemand", "perfgov", "same"], rows)
}

/// MMTests' layout, but for spaces at the end of lines.
#[test]
fn the_layout_is_as_published() {
    let found = printed(&two_rows());
    assert_eq!(trimmed(&found), trimmed(include_str!("expected/table.txt")), "found:\n{found}");
}

#[test]
fn the_overview_is_as_published() {
    let resampling = Resampling::new(2000, 1, Confidence::P95).unwrap();
    let compared = stats::table::overview(&[two_rows()], &resampling, Confidence::P95).unwrap();
    let found = overview(&compared);
    assert_eq!(trimmed(&found), trimmed(include_str!("expected/overview.txt")), "found:\n{found}");
}

#[test]
fn many_columns_are_split_at_a_hundred() {
    let names: Vec<String> = (0..6).map(|i| format!("5.9.0-variant-{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let cells = (0..6).map(|i| sample(30_000.0 + 100.0 * f64::from(i))).collect();
    let text = printed(&samples(&names, vec![("1024", cells)]));
    assert!(text.lines().all(|l| l.chars().count() <= WIDTH), "{text}");
    for name in &names {
        assert!(text.contains(name), "{text}");
    }
    assert!(text.matches("\nHmean 1024 ").count() >= 4, "{text}");
}

#[test]
fn the_overview_shows_ratios_and_tildes() {
    let rows = vec![("1", vec![sample(400.0), sample(800.0), sample(400.0), Cell::default()])];
    let table = samples(&["base", "twice", "same", "gone"], rows);
    let resampling = Resampling::new(2000, 1, Confidence::P95).unwrap();
    let o = stats::table::overview(&[table], &resampling, Confidence::P95).unwrap();
    let text = overview(&o);
    let line = text.lines().last().unwrap();
    assert_eq!(
        line.split_whitespace().collect::<Vec<_>>(),
        ["tbench4", "1.00", "2.00", "~", "missing", "higher"]
    );
}
