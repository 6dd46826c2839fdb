//! Clocks: what governors ask for, what firmware makes of it, what it takes, and what load tracking sees of it.

use crate::machines;
use kernel::{Kernel, Version};
use machine::Machine;
use setting::{AmdPstateMode, DriverChoice, Frequency, Governor, Invariance, MaxFreq, Setting};
use sim::{RunResult, Scenario, SimError, Trace};
use workload::{MarkId, Op, Reading, Spawn, Spread, Work, Workload};

const MS: u64 = 1_000_000;

fn epyc() -> Machine {
    machine::catalog::load("epyc-7742-1s-nps1").expect("the catalog holds it")
}

/// The same with another value of a constant.
fn with_constant(machine: &Machine, name: &str, value: f64) -> Machine {
    let mut machine = machine.clone();
    let constant = machine.constants.get(name).expect("a constant").clone();
    machine.constants.set(name, machine::Constant { value, ..constant });
    machine
}

fn kernel() -> Kernel {
    Kernel::new(Version::new(5, 9))
}

fn governed(governor: Governor) -> Setting {
    Setting { frequency: Some(Frequency::new(governor)), ..Setting::default() }
}

fn invariant(max: MaxFreq) -> Setting {
    let frequency =
        Frequency { invariance: Invariance::By(max), ..Frequency::new(Governor::Schedutil) };
    Setting { frequency: Some(frequency), ..Setting::default() }
}

/// `tasks` that compute without end, bound to the first CPUs, one each, and a task that stops the run.
fn spinning(tasks: usize, stop_ms: u64) -> Workload {
    let mut w = Workload::default();
    let spin = w.program("spin", vec![Op::Compute(Work::fixed(1e15))]);
    let stop = w.program("stop", vec![Op::Stop]);
    for cpu in 0..tasks {
        let affinity = Some(machine::CpuSet::single(cpu));
        w.spawns.push(Spawn { affinity, ..Spawn::new(spin) });
    }
    let affinity = Some(machine::CpuSet::single(tasks));
    w.spawns.push(Spawn { affinity, first_wake_ns: stop_ms * MS, ..Spawn::new(stop) });
    w
}

/// One task on CPU 0: computes for `warm_ms` at P0, then `cycles`, whose time in s is the metric.
fn timed(warm_ms: f64, cycles: f64) -> Workload {
    let mut w = Workload::default();
    let (from, to) = (w.mark(), w.mark());
    let ops = vec![
        Op::Compute(Work::fixed(warm_ms * 2.25e6)),
        Op::Mark(from),
        Op::Compute(Work::fixed(cycles)),
        Op::Mark(to),
        Op::Stop,
    ];
    let program = w.program("timed", ops);
    let affinity = Some(machine::CpuSet::single(0));
    w.spawns.push(Spawn { affinity, ..Spawn::new(program) });
    w.metrics.push(workload::Metric {
        name: "time".to_string(),
        unit: "s".to_string(),
        better: workload::Better::Lower,
        reading: Reading::Seconds { from, to, scale: 1.0 },
    });
    w
}

fn run(machine: &Machine, w: Workload, setting: &Setting) -> RunResult {
    let scenario = Scenario::in_setting(machine, &kernel(), w, setting).expect("a scenario");
    scenario.run(1).expect("a run")
}

fn watts(result: &RunResult) -> f64 {
    result.energy_j.iter().sum::<f64>() / (result.end_ns as f64 / 1e9)
}

fn near(found: f64, expected: f64, relative: f64) {
    assert!((found / expected - 1.0).abs() < relative, "found {found}, expected {expected}");
}

#[test]
fn a_core_alone_runs_at_the_clock_that_its_governor_asks_for() {
    let machine = epyc();
    // 100 ms of P0; ticks take less than 1 % of it.
    let time = |setting: &Setting| run(&machine, timed(800.0, 2.25e8), setting).metrics[0];
    near(time(&governed(Governor::Performance)), 0.1 * 2.25 / 3.4, 0.01);
    near(time(&governed(Governor::Powersave)), 0.1 * 2.25 / 1.5, 0.01);
    // A task that never sleeps ends up with the boost under every other governor.
    for setting in [
        governed(Governor::Ondemand),
        invariant(MaxFreq::P0),
        invariant(MaxFreq::Midpoint),
        invariant(MaxFreq::MaxBoost),
        governed(Governor::Schedutil),
    ] {
        near(time(&setting), 0.1 * 2.25 / 3.4, 0.01);
    }
    let unmoved = Setting::default();
    near(time(&unmoved), 0.1, 0.01);
}

#[test]
fn an_idle_machine_takes_its_floor_and_a_busy_one_its_limit() {
    let machine = epyc();
    let setting = governed(Governor::Performance);
    near(watts(&run(&machine, spinning(0, 500), &setting)), 65.0, 0.01);
    // One core at 3.4 GHz: 0.82 W x (3.4 / 2.25)^2.4.
    near(watts(&run(&machine, spinning(1, 500), &setting)), 65.0 + 2.209, 0.01);
    // With a thread on each core the highest clock of so many cores is within the power limit: 0.82 W x (3.2 / 2.25)^2.4.
    near(watts(&run(&machine, spinning(63, 500), &setting)), 65.0 + 63.0 * 1.909, 0.02);
    // With two it is not, and the limit holds, within a step of the clock.
    let all = watts(&run(&machine, spinning(127, 500), &setting));
    assert!((215.0..=225.5).contains(&all), "{all}");
    // Under powersave nothing boosts: 0.82 W x (1.5 / 2.25)^1.53 a core.
    let slow = watts(&run(&machine, spinning(63, 500), &governed(Governor::Powersave)));
    near(slow, 65.0 + 63.0 * 0.441, 0.02);
}

#[test]
fn more_active_cores_boost_less() {
    // Without a power limit; balancing between 64 bound tasks takes a few percent.
    let machine = with_constant(&epyc(), "tdp_w", 10_000.0);
    let machine = with_constant(&machine, "boost_all_cores_khz", 2_800_000.0);
    let mut w = timed(50.0, 2.25e8);
    let spin = w.program("spin", vec![Op::Compute(Work::fixed(1e15))]);
    for cpu in 1..64 {
        let affinity = Some(machine::CpuSet::single(cpu));
        w.spawns.push(Spawn { affinity, ..Spawn::new(spin) });
    }
    let time = run(&machine, w, &governed(Governor::Performance)).metrics[0];
    near(time, 0.1 * 2.25 / 2.8, 0.06);
}

#[test]
fn a_sibling_keeps_its_core_at_the_higher_request() {
    let machine = epyc();
    // CPU 64 is CPU 0's sibling and idle: its request is the lowest, and does not hold CPU 0 back.
    let alone = run(&machine, timed(50.0, 2.25e8), &governed(Governor::Ondemand)).metrics[0];
    near(alone, 0.1 * 2.25 / 3.4, 0.01);
}

/// Half of the time busy: runs for as long as it sleeps at P2, `sleep_ms` at a time.
fn half_busy(machine: &Machine, setting: &Setting, sleep_ms: f64) -> RunResult {
    run(machine, half_load(sleep_ms), setting)
}

fn half_load(sleep_ms: f64) -> Workload {
    let mut w = Workload::default();
    let ops = vec![
        Op::Compute(Work::fixed(sleep_ms * 1.5e6)),
        Op::Sleep { mean_ns: sleep_ms * 1e6, spread: Spread::Fixed },
        Op::Loop { to: 0, times: 0 },
    ];
    let program = w.program("half", ops);
    let stop = w.program("stop", vec![Op::Stop]);
    let on = |cpu| Some(machine::CpuSet::single(cpu));
    w.spawns.push(Spawn { affinity: on(0), ..Spawn::new(program) });
    w.spawns.push(Spawn { affinity: on(8), first_wake_ns: 2_000 * MS, ..Spawn::new(stop) });
    w
}

#[test]
fn what_invariance_takes_for_the_maximum_decides_about_the_clock_of_half_a_load() {
    let machine = epyc();
    let busy_share = |setting: &Setting| {
        let result = half_busy(&machine, setting, 5.0);
        result.counters.run_ns_by_busy.iter().sum::<u64>() as f64 / result.end_ns as f64
    };
    // At P2 it is busy half of the time, at the boost 5 x 1.5 / 3.4 ms of 7.2.
    near(busy_share(&governed(Governor::Powersave)), 0.5, 0.05);
    near(busy_share(&governed(Governor::Performance)), 2.206 / 7.206, 0.05);
    // By the highest boost, half a load at P2 is 512 x 1.5 / 3.4 = 226 of 1024, far from P1.
    near(busy_share(&invariant(MaxFreq::MaxBoost)), 0.5, 0.05);
}

#[test]
fn a_cpu_whose_tick_goes_on_in_idle_keeps_its_clock() {
    let machine = epyc();
    // 100 ms without a pause, so that it is at P0; then as much sleep as work at P2.
    let busy_share = |sleep_ms: f64| {
        let mut w = half_load(sleep_ms);
        w.programs[0].ops.insert(0, Op::Compute(Work::fixed(100.0 * 2.25e6)));
        w.programs[0].ops[3] = Op::Loop { to: 1, times: 0 };
        let result = run(&machine, w, &invariant(MaxFreq::MaxBoost));
        let busy_ns = result.counters.run_ns_by_busy.iter().sum::<u64>();
        (busy_ns as f64 - 66e6) / (result.end_ns as f64 - 66e6)
    };
    // The governor of idle states expects sleeps far below a tick, so none counts as idle, and the clock never falls.
    near(busy_share(0.2), 0.0882 / 0.2882, 0.1);
    // Where ticks stop it does: half a load asks for P2.
    near(busy_share(8.0), 0.5, 0.05);
}

/// The time of 100 ms of P0 under `kernel`, by a task with clamps; `others` run on its CPU for a moment now and then.
fn clamped_time(version: (u16, u16), clamp: (Option<u16>, Option<u16>), others: bool) -> f64 {
    let mut w = timed(800.0, 2.25e8);
    let (min, max) = clamp;
    w.programs[0].ops.insert(0, Op::SetUtilClamp { min, max });
    if others {
        let sleep = Op::Sleep { mean_ns: 5e6, spread: Spread::Fixed };
        let work = Op::Compute(Work::fixed(1e5));
        let program = w.program("other", vec![sleep, work, Op::Loop { to: 0, times: 0 }]);
        let affinity = Some(machine::CpuSet::single(0));
        w.spawns.push(Spawn { affinity, ..Spawn::new(program) });
    }
    let kernel = Kernel::new(Version::new(version.0, version.1));
    let setting = invariant(MaxFreq::P0);
    let scenario = Scenario::in_setting(&epyc(), &kernel, w, &setting).expect("a scenario");
    scenario.run(1).expect("a run").metrics[0]
}

/// An upper clamp of 300 asks for 1.25 x 300 / 1024 of P0, which is below P2.
#[test]
fn an_upper_clamp_holds_a_busy_task_back_from_5_3_on() {
    let capped = (None, Some(300));
    near(clamped_time((5, 9), capped, false), 0.1 * 2.25 / 1.5, 0.01);
    near(clamped_time((5, 2), capped, false), 0.1 * 2.25 / 3.4, 0.01);
    near(clamped_time((5, 9), (None, None), false), 0.1 * 2.25 / 3.4, 0.01);
    // A task without clamps on the same queue lifts the clamp while it is there; 5.9 does not slow down a busy CPU then.
    let together = clamped_time((5, 9), capped, true);
    assert!(together < 0.1, "{together}");
}

#[test]
fn a_lower_clamp_speeds_up_a_task_that_sleeps() {
    let machine = epyc();
    let busy_share = |min: Option<u16>| {
        let mut w = half_load(5.0);
        if min.is_some() {
            w.programs[0].ops.insert(0, Op::SetUtilClamp { min, max: None });
            w.programs[0].ops[3] = Op::Loop { to: 1, times: 0 };
        }
        let result = run(&machine, w, &invariant(MaxFreq::MaxBoost));
        result.counters.run_ns_by_busy.iter().sum::<u64>() as f64 / result.end_ns as f64
    };
    near(busy_share(None), 0.5, 0.05);
    // Without the task its queue has no lower clamp: the clock falls while it sleeps, and it runs about 1 ms at P2 until the
    // firmware has boosted, then 6 Mcycles at 3.4 GHz.
    let run_ms = 1.0 + (7.5 - 1.5) / 3.4;
    near(busy_share(Some(1024)), run_ms / (run_ms + 5.0), 0.05);
}

#[test]
fn a_kernels_own_governors_are_told_what_firmware_tells() {
    let governing = |frequency: Frequency| {
        let setting = Setting { frequency: Some(frequency), ..Setting::default() };
        let kernel = Kernel::new(Version::new(6, 12));
        Scenario::in_setting(&epyc(), &kernel, spinning(1, 1), &setting).unwrap().governing()
    };
    let mut asked = Frequency { fast_switch: false, ..Frequency::new(Governor::Ondemand) };
    asked.tunables.set(setting::Tunable::SamplingRateUs, 9000);
    let told = governing(asked).unwrap();
    assert_eq!(told.khz, [2_250_000, 2_000_000, 1_500_000]);
    assert_eq!(told.policies.len(), 128);
    assert!(told.policies.iter().enumerate().all(|(cpu, set)| set.iter().eq([cpu])));
    // CPPC 255 of 169, which stand for 3.4 and 2.25 GHz.
    assert_eq!((told.boost_ratio, told.transition_latency_ns), (Some(1545), 0));
    assert_eq!((told.fast_switch, told.invariant), (false, true));
    assert_eq!((told.governor, told.tunables), ("ondemand", vec![("sampling_rate", 9000)]));
    let without = Frequency { invariance: Invariance::Off, ..Frequency::new(Governor::Schedutil) };
    assert!(!governing(without).unwrap().invariant);
    assert_eq!(governing(Frequency { by_model: true, ..asked }), None);
    let driver = DriverChoice::AmdPstate(AmdPstateMode::Passive);
    assert_eq!(governing(Frequency { driver, ..asked }), None);
}

#[test]
fn amd_pstate_is_refused_before_its_time() {
    let with = |minor, driver| {
        let frequency = Frequency { driver, ..Frequency::new(Governor::Schedutil) };
        let setting = Setting { frequency: Some(frequency), ..Setting::default() };
        let kernel = Kernel::new(Version::new(5, minor));
        Scenario::in_setting(&epyc(), &kernel, timed(100.0, 2.25e8), &setting)
    };
    let passive = DriverChoice::AmdPstate(AmdPstateMode::Passive);
    let error = with(16, passive).unwrap_err().to_string();
    assert!(error.contains("amd-pstate") && error.contains("5.17"), "{error}");
    let time = with(17, passive).and_then(|s| s.run(1)).expect("a run").metrics[0];
    assert!(time < 0.1, "a busy task gets more than P0: {time}");
}

#[test]
fn governed_runs_repeat() {
    let machine = epyc();
    for setting in [governed(Governor::Ondemand), invariant(MaxFreq::Midpoint)] {
        assert_eq!(half_busy(&machine, &setting, 5.0), half_busy(&machine, &setting, 5.0));
    }
}

#[test]
fn what_cannot_be_governed_is_refused_by_name() {
    let refused = |machine: &Machine, setting: &Setting| -> SimError {
        Scenario::in_setting(machine, &kernel(), spinning(1, 1), setting).unwrap_err()
    };
    let ondemand = governed(Governor::Ondemand);
    let mut machine = epyc();
    machine.policies.iter_mut().for_each(|p| p.available_khz.reverse());
    let found = refused(&machine, &ondemand).to_string();
    assert!(found.contains("P1: found 2000000 kHz, expected less than 1500000 kHz"), "{found}");
    let found = refused(&with_constant(&epyc(), "boost_khz", 2e6), &ondemand).to_string();
    assert!(found.contains("boost_khz: found 2000000 kHz, expected at least 2250000"), "{found}");
    let found = refused(&machines::smt(2, 2), &ondemand).to_string();
    assert!(found.contains("boost_khz"), "{found}");
    let mut machine = epyc();
    machine.policies.clear();
    assert!(matches!(refused(&machine, &ondemand), SimError::NoPolicies { .. }));
}

/// Adds up what it is told of power.
#[derive(Default)]
struct Joules {
    /// By package: since when it takes so many watts, and what it took before.
    packages: Vec<(u64, f64, f64)>,
}

impl Joules {
    fn until(&self, end_ns: u64) -> Vec<f64> {
        let all = self.packages.iter();
        all.map(|&(since_ns, watts, joules)| joules + watts * (end_ns - since_ns) as f64 / 1e9)
            .collect()
    }
}

impl Trace for Joules {
    fn power(&mut self, at_ns: u64, package: usize, watts: f64) {
        let joules = self.until(at_ns).get(package).copied();
        self.packages.resize(self.packages.len().max(package + 1), (0, 0.0, 0.0));
        self.packages[package] = (at_ns, watts, joules.unwrap_or(0.0));
    }
}

/// What comes before the measured time and after it, as a benchmark's start does, is not part of its power.
#[test]
fn power_is_that_of_the_measured_time() {
    let machine = epyc();
    let idle = Op::Sleep { mean_ns: 100e6, spread: Spread::Fixed };
    let busy = Op::Compute(Work::fixed(200e6));
    let alone = |ops: Vec<Op>, measured| {
        let mut w = timed(0.0, 1.0);
        w.programs[0].ops = ops;
        w.measured = measured;
        run(&machine, w, &governed(Governor::Performance))
    };
    let (from, to) = (MarkId(0), MarkId(1));
    let (begin, end) = (Op::Mark(from), Op::Mark(to));
    let only_busy = alone(vec![begin.clone(), busy.clone(), end.clone(), Op::Stop], None);
    let ops = vec![idle.clone(), begin, busy, end, idle, Op::Stop];
    let all = alone(ops.clone(), None);
    let part = alone(ops, Some((from, to)));
    near(all.power_w.expect("a power"), watts(&all), 1e-9);
    near(only_busy.power_w.expect("a power"), watts(&only_busy), 1e-9);
    // Clocks take up to a slot to rise where the core was idle before.
    near(part.power_w.expect("a power"), watts(&only_busy), 2e-3);
    let floor = machine.constants.value("package_idle_w").expect("a constant");
    assert!(watts(&all) - floor < 0.4 * (watts(&only_busy) - floor), "{} W", watts(&all));
}

#[test]
fn what_is_told_of_power_adds_up_to_the_energy() {
    let both = machine::catalog::load("epyc-7742-2s-nps1").expect("the catalog holds it");
    let mut w = spinning(80, 40);
    w.spawns.iter_mut().step_by(2).for_each(|s| s.first_wake_ns += 3 * MS);
    for setting in [governed(Governor::Performance), governed(Governor::Ondemand)] {
        let scenario = Scenario::in_setting(&both, &kernel(), w.clone(), &setting);
        let scenario = scenario.expect("a scenario");
        let mut joules = Joules::default();
        let result = scenario.run_traced(1, &mut joules).expect("a run");
        let told = joules.until(result.end_ns);
        assert_eq!((told.len(), result.energy_j.len()), (2, 2));
        assert_ne!(told[0], told[1], "the second package has fewer tasks");
        for (told, counted) in told.iter().zip(&result.energy_j) {
            near(*told, *counted, 1e-9);
        }
    }
}

/// Length and energies of runs in which every constant of clocks and power has a say: cores in number, few, with
/// threads shared, in short sleeps, and on the way up. An error where a constant is out of range.
pub fn outputs(machine: &Machine) -> Result<Vec<(u64, Vec<f64>)>, String> {
    let performance = governed(Governor::Performance);
    let run = |w, setting: &Setting, seed| {
        let scenario = Scenario::in_setting(machine, &kernel(), w, setting);
        let result = scenario.and_then(|s| s.run(seed)).map_err(|e| e.to_string())?;
        Ok::<_, String>((result.end_ns, result.energy_j))
    };
    let many = run(spinning(255, 30), &performance, 1)?;
    let few = run(spinning(8, 30), &performance, 1)?;
    let short = half_busy(machine, &invariant(MaxFreq::Midpoint), 0.1);
    let waiting = run(crate::workloads::memory_tour(&[1]), &performance, 1)?;
    let mut all = vec![many, few, (short.end_ns, short.energy_j), waiting];
    // Governors ask at ticks, whose place in the firmware's slots is the seed's.
    for seed in 1..=8 {
        all.push(run(spinning(2, 200), &invariant(MaxFreq::Midpoint), seed)?);
    }
    Ok(all)
}
