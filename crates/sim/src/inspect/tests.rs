//! Each invariant broken on two CPUs of one LLC, and the same kept.

use super::*;
use crate::scenario::Scenario;
use kernel::Kernel;
use std::cell::RefCell;
use workload::Workload;

const MS: u64 = 1_000_000;
const TICK_NS: u64 = 4 * MS;
const WEIGHT: u64 = 1024 << 10;

/// When in ms an invariant did not hold, and which.
type Found = Option<(u64, &'static str)>;

/// Two queues that a test fills, and what it says of tasks: by pid, whether they can run.
struct Rig {
    scenario: Scenario,
    inspector: Inspector,
    queues: RefCell<Vec<(Sums, Vec<Queued>)>>,
    runnable: Vec<(i64, bool)>,
    /// Those above the fair class.
    higher: Vec<i64>,
}

fn task(pid: i64) -> Queued {
    let mask = [u64::MAX; 4];
    Queued {
        pid,
        depth: 1,
        weight: WEIGHT,
        slice_ns: 3 * MS,
        load_avg: 1024,
        mask,
        ..Queued::default()
    }
}

fn running(pid: i64) -> Queued {
    Queued { running: 1, ..task(pid) }
}

impl Rig {
    fn new() -> Rig {
        let machine = machine::catalog::load("epyc-7742-1s-nps4").unwrap();
        let machine = machine.with_online(CpuSet::first_n(2)).unwrap();
        let kernel = Kernel::new("6.12".parse().unwrap());
        let scenario = Scenario::new(&machine, &kernel, Workload::default()).unwrap();
        let cpus = scenario.topology().nr_cpus;
        let empty = (Sums { active: 1, avg_idle_ns: MS, ..Sums::default() }, vec![]);
        let queues = RefCell::new(vec![empty; cpus]);
        let inspector = Inspector::new(cpus, TICK_NS);
        Rig { scenario, inspector, queues, runnable: vec![], higher: vec![] }
    }

    /// The queue of `cpu`, with sums that are right.
    fn queue(&self, cpu: usize, tasks: &[Queued]) {
        let (sums, queued) = &mut self.queues.borrow_mut()[cpu];
        *queued = tasks.to_vec();
        let (count, weight): (u64, u64) =
            (tasks.len() as u64, tasks.iter().map(|t| t.weight).sum());
        queued.iter_mut().for_each(|t| t.parts = 1024 * weight / t.weight);
        (sums.nr_running, sums.nr_queued, sums.listed) = (count, count, count);
        (sums.counted_running, sums.counted_queued, sums.counted_listed) = (count, count, count);
        (sums.weight, sums.counted_weight) = (weight, weight);
        sums.averages.load = 1024 * count;
    }

    fn switch(&mut self, now_ns: u64, cpu: u32, previous: i64, next: i64) {
        let higher = |pid| self.higher.contains(&pid);
        self.inspector.heard(now_ns, &Event::Switch { cpu, previous, next }, &higher);
    }

    /// The end of a turn of CPU 0.
    fn turn(&mut self, now_ns: u64) -> Option<Broken> {
        let queues = self.queues.borrow();
        let current = queues[0].1.first().filter(|q| q.running == 1).map_or(0, |q| q.pid);
        drop(queues);
        self.turn_with(now_ns, current)
    }

    /// The same where `current` runs, which may have another class.
    fn turn_with(&mut self, now_ns: u64, current: i64) -> Option<Broken> {
        let queues = &self.queues;
        let sums = |cpu: Cpu, to: &mut Vec<Queued>| {
            let (sums, queued) = &queues.borrow()[usize::from(cpu)];
            to.clone_from(queued);
            *sums
        };
        let runnable = self.runnable.clone();
        let subject = |pid: i64| {
            let (_, runnable) = *runnable.iter().find(|t| t.0 == pid)?;
            let higher = self.higher.contains(&pid);
            Some(Subject { name: "t", runnable, sleeping: !runnable, higher })
        };
        let topo = self.scenario.topology();
        let sight = Sight { now_ns, topo, switching: false, subject: &subject, sums: &sums };
        let waits = if current == 0 { Waits::Idle } else { Waits::User };
        let ended = Ended { waits, current, scans: 0, balances: 0 };
        let mut pids = runnable.iter().map(|t| t.0);
        self.inspector.turn_ended(&sight, 0, &ended, &mut pids)
    }

    /// Turns a millisecond apart, up to the first that finds something: when and what.
    fn turns(&mut self, from_ms: u64, to_ms: u64, each: impl Fn(&Rig, u64)) -> Found {
        (from_ms..to_ms).find_map(|ms| {
            each(self, ms);
            self.turn(ms * MS).map(|broken| (ms, broken.invariant))
        })
    }
}

#[test]
fn a_queue_that_says_what_it_has_is_right() {
    let mut rig = Rig::new();
    rig.queue(0, &[running(5), task(6)]);
    assert_eq!(rig.turn(MS), None);
    type Change = fn(&mut Sums);
    let wrong: [(&str, Change); 5] = [
        ("counts", |s| s.nr_running = 1),
        ("counts", |s| s.listed = 3),
        ("sums", |s| s.weight += 1),
        ("sums", |s| s.weighted_vruntime = 1),
        ("sums", |s| s.weight_waiting = 1),
    ];
    for (invariant, change) in wrong {
        rig.queue(0, &[running(5), task(6)]);
        let right = rig.queues.borrow()[0].0;
        change(&mut rig.queues.borrow_mut()[0].0);
        assert_eq!(rig.turn(2 * MS).map(|b| b.invariant), Some(invariant));
        rig.queues.borrow_mut()[0].0 = right;
    }
}

#[test]
fn a_deadline_server_counts_or_not() {
    let mut rig = Rig::new();
    rig.queue(0, &[running(5)]);
    rig.queues.borrow_mut()[0].0.servers = 1;
    assert_eq!(rig.turn(MS), None);
    rig.queues.borrow_mut()[0].0.nr_running += 1;
    assert_eq!(rig.turn(2 * MS), None);
    rig.queues.borrow_mut()[0].0.nr_running += 1;
    assert_eq!(rig.turn(3 * MS).map(|b| b.invariant), Some("counts"));
}

#[test]
fn averages_are_those_of_tasks_once_a_queue_has_settled() {
    let mut rig = Rig::new();
    let attached = |pid| Queued { attached: 1, ..running(pid) };
    rig.queue(0, &[attached(5)]);
    rig.queues.borrow_mut()[0].0.averages.load = 500;
    let found = rig.turns(1, 400, |_, _| ());
    let (at_ms, invariant) = found.unwrap();
    assert_eq!((invariant, at_ms > 150 && at_ms < 200), ("load", true), "{at_ms}");
}

#[test]
fn a_task_that_waits_for_longer_than_its_bound_starves() {
    let mut rig = Rig::new();
    rig.runnable = vec![(5, true), (6, true)];
    let exec = |rig: &Rig, ms: u64| {
        // Both get the same: what waits has been here before.
        rig.queue(0, &[Queued { sum_exec_ns: ms, ..running(5) }, task(6)]);
    };
    // 50 ms and twice 7 ms for 2 x 2 and 2.
    let (at_ms, invariant) = rig.turns(1, 400, exec).unwrap();
    assert_eq!((invariant, at_ms > 130 && at_ms < 140), ("starvation", true), "{at_ms}");
    // One that runs in between does not, and one that yielded has itself to thank.
    let mut rig = Rig::new();
    for ms in 1..400 {
        exec(&rig, ms);
        if ms % 100 == 0 {
            rig.switch(ms * MS, 0, 5, 6);
        }
        assert_eq!(rig.turn(ms * MS), None);
    }
    let mut rig = Rig::new();
    rig.inspector.yields(6);
    assert_eq!(rig.turns(1, 400, exec), None);
}

#[test]
fn tasks_are_not_lost() {
    let mut rig = Rig::new();
    rig.runnable = vec![(5, true), (6, true)];
    rig.queue(0, &[running(5)]);
    let (at_ms, invariant) = rig.turns(1, 100, |_, _| ()).unwrap();
    assert_eq!((invariant, at_ms > 20 && at_ms < 30), ("lost task", true), "{at_ms}");
    let mut rig = Rig::new();
    rig.runnable = vec![(5, true), (6, false)];
    rig.queue(0, &[running(5)]);
    rig.inspector.expects_timer(6, 50 * MS);
    let (at_ms, invariant) = rig.turns(1, 100, |_, _| ()).unwrap();
    assert_eq!((invariant, at_ms > 70 && at_ms < 80), ("lost timer", true), "{at_ms}");
}

#[test]
fn shares_follow_weights() {
    let shared = |heavy: u64, got: [u64; 2]| {
        let mut rig = Rig::new();
        (1..400).find_map(|ms: u64| {
            let got = got.map(|part| ms * MS * part / 10);
            let first = Queued { sum_exec_ns: got[0], weight: heavy * WEIGHT, ..running(5) };
            rig.queue(0, &[first, Queued { sum_exec_ns: got[1], ..task(6) }]);
            // Both run now and then.
            rig.switch(ms * MS, 0, 5, 6);
            rig.turn(ms * MS).map(|broken| broken.invariant)
        })
    };
    assert_eq!(shared(1, [5, 5]), None);
    assert_eq!(shared(4, [8, 2]), None);
    assert_eq!(shared(1, [8, 2]), Some("shares"));
    assert_eq!(shared(4, [5, 5]), Some("shares"));
}

#[test]
fn a_cpu_is_not_idle_beside_a_queue_for_ever() {
    let mut rig = Rig::new();
    rig.runnable = vec![(5, true), (6, true)];
    // Tasks take turns, so none of them waits for long.
    let crowd = |rig: &Rig, ms: u64| {
        let (a, b) = if ms.is_multiple_of(2) { (5, 6) } else { (6, 5) };
        rig.queue(0, &[running(a), task(b)]);
    };
    let both = |rig: &mut Rig| {
        rig.switch(0, 0, 0, 5);
        (1..600).find_map(|ms: u64| {
            crowd(rig, ms);
            let (a, b) = if ms.is_multiple_of(2) { (6, 5) } else { (5, 6) };
            rig.switch(ms * MS, 0, a, b);
            rig.turn(ms * MS).map(|broken| (ms, broken.invariant))
        })
    };
    let (at_ms, invariant) = both(&mut rig).unwrap();
    assert_eq!((invariant, at_ms > 120 && at_ms < 200), ("work conservation", true), "{at_ms}");
    // Nothing is said of what may not move.
    let mut rig = Rig::new();
    rig.runnable = vec![(5, true), (6, true)];
    let pinned = |q: Queued| Queued { mask: [1, 0, 0, 0], ..q };
    let found = (1..600).find_map(|ms: u64| {
        rig.queue(0, &[pinned(running(5)), pinned(task(6))]);
        rig.switch(ms * MS, 0, 5, 6);
        rig.turn(ms * MS)
    });
    assert_eq!(found, None);
}

#[test]
fn a_task_runs_where_it_may() {
    let mut rig = Rig::new();
    rig.runnable = vec![(5, true)];
    rig.queue(0, &[Queued { mask: [2, 0, 0, 0], ..running(5) }]);
    assert_eq!(rig.turn(MS).map(|b| b.invariant), Some("affinity"));
    let (all, none) = (CpuSet::first_n(2), CpuSet::default());
    let inspector = &mut rig.inspector;
    assert!(inspector.affinity(MS, (5, "t"), 1, &all, &all).is_some());
    assert!(inspector.affinity(MS, (5, "t"), 1, &all, &none).is_none());
    inspector.asks_for_affinity(5, true);
    assert!(inspector.affinity(MS, (5, "t"), 1, &all, &all).is_none());
}

#[test]
fn time_of_higher_classes_is_no_wait() {
    // Fair tasks take turns with one of real time, which has all but 1 ms of 100.
    let pinned = |q: Queued| Queued { mask: [1, 0, 0, 0], ..q };
    let waits = |higher: Vec<i64>| {
        let mut rig = Rig::new();
        rig.runnable = vec![(5, true), (6, true), (7, true)];
        rig.higher = higher;
        (1..600).find_map(|ms: u64| {
            rig.queue(
                0,
                &[pinned(Queued { sum_exec_ns: ms / 100, ..running(5) }), pinned(task(6))],
            );
            match ms % 100 {
                0 => rig.switch(ms * MS, 0, 7, 5),
                1 => {
                    rig.queue(0, &[task(5), task(6)].map(pinned));
                    rig.switch(ms * MS, 0, 5, 7);
                }
                _ => rig.queue(0, &[task(5), task(6)].map(pinned)),
            }
            rig.turn_with(ms * MS, if ms.is_multiple_of(100) { 5 } else { 7 })
        })
    };
    assert_eq!(waits(vec![7]), None);
    assert_eq!(waits(vec![]).map(|b| b.invariant), Some("starvation"));
}

#[test]
fn nobody_runs_for_long_before_a_higher_rank() {
    let mut rig = Rig::new();
    rig.runnable = vec![(5, true)];
    let outranked = |rig: &Rig, since_ms: u64, ms: u64| {
        rig.queue(0, &[running(5)]);
        rig.queues.borrow_mut()[0].0.outranked = u32::from(ms >= since_ms);
    };
    let (at_ms, invariant) = rig.turns(1, 200, |rig, ms| outranked(rig, 20, ms)).unwrap();
    assert_eq!((invariant, at_ms), ("priority", 81));
    let mut rig = Rig::new();
    rig.runnable = vec![(5, true)];
    assert_eq!(rig.turns(1, 200, |rig, ms| outranked(rig, 1000 * (ms % 50 / 49), ms)), None);
}

#[test]
fn a_group_waits_for_quota_so_long_and_no_longer() {
    let mut rig = Rig::new();
    rig.runnable = vec![(5, true), (6, true)];
    let quota = |rig: &Rig, throttled: bool| {
        let quota_ns = 20 * MS;
        let throttled = u64::from(throttled);
        let waits =
            Queued { group: 2, depth: 2, quota_ns, period_ns: 50 * MS, throttled, ..task(6) };
        rig.queue(0, &[running(5), waits]);
    };
    // On all CPUs of the machine a tick may have been too much.
    let cpus = rig.scenario.topology().nr_cpus as u64;
    let bound_ms = 50 + 50 * (2 + (cpus * 4).div_ceil(20));
    let (at_ms, invariant) = rig.turns(1, 2 * bound_ms, |rig, _| quota(rig, true)).unwrap();
    assert_eq!(
        (invariant, at_ms > bound_ms && at_ms < bound_ms + 5),
        ("throttled", true),
        "{at_ms}"
    );
    // One that has none for 80 ms of 100 gets its turn in the rest.
    let mut rig = Rig::new();
    rig.runnable = vec![(5, true), (6, true)];
    for ms in 1..600 {
        quota(&rig, ms % 100 < 80);
        if ms % 100 == 99 {
            rig.switch(ms * MS, 0, 5, 6);
        }
        assert_eq!(rig.turn(ms * MS), None);
    }
}

#[test]
fn shares_hold_among_the_tasks_of_a_group() {
    let found = |groups: [u32; 3]| {
        let mut rig = Rig::new();
        (1..400).find_map(|ms: u64| {
            let got = [5, 4, 1].map(|part| ms * MS * part / 10);
            let of = |at: usize, q: Queued| Queued { sum_exec_ns: got[at], group: groups[at], ..q };
            rig.queue(0, &[of(0, running(5)), of(1, task(6)), of(2, task(7))]);
            for (from, to) in [(5, 6), (6, 7), (7, 5)] {
                rig.switch(ms * MS, 0, from, to);
            }
            rig.turn(ms * MS).map(|broken| broken.invariant)
        })
    };
    assert_eq!(found([0, 2, 2]), Some("shares"));
    assert_eq!(found([0, 2, 3]), None);
}
