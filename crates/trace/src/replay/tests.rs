use super::*;
use crate::TraceError;
use machine::{Constant, Machine, Mark};
use workload::{Op, QueueKind};

/// Four CPUs, two threads a core, 1 GHz: a cycle is a ns, and a thread has 0.6 of its core while both are busy.
fn machine() -> Machine {
    let mut machine = machine::resolve("synthetic:l3:1 core:2 pu:2").unwrap();
    for (name, value) in [("nominal_khz", 1e6), ("smt_share_2", 0.6)] {
        let constant = Constant {
            value,
            unit: String::new(),
            mark: Mark::Assumed,
            source: "a test".to_owned(),
            range: None,
        };
        machine.constants.set(name, constant);
    }
    machine
}

/// Lines `AT_US CPU PID FLAGS EVENT`, where the flags are those of `common_flags` in ftrace's text.
fn built(lines: &[String]) -> Result<Replay, TraceError> {
    built_with(lines, &Options::default())
}

fn built_with(lines: &[String], options: &Options) -> Result<Replay, TraceError> {
    let mut builder = Builder::new(&machine(), options).unwrap();
    let mut text = String::new();
    for line in lines {
        let mut words = line.splitn(5, ' ');
        let mut word = || words.next().unwrap();
        let (at, cpu, pid, flags, event) = (word(), word(), word(), word(), word());
        text += &format!("t{pid}-{pid} [00{cpu}] d.{flags}2. 1.{at:0>6}: {event}\n");
    }
    crate::read(text.as_bytes(), &mut builder)?;
    builder.finish()
}

fn switch(at: u32, cpu: u32, from: u32, state: &str, to: u32) -> String {
    format!(
        "{at} {cpu} {from} . sched_switch: prev_comm=t{from} prev_pid={from} prev_prio=120 prev_state={state} ==> next_comm=t{to} next_pid={to} next_prio=120"
    )
}

fn waking(at: u32, cpu: u32, by: u32, flags: &str, task: u32, previous: u32) -> String {
    format!(
        "{at} {cpu} {by} {flags} sched_waking: comm=t{task} pid={task} prio=120 target_cpu={previous}"
    )
}

/// The steps of the program of task `pid`, without those that bring it to its place.
fn steps(replay: &Replay, pid: u32) -> Vec<Op> {
    let name = format!("t{pid}");
    let program = replay.workload.programs.iter().find(|p| p.name == name).unwrap();
    let own = |op: &&Op| !matches!(op, Op::SetAffinity(_) | Op::Mark(_) | Op::Record { .. });
    program.ops.iter().filter(own).cloned().collect()
}

fn work(cycles: f64) -> Op {
    Op::Compute(workload::Work::fixed(cycles))
}

fn sleep(us: u64) -> Op {
    Op::Sleep { mean_ns: us as f64 * 1e3, spread: workload::Spread::Fixed }
}

/// Until the begin: a task that runs then has slept for the lead.
fn lead() -> Op {
    sleep(LEAD_NS / 1000)
}

#[test]
fn a_task_that_wakes_another_sends_it_a_message() {
    let replay = built(&[
        switch(0, 0, 0, "R", 10),
        switch(0, 2, 0, "R", 11),
        switch(10, 2, 11, "S", 0),
        waking(30, 0, 10, ".", 11, 2),
        switch(40, 2, 0, "R", 11),
        switch(50, 0, 10, "S", 0),
        switch(60, 2, 11, "X", 0),
    ])
    .unwrap();
    let queue = replay.workload.programs.iter().position(|p| p.name == "t11").unwrap() as u16;
    let message = workload::QueueId(queue);
    assert_eq!(steps(&replay, 10), [lead(), work(30e3), Op::Send(message), work(20e3)]);
    assert_eq!(steps(&replay, 11), [lead(), work(10e3), Op::Receive(message), work(20e3)]);
    assert_eq!((replay.made.by_tasks, replay.made.by_interrupts), (1, 0));
    assert_eq!(replay.made.remote_exit_ns, Some(10_000));
    assert_eq!(replay.workload.queues[usize::from(queue)].kind, QueueKind::Futex);
}

#[test]
fn a_busy_sibling_and_preemption_are_divided_out() {
    // CPUs 0 and 1 are threads of a core. 10 has it for itself for 10 us, shares it for 20 us, and waits for 5 us.
    let replay = built(&[
        switch(0, 0, 0, "R", 10),
        switch(10, 1, 0, "R", 12),
        switch(30, 1, 12, "S", 0),
        switch(30, 0, 10, "R", 13),
        switch(35, 0, 13, "X", 10),
        switch(40, 0, 10, "X", 0),
    ])
    .unwrap();
    let [first, Op::Compute(done)] = &steps(&replay, 10)[..] else { panic!("{replay:?}") };
    assert_eq!(first, &lead());
    assert!((done.cycles - (10e3 + 0.6 * 20e3 + 5e3)).abs() < 1.0, "{done:?}");
}

#[test]
fn interrupts_end_sleeps_of_their_length() {
    let replay = built(&[
        switch(0, 0, 0, "R", 10),
        switch(0, 2, 0, "R", 11),
        switch(10, 0, 10, "S", 0),
        switch(10, 2, 11, "D", 0),
        waking(30, 0, 0, "h", 10, 0),
        switch(32, 0, 0, "R", 10),
        // Nobody runs below a hard interrupt.
        waking(50, 0, 10, "h", 11, 2),
        switch(52, 2, 0, "R", 11),
        switch(60, 0, 10, "X", 0),
        switch(60, 2, 11, "X", 0),
    ])
    .unwrap();
    assert_eq!(steps(&replay, 10), [lead(), work(10e3), sleep(20), work(28e3)]);
    let [_, _, Op::Io { service_ns, iowait: true, .. }, ..] = steps(&replay, 11)[..] else {
        panic!("{replay:?}")
    };
    assert_eq!(service_ns, 40e3);
    assert_eq!((replay.made.by_tasks, replay.made.by_interrupts), (0, 2));
}

#[test]
fn a_soft_interrupt_is_the_tasks_below_unless_idle_cpus_have_them_too() {
    let wakes = |on_idle: u32| {
        let mut lines = vec![switch(0, 0, 0, "R", 10), switch(0, 2, 0, "R", 11)];
        lines.push(switch(5, 2, 11, "S", 0));
        lines.push(waking(10, 0, 10, "s", 11, 2));
        lines.extend([switch(12, 2, 0, "R", 11), switch(15, 2, 11, "S", 0)]);
        for n in 0..on_idle {
            let at = 20 + 10 * n;
            lines.push(waking(at, 3, 0, "s", 11, 2));
            lines.extend([switch(at + 2, 2, 0, "R", 11), switch(at + 5, 2, 11, "S", 0)]);
        }
        lines.push(switch(90, 0, 10, "X", 0));
        let made = built(&lines).unwrap().made;
        (made.by_tasks, made.by_interrupts)
    };
    assert_eq!(wakes(0), (1, 0));
    assert_eq!(wakes(3), (0, 4));
}

#[test]
fn a_wake_up_before_the_sleep_has_begun_counts_when_the_sleep_does() {
    let replay = built(&[
        switch(0, 0, 0, "R", 10),
        switch(0, 2, 0, "R", 11),
        waking(9, 0, 10, ".", 11, 2),
        switch(10, 2, 11, "S", 0),
        "12 2 0 h sched_wakeup: comm=t11 pid=11 prio=120 target_cpu=2".to_owned(),
        switch(13, 2, 0, "R", 11),
        switch(20, 2, 11, "X", 0),
        switch(30, 0, 10, "X", 0),
    ])
    .unwrap();
    assert_eq!((replay.made.by_tasks, replay.made.by_interrupts), (1, 0), "{replay:?}");
}

#[test]
fn children_are_forked_and_real_time_tasks_left_out() {
    let replay = built(&[
        switch(0, 0, 0, "R", 10),
        "5 0 10 . sched_wakeup_new: comm=t11 pid=11 prio=125 target_cpu=2".to_owned(),
        switch(8, 2, 0, "R", 11),
        "9 1 0 . sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=migration/1 next_pid=30 next_prio=0".to_owned(),
        switch(20, 2, 11, "X", 0),
        switch(30, 0, 10, "X", 0),
    ])
    .unwrap();
    assert!(steps(&replay, 10).iter().any(|op| matches!(op, Op::Fork(_))), "{replay:?}");
    assert_eq!(steps(&replay, 11), [Op::SetNice(5), work(12e3)]);
    assert_eq!((replay.made.forks, replay.made.left_out, replay.made.tasks), (1, 1, 2));
    // The parent and the task that notes the begin.
    assert_eq!(replay.workload.spawns.len(), 2);
}

#[test]
fn a_file_for_rt_app_has_work_sleeps_and_messages() {
    let lines = [
        switch(0, 0, 0, "R", 10),
        switch(0, 2, 0, "R", 11),
        switch(10, 2, 11, "S", 0),
        waking(30, 0, 10, ".", 11, 2),
        switch(40, 2, 0, "R", 11),
        "45 0 10 . sched_wakeup_new: comm=k/1:2 pid=12 prio=125 target_cpu=1".to_owned(),
        switch(50, 0, 10, "S", 0),
        "50 1 0 . sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=k/1:2 next_pid=12 next_prio=125".to_owned(),
        "57 1 12 . sched_switch: prev_comm=k/1:2 prev_pid=12 prev_prio=125 prev_state=X ==> next_comm=swapper/1 next_pid=0 next_prio=120".to_owned(),
        waking(60, 1, 0, "h", 10, 0),
        switch(62, 0, 0, "R", 10),
        switch(70, 0, 10, "X", 0),
        switch(70, 2, 11, "X", 0),
    ];
    let tasks = |without_wakers| {
        let options = Options { without_wakers, without_forks: true, ..Options::default() };
        let replay = built_with(&lines, &options).unwrap();
        let file = rt_app(&replay, 1e6).unwrap();
        let file: serde_json::Value = serde_json::from_str(&file).unwrap();
        file["tasks"].clone()
    };
    let alone = tasks(true);
    let t10 = serde_json::json!({ "loop": 1, "run0": 50, "sleep1": 10, "run2": 8 });
    let t11 = serde_json::json!({ "loop": 1, "run0": 10, "sleep1": 20, "run2": 30 });
    let forked = serde_json::json!({ "loop": 1, "delay": 45, "priority": 5, "run0": 7 });
    let expected = serde_json::json!({ "t10-0": t10, "t11-1": t11, "k_1_2-2": forked });
    assert_eq!(alone, expected);
    let together = tasks(false);
    assert_eq!(together["t10-0"]["sem_post1"], "q1");
    assert_eq!(together["t11-1"]["sem_wait1"], "q1");
}
