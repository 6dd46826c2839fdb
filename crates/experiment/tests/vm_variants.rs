//! What becomes of variants and workloads in guests, with kernels that are no more than a name and a configuration.

use definition::{ExperimentFile, Plan};
use experiment::SimEngine;
use experiment::guests::{Bench, Options, loads_schedulers};
use std::path::Path;
use vm::board::GuestCpu;
use vm::boot::Limits;
use vm::sched_ext::{Built, Scheduler};
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

fn options(cache: Cache, release: Option<&str>) -> Options {
    Options {
        own: Vec::new(),
        given: None,
        schedulers: Vec::new(),
        cache,
        release: release.map(|r| r.parse().unwrap()),
        accel: Accel::Tcg,
        append: String::new(),
        limits: Limits { silent_s: 1, total_s: 1 },
        boots: 1,
    }
}

fn bench(text: &str, release: Option<&str>) -> Result<Bench, String> {
    let dir = tempfile::tempdir().unwrap();
    let options = options(cache(dir.path()), release);
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

#[test]
fn schedulers_need_a_kernel_with_their_class() {
    let text =
        FILE.replacen("kernel = \"6.12\"", "kernel = \"6.12\"\nscheduler = \"scx_rusty\"", 1);
    assert!(text.contains("scx_rusty"));
    let dir = tempfile::tempdir().unwrap();
    let cache = cache(dir.path());
    let plan = Plan::new(ExperimentFile::parse(&text, "x.toml").unwrap(), "x.toml").unwrap();
    let can = |release: Option<&str>| {
        let release = release.map(|r| r.parse().unwrap());
        let variant = &plan.file.variants[0];
        loads_schedulers(variant, vm::Arch::Powerpc, &cache, release, None)
    };
    assert!(!can(None) && !can(Some("7.2")));
    let bench = bench(&text, None).unwrap();
    assert_eq!(names(&bench), ["thread-groups"]);
    let expected = "variant `plain` is left out: scheduler: found 6.12.1-powerpc64le without \
                    CONFIG_SCHED_CLASS_EXT=y and CONFIG_DEBUG_INFO_BTF=y, expected a kernel with the class sched_ext";
    assert!(bench.notes[0].starts_with(expected), "{:?}", bench.notes);
    let boot = dir.path().join("kernels/7.2.1-powerpc64le_ppc64el/boot");
    std::fs::create_dir_all(&boot).unwrap();
    std::fs::write(boot.join("vmlinuz-7.2.1-powerpc64le"), "").unwrap();
    let config = "CONFIG_HZ=250\nCONFIG_SCHED_CLASS_EXT=y\nCONFIG_DEBUG_INFO_BTF=y\n";
    std::fs::write(boot.join("config-7.2.1-powerpc64le"), config).unwrap();
    assert!(can(Some("7.2")));
}

#[test]
fn the_version_of_a_scheduler_is_in_the_results() {
    let text =
        FILE.replacen("kernel = \"6.12\"", "kernel = \"6.12\"\nscheduler = \"scx_rusty\"", 1);
    let dir = tempfile::tempdir().unwrap();
    let cache = cache(dir.path());
    let config =
        dir.path().join("kernels/6.12.1-powerpc64le_ppc64el/boot/config-6.12.1-powerpc64le");
    let more = "CONFIG_HZ=250\nCONFIG_SCHED_CLASS_EXT=y\nCONFIG_DEBUG_INFO_BTF=y\n";
    std::fs::write(&config, more).unwrap();
    // Any program of this computer stands for the built crate.
    let built = Built { version: "1.1.4".to_string(), program: "/bin/sh".into() };
    let arch: vm::Arch =
        if cfg!(target_arch = "x86_64") { "amd64" } else { "arm64" }.parse().unwrap();
    let scheduler = Scheduler::of_crate(&built, arch, Path::new("/")).unwrap();
    let options =
        Options { schedulers: vec![Some(scheduler.clone()), None], ..options(cache, None) };
    let plan = Plan::new(ExperimentFile::parse(&text, "x.toml").unwrap(), "x.toml").unwrap();
    let bench = Bench::of(plan.clone(), &options).unwrap();
    let [plain, groups] = &bench.plan.file.variants[..] else { panic!("{:?}", bench.notes) };
    assert_eq!(plain.scheduler.as_ref().unwrap().version.as_deref(), Some("1.1.4"));
    assert!(plain.title.ends_with("(6.12.1-powerpc64le, sh 1.1.4)"), "{}", plain.title);
    assert_eq!(groups.scheduler, None);
    assert_eq!(bench.variants()[0].scheduler, Some(scheduler));
    let without = Options { schedulers: vec![], ..options };
    let bench = Bench::of(plan, &without).unwrap();
    assert!(bench.notes[0].contains("scheduler: found none that is ready"), "{:?}", bench.notes);
}

#[test]
fn the_simulator_refuses_schedulers_by_name() {
    let text = include_str!("../../../experiments/sched-ext.toml");
    let plan = Plan::new(ExperimentFile::parse(text, "x.toml").unwrap(), "x.toml").unwrap();
    let error = experiment::run(&plan, &SimEngine, 1, &|_| ()).unwrap_err().to_string();
    let expected = "x.toml: workload `sched-pipe`, variant `rusty`: scheduler: found `scx_rusty`, expected none: \
                    the simulator runs no BPF programs, guests do (--engine vm)";
    assert_eq!(error, expected);
}
