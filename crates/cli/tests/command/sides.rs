//! Results of several engines side by side, and of several boots of one computer joined. Real kernels are slow: rewritten
//! results of the simulator stand in for theirs.

use crate::shell::{refused, small_big_core, stdout};
use results::{Computer, Engine, Fact, Results, store};
use std::path::{Path, PathBuf};

/// A folder with the results of the simulator in `sim`.
fn simulated() -> (tempfile::TempDir, Results) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("e.toml");
    std::fs::write(&file, small_big_core(4, 0.05)).expect("a file");
    let sim = dir.path().join("sim");
    stdout(&["run", name(&file), "--out", name(&sim), "--sensitivity", "never"]);
    let results = store::read(&sim).expect("a store");
    (dir, results)
}

fn name(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// The results as if a boot of `kernel` had run only `variants`, stored below `dir`.
fn boot(dir: &Path, of: &Results, kernel: &str, variants: &[&str], microcode: &str) -> PathBuf {
    let fact = |name: &str, value: &str| Fact { name: name.into(), value: value.into() };
    let mut results = Results { engine: Engine::Host, ..of.clone() };
    results.workloads.iter_mut().for_each(|w| {
        w.variants.retain(|v| variants.contains(&v.name.as_str()));
    });
    results.workloads.retain(|w| !w.variants.is_empty());
    results.computers = vec![Computer {
        variants: variants.iter().map(|v| v.to_string()).collect(),
        facts: vec![
            fact("kernel", kernel),
            fact("cpu-model", "POWER9"),
            fact("microcode", microcode),
        ],
        warnings: vec![format!("{kernel} is warm")],
    }];
    let path = dir.join(kernel);
    store::write(&results, &path).expect("a new store");
    path
}

fn html(args: &[&str], dir: &Path) -> String {
    let file = dir.join("r.html");
    stdout(&[&["report"][..], args, &["-o", name(&file), "--no-heat-map"]].concat());
    std::fs::read_to_string(file).expect("the report")
}

#[test]
fn three_engines_stand_side_by_side() {
    let (dir, results) = simulated();
    let sim = dir.path().join("sim");
    let vm = dir.path().join("vm");
    let of_guests = Results { engine: "vm-kvm".parse().expect("an engine"), ..results.clone() };
    store::write(&of_guests, &vm).expect("a new store");
    let host = boot(dir.path(), &results, "6.12.5", &["vanilla", "big-core"], "1");
    let dirs = [name(&sim), name(&vm), name(&host)];

    let text = stdout(&[&["compare"][..], &dirs].concat());
    for wanted in ["vm-kvm [95 %]", "host [95 %]", "by none", "Computer\n  kernel     6.12.5\n"] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
    let json = stdout(&[&["compare", "--json"][..], &dirs].concat());
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["engines"], serde_json::json!(["sim", "vm-kvm", "host"]));
    let rows = json["rows"].as_array().expect("rows");
    let row = |variant: &str| {
        let is_it =
            |r: &&serde_json::Value| r["workload"] == "sched-pipe" && r["variant"] == variant;
        rows.iter().find(is_it).expect("a row")["sides"].as_array().expect("sides").clone()
    };
    assert!(row("big-core").iter().all(|side| side.is_object()));
    assert!(row("big-core-v5")[2].is_null(), "what host did not run");
    assert_eq!(json["computers"][0]["facts"][0]["value"], "6.12.5");

    let page = html(&dirs, dir.path());
    assert!(page.contains("Side by side: sim, vm-kvm and host"));
    let beside = html(&[dirs[0], "--beside", dirs[1], "--beside", dirs[2]], dir.path());
    assert_eq!(page, beside);
    let error = refused(&[&["compare", "--csv"][..], &dirs].concat());
    assert!(error.contains("--style and --csv: found 3 engines, expected one"), "{error}");
}

#[test]
fn boots_of_one_computer_are_joined() {
    let (dir, results) = simulated();
    let old = boot(dir.path(), &results, "6.12.5", &["vanilla"], "1");
    let new = boot(dir.path(), &results, "7.2.1", &["big-core", "big-core-v5"], "2");

    let alone = stdout(&["compare", name(&old)]);
    assert!(
        alone.starts_with("without runs here: big-core, big-core-v5; `compare` joins"),
        "{alone}"
    );
    let both = stdout(&["compare", name(&new), name(&old)]);
    let kernels = "kernel: 6.12.5 (vanilla), 7.2.1 (big-core, big-core-v5)\n";
    let microcode = "warning: microcode: 1 (vanilla), 2 (big-core, big-core-v5)\n";
    assert!(both.starts_with(&format!("{kernels}{microcode}\n")), "{both}");
    assert!(both.contains("+ big-core against x:"), "{both}");
    assert!(both.contains("  cpu-model  POWER9\n"), "{both}");
    assert!(both.ends_with("  warning: big-core, big-core-v5: 7.2.1 is warm\n"), "{both}");
    let csv = |dirs: &[&str]| stdout(&[&["compare", "--csv"][..], dirs].concat());
    let sim = dir.path().join("sim");
    assert_eq!(csv(&[name(&old), name(&new)]), csv(&[name(&sim)]), "as if one had run all");
    let json = stdout(&["compare", "--json", name(&old), name(&new)]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["differences"][1]["is_compared"], false, "{json}");
    assert_eq!(json["computers"].as_array().map(Vec::len), Some(2));

    let page = html(&[name(&old), name(&new)], dir.path());
    for wanted in [
        "on a computer&#39;s own kernels",
        "<strong>warning: microcode: 1 (vanilla), 2 (big-core, big-core-v5)</strong>",
        "<th scope=\"row\">cpu-model</th><td>POWER9</td>",
        "--engine host --only vanilla --out",
    ] {
        assert!(page.contains(wanted) || page.contains(&wanted.replace("&#39;", "'")), "{wanted}");
    }
    let beside = stdout(&["compare", name(&sim), name(&old), name(&new)]);
    assert!(beside.contains("sim [95 %]") && beside.contains("host [95 %]"), "{beside}");
    assert!(beside.starts_with(kernels), "{beside}");
}

#[test]
fn what_cannot_be_joined_or_set_side_by_side_is_refused() {
    let (dir, results) = simulated();
    let old = boot(dir.path(), &results, "6.12.5", &["vanilla"], "1");
    let twice = boot(dir.path(), &results, "6.12.6", &["vanilla", "big-core"], "1");
    let error = refused(&["compare", name(&old), name(&twice)]);
    assert!(error.contains("6.12.6: variant `vanilla`: found runs, of which"), "{error}");
    let mut other = results.clone();
    other.experiment.variants[1].hz = Some(1000);
    let other = boot(dir.path(), &other, "7.2.1", &["big-core"], "1");
    let error = refused(&["report", name(&old), name(&other)]);
    let expected = "7.2.1: experiment: variant `big-core`: hz: found 1000, expected none, as in";
    assert!(error.contains(expected), "{error}");
    let file = dir.path().join("e.toml");
    let error = refused(&["run", name(&file), "--engine", "sim,sim"]);
    assert!(error.contains("--engine: found sim,sim, expected each engine once"), "{error}");
}
