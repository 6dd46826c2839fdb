//! A queue's own numbers beside those of the tasks in it.

use super::{Broken, Seen, Sight};
use crate::source::Queued;

/// After so long with the same tasks a queue's averages are those of its tasks: ten half-lives of 32 ms would be exact, and five leave
/// a thirtieth of what was wrong before.
const SETTLED_NS: u64 = 160_000_000;
/// What rounding may take from a small average of a queue.
const ROUNDING: u64 = 32;

/// Checks the queue of `cpu`.
pub(super) fn check(sight: &Sight<'_>, cpu: usize, seen: &Seen) -> Option<Broken> {
    let s = &seen.sums;
    // Servers count or not.
    let without = s.nr_running.saturating_sub(s.servers);
    let with_servers = without..=s.nr_running;
    let running =
        if with_servers.contains(&s.counted_running) { s.nr_running } else { s.counted_running };
    let counts = [
        ("nr_running", s.nr_running, running),
        ("tasks of the fair class", s.nr_queued, s.counted_queued),
        ("tasks in the list of the fair class", s.listed, s.counted_listed),
    ];
    for (what, found, expected) in counts {
        if found != expected {
            let what =
                format!("CPU {cpu}: {what}: found {found}, expected {expected}, as are queued");
            return Some(sight.broken("counts", what));
        }
    }
    let of = if s.group == 0 { String::new() } else { format!(" of group {}", s.group) };
    let waiting = (s.weight_waiting as i64, s.counted_weight_waiting as i64);
    let sums = [
        ("weight of the queue", s.weight as i64, s.counted_weight as i64),
        ("weight of those that wait", waiting.0, waiting.1),
        ("weighted virtual runtimes", s.weighted_vruntime, s.counted_weighted_vruntime),
    ];
    for (what, found, expected) in sums {
        if found != expected {
            let what = format!(
                "CPU {cpu}: {what}{of}: found {found}, expected {expected}, the sum over what is queued"
            );
            return Some(sight.broken("sums", what));
        }
    }
    None
}

/// A queue's averages are not below those of a task in it, once it has had the same tasks since `since_ns` for long enough. Before,
/// they may be: a task that leaves takes what it has, which is a period's share more than what it brought, thousands of times a
/// second; and 5.17 to 6.x cut `load_sum` to 32 bits when a task leaves.
pub(super) fn averages(
    sight: &Sight<'_>,
    cpu: usize,
    seen: &Seen,
    since_ns: u64,
) -> Option<Broken> {
    if since_ns + SETTLED_NS > sight.now_ns {
        return None;
    }
    let of = &seen.sums.averages;
    // What is known of averages is the root's.
    let of_root = |q: &&Queued| q.group == 0 && q.attached != 0 && q.delayed == 0;
    for task in seen.queued.iter().filter(of_root) {
        let both = [("load_avg", of.load, task.load_avg), ("util_avg", of.util, task.util_avg)];
        for (what, found, part) in both {
            if found + ROUNDING < part - part / 8 {
                let what = format!(
                    "CPU {cpu}: {what} of the queue: found {found}, expected about the {part} of {}, or more",
                    sight.name(task.pid)
                );
                return Some(sight.broken("load", what));
            }
        }
    }
    None
}
