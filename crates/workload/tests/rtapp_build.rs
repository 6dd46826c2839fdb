//! rt-app's events as steps of programs.

use machine::CpuSet;
use workload::rtapp::{
    Built, Costs, Feature, Ignored, Options, Params, RtAppError, Suspend, build, read,
};
use workload::{Missed, Op, Policy, Program, Spread, Work};

fn built(text: &str, params: &Params) -> Result<Built, RtAppError> {
    let app = read(text, "x.json", Options::default()).unwrap_or_else(|e| panic!("{text}: {e}"));
    build(&app, params, &Costs { nominal_khz: 2e6, online: CpuSet::first_n(4), deadlines: false })
}

/// The same where a kernel's own code has all policies.
fn with_policies(text: &str) -> Result<Built, RtAppError> {
    let app = read(text, "x.json", Options::default()).unwrap_or_else(|e| panic!("{text}: {e}"));
    let costs = Costs { nominal_khz: 2e6, online: CpuSet::first_n(4), deadlines: true };
    build(&app, &seconds(1.0), &costs)
}

fn seconds(duration_s: f64) -> Params {
    Params { duration_s: Some(duration_s), ..Params::default() }
}

fn good(text: &str, params: &Params) -> Built {
    built(text, params).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn program<'b>(built: &'b Built, name: &str) -> &'b Program {
    built.workload.programs.iter().find(|p| p.name == name).expect("a program of that name")
}

/// The steps that these events are, between the start of a phase's loop and its end.
fn steps(events: &str) -> Vec<Op> {
    let text = format!("{{\"tasks\": {{\"t\": {{{events}}}}}}}");
    let ops = program(&good(&text, &seconds(1.0)), "t").ops.clone();
    let body = ops.iter().position(|op| *op == Op::Stamp).expect("a loop") + 1;
    let [.., Op::Record { .. }, Op::Loop { times: 0, .. }] = ops[..] else { panic!("{ops:?}") };
    ops[body..ops.len() - 2].to_vec()
}

#[test]
fn work_and_sleep() {
    // 2 GHz: 2000 cycles a µs.
    assert_eq!(steps(r#""run": 10"#), [Op::Compute(Work::fixed(20_000.0))]);
    assert_eq!(steps(r#""runtime": 10"#), [Op::RunFor(10_000)]);
    let sleep = Op::Sleep { mean_ns: 5_000.0, spread: Spread::Fixed };
    assert_eq!(steps(r#""sleep": 5, "yield""#), [sleep, Op::Yield]);
}

#[test]
fn work_is_whole_loops_where_their_length_is_given() {
    let text = r#"{"tasks": {"t": {"loop": 1, "run": 10}}, "global": {"calibration": 128}}"#;
    let built = good(text, &Params::default());
    // 78 loops of 128 ns.
    assert!(program(&built, "t").ops.contains(&Op::Compute(Work::fixed(78.0 * 128.0 * 2.0))));
}

#[test]
fn memory_events_touch_one_working_set_and_can_be_left_out() {
    let events = r#""mem": 6400, "run": 1,
        "memrun": {"type": "chase", "size": 128000, "count": 5000, "stride": 128, "ref": "b"},
        "memrun2": {"type": "chase", "size": 128000, "count": 500, "stride": 128, "ref": "b"}"#;
    let ops = steps(events);
    let [
        Op::Memory(write),
        Op::Compute(write_work),
        Op::Memory(rest),
        Op::Compute(_),
        Op::Memory(chase),
        Op::Compute(chase_work),
        Op::Memory(again),
        ..,
    ] = ops[..]
    else {
        panic!("{ops:?}")
    };
    // 100 lines in 400 cycles; 5000 hops over 1000 pointers that have a line each.
    assert_eq!((write_work, write.touches_per_kcycle), (Work::fixed(400.0), 250.0));
    assert_eq!((chase_work, chase.touches_per_kcycle), (Work::fixed(20_000.0), 250.0));
    assert!(write.overlap > chase.overlap);
    assert_eq!((rest.touches_per_kcycle, rest), (0.0, again));
    for used in [write, chase, rest] {
        assert_eq!(used.working_set_bytes, 6400.0 + 64_000.0);
    }
    let ignore = vec![Feature::Mem, Feature::Memrun];
    let params = Params { ignore, ..seconds(1.0) };
    let without = good(&format!("{{\"tasks\": {{\"t\": {{{events}}}}}}}"), &params);
    assert_eq!(without.ignored.len(), 3);
    assert!(!program(&without, "t").ops.iter().any(|op| matches!(op, Op::Memory(_))));
}

#[test]
fn locks_and_conditions() {
    let ops = steps(r#""lock": "m", "wait": {"ref": "q", "mutex": "m"}, "unlock": "m""#);
    let [Op::Lock(m), Op::Wait { cond, lock }, Op::Unlock(n)] = ops[..] else { panic!("{ops:?}") };
    assert_eq!((m, m), (lock, n));
    let ops = steps(r#""sync": {"ref": "q", "mutex": "m"}, "signal": "q", "broad": "r""#);
    let [Op::Signal(a), Op::Wait { cond: b, .. }, Op::Signal(c), Op::Broadcast(d)] = ops[..] else {
        panic!("{ops:?}")
    };
    assert_eq!((a, b), (b, c));
    assert_ne!(a, d);
    assert_eq!(cond.0, 0);
    let ops = steps(r#""sem_post": "s", "sem_wait": "s""#);
    let [Op::Send(a), Op::Receive(b)] = ops[..] else { panic!("{ops:?}") };
    assert_eq!(a, b);
}

#[test]
fn suspend_waits_for_the_own_name_or_the_one_given() {
    let text = r#"{"tasks": {"t": {"suspend": "u", "run": 1, "resume": "u"}}}"#;
    for (suspend, same) in [(Suspend::OwnName, false), (Suspend::Named, true)] {
        let params = Params { suspend, ..seconds(1.0) };
        let ops = program(&good(text, &params), "t").ops.clone();
        let waits = ops.iter().find_map(|op| match op {
            Op::Wait { cond, .. } => Some(*cond),
            _ => None,
        });
        let wakes = ops.iter().find_map(|op| match op {
            Op::Broadcast(cond) => Some(*cond),
            _ => None,
        });
        assert!(waits.is_some() && wakes.is_some());
        assert_eq!(waits == wakes, same);
    }
}

#[test]
fn timers_are_each_threads_own_or_shared_and_start_with_the_thread() {
    let timers = |name: &str, mode: &str| {
        let text = format!(
            "{{\"tasks\": {{\"t\": {{\"instance\": 2, \"run\": 1,
                \"timer\": {{\"ref\": \"{name}\", \"period\": 5, \"mode\": \"{mode}\"}}}}}}}}"
        );
        let built = good(&text, &seconds(1.0));
        let ops = built.workload.programs.iter().filter(|p| p.name == "t").flat_map(|p| &p.ops);
        let waits = ops.filter_map(|op| match op {
            Op::TimerWait { timer, period_ns, missed, .. } => Some((*timer, *period_ns, *missed)),
            _ => None,
        });
        waits.collect::<Vec<_>>()
    };
    let [a, b, c, d] = timers("uniqueA", "relative")[..] else { panic!("two threads") };
    assert_eq!((a.1, b.1, b.2), (0, 5_000, Missed::Restart));
    assert_eq!((a.0, c.0), (b.0, d.0));
    assert_ne!(a.0, c.0);
    let [a, b, c, d] = timers("shared", "absolute")[..] else { panic!("two threads") };
    assert_eq!(b, d);
    assert!(a.0 != b.0 && c.0 != d.0);
    assert_eq!(b.2, Missed::CatchUp);
}

#[test]
fn barriers_count_the_events_of_all_threads() {
    let text = r#"{"tasks": {"a": {"instance": 3, "barrier": "B", "run": 1},
        "b": {"barrier": "B", "barrier": "C", "run": 1}}}"#;
    let built = good(text, &seconds(1.0));
    // The first is rt-app's own, at the start.
    assert_eq!(built.workload.barriers, [4, 4, 1]);
}

#[test]
fn priorities_slices_and_affinities() {
    let ops = |text: &str| program(&good(text, &seconds(1.0)), "t").ops.clone();
    let list = ops(r#"{"tasks": {"t": {"priority": -19, "dl-runtime": 100, "run": 1}}}"#);
    assert_eq!(list[1..3], [Op::SetNice(-19), Op::SetSlice(100_000)]);
    let text = r#"{"tasks": {"t": {"cpus": [2], "phases": {
        "p": {"cpus": [0], "run": 1}, "q": {"cpus": [1], "dl-runtime": 5, "run": 1},
        "r": {"priority": 3, "run": 1}}}}}"#;
    let list = ops(text);
    let set = |cpu| Op::SetAffinity(CpuSet::single(cpu));
    let changes: Vec<Op> = list
        .into_iter()
        .filter(|op| matches!(op, Op::SetAffinity(_) | Op::SetNice(_) | Op::SetSlice(_)))
        .collect();
    // A slice without a policy or a priority changes nothing in a phase.
    assert_eq!(changes, [Op::SetNice(0), set(0), set(1), set(2), Op::SetNice(3)]);
}

#[test]
fn policies_where_the_kernel_has_them() {
    let asked = |task: &str| {
        let text = format!("{{\"tasks\": {{\"t\": {{{task}, \"run\": 1}}}}}}");
        let built = with_policies(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let ops = program(&built, "t").ops.clone().into_iter();
        let of = |op: &Op| matches!(op, Op::SetPolicy(_) | Op::SetNice(_) | Op::SetSlice(_));
        ops.filter(of).collect::<Vec<Op>>()
    };
    let policy = |policy| vec![Op::SetPolicy(policy)];
    assert_eq!(asked(r#""policy": "SCHED_FIFO""#), policy(Policy::Fifo { priority: 10 }));
    let rr = r#""policy": "SCHED_RR", "priority": 99"#;
    assert_eq!(asked(rr), policy(Policy::RoundRobin { priority: 99 }));
    let dl = r#""policy": "SCHED_DEADLINE", "dl-runtime": 2, "dl-period": 10"#;
    let (runtime_ns, deadline_ns, period_ns) = (2000, 10_000, 10_000);
    assert_eq!(asked(dl), policy(Policy::Deadline { runtime_ns, deadline_ns, period_ns }));
    let batch = r#""policy": "SCHED_BATCH", "priority": 5, "dl-runtime": 100"#;
    let expected = [Op::SetPolicy(Policy::Batch), Op::SetNice(5), Op::SetSlice(100_000)];
    assert_eq!(asked(batch), expected);
    // Without other policies nothing is asked for.
    assert_eq!(asked(r#""priority": 5"#), [Op::SetNice(5)]);
    for (task, field) in [
        (r#""policy": "SCHED_FIFO", "priority": 0"#, "tasks.t.priority"),
        (r#""policy": "SCHED_DEADLINE""#, "tasks.t.dl-runtime"),
    ] {
        let text = format!("{{\"tasks\": {{\"t\": {{{task}, \"run\": 1}}}}}}");
        let error = with_policies(&text).unwrap_err().to_string();
        assert!(error.contains(field), "{error}");
    }
}

#[test]
fn clamps_are_set_by_tasks_and_phases() {
    let text = r#"{"tasks": {"t": {"util_max": 600, "phases": {
        "p": {"util_min": 200, "run": 1}, "q": {"util_min": -1, "run": 1}}}}}"#;
    let ops = program(&good(text, &seconds(1.0)), "t").ops.clone();
    let clamps: Vec<Op> =
        ops.into_iter().filter(|op| matches!(op, Op::SetUtilClamp { .. })).collect();
    let expected = [(None, Some(600)), (Some(200), None)];
    assert_eq!(clamps, expected.map(|(min, max)| Op::SetUtilClamp { min, max }));
}

#[test]
fn the_run_ends_after_the_duration_or_when_all_threads_have_ended() {
    let text =
        |global: &str| format!("{{\"tasks\": {{\"t\": {{\"loop\": 2, \"run\": 1}}}}{global}}}");
    let main = |text: &str, params: &Params| program(&good(text, params), "rt-app").ops.clone();
    let sleep = |s: f64| Op::Sleep { mean_ns: s * 1e9, spread: Spread::Fixed };
    assert_eq!(main(&text(""), &Params::default())[2], Op::WaitChildren);
    let six = text(", \"global\": {\"duration\": 6}");
    assert_eq!(main(&six, &Params::default())[2], sleep(6.0));
    assert_eq!(main(&six, &seconds(0.5))[2], sleep(0.5));
}

#[test]
fn forked_threads_are_joined() {
    let text = r#"{"tasks": {"t": {"loop": 1, "fork": "u", "run": 1},
        "u": {"instance": 0, "loop": 1, "run": 2}}}"#;
    let built = good(text, &Params::default());
    let ops = &program(&built, "t").ops;
    let forked = ops.iter().find_map(|op| match op {
        Op::Fork(program) => Some(&built.workload.programs[program.index()].name),
        _ => None,
    });
    assert_eq!(forked.map(String::as_str), Some("u"));
    assert_eq!(ops.last(), Some(&Op::WaitChildren));
}

#[test]
fn what_is_not_simulated_is_refused_or_left_out_and_listed() {
    let task = |inside: &str| format!("{{\"tasks\": {{\"t\": {{{inside}, \"run\": 1}}}}}}");
    let global = |inside: &str| {
        format!("{{\"tasks\": {{\"t\": {{\"run\": 1}}}}, \"global\": {{{inside}}}}}")
    };
    for (text, feature, path) in [
        (task(r#""policy": "SCHED_DEADLINE""#), Feature::SchedDeadline, "tasks.t.policy"),
        (global(r#""pi_enabled": true"#), Feature::PiEnabled, "global.pi_enabled"),
        (task(r#""taskgroup": "/a""#), Feature::Taskgroup, "tasks.t.taskgroup"),
        (task(r#""nodes_membind": [0]"#), Feature::NodesMembind, "tasks.t.nodes_membind"),
        (task(r#""iorun": 1"#), Feature::Iorun, "tasks.t.iorun"),
    ] {
        let message = built(&text, &seconds(1.0)).unwrap_err().to_string();
        let name = feature.name();
        let expected = format!("x.json: {path}: {name} is not simulated");
        assert!(message.starts_with(&expected), "{message}");
        assert_eq!(serde_json::to_string(&feature).unwrap(), format!("\"{name}\""));
        let left_out = Params { ignore: vec![feature], ..seconds(1.0) };
        let ignored = Ignored { feature, path: path.to_string() };
        assert_eq!(good(&text, &left_out).ignored, [ignored]);
    }
    let root = task(r#""taskgroup": "/", "util_min": -1"#);
    assert_eq!(good(&root, &seconds(1.0)).ignored, []);
}

#[test]
fn refusals_say_the_path() {
    let task = |inside: &str| format!("{{\"tasks\": {{\"t\": {{{inside}}}}}}}");
    for (text, params, expected) in [
        (task(r#""run": 1"#), Params::default(), "tasks.t.loop: found no end"),
        (task(r#""run": 1"#), seconds(0.0), "global.duration: found 0"),
        (task(r#""run": 1"#), seconds(f64::NAN), "global.duration: found NaN"),
        (
            task(r#""run": 1, "util_min": 300, "util_max": 200"#),
            seconds(1.0),
            "tasks.t.util_min: found 300, expected at most util_max, 200",
        ),
        (task(r#""run": 1, "priority": 20"#), seconds(1.0), "tasks.t.priority: found 20"),
        (task(r#""run": 1, "cpus": [4]"#), seconds(1.0), "tasks.t.cpus: found 4"),
        (task(r#""run": 1, "cpus": []"#), seconds(1.0), "tasks.t.cpus: found"),
        (task(r#""run": 1, "instance": 0"#), seconds(1.0), "found 0 threads"),
        (task(r#""run": 1, "instance": 2000000000"#), seconds(1.0), "2000000000 threads"),
        (task(r#""run": 1, "loop": 1, "fork": "u""#), seconds(1.0), "tasks.t.fork: found \"u\""),
        (task(r#""run": 1, "fork": "t""#), seconds(1.0), "found a fork in a longer loop"),
        (task(r#""run": 1, "loop": 1, "fork": "t""#), seconds(1.0), "a fork of \"t\""),
    ] {
        let message = built(&text, &params).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}
