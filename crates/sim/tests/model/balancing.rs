//! Where the balancer of each release leaves CPU-bound tasks.

use crate::machines;
use crate::workloads::{RELEASES, release};
use kernel::{Kernel, MechanismId};
use machine::{CpuSet, Machine};
use sim::topology::Cpu;
use sim::world::TaskId;
use sim::{Counters, Scenario, Trace};
use workload::{Op, Spawn, Work, Workload};

const MS: u64 = 1_000_000;

/// Time that each task spends on each CPU from a point in time on.
struct Where {
    from_ns: u64,
    ran_ns: Vec<Vec<u64>>,
    running: Vec<Option<(TaskId, u64)>>,
}

impl Where {
    fn close(&mut self, at_ns: u64, cpu: usize) {
        if let Some((task, since_ns)) = self.running[cpu].take() {
            let ran_ns = at_ns.saturating_sub(since_ns.max(self.from_ns));
            self.ran_ns[task.index()][cpu] += ran_ns;
        }
    }

    /// Share of the watched time that the tasks of `cpus` keep them busy, in percent.
    fn busy(&self, cpus: std::ops::Range<usize>, watched_ns: u64) -> u64 {
        let ran_ns: u64 =
            self.ran_ns.iter().map(|by_cpu| by_cpu[cpus.clone()].iter().sum::<u64>()).sum();
        ran_ns * 100 / watched_ns
    }
}

impl Trace for Where {
    fn created(&mut self, _: u64, _: TaskId, _: &str, _: &CpuSet) {
        self.ran_ns.push(vec![0; self.running.len()]);
    }

    fn switch(&mut self, at_ns: u64, cpu: Cpu, _: Option<TaskId>, next: Option<TaskId>) {
        self.close(at_ns, cpu as usize);
        self.running[cpu as usize] = next.map(|task| (task, at_ns));
    }
}

/// Tasks that run for ever: all start bound to the first set and go over to the second after 50 ms.
fn spinners(affinities: &[(CpuSet, CpuSet)]) -> Workload {
    let mut w = Workload::default();
    for (first, then) in affinities {
        let ms = Op::Compute(Work::fixed(4e6));
        let ops = vec![
            ms.clone(),
            Op::Loop { to: 0, times: 50 },
            Op::SetAffinity(then.clone()),
            ms,
            Op::Loop { to: 3, times: 0 },
        ];
        let program = w.program("spin", ops);
        w.spawns.push(Spawn { affinity: Some(first.clone()), ..Spawn::new(program) });
    }
    w
}

/// What runs where in the second of two seconds.
fn settle(machine: &Machine, kernel: &Kernel, mut w: Workload) -> (Where, Counters) {
    let stop = w.program("stop", vec![Op::Stop]);
    w.spawns.push(Spawn { first_wake_ns: 2_000 * MS, ..Spawn::new(stop) });
    let scenario = Scenario::new(machine, kernel, w).expect("a scenario");
    let cpus = machine.cpus.len();
    let mut seen = Where { from_ns: 1_000 * MS, ran_ns: Vec::new(), running: vec![None; cpus] };
    let result = scenario.run_traced(7, &mut seen).expect("a run");
    (0..cpus).for_each(|cpu| seen.close(result.end_ns, cpu));
    (seen, result.counters)
}

fn cpus(range: std::ops::Range<usize>) -> CpuSet {
    range.collect()
}

/// `count` tasks that start on the CPUs of `range`, one each in turn, and are free then.
fn started_on(machine: &Machine, range: std::ops::Range<usize>, count: usize) -> Workload {
    let set = |i: usize| CpuSet::single(range.start + i % range.len());
    spinners(&(0..count).map(|i| (set(i), machine.online.clone())).collect::<Vec<_>>())
}

/// Percent of a CPU by which a settled machine may be off: the odd balancing attempt.
const SLACK: u64 = 3;

#[test]
fn as_many_tasks_as_cores_settle_one_a_core() {
    let machine = machines::smt(4, 4);
    for version in RELEASES {
        let (seen, _) = settle(&machine, &release(version), started_on(&machine, 0..4, 4));
        for core in 0..4 {
            let busy = seen.busy(4 * core..4 * core + 4, 1_000 * MS);
            assert!(busy.abs_diff(100) <= SLACK, "{version}: core {core} is {busy} % busy");
        }
    }
}

/// How busy three tasks keep the core of four threads that they start on, beside an idle core of which only so many
/// threads are online; in percent of a CPU.
fn three_beside(threads: usize, kernel: &Kernel) -> u64 {
    let mut machine = machines::smt(2, 4);
    machine.online = cpus(0..4 + threads);
    settle(&machine, kernel, started_on(&machine, 0..3, 3)).0.busy(0..4, 1_000 * MS)
}

/// One CPU more is idle here than there, which is balance where no sibling is preferred.
#[test]
fn a_preferred_sibling_takes_a_task_though_idle_cpus_are_even() {
    for version in RELEASES {
        let kernel = release(version);
        let busy = three_beside(2, &kernel);
        assert!(busy.abs_diff(200) <= SLACK, "{version}: the first core is {busy} % busy");
        let off = kernel.with(MechanismId::PreferSibling, false);
        assert_eq!(three_beside(2, &off), 300, "{version}");
    }
}

/// A core's only thread has no SMT domain to say what it prefers.
#[test]
fn the_busiest_group_says_whether_siblings_are_preferred_from_6_5_on() {
    assert_eq!(three_beside(1, &release("6.4")), 300);
    let busy = three_beside(1, &release("6.5"));
    assert!(busy.abs_diff(200) <= SLACK, "{busy} %");
}

/// CPU 4 balances for its core, and the task may go to CPU 5 only.
#[test]
fn a_task_that_may_not_come_here_goes_to_another_cpu_of_the_group() {
    let machine = machines::smt(2, 4);
    let bound = CpuSet::single(3);
    let either: CpuSet = [3, 5].into_iter().collect();
    for version in RELEASES {
        let w = spinners(&[
            (bound.clone(), bound.clone()),
            (bound.clone(), bound.clone()),
            (bound.clone(), either.clone()),
        ]);
        let (seen, _) = settle(&machine, &release(version), w);
        let busy = seen.busy(5..6, 1_000 * MS);
        assert!(busy >= 97, "{version}: CPU 5 is {busy} % busy");
    }
}

#[test]
fn asymmetric_packing_moves_a_task_to_the_lowest_thread() {
    let machine = machines::smt(1, 4);
    for version in RELEASES {
        let on = |cpus, packs| {
            let kernel = release(version).with(MechanismId::AsymPacking, packs);
            let (seen, counters) = settle(&machine, &kernel, started_on(&machine, 3..4, 1));
            (seen.busy(cpus, 1_000 * MS), counters.alb_pushed)
        };
        assert_eq!(on(3..4, false), (100, 0), "{version}");
        let (busy, pushed) = on(0..1, true);
        assert!(busy >= 97 && pushed > 0, "{version}: CPU 0 is {busy} % busy, {pushed} pushes");
    }
}

#[test]
fn a_running_task_moves_by_a_push_only() {
    let machine = machines::smt(2, 2);
    for version in RELEASES {
        let spread = |pushes| {
            let kernel = release(version).with(MechanismId::ActiveBalance, pushes);
            let (seen, counters) = settle(&machine, &kernel, started_on(&machine, 0..2, 2));
            // Each task has a thread to itself all the time, pushed or not.
            assert!(counters.run_delay_ns < MS, "{version}: {} ns", counters.run_delay_ns);
            (seen.busy(0..2, 1_000 * MS), counters.alb_pushed, counters.alb_count)
        };
        let (busy, pushed, count) = spread(true);
        assert!(busy.abs_diff(100) <= SLACK, "{version}: the first core is {busy} % busy");
        assert!(pushed > 0 && count >= pushed, "{version}: {pushed} of {count}");
        assert_eq!(spread(false), (200, 0, 0), "{version}");
    }
}

/// Two nodes, each of one core of four threads.
fn two_nodes() -> Machine {
    let mut machine = machines::smt(2, 4);
    let mut node = machine.nodes[0].clone();
    for cpu in &mut machine.cpus[4..] {
        cpu.node = 1;
    }
    machine.nodes[0].cpus = cpus(0..4);
    machine.nodes[0].distances = vec![10, 20];
    node.id = 1;
    node.cpus = cpus(4..8);
    node.distances = vec![20, 10];
    machine.nodes.push(node);
    let between = machine.constants.get("handover_node_ns").expect("a cost").clone();
    machine.constants.set("handover_package_ns", between);
    machine
}

#[test]
fn a_pair_stays_on_its_node_from_5_6_on() {
    let machine = two_nodes();
    let on_first = |kernel: &Kernel| {
        let w = started_on(&machine, 0..2, 2);
        settle(&machine, kernel, w).0.busy(0..4, 1_000 * MS)
    };
    for version in ["4.18", "5.5"] {
        let busy = on_first(&release(version));
        assert!(busy.abs_diff(100) <= SLACK, "{version}: {busy} %");
    }
    for version in ["5.6", "5.18", "6.1", "6.12"] {
        let kernel = release(version);
        assert_eq!(on_first(&kernel), 200, "{version}");
        let busy = on_first(&kernel.with(MechanismId::NumaImbalance, false));
        assert!(busy.abs_diff(100) <= SLACK, "{version} without: {busy} %");
    }
}

#[test]
fn switches_of_the_balancer_end_what_they_are_about() {
    let machine = machines::smt(2, 4);
    let run = |id, on| {
        let kernel = release("6.1").with(id, on);
        settle(&machine, &kernel, started_on(&machine, 0..2, 6)).1
    };
    assert!(run(MechanismId::NewidleBalance, true).lb_newly_idle.count > 0);
    assert_eq!(run(MechanismId::NewidleBalance, false).lb_newly_idle.count, 0);
    let kicked = run(MechanismId::NohzBalance, true).lb_idle.count;
    let alone = run(MechanismId::NohzBalance, false).lb_idle.count;
    assert!(alone < kicked, "{alone} attempts by idle CPUs without kicks, {kicked} with");
}

/// Two SMT threads and a core of its own, two tasks on the threads; percent of a CPU that the core of two is busy.
fn two_beside_a_single(kernel: &Kernel) -> u64 {
    let mut machine = machines::smt(2, 2);
    machine.online = cpus(0..3);
    let kernel = kernel.clone().with(MechanismId::PreferSibling, false);
    settle(&machine, &kernel, started_on(&machine, 0..2, 2)).0.busy(0..2, 1_000 * MS)
}

/// `group_smt_balance` (6.6): a core that runs several tasks gives one to an idle core without siblings; before, as
/// many idle CPUs on both sides, but for one, are balance where siblings are not preferred.
#[test]
fn an_smt_core_gives_a_task_to_a_single_cpu_from_6_6_on() {
    for version in ["5.5", "6.1", "6.5"] {
        assert_eq!(two_beside_a_single(&release(version)), 200, "{version}");
    }
    for version in ["6.6", "6.12"] {
        let busy = two_beside_a_single(&release(version));
        assert!(busy.abs_diff(100) <= SLACK, "{version}: {busy} %");
    }
}

/// The example at `sg_imbalanced()`: four tasks that may use one CPU of the first group and three of the second. Evening
/// out groups would crowd the one CPU; that affinities kept its group from balance makes tasks move (`sgc->imbalance`).
#[test]
fn tasks_of_overlapping_affinities_get_a_cpu_each() {
    let machine = machines::smt(2, 4);
    let shared = cpus(3..7);
    for version in RELEASES {
        let w = spinners(&vec![(CpuSet::single(3), shared.clone()); 4]);
        let (seen, _) = settle(&machine, &release(version), w);
        for cpu in 3..7 {
            let busy = seen.busy(cpu..cpu + 1, 1_000 * MS);
            assert!(busy >= 90, "{version}: CPU {cpu} is {busy} % busy");
        }
    }
}

/// Four CPUs without siblings, of which the first two have half the capacity of the others.
fn big_and_small() -> Machine {
    let mut machine = machines::smt(4, 1);
    machine.arch = machine::Arch::Arm64;
    for (cpu, capacity) in machine.cpus.iter_mut().zip([512, 512, 1024, 1024]) {
        cpu.capacity = Some(capacity);
    }
    machine
}

/// `group_misfit_task` (5.5): endless tasks that start on the small CPUs end up on the big ones.
#[test]
fn big_tasks_leave_small_cpus() {
    let machine = big_and_small();
    for version in ["5.5", "5.18", "6.1", "6.12"] {
        for count in [1, 2] {
            let w = started_on(&machine, 0..2, count);
            let (seen, counters) = settle(&machine, &release(version), w);
            let busy = seen.busy(2..4, 1_000 * MS);
            assert_eq!(busy, 100 * count as u64, "{version}: {count} tasks");
            assert_eq!(counters.alb_pushed, count as u64, "{version}: {count} tasks");
        }
    }
}
