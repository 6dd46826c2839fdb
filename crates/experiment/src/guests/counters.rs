//! What a guest's kernel counted: `/proc/schedstat`, its log, and the events of a sched_ext scheduler.

use crate::schedstat;
use machine::distance::Distances;
use results::counters::SPLATS;
use vm::session::Answer;
use workload::Counter;

/// The counter after which that of the kernel's log stands.
const BEFORE_SPLATS: &str = "run_delay_ns";

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
pub(crate) fn events() -> impl Iterator<Item = (Counter, String)> {
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
    let splats = Counter::number(SPLATS, "warnings, bugs and stalls in the kernel's log");
    with_splats(schedstat::schema(), splats)
}

/// What stands for each counter of [`schedstat::schema`], and `splats` in its place between them.
fn with_splats<T>(mut each: Vec<T>, splats: T) -> Vec<T> {
    let before = schedstat::schema().iter().position(|c| c.name == BEFORE_SPLATS);
    each.insert(before.map_or(each.len(), |at| at + 1), splats);
    each
}

/// The values of a run in the order of [`schema`]. CPU numbers of `answer` are those of `distances`. Events are 0 in a run without a
/// scheduler.
pub fn counters(answer: &Answer, distances: &Distances, with_events: bool) -> Vec<u64> {
    let values = schedstat::values(&answer.schedstat, answer.context_switches, distances);
    let outcome = answer.scheduler.as_ref();
    let events = events().filter(|_| with_events);
    let events =
        events.map(|(_, event)| outcome.and_then(|o| o.events.get(&event).copied()).unwrap_or(0));
    with_splats(values, answer.splats.len() as u64).into_iter().chain(events).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::recorded::schedstat::Schedstat;
    use vm::sched_ext::Outcome;
    use vm::splats::Splat;

    fn answer(splats: Vec<Splat>) -> Answer {
        Answer {
            stdout: String::new(),
            schedstat: Schedstat::default(),
            context_switches: 11,
            trace_gz: None,
            affinity: Default::default(),
            groups: Default::default(),
            vmstat: Default::default(),
            scheduler: None,
            splats,
        }
    }

    #[test]
    fn what_the_kernel_logged_is_counted_beside_what_it_scheduled() {
        let machine = machine::catalog::load("power9-big-core").unwrap();
        let schema = schema(false);
        let names: Vec<&str> = schema.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names[3..7], ["context_switches", "run_delay_ns", SPLATS, "ttwu_count"]);
        let answer = answer(vec![Splat { title: "WARNING".to_string(), lines: vec![] }; 2]);
        let values = counters(&answer, &Distances::new(&machine), false);
        assert_eq!((values.len(), &values[3..7]), (schema.len(), &[11, 0, 2, 0][..]));
    }

    #[test]
    fn events_of_the_class_are_counted_where_a_variant_has_a_scheduler() {
        let machine = machine::catalog::load("power9-big-core").unwrap();
        let distances = Distances::new(&machine);
        let events = [("SCX_EV_REFILL_SLICE_DFL".to_string(), 52)].into();
        let mut answer = answer(vec![]);
        answer.scheduler = Some(Outcome { events, ..Outcome::default() });
        let schema = schema(true);
        let at = schema.iter().position(|c| c.name == "scx_refill_slice_dfl").unwrap();
        let counted = counters(&answer, &distances, true);
        assert_eq!((counted.len(), counted[at]), (schema.len(), 52));
        answer.scheduler = None;
        assert_eq!(counters(&answer, &distances, true)[at], 0);
        assert_eq!(counters(&answer, &distances, false).len(), schema.len() - EVENTS.len());
    }
}
