//! Runs, machines, domains and comparisons.

use crate::shell::{BIG_CORE, refused, schedscape, small_big_core, stdout};
use std::path::{Path, PathBuf};

const DTB: &[u8] = include_bytes!("../../../machine/catalog/power9-big-core.dtb");
const RT_APP: &str = include_str!("../../../../experiments/rt-app.toml");
const RT_APP_FILE: &str = include_str!("../../../../experiments/rt-app.json");

fn write(dir: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, content).expect("a file in a temporary directory");
    path
}

/// The catalog's device tree with words `at..` of the first `ibm,thread-groups` replaced.
fn patched(at: usize, words: &[u32]) -> Vec<u8> {
    let groups: Vec<u8> =
        [1u32, 2, 4, 0, 2, 4, 6, 1, 3, 5, 7].iter().flat_map(|w| w.to_be_bytes()).collect();
    let start =
        DTB.windows(groups.len()).position(|w| w == groups).expect("thread groups of core 0");
    let mut dtb = DTB.to_vec();
    for (i, word) in words.iter().enumerate() {
        let place = start + 4 * (at + i);
        dtb[place..place + 4].copy_from_slice(&word.to_be_bytes());
    }
    dtb
}

#[test]
fn small_cores_are_listed_as_in_the_studys_sysfs_file() {
    let text = stdout(&["machine", "show", "power9-big-core", "--small-cores"]);
    assert!(text.starts_with("cpu0: 0,2,4,6\ncpu1: 1,3,5,7\ncpu2: 0,2,4,6\n"), "{text}");
    assert!(text.ends_with("cpu15: 9,11,13,15\n"), "{text}");
    let smt4 = stdout(&["machine", "show", "power9-big-core", "--small-cores", "--smt", "4"]);
    assert_eq!(smt4.lines().next(), Some("cpu0: 0,2"));
    assert_eq!(smt4.lines().count(), 8);
}

#[test]
fn this_computer_can_be_shown() {
    if !std::path::Path::new("/sys/devices/system/cpu/possible").exists() {
        println!("skipped: no sysfs");
        return;
    }
    let text = stdout(&["machine", "show", "host"]);
    assert!(text.contains("CPU"), "{text}");
}

#[test]
fn domains_of_the_study() {
    let text = stdout(&[
        "domains",
        "power9-big-core",
        "--kernel",
        "4.18",
        "--mechanism",
        "small-core-smt=on",
        "--smt",
        "4",
        "--format",
        "study",
    ]);
    let expected = "CPU0 attaching sched-domain(s):\n domain-0: span=0,2 level=SMT\n  \
                    groups: 0:{ span=0 cap=589 }, 2:{ span=2 cap=589 }\n";
    assert!(text.starts_with("4.18 with small-core-smt=on (ppc64_cpu --smt=4) : SMT domain\n~"));
    assert!(text.contains(expected), "{text}");
}

#[test]
fn corrupt_device_trees_are_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (name, bytes, expected) in [
        ("cut.dtb", DTB[..DTB.len() / 2].to_vec(), "cut.dtb"),
        ("empty.dtb", vec![], "empty.dtb"),
        ("zero.dtb", patched(1, &[0]), "ibm,thread-groups"),
        ("huge.dtb", patched(1, &[u32::MAX, u32::MAX]), "ibm,thread-groups"),
        ("many.dtb", patched(1, &[4, 8]), "ibm,thread-groups"),
        ("twice.dtb", patched(4, &[0]), "ibm,thread-groups"),
        ("foreign.dtb", patched(4, &[8]), "ibm,thread-groups"),
    ] {
        let path = write(dir.path(), name, &bytes);
        let error = refused(&["machine", "show", &path.display().to_string()]);
        assert!(error.contains(name) && error.contains(expected), "{error}");
        assert!(error.contains("found") && error.contains("expected"), "{error}");
    }
}

#[test]
fn bad_experiments_write_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (name, text, expected) in [
        ("runs.toml", BIG_CORE.replacen("runs = 100", "runs = 0", 1), "runs: found 0"),
        ("field.toml", BIG_CORE.replacen("seed = 1", "sead = 1", 1), "unknown field `sead`"),
        (
            "machine.toml",
            BIG_CORE.replacen("machine = \"power9-big-core\"", "machine = \"power99\"", 1),
            "power99",
        ),
        (
            "mechanism.toml",
            BIG_CORE.replacen("small-core-smt = true", "small = true", 1),
            "mechanism: found `small`",
        ),
        ("kernel.toml", BIG_CORE.replacen("kernel = \"4.18\"", "kernel = \"4.17\"", 1), "4.17"),
        (
            "cpus.toml",
            BIG_CORE.replacen("cpus = \"0-7\"", "cpus = \"90-99\"", 1),
            "found CPUs 90-99",
        ),
        ("list.toml", BIG_CORE.replacen("cpus = \"0-7\"", "cpus = \"7-0\"", 1), "7-0"),
        ("threads.toml", BIG_CORE.replacen("threads = 2", "threads = 0", 1), "threads: found 0"),
        (
            "loops.toml",
            BIG_CORE.replacen("loops_run = 25000", "loops_run = 0", 1),
            "loops_run: found 0",
        ),
        (
            "noise.toml",
            BIG_CORE.replacen("daemon_burst_us = 150", "daemon_burst_us = -1", 1),
            "daemon_burst_us: found -1",
        ),
        (
            "parent.toml",
            format!("{BIG_CORE}\n[[group]]\npath = \"web/db\"\n"),
            "group: path: found `web/db` without `web`",
        ),
        (
            "quota.toml",
            format!("{BIG_CORE}\n[[group]]\npath = \"web\"\n\"cpu.max\" = \"500 100000\"\n"),
            "group `web`: cpu.max: found `500 100000`, expected a quota of at least 1000 us",
        ),
        (
            "cpuset.toml",
            format!("{BIG_CORE}\n[[group]]\npath = \"web\"\n\"cpuset.cpus\" = \"0-400\"\n"),
            "group `web`: cpuset.cpus: found `0-400`, expected CPUs of the machine, which has 0-",
        ),
    ] {
        let path = write(dir.path(), name, text.as_bytes());
        let out = dir.path().join("out");
        let error =
            refused(&["run", &path.display().to_string(), "--out", &out.display().to_string()]);
        assert!(error.contains(name) && error.contains(expected), "{error}");
        assert!(!out.exists());
    }
    let left: Vec<_> = std::fs::read_dir(dir.path()).expect("the directory").collect();
    assert_eq!(left.len(), 13, "only the experiment files are left: {left:?}");
}

#[test]
fn unknown_names_are_refused() {
    assert!(refused(&["machine", "show", "power99"]).contains("power9-big-core"));
    assert!(refused(&["validate", "nothing"]).contains("power9-big-core"));
    assert!(refused(&["run", "no-such-file.toml"]).contains("no-such-file.toml"));
    assert!(refused(&["machine", "show", "power9-big-core", "--smt", "9"]).contains("1 to 8"));
    assert!(refused(&["machine", "show", "power9-big-core", "--online", "40"]).contains("40"));
    assert!(
        refused(&["domains", "power9-big-core", "--kernel", "4.18", "--mechanism", "x=on"])
            .contains("`x`")
    );
}

#[test]
fn stored_runs_give_the_tables_again_at_any_thread_count() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file =
        write(dir.path(), "e.toml", small_big_core(4, 0.05).as_bytes()).display().to_string();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    let shown = stdout(&["run", &file, "--threads", "1", "--out", &one.display().to_string()]);
    stdout(&["run", &file, "--threads", "2", "--out", &two.display().to_string()]);
    for name in ["runs.parquet", "manifest.json"] {
        let read = |dir: &Path| std::fs::read(dir.join(name)).expect("a stored file");
        assert_eq!(read(&one), read(&two), "{name}");
    }
    let again = stdout(&["compare", &one.display().to_string()]);
    assert!(again.contains("ebizzy") && shown.ends_with(&again), "{again}");
    assert!(refused(&["run", &file, "--out", &one.display().to_string()]).contains("exists"));
}

#[test]
fn broken_stores_are_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file =
        write(dir.path(), "e.toml", small_big_core(2, 0.05).as_bytes()).display().to_string();
    let store = dir.path().join("store");
    stdout(&["run", &file, "--out", &store.display().to_string()]);
    let name = store.display().to_string();
    let runs = std::fs::read(store.join("runs.parquet")).expect("runs");
    write(&store, "runs.parquet", &runs[..runs.len() / 2]);
    assert!(refused(&["compare", &name]).contains("runs.parquet"));
    write(&store, "manifest.json", b"{\"format\": 99}");
    assert!(refused(&["compare", &name]).contains("format: found 99, expected 2"));
    write(&store, "manifest.json", b"{");
    assert!(refused(&["compare", &name]).contains("manifest.json"));
    assert!(refused(&["compare", &dir.path().display().to_string()]).contains("manifest.json"));
}

#[test]
fn json_holds_machine_domains_results_and_cells() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file =
        write(dir.path(), "e.toml", small_big_core(3, 0.05).as_bytes()).display().to_string();
    let document: serde_json::Value =
        serde_json::from_str(&stdout(&["run", &file, "--json"])).expect("JSON");
    assert_eq!(document["machine"]["name"], "power9-big-core");
    assert_eq!(document["domains"].as_array().map(Vec::len), Some(9));
    assert_eq!(document["workloads"][0]["metrics"][0]["unit"], "records/s");
    let samples = &document["workloads"][0]["metrics"][0]["variants"][1]["samples"];
    assert_eq!(samples.as_array().map(Vec::len), Some(3));
    let cells = document["validation"].as_array().expect("cells");
    assert!(cells.len() >= 5, "at three runs a share may have no percent change: {cells:?}");
    for cell in cells {
        for key in [
            "study",
            "table",
            "row",
            "column",
            "unit",
            "better",
            "published_baseline",
            "published_variant",
            "published_percent",
            "predicted_percent",
            "predicted_low",
            "predicted_high",
            "calibrated",
        ] {
            assert!(!cell[key].is_null(), "{key}: {cell}");
        }
        assert!(cell["better"] == "higher" || cell["better"] == "lower");
    }
}

#[test]
fn a_device_tree_runs_with_the_constants_of_a_catalog_machine() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let dtb = write(dir.path(), "firmware.dtb", DTB).display().to_string();
    let bare = small_big_core(2, 0.05).replacen(
        "machine = \"power9-big-core\"",
        &format!("machine = \"{dtb}\""),
        1,
    );
    let file = write(dir.path(), "bare.toml", bare.as_bytes()).display().to_string();
    assert!(refused(&["run", &file]).contains("constant `ebizzy_record_cycles` is missing"));
    let with = bare.replacen("seed = 1", "seed = 1\nconstants = \"power9-big-core\"", 1);
    let file = write(dir.path(), "with.toml", with.as_bytes()).display().to_string();
    let catalog = write(dir.path(), "catalog.toml", small_big_core(2, 0.05).as_bytes());
    let results = |file: &str| stdout(&["run", file]).split("ebizzy with").nth(1).map(String::from);
    let (tree, catalog) = (results(&file), results(&catalog.display().to_string()));
    let lines = |text: Option<String>| -> Vec<String> {
        text.expect("results")
            .lines()
            .take_while(|l| !l.contains("Constants"))
            .map(String::from)
            .collect()
    };
    assert_eq!(
        lines(tree),
        lines(catalog),
        "the same machine from firmware gives the same results"
    );
}

/// The shipped rt-app experiment and its file, each changed, in a folder of their own; the folder comes with it.
fn rt_app(experiment: (&str, &str), file: (&str, &str)) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let changed = |text: &str, (from, to): (&str, &str)| {
        assert!(text.contains(from), "the shipped file no longer holds `{from}`");
        text.replacen(from, to, 1)
    };
    write(dir.path(), "rt-app.json", changed(RT_APP_FILE, file).as_bytes());
    let few = RT_APP.replace("runs = 20", "runs = 2");
    let path = write(dir.path(), "x.toml", changed(&few, experiment).as_bytes());
    let path = path.display().to_string();
    (dir, path)
}

#[test]
fn rt_app_files_run() {
    let short = ("rt-app.json\"", "rt-app.json\"\nduration_s = 0.2");
    let (_dir, path) = rt_app(short, ("", ""));
    let text = stdout(&["run", &path]);
    assert!(text.contains("loops/s") && !text.contains("left out"), "{text}");

    let ignoring = ("rt-app.json\"", "rt-app.json\"\nduration_s = 0.2\nignore = [\"sched_fifo\"]");
    let fifo = ("\"run\" : 4000", "\"policy\" : \"SCHED_FIFO\", \"run\" : 4000");
    let (dir, path) = rt_app(ignoring, fifo);
    let store = dir.path().join("results").display().to_string();
    let line = "left out: sched_fifo (tasks.load.policy)\n";
    let text = stdout(&["run", &path, "--out", &store]);
    assert!(text.contains(line), "{text}");
    assert!(stdout(&["compare", &store]).contains(line));
    let json = stdout(&["compare", &store, "--json"]);
    let document: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(document["workloads"][0]["ignored"][0]["feature"], "sched_fifo");
    assert_eq!(document["workloads"][0]["ignored"][0]["path"], "tasks.load.policy");
    let names = document["workloads"][0]["metrics"].as_array().expect("metrics").iter();
    let names: Vec<&str> = names.filter_map(|m| m["name"].as_str()).collect();
    assert!(names.contains(&"frame_wakeup_p99_us"), "{names:?}");
}

#[test]
fn errors_in_rt_app_files_name_both_files_and_the_place() {
    let policy = ("\"run\" : 4000", "\"policy\" : \"SCHED_DEADLINE\", \"run\" : 4000");
    let refusal = "rt-app.json: tasks.load.policy: sched_deadline is not simulated; `ignore =";
    for (experiment, file, expected) in [
        (("rt-app.json\"", "none.json\""), ("", ""), "none.json: "),
        (
            ("", ""),
            ("4000", "-4"),
            "rt-app.json: line 14, column 4: tasks.load.run: found -4, expected",
        ),
        (("", ""), policy, refusal),
        (
            ("rt-app.json\"", "rt-app.json\"\nignore = [\"fifo\"]"),
            ("", ""),
            "unknown variant `fifo`",
        ),
    ] {
        let (_dir, path) = rt_app(experiment, file);
        let error = refused(&["run", &path]);
        assert!(error.contains("x.toml: ") && error.contains(expected), "{error}");
    }
}

#[test]
fn no_escape_codes_reach_a_file() {
    let text = stdout(&["machine", "list"]) + &stdout(&["mechanisms"]);
    assert!(text.contains("small-core-smt") && !text.contains('\x1b'));
    assert!(stdout(&["completions", "bash"]).contains("_schedscape"));
}

#[test]
fn machines_are_shown_in_every_form() {
    let show = |format: &str| stdout(&["machine", "show", "power9-big-core", "--format", format]);
    assert_eq!(show("tree"), stdout(&["machine", "show", "power9-big-core"]));
    assert_eq!(show("json"), stdout(&["machine", "show", "power9-big-core", "--json"]));
    assert!(show("svg").starts_with("<svg "));
    let sysfs = show("sysfs");
    assert!(
        sysfs.contains("/sys/devices/system/cpu/cpu9/small_core_siblings:9,11,13,15\n"),
        "{sysfs}"
    );
    let error = refused(&["machine", "show", "power9-big-core", "--constants", "--format", "svg"]);
    assert!(error.contains("--format"), "{error}");
}

#[test]
fn output_is_written_whole_or_not_at_all() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = write(dir.path(), "machine.svg", b"old");
    let file = path.display().to_string();
    let text =
        stdout(&["machine", "show", "power9-big-core", "--format", "svg", "--output", &file]);
    assert_eq!(text, "");
    let svg = std::fs::read_to_string(&path).expect("the picture");
    assert_eq!(svg, stdout(&["machine", "show", "power9-big-core", "--format", "svg"]));
    assert_eq!(std::fs::read_dir(dir.path()).expect("a directory").count(), 1);
    let folder = dir.path().display().to_string();
    let error = refused(&["machine", "show", "power9-big-core", "--output", &folder]);
    assert!(error.contains("found something that is no regular file"), "{error}");
    let missing = dir.path().join("no/such").display().to_string();
    let error = refused(&["machine", "show", "power9-big-core", "--output", &missing]);
    assert!(error.contains("no/such: found "), "{error}");
}

#[test]
fn machines_are_compared() {
    let same = ["machine", "diff", "power9-big-core", "power9-big-core"];
    assert_eq!(stdout(&same), "The machines do not differ.\n");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let plain = write(dir.path(), "plain.dtb", DTB).display().to_string();
    let out = schedscape(&["machine", "diff", "power9-big-core", &plain]);
    assert_eq!(out.status.code(), Some(1));
    let text = String::from_utf8(out.stdout).expect("UTF-8");
    assert!(text.contains("L3 caches\n  only in A: CPUs 0-7; CPUs 8-15\n"), "{text}");
    let out = schedscape(&["machine", "diff", "power9-big-core", &plain, "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let text = String::from_utf8(out.stdout).expect("UTF-8");
    assert!(text.contains("\"part\": \"L3 caches\""), "{text}");
    assert!(refused(&["machine", "diff", "power9-big-core", "power99"]).contains("power99"));
}

/// A step of a capture as far as `--diff recorded` reads it: the catalog's big cores of POWER9 on 6.12 with threads 2
/// and up of each core offline, CPU 10 the last of them, and what the kernel shows of it.
fn captured_step(dir: &Path) -> PathBuf {
    let went = ["--online", "0-1,8-9", "--went-offline", "10"];
    let shown = |format: &str| {
        let kernel = ["domains", "power9-big-core", "--kernel", "6.12", "--format", format];
        stdout(&[&kernel[..], &went[..]].concat())
    };
    let step = dir.join("smt2");
    for line in shown("debugfs").lines() {
        let (path, value) = line.split_once(": ").expect("PATH: VALUE");
        let path = step.join("debug/domains").join(path);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        std::fs::write(path, format!("{value}\n")).expect("a file");
    }
    write(&step, "attach.log", shown("log").as_bytes());
    write(&step, "uname", b"Linux h 6.12 #1 SMP x ppc64le GNU/Linux\n");
    std::fs::create_dir_all(dir.join("fw")).expect("a directory");
    write(&dir.join("fw"), "fdt", DTB);
    let cpus = step.join("sys/devices/system/cpu");
    for cpu in 0..16 {
        std::fs::create_dir_all(cpus.join(format!("cpu{cpu}"))).expect("a directory");
    }
    for (file, list) in [("present", "0-15"), ("possible", "0-15"), ("online", "0-1,8-9")] {
        write(&cpus, file, format!("{list}\n").as_bytes());
    }
    write(dir, "config.json", br#"{"append": "capture_steps=smt2:2.10"}"#);
    step
}

#[test]
fn a_captured_step_is_compared_with_its_prediction() {
    let dir = tempfile::tempdir().expect("a directory");
    let step = captured_step(dir.path());
    let spec = step.to_str().expect("UTF-8");
    assert_eq!(stdout(&["domains", spec, "--diff", "recorded"]), "");

    // Without the CPU that went last the kernel's balance intervals are not explained.
    write(dir.path(), "config.json", b"{}");
    let out = schedscape(&["domains", spec, "--diff", "recorded"]);
    assert_eq!(out.status.code(), Some(1));
    let expected = "\
--- recorded
+++ predicted for 6.12
@@ CACHE of CPU 8-9 @@
-max_interval: 6
+max_interval: 4
-min_interval: 3
+min_interval: 2
@@ PKG of CPU 0-1,8-9 @@
-max_interval: 10
+max_interval: 8
-min_interval: 5
+min_interval: 4
";
    assert_eq!(String::from_utf8_lossy(&out.stdout), expected);

    write(dir.path(), "config.json", b"[");
    let error = refused(&["domains", spec, "--diff", "recorded"]);
    assert!(error.contains("config.json: line 1: found EOF"), "{error}");
}

#[test]
fn kernels_and_mechanisms_are_compared() {
    let base = ["domains", "power9-big-core", "--kernel", "6.6", "--diff"];
    let out = schedscape(&[&base[..], &["kernel=6.7"]].concat());
    assert_eq!(out.status.code(), Some(1));
    let expected = "--- 6.6\n+++ 6.7\n@@ PKG of CPU 0-15 @@\n-name: DIE\n+name: PKG\n";
    assert_eq!(String::from_utf8_lossy(&out.stdout), expected);

    let out = schedscape(&[&base[..], &["small-core-smt=off"]].concat());
    assert_eq!(out.status.code(), Some(1));
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("@@ CACHE of CPU 0-15 @@\n-span: 0-7 8-15\n"), "{text}");
    assert_eq!(stdout(&[&base[..], &["small-core-smt=on"]].concat()), "");

    for (what, found) in [
        ("kernel=6", "`6`"),
        ("x=on", "`x`"),
        ("x", "`x`"),
        ("big-core-cache=1", "`big-core-cache=1`"),
    ] {
        let error = refused(&[&base[..], &[what]].concat());
        assert!(error.contains(&format!("found {found}")), "{error}");
    }
    let error = refused(&[&base[..], &["running"]].concat());
    assert!(error.contains("found power9-big-core, expected host"), "{error}");
    let error = refused(&[&base[..], &["recorded"]].concat());
    assert!(error.contains("expected a capture's step"), "{error}");
}

#[test]
fn the_tree_draws_each_domain_once() {
    let text = stdout(&["domains", "power9-big-core", "--kernel", "6.12", "--format", "tree"]);
    let expected = "\
power9-big-core: kernel 6.12, 16 CPUs online
└── PKG 0-15 (c): 2 groups 0-7 8-15
    ├── CACHE 0-7 (b): 2 groups 0,2,4,6 1,3,5,7
    │   ├── SMT 0,2,4,6 (a): 4 groups 0 2 4 6
    │   └── 1 more like it: 1,3,5,7
    └── 1 more like it: 8-15
";
    assert!(text.starts_with(expected), "{text}");
    let json = stdout(&["domains", "power9-big-core", "--kernel", "6.12", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(document["by_cpu"][3][1]["span"], "0-7");
    assert_eq!(document["kernel"], "6.12");
}
