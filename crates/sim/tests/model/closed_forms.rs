//! Cases whose result follows from the machine's constants with pencil and paper.

use crate::counted::Counted;
use crate::machines;
use crate::watch::Watch;
use crate::workloads::{bound_pair, ebizzy, pipe, scenario, tasks};
use machine::costs::Peer;
use machine::{CpuSet, Machine};
use workload::{Op, ProgramId, Spawn, Work, Workload};

/// Ticks, the start of threads and the last partial unit take less than this.
const SMALL: f64 = 2e-3;

fn constant(machine: &Machine, name: &str) -> f64 {
    machine.constants.value(name).expect("a constant of the machine")
}

fn metric(machine: &Machine, workload: Workload) -> f64 {
    scenario(machine, workload).run(1).expect("a run").metrics[0]
}

fn assert_near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < SMALL, "found {found}, expected {expected}");
}

/// Records per second of one thread that has its small core to itself.
fn alone(machine: &Machine) -> f64 {
    let copy = 4096.0 / constant(machine, "copy_bytes_per_cycle");
    constant(machine, "nominal_khz") * 1e3 / (constant(machine, "ebizzy_record_cycles") + copy)
}

#[test]
fn one_thread_alone_gets_the_whole_clock() {
    let machine = machines::power9();
    assert_near(metric(&machine, ebizzy(&machine, 1, 1.0, None)), alone(&machine));
}

#[test]
fn two_threads_of_a_small_core_get_their_share() {
    let machine = machines::power9();
    let expected = 2.0 * constant(&machine, "smt_share_2") * alone(&machine);
    assert_near(metric(&machine, ebizzy(&machine, 2, 1.0, Some("0,2"))), expected);
}

#[test]
fn small_cores_of_a_big_core_do_not_slow_each_other() {
    let machine = machines::power9();
    let expected = 2.0 * alone(&machine);
    assert_near(metric(&machine, ebizzy(&machine, 2, 1.0, Some("0,1"))), expected);
}

/// On a machine of one CPU a hop is write, read, user code and a switch, and a wake-up where the reader was asleep:
/// one that was preempted right after its own write is not.
#[test]
fn a_pipe_hop_on_one_cpu_is_the_sum_of_its_costs() {
    let machine = machines::smt(1, 1);
    let loops = 20_000;
    let counted = Counted::of(&machine);
    let hop_ns = counted.message_ns("pipe")
        + counted.switch_ns(false)
        + constant(&machine, "pipe_user_cycles") / (constant(&machine, "nominal_khz") / 1e6);
    let result = scenario(&machine, pipe(&machine, loops, None)).run(1).expect("a run");
    let wakeups = result.counters.wakeups as f64;
    assert!(wakeups >= f64::from(loops), "{wakeups} wake-ups");
    let wakeups_ns = wakeups * counted.wakeup_ns("pipe");
    let expected = (2.0 * hop_ns * f64::from(loops) + wakeups_ns) / 1e9;
    // The fork before the first hop counts as well.
    let fork = counted.ns("fork", Peer::Idle, |o| o.give) / 1e9;
    assert_near(result.metrics[0], expected + fork);
}

/// Two tasks of one address space on one CPU pass a message to and fro; the same as two processes. What differs is what
/// each of the context switches between them costs.
#[test]
fn switches_within_an_address_space_cost_their_own_constant() {
    let machine = machines::smt(1, 1);
    let loops = 5_000;
    let run = |start: fn(ProgramId) -> Op, machine: &Machine| {
        let mut w = Workload::default();
        let (there, back) = (w.pipe(), w.pipe());
        let times = loops;
        let hop = vec![Op::Receive(there), Op::Send(back), Op::Loop { to: 0, times }];
        let other = w.program("other", hop);
        let main = vec![
            start(other),
            Op::Send(there),
            Op::Receive(back),
            Op::Loop { to: 1, times },
            Op::WaitChildren,
            Op::Stop,
        ];
        tasks(&mut w, "main", 1, &main, None);
        scenario(machine, w).run(1).expect("a run")
    };
    let (processes, threads) = (run(Op::Fork, &machine), run(Op::Clone, &machine));
    // At most the first and the last switch of a process are not between the two.
    let switches = processes.counters.switches;
    assert!(switches >= 2 * u64::from(loops) && switches < 2 * u64::from(loops) + 10);
    assert_eq!(threads.counters.switches, switches);
    let counted = Counted::of(&machine);
    let expected_ns = switches as f64 * (counted.switch_ns(false) - counted.switch_ns(true));
    let found_ns = (processes.end_ns - threads.end_ns) as f64;
    // Steps end at whole ns, and a switch differs by some forty.
    assert!((found_ns / expected_ns - 1.0).abs() < 5e-2, "{found_ns}, expected {expected_ns}");
}

#[test]
fn three_endless_tasks_get_equal_thirds() {
    let machine = machines::power9();
    let mut w = Workload::default();
    let spin = w.program("spin", vec![Op::Compute(Work::fixed(1e6)), Op::Loop { to: 0, times: 0 }]);
    let stop = w.program("stop", vec![Op::Stop]);
    let spawn = |program, cpu: usize, first_wake_ns| Spawn {
        affinity: Some(CpuSet::single(cpu)),
        first_wake_ns,
        ..Spawn::new(program)
    };
    w.spawns.extend([spawn(spin, 3, 0), spawn(spin, 3, 0), spawn(spin, 3, 0)]);
    w.spawns.push(spawn(stop, 0, 1_000_000_000));
    let mut watch = Watch::new(machine.cpus.len());
    let result = scenario(&machine, w).run_traced(7, &mut watch).expect("a run");
    watch.finish(result.end_ns);
    // sched_latency on 8 CPUs or more, divided by three, and a tick until it is noticed.
    let slice_ns = 24_000_000 / 3 + 10_000_000;
    for task in watch.tasks.iter().filter(|t| t.program == "spin") {
        let off_ns = task.ran_ns.abs_diff(1_000_000_000 / 3);
        assert!(off_ns <= slice_ns, "a third is off by {off_ns} ns");
    }
}

/// A CPU that waits by `MWAIT` is woken without an interrupt. Where the machine says the cycles, they take the place of the
/// latency that firmware tells.
#[test]
fn a_write_ends_mwait_and_an_interrupt_ends_other_states() {
    const TIMES: u32 = 2_000;
    let run = |mwait: bool, cycles: Option<f64>| {
        let mut machine = machines::smt(2, 1);
        // The kernel polls in no state, and stays in the only one.
        machine.idle_states.remove(0);
        machine.idle_states[0].mwait = mwait;
        if let Some(value) = cycles {
            let mut constant = machine.constants.get("ipi_ns").expect("a constant").clone();
            (constant.value, constant.unit) = (value, "cycles".to_string());
            machine.constants.set("mwait_exit_cycles", constant);
        }
        let result = scenario(&machine, bound_pair(0, 1, TIMES)).run(1).expect("a run");
        let messages = f64::from(2 * TIMES);
        (result.metrics[0] * 1e9 / messages, result.counters.ipis as f64 / messages)
    };
    let machine = machines::smt(2, 1);
    let ghz = constant(&machine, "nominal_khz") / 1e6;
    let exit_ns = machine.idle_states[1].exit_latency_ns as f64;
    let (interrupted, ipis) = run(false, None);
    assert!(ipis > 0.9, "{ipis} a message");
    let (told, ipis) = run(true, None);
    assert!(ipis < 0.1, "{ipis} a message");
    let saved = interrupted - told - constant(&machine, "ipi_ns");
    // The handler's instructions are saved as well.
    assert!((0.0..1_000.0).contains(&saved), "{interrupted} and {told} ns");
    let (known, _) = run(true, Some(3.0 * exit_ns * ghz));
    let more = known - told;
    assert!((more - 2.0 * exit_ns).abs() < 0.05 * exit_ns, "{more} ns more, of {exit_ns}");
}
