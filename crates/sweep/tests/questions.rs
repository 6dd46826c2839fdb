//! What a sweep answers: effects over two axes, and where a change turns.

use results::analysis::resampling;
use results::effects::{EffectMap, Question};
use results::swept::Choice;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use sweep::{Bisection, Cell, Dataset, Next, Sweep};

const GRID: &str = r#"
name = "grid"
variant = [{ name = "base", kernel = "4.18" }]
workload = [{ name = "pipe", runs = 4, sched_pipe = { loops = 1000, loops_run = 30 } }]
[sweep]
seed = [1, 2]
machine = ["power9-big-core", "kunpeng920-1node"]
mechanism = ["small-core-smt=on", "wa-weight=off"]
"#;

fn run(cells: &[Cell], dir: &Path) -> usize {
    let dataset = Dataset::open(dir, cells).unwrap();
    let lacks = dataset.missing().len();
    let summary = sweep::run(cells, &dataset, 2, &AtomicBool::new(false), &|_| {}).unwrap();
    assert_eq!(summary.missing.len(), 0, "{summary:?}");
    lacks
}

fn question(rows: &str, columns: &str) -> Question {
    let (rows, columns) = (rows.to_string(), columns.to_string());
    Question { rows, columns, choice: Choice::default(), only: vec![] }
}

#[test]
fn a_dataset_is_read_back_as_its_runs() {
    let dir = tempfile::tempdir().unwrap();
    let cells = Sweep::parse(GRID, "grid.toml").unwrap().cells().unwrap();
    run(&cells, dir.path());
    let swept = sweep::read(dir.path()).unwrap();
    assert_eq!((swept.axes.join(" "), swept.cells.len()), ("machine mechanism seed".into(), 8));
    let first = swept.cells.iter().find(|cell| cell.place == cells[0].axes).unwrap();
    let names: Vec<&str> = first.series.iter().map(|s| s.variant.as_str()).collect();
    assert_eq!(names, ["base", "small-core-smt=on"]);
    // The same runs by the experiment itself.
    let plan = definition::Plan::new(cells[0].experiment.clone(), "grid.toml").unwrap();
    let results = experiment::run(&plan, &experiment::Stoppable::default(), 1, &|_| {}).unwrap();
    assert_eq!(first.series[1].values, results.workloads[0].samples("small-core-smt=on", 0));
    let map = EffectMap::of(&swept, &question("machine", "mechanism"), &resampling().unwrap());
    let map = map.unwrap();
    assert_eq!(map.rows, ["kunpeng920-1node", "power9-big-core"]);
    assert_eq!((map.comparisons, map.effects[0].baseline.unwrap().samples), (4, 8));
}

#[test]
fn damaged_files_are_refused_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let cells = Sweep::parse(GRID, "grid.toml").unwrap().cells().unwrap();
    run(&cells, dir.path());
    let path = dir.path().join("cells").join(cells[0].place());
    let whole = std::fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        std::fs::write(&path, damaged).unwrap();
        let error = sweep::read(dir.path()).unwrap_err().to_string();
        assert!(error.contains(path.to_str().unwrap()), "{at}: {error}");
    }
}

#[test]
fn what_a_dataset_lacks_is_told_and_what_is_none_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let cells = Sweep::parse(GRID, "grid.toml").unwrap().cells().unwrap();
    let none = sweep::read(&out).unwrap_err().to_string();
    assert!(none.contains("sweep.json"), "{none}");
    run(&cells, &out);
    let lost = out.join("cells").join(cells[7].place());
    std::fs::remove_file(&lost).unwrap();
    drop(Dataset::open(&out, &cells).unwrap());
    let swept = sweep::read(&out).unwrap();
    assert_eq!((swept.cells.len(), &swept.missing), (7, &vec![cells[7].axes.clone()]));
    std::fs::write(&lost, "no Parquet").unwrap();
    let damaged = sweep::read(&out).unwrap_err().to_string();
    assert!(damaged.contains(".parquet: cell: found "), "{damaged}");
    std::fs::remove_file(&lost).unwrap();
    std::fs::copy(out.join("cells").join(cells[0].place()), out.join("cells/x=1.parquet")).unwrap();
    let stray = sweep::read(&out).unwrap_err().to_string();
    assert!(stray.contains("axes: found x=1.parquet"), "{stray}");
}

/// Two variants, one parameter.
const SEARCH: &str = r#"
name = "search"
machine = "power9-big-core"
variant = [{ name = "base", kernel = "4.18" }, { name = "other", kernel = "4.18", mechanisms = { small-core-smt = true } }]
workload = [{ name = "hackbench", runs = 4, hackbench = { groups = 1, loops = 5, fds = 2, datasize = 100, pipe = true } }]
[bisect]
parameter = "workload.hackbench.hackbench.groups"
from = 1
to = 9
width = 2
seeds = 2
"#;

#[test]
fn a_search_runs_each_cell_once_and_is_repeated_from_the_dataset() {
    let dir = tempfile::tempdir().unwrap();
    let ended = || {
        let search = Bisection::parse(SEARCH, "search.toml").unwrap();
        let mut ran = 0;
        loop {
            match search.next(dir.path()).unwrap() {
                Next::Run(cells) => {
                    let lacks = run(&cells, dir.path());
                    assert!(lacks > 0, "nothing new was asked for");
                    ran += lacks;
                }
                Next::Ended(turns) => return (ran, *turns),
            }
        }
    };
    let (ran, turns) = ended();
    let there = sweep::read(dir.path()).unwrap();
    assert_eq!(
        (there.axes.join(" "), there.cells.len()),
        ("workload.hackbench.hackbench.groups seed".into(), ran)
    );
    // The ends and three values between them, one or two cells each, and no value that was not needed.
    assert!(turns.points.len() >= 5 && ran <= 2 * turns.points.len(), "{turns:?}");
    let values: Vec<f64> = turns.points.iter().map(|p| p.value).collect();
    assert!([1.0, 3.0, 5.0, 7.0, 9.0].iter().all(|v| values.contains(v)), "{values:?}");
    assert_eq!((turns.variant.as_str(), turns.baseline.as_str()), ("other", "base"));
    assert_eq!(ended(), (0, turns.clone()));
    // A sweep over the same values finds them there.
    let grid = SEARCH.split("[bisect]").next().unwrap().to_string()
        + "[sweep]\nseed = [0]\nworkload.hackbench.hackbench.groups = [1, 3, 5, 7, 9]\n";
    let cells = Sweep::parse(&grid, "search.toml").unwrap().cells().unwrap();
    assert!(Dataset::open(dir.path(), &cells).unwrap().missing().is_empty());
    // What a point says is what its runs say.
    let point = turns.points[0];
    let own = there.cells.iter().filter(|cell| cell.place[0].1 == "1");
    let both = own.map(|cell| cell.samples(&cell.series[0], None));
    let [base, other] =
        both.fold([vec![], vec![]], |[a, b], [c, d]| [[a, c].concat(), [b, d].concat()]);
    assert_eq!(point.runs, base.len());
    let single = stats::compare(&base, &other, turns.better, &resampling().unwrap()).unwrap();
    assert_eq!(point.percent, Some(single.percent));
}

#[test]
fn wrong_searches_are_refused_with_file_and_field() {
    for (from, to, expected) in [
        ("[bisect]", "[bisekt]", "search.toml: bisect: found none, expected a table [bisect]"),
        ("to = 9", "to = \"x\"", "search.toml: bisect.to: found \"x\", expected a number"),
        ("to = 9", "to = 1", "search.toml: bisect.to: found 1, expected more than `from`"),
        ("width = 2", "width = 0", "search.toml: bisect.width: found 0, expected more than 0"),
        ("width = 2", "wide = 2", "search.toml: bisect: found unknown field `wide`"),
        ("seeds = 2", "seeds = 0", "search.toml: bisect.seeds: found 0, expected 1 to 1024"),
        (
            "seeds = 2",
            "variant = \"y\"",
            "search.toml: bisect.variant: found `y`, expected one of other",
        ),
        ("seeds = 2", "workload = \"y\"", "bisect.workload: found `y`, expected one of hackbench"),
        ("\"workload.hackbench.hackbench.groups\"", "\"seed\"", "bisect.parameter: found `seed`"),
        ("hackbench.groups\"", "hackbench.group\"", "search.toml: workload[0].hackbench"),
    ] {
        assert!(SEARCH.contains(from), "{from}");
        let error = Bisection::parse(&SEARCH.replacen(from, to, 1), "search.toml").unwrap_err();
        let (error, wrong) = (error.to_string(), error.wrong());
        assert!(error.contains(expected), "{error}\nexpected {expected}");
        assert_eq!(wrong.file.as_deref(), Some("search.toml"));
    }
}
