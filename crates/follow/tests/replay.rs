//! A simulated run, recorded, becomes a workload; run again, that is the same run.

use follow::Recorder;
use follow::placement::{FirstPass, Ground, Inferred};
use kernel::Kernel;
use machine::Machine;
use sim::Scenario;
use trace::inspect::{Inspection, Inspector};
use trace::replay::{Builder, LEAD_NS, Options, Replay, figures};
use trace::{Choice, Event, Filter, Sink, TraceError};
use workload::{Benchmark, Target, no_traces, schbench, sched_pipe, tbench};

fn machine() -> Machine {
    machine::catalog::load("kunpeng920-1node").unwrap()
}

fn kernel() -> Kernel {
    Kernel::new("6.12".parse().unwrap())
}

fn events(scenario: &Scenario) -> Vec<Event> {
    let mut recorder = Recorder::new(scenario.topology().nr_cpus, Vec::new());
    scenario.run_traced(1, &mut recorder).unwrap();
    recorder.finish().unwrap().1
}

fn pipe() -> Benchmark {
    Benchmark::SchedPipe(sched_pipe::Params { loops: 1000, loops_run: 1000, cpus: None })
}

fn recorded(benchmark: &Benchmark) -> Vec<Event> {
    let machine = machine();
    let (constants, online) = (&machine.constants, machine.online.clone());
    let read = |_: &str| Err(std::io::Error::other("no files here"));
    let target = Target { constants, online, deadlines: false, read: &read, replay: &no_traces };
    let workload = benchmark.build(&target).unwrap().workload;
    events(&Scenario::new(&machine, &kernel(), workload).unwrap())
}

fn built(events: &[Event], options: &Options) -> Result<Replay, TraceError> {
    let mut builder = Builder::new(&machine(), options).unwrap();
    events.iter().try_for_each(|e| builder.event(e))?;
    builder.finish()
}

/// Options with what the trace tells of `WF_SYNC`.
fn options(events: &[Event]) -> Options {
    let ground = Ground::new(&machine(), &kernel()).unwrap();
    let mut first = FirstPass::default();
    events.iter().try_for_each(|e| first.event(e)).unwrap();
    let mut judge = Inferred::new(&ground, &first, Vec::new());
    events.iter().try_for_each(|e| judge.event(e)).unwrap();
    Options { sync: judge.synchronous(), keeps_idle_exits: true, ..Options::default() }
}

fn inspected(events: &[Event], from_ns: u64) -> Inspection {
    let mut inspector = Inspector::new(&machine());
    let choice = Choice { from_ns: Some(from_ns), ..Choice::default() };
    let mut filter = Filter::new(choice, false, &mut inspector);
    events.iter().try_for_each(|e| filter.event(e)).unwrap();
    inspector.finish()
}

fn again(replay: Replay) -> Vec<Event> {
    events(&Scenario::new(&machine(), &kernel(), replay.workload).unwrap())
}

#[test]
fn a_simulated_run_comes_out_of_its_own_trace() {
    let (warmup_s, seconds) = (0.01, 0.05);
    for (benchmark, within) in [
        (pipe(), 0.2),
        (Benchmark::Tbench(tbench::Params { clients: 3, warmup_s, seconds, cpus: None }), 0.2),
        // Which of the idle CPUs a worker begins on is nobody's to tell.
        (
            Benchmark::Schbench(schbench::Params {
                message_threads: 2,
                workers: 3,
                sleep_us: 500.0,
                work_us: 1000.0,
                warmup_s,
                seconds,
                cpus: None,
            }),
            25.0,
        ),
    ] {
        let trace = recorded(&benchmark);
        let replay = again(built(&trace, &options(&trace)).unwrap());
        let (trace, replay) = (inspected(&trace, 0), inspected(&replay, LEAD_NS));
        for figure in figures(&trace, &replay, &replay) {
            let allowed = match (figure.name.as_str(), figure.unit) {
                ("moves", _) => continue,
                (_, "%") => within,
                _ => 0.5,
            };
            let error = figure.error(figure.replay).unwrap_or(0.0);
            assert!(error.abs() <= allowed, "{}: {figure:?}", benchmark.name());
        }
    }
}

#[test]
fn a_window_is_a_replay_of_its_own() {
    let trace = recorded(&pipe());
    // The second half is pings and pongs, the first ones come after the start.
    let to_ns = trace.get(trace.len() / 2).map(|e| e.at_ns);
    let whole = built(&trace, &Options::default()).unwrap().made;
    let half = built(&trace, &Options { to_ns, ..Options::default() }).unwrap().made;
    assert!(half.by_tasks > 0 && half.by_tasks < whole.by_tasks, "{half:?} of {whole:?}");
    assert!(half.length_ns < whole.length_ns);
    again(built(&trace, &Options { from_ns: to_ns, ..Options::default() }).unwrap());
}

#[test]
fn a_trace_without_tasks_makes_no_workload() {
    let refused = built(&[], &Options::default()).unwrap_err().to_string();
    assert_eq!(refused, "trace: found 0 tasks of the fair class, expected 1 to 65534");
}
