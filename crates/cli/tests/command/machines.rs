//! Machines of one's own, and constants that an experiment sets.

use crate::shell::{refused, small_big_core, stdout};
use std::path::Path;

const POWER8: &str = include_str!("../../../machine/catalog/power8.toml");

fn write(dir: &Path, name: &str, content: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, content).expect("a file in a temporary directory");
    path.display().to_string()
}

#[test]
fn a_variant_of_an_own_file_is_named_after_a_hash() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = write(dir.path(), "my.toml", POWER8);
    let shown = |spec: &str| stdout(&["machine", "show", spec, "--format", "json"]);
    assert_eq!(shown(&format!("{file}#power8-16core")), shown("power8-16core"));
    let domains = stdout(&["domains", &format!("{file}#power8"), "--kernel", "4.18"]);
    assert_eq!(domains, stdout(&["domains", "power8", "--kernel", "4.18"]));
    let error = refused(&["machine", "show", &format!("{file}#power7")]);
    assert!(error.contains("my.toml") && error.contains("power7"), "{error}");
    assert!(error.contains("found") && error.contains("expected"), "{error}");
    assert!(refused(&["machine", "show", &file]).contains("expected one of power8, power8-16core"));
}

#[test]
fn an_experiment_names_a_variant_and_sets_constants() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let tree = include_bytes!("../../../machine/catalog/power9-big-core.dtb");
    std::fs::write(dir.path().join("power9-big-core.dtb"), tree).expect("a file");
    let toml = include_str!("../../../machine/catalog/power9-big-core.toml");
    let own = write(dir.path(), "my.toml", toml);
    let named = small_big_core(2, 0.02).replacen(
        "machine = \"power9-big-core\"",
        &format!("machine = {:?}", format!("{own}#power9-big-core")),
        1,
    );
    let file = write(dir.path(), "e.toml", &format!("{named}\n[constants]\ntick_ns = 60\n"));
    let store = dir.path().join("store").display().to_string();
    let text = stdout(&["run", &file, "--out", &store]);
    assert!(text.contains("overridden  tick_ns = 60 "), "{text}");
    assert!(text.contains("set by experiment `power9-big-core`; before: "), "{text}");
    let manifest = std::fs::read_to_string(dir.path().join("store/manifest.json")).expect("a file");
    assert!(manifest.contains("\"overridden\""), "{manifest}");
    assert!(text.ends_with(&stdout(&["compare", &store])), "a stored run says the same");

    let bad = write(dir.path(), "bad.toml", &format!("{named}\n[constants]\ntick = 60\n"));
    let out = dir.path().join("none");
    let error = refused(&["run", &bad, "--out", &out.display().to_string()]);
    assert!(error.contains("bad.toml") && error.contains("such as `tick_ns`"), "{error}");
    assert!(!out.exists());
}

/// Half the instructions make pipes faster, and results say whose counts these are.
#[test]
fn an_experiment_brings_its_own_counts() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let table = include_str!("../../../machine/costs/ppc64el-6.12.toml");
    let half = |line: &str| match line.strip_prefix("kernel_instructions = ") {
        Some(count) => {
            format!("kernel_instructions = {}", count.parse::<f64>().expect("a count") / 2.0)
        }
        None => line.to_string(),
    };
    let halved: Vec<String> = table.lines().map(half).collect();
    write(dir.path(), "half.toml", &halved.join("\n"));
    let run = |costs: &str| {
        let text = format!(
            "name = \"pipe\"\nmachine = \"power9-big-core\"\n{costs}\n\
             variant = [{{ name = \"a\", kernel = \"6.12\" }}, {{ name = \"b\", kernel = \"6.12\" }}]\n\
             [constants]\ntick_ns = 60\n\
             [[workload]]\nname = \"pipe\"\nruns = 2\nsched_pipe = {{ loops = 1000000, loops_run = 1000, cpus = \"0\" }}\n"
        );
        write(dir.path(), "e.toml", &text)
    };
    let mean = |file: &str| {
        let text = stdout(&["run", file, "--json"]);
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let metric = &json["workloads"][0]["metrics"][0]["variants"][0]["summary"]["mean"];
        metric.as_f64().unwrap_or_else(|| panic!("a metric in {text}"))
    };
    let whole = mean(&run(""));
    let half = mean(&run("costs = \"half.toml\""));
    assert!((0.5..0.7).contains(&(half / whole)), "{half} of {whole}");
    assert_eq!(mean(&run("costs = \"ppc64el-6.12\"")), whole);
    assert!(stdout(&["run", &run("")]).contains("6.12.107+deb13-powerpc64le."));
    let error = refused(&["run", &run("costs = \"m68k-2.0\"")]);
    assert!(error.contains("e.toml: costs: found no table `m68k-2.0`"), "{error}");
    let error = refused(&["run", &run("costs = \"none.toml\"")]);
    assert!(error.contains("none.toml: "), "{error}");
}
