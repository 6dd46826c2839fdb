//! What a guest's `/proc/schedstat` counted, under the names of the simulator's counters.
//!
//! A domain counts wake-ups that reached CPUs which no lower domain has. They are called after the farthest of these
//! CPUs in hardware: on a machine whose kernel sees no small cores, wake-ups inside an SMT domain are all `big_core`.

use kernel::recorded::schedstat::{CpuStat, LbStat, REASONS, Schedstat};
use machine::CpuSet;
use machine::distance::{Distance, Distances};
use results::counters::SPLATS;
use vm::session::Answer;
use workload::Counter;

/// Events of the class sched_ext as 7.2 has them, without `SCX_EV_`, and what they are.
const EVENTS: [(&str, &str); 13] = [
    ("SELECT_CPU_FALLBACK", "tasks put on a CPU that select_cpu() chose and may not run them"),
    ("DISPATCH_LOCAL_DSQ_OFFLINE", "tasks dispatched to an offline CPU"),
    ("DISPATCH_KEEP_LAST", "times that a task went on because there was no other"),
    ("ENQ_SKIP_EXITING", "exiting tasks that the scheduler did not get"),
    ("ENQ_SKIP_MIGRATION_DISABLED", "tasks bound to their CPU that the scheduler did not get"),
    ("REENQ_IMMED", "tasks queued anew because their CPU could not run them at once"),
    ("REENQ_LOCAL_REPEAT", "tasks queued anew more than once"),
    ("REFILL_SLICE_DFL", "slices that the kernel refilled with its default"),
    ("BYPASS_DURATION", "time that the kernel went on without the scheduler"),
    ("BYPASS_DISPATCH", "tasks dispatched without the scheduler"),
    ("BYPASS_ACTIVATE", "times that the kernel began to go on without the scheduler"),
    ("INSERT_NOT_OWNED", "tasks inserted that were not the scheduler's"),
    ("SUB_BYPASS_DISPATCH", "tasks of a sub-scheduler dispatched without it"),
];

/// The kernel's counters of a scheduler: a name as ours are, and how the kernel calls it.
fn events() -> impl Iterator<Item = (Counter, String)> {
    EVENTS.into_iter().map(|(event, help)| {
        let name = format!("scx_{}", event.to_lowercase());
        let help = format!("{help} (SCX_EV_{event})");
        let counter = if event.ends_with("DURATION") { Counter::ns } else { Counter::number };
        (counter(&name, &help), format!("SCX_EV_{event}"))
    })
}

/// What is counted in every run; where a variant has a sched_ext scheduler, also the class's events.
pub fn schema(with_events: bool) -> Vec<Counter> {
    let events = events().map(|(counter, _)| counter).filter(|_| with_events);
    own_schema().into_iter().chain(events).collect()
}

fn own_schema() -> Vec<Counter> {
    // No CPU and no domain: the names are the same, whatever is counted.
    let nothing = Schedstat::default();
    let table = table(&nothing, (0, 0), [0; Distance::COUNT]);
    table.into_iter().map(|(counter, _)| counter).collect()
}

/// The values of a run in the order of [`schema`]. CPU numbers of `answer` are those of `distances`. Events are 0 in a run without a
/// scheduler.
pub fn counters(answer: &Answer, distances: &Distances, with_events: bool) -> Vec<u64> {
    let stat = &answer.schedstat;
    let by_distance = wakeups_by_distance(stat, distances);
    let splats = answer.splats.len() as u64;
    let table = table(stat, (answer.context_switches, splats), by_distance);
    let outcome = answer.scheduler.as_ref();
    let events = events().filter(|_| with_events);
    let events =
        events.map(|(_, event)| outcome.and_then(|o| o.events.get(&event).copied()).unwrap_or(0));
    table.into_iter().map(|(_, value)| value).chain(events).collect()
}

/// Every counter with its value.
fn table(
    stat: &Schedstat,
    (context_switches, splats): (u64, u64),
    wakeups: [u64; Distance::COUNT],
) -> Vec<(Counter, u64)> {
    let number = Counter::number;
    let sum = |of: &dyn Fn(&CpuStat) -> u64| stat.cpus.iter().map(of).sum::<u64>();
    let domains = || stat.cpus.iter().flat_map(|cpu| &cpu.domains);
    let mut out = vec![
        (number("sched_count", "calls of schedule()"), sum(&|c| c.sched_count)),
        (
            number("sched_goidle", "calls of schedule() that left the CPU idle"),
            sum(&|c| c.sched_goidle),
        ),
        (number("yld_count", "calls of sched_yield()"), sum(&|c| c.yld_count)),
        (number("context_switches", "switches between tasks (/proc/stat)"), context_switches),
        (
            Counter::ns("run_delay_ns", "time that tasks were runnable without running"),
            sum(&|c| c.run_delay_ns),
        ),
        (number(SPLATS, "warnings, bugs and stalls in the kernel's log"), splats),
        (number("ttwu_count", "wake-ups (try_to_wake_up)"), sum(&|c| c.ttwu_count)),
        (
            number("ttwu_move_affine", "wake-ups that wake_affine() gave to the waker's CPU"),
            domains().map(|d| d.ttwu_move_affine).sum(),
        ),
    ];
    for (at, (name, help)) in [
        ("alb_count", "attempts to push a running task"),
        ("alb_failed", "attempts to push that found no task that may move"),
        ("alb_pushed", "running tasks pushed to another CPU"),
    ]
    .into_iter()
    .enumerate()
    {
        out.push((number(name, help), domains().map(|d| d.alb[at]).sum()));
    }
    for (distance, n) in Distance::ALL.iter().zip(wakeups) {
        let name = format!("ttwu_{}", distance.name());
        out.push((number(&name, "wake-ups that landed so far from the waking CPU"), n));
    }
    for (at, reason) in REASONS.iter().enumerate() {
        for (field, (name, _)) in LbStat::default().fields().into_iter().enumerate() {
            let total = domains().map(|d| d.balancing[at].fields()[field].1).sum();
            let help = format!("{name} of /proc/schedstat, CPUs {}", reason.replace('_', " "));
            out.push((number(&format!("{name}_{reason}"), &help), total));
        }
    }
    out
}

fn wakeups_by_distance(stat: &Schedstat, distances: &Distances) -> [u64; Distance::COUNT] {
    let mut out = [0; Distance::COUNT];
    for cpu in &stat.cpus {
        out[Distance::SameCpu as usize] += cpu.ttwu_local;
        let mut below = CpuSet::single(cpu.cpu);
        for domain in &cpu.domains {
            let farthest =
                (&domain.span - below).iter().map(|c| distances.between(cpu.cpu, c)).max();
            if let Some(distance) = farthest {
                out[distance as usize] += domain.ttwu_wake_remote;
            }
            below = domain.span.clone();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use vm::sched_ext::Outcome;

    #[test]
    fn wakeups_by_domain_become_wakeups_by_distance() {
        let machine = machine::catalog::load("power9-big-core").unwrap();
        let balancing = "0 ".repeat(24);
        let domain = |n: u32, mask: &str, remote: u32| {
            format!("domain{n} {mask} {balancing}1 0 0 0 0 0 0 0 0 {remote} 2 0\n")
        };
        let text = format!(
            "version 16\ntimestamp 1\ncpu0 0 0 9 4 20 5 0 100 0\n{}{}{}",
            domain(0, "0055", 6),
            domain(1, "00ff", 7),
            domain(2, "ffff", 8)
        );
        let schedstat = Schedstat::parse(&text).unwrap();
        let answer = Answer {
            stdout: String::new(),
            schedstat,
            context_switches: 11,
            trace_gz: None,
            affinity: Default::default(),
            scheduler: None,
            splats: vec![],
        };
        let distances = Distances::new(&machine);
        let (schema, counters) = (schema(false), counters(&answer, &distances, false));
        assert_eq!(schema.len(), counters.len());
        let of = |name: &str| counters[schema.iter().position(|c| c.name == name).unwrap()];
        assert_eq!(of("ttwu_same_cpu"), 5);
        assert_eq!(of("ttwu_smt"), 6);
        assert_eq!(of("ttwu_big_core"), 7);
        assert_eq!(of("ttwu_node"), 8);
        assert_eq!((of("context_switches"), of("ttwu_move_affine"), of("alb_count")), (11, 6, 3));
        assert_eq!(of("lb_count_newly_idle"), 0);
    }

    #[test]
    fn events_of_the_class_are_counted_where_a_variant_has_a_scheduler() {
        let machine = machine::catalog::load("power9-big-core").unwrap();
        let distances = Distances::new(&machine);
        let events = [("SCX_EV_REFILL_SLICE_DFL".to_string(), 52)].into();
        let mut answer = Answer {
            stdout: String::new(),
            schedstat: Schedstat::default(),
            context_switches: 0,
            trace_gz: None,
            affinity: Default::default(),
            scheduler: Some(Outcome { events, ..Outcome::default() }),
            splats: vec![],
        };
        let schema = schema(true);
        let at = schema.iter().position(|c| c.name == "scx_refill_slice_dfl").unwrap();
        let counted = counters(&answer, &distances, true);
        assert_eq!((counted.len(), counted[at]), (schema.len(), 52));
        answer.scheduler = None;
        assert_eq!(counters(&answer, &distances, true)[at], 0);
        assert_eq!(counters(&answer, &distances, false).len(), schema.len() - EVENTS.len());
    }
}
