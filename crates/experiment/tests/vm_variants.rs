//! What becomes of variants and workloads in guests, with kernels that are no more than a name and a configuration.

use definition::{ExperimentFile, Plan};
use experiment::guests::{Bench, Options};
use std::path::Path;
use vm::board::GuestCpu;
use vm::boot::Limits;
use vm::{Accel, Cache};

const FILE: &str = include_str!("../../../experiments/big-core-guest.toml");

/// A cache with a kernel for POWER and one for x86.
fn cache(dir: &Path) -> Cache {
    for name in ["6.12.1-powerpc64le_ppc64el", "6.12.1-amd64_amd64"] {
        let release = name.split('_').next().unwrap();
        let boot = dir.join(format!("kernels/{name}/boot"));
        std::fs::create_dir_all(&boot).unwrap();
        std::fs::write(boot.join(format!("vmlinuz-{release}")), "").unwrap();
        let config = "CONFIG_HZ=250\nCONFIG_SCHED_CLUSTER=y\n";
        std::fs::write(boot.join(format!("config-{release}")), config).unwrap();
    }
    Cache::new(dir)
}

fn bench(text: &str, release: Option<&str>) -> Result<Bench, String> {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        own: Vec::new(),
        given: None,
        schedulers: Vec::new(),
        cache: cache(dir.path()),
        release: release.map(|r| r.parse().unwrap()),
        accel: Accel::Tcg,
        append: String::new(),
        limits: Limits { silent_s: 1, total_s: 1 },
        boots: 1,
    };
    let plan = Plan::new(ExperimentFile::parse(text, "x.toml").unwrap(), "x.toml").unwrap();
    Bench::of(plan, &options).map_err(|e| e.to_string())
}

fn names(bench: &Bench) -> Vec<&str> {
    bench.plan.file.variants.iter().map(|v| v.name.as_str()).collect()
}

#[test]
fn small_cores_are_switched_by_firmware() {
    let bench = bench(FILE, None).unwrap();
    assert_eq!(names(&bench), ["plain", "thread-groups"]);
    let plain: Vec<bool> = bench.variants().iter().map(|v| v.boot.plain).collect();
    assert_eq!(plain, [true, false]);
    assert!(bench.plan.file.variants[0].title.ends_with("(6.12.1-powerpc64le)"));
    assert!(bench.notes.is_empty(), "{:?}", bench.notes);
}

#[test]
fn features_modes_and_command_lines() {
    let with = "kernel = \"6.12\"\nsmt = 4\nmechanisms = { wa-weight = false }\nguest = { append = \"preempt=full\" }\nhotplug = [{ at_s = 0.5, offline = \"9\" }]";
    let text =
        FILE.replace("kernel = \"6.12\"\n\n[[workload]]", &format!("{with}\n\n[[workload]]"));
    assert!(text.contains("preempt=full"));
    let bench = bench(&text, None).unwrap();
    let variant = &bench.variants()[1];
    assert_eq!(variant.features, ["NO_WA_WEIGHT"]);
    assert_eq!(variant.offline, [15, 14, 13, 12, 7, 6, 5, 4].map(GuestCpu));
    assert_eq!(variant.hotplug, [(0.5, GuestCpu(9), false)]);
    assert_eq!(variant.boot.append, "preempt=full");
}

#[test]
fn what_no_stock_kernel_has_is_left_out_by_name() {
    for (mechanisms, reason) in [
        (
            "{ newidle-balance = false }",
            "mechanism newidle-balance: found off, expected what 6.12 has",
        ),
        (
            "{ big-core-cache = false, small-core-smt = false, wa-idler-llc = true }",
            "wa-idler-llc: found on",
        ),
    ] {
        let from = "mechanisms = { small-core-smt = false, big-core-cache = false }";
        let text = FILE.replace(from, &format!("mechanisms = {mechanisms}"));
        let bench = bench(&text, None).unwrap();
        assert_eq!(names(&bench), ["thread-groups"]);
        assert!(bench.notes[0].starts_with("variant `plain` is left out: "), "{:?}", bench.notes);
        assert!(bench.notes[0].contains(reason), "{:?}", bench.notes);
    }
    let none = bench(&FILE.replace("kernel = \"6.12\"", "kernel = \"4.18\""), None).unwrap_err();
    assert!(none.contains("found nothing to run"), "{none}");
    assert!(none.contains("kernel 4.18 for ppc64el: found 6.12.1-powerpc64le"), "{none}");
}

/// The study's own file asks for 4.18; under 6.12 its variants keep that in which they differ.
#[test]
fn another_release_keeps_what_variants_differ_in() {
    let study = include_str!("../../../experiments/power9-big-core.toml");
    let bench = bench(study, Some("6.12")).unwrap();
    assert_eq!(names(&bench), ["vanilla", "big-core"]);
    let plain: Vec<bool> = bench.variants().iter().map(|v| v.boot.plain).collect();
    assert_eq!(plain, [true, false]);
    assert!(
        bench
            .notes
            .iter()
            .any(|n| n.starts_with("variant `big-core-v5` is left out: mechanisms: found ")),
        "{:?}",
        bench.notes
    );
}

#[test]
fn workloads_that_guests_cannot_run_are_left_out_by_name() {
    let kernbench = "[workload.kernbench]\njobs = 2\nobjects = 10\nobjects_run = 10\n";
    let at = FILE.find("[workload.hackbench]").unwrap();
    let bench = bench(&format!("{}{kernbench}", &FILE[..at]), None).unwrap();
    assert_eq!(bench.plan.file.workloads.len(), 1);
    assert!(
        bench.notes[0].starts_with("workload `hackbench` is left out: kernbench: not in a guest")
    );
}
