//! The search for an idle CPU near the target, release by release (`select_idle_sibling`).

use crate::fair::Fair;
use crate::fair::place::wakeup::WakeUp;
use crate::fair::testing::{asleep, scenario, world};
use crate::topology::Cpu;

/// Two hardware threads each: the first LLC of an EPYC 7742 holds CPUs 0-3 and their siblings 128-131.
const LLC: [Cpu; 8] = [0, 1, 2, 3, 128, 129, 130, 131];

/// Where a task goes whose target is CPU 1 and which ran on `prev`, with only the CPUs `idle` of the LLC idle.
fn found(release: &str, prev: Cpu, idle: &[Cpu], setup: impl Fn(&mut Fair)) -> Cpu {
    let epyc = machine::catalog::load("epyc-7742-2s-nps1").unwrap();
    let s = scenario(&epyc, release, &[]);
    assert_eq!(*s.setup.topo.llcs[s.setup.topo.llc_of[1] as usize].cpus, LLC, "{release}");
    let (mut w, mut fair) = world(&s);
    let task = asleep(&mut w, &mut fair, prev);
    fair.entities[task.index()].recent_used_cpu = prev;
    for cpu in LLC.iter().filter(|c| !idle.contains(c)) {
        w.cpus[*cpu as usize].nr_running = 1;
    }
    fair.llcs[s.setup.topo.llc_of[1] as usize].has_idle_cores = false;
    setup(&mut fair);
    let wake = WakeUp { cpu: 1, prev, sync: false, waker: None };
    fair.select_idle_sibling(&mut w, task, wake, 1)
}

/// On a machine that has been up, CPUs have gone idle and balanced: the first wake-up of a run finds an idle CPU.
#[test]
fn a_run_begins_with_what_an_idle_machine_has_noted() {
    for (name, has_idle_cores) in [("epyc-7742-2s-nps1", true), ("kunpeng920-1node", false)] {
        let s = scenario(&machine::catalog::load(name).unwrap(), "6.12", &[]);
        let (mut w, mut fair) = world(&s);
        for (state, llc) in fair.llcs.iter().zip(&s.setup.topo.llcs) {
            assert_eq!(state.has_idle_cores, has_idle_cores, "{name}");
            assert_eq!(state.nr_idle_scan, llc.cpus.len() as u64, "{name}");
        }
        let task = asleep(&mut w, &mut fair, 1);
        w.cpus[1].nr_running = 1;
        let wake = WakeUp { cpu: 1, prev: 1, sync: false, waker: None };
        assert_ne!(fair.select_idle_sibling(&mut w, task, wake, 1), 1, "{name}");
    }
}

/// No time for more than four CPUs, of which the fourth is not looked at any more.
fn hurry(fair: &mut Fair) {
    (fair.rqs[1].avg_idle_ns, fair.rqs[1].wake_avg_idle_ns) = (0, 0);
}

/// `select_idle_core` and `select_idle_cpu` are one search from 5.12 on: looking for an idle core in vain notes an idle
/// CPU in passing, however short the time is.
#[test]
fn an_idle_cpu_is_noted_while_looking_for_a_core_from_5_12_on() {
    let in_vain = |fair: &mut Fair| {
        hurry(fair);
        fair.llcs.iter_mut().for_each(|llc| llc.has_idle_cores = true);
    };
    for (release, chosen) in [("5.11", 1), ("5.12", 130), ("6.1", 130), ("6.12", 130)] {
        assert_eq!(found(release, 1, &[130], in_vain), chosen, "{release}");
    }
}

/// `select_idle_smt` (5.13): without an idle core the sibling of the previous CPU comes before the rest of the LLC.
/// 5.12 looks at no sibling; before, the target's come last.
#[test]
fn the_sibling_of_the_previous_cpu_comes_first_from_5_13_on() {
    let busy = |_: &mut Fair| {};
    for (release, chosen) in [("5.12", 3), ("5.13", 130), ("6.1", 130), ("6.12", 130)] {
        assert_eq!(found(release, 2, &[3, 130], busy), chosen, "{release}");
    }
    assert_eq!(found("5.11", 1, &[129], hurry), 129);
    assert_eq!(found("5.12", 1, &[129], hurry), 1);
}

/// `select_idle_cpu` with `SIS_PROP`: the time it may take comes from `avg_idle`, from 5.14 on from `wake_avg_idle`,
/// which halves with every tick.
#[test]
fn the_search_has_an_idle_time_of_its_own_from_5_14_on() {
    let times = |avg_idle_ns: u64, wake_avg_idle_ns: u64, ticks: u64| {
        move |fair: &mut Fair| {
            let rq = &mut fair.rqs[1];
            (rq.avg_idle_ns, rq.wake_avg_idle_ns) = (avg_idle_ns, wake_avg_idle_ns);
            rq.wake_stamp = 25_000 - ticks;
        }
    };
    let far = |release, setup: &dyn Fn(&mut Fair)| found(release, 1, &[131], setup) == 131;
    for (release, own) in [("5.13", false), ("5.14", true), ("5.19", true)] {
        assert_eq!(far(release, &times(1_000_000, 0, 0)), !own, "{release}");
        assert_eq!(far(release, &times(0, 1_000_000, 0)), own, "{release}");
        assert!(!far(release, &times(0, 1_000_000, 40)), "{release}");
    }
}

/// `recent_used_cpu` (5.16): every wake-up that comes to it makes the previous CPU the recent one.
#[test]
fn every_search_remembers_the_previous_cpu_from_5_16_on() {
    for (release, recent) in [("5.15", 3), ("5.16", 2), ("6.12", 2)] {
        let epyc = machine::catalog::load("epyc-7742-2s-nps1").unwrap();
        let s = scenario(&epyc, release, &[]);
        let (mut w, mut fair) = world(&s);
        let task = asleep(&mut w, &mut fair, 2);
        LLC.iter().for_each(|&c| w.cpus[c as usize].nr_running = 1);
        fair.entities[task.index()].recent_used_cpu = 3;
        let wake = WakeUp { cpu: 1, prev: 2, sync: false, waker: None };
        assert_eq!(fair.select_idle_sibling(&mut w, task, wake, 1), 1, "{release}");
        assert_eq!(fair.entities[task.index()].recent_used_cpu, recent, "{release}");
    }
}
