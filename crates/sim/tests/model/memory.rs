//! Memory time with pencil and paper: warm and cold working sets, siblings, a migration, eviction, a saturated node.

use crate::machines;
use crate::workloads::{kernel, scenario, unbalanced};
use machine::{CpuSet, Machine};
use sim::{RunResult, Scenario, SimError};
use workload::{
    Better, CounterId, MarkId, MemoryUse, Metric, Op, Placement, Program, Reading, Spawn, Work,
    Workload,
};

/// Ticks and entries to the kernel take less than this.
const SMALL: f64 = 3e-3;
const KIB: f64 = 1024.0;
/// Core cycles of a timed step: 20 ms and more.
pub const CYCLES: f64 = 8e7;

pub fn constant(machine: &Machine, name: &str) -> f64 {
    machine.constants.value(name).expect("a constant of the machine")
}

pub fn ghz(machine: &Machine) -> f64 {
    constant(machine, "nominal_khz") / 1e6
}

fn power9() -> Machine {
    machines::power9()
}

pub fn uses(working_set_bytes: f64) -> MemoryUse {
    let (touches_per_kcycle, overlap) = (20.0, 2.0);
    MemoryUse {
        working_set_bytes,
        touches_per_kcycle,
        overlap,
        stream_bytes_per_kcycle: 0.0,
        stream_set_bytes: KIB * KIB,
        placement: Placement::Default,
    }
}

pub fn streams(bytes_per_kcycle: f64) -> MemoryUse {
    let stream_bytes_per_kcycle = bytes_per_kcycle;
    MemoryUse { touches_per_kcycle: 0.0, stream_bytes_per_kcycle, ..uses(KIB) }
}

/// A workload whose metric is the time from its first to its second mark.
pub struct Timed {
    pub w: Workload,
    pub from: MarkId,
    pub to: MarkId,
}

impl Timed {
    pub fn new() -> Timed {
        let mut w = Workload::default();
        let (from, to) = (w.mark(), w.mark());
        w.metrics.push(Metric {
            name: "seconds".to_string(),
            unit: "s".to_string(),
            better: Better::Lower,
            reading: Reading::Seconds { from, to, scale: 1.0 },
        });
        Timed { w, from, to }
    }

    pub fn spawn(&mut self, cpu: usize, first_wake_ns: u64, ops: Vec<Op>) {
        let program = self.w.program("task", ops);
        let affinity = Some(CpuSet::single(cpu));
        self.w.spawns.push(Spawn { affinity, first_wake_ns, ..Spawn::new(program) });
    }

    /// A task on CPU 0 uses memory like this: `first` is its warm-up, `cycles` are timed, and the run ends.
    pub fn spawn_timed(&mut self, used: MemoryUse, first: &[Op], cycles: f64) {
        let mut ops = vec![Op::Memory(used)];
        ops.extend_from_slice(first);
        ops.extend([Op::Mark(self.from), compute(cycles), Op::Mark(self.to), Op::Stop]);
        self.spawn(0, 0, ops);
    }

    fn run(self, machine: &Machine) -> RunResult {
        scenario(machine, self.w).run(1).expect("a run")
    }

    pub fn seconds(self, machine: &Machine) -> f64 {
        self.run(machine).metrics[0]
    }
}

pub fn compute(cycles: f64) -> Op {
    Op::Compute(Work::fixed(cycles))
}

fn forever(used: MemoryUse) -> Vec<Op> {
    vec![Op::Memory(used), compute(1e6), Op::Loop { to: 1, times: 0 }]
}

/// Seconds of [`CYCLES`] with `used` after a warm-up long enough for any working set.
fn warm_seconds(machine: &Machine, used: MemoryUse) -> f64 {
    let mut t = Timed::new();
    t.spawn_timed(used, &[compute(10.0 * CYCLES)], CYCLES);
    t.seconds(machine)
}

/// Seconds of [`CYCLES`] whose every touch takes `ns_a_touch`, with the ticks on the way.
fn expected(machine: &Machine, used: MemoryUse, ns_a_touch: f64) -> f64 {
    let memory_ns = used.touches_per_kcycle / 1000.0 * CYCLES * ns_a_touch / used.overlap;
    let seconds = (CYCLES / ghz(machine) + memory_ns) / 1e9;
    // 100 ticks a second.
    seconds * (1.0 + constant(machine, "tick_ns") * 100.0 / 1e9)
}

pub fn assert_near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < SMALL, "found {found}, expected {expected}");
}

/// 32 KiB, 512 KiB and 10 MiB are the levels of POWER9; of a set twice as large as a level, half the touches miss.
#[test]
fn one_thread_alone_pays_the_latency_of_the_level_that_holds_its_set() {
    let machine = power9();
    let l2_ns = constant(&machine, "l2_latency_cycles") / ghz(&machine);
    let (l3_ns, memory_ns) =
        (constant(&machine, "l3_latency_ns"), constant(&machine, "memory_latency_ns"));
    for (set_kib, ns_a_touch) in [
        (16.0, 0.0),
        (64.0, l2_ns / 2.0),
        (512.0, l2_ns * 15.0 / 16.0),
        (1024.0, l2_ns * (0.5 - 1.0 / 32.0) + l3_ns / 2.0),
        (20480.0, {
            let (l1, l2, l3) = (32.0 / 20480.0, 512.0 / 20480.0, 0.5);
            (l2 - l1) * l2_ns + (l3 - l2) * l3_ns + (1.0 - l3) * memory_ns
        }),
    ] {
        let used = uses(set_kib * KIB);
        assert_near(warm_seconds(&machine, used), expected(&machine, used, ns_a_touch));
    }
}

/// A cold set of M lines misses M (1 - exp(-touches / M)) times.
#[test]
fn a_cold_set_is_fetched_once() {
    let machine = power9();
    let used = MemoryUse { overlap: 1.0, ..uses(256.0 * KIB) };
    let (lines, touches) = (2048.0, 4000.0);
    let mut t = Timed::new();
    let cycles = touches / used.touches_per_kcycle * 1000.0;
    let ops = vec![Op::Memory(used), Op::Mark(t.from), compute(cycles), Op::Mark(t.to), Op::Stop];
    t.spawn(0, 1, ops);
    let l2_ns = constant(&machine, "l2_latency_cycles") / ghz(&machine);
    let cold = lines * (1.0 - libm::exp(-touches / lines));
    // The L1 holds an eighth; it fills within the first 274 touches.
    let full_at = -lines * libm::log(1.0 - 1.0 / 8.0);
    let l1_misses = 256.0 + (touches - full_at) * 7.0 / 8.0;
    let ns = cycles / ghz(&machine)
        + cold * constant(&machine, "memory_latency_ns")
        + (l1_misses - cold) * l2_ns;
    assert_near(t.seconds(&machine), ns / 1e9);
}

/// Threads of a small core share its cycles, not the time of their misses.
#[test]
fn siblings_share_cycles_and_not_latency() {
    let machine = power9();
    let used = MemoryUse { working_set_bytes: 1e12, ..uses(1.0) };
    let mut t = Timed::new();
    t.spawn_timed(used, &[compute(CYCLES)], CYCLES);
    t.spawn(2, 0, forever(used));
    let memory_ns = used.touches_per_kcycle / 1000.0 * CYCLES / used.overlap
        * constant(&machine, "memory_latency_ns");
    let core_ns = CYCLES / ghz(&machine) / constant(&machine, "smt_share_2");
    let ticks = 1.0 + constant(&machine, "tick_ns") * 100.0 / 1e9;
    assert_near(t.seconds(&machine), (core_ns + memory_ns) * ticks / 1e9);
}

/// Seconds of a step on `second` after a working set of 256 KiB became warm on CPU 0.
fn after_move(machine: &Machine, second: usize) -> f64 {
    let used = MemoryUse { overlap: 1.0, ..uses(256.0 * KIB) };
    let mut t = Timed::new();
    t.spawn_timed(used, &[compute(CYCLES), Op::SetAffinity(CpuSet::single(second))], 5e5);
    t.seconds(machine)
}

/// Another big core has none of the caches: what is touched is handed over from the one that was left.
#[test]
fn a_migration_costs_the_refill() {
    let machine = power9();
    let l2_ns = constant(&machine, "l2_latency_cycles") / ghz(&machine);
    let (lines, touches) = (2048.0_f64, 10_000.0);
    let cold = lines * (1.0 - libm::exp(-touches / lines));
    let full_at = -lines * libm::log(1.0 - 1.0 / 8.0);
    let refill_l1 = 256.0 - full_at * 7.0 / 8.0;
    let away_ns = cold * (constant(&machine, "handover_node_ns") - l2_ns);
    let (stay, small_core, big_core) =
        (after_move(&machine, 0), after_move(&machine, 1), after_move(&machine, 8));
    let near = |found_s: f64, expected_ns: f64| {
        let off_ns = (found_s * 1e9 - expected_ns).abs();
        assert!(off_ns < 0.01 * expected_ns.abs() + 20.0, "{found_s} s, {expected_ns} ns");
    };
    // The other small core shares L2 and L3, so that it has only its L1 to refill.
    near(small_core - stay, refill_l1 * l2_ns);
    near(big_core - small_core, away_ns);
}

/// Sleep alone evicts nothing; another task that streams through the same caches does.
#[test]
fn others_evict_and_sleep_does_not() {
    let machine = power9();
    let used = MemoryUse { overlap: 1.0, ..uses(256.0 * KIB) };
    let sleeper = |nap_ns: f64, other: Option<Vec<Op>>| {
        let mut t = Timed::new();
        let ops = vec![
            Op::Memory(used),
            compute(CYCLES),
            Op::Sleep { mean_ns: nap_ns, spread: workload::Spread::Fixed },
            Op::Mark(t.from),
            compute(5e5),
            Op::Mark(t.to),
            Op::Stop,
        ];
        t.spawn(0, 0, ops);
        if let Some(ops) = other {
            // On the other small core: it shares the L2 and the L3, not the L1.
            t.spawn(1, 0, ops);
        }
        t.seconds(&machine)
    };
    let (short, long) = (sleeper(1e6, None), sleeper(1e9, None));
    assert!((long - short).abs() < 3e-6, "{short} s, {long} s after a longer sleep");
    let stream_bytes = 2.0 * constant(&machine, "nominal_khz") * 1e3;
    let evicted = sleeper(1e9, Some(forever(streams(2_000.0))));
    assert!(stream_bytes > 100.0 * 10240.0 * KIB);
    let lines = 2048.0 * (1.0 - libm::exp(-10_000.0 / 2048.0));
    let l2_ns = constant(&machine, "l2_latency_cycles") / ghz(&machine);
    let refill_s = lines * (constant(&machine, "memory_latency_ns") - l2_ns) / 1e9;
    assert!(
        ((evicted - long) / refill_s - 1.0).abs() < 0.05,
        "{} s, expected {refill_s} s",
        evicted - long
    );
}

/// Units counted a second by `threads` streams.
fn streaming(machine: &Machine, cpus: &[usize], bytes_per_kcycle: f64) -> f64 {
    let mut t = Timed::new();
    let (flag, counter) = (t.w.flag(), t.w.counter());
    let second = 1_000_000_000;
    let work = vec![
        Op::Memory(streams(bytes_per_kcycle)),
        Op::SpinUntilSet(flag),
        Op::WorkWhileSet { flag, unit_cycles: 1e4, counter },
    ];
    cpus.iter().for_each(|&cpu| t.spawn(cpu, 0, work.clone()));
    let watch = vec![
        Op::SetFlag(flag, true),
        Op::Mark(t.from),
        Op::Sleep { mean_ns: second as f64, spread: workload::Spread::Fixed },
        Op::SetFlag(flag, false),
        Op::Sleep { mean_ns: 1e8, spread: workload::Spread::Fixed },
        Op::Mark(t.to),
        Op::Stop,
    ];
    t.spawn(machine.cpus.len() - 1, 10_000_000, watch);
    t.w.metrics[0].reading =
        Reading::UnitsPerSecond { counter: CounterId(0), from: t.from, to: t.to };
    t.seconds(machine) * 1.1
}

/// Streams that want more than the node has get what it has; fewer of them are not held back.
#[test]
fn a_saturated_node_gives_its_bandwidth() {
    let machine = machine::catalog::load("kunpeng920-2node").expect("the catalog holds it");
    let of_node = constant(&machine, "memory_package_gb_per_s") / 2.0;
    let wants = 8_000.0;
    let unit_bytes = 8_000.0 * 10.0;
    let gb_per_s = |cpus: &[usize]| streaming(&machine, cpus, wants) * unit_bytes / 1e9;
    assert_near(gb_per_s(&[0, 4]), 2.0 * 8.0 * ghz(&machine));
    assert_near(gb_per_s(&[0, 1, 4, 5, 8, 9]), of_node);
    // The other node has its own channels.
    assert_near(gb_per_s(&[0, 1, 4, 5, 8, 9, 24, 25]), of_node + 2.0 * 8.0 * ghz(&machine));
}

/// Memory stays where it was first touched.
#[test]
fn memory_of_another_node_is_farther() {
    let machine = machine::catalog::load("kunpeng920-4node").expect("the catalog holds it");
    let used = MemoryUse { working_set_bytes: 1e11, overlap: 1.0, ..uses(1.0) };
    let seconds = |cpu| {
        let mut t = Timed::new();
        // The first work touches every page.
        let ops = vec![
            Op::Memory(used),
            compute(CYCLES),
            Op::SetAffinity(CpuSet::single(cpu)),
            compute(CYCLES),
            Op::Mark(t.from),
            compute(CYCLES),
            Op::Mark(t.to),
            Op::Stop,
        ];
        t.spawn(0, 0, ops);
        unbalanced(&machine, t.w).run(1).expect("a run").metrics[0]
    };
    let touches = used.touches_per_kcycle / 1000.0 * CYCLES;
    let local = seconds(1);
    for (cpu, name) in [(24, "memory_latency_package_ns"), (48, "memory_latency_remote_ns")] {
        let extra_ns = constant(&machine, name) - constant(&machine, "memory_latency_ns");
        assert_near(seconds(cpu), local + touches * extra_ns / 1e9);
    }
}

#[test]
fn impossible_steps_are_one_line() {
    let machine = power9();
    let refused = |machine: &Machine, op: Op| {
        let mut w = Workload { lines: 1, ..Workload::default() };
        w.programs.push(Program { name: "p".to_string(), ops: vec![op] });
        let error = Scenario::new(machine, &kernel(true), w).expect_err("no scenario");
        assert!(!matches!(error, SimError::Stuck { .. }));
        error.to_string()
    };
    let bad = MemoryUse { overlap: 0.5, ..uses(1e6) };
    assert_eq!(
        refused(&machine, Op::Memory(bad)),
        "program `p`: memory: overlap: found 0.5, expected 1 or more"
    );
    let line = workload::LineId(0);
    let contend = Op::Contend { line, rounds: 1.0, cycles: 0.0, write: true };
    assert!(refused(&machine, contend).contains("cycles: found 0, expected more than 0"));
    let contend = Op::Contend { line, rounds: 1.0, cycles: 5.0, write: true };
    assert!(refused(&machine, contend).contains("`contend_transfers_per_round` is missing"));
    let bare = machines::smt(1, 4);
    assert!(refused(&bare, Op::Memory(uses(1e6))).contains("caches of CPU 0: found none"));
}
