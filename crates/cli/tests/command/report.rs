//! `schedscape report`, and the layouts of `compare`, as a user meets them.

use crate::shell::{LOG, refused, small_big_core, stdout};
use std::path::{Path, PathBuf};

/// A store of the shipped experiment with few and short runs; its folder comes with it.
fn store() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(dir.path().join("e.toml"), small_big_core(4, 0.05)).expect("a file");
    let store = dir.path().join("store");
    let file = dir.path().join("e.toml").display().to_string();
    stdout(&["run", &file, "--out", &store.display().to_string()]);
    (dir, store)
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn a_report_and_its_pictures_are_the_same_each_time() {
    let (dir, store) = store();
    let make = |file: &str| {
        let (html, svg) = (dir.path().join(format!("{file}.html")), dir.path().join(file));
        let told = stdout(&["report", &name(&store), "-o", &name(&html), "--svg", &name(&svg)]);
        assert!(told.starts_with(&format!("{} (", html.display())), "{told}");
        (std::fs::read_to_string(html).expect("the report"), svg)
    };
    let ((one, pictures), (two, _)) = (make("one"), make("two"));
    assert_eq!(one, two);
    assert!(one.len() < 3_000_000, "{} bytes", one.len());
    assert_eq!(one.matches("<image class=\"heat\"").count(), 2, "a map for each variant of ebizzy");
    assert!(!one.contains("does not give the stored figures"), "the runs are the stored ones");
    assert!(one.contains("id=\"published\"") && one.contains("--out out/power9-big-core"));
    let files = std::fs::read_dir(&pictures).expect("pictures");
    let mut names: Vec<String> =
        files.map(|f| f.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    assert!(names.iter().all(|n| n.ends_with(".svg")), "{names:?}");
    for wanted in ["heat-big-core.svg", "change-sched-pipe.svg", "published-ebizzy.svg"] {
        assert!(names.iter().any(|n| n == wanted), "{wanted}: {names:?}");
    }

    let html = name(&dir.path().join("none.html"));
    stdout(&["report", &name(&store), "-o", &html, "--no-heat-map"]);
    let html = std::fs::read_to_string(html).expect("the report");
    assert!(html.contains("No heat map: it was left out"));
    let error = refused(&["report", &name(&store), "--workload", "none", "-o", "/dev/null/x"]);
    assert!(error.contains("--workload: found `none`, expected one of ebizzy"), "{error}");
}

#[test]
fn damaged_results_say_what_is_wrong_and_show_what_is_left() {
    let (dir, store) = store();
    let html = dir.path().join("r.html");
    let report = ["report", &name(&store), "-o", &name(&html)];
    let runs = std::fs::read(store.join("runs.parquet")).expect("runs");
    std::fs::write(store.join("runs.parquet"), &runs[..runs.len() / 2]).expect("half");
    let error = refused(&report);
    assert!(error.contains("runs.parquet: SHA-256") && error.contains("--partial"), "{error}");
    assert!(!html.exists());
    stdout(&[&report[..], &["--partial"]].concat());
    let text = std::fs::read_to_string(&html).expect("what is left");
    assert!(text.contains("These results are not whole.") && text.contains("SHA-256"));
    assert!(text.contains("<image class=\"heat\""), "the machine and the experiment are known");

    std::fs::remove_file(store.join("runs.parquet")).expect("removed");
    assert!(refused(&report).contains("runs.parquet"));
    let other = "{\"format\": 7, \"schedscape\": \"0.9.0\"}";
    std::fs::write(store.join("manifest.json"), other).expect("a manifest");
    let error = refused(&[&report[..], &["--partial"]].concat());
    assert!(error.contains("format: found 7 of schedscape 0.9.0, expected 2"), "{error}");

    let empty = dir.path().join("empty");
    std::fs::create_dir(&empty).expect("a directory");
    let error = refused(&["report", &name(&empty)]);
    assert!(
        error.contains("empty: directory: found nothing, expected what `run --out`"),
        "{error}"
    );
    let error = refused(&["report", &name(&dir.path().join("absent"))]);
    assert!(error.contains("absent: directory: found none"), "{error}");
    std::fs::write(dir.path().join("absent.partial"), "x").expect("a journal");
    let error = refused(&["compare", &name(&dir.path().join("absent"))]);
    assert!(error.contains("absent.partial, runs of a command that was interrupted"), "{error}");
    assert!(refused(&["report", &name(&html)]).contains("found a file"));
}

/// Runs in guests are slow: a simulated store stands in, whose manifest says what ran the guests.
#[test]
fn results_of_real_kernels_are_reported_as_such() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/big-core-guest.toml");
    let store = dir.path().join("store");
    stdout(&["run", file, "--runs", "3", "--out", &name(&store)]);
    let manifest = store.join("manifest.json");
    let text = std::fs::read_to_string(&manifest).expect("a manifest");
    let of_guests = text.replace("\"engine\": \"sim\"", "\"engine\": \"vm-icount1\"");
    assert_ne!(text, of_guests);
    std::fs::write(&manifest, of_guests).expect("a manifest");
    let html = dir.path().join("r.html");
    stdout(&["report", &name(&store), "-o", &name(&html)]);
    let html = std::fs::read_to_string(html).expect("the report");
    for wanted in [
        "on real kernels in guests (engine <code>vm-icount1</code>)",
        "No heat map: what real kernels do is not watched CPU by CPU",
        "schedscape run big-core-guest.toml --engine vm --icount 1 --out out/big-core-guest",
    ] {
        assert!(html.contains(wanted), "{wanted}");
    }
    let compared = stdout(&["compare", &name(&store)]);
    assert!(compared.contains("hackbench") && compared.contains("thread-groups"), "{compared}");
    for text in [&html, &compared] {
        assert!(!text.contains("predict") && !text.contains("<image class=\"heat\""), "{text}");
    }
}

#[test]
fn every_layout_fits_a_mail() {
    let (_dir, store) = store();
    let compare = |style: &str| stdout(&["compare", &name(&store), "--style", style]);
    for (style, wanted) in [
        ("mmtests", "vanilla (BASE)"),
        ("ministat", "+ big-core against x:"),
        ("plain", "vanilla (BASE)"),
        ("markdown", "| vanilla (BASE) "),
    ] {
        let text = compare(style);
        assert!(text.contains(wanted), "{style}: {text}");
        let widest = text.lines().map(|l| l.chars().count()).max();
        assert!(widest.is_some_and(|w| w <= 100), "{style}: {widest:?}\n{text}");
        assert!(text.contains("sched-pipe") && text.contains("big-core-v5"), "{style}: {text}");
    }
    let csv = stdout(&["compare", &name(&store), "--csv"]);
    assert_eq!(csv.lines().count(), 1 + 2 + 3, "{csv}");
    assert!(csv.starts_with("workload,metric,unit,better,variant,"), "{csv}");
    let both = stdout(&["compare", &name(&store), "--style", "plain", "--counters"]);
    assert!(both.contains("ttwu_count"), "{both}");
    let two = refused(&["compare", &name(&store), &name(&store), "--csv"]);
    assert!(two.contains("found 2 engines"), "{two}");
}

#[test]
fn mmtests_results_have_every_layout() {
    let compare = |options: &[&str]| {
        stdout(&[&["compare", "--mmtests", LOG, "base", "patched"][..], options].concat())
    };
    for style in ["mmtests", "ministat", "plain", "markdown"] {
        let text = compare(&["--style", style]);
        assert!(text.contains("kernbench") && text.contains("patched"), "{style}: {text}");
        let long = text.lines().filter(|l| !l.starts_with("###"));
        assert!(long.clone().all(|l| l.chars().count() <= 100), "{style}: {text}");
    }
    assert!(compare(&["--csv"]).contains(",Amean,"));
}

#[test]
fn runs_are_shown_in_the_layout_asked_for() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("e.toml");
    std::fs::write(&file, small_big_core(2, 0.02)).expect("a file");
    let csv = stdout(&["run", &name(&file), "--csv"]);
    assert!(csv.starts_with("workload,metric,") && csv.lines().count() == 6, "{csv}");
    let plain = stdout(&["run", &name(&file), "--style", "plain"]);
    assert!(plain.contains("domain-0") && plain.contains("vanilla (BASE)"), "{plain}");
}
