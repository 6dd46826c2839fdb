//! Runs and their timelines.

use follow::Recorder;
use kernel::{Kernel, Version};
use machine::Machine;
use setting::{Frequency, Governor, HotplugStep, Setting};
use sim::{RunResult, Scenario};
use trace::{About, Event, FtraceText, Perfetto, Sink};
use workload::{Op, Spawn, Spread, Work, Workload, hackbench};

pub fn power9() -> Machine {
    machine::catalog::load("power9-big-core").expect("the catalog holds it")
}

/// Two groups of hackbench: forks, wake-ups across CPUs, moves by the balancer, exits.
pub fn hackbench() -> Scenario {
    let machine = power9();
    let params = hackbench::Params {
        groups: 2,
        loops: 200,
        fds: 10,
        datasize: 100,
        pipe: true,
        threads: false,
        cpus: None,
    };
    let costs = hackbench::Costs::of(&machine.constants).expect("costs");
    let workload = hackbench::build(&params, &costs).expect("a workload");
    Scenario::new(&machine, &Kernel::new(Version::new(6, 12)), workload).expect("a scenario")
}

/// Tasks that run and sleep, one of another nice value, while CPUs go offline and come online.
pub fn hotplug() -> Scenario {
    let machine = power9();
    let mut w = Workload::default();
    let sleep = Op::Sleep { mean_ns: 200_000.0, spread: Spread::Exponential };
    let work = Op::Compute(Work::fixed(400_000.0));
    let cycle = w.program("cycle", vec![work.clone(), sleep, Op::Loop { to: 0, times: 0 }]);
    let spin = w.program("spin", vec![work, Op::Loop { to: 0, times: 0 }]);
    let stop = w.program("stop", vec![Op::Stop]);
    w.spawns.extend((0..2 * machine.cpus.len()).map(|_| Spawn::new(cycle)));
    w.spawns.extend((0..4).map(|_| Spawn { nice: 5, ..Spawn::new(spin) }));
    w.spawns.push(Spawn { first_wake_ns: 40_000_000, ..Spawn::new(stop) });
    let step = |at_ms: u64, cpu, online| HotplugStep { at_ns: at_ms * 1_000_000, cpu, online };
    let hotplug =
        vec![step(10, 1, false), step(12, 5, false), step(20, 1, true), step(30, 5, true)];
    let setting = Setting { hotplug, ..Setting::default() };
    let kernel = Kernel::new(Version::new(6, 12));
    Scenario::in_setting(&machine, &kernel, w, &setting).expect("a scenario")
}

/// The same tasks under schedutil; one policy a CPU.
pub fn governed() -> Scenario {
    let machine = machine::catalog::load("epyc-7742-1s-nps1").expect("the catalog holds it");
    let mut w = Workload::default();
    let sleep = Op::Sleep { mean_ns: 3_000_000.0, spread: Spread::Exponential };
    let work = Op::Compute(Work::fixed(40_000_000.0));
    let cycle = w.program("cycle", vec![work, sleep, Op::Loop { to: 0, times: 0 }]);
    let stop = w.program("stop", vec![Op::Stop]);
    w.spawns.extend((0..20).map(|_| Spawn::new(cycle)));
    w.spawns.push(Spawn { first_wake_ns: 400_000_000, ..Spawn::new(stop) });
    let frequency = Some(Frequency::new(Governor::Schedutil));
    let setting = Setting { frequency, ..Setting::default() };
    let kernel = Kernel::new(Version::new(6, 12));
    Scenario::in_setting(&machine, &kernel, w, &setting).expect("a scenario")
}

pub fn recorded(scenario: &Scenario, seed: u64) -> (RunResult, Vec<Event>) {
    let mut recorder = Recorder::new(scenario.topology().nr_cpus, Vec::new());
    let result = scenario.run_traced(seed, &mut recorder).expect("a run");
    let (written, kept) = recorder.finish().expect("records in memory");
    assert_eq!(written, kept.len() as u64);
    (result, kept)
}

pub fn about() -> About {
    let machine = power9();
    let domains = kernel::build(&machine, &Kernel::new(Version::new(6, 12))).expect("domains");
    About {
        release: "6.12".to_string(),
        source: "a test".to_string(),
        machine: machine.name.clone(),
        cpu_names: trace::cpu_names(&machine, Some(&domains)),
    }
}

pub fn perfetto(events: &[Event]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = Perfetto::new(&mut out, &about()).expect("memory");
    events.iter().for_each(|e| writer.event(e).expect("memory"));
    writer.finish().expect("memory");
    drop(writer);
    out
}

pub fn ftrace(events: &[Event]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = FtraceText::new(&mut out, &["a test".to_string()], true);
    events.iter().for_each(|e| writer.event(e).expect("memory"));
    writer.finish().expect("memory");
    drop(writer);
    out
}
