use super::*;
use kernel::Kernel;

/// Two LLCs of four CPUs each.
fn machine() -> machine::Machine {
    machine::qemu::read("-M q35 -cpu EPYC-Rome-v4 -smp 8,sockets=2,cores=4,threads=1").unwrap()
}

fn ground() -> Ground {
    Ground::new(&machine(), &Kernel::new("6.12".parse().unwrap())).unwrap()
}

/// `lines`, each `PID CPU EVENT` with a microsecond between them, as a trace; pid 0 is idle.
fn text(lines: &[&str]) -> String {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().unwrap();
        let (pid, cpu, event) = (word(), word(), word());
        text += &format!("a-{pid} [00{cpu}] d..2. 1.{at:06}: {event}\n");
    }
    text
}

fn judged(lines: &[&str], bound: Vec<(u32, machine::CpuSet)>) -> Placements {
    let ground = ground();
    let (text, mut first) = (text(lines), FirstPass::default());
    trace::read(text.as_bytes(), &mut first).unwrap();
    let mut judge = Probed::new(&ground, &first, bound);
    trace::read(text.as_bytes(), &mut judge).unwrap();
    judge.finish()
}

fn switch(pid: u32, cpu: u32, from: u32, state: &str, to: u32) -> String {
    format!(
        "{pid} {cpu} sched_switch: prev_comm=a prev_pid={from} prev_prio=120 prev_state={state} ==> next_comm=a next_pid={to} next_prio=120"
    )
}

fn waking(pid: u32, cpu: u32, task: u32, previous: u32) -> String {
    format!("{pid} {cpu} sched_waking: comm=a pid={task} prio=120 target_cpu={previous}")
}

fn asked(pid: u32, cpu: u32, previous: u32, flags: &str) -> String {
    format!(
        "{pid} {cpu} place_asked: (select_task_rq_fair+0x4/0x17f0) previous={previous} flags={flags}"
    )
}

fn answered(pid: u32, cpu: u32, chosen: u32) -> String {
    format!(
        "{pid} {cpu} place_answered: (try_to_wake_up+0x155/0x680 <- select_task_rq_fair) cpu={chosen}"
    )
}

fn woken(pid: u32, cpu: u32, task: u32, on: u32) -> String {
    format!("{pid} {cpu} sched_wakeup: comm=a pid={task} prio=120 target_cpu={on}")
}

fn all(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

/// 10 runs on CPU 0; 11 ran on CPU 1 and sleeps. With more tasks on the other CPUs named.
fn start(busy: &[u32]) -> Vec<String> {
    let mut lines =
        vec![switch(0, 0, 0, "R", 10), switch(0, 1, 0, "R", 11), switch(11, 1, 11, "S", 0)];
    lines.extend(busy.iter().map(|&cpu| switch(0, cpu, 0, "R", 20 + cpu)));
    lines
}

#[test]
fn an_idle_previous_cpu_takes_the_task() {
    let mut lines = start(&[]);
    lines.extend([
        waking(10, 0, 11, 1),
        asked(10, 0, 1, "0x18"),
        answered(10, 0, 1),
        woken(0, 1, 11, 1),
    ]);
    let found = judged(&all(&lines), vec![]);
    assert_eq!(found.determined, Count { all: 1, same_cpu: 1, same_llc: 1 });
    assert_eq!(found.all().all, 1);
    // At the start of a trace two tasks run that nobody put there.
    assert_eq!((found.repairs, found.differences.len()), (2, 0));
}

#[test]
fn another_choice_is_a_difference_with_its_state() {
    for (kernel, same_llc) in [(2, 1), (5, 0)] {
        let mut lines = start(&[]);
        lines.extend([waking(10, 0, 11, 1), asked(10, 0, 1, "0x18"), answered(10, 0, kernel)]);
        let found = judged(&all(&lines), vec![]);
        assert_eq!(found.determined, Count { all: 1, same_cpu: 0, same_llc });
        let [difference] = &found.differences[..] else { panic!("{found:?}") };
        assert_eq!((difference.kernel, difference.model, difference.previous), (kernel, 1, 1));
        assert!(
            difference.sync == Some(true)
                && difference.task == "a-11"
                && difference.waker == "a-10"
        );
        assert_eq!(difference.queues[..2], [(1, 0), (0, 0)]);
    }
}

#[test]
fn a_cpu_that_is_taken_during_the_wake_up_makes_it_a_race() {
    let mut lines = start(&[]);
    lines.extend([
        waking(10, 0, 11, 1),
        asked(10, 0, 1, "0x18"),
        switch(0, 1, 0, "R", 30),
        answered(10, 0, 2),
    ]);
    let found = judged(&all(&lines), vec![]);
    assert_eq!((found.raced.all, found.determined.all), (1, 0));
}

#[test]
fn a_task_on_its_way_keeps_its_cpu_from_being_idle() {
    // 12 is a thread of CPU 1 alone, which no class places.
    let mut lines = start(&[2, 3]);
    lines.extend([
        waking(0, 4, 12, 1),
        waking(10, 0, 11, 1),
        asked(10, 0, 1, "0x18 flips=0 recent=1"),
        answered(10, 0, 0),
    ]);
    let only = |cpu: usize| [cpu].into_iter().collect();
    let found = judged(&all(&lines), vec![(12, only(1))]);
    assert_eq!(found.determined, Count { all: 1, same_cpu: 1, same_llc: 1 });
    let free = judged(&all(&lines), vec![]);
    assert_eq!(free.determined.same_cpu, 0);
}

#[test]
fn loads_that_decide_are_said_to() {
    // From one LLC to the other, not synchronous, both CPUs busy, no CPU idle.
    let mut lines = start(&[2, 3, 4, 5, 6, 7]);
    lines.extend([switch(0, 1, 0, "R", 31), switch(25, 5, 25, "S", 35)]);
    lines.extend([waking(10, 0, 25, 5), asked(10, 0, 5, "0x8"), answered(10, 0, 5)]);
    let found = judged(&all(&lines), vec![]);
    assert_eq!((found.by_load.all, found.determined.all), (1, 0), "{found:?}");
}

#[test]
fn what_a_task_remembers_is_taken_from_the_kernel() {
    // Many partners on both sides: the waker's CPU is no target (`wake_wide`), and the other LLC's previous one is.
    let wide = |memory: &str| {
        let mut lines = start(&[2, 3, 4, 6, 7]);
        lines.extend([switch(0, 5, 0, "R", 25), switch(25, 5, 25, "S", 36)]);
        lines.extend([switch(0, 1, 0, "R", 31), waking(31, 1, 10, 0)]);
        lines.extend([asked(31, 1, 0, &format!("0x8{memory}")), answered(31, 1, 0)]);
        lines.extend([waking(10, 0, 25, 5)]);
        lines.extend([asked(10, 0, 5, "0x18 flips=9 recent=5")]);
        lines.push(answered(10, 0, 5));
        judged(&all(&lines), vec![]).all().same_cpu
    };
    assert_eq!(wide(" flips=99 recent=0"), wide(" flips=0 recent=0") + 1);
}

#[test]
fn partners_that_nobody_tells_of_may_decide() {
    let mut lines = start(&[2, 3]);
    let asks = |memory: &str| asked(10, 0, 1, &format!("0x18{memory}"));
    lines.extend([waking(0, 4, 12, 1), waking(10, 0, 11, 1)]);
    let only = |cpu: usize| [cpu].into_iter().collect();
    for (memory, told) in [("", 0), (" flips=0 recent=1", 1)] {
        let all_lines = [&lines[..], &[asks(memory), answered(10, 0, 0)]].concat();
        let found = judged(&all(&all_lines), vec![(12, only(1))]);
        assert_eq!((found.determined.all, found.by_memory.all), (told, 1 - told), "{found:?}");
    }
}

#[test]
fn forks_and_execs_are_not_wake_ups() {
    for flags in ["0x4", "0x2"] {
        let mut lines = start(&[]);
        lines.extend([waking(10, 0, 11, 1), asked(10, 0, 1, flags), answered(10, 0, 1)]);
        assert_eq!(judged(&all(&lines), vec![]).all().all, 0);
    }
}

#[test]
fn a_task_that_ran_before_the_trace_has_its_cpu() {
    // CPU 2 has no record before the wake-up.
    let mut lines = start(&[1, 3]);
    let place = [asked(10, 0, 1, "0x18 flips=0 recent=1"), answered(10, 0, 0)];
    lines.push(waking(10, 0, 11, 1));
    lines.extend(place);
    let found = |last: String| {
        let lines = [&lines[..], &[last]].concat();
        judged(&all(&lines), vec![]).determined
    };
    assert_eq!(found(switch(12, 2, 12, "S", 0)), Count { all: 1, same_cpu: 1, same_llc: 1 });
    // Idle, it would be for a search to find.
    assert_eq!(found(switch(0, 2, 0, "R", 12)), Count::default());
}

#[test]
fn a_task_that_exits_tells_its_parent_without_waiting_for_it() {
    let born = "11 1 sched_wakeup_new: comm=a pid=10 prio=120 target_cpu=0".to_string();
    // Otherwise it looks for a CPU beside itself.
    for (exits, found_at_once) in [("X", 1), ("S", 0)] {
        let mut lines = vec![switch(0, 1, 0, "R", 11), born.clone(), switch(0, 0, 0, "R", 10)];
        lines.extend([
            switch(11, 1, 11, "S", 0),
            switch(0, 5, 0, "R", 30),
            switch(30, 5, 30, "S", 0),
        ]);
        lines.extend([waking(10, 0, 11, 5), asked(10, 0, 5, "0x18 flips=0 recent=5")]);
        lines.extend([answered(10, 0, 5), switch(10, 0, 10, exits, 0)]);
        let found = judged(&all(&lines), vec![]);
        assert_eq!(
            (found.determined.same_cpu, found.by_search.all),
            (found_at_once, 1 - found_at_once)
        );
    }
}

#[test]
fn a_task_that_is_on_its_way_to_the_waker_may_be_there() {
    // Alone, 10 would take 11 to itself; with 30 it would not.
    let mut lines = start(&[1, 2, 3]);
    lines.extend([
        waking(21, 1, 30, 0),
        asked(21, 1, 0, "0x8 flips=0 recent=0"),
        answered(21, 1, 0),
    ]);
    lines.extend([
        waking(10, 0, 11, 5),
        asked(10, 0, 5, "0x18 flips=0 recent=5"),
        answered(10, 0, 5),
    ]);
    assert_eq!(judged(&all(&lines), vec![]).raced.all, 1);
}

#[test]
fn how_many_partners_a_waker_has_is_known_but_for_a_factor_of_two() {
    let memory = |flips: u32| format!("0x18 flips={flips} recent=5");
    for (flips, determined) in [(4, 0), (1, 1)] {
        let mut lines = start(&[1, 2, 3]);
        // What its child is given tells what 10 has.
        lines.extend([asked(10, 0, 0, "0x4 flips=20 recent=0"), answered(10, 0, 0)]);
        lines.extend([waking(10, 0, 11, 5), asked(10, 0, 5, &memory(flips)), answered(10, 0, 5)]);
        let found = judged(&all(&lines), vec![]);
        assert_eq!((found.determined.all, found.by_memory.all), (determined, 1 - determined));
    }
}

#[test]
fn a_cpu_that_the_machine_does_not_have() {
    let ground = ground();
    let text = format!("a-10 [008] d..2. 1.000000: {}\n", &waking(0, 0, 11, 1)[4..]);
    let refused =
        trace::read(text.as_bytes(), &mut Probed::new(&ground, &FirstPass::default(), vec![]))
            .unwrap_err();
    assert_eq!(refused.to_string(), "trace: found CPU 8, expected a machine of 8 CPUs");
}

mod inferred {
    use super::*;

    fn inferred(lines: &[String], kernel: &str) -> Placements {
        let kernel = Kernel::new(kernel.parse().unwrap());
        let ground = Ground::new(&machine(), &kernel).unwrap();
        let (text, mut first) = (text(&all(lines)), FirstPass::default());
        trace::read(text.as_bytes(), &mut first).unwrap();
        let mut judge = Inferred::new(&ground, &first, vec![]);
        trace::read(text.as_bytes(), &mut judge).unwrap();
        judge.finish()
    }

    fn migrated(pid: u32, cpu: u32, task: u32, from: u32, to: u32) -> String {
        format!(
            "{pid} {cpu} sched_migrate_task: comm=a pid={task} prio=120 orig_cpu={from} dest_cpu={to}"
        )
    }

    /// Six microseconds in which nothing happens here: longer than a switch takes.
    fn later() -> Vec<String> {
        let on = |n: u32| switch(0, 7, 0, "R", 90 + n);
        let off = |n: u32| switch(90 + n, 7, 90 + n, "S", 0);
        (0..3).flat_map(|n| [on(n), off(n)]).collect()
    }

    /// 10 runs on CPU 0; 11 was woken twice, moved from CPU 1 to 2 the second time, and sleeps.
    fn start(then: &str) -> Vec<String> {
        let mut lines = super::start(&[]);
        lines.extend(later());
        lines.extend([waking(10, 0, 11, 1), woken(10, 0, 11, 1)]);
        lines.extend([switch(0, 1, 0, "R", 11), switch(11, 1, 11, "S", 0)]);
        lines.extend(later());
        lines.extend([waking(10, 0, 11, 1), migrated(10, 0, 11, 1, 2), woken(10, 0, 11, 2)]);
        lines.extend([switch(0, 2, 0, "R", 11), then.to_string()]);
        lines.extend(later());
        lines
    }

    fn sleeps() -> String {
        switch(11, 2, 11, "S", 0)
    }

    #[test]
    fn no_move_means_the_last_cpu_and_a_move_means_its_target() {
        for (to, same_cpu) in [(2, 1), (3, 0)] {
            let mut lines = start(&sleeps());
            lines.push(waking(10, 0, 11, 2));
            if to != 2 {
                lines.push(migrated(10, 0, 11, 2, to));
            }
            lines.push(woken(0, to, 11, to));
            let found = inferred(&lines, "6.12");
            // The second one's move is a choice that the model does not make.
            let expected = Count { all: 2, same_cpu, same_llc: 2 };
            assert_eq!(found.determined, expected, "{found:?}");
            assert_eq!(found.differences.len() as u64, 2 - same_cpu);
        }
    }

    #[test]
    fn the_first_wake_up_depends_on_what_was_before() {
        let found = inferred(&start(&sleeps()), "6.12");
        assert_eq!((found.by_memory.all, found.determined.all), (1, 1), "{found:?}");
    }

    #[test]
    fn a_task_that_stays_on_a_cpu_may_be_bound() {
        let mut lines = super::start(&[]);
        for _ in 0..3 {
            lines.extend(later());
            lines.extend([waking(10, 0, 11, 1), woken(10, 0, 11, 1)]);
            lines.extend([switch(0, 1, 0, "R", 11), switch(11, 1, 11, "S", 0)]);
        }
        let found = inferred(&lines, "6.12");
        assert_eq!((found.perhaps_bound.all, found.determined.all), (2, 0), "{found:?}");
    }

    #[test]
    fn a_delayed_departure_may_have_left_the_task_on_its_queue() {
        // CPU 2 goes on to another task when 11 leaves, and is never idle until 11 wakes.
        let mut lines = start(&switch(11, 2, 11, "S", 40));
        lines.extend([waking(10, 0, 11, 2), woken(10, 0, 11, 2)]);
        assert_eq!(inferred(&lines, "6.12").perhaps_queued.all, 1);
        assert_eq!(inferred(&lines, "6.1").perhaps_queued.all, 0);
    }

    #[test]
    fn probes_change_nothing() {
        let mut lines = start(&sleeps());
        lines.extend([waking(10, 0, 11, 2), migrated(10, 0, 11, 2, 3), woken(10, 0, 11, 3)]);
        let without = inferred(&lines, "6.12");
        let at = lines.len() - 2;
        lines.splice(at..at, [asked(10, 0, 2, "0x18"), answered(10, 0, 3)]);
        let with = inferred(&lines, "6.12");
        assert_eq!((with.determined, with.all()), (without.determined, without.all()));
        assert!(
            with.determined.all > with.determined.same_cpu,
            "moves that the model would not make"
        );
    }

    #[test]
    fn a_rule_sends_tasks_elsewhere() {
        // 11's last CPU is busy when 10 wakes it, and the one before that is idle.
        let mut lines = start(&switch(11, 2, 11, "S", 40));
        lines.extend([waking(10, 0, 11, 2), migrated(10, 0, 11, 2, 3), woken(10, 0, 11, 3)]);
        let all = all(&lines);
        let elsewhere = |rule: &str| {
            let in_force = Kernel::new("6.1".parse().unwrap());
            let other = in_force.clone().with_named(rule, false).unwrap();
            let machine = machine();
            let grounds = [in_force, other].map(|kernel| Ground::new(&machine, &kernel).unwrap());
            let first = FirstPass::default();
            let mut rules = Rules::new(&machine, &grounds[0], &grounds[1..], &first);
            trace::read(text(&all).as_bytes(), &mut rules).unwrap();
            let judged = rules.finish().unwrap();
            assert_eq!(judged.rules[0].asked, 3);
            judged.rules[0].other_cpu
        };
        assert_eq!(elsewhere("last-buddy"), 0, "no rule of wake-ups");
        assert!(elsewhere("recent-used-cpu") > 0);
    }
}
