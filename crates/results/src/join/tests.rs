use super::*;
use crate::Fact;
use definition::ExperimentFile;
use stats::Better;

const EXPERIMENT: &str = r#"
name = "boots"
machine = "power9-big-core"
variant = [
    { name = "base", kernel = "6.12" },
    { name = "tuned", kernel = "6.12", hz = 1000 },
    { name = "new", kernel = "7.2" },
]
workload = [
    { name = "pipe", runs = 3, sched_pipe = { loops = 1, loops_run = 1 } },
    { name = "other", runs = 3, variants = ["base"], sched_pipe = { loops = 1, loops_run = 1 } },
]
"#;

/// Runs of `variants` in one boot of `kernel`, which counts `counters`.
fn boot(variants: &[&str], kernel: &str, counters: &[&str]) -> Results {
    let experiment = ExperimentFile::parse(EXPERIMENT, "x.toml").unwrap();
    let run = |run: u32| Run {
        run,
        seed: 0,
        metrics: vec![f64::from(run) + 1.0, 7.0],
        single_times: vec![vec![], vec![f64::from(run)]],
        counters: counters.iter().map(|name| name.len() as u64).collect(),
    };
    let metric =
        |name: &str| MetricInfo { name: name.into(), unit: "s".into(), better: Better::Lower };
    let workload = |name: &str, variants: &[&str]| WorkloadResults {
        name: name.to_string(),
        title: name.to_string(),
        metrics: vec![metric("seconds"), metric("usecs")],
        ignored: vec![],
        variants: (variants.iter())
            .map(|v| VariantRuns { name: v.to_string(), runs: (0..3).map(run).collect() })
            .collect(),
    };
    let mut workloads = vec![workload("pipe", variants)];
    if variants.contains(&"base") {
        workloads.push(workload("other", &["base"]));
    }
    Results {
        engine: Engine::Host,
        experiment,
        constants: Default::default(),
        counted: vec![],
        counters: counters.iter().map(|name| Counter::number(name, "h")).collect(),
        workloads,
        computers: vec![Computer {
            variants: variants.iter().map(|v| v.to_string()).collect(),
            facts: vec![Fact { name: "kernel".into(), value: kernel.into() }],
            warnings: vec![],
        }],
        sensitivity: None,
        robustness: None,
    }
}

fn of(all: &[&Results]) -> Result<Results, ResultsError> {
    let paths = ["one", "two", "three"].map(Path::new);
    let stores: Vec<Store> = all.iter().zip(paths).map(|(r, path)| ((*r).clone(), path)).collect();
    join(&stores)
}

fn names(results: &Results, workload: &str) -> Vec<String> {
    results.workload(workload).unwrap().variants.iter().map(|v| v.name.clone()).collect()
}

#[test]
fn boots_become_one_in_the_order_of_the_file() {
    let (new, old) = (boot(&["new"], "7.2", &["a"]), boot(&["base", "tuned"], "6.12", &["a"]));
    let all = of(&[&new, &old]).unwrap();
    assert_eq!(names(&all, "pipe"), ["base", "tuned", "new"]);
    assert_eq!(names(&all, "other"), ["base"]);
    let kernels: Vec<_> = all.computers.iter().map(|c| c.fact("kernel").unwrap()).collect();
    assert_eq!(kernels, ["6.12", "7.2"]);
    assert!(all.computers.iter().all(|c| c.warnings.is_empty()));
    assert_eq!(of(&[&new]).unwrap(), new);
}

#[test]
fn what_only_one_boot_counts_or_measures_is_left_out_and_named() {
    let (old, mut new) =
        (boot(&["base"], "6.12", &["a", "bb"]), boot(&["new"], "7.2", &["ccc", "bb"]));
    new.workloads[0].metrics[0].name = "other".to_string();
    let all = of(&[&old, &new]).unwrap();
    assert_eq!(all.counters.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["bb"]);
    let pipe = all.workload("pipe").unwrap();
    assert_eq!(pipe.metrics.len(), 1);
    for run in pipe.variants.iter().flat_map(|v| &v.runs) {
        assert_eq!((&run.metrics, &run.counters), (&vec![7.0], &vec![2]));
        assert_eq!(run.single_times, [vec![f64::from(run.run)]]);
    }
    let warnings: Vec<_> = all.computers.iter().map(|c| c.warnings[0].as_str()).collect();
    assert!(warnings[0].ends_with("left out: a, seconds of pipe"), "{}", warnings[0]);
    assert!(warnings[1].ends_with("left out: ccc, other of pipe"), "{}", warnings[1]);
}

#[test]
fn runs_and_seed_may_differ_and_are_told() {
    let (old, mut new) = (boot(&["base"], "6.12", &[]), boot(&["new"], "7.2", &[]));
    new.experiment.seed = Some(7);
    new.experiment.workloads[0].runs = 5;
    let all = of(&[&old, &new]).unwrap();
    let expected = [
        "its seed is 7, that of base is 1",
        "workload `pipe` has 5 runs a variant here, 3 under base",
    ];
    assert_eq!(all.computers[1].warnings, expected);
}

#[test]
fn what_cannot_be_joined_is_refused_by_name() {
    let (old, new) = (boot(&["base"], "6.12", &[]), boot(&["new"], "7.2", &[]));
    let refused = |change: &dyn Fn(&mut Results)| {
        let mut new = new.clone();
        change(&mut new);
        of(&[&old, &new]).unwrap_err().to_string()
    };
    for (expected, change) in [
        (
            "two: experiment: variant `new`: kernel: found 6.1, expected 7.2, as in one",
            &(|r: &mut Results| r.experiment.variants[2].kernel = "6.1".parse().unwrap())
                as &dyn Fn(&mut Results),
        ),
        ("two: experiment: machine: found host, expected power9-big-core, as in one", &|r| {
            r.experiment.machine = "host".to_string();
        }),
        ("two: experiment: workload: found pipe, expected pipe, other, as in one", &|r| {
            r.experiment.workloads.truncate(1);
        }),
        ("two: experiment: variant `base`: hz: found 100, expected none, as in one", &|r| {
            r.experiment.variants[0].hz = Some(100);
        }),
        (
            "two: variant `base`: found runs, of which one has some as well, \
             expected each variant in one of the stores that are joined",
            &|r| r.workloads[0].variants[0].name = "base".to_string(),
        ),
        ("two: engine: found sim, expected host", &|r| r.engine = Engine::Sim),
        (
            "two: workload `pipe`: metrics: found seconds in ms, usecs in ms, expected seconds in s, usecs in s",
            &|r| r.workloads[0].metrics.iter_mut().for_each(|m| m.unit = "ms".to_string()),
        ),
    ] {
        assert_eq!(refused(change), expected);
    }
}

#[test]
fn other_engines_keep_their_places() {
    let sim = Results { engine: Engine::Sim, ..boot(&["base"], "6.12", &[]) };
    let stores = [
        (sim.clone(), PathBuf::from("sim")),
        (boot(&["base"], "6.12", &[]), PathBuf::from("base")),
        (Results { engine: Engine::Vm(crate::Accel::Kvm), ..sim.clone() }, PathBuf::from("vm")),
        (boot(&["new"], "7.2", &[]), PathBuf::from("new")),
    ];
    let all = joined(stores.to_vec()).unwrap();
    let shown: Vec<_> = all.iter().map(|(r, p)| format!("{} {}", r.engine, p.display())).collect();
    assert_eq!(shown, ["sim sim", "host base", "vm-kvm vm"]);
    assert_eq!(names(&all[1].0, "pipe"), ["base", "new"]);
    assert_eq!(joined(stores[..1].to_vec()).unwrap().len(), 1);
}
