//! Every slice of a trace in Perfetto's form adds up to the run's own counters.

use crate::decoded::{Decoded, decode};
use crate::runs;
use sim::{Counters, RunResult, Scenario};
use std::collections::BTreeMap;

/// Who ran how long, by name.
fn ran_ns(trace: &Decoded, end_ns: u64) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for switches in trace.switches.values() {
        for (at, switch) in switches.iter().enumerate() {
            let until_ns = switches.get(at + 1).map_or(end_ns, |next| next.at_ns);
            let name = match switch.next_comm.split_once('/') {
                Some((kind, _)) => kind.to_string(),
                None => switch.next_comm.clone(),
            };
            *sums.entry(name).or_default() += until_ns - switch.at_ns;
        }
    }
    sums
}

/// How long CPUs were in idle states.
fn idle_ns(trace: &Decoded, end_ns: u64) -> u64 {
    let mut sum = 0;
    for changes in trace.idle.values() {
        let mut since_ns = None;
        for &(at_ns, sleeps) in changes {
            sum += since_ns.map_or(0, |since| at_ns - since);
            assert_ne!(since_ns.is_some(), sleeps, "idle states do not nest");
            since_ns = sleeps.then_some(at_ns);
        }
        sum += since_ns.map_or(0, |since| end_ns - since);
    }
    sum
}

/// Switches that the simulator counts: to a stopper, and from it to idle, it makes none.
fn counted_switches(trace: &Decoded) -> u64 {
    let mut count = 0;
    for switches in trace.switches.values() {
        let mut from_stopper = false;
        for switch in switches {
            let to_stopper = switch.next_comm.starts_with("migration/");
            let to_idle = switch.next_pid == 0;
            count += u64::from(!(to_stopper || from_stopper && to_idle));
            from_stopper = to_stopper;
        }
    }
    count
}

fn check(scenario: &Scenario, seed: u64) -> (Decoded, RunResult) {
    let (result, events) = runs::recorded(scenario, seed);
    let trace = decode(&runs::perfetto(&events));
    let c: &Counters = &result.counters;
    assert_eq!(counted_switches(&trace), c.switches, "context_switches");
    assert_eq!(trace.wakings.len() as u64, c.wakeups, "ttwu_count");
    assert_eq!(trace.wakeups as u64, c.wakeups, "ttwu_count");
    let balanced: u64 = c.balanced_by_distance.iter().sum();
    let placed: u64 = c.placements_by_distance.iter().sum();
    assert!(trace.migrations as u64 >= balanced, "balanced");
    assert!(trace.migrations as u64 <= balanced + placed, "balanced and placed");
    assert_eq!(idle_ns(&trace, result.end_ns), c.idle_ns + c.waking_ns, "idle_ns, waking_ns");
    let ran = ran_ns(&trace, result.end_ns);
    let busy: u64 = ran.iter().filter(|(name, _)| *name != "swapper").map(|(_, ns)| ns).sum();
    assert_eq!(busy, c.run_ns_by_busy.iter().sum::<u64>(), "run_ns_*_busy");
    (trace, result)
}

#[test]
fn slices_of_hackbench_add_up_to_its_counters() {
    for seed in 1..4 {
        let (trace, result) = check(&runs::hackbench(), seed);
        assert!(result.counters.switches > 1000);
        assert!(trace.new >= 40, "hackbench forks");
        assert_eq!(trace.release, "6.12");
        // Every CPU is idle or runs someone all the time.
        let all: u64 = ran_ns(&trace, result.end_ns).values().sum();
        let firsts = trace.switches.values().map(|s| s.first().map_or(result.end_ns, |f| f.at_ns));
        let cpus = trace.switches.len() as u64;
        assert_eq!(all + firsts.sum::<u64>(), cpus * result.end_ns);
    }
}

#[test]
fn slices_add_up_while_cpus_go_and_come() {
    let (trace, result) = check(&runs::hotplug(), 1);
    assert!(result.counters.hotplug_moved > 0);
    let stoppers =
        trace.switches.values().flatten().filter(|s| s.next_comm.starts_with("migration/"));
    assert!(stoppers.count() > 0);
    // Nothing happens on a CPU that is offline.
    let gone = trace.switches[&1].iter().filter(|s| s.at_ns > 10_000_000 && s.at_ns < 20_000_000);
    assert_eq!(gone.count(), 0);
}

#[test]
fn arrows_lead_from_every_wake_up_to_where_its_task_runs() {
    let (trace, result) = check(&runs::hackbench(), 1);
    assert_eq!(trace.begins.len(), trace.wakings.len() + trace.new);
    assert!(trace.ends.len() as u64 * 10 > result.counters.wakeups * 9, "few are woken in vain");
    for (id, (from_ns, _, wakes)) in &trace.begins {
        let Some((to_ns, track, runs)) = trace.ends.get(id) else { continue };
        assert!(from_ns <= to_ns);
        assert_eq!(wakes.strip_prefix("wakes "), runs.strip_suffix(" runs"));
        let cpu = (track - 1) / 4;
        let ran = trace.switches[&(cpu as u32)].iter().any(|s| s.at_ns == *to_ns);
        assert!(ran, "{track} {to_ns}");
    }
    assert!(trace.ends.keys().all(|id| trace.begins.contains_key(id)));
}

#[test]
fn runqueue_lengths_are_a_track_of_each_cpu_below_its_place_in_the_machine() {
    let (trace, _) = check(&runs::hackbench(), 1);
    let place = "CPU 3 \u{b7} small core 1,3,5,7 \u{b7} L2 0-7 \u{b7} ";
    assert!(trace.track_names[&13].starts_with(place), "{}", trace.track_names[&13]);
    assert_eq!(trace.track_names[&14], "CPU 3 runqueue length");
    for lengths in trace.counters.values() {
        assert!(lengths.is_sorted_by_key(|l| l.0));
        assert!(lengths.iter().all(|l| (0..60).contains(&l.1)));
        assert!(lengths.windows(2).all(|w| w[0].1 != w[1].1), "only changes are written");
    }
    // Whoever runs is on the queue, and the queue of a CPU that goes idle is empty.
    for (cpu, switches) in &trace.switches {
        let Some(lengths) = trace.counters.get(&(u64::from(*cpu) * 4 + 2)) else { continue };
        for (at, switch) in switches.iter().enumerate() {
            let last = switches.get(at + 1).is_none_or(|next| next.at_ns > switch.at_ns);
            let length = lengths.iter().rev().find(|l| l.0 <= switch.at_ns).map_or(0, |l| l.1);
            assert!(
                !last || (switch.next_pid == 0) == (length == 0),
                "CPU {cpu}: {switch:?}: {length}"
            );
        }
    }
}

#[test]
fn frequencies_that_governors_ask_for_are_counted_and_clocks_follow() {
    let scenario = runs::governed();
    let (trace, result) = check(&scenario, 1);
    let nr_cpus = scenario.topology().nr_cpus;
    assert_eq!(trace.frequencies.len(), nr_cpus);
    let asked: usize = trace.frequencies.values().map(Vec::len).sum();
    assert!(result.counters.frequency_changes > 0);
    assert_eq!((asked - nr_cpus) as u64, result.counters.frequency_changes, "one policy a CPU");
    for (cpu, asked) in &trace.frequencies {
        assert_eq!(asked[0].0, 0);
        assert!(asked.windows(2).all(|w| w[0].1 != w[1].1), "only changes");
        let clocks = &trace.counters[&(u64::from(*cpu) * 4 + 3)];
        assert!(clocks.iter().all(|c| (1_000_000..5_000_000).contains(&c.1)), "{clocks:?}");
    }
    let clocks = |cpu: u64| trace.counters[&(cpu * 4 + 3)].len();
    assert!((0..nr_cpus as u64).any(|cpu| clocks(cpu) > 1), "clocks change");
}
