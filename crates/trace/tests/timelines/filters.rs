//! Windows, CPUs and tasks.

use crate::decoded::decode;
use crate::runs;
use trace::{Choice, Event, Filter, Kind, Sink, Task};

fn filtered(events: &[Event], choice: Choice, blank_others: bool) -> Vec<Event> {
    let mut kept = Vec::new();
    let mut filter = Filter::new(choice, blank_others, &mut kept);
    events.iter().for_each(|e| filter.event(e).expect("memory"));
    let passed = filter.passed();
    assert_eq!(passed, kept.iter().filter(|e| e.kind.is_tracepoint()).count() as u64);
    kept
}

fn concerns(event: &Event, cpu: u32) -> bool {
    event.cpu == cpu
        || match event.kind {
            Kind::Waking { target, .. } | Kind::Wakeup { target, .. } => target == cpu,
            Kind::WakeupNew { target, .. } => target == cpu,
            Kind::Migrate { from, to, .. } => from == cpu || to == cpu,
            _ => false,
        }
}

#[test]
fn a_window_holds_its_start_and_not_its_end() {
    let (_, events) = runs::recorded(&runs::hackbench(), 1);
    let (from, to) = (events[events.len() / 4].at_ns, events[events.len() / 2].at_ns);
    let choice = |from_ns, to_ns| Choice { from_ns, to_ns, ..Choice::default() };
    let parts = [(None, Some(from)), (Some(from), Some(to)), (Some(to), None)];
    let joined: Vec<Event> =
        parts.iter().flat_map(|&(a, b)| filtered(&events, choice(a, b), false)).collect();
    assert_eq!(joined, events);
    let middle = filtered(&events, choice(Some(from), Some(to)), false);
    assert!(!middle.is_empty() && middle.iter().all(|e| (from..to).contains(&e.at_ns)));
}

#[test]
fn cpus_keep_what_they_record_and_what_is_about_them() {
    let (_, events) = runs::recorded(&runs::hackbench(), 1);
    let choice = Choice { cpus: Some("3".parse().expect("a list")), ..Choice::default() };
    let kept = filtered(&events, choice, false);
    let wanted: Vec<Event> = events.iter().filter(|e| concerns(e, 3)).copied().collect();
    assert!(kept.iter().any(|e| e.cpu != 3), "wake-ups from elsewhere");
    assert_eq!(kept, wanted);
}

#[test]
fn tasks_by_name_or_number_run_as_long_as_without_a_filter() {
    let (result, events) = runs::recorded(&runs::hotplug(), 1);
    let tasks = |events: &[Event]| {
        let switches = events.iter().filter_map(|e| match e.kind {
            Kind::Switch { next, .. } if next.comm.as_bytes() == b"spin" => Some(next.pid),
            _ => None,
        });
        switches.max().expect("spin runs")
    };
    let spin = tasks(&events);
    let all = decode(&runs::perfetto(&events));
    for name in ["spin".to_string(), spin.to_string()] {
        let choice = Choice { tasks: vec![name.clone()], ..Choice::default() };
        let plain = filtered(&events, choice.clone(), false);
        let chosen = |t: &Task| t.comm.as_bytes() == b"spin" && (name == "spin" || t.pid == spin);
        let about = plain.iter().all(|e| match e.kind {
            Kind::Switch { prev, next, .. } => chosen(&prev) || chosen(&next),
            Kind::Waking { task, .. } | Kind::Wakeup { task, .. } => chosen(&task),
            Kind::WakeupNew { task, .. } | Kind::Migrate { task, .. } => chosen(&task),
            _ => true,
        });
        assert!(about && plain.len() < events.len());
        let blank = decode(&runs::perfetto(&filtered(&events, choice, true)));
        let ran = |decoded: &crate::decoded::Decoded| {
            let mut sum = 0;
            for switches in decoded.switches.values() {
                for (at, switch) in switches.iter().enumerate() {
                    let until = switches.get(at + 1).map_or(result.end_ns, |n| n.at_ns);
                    if switch.next_pid == spin as i32 {
                        sum += until - switch.at_ns;
                    }
                }
            }
            sum
        };
        assert!(ran(&all) > 0);
        assert_eq!(ran(&blank), ran(&all), "{name}");
    }
}
