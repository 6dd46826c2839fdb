//! On random machines with random programs nothing is lost and nothing is doubled.

use crate::machines;
use crate::watch::Watch;
use crate::workloads::{RELEASES, release};
use machine::{CpuSet, Machine, ThreadGroupProperty, ThreadGroups};
use proptest::prelude::*;
use sim::Scenario;
use workload::{
    Capacity, LockId, Missed, Op, Queue, QueueId, QueueKind, Spawn, Spread, Work, Workload,
};

/// Long enough for everything that ends to have ended.
pub const END_NS: u64 = 800_000_000;

/// SMT cores; those of eight threads may consist of two small cores.
pub fn any_machine() -> impl Strategy<Value = Machine> {
    (1u32..5, prop::sample::select(vec![1u32, 2, 4, 8]), any::<bool>()).prop_map(
        |(cores, threads, small)| {
            let mut machine = machines::smt(cores, threads);
            if small && threads == 8 {
                machine.thread_groups = (0..cores).map(interleaved).collect();
            }
            // Pipelines wider than the catalog's need a share as well.
            let share = machine.constants.get("smt_share_4").expect("a share").clone();
            for k in 5..=8 {
                machine.constants.set(&format!("smt_share_{k}"), share.clone());
            }
            machine
        },
    )
}

/// The even and the odd threads of `core`.
pub fn interleaved(core: u32) -> ThreadGroups {
    let group = |odd: usize| (0..4).map(|i| core as usize * 8 + 2 * i + odd).collect();
    ThreadGroups { property: ThreadGroupProperty::L1, core, groups: vec![group(0), group(1)] }
}

/// One of the things that a program does, by number; CPUs by numbers that wrap around.
#[derive(Debug, Clone)]
pub enum Part {
    Compute(u32),
    Sleep(u32),
    Bind(Vec<usize>),
    Exec,
    ForkAndWait,
    /// Work under one of the shared mutexes.
    Locked(u32, bool),
    Yield,
    Nice(i8),
    Slice(u64),
    Timer(u32),
    /// A message into the shared bounded queue and one out of it.
    Exchange,
}

/// Programs with their affinities.
pub type Mixes = Vec<(Vec<Part>, Option<Vec<usize>>)>;

pub fn any_mixes() -> impl Strategy<Value = Mixes> {
    let affinity = prop::option::of(prop::collection::vec(0usize..64, 1..5));
    prop::collection::vec((prop::collection::vec(any_part(), 1..6), affinity), 1..10)
}

/// Kind, capacity and level at which writers wake, of the shared queue.
pub fn any_queue() -> impl Strategy<Value = (QueueKind, u32, u32)> {
    let kinds = vec![QueueKind::Pipe, QueueKind::Socket, QueueKind::Loopback, QueueKind::Futex];
    (prop::sample::select(kinds), 1u32..6, 1u32..6)
}

fn any_part() -> impl Strategy<Value = Part> {
    prop_oneof![
        4 => (1u32..8_000_000).prop_map(Part::Compute),
        3 => (1u32..3_000_000).prop_map(Part::Sleep),
        2 => prop::collection::vec(0usize..64, 1..4).prop_map(Part::Bind),
        1 => Just(Part::Exec),
        1 => Just(Part::ForkAndWait),
        2 => (1u32..2_000_000, any::<bool>()).prop_map(|(c, l)| Part::Locked(c, l)),
        1 => Just(Part::Yield),
        1 => (-10i8..3).prop_map(Part::Nice),
        1 => (100_000u64..100_000_000).prop_map(Part::Slice),
        1 => (10_000u32..3_000_000).prop_map(Part::Timer),
        2 => Just(Part::Exchange),
    ]
}

fn set(machine: &Machine, cpus: &[usize]) -> CpuSet {
    cpus.iter().map(|c| c % machine.cpus.len()).collect()
}

fn spawn(program: workload::ProgramId, affinity: Option<CpuSet>) -> Spawn {
    Spawn { affinity, within_ns: 5_000_000, ..Spawn::new(program) }
}

/// What all mixed programs share.
struct Shared {
    locks: [LockId; 2],
    queue: QueueId,
}

impl Shared {
    fn new(w: &mut Workload, kind: QueueKind, messages: u32, wake_writers_at: u32) -> Shared {
        // A task's own message is always in it or read by another, so nobody waits for ever.
        let capacity = Some(Capacity { messages, wake_writers_at: wake_writers_at.min(messages) });
        let queue = w.queue(Queue { kind, capacity, lines: 3, ordered: false, connection: None });
        Shared { locks: [w.lock(), w.lock()], queue }
    }
}

/// `parts` twice over.
fn mixed(
    w: &mut Workload,
    machine: &Machine,
    parts: &[Part],
    affinity: Option<CpuSet>,
    shared: &Shared,
) {
    let timer = w.timer();
    let work = |cycles: u32| Work { cycles: f64::from(cycles), spread: Spread::LogNormal(0.5) };
    let child = w.program("child", vec![Op::Compute(work(1_000_000)), Op::Exec]);
    let mut ops = Vec::new();
    for part in parts {
        match part {
            Part::Compute(cycles) => ops.push(Op::Compute(work(*cycles))),
            Part::Sleep(ns) => {
                ops.push(Op::Sleep { mean_ns: f64::from(*ns), spread: Spread::Exponential });
            }
            Part::Bind(cpus) => ops.push(Op::SetAffinity(set(machine, cpus))),
            Part::Exec => ops.push(Op::Exec),
            Part::Locked(cycles, other) => {
                let lock = shared.locks[usize::from(*other)];
                ops.extend([Op::Lock(lock), Op::Compute(work(*cycles)), Op::Unlock(lock)]);
            }
            Part::Yield => ops.push(Op::Yield),
            Part::Nice(nice) => ops.push(Op::SetNice(*nice)),
            Part::Slice(ns) => ops.push(Op::SetSlice(*ns)),
            Part::Timer(ns) => ops.push(Op::TimerWait {
                timer,
                period_ns: u64::from(*ns),
                spread: Spread::Fixed,
                missed: Missed::CatchUp,
            }),
            Part::Exchange => ops.extend([Op::Send(shared.queue), Op::Receive(shared.queue)]),
            Part::ForkAndWait => ops.extend([Op::Fork(child), Op::Fork(child), Op::WaitChildren]),
        }
    }
    ops.push(Op::Loop { to: 0, times: 2 });
    let program = w.program("mixed", ops);
    w.spawns.push(spawn(program, affinity));
}

/// Two tasks that pass a message to and fro.
fn ping_pong(w: &mut Workload, times: u32) {
    let (there, back) = (w.pipe(), w.pipe());
    let work = Op::Compute(Work::fixed(5_000.0));
    let ends = [
        vec![Op::Send(there), work, Op::Receive(back), Op::Loop { to: 0, times }],
        vec![Op::Receive(there), Op::Send(back), Op::Loop { to: 0, times }],
    ];
    for ops in ends {
        let program = w.program("pipe", ops);
        w.spawns.push(spawn(program, None));
    }
}

pub fn build(
    machine: &Machine,
    mixes: &[(Vec<Part>, Option<Vec<usize>>)],
    pairs: u32,
    endless: usize,
    (kind, messages, wake_writers_at): (QueueKind, u32, u32),
) -> Workload {
    let mut w = Workload::default();
    let shared = Shared::new(&mut w, kind, messages, wake_writers_at);
    for (parts, affinity) in mixes {
        mixed(&mut w, machine, parts, affinity.as_ref().map(|a| set(machine, a)), &shared);
    }
    (0..pairs).for_each(|i| ping_pong(&mut w, 50 + 100 * i));
    let nap = Op::Sleep { mean_ns: 200_000.0, spread: Spread::Exponential };
    let short = Op::Compute(Work { cycles: 200_000.0, spread: Spread::Exponential });
    let daemon = w.program("daemon", vec![short, nap, Op::Loop { to: 0, times: 0 }]);
    w.spawns.extend((0..endless).map(|_| spawn(daemon, None)));
    let stop = w.program("stop", vec![Op::Stop]);
    w.spawns.push(Spawn { first_wake_ns: END_NS, ..Spawn::new(stop) });
    w
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost(
        machine in any_machine(),
        mixes in any_mixes(),
        pairs in 0u32..4,
        endless in 0usize..5,
        queue in any_queue(),
        seed in any::<u64>(),
        version in prop::sample::select(RELEASES.to_vec()),
    ) {
        let workload = build(&machine, &mixes, pairs, endless, queue);
        let scenario = Scenario::new(&machine, &release(version), workload).expect("a scenario");
        let mut watch = Watch::new(machine.cpus.len());
        let result = scenario.run_traced(seed, &mut watch).expect("a run that ends");
        watch.finish(result.end_ns);
        prop_assert!(watch.wrong.is_empty(), "{:?}", &watch.wrong[..watch.wrong.len().min(5)]);
        for task in &watch.tasks {
            let ends = task.program != "daemon" && task.program != "stop";
            prop_assert_eq!(task.exited, ends, "{}", &task.program);
        }
        prop_assert_eq!(watch.sent, watch.received);
        prop_assert!(watch.fullest.get(&QueueId(0)).is_none_or(|&n| n <= queue.1 as usize));
        let c = &result.counters;
        let ran_ns: u64 = c.run_ns_by_busy.iter().sum();
        prop_assert_eq!(ran_ns, watch.tasks.iter().map(|t| t.ran_ns).sum::<u64>());
        let total_ns = machine.online.len() as u64 * result.end_ns;
        prop_assert_eq!(ran_ns + c.idle_ns + c.waking_ns, total_ns);
        // Watching changes nothing.
        prop_assert_eq!(scenario.run(seed).expect("the same run"), result);
    }
}
