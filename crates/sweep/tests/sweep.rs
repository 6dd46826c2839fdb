//! A sweep from its file to the dataset.

use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use sweep::{Cell, Dataset, Summary, Sweep};

const SMALL: &str = r#"
name = "small"
variant = [{ name = "base", kernel = "4.18" }]
workload = [{ name = "pipe", runs = 2, sched_pipe = { loops = 1000, loops_run = 20 } }]
[sweep]
seed = [1, 2]
machine = ["power9-big-core", "kunpeng920-1node"]
mechanism = ["small-core-smt=on"]
workload.pipe.sched_pipe.loops_run = [20, 30]
"#;

fn cells(text: &str) -> Vec<Cell> {
    Sweep::parse(text, "small.toml").unwrap().cells().unwrap()
}

fn refused(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from));
    let sweep = Sweep::parse(&SMALL.replacen(from, to, 1), "small.toml");
    sweep.and_then(|sweep| sweep.cells()).unwrap_err().to_string()
}

fn run(cells: &[Cell], dir: &Path, threads: usize) -> Summary {
    let dataset = Dataset::open(dir, cells).unwrap();
    sweep::run(cells, &dataset, threads, &AtomicBool::new(false), &|_| {}).unwrap()
}

/// All files below `dir` with their bytes.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => drop(found.insert(path.clone(), std::fs::read(&path).unwrap())),
        }
    }
    found
}

/// The same, by paths below `dir`.
fn below(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let all = files(dir).into_iter();
    all.map(|(path, bytes)| (path.strip_prefix(dir).unwrap().to_owned(), bytes)).collect()
}

#[test]
fn axes_make_cells_in_order() {
    let cells = cells(SMALL);
    assert_eq!(cells.len(), 8);
    let names: Vec<&str> = cells[0].axes.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["machine", "mechanism", "workload.pipe.sched_pipe.loops_run", "seed"]);
    assert_eq!(
        cells[1].place(),
        format!(
            "machine=power9-big-core/mechanism=small-core-smt%3Don/\
             workload.pipe.sched_pipe.loops_run=20/seed=2/{}.parquet",
            cells[1].key
        )
    );
    let variants: Vec<&str> =
        cells[0].experiment.variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(variants, ["base", "small-core-smt=on"]);
    let keys: std::collections::BTreeSet<&str> = cells.iter().map(|c| c.key.as_str()).collect();
    assert_eq!(keys.len(), 8);
    let sent = serde_json::to_string(&cells[3]).unwrap();
    assert_eq!(serde_json::from_str::<Cell>(&sent).unwrap(), cells[3]);
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let (one, three) = (dir.path().join("one"), dir.path().join("three"));
    let cells = cells(SMALL);
    assert!(run(&cells, &one, 1).missing.is_empty());
    assert_eq!(run(&cells, &three, 3).cells, 8);
    assert_eq!(below(&one), below(&three));
    assert_eq!(below(&one).len(), 9);
    let bytes = std::fs::read(one.join("cells").join(cells[0].place())).unwrap();
    let rows = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
    let rows: Vec<String> =
        rows.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
    // Two variants with two runs of one metric.
    assert_eq!(rows.len(), 4);
    assert!(
        rows[0].starts_with("{workload: \"pipe\", variant: \"base\", run: 0, name: "),
        "{rows:?}"
    );
}

#[test]
fn what_was_run_is_not_run_again() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, cut) = (dir.path().join("whole"), dir.path().join("cut"));
    let cells = cells(SMALL);
    run(&cells, &whole, 2);
    let stop = AtomicBool::new(false);
    let ran = AtomicUsize::new(0);
    let dataset = Dataset::open(&cut, &cells).unwrap();
    let stopped = sweep::run(&cells, &dataset, 1, &stop, &|progress| {
        ran.store(progress.done, Ordering::Relaxed);
        stop.store(progress.done == 3, Ordering::Relaxed);
    });
    assert_eq!(ran.load(Ordering::Relaxed), 3);
    let missing: Vec<String> = stopped.unwrap().missing.into_keys().collect();
    assert_eq!(missing.len(), 5);
    assert!(cells[3..].iter().all(|cell| missing.contains(&cell.place())));
    drop(dataset);
    // What an interruption leaves behind is no part of the dataset.
    std::fs::write(cut.join(".schedscape-cut"), "half").unwrap();
    // A cell that were run again would be written again.
    let first = cut.join("cells").join(cells[0].place());
    let before = first.metadata().unwrap().modified().unwrap();
    assert!(run(&cells, &cut, 2).missing.is_empty());
    assert_eq!(first.metadata().unwrap().modified().unwrap(), before);
    assert_eq!(below(&whole), below(&cut));
}

#[test]
fn a_wider_sweep_adds_cells() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    run(&cells(SMALL), &out, 2);
    let wider = cells(&SMALL.replace("seed = [1, 2]", "seed = [1, 2, 3]"));
    let dataset = Dataset::open(&out, &wider).unwrap();
    assert_eq!(dataset.missing(), [2, 5, 8, 11]);
    let again = Dataset::open(&out, &wider).unwrap_err().to_string();
    assert!(again.contains("lock: found a sweep that goes on"), "{again}");
}

#[test]
fn other_cells_do_not_mix() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    run(&cells(SMALL), &out, 2);
    let before = files(&out);
    let opened = |text: &str| Dataset::open(&out, &cells(text)).unwrap_err().to_string();
    let other = opened(&SMALL.replace("runs = 2", "runs = 3"));
    assert!(other.contains("a cell of another experiment, machine or build"), "{other}");
    let axes = opened(&SMALL.replace("seed = [1, 2]\n", ""));
    assert!(axes.contains("axes: found machine, mechanism"), "{axes}");
    assert_eq!(files(&out), before);
    let own = Dataset::open(dir.path(), &cells(SMALL)).unwrap_err().to_string();
    assert!(own.contains("found something else in the directory"), "{own}");
}

#[test]
fn a_cell_of_another_build_is_refused() {
    let mut cell = cells(SMALL).remove(0);
    cell.key = "0".repeat(32);
    let error = cell.run().unwrap_err();
    assert!(error.to_string().contains("another build"), "{error}");
    assert!(error.wrong().expected.is_some());
}

#[test]
fn a_cell_that_fails_is_missing_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let text = SMALL.replace("machine = [", "machine = [\"synthetic:core:2 pu:1\", ");
    let cells = cells(&text);
    let summary = run(&cells, &dir.path().join("out"), 2);
    assert_eq!(summary.missing.len(), 4);
    let reason = summary.missing[&cells[0].place()].as_ref().unwrap();
    assert!(reason.starts_with("small.toml: "), "{reason}");
}

#[test]
fn wrong_axes_are_refused_with_file_and_field() {
    for (from, to, expected) in [
        ("[sweep]", "[sweeep]", "small.toml: sweep: found none"),
        ("seed = [1, 2]", "seed = []", "small.toml: sweep.seed: found an empty list"),
        ("seed = [1, 2]", "seed = 1", "small.toml: sweep.seed: found 1, expected a list"),
        ("seed = [1, 2]", "seed = [1, 1]", "small.toml: sweep.seed: found `1` twice"),
        ("seed = [1, 2]", "seed = [[1]]", "small.toml: sweep.seed: found [1], expected texts"),
        ("seed = [1, 2]", "seed = [\"x\"]", "small.toml: seed: "),
        ("seed = [1, 2]", "title = [\"x\"]", "small.toml: sweep.title: found an axis"),
        ("\"kunpeng920-1node\"", "\"no-such\"", "small.toml: machine: machine `no-such`: found"),
        ("small-core-smt=on", "small-core-smt", "small.toml: sweep.mechanism: found"),
        ("small-core-smt=on", "nonsense=on", "mechanism: found `nonsense`"),
        (".loops_run = [20, 30]", ".loops_runn = [20, 30]", "small.toml: workload[0].sched_pipe"),
        (
            "workload.pipe.",
            "workload.tube.",
            "small.toml: sweep.workload.tube.sched_pipe.loops_run",
        ),
        ("workload.pipe.", "workload.pipe.runs.", "small.toml: sweep.workload.pipe.runs"),
    ] {
        let error = refused(from, to);
        assert!(error.contains(expected), "{error}\nexpected {expected}");
    }
    let many = (0..1001).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let many = format!("seed = [{many}]\nsmt_modes = [{many}]");
    assert!(refused("seed = [1, 2]", &many).contains("expected at most 1000000"));
}
