//! Control groups under the model: who gets how much of which CPUs.

use crate::conservation;
use crate::machines;
use crate::watch::{Seen, Watch};
use crate::workloads::release;
use machine::{CpuSet, Machine};
use proptest::prelude::*;
use setting::{Group, Setting};
use sim::{Counters, Scenario, SimError};
use workload::{Missed, Op, Policy, Spawn, Spread, Work, Workload};

/// Releases that differ in how groups are scheduled: CFS, with its later granularities, EEVDF, delayed departures.
const RELEASES: [&str; 6] = ["5.10", "5.15", "6.1", "6.6", "6.12", "7.2"];
const RUN_NS: u64 = 4_000_000_000;

fn group(path: &str, tasks: &str, files: &[(&str, &str)]) -> Group {
    Group {
        path: path.to_string(),
        tasks: vec![tasks.to_string()],
        files: files.iter().map(|(file, text)| (file.to_string(), text.to_string())).collect(),
        ..Group::default()
    }
}

/// `tasks` that compute for ever, each bound to a CPU if it says one.
fn hogs(w: &mut Workload, name: &str, tasks: usize, cpu: Option<usize>) {
    let work = Op::Compute(Work::fixed(1e6));
    let program = w.program(name, vec![work, Op::Loop { to: 0, times: 0 }]);
    let affinity = cpu.map(CpuSet::single);
    for _ in 0..tasks {
        w.spawns.push(Spawn { affinity: affinity.clone(), ..Spawn::new(program) });
    }
}

fn try_run(
    machine: &Machine,
    version: &str,
    mut w: Workload,
    groups: &[Group],
) -> Result<(Vec<Seen>, Counters), SimError> {
    let stop = w.program("stop", vec![Op::Stop]);
    w.spawns.push(Spawn { first_wake_ns: RUN_NS, ..Spawn::new(stop) });
    let setting = Setting { groups: groups.to_vec(), ..Setting::default() };
    let scenario = Scenario::in_setting(machine, &release(version), w, &setting)?;
    let mut watch = Watch::new(machine.cpus.len());
    let result = scenario.run_traced(3, &mut watch)?;
    watch.finish(result.end_ns);
    assert!(watch.wrong.is_empty(), "{version}: {:?}", &watch.wrong[..watch.wrong.len().min(5)]);
    Ok((watch.tasks.into_iter().filter(|t| t.program != "stop").collect(), result.counters))
}

fn run(machine: &Machine, version: &str, w: Workload, groups: &[Group]) -> (Vec<Seen>, Counters) {
    try_run(machine, version, w, groups).expect("a run")
}

/// CPUs that the tasks called `name` have had.
fn cpus(seen: &[Seen], name: &str) -> f64 {
    let ran = seen.iter().filter(|t| t.program == name).map(|t| t.ran_ns);
    ran.sum::<u64>() as f64 / RUN_NS as f64
}

fn assert_near(found: f64, expected: f64, by: f64, what: &str) {
    assert!((found - expected).abs() <= by, "{what}: {found}, expected {expected}");
}

/// `cpu.weight`: groups share a CPU by weight, however many tasks each has; those below share what their group has.
#[test]
fn weights_share_a_cpu() {
    for version in RELEASES {
        let mut w = Workload::default();
        for (name, tasks) in [("web", 1), ("db", 2), ("logs", 1), ("batch", 3)] {
            hogs(&mut w, name, tasks, Some(0));
        }
        let groups = [
            group("front", "web", &[("cpu.weight", "300")]),
            group("front/db", "db", &[("cpu.weight", "200")]),
            group("front/logs", "logs", &[]),
            group("batch", "batch", &[("cpu.weight", "100")]),
        ];
        let (seen, counters) = run(&machines::smt(1, 1), version, w, &groups);
        // In the order of the groups.
        for (name, ran_ns) in ["web", "db", "logs", "batch"].iter().zip(&counters.group_run_ns) {
            let counted = *ran_ns as f64 / RUN_NS as f64;
            assert_near(counted, cpus(&seen, name), 0.001, &format!("{version} {name}"));
        }
        assert_eq!(counters.group_run_ns.len(), groups.len());
        // Three quarters for `front`: its own task and two groups, of 1024, 2048 and 1024.
        for (name, share) in [("web", 0.1875), ("db", 0.375), ("logs", 0.1875), ("batch", 0.25)] {
            assert_near(cpus(&seen, name), share, 0.01, &format!("{version} {name}"));
        }
    }
}

/// A group's weight is divided among its CPUs by load: beside a hog on each CPU, a group with one task on each of four CPUs has
/// as much as one with four tasks of its own weight has everywhere.
#[test]
fn weights_hold_across_cpus() {
    for version in RELEASES {
        let mut w = Workload::default();
        for cpu in 0..4 {
            hogs(&mut w, "left", 1, Some(cpu));
            hogs(&mut w, "right", if cpu == 0 { 3 } else { 1 }, Some(cpu));
        }
        let groups = [
            group("left", "left", &[("cpu.weight", "100")]),
            group("right", "right", &[("cpu.weight", "200")]),
        ];
        let (seen, _) = run(&machines::smt(4, 1), version, w, &groups);
        // On CPU 0, half of `right`'s load has half of its weight (3 of 6 tasks), elsewhere a sixth: 1024 / 4 for `left`.
        let (own, first, other) = (256.0, 1024.0, 2048.0 / 6.0);
        let expected = own / (own + first) + 3.0 * own / (own + other);
        assert_near(cpus(&seen, "left"), expected, 0.05, version);
    }
}

/// `cpu.max`: a group has its quota in each period, on one CPU or on all together, and `cpu.stat` counts it.
#[test]
fn quotas_hold() {
    for version in RELEASES {
        let machine = machines::smt(4, 1);
        for (tasks, quota, share) in [(1, "50000 100000", 0.5), (8, "200000 100000", 2.0)] {
            let mut w = Workload::default();
            hogs(&mut w, "hog", tasks, None);
            let groups = [group("web", "hog", &[("cpu.max", quota)])];
            let (seen, counters) = run(&machine, version, w, &groups);
            let what = format!("{version}, {tasks} tasks");
            // The pool is full at the start, so a run has a part of a period more.
            assert_near(cpus(&seen, "hog"), share, share * 0.025, &what);
            assert!((39..=41).contains(&counters.bandwidth.periods), "{what}: {counters:?}");
            assert!((38..=41).contains(&counters.bandwidth.throttled), "{what}: {counters:?}");
            assert!(counters.bandwidth.throttled_us > 1_500_000, "{what}: {counters:?}");
        }
    }
}

/// A quota above another binds both; a group below its quota is never throttled.
#[test]
fn the_smallest_quota_on_the_way_up_binds() {
    for version in RELEASES {
        let mut w = Workload::default();
        hogs(&mut w, "hog", 2, None);
        hogs(&mut w, "free", 1, Some(1));
        let groups = [
            group("web", "nobody", &[("cpu.max", "40000 100000")]),
            group("web/db", "hog", &[("cpu.max", "80000 100000")]),
            group("other", "free", &[("cpu.max", "150000 100000")]),
        ];
        let (seen, counters) = run(&machines::smt(2, 1), version, w, &groups);
        assert_near(cpus(&seen, "hog"), 0.4, 0.012, version);
        assert!(cpus(&seen, "free") > 0.75, "{version}");
        assert!(counters.bandwidth.throttled <= 41, "{version}: only `web` is: {counters:?}");
    }
}

/// `cpu.max.burst`: quota that was not used is there later.
#[test]
fn a_burst_is_what_was_saved() {
    let peaks = |burst: &str| {
        let mut w = Workload::default();
        // 39 ms of work in 300 ms; 20 ms are allowed in each 100 ms.
        let machine = machines::smt(1, 1);
        let timer = w.timer();
        let khz = machine.constants.value("nominal_khz").expect("a clock");
        let ops = vec![
            Op::Compute(Work::fixed(39.0 * khz)),
            Op::TimerWait {
                timer,
                period_ns: 300_000_000,
                spread: Spread::Fixed,
                missed: Missed::CatchUp,
            },
            Op::Loop { to: 0, times: 0 },
        ];
        let program = w.program("peak", ops);
        w.spawns.push(Spawn::new(program));
        let files = [("cpu.max", "20000 100000"), ("cpu.max.burst", burst)];
        let (_, counters) = run(&machine, "6.1", w, &[group("web", "peak", &files)]);
        counters.bandwidth.throttled
    };
    let (without, with) = (peaks("0"), peaks("20000"));
    assert!(without >= 10 && with <= 1, "{without} and {with}");
}

/// `cpuset.cpus`: tasks of the group stay there, also those that ask for other CPUs, and forks.
#[test]
fn cpusets_bind() {
    let mut w = Workload::default();
    hogs(&mut w, "hog", 6, None);
    let ask = Op::SetAffinity("0-2".parse().expect("a CPU list"));
    let child =
        w.program("child", vec![ask, Op::Compute(Work::fixed(1e7)), Op::Loop { to: 0, times: 0 }]);
    let parent = w.program("hog", vec![Op::Fork(child), Op::WaitChildren]);
    w.spawns.push(Spawn::new(parent));
    let groups = [
        group("web", "hog", &[("cpuset.cpus", "2-3")]),
        group("web/db", "child", &[("cpuset.cpus", "1-2")]),
    ];
    let (seen, _) = run(&machines::smt(4, 1), "6.12", w, &groups);
    let on: CpuSet = "2-3".parse().expect("a CPU list");
    for task in &seen {
        let expected = if task.program == "child" { CpuSet::single(2) } else { on.clone() };
        assert_eq!(task.allowed, expected, "{}", task.program);
    }
    assert_near(cpus(&seen, "hog") + cpus(&seen, "child"), 2.0, 0.02, "two CPUs");
}

/// `cpu.idle` and `SCHED_IDLE`: what others leave, and 3 of 1027 where they leave nothing.
#[test]
fn idle_groups_and_tasks_have_what_is_left() {
    for version in ["5.15", "6.1", "6.12", "7.2"] {
        let mut w = Workload::default();
        hogs(&mut w, "hog", 1, Some(0));
        hogs(&mut w, "lazy", 2, Some(0));
        let groups = [group("lazy", "lazy", &[("cpu.idle", "1")])];
        let (seen, _) = run(&machines::smt(1, 1), version, w, &groups);
        assert_near(cpus(&seen, "lazy"), 3.0 / 1027.0, 0.004, version);
    }
    for version in RELEASES {
        let mut w = Workload::default();
        hogs(&mut w, "hog", 1, Some(0));
        let work = Op::Compute(Work::fixed(1e6));
        let ops = vec![Op::SetPolicy(Policy::Idle), work, Op::Loop { to: 1, times: 0 }];
        let lazy = w.program("lazy", ops);
        w.spawns.push(Spawn { affinity: Some(CpuSet::single(0)), ..Spawn::new(lazy) });
        let (seen, _) = run(&machines::smt(1, 1), version, w, &[]);
        assert_near(cpus(&seen, "lazy"), 3.0 / 1027.0, 0.01, version);
    }
}

/// A woken task preempts an idle one at once, and takes its CPU for an idle one.
#[test]
fn idle_tasks_give_way_at_once() {
    let waits = |policy: Policy| {
        let mut w = Workload::default();
        let work = Op::Compute(Work::fixed(1e6));
        let ops = vec![Op::SetPolicy(policy), work, Op::Loop { to: 1, times: 0 }];
        let lazy = w.program("lazy", ops);
        for _ in 0..2 {
            w.spawns.push(Spawn::new(lazy));
        }
        let ops = vec![
            Op::Sleep { mean_ns: 3e6, spread: Spread::Fixed },
            Op::Compute(Work::fixed(1e6)),
            Op::Loop { to: 0, times: 0 },
        ];
        let quick = w.program("quick", ops);
        w.spawns.push(Spawn::new(quick));
        let (seen, _) = run(&machines::smt(2, 1), "6.12", w, &[]);
        let quick = seen.iter().find(|t| t.program == "quick").expect("it ran");
        quick.waited_ns / u64::from(quick.switches)
    };
    let (idle, batch) = (waits(Policy::Idle), waits(Policy::Batch));
    assert!(idle < 20_000 && batch > 10 * idle, "{idle} and {batch} ns");
}

/// What the model does not have is refused with the group and the file.
#[test]
fn what_the_model_lacks_is_refused() {
    let refused = |version: &str, files: &[(&str, &str)]| {
        let mut w = Workload::default();
        hogs(&mut w, "hog", 1, None);
        let groups = [group("web", "hog", files)];
        try_run(&machines::smt(2, 1), version, w, &groups).err().expect("a refusal").to_string()
    };
    let cases = [
        ("5.4", ("cpu.weight", "50"), "web: found a group under kernel 5.4, expected 5.7 or newer"),
        (
            "6.12",
            ("memory.max", "1G"),
            "web.memory.max: found some, expected it with a source only",
        ),
        ("5.10", ("cpu.idle", "1"), "web.cpu.idle: found kernel 5.10, expected 5.15 or newer"),
        ("6.12", ("cpuset.cpus", "0-9"), "web.cpuset.cpus: found `0-9`"),
        ("6.12", ("cpu.max", "500 100000"), "web.cpu.max: found `500 100000`"),
    ];
    for (version, file, expected) in cases {
        let found = refused(version, &[file]);
        assert!(found.starts_with(&format!("groups.{expected}")), "{found}");
    }
    let found = refused("6.12", &[("cpuset.cpus", "0"), ("cpuset.cpus.partition", "root")]);
    let expected =
        "groups.web.cpuset.cpus.partition: found `root`, expected `member` without a source";
    assert!(found.starts_with(expected), "{found}");
    let mut w = Workload::default();
    hogs(&mut w, "hog", 1, None);
    let groups = [Group { core_cookie: true, ..group("web", "hog", &[]) }];
    let found = try_run(&machines::smt(2, 1), "6.12", w, &groups).err().expect("a refusal");
    assert!(found.to_string().starts_with("groups.web.core_cookie: found some"), "{found}");
}

/// Groups of a random tree with random weights and quotas.
fn any_groups() -> impl Strategy<Value = Vec<Group>> {
    let one = (prop::sample::select(vec![1u32, 100, 500, 10_000]), 0u32..4, any::<bool>());
    prop::collection::vec((one, any::<prop::sample::Index>()), 1..5).prop_map(|all| {
        let mut groups: Vec<Group> = Vec::new();
        for (at, ((weight, quota, below), parent)) in all.into_iter().enumerate() {
            let path = match groups.is_empty() || !below {
                true => format!("g{at}"),
                false => format!("{}/g{at}", groups[parent.index(groups.len())].path),
            };
            let quota = match quota {
                0 => "max".to_string(),
                n => format!("{} 20000", n * 8_000),
            };
            let weight = weight.to_string();
            let files = [("cpu.weight", weight.as_str()), ("cpu.max", quota.as_str())];
            groups.push(group(&path, &format!("mix{at}"), &files));
        }
        groups
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing is lost and nothing is doubled under groups and quotas.
    #[test]
    fn everything_ends_in_groups(
        machine in conservation::any_machine(),
        mixes in conservation::any_mixes(),
        queue in conservation::any_queue(),
        groups in any_groups(),
        version in prop::sample::select(RELEASES.to_vec()),
        seed in 0u64..1000,
    ) {
        let mut w = conservation::build(&machine, &mixes, 1, 2, queue);
        for (at, program) in w.programs.iter_mut().enumerate() {
            if program.name == "mixed" {
                program.name = format!("mix{}", at % 6);
            }
        }
        let setting = Setting { groups, ..Setting::default() };
        let scenario = Scenario::in_setting(&machine, &release(version), w, &setting)
            .expect("a scenario");
        let mut watch = Watch::new(machine.cpus.len());
        let result = scenario.run_traced(seed, &mut watch).expect("a run");
        watch.finish(result.end_ns);
        prop_assert!(watch.wrong.is_empty(), "{:?}", &watch.wrong[..watch.wrong.len().min(5)]);
    }
}
