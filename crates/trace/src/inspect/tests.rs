//! By hand, on four CPUs in two last-level caches.

use super::*;
use crate::Context;

fn machine() -> Machine {
    machine::resolve("synthetic:l3:2 core:2 pu:1").unwrap()
}

fn task(pid: u32) -> Task {
    Task { comm: Comm::new(&format!("task{pid}")), pid, prio: 120 }
}

fn event(at_us: u64, cpu: u32, kind: Kind) -> Event {
    Event {
        at_ns: at_us * 1000,
        cpu,
        current: (Comm::new("task1"), 1),
        context: Context::default(),
        kind,
    }
}

/// `prev` leaves the CPU, still runnable or not, and `next` comes; 0 is the idle task.
fn switch(at_us: u64, cpu: u32, prev: u32, stays: bool, next: u32) -> Event {
    let of = |pid| if pid == 0 { Task::idle(cpu) } else { task(pid) };
    let prev_state = if stays { TaskState::RUNNING } else { TaskState::INTERRUPTIBLE };
    event(at_us, cpu, Kind::Switch { prev: of(prev), prev_state, next: of(next) })
}

fn waking(at_us: u64, cpu: u32, pid: u32) -> Event {
    event(at_us, cpu, Kind::Waking { task: task(pid), target: 0 })
}

fn wakeup(at_us: u64, cpu: u32, pid: u32, target: u32) -> Event {
    event(at_us, cpu, Kind::Wakeup { task: task(pid), target })
}

fn edge(
    waker: &str,
    woken: &str,
    count: u64,
    distances: std::collections::BTreeMap<&'static str, u64>,
) -> Edge {
    Edge { waker: waker.to_string(), woken: woken.to_string(), count, distances }
}

fn inspected(events: &[Event]) -> Inspection {
    let mut inspector = Inspector::new(&machine());
    events.iter().for_each(|e| inspector.event(e).unwrap());
    inspector.finish()
}

#[test]
fn a_woken_task_waits_runs_and_sleeps() {
    let all = inspected(&[
        switch(0, 0, 0, true, 1),
        switch(0, 2, 3, false, 0),
        waking(100, 0, 2),
        wakeup(101, 0, 2, 2),
        switch(110, 2, 0, true, 2),
        switch(160, 2, 2, false, 0),
        switch(200, 0, 1, false, 0),
    ]);
    let group = |name: &str| all.groups.iter().find(|g| g.name == name).unwrap();
    assert_eq!(group("task2").run.p50_ns, 50_000);
    assert_eq!((group("task1").run.count, group("task1").run.total_ns), (1, 200_000));
    assert_eq!((group("task2").run.total_ns, group("task2").latency.max_ns), (50_000, 10_000));
    // On the queue since the wake-up was done.
    assert_eq!(group("task2").delay.max_ns, 9_000);
    let [(distance, spread)] = all.wakeups[..] else { panic!("{:?}", all.wakeups) };
    assert_eq!((distance, spread.count, spread.max_ns), ("node", 1, 10_000));
    assert_eq!(all.wakers, [edge("task1", "task2", 1, [("node", 1)].into())]);
    assert_eq!(all.wakers[0].usual_distance(), Some(Distance::Node));
    assert_eq!((all.from_ns, all.to_ns, all.repairs, all.cpus), (0, 200_000, 0, 2));
    // CPU 2 idled while task 2 was on its queue, for as long as it takes to wake.
    assert_eq!((all.conservation.violated_ns, all.conservation.lost_cpu_ns), (9_000, 9_000));
    assert_eq!(all.conservation.intervals, [1, 0, 0, 0, 0]);
}

#[test]
fn a_preempted_task_waits_where_it_was_while_another_cpu_idles() {
    let all = inspected(&[
        switch(0, 1, 9, false, 0),
        switch(0, 0, 0, true, 1),
        switch(10, 0, 1, true, 2),
        switch(2_010, 0, 2, true, 1),
        switch(2_020, 0, 1, false, 2),
        switch(2_030, 0, 2, false, 0),
    ]);
    let Conservation { violated_ns, ref worst, intervals, .. } = all.conservation;
    assert_eq!((violated_ns, intervals), (2_010_000, [0, 0, 0, 1, 0]));
    let [longest] = &worst[..] else { panic!("{worst:?}") };
    assert_eq!((longest.from_ns, longest.length_ns), (10_000, 2_010_000));
    assert_eq!((longest.idle_cpus, longest.waiting, longest.task, longest.queue), (1, 1, 1, 0));
    let first = all.tasks.iter().find(|t| t.pid == 1).unwrap();
    assert_eq!((first.runs, first.delay_ns, first.longest_delay_ns), (2, 2_000_000, 2_000_000));
}

#[test]
fn a_task_of_one_cpu_may_wait() {
    let bound = Task { comm: Comm::new("kworker/0:1"), pid: 7, prio: 120 };
    let all = inspected(&[
        switch(0, 1, 9, false, 0),
        switch(0, 0, 0, true, 1),
        event(10, 0, Kind::Wakeup { task: bound, target: 0 }),
        event(
            500,
            0,
            Kind::Switch { prev: task(1), prev_state: TaskState::INTERRUPTIBLE, next: bound },
        ),
    ]);
    assert_eq!(all.conservation.violated_ns, 0);
    assert_eq!(all.groups.iter().find(|g| g.name == "kworker/0:1").unwrap().delay.max_ns, 490_000);
}

#[test]
fn moves_have_reasons_and_distances() {
    let migrate =
        |at_us, cpu, pid, from, to| event(at_us, cpu, Kind::Migrate { task: task(pid), from, to });
    let mut stopper = migrate(30, 0, 1, 0, 3);
    stopper.current = (Comm::new("migration/0"), 20);
    let all = inspected(&[
        switch(0, 0, 0, true, 1),
        switch(0, 3, 9, false, 0),
        waking(1, 0, 2),
        migrate(1, 0, 2, 3, 1),
        wakeup(2, 0, 2, 1),
        migrate(3, 3, 2, 1, 3),
        switch(4, 3, 0, true, 2),
        switch(20, 0, 1, true, 5),
        stopper,
        switch(40, 3, 2, false, 1),
    ]);
    let by = |reason| all.moves.by_reason.get(&reason).cloned().unwrap_or_default();
    assert_eq!(by(Reason::WakeUp), [("node", 1)].into());
    assert_eq!(by(Reason::Pulled), [("node", 1)].into());
    assert_eq!(by(Reason::Stopper), [("node", 1)].into());
    let second = all.groups.iter().find(|g| g.name == "task2").unwrap();
    assert_eq!(second.delay.max_ns, 2_000, "it waits since it came to the first queue");
}

#[test]
fn going_back_and_forth_between_caches_is_counted() {
    let mut events = vec![];
    for (at, cpu) in [0, 2, 0, 1, 3, 0].into_iter().enumerate() {
        events.push(switch(1000 * at as u64, cpu, 0, true, 1));
        events.push(switch(1000 * at as u64 + 500, cpu, 1, false, 0));
    }
    let all = inspected(&events);
    let [of] = &all.moves.ping_pong[..] else { panic!("{:?}", all.moves) };
    assert_eq!((of.pid, of.crossings, of.returns), (1, 4, 3));
}

#[test]
fn levels_are_means_over_time() {
    let all = inspected(&[
        switch(0, 0, 0, true, 1),
        switch(0, 1, 9, false, 0),
        wakeup(500, 0, 2, 0),
        switch(1_000, 0, 1, false, 2),
        switch(2_000, 0, 2, false, 0),
    ]);
    let [first, second] = &all.levels[..] else { panic!("{:?}", all.levels) };
    assert_eq!((first.runnable, first.idle_cpus, first.imbalance), (1.5, 1.0, 1.5));
    assert_eq!((second.runnable, second.length_ns), (1.0, 1_000_000));
}

#[test]
fn clocks_and_idle_states_have_their_time() {
    let all = inspected(&[
        event(0, 0, Kind::Frequency { cpu: 0, khz: 1000 }),
        event(10, 0, Kind::Frequency { cpu: 0, khz: 2000 }),
        event(10, 1, Kind::Idle { cpu: 1, state: Some(2) }),
        event(15, 1, Kind::Idle { cpu: 1, state: None }),
        event(30, 1, Kind::Idle { cpu: 1, state: None }),
    ]);
    assert_eq!(all.clocks[0].time_ns, [(1000, 10_000), (2000, 20_000)].into());
    assert_eq!((all.idle_states[0].cpu, all.idle_states[0].time_ns[&2]), (1, 5_000));
}

#[test]
fn what_does_not_fit_is_counted_and_a_foreign_cpu_refused() {
    let all = inspected(&[switch(0, 0, 0, true, 1), switch(5, 0, 2, false, 3)]);
    assert_eq!(all.repairs, 1);
    let mut inspector = Inspector::new(&machine());
    assert!(inspector.event(&switch(0, 4, 0, true, 1)).is_err());
}

#[test]
fn a_shortened_inspection_has_the_first_of_each_list() {
    let mut all = inspected(&[
        switch(0, 0, 0, true, 1),
        waking(1, 0, 2),
        waking(2, 0, 3),
        switch(10, 0, 1, false, 2),
        switch(30, 0, 2, false, 0),
    ]);
    let before = all.clone();
    all.shorten(1);
    assert_eq!((all.groups.len(), all.tasks.len(), all.wakers.len()), (1, 1, 1));
    assert_eq!((&all.groups[0], all.tasks[0].pid), (&before.groups[0], 2));
    assert_eq!(all.levels, before.levels);
}

#[test]
fn the_graph_is_for_graphviz() {
    let edges = [edge("a\"b", "c", 4, [("smt", 2), ("remote", 2)].into())];
    assert!(dot(&edges).contains("\"a\\\"b\" -> \"c\" [label=\"4, smt\", penwidth=5.0];"));
    assert!(dot(&[edge("a", "b", 1, [].into())]).contains("label=\"1\""));
}
